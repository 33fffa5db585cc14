-- Evidence that is not what was recorded, as it was found: by a reader of one debate, by the self-check, by the check of
-- the rows that are computed from records. A row with `closes` says that a person has dealt with an earlier one. These
-- rows stand beside `incident`, and not in it: a version before this one takes each open incident for one of a whole
-- log, and does not start. Only the service adds rows; it cannot close one.
CREATE TABLE gainsay.damage (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject text NOT NULL CHECK (subject IN ('log', 'debate', 'row')),
    tenant  text NOT NULL,
    log     text NOT NULL,
    debate  uuid,
    place   text NOT NULL,
    what    text NOT NULL,
    closes  bigint REFERENCES gainsay.damage (id),
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX damage_open ON gainsay.damage (closes);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.damage
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.damage ENABLE ALWAYS TRIGGER refuse_change;
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.damage
    FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.damage ENABLE ALWAYS TRIGGER refuse_truncate;

-- How far the rows that are computed from records have been compared with them in the present round, and when the next
-- step is due, so that one process at a time goes on; and how many cosignatures were stored then.
CREATE TABLE gainsay.row_check (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    after   uuid,
    pause_s double precision NOT NULL DEFAULT 0,
    begun   timestamptz NOT NULL DEFAULT clock_timestamp(),
    due     timestamptz NOT NULL,
    cosignatures bigint NOT NULL DEFAULT 0
);
GRANT SELECT, INSERT, UPDATE ON gainsay.row_check TO gainsay_writer;
GRANT SELECT ON gainsay.row_check TO gainsay_auditor;

GRANT SELECT, INSERT (subject, tenant, log, debate, place, what) ON gainsay.damage TO gainsay_writer;
GRANT SELECT ON gainsay.damage TO gainsay_sequencer, gainsay_auditor;
