-- Time stamps of heads by an authority (RFC 3161), one for each head that got one. `stamped` and `authority`, the SHA-256
-- of its certificate, are what the token says, which stands there in its one normal form; `at` is this database's time.
-- The sequencer alone adds them, as it does cosignatures.
CREATE TABLE gainsay.time_stamp (
    log       text NOT NULL,
    size      bigint NOT NULL,
    stamped   timestamptz NOT NULL,
    authority bytea NOT NULL CHECK (octet_length(authority) = 32),
    token     bytea NOT NULL CHECK (octet_length(token) BETWEEN 1 AND 65536),
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (log, size),
    FOREIGN KEY (log, size) REFERENCES gainsay.checkpoint (log, size)
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.time_stamp
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.time_stamp ENABLE ALWAYS TRIGGER refuse_change;
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.time_stamp
    FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.time_stamp ENABLE ALWAYS TRIGGER refuse_truncate;

-- How many time stamps were stored when the rows were last compared.
ALTER TABLE gainsay.row_check ADD COLUMN time_stamps bigint NOT NULL DEFAULT 0;

GRANT SELECT ON gainsay.time_stamp TO gainsay_writer, gainsay_auditor;
GRANT SELECT, INSERT (log, size, stamped, authority, token) ON gainsay.time_stamp TO gainsay_sequencer;
