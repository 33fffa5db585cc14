-- The provable half of the audit log.
--
-- One statement of a worker makes an entry durable and stages it in `pending`. The one active sequencer of a log takes
-- what is staged and gives it leaves with indexes that have no gap. Only the role gainsay_sequencer may insert into
-- batch, leaf, tile, checkpoint and cosignature, and the service's own role cannot become it.

GRANT USAGE ON SCHEMA gainsay TO gainsay_sequencer, gainsay_auditor, gainsay_reader;
DO $$
BEGIN
    IF (SELECT datdba = 'gainsay_owner'::regrole FROM pg_database WHERE datname = current_database()) THEN
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO gainsay_sequencer, gainsay_auditor, gainsay_reader',
                       current_database());
    END IF;
END $$;

-- The sequencer hashes the stored leaf itself, so the writer's word for it is not needed. `staged` tells how long a
-- record has been durable and not provable.
ALTER TABLE gainsay.pending DROP COLUMN leaf_hash;
ALTER TABLE gainsay.pending ADD COLUMN staged timestamptz NOT NULL DEFAULT clock_timestamp();
-- One look finds what is staged in every log, and passes over what was taken and cannot be cleared away yet.
ALTER TABLE gainsay.pending DROP CONSTRAINT pending_pkey;
ALTER TABLE gainsay.pending ADD PRIMARY KEY (seq);

-- What every record of a debate says beside its own: the policy's hash, and the commitment to what the case is about.
ALTER TABLE gainsay.debate_head
    ADD COLUMN policy text NOT NULL DEFAULT '',
    ADD COLUMN context text NOT NULL DEFAULT '';

CREATE TABLE gainsay.context (
    debate uuid PRIMARY KEY,
    salt   bytea NOT NULL CHECK (length(salt) = 32),
    body   bytea NOT NULL
);

-- Texts that are named by their hash and shared by many debates: prompts, the manifest, configurations, approvals.
CREATE TABLE gainsay.content (
    sha256 bytea PRIMARY KEY,
    body   bytea NOT NULL,
    CHECK (sha256 = sha256(body))
);
ALTER TABLE gainsay.content ALTER COLUMN body SET STORAGE EXTERNAL;

-- The logs of each tenant, and the verifier key (C2SP signed-note) that signs the heads of each.
CREATE TABLE gainsay.log_epoch (
    log    text PRIMARY KEY,
    tenant text NOT NULL,
    epoch  integer NOT NULL CHECK (epoch > 0),
    key    text NOT NULL,
    opened timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (tenant, epoch)
);

-- A batch of leaves. Its primary key is the compare-and-set: a second sequencer that continues the same head gets a
-- unique violation; the foreign key lets a batch begin only where another ended, or at 0.
CREATE TABLE gainsay.batch (
    log      text NOT NULL,
    first    bigint NOT NULL CHECK (first >= 0),
    next     bigint NOT NULL,
    root     bytea NOT NULL CHECK (length(root) = 32),
    frontier bytea NOT NULL,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    after    bigint GENERATED ALWAYS AS (nullif(first, 0)) STORED,
    PRIMARY KEY (log, first),
    UNIQUE (log, next),
    CHECK (next > first),
    FOREIGN KEY (log, after) REFERENCES gainsay.batch (log, next)
);

-- Where a time falls in a log, for exports of a range.
CREATE INDEX batch_at ON gainsay.batch (log, at, first);

CREATE TABLE gainsay.leaf (
    log    text NOT NULL,
    idx    bigint NOT NULL CHECK (idx >= 0),
    debate uuid NOT NULL,
    n      integer NOT NULL,
    hash   bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (log, idx),
    UNIQUE (debate, n)
);

-- Full tiles alone (C2SP tlog-tiles): 256 hashes of 32 bytes. What is partial is made from leaf and from lower tiles.
CREATE TABLE gainsay.tile (
    log    text NOT NULL,
    level  smallint NOT NULL CHECK (level >= 0),
    idx    bigint NOT NULL CHECK (idx >= 0),
    hashes bytea NOT NULL CHECK (length(hashes) = 8192),
    PRIMARY KEY (log, level, idx)
);
ALTER TABLE gainsay.tile ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Signed heads. A root stands beside a note so that comparing needs no parsing.
CREATE TABLE gainsay.checkpoint (
    log  text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    root bytea NOT NULL CHECK (length(root) = 32),
    note bytea NOT NULL,
    at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (log, size)
);

CREATE TABLE gainsay.cosignature (
    log     text NOT NULL,
    size    bigint NOT NULL,
    witness text NOT NULL,
    line    text NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (log, size, witness),
    FOREIGN KEY (log, size) REFERENCES gainsay.checkpoint (log, size)
);

-- A log that turned out to be behind a head that was signed or witnessed, or to differ from it. Nothing is signed for
-- it any more. A row with `closes` says that a person has dealt with an earlier one.
CREATE TABLE gainsay.incident (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    log    text NOT NULL,
    what   text NOT NULL,
    closes bigint REFERENCES gainsay.incident (id),
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- When each log was last begun to be recomputed in the background, so that one process at a time does it.
CREATE TABLE gainsay.log_check (
    log text PRIMARY KEY,
    at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, UPDATE ON gainsay.log_check TO gainsay_writer;

-- What a debate rests on, to be found again: a projection of its entries, which `gainsay rebuild` makes anew.
-- what: manifest, model, document, price, engine, configuration.
CREATE TABLE gainsay.rests_on (
    tenant text NOT NULL,
    what   text NOT NULL,
    value  text NOT NULL,
    debate uuid NOT NULL,
    PRIMARY KEY (tenant, what, value, debate)
);
CREATE INDEX rests_on_debate ON gainsay.rests_on (debate);
-- Which prompts a manifest holds, so that a debate needs one row for all of them.
CREATE TABLE gainsay.manifest_prompt (
    manifest text NOT NULL,
    prompt   text NOT NULL,
    sha256   text NOT NULL,
    PRIMARY KEY (manifest, prompt)
);
CREATE INDEX manifest_prompt_sha256 ON gainsay.manifest_prompt (sha256);

DO $$
DECLARE
    evidence regclass;
BEGIN
    FOREACH evidence IN ARRAY ARRAY['gainsay.context', 'gainsay.content', 'gainsay.log_epoch', 'gainsay.batch',
        'gainsay.leaf', 'gainsay.tile', 'gainsay.checkpoint', 'gainsay.cosignature', 'gainsay.incident']::regclass[]
    LOOP
        EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %s
                        FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change()', evidence);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_change', evidence);
        EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %s
                        FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change()', evidence);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_truncate', evidence);
    END LOOP;
END $$;

-- The state that a debate may be told to be in: one that has ended runs until a signed head covers its last record.
CREATE FUNCTION gainsay.told_state(of_debate uuid, of_log text, last_n integer, state text) RETURNS text
    LANGUAGE sql STABLE
AS $$
    SELECT CASE
        WHEN state IN ('queued', 'running') THEN state
        WHEN EXISTS (SELECT FROM gainsay.leaf l WHERE l.debate = of_debate AND l.n = last_n
                     AND l.idx < (SELECT max(c.size) FROM gainsay.checkpoint c WHERE c.log = of_log)) THEN state
        ELSE 'running' END
$$;
GRANT EXECUTE ON FUNCTION gainsay.told_state(uuid, text, integer, text) TO gainsay_writer;

-- The service adds evidence and reads the log; it inserts no leaf and signs no head.
GRANT SELECT, INSERT ON gainsay.context, gainsay.content, gainsay.log_epoch TO gainsay_writer;
GRANT SELECT ON gainsay.batch, gainsay.leaf, gainsay.tile, gainsay.checkpoint, gainsay.cosignature, gainsay.incident
    TO gainsay_writer;
GRANT SELECT, INSERT, DELETE ON gainsay.rests_on, gainsay.manifest_prompt TO gainsay_writer;

-- The sequencer takes what is staged and adds to the tree. Of debates it reads the envelopes alone.
GRANT SELECT, DELETE ON gainsay.pending TO gainsay_sequencer;
GRANT SELECT ON gainsay.entry, gainsay.migration TO gainsay_sequencer;
GRANT SELECT, INSERT ON gainsay.log_epoch, gainsay.batch, gainsay.leaf, gainsay.tile, gainsay.checkpoint,
    gainsay.cosignature, gainsay.incident TO gainsay_sequencer;

-- An auditor reads everything of every tenant and adds nothing.
GRANT SELECT ON ALL TABLES IN SCHEMA gainsay TO gainsay_auditor;

-- A reader sees the records of the one tenant that `SET gainsay.tenant = '...'` names, and none without it. This keeps
-- slips apart, not somebody who may run any SQL: they can set another tenant.
CREATE VIEW gainsay.tenant_record WITH (security_barrier) AS
SELECT l.log, l.idx, e.debate, e.n, e.leaf, p.salt, p.body
FROM gainsay.log_epoch g
JOIN gainsay.leaf l USING (log)
JOIN gainsay.entry e USING (debate, n)
LEFT JOIN gainsay.payload p USING (debate, n)
WHERE g.tenant = current_setting('gainsay.tenant', true);
CREATE VIEW gainsay.tenant_checkpoint WITH (security_barrier) AS
SELECT c.log, c.size, c.root, c.note, c.at
FROM gainsay.log_epoch g JOIN gainsay.checkpoint c USING (log)
WHERE g.tenant = current_setting('gainsay.tenant', true);
GRANT SELECT ON gainsay.tenant_record, gainsay.tenant_checkpoint TO gainsay_reader;
