-- When the database took up each record, by its own clock: a turn's deadline is counted from here, whoever asks it. What
-- a leaf says of time is its writer's claim; here a writer has no say, for it may fill the other columns alone. Records
-- of before have none. This is working state beside evidence: no hash covers it, and nothing that is verified rests on it.
ALTER TABLE gainsay.entry ADD COLUMN at timestamptz;
ALTER TABLE gainsay.entry ALTER COLUMN at SET DEFAULT clock_timestamp();
REVOKE INSERT ON gainsay.entry FROM gainsay_writer;
GRANT INSERT (debate, n, leaf) ON gainsay.entry TO gainsay_writer;
