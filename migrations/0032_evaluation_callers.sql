-- Evaluations over HTTP: the login that serves callers reads and registers those of its tenant, and stops one.

-- key and body are kept as SHA-256 alone: a plan that is sent again under its key is no second evaluation.
ALTER TABLE gainsay.evaluation ADD COLUMN key bytea CHECK (length(key) = 32);
ALTER TABLE gainsay.evaluation ADD COLUMN body bytea CHECK (length(body) = 32);
CREATE UNIQUE INDEX evaluation_key ON gainsay.evaluation (tenant, key) WHERE key IS NOT NULL;

CREATE POLICY own_tenant ON gainsay.evaluation TO gainsay_api USING (tenant = gainsay.current_tenant());
CREATE POLICY own_tenant ON gainsay.evaluation_entry TO gainsay_api USING (tenant = gainsay.current_tenant());
-- A stop is an entry as well, so this login changes no row: what ends an evaluation is the feeder's to record.
GRANT SELECT, INSERT ON gainsay.evaluation, gainsay.evaluation_entry TO gainsay_api;
