-- Whether a model's factual accuracy in a panel was checked: without a citation that could be compared it was not, and the
-- score does not count in the model's mean. A row of a version before this one says that it was; `gainsay rebuild`
-- corrects it.
ALTER TABLE gainsay.track_record ADD COLUMN factual_checked boolean NOT NULL DEFAULT true;
