-- What callers are promised: a case that is posted again under its key is not a second debate, and a debate that is to
-- end with its listeners does.

-- key and body are kept as SHA-256 alone. The row is written in the transaction that records the debate, and stays as
-- long as the debate's records do.
CREATE TABLE gainsay.idempotency_key (
    tenant  text NOT NULL,
    key     bytea NOT NULL CHECK (length(key) = 32),
    body    bytea NOT NULL CHECK (length(body) = 32),
    debate  uuid NOT NULL,
    created timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant, key)
);
GRANT SELECT, INSERT ON gainsay.idempotency_key TO gainsay_writer;
GRANT SELECT ON gainsay.idempotency_key TO gainsay_auditor;

-- When somebody was last listening to a debate that ends with its listeners, and to which process: one whose own
-- listeners have gone looks here whether another one has any. A debate that was ever listened to keeps its one row, which
-- is about 100 bytes beside records that stay too: nothing is deleted here either.
CREATE TABLE gainsay.listener (
    debate  uuid PRIMARY KEY,
    process text NOT NULL,
    seen    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON gainsay.listener TO gainsay_writer;
GRANT SELECT ON gainsay.listener TO gainsay_auditor;
