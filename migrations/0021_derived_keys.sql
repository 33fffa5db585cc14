-- Cases that came without an idempotency key by a door whose clients send again without one: which debate a caller's body
-- stands for. The key is a SHA-256 of the caller and its body (service/store/idempotency.py). It is no promise for as long
-- as the record, so it is working state and no evidence: ten minutes after its debate has ended the same body begins anew,
-- and the row takes the new debate. Keys that callers send are in idempotency_key, where no row ever changes.
CREATE TABLE gainsay.derived_key (
    tenant text NOT NULL,
    key    bytea NOT NULL CHECK (length(key) = 32),
    debate uuid NOT NULL,
    since  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant, key)
) WITH (fillfactor = 50);

ALTER TABLE gainsay.derived_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON gainsay.derived_key TO gainsay_writer, gainsay_sequencer, gainsay_auditor
    USING (true) WITH CHECK (true);
CREATE POLICY own_tenant ON gainsay.derived_key TO gainsay_api USING (tenant = gainsay.current_tenant());

GRANT SELECT, INSERT ON gainsay.derived_key TO gainsay_writer, gainsay_api;
GRANT UPDATE (debate, since) ON gainsay.derived_key TO gainsay_writer, gainsay_api;
GRANT SELECT ON gainsay.derived_key TO gainsay_auditor;
