-- What a debate is found by in the list of debates: projections of its records, which `gainsay rebuild` makes anew. Nothing
-- is proved by them. A debate that a version before this one recorded has no row here, and one whose end such a version
-- recorded a row without an end: the list shows both, and a filter finds them once they are rebuilt.

-- What the case's context, the start and the outcome say. Columns from `status` on are those of an end, empty until there
-- is one; they are shown only when the end is provable, as everywhere. Money is micro-dollars, `downside` US dollars.
CREATE TABLE gainsay.found_by (
    tenant       text NOT NULL,
    debate       uuid NOT NULL,
    task_type    text NOT NULL,
    format       text,
    use_case     text,
    materiality  text,
    downside     numeric NOT NULL,
    models       text[] NOT NULL,
    status       text,
    outcome      text,
    confidence   text,
    human_review boolean,
    flags        text[],
    spent        bigint,
    PRIMARY KEY (tenant, debate)
);
-- One index for each filter, in the order of the list; those of free texts by their beginning, which fits into an index.
CREATE INDEX found_by_task_type ON gainsay.found_by (tenant, left(task_type, 120), debate);
CREATE INDEX found_by_format ON gainsay.found_by (tenant, format, debate);
CREATE INDEX found_by_use_case ON gainsay.found_by (tenant, left(use_case, 120), debate);
CREATE INDEX found_by_materiality ON gainsay.found_by (tenant, materiality, debate);
CREATE INDEX found_by_status ON gainsay.found_by (tenant, status, debate);
CREATE INDEX found_by_outcome ON gainsay.found_by (tenant, outcome, debate);
CREATE INDEX found_by_confidence ON gainsay.found_by (tenant, confidence, debate);
CREATE INDEX found_by_human_review ON gainsay.found_by (tenant, human_review, debate);
CREATE INDEX found_by_flags ON gainsay.found_by USING gin (flags) WITH (fastupdate = off);
-- One index for each order; (tenant, debate) is that of time.
CREATE INDEX found_by_downside ON gainsay.found_by (tenant, downside, debate);
CREATE INDEX found_by_spent ON gainsay.found_by (tenant, spent, debate);

-- The words of the question, and the case's own names for it as hashes of (tenant, key) and (tenant, key, value). Both are
-- in no other place than the payload of the first record, and go with it.
CREATE TABLE gainsay.case_words (
    tenant   text NOT NULL,
    debate   uuid NOT NULL,
    n        integer NOT NULL DEFAULT 0 CHECK (n = 0),
    words    tsvector NOT NULL,
    metadata text[] NOT NULL,
    PRIMARY KEY (tenant, debate),
    FOREIGN KEY (debate, n) REFERENCES gainsay.payload (debate, n) ON DELETE CASCADE
);
-- A partition of payload has its part of this key: detach it before it is dropped, or the key goes with it.
-- The cascade looks here for each payload that goes.
CREATE INDEX case_words_payload ON gainsay.case_words (debate);
CREATE INDEX case_words_words ON gainsay.case_words USING gin (words) WITH (fastupdate = off);
CREATE INDEX case_words_metadata ON gainsay.case_words USING gin (metadata) WITH (fastupdate = off);

GRANT SELECT, INSERT, UPDATE, DELETE ON gainsay.found_by TO gainsay_writer;
GRANT SELECT, INSERT, DELETE ON gainsay.case_words TO gainsay_writer;
GRANT SELECT ON gainsay.found_by, gainsay.case_words TO gainsay_auditor;
