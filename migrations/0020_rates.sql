-- How many requests of each caller every process has admitted in the present minutes: working state, which processes tell
-- each other so that a caller's rate holds over all of them together. It is no evidence: a crash of the server empties it,
-- and callers may then ask once more what they had asked in that minute.

-- `bucket` is a tenant, a caller's opaque id and a class of operations; `span` counts minutes, shifted for each bucket.
CREATE UNLOGGED TABLE gainsay.rate (
    bucket text NOT NULL,
    span bigint NOT NULL,
    process text NOT NULL,
    used bigint NOT NULL CHECK (used >= 0),
    noted timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (bucket, span, process)
);
-- Old minutes are deleted by their age.
CREATE INDEX rate_noted ON gainsay.rate (noted);

GRANT SELECT, INSERT, UPDATE, DELETE ON gainsay.rate TO gainsay_writer;
GRANT SELECT ON gainsay.rate TO gainsay_auditor;
