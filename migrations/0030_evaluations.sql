-- Evaluations: a registered plan, and the entries that follow from it.
--
-- Entries are records that belong to no debate (service/audit/evaluation_events.py). The rows here say which records are
-- those of an evaluation, in which order, and which process goes on with it (service/reviews/evaluation_feed.py). What
-- counts is in the records.

-- Who registered an evaluation, as its debates name the caller, and how far it is.
--
-- held      the ids of the sets of which it asks the split `held`; `scored` says that it has looked at their labels
-- ended     when nothing of it followed any more; `result` is the whole result as JSON, whose hash is recorded
-- pause     why it does not go on at present, for people
-- feeder    which process goes on with it at present, until `lease_until`; `fed` is when its turn last came
CREATE TABLE gainsay.evaluation (
    evaluation  uuid PRIMARY KEY,
    tenant      text NOT NULL,
    name        text NOT NULL,
    subject     text NOT NULL,
    role        text NOT NULL,
    kind        text NOT NULL,
    via         text NOT NULL,
    roles       text[] NOT NULL,
    scopes      text[],
    credential  text NOT NULL,
    held        text[] NOT NULL,
    scored      boolean NOT NULL DEFAULT false,
    registered  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended       timestamptz,
    result      bytea,
    pause       text,
    feeder      text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fed         timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
CREATE INDEX evaluation_open ON gainsay.evaluation (fed) WHERE ended IS NULL;
CREATE INDEX evaluation_list ON gainsay.evaluation (tenant, evaluation);

-- The record of each entry. Of two processes that write the entry with one number, one alone does.
CREATE TABLE gainsay.evaluation_entry (
    tenant     text NOT NULL,
    evaluation uuid NOT NULL,
    n          integer NOT NULL CHECK (n >= 0),
    record     uuid NOT NULL UNIQUE,
    PRIMARY KEY (tenant, evaluation, n)
);

DO $$
DECLARE
    what text;
BEGIN
    FOREACH what IN ARRAY ARRAY['evaluation', 'evaluation_entry'] LOOP
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ROW LEVEL SECURITY', what);
        EXECUTE format('CREATE POLICY every_tenant ON gainsay.%I TO gainsay_writer, gainsay_auditor
                        USING (true) WITH CHECK (true)', what);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON gainsay.evaluation TO gainsay_writer;
GRANT SELECT, INSERT ON gainsay.evaluation_entry TO gainsay_writer;
GRANT SELECT ON gainsay.evaluation, gainsay.evaluation_entry TO gainsay_auditor;
