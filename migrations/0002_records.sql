-- The durable half of the audit log.
--
-- debate_head and pending are working state: no evidence is in them. Everything else is insert-only for the service;
-- the triggers say so to everybody but a superuser. Tables that grow are partitioned by range of the debate's id,
-- which is a UUID of version 7 and therefore sorts by time.

CREATE TABLE gainsay.debate_head (
    debate      uuid PRIMARY KEY,
    tenant      text NOT NULL,
    log         text NOT NULL,
    format      text,
    task_type   text NOT NULL,
    state       text NOT NULL CHECK (state IN
                ('declined', 'queued', 'running', 'completed', 'truncated', 'failed', 'aborted')),
    created     timestamptz NOT NULL DEFAULT clock_timestamp(),
    epoch       integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    worker      text,
    deadline    timestamptz,
    next_n      integer NOT NULL,
    last_hash   bytea NOT NULL,
    ceiling     bigint NOT NULL CHECK (ceiling >= 0),
    granted     bigint NOT NULL,
    spent       bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    held        bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
    excess      bigint NOT NULL DEFAULT 0 CHECK (excess >= 0),
    CHECK (granted <= ceiling),
    CHECK (spent + held <= granted)
) WITH (fillfactor = 50);

CREATE INDEX debate_head_queue ON gainsay.debate_head (created) WHERE state IN ('queued', 'running');
CREATE INDEX debate_head_list ON gainsay.debate_head (tenant, debate);

CREATE TABLE gainsay.pending (
    log       text NOT NULL,
    seq       bigint GENERATED ALWAYS AS IDENTITY,
    debate    uuid NOT NULL,
    n         integer NOT NULL,
    leaf_hash bytea NOT NULL,
    PRIMARY KEY (log, seq)
);

CREATE TABLE gainsay.entry (
    debate uuid NOT NULL,
    n      integer NOT NULL CHECK (n >= 0),
    leaf   bytea NOT NULL,
    PRIMARY KEY (debate, n)
) PARTITION BY RANGE (debate);

CREATE TABLE gainsay.payload (
    debate uuid NOT NULL,
    n      integer NOT NULL,
    salt   bytea NOT NULL CHECK (length(salt) = 32),
    body   bytea NOT NULL,
    PRIMARY KEY (debate, n)
) PARTITION BY RANGE (debate);

CREATE TABLE gainsay.charge (
    debate       uuid NOT NULL,
    n            integer NOT NULL,
    turn         text NOT NULL,
    attempt      integer NOT NULL,
    basis        text NOT NULL CHECK (basis IN ('usage', 'reserved', 'none')),
    amount       bigint NOT NULL CHECK (amount >= 0),
    excess       bigint NOT NULL CHECK (excess BETWEEN 0 AND amount),
    period_day   date NOT NULL,
    period_month date NOT NULL,
    PRIMARY KEY (debate, n)
) PARTITION BY RANGE (debate);

CREATE TABLE gainsay.document (
    debate uuid NOT NULL,
    id     text NOT NULL,
    salt   bytea NOT NULL CHECK (length(salt) = 32),
    body   bytea NOT NULL,
    PRIMARY KEY (debate, id)
) PARTITION BY RANGE (debate);

-- One partition a year, and one for everything outside: the first 48 bits of the id are milliseconds since 1970.
DO $$
DECLARE
    evidence text;
    year     integer;
    part     text;
    low      text;
    high     text;
BEGIN
    FOREACH evidence IN ARRAY ARRAY['entry', 'payload', 'charge', 'document'] LOOP
        FOR year IN 2026..2040 LOOP
            part := format('%s_%s', evidence, year);
            low := lpad(to_hex((extract(epoch FROM make_timestamptz(year, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint), 12, '0');
            high := lpad(to_hex((extract(epoch FROM make_timestamptz(year + 1, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint), 12, '0');
            EXECUTE format(
                'CREATE TABLE gainsay.%I PARTITION OF gainsay.%I FOR VALUES FROM (%L) TO (%L)',
                part, evidence,
                substr(low, 1, 8) || '-' || substr(low, 9, 4) || '-0000-0000-000000000000',
                substr(high, 1, 8) || '-' || substr(high, 9, 4) || '-0000-0000-000000000000');
        END LOOP;
        EXECUTE format('CREATE TABLE gainsay.%I PARTITION OF gainsay.%I DEFAULT', evidence || '_other', evidence);
    END LOOP;
END $$;

-- Rows of evidence are never changed or removed. A row trigger on a partitioned table reaches its partitions;
-- TRUNCATE of a partition does not pass its parent, so each has a statement trigger of its own.
DO $$
DECLARE
    evidence regclass;
BEGIN
    FOR evidence IN
        SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = 'gainsay' AND c.relkind IN ('p', 'r')
          AND c.relname ~ '^(entry|payload|charge|document)(_|$)'
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change()',
            evidence);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_truncate', evidence);
    END LOOP;
    FOREACH evidence IN ARRAY ARRAY['gainsay.entry', 'gainsay.payload', 'gainsay.charge', 'gainsay.document']::regclass[]
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change()',
            evidence);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_change', evidence);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE ON gainsay.debate_head TO gainsay_writer;
GRANT SELECT, INSERT ON gainsay.pending, gainsay.entry, gainsay.payload, gainsay.charge, gainsay.document
    TO gainsay_writer;
