-- What those who watch the service ask of an evaluation beside its entries.
--
-- waits_for, waits_since   what it waits for, as a word of service/observing/evaluation_metrics.py, and since when; `pause`
--                          says it to people
-- ceiling_used             the share of its ceiling that its scored debates have cost
-- ceiling_needed           what all of its debates would cost at the present cost of one, as a share of its ceiling; NULL
--                          while few are scored
ALTER TABLE gainsay.evaluation ADD COLUMN waits_for text;
ALTER TABLE gainsay.evaluation ADD COLUMN waits_since timestamptz;
ALTER TABLE gainsay.evaluation ADD COLUMN ceiling_used float8;
ALTER TABLE gainsay.evaluation ADD COLUMN ceiling_needed float8;
