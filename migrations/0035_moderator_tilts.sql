-- Moderators that tilt above policy's limit, as a recorded audit found them, and the findings that a person has resolved. While a
-- finding stands, a person is asked for in each debate that its moderator decides (service/intake/moderator_tilts.py).
-- The rows say which records are about what; rows are only added.

-- alias, model   the moderator's model by policy's name and by its vendor's; `prompt` and `pin` are its pinned prompt
-- task_type      what the finding is about; without one it is about all
CREATE TABLE gainsay.moderator_tilt (
    finding   uuid PRIMARY KEY,
    tenant    text NOT NULL,
    record    uuid NOT NULL UNIQUE,
    alias     text NOT NULL,
    model     text NOT NULL,
    prompt    text NOT NULL,
    pin       text NOT NULL,
    task_type text,
    aspect    text NOT NULL CHECK (aspect IN ('side', 'position')),
    recorded  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX moderator_tilt_list ON gainsay.moderator_tilt (tenant, finding);

CREATE TABLE gainsay.moderator_resolution (
    finding  uuid PRIMARY KEY,
    tenant   text NOT NULL,
    record   uuid NOT NULL UNIQUE,
    resolved timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX moderator_resolution_list ON gainsay.moderator_resolution (tenant, finding);

DO $$
DECLARE
    what text;
BEGIN
    FOREACH what IN ARRAY ARRAY['moderator_tilt', 'moderator_resolution'] LOOP
        EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.%I
                        FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change()', what);
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ALWAYS TRIGGER refuse_change', what);
        EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.%I
                        FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change()', what);
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ALWAYS TRIGGER refuse_truncate', what);
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ROW LEVEL SECURITY', what);
        EXECUTE format('CREATE POLICY every_tenant ON gainsay.%I TO gainsay_writer, gainsay_auditor
                        USING (true) WITH CHECK (true)', what);
        EXECUTE format('CREATE POLICY own_tenant ON gainsay.%I TO gainsay_api
                        USING (tenant = gainsay.current_tenant())', what);
        EXECUTE format('GRANT SELECT, INSERT ON gainsay.%I TO gainsay_writer', what);
        -- A case that comes in is opened under the findings that stand; recording and resolving is for commands alone.
        EXECUTE format('GRANT SELECT ON gainsay.%I TO gainsay_api, gainsay_auditor', what);
    END LOOP;
END $$;
