-- How models did in the panels of a tenant, one row for each debate and model: a projection of the entries, which
-- `gainsay rebuild` makes anew. A panel's automatic choice of models goes by it; nothing is proved by it.
CREATE TABLE gainsay.track_record (
    tenant              text NOT NULL,
    debate              uuid NOT NULL,
    model               text NOT NULL,
    question_type       text NOT NULL,
    factual_accuracy    smallint NOT NULL CHECK (factual_accuracy BETWEEN 0 AND 100),
    logical_consistency smallint NOT NULL CHECK (logical_consistency BETWEEN 0 AND 100),
    evidence_quality    smallint NOT NULL CHECK (evidence_quality BETWEEN 0 AND 100),
    trajectory_score    smallint NOT NULL CHECK (trajectory_score BETWEEN 0 AND 100),
    PRIMARY KEY (tenant, debate, model)
);
CREATE INDEX track_record_debate ON gainsay.track_record (debate);

GRANT SELECT, INSERT, DELETE ON gainsay.track_record TO gainsay_writer;
GRANT SELECT ON gainsay.track_record TO gainsay_auditor;
