-- How the lines of a batch stand after its end: counted once, and read from then on. NULL until the batch has ended and
-- the end of each of its debates is provable; after that no line, no state and no cost of it changes any more. A batch
-- that another version ended is counted by the first feeder that knows of this column.
ALTER TABLE gainsay.case_batch ADD COLUMN counts jsonb;
CREATE INDEX case_batch_uncounted ON gainsay.case_batch (fed) WHERE ended IS NOT NULL AND counts IS NULL;
