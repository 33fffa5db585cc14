-- Debates of evaluations are told apart in the list: which evaluation a debate is an item of, by its id. A debate that was
-- brought to decide something has none, as every debate of before.
ALTER TABLE gainsay.found_by ADD COLUMN evaluation text;
CREATE INDEX found_by_evaluation ON gainsay.found_by (tenant, evaluation, debate) WHERE evaluation IS NOT NULL;
CREATE OR REPLACE VIEW gainsay_tenant.found_by AS
SELECT * FROM gainsay.found_by WHERE tenant = gainsay.current_tenant()
WITH LOCAL CHECK OPTION;
