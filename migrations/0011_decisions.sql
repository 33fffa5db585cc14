-- What was decided in each debate that has ended, as its result begins: a projection of the entries for lists, which
-- `gainsay rebuild` makes anew. Nothing is proved by it. A debate that a version before this one has concluded has no
-- row; its decision is then read from the records.
CREATE TABLE gainsay.decision (
    debate uuid PRIMARY KEY,
    tenant text NOT NULL,
    body   bytea NOT NULL
);

GRANT SELECT, INSERT, DELETE ON gainsay.decision TO gainsay_writer;
GRANT SELECT ON gainsay.decision TO gainsay_auditor;
