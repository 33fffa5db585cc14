-- What a usual number of explicit uncertainties is, by task type: an alert compares with it what debates have now. A person
-- has each row recorded by a command, which counts; rows are only added, and the newest of a task type holds. There is no
-- tenant in them: a row is of all tenants' debates together, and says nothing of any of them.
CREATE TABLE gainsay.uncertainty_baseline (
    task_type     text NOT NULL CHECK (length(task_type) BETWEEN 1 AND 2000),
    recorded      timestamptz NOT NULL DEFAULT clock_timestamp(),
    recorded_by   text NOT NULL CHECK (length(recorded_by) BETWEEN 1 AND 200),
    since         timestamptz NOT NULL,
    until         timestamptz NOT NULL,
    debates       bigint NOT NULL CHECK (debates >= 20),
    uncertainties bigint NOT NULL CHECK (uncertainties >= 0),
    PRIMARY KEY (task_type, recorded),
    CHECK (since < until)
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.uncertainty_baseline
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.uncertainty_baseline ENABLE ALWAYS TRIGGER refuse_change;
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON gainsay.uncertainty_baseline
    FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.uncertainty_baseline ENABLE ALWAYS TRIGGER refuse_truncate;

GRANT SELECT, INSERT (task_type, recorded_by, since, until, debates, uncertainties) ON gainsay.uncertainty_baseline
    TO gainsay_writer;
GRANT SELECT ON gainsay.uncertainty_baseline TO gainsay_auditor;
