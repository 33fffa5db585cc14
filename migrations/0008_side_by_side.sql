-- Which versions of the service may run on this schema: the old one and the new one side by side for one release.
--
-- `floor` is the last migration that a version has to know at least. A file that only adds leaves it as it is, so the
-- version before goes on and may be started anew; a file that takes something away or gives it another meaning inserts
-- the name of the first version that does without it. The latest row counts.
CREATE TABLE gainsay.schema_floor (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    floor text NOT NULL,
    at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.schema_floor
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.schema_floor
    FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.schema_floor ENABLE ALWAYS TRIGGER refuse_change;
ALTER TABLE gainsay.schema_floor ENABLE ALWAYS TRIGGER refuse_truncate;
INSERT INTO gainsay.schema_floor (floor) VALUES ('0008_side_by_side');
GRANT SELECT ON gainsay.schema_floor TO gainsay_writer, gainsay_sequencer, gainsay_auditor;
