-- Batches: cases that came together in one file, under one ceiling.
--
-- The service opens the cases itself, a few at a time (service/reviews/batch_feed.py). A batch is working state; what
-- counts is in the records of its debates, each of which names its batch. A line keeps the text of its case until that
-- is recorded or refused, and no longer.

-- Who brought a batch, as the records of its cases name it, and what has become of it.
--
-- key, body        SHA-256 of the Idempotency-Key and of what came under it
-- credential       the id of the key with which it came, or empty
-- trace            the id of the trace that its request took part in, which the records of its cases name too
-- stop             why nothing more of it is begun, with `stop_detail` for people
-- pause            what it waits for at present, with `pause_until` where that is known
-- feeder           which process opens its cases at present, until `lease_until`; `fed` is when its turn last came
CREATE TABLE gainsay.case_batch (
    batch       uuid PRIMARY KEY,
    tenant      text NOT NULL,
    subject     text NOT NULL,
    role        text NOT NULL,
    kind        text NOT NULL,
    via         text NOT NULL,
    roles       text[] NOT NULL,
    scopes      text[],
    credential  text NOT NULL,
    trace       text,
    name        text,
    lines       integer NOT NULL CHECK (lines > 0),
    deadline    timestamptz,
    key         bytea CHECK (length(key) = 32),
    body        bytea NOT NULL CHECK (length(body) = 32),
    created     timestamptz NOT NULL DEFAULT clock_timestamp(),
    stop        text CHECK (stop IN ('aborted', 'deadline', 'revoked')),
    stop_detail text,
    pause       text,
    pause_until timestamptz,
    ended       timestamptz,
    feeder      text,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    fed         timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX case_batch_key ON gainsay.case_batch (tenant, key) WHERE key IS NOT NULL;
CREATE INDEX case_batch_open ON gainsay.case_batch (fed) WHERE ended IS NULL;
CREATE INDEX case_batch_list ON gainsay.case_batch (tenant, batch);

-- A line waits with its text (`body`), has a debate, or is refused. A line that `joined` has a debate that was recorded
-- under its key before this batch, and that counts in no ceiling of this batch.
CREATE TABLE gainsay.batch_line (
    batch   uuid NOT NULL,
    line    integer NOT NULL CHECK (line > 0),
    tenant  text NOT NULL,
    key     text,
    body    bytea,
    debate  uuid,
    joined  boolean NOT NULL DEFAULT false,
    refused text CHECK (refused IN ('budget', 'deadline', 'aborted', 'revoked', 'invalid', 'key', 'fault')),
    detail  text,
    PRIMARY KEY (batch, line),
    CHECK (num_nonnulls(body, debate, refused) = 1)
);
CREATE INDEX batch_line_waiting ON gainsay.batch_line (batch, line) WHERE body IS NOT NULL;
CREATE INDEX batch_line_joined ON gainsay.batch_line (batch) WHERE joined;

-- What a batch may spend, as a row of spend_limit: `drawn` is what its debates have drawn and not given back, `excess`
-- what vendors billed above their reservations.
CREATE TABLE gainsay.batch_limit (
    batch   uuid PRIMARY KEY,
    tenant  text NOT NULL,
    ceiling bigint NOT NULL CHECK (ceiling >= 0),
    drawn   bigint NOT NULL DEFAULT 0 CHECK (drawn >= 0),
    excess  bigint NOT NULL DEFAULT 0 CHECK (excess >= 0),
    CHECK (drawn <= ceiling)
) WITH (fillfactor = 50);

ALTER TABLE gainsay.debate_head ADD COLUMN batch uuid;
CREATE INDEX debate_head_batch ON gainsay.debate_head (batch) WHERE batch IS NOT NULL AND state IN ('queued', 'running');

-- As in 0003_tenant_limits.sql, and for a debate of a batch from that batch's limit as well. The order of locks is: the
-- head, the batch's limit, the tenant's day, the tenant's month. A version that knows no batches draws by this too.
CREATE OR REPLACE FUNCTION gainsay.draw_tranche(
    of_debate uuid, of_epoch integer, known integer, need bigint, want bigint,
    zone text, day_limit bigint, month_limit bigint)
    RETURNS TABLE (granted bigint, draws integer, short text, remaining bigint)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    head       record;
    day        date;
    month      date;
    batch_left bigint;
    day_left   bigint;
    month_left bigint;
    more       bigint := 0;
BEGIN
    SELECT h.tenant, h.batch, h.ceiling - h.granted AS room, h.granted INTO head FROM gainsay.debate_head h
    WHERE h.debate = of_debate AND h.epoch = of_epoch AND h.draws = known AND h.state = 'running' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    need := greatest(need, 1);
    want := least(greatest(want, need), head.room);
    IF need > head.room THEN
        RETURN QUERY SELECT head.granted, known, 'debateCeiling', head.room;
        RETURN;
    END IF;
    IF head.batch IS NOT NULL THEN
        SELECT b.ceiling - b.drawn - b.excess INTO batch_left FROM gainsay.batch_limit b
        WHERE b.batch = head.batch FOR NO KEY UPDATE;
        batch_left := coalesce(batch_left, 0); -- without its row a batch has nothing to draw from
    END IF;
    day := gainsay.today(zone);
    month := date_trunc('month', day)::date;
    day_left := day_limit - gainsay.lock_period(head.tenant, 'day', day);
    month_left := month_limit - gainsay.lock_period(head.tenant, 'month', month);
    IF batch_left < need THEN -- named first: it is never over
        short := 'batchCeiling';
        remaining := batch_left;
    ELSIF month_left < need THEN -- named before the day: it is over later
        short := 'tenantMonth';
        remaining := month_left;
    ELSIF day_left < need THEN
        short := 'tenantDay';
        remaining := day_left;
    ELSIF least(batch_left, day_left, month_left) / 10 < want THEN
        more := need;
    ELSE
        more := want;
    END IF;
    -- The limit that the caller's policy names is set before the amount is added, so that the table's CHECK refuses an
    -- amount that is wrong.
    UPDATE gainsay.batch_limit b SET drawn = b.drawn + more WHERE b.batch = head.batch AND more > 0;
    UPDATE gainsay.spend_limit l
    SET ceiling = CASE WHEN p.named IS NOT NULL THEN greatest(l.drawn, p.named) END,
        drawn = l.drawn + more
    FROM (VALUES ('day', day, day_limit), ('month', month, month_limit)) AS p (period, starts, named)
    WHERE l.tenant = head.tenant AND l.period = p.period AND l.starts = p.starts;
    IF short IS NOT NULL THEN
        RETURN QUERY SELECT head.granted, known, short, remaining;
        RETURN;
    END IF;
    INSERT INTO gainsay.draw (debate, nth, tenant, period_day, period_month, amount)
    VALUES (of_debate, known + 1, head.tenant, day, month, more);
    RETURN QUERY
    UPDATE gainsay.debate_head h
    SET granted = h.granted + more, draws = h.draws + 1,
        draw_day = CASE WHEN h.draws = 0 OR h.draw_day = day THEN day END
    WHERE h.debate = of_debate
    RETURNING h.granted, h.draws, NULL, NULL::bigint;
END $$;

-- As in 0003_tenant_limits.sql, and to the limit of the debate's batch as well, in the same order of locks.
CREATE OR REPLACE FUNCTION gainsay.settle_limits() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ends  boolean := OLD.state IN ('queued', 'running') AND NEW.state NOT IN ('queued', 'running');
    kept  bigint := CASE WHEN ends THEN NEW.spent + NEW.held ELSE NEW.granted END;
    moved record;
    given integer;
BEGIN
    IF NEW.draws = 0 OR NOT (ends OR NEW.excess > OLD.excess) THEN
        RETURN NULL;
    END IF;
    IF NEW.batch IS NOT NULL THEN
        -- A row that somebody has edited or removed must not keep a conclusion from being recorded.
        UPDATE gainsay.batch_limit b
        SET drawn = greatest(0, b.drawn - t.back),
            excess = least(b.excess::numeric + NEW.excess - OLD.excess, 1e18)::bigint
        FROM (SELECT coalesce(sum(greatest(0, t.high - greatest(t.low, kept))), 0)::bigint AS back
              FROM gainsay.tranches(NEW.debate) t) AS t
        WHERE b.batch = NEW.batch AND (t.back > 0 OR NEW.excess > OLD.excess);
    END IF;
    FOR moved IN
        SELECT p.period, p.starts, sum(greatest(0, t.high - greatest(t.low, kept)))::bigint AS back,
               CASE WHEN bool_or(t.latest) THEN NEW.excess - OLD.excess ELSE 0 END AS beyond
        FROM gainsay.tranches(NEW.debate) t,
             LATERAL (VALUES ('day', t.period_day), ('month', t.period_month)) AS p (period, starts)
        GROUP BY p.period, p.starts ORDER BY p.period, p.starts
    LOOP
        UPDATE gainsay.spend_limit l
        SET drawn = greatest(0, l.drawn - moved.back),
            excess = least(l.excess::numeric + moved.beyond, 1e18)::bigint
        WHERE l.tenant = NEW.tenant AND l.period = moved.period AND l.starts = moved.starts
          AND (moved.back > 0 OR moved.beyond > 0);
    END LOOP;
    IF ends THEN
        INSERT INTO gainsay.draw (debate, nth, tenant, period_day, period_month, amount)
        SELECT NEW.debate, NEW.draws + row_number() OVER (ORDER BY min(t.nth)), NEW.tenant, t.period_day,
               t.period_month, -sum(greatest(0, t.high - greatest(t.low, kept)))
        FROM gainsay.tranches(NEW.debate) t WHERE t.high > kept GROUP BY t.period_day, t.period_month;
        GET DIAGNOSTICS given = ROW_COUNT;
        UPDATE gainsay.debate_head SET granted = kept, draws = NEW.draws + given WHERE debate = NEW.debate;
    END IF;
    RETURN NULL;
END $$;

DO $$
DECLARE
    what text;
BEGIN
    FOREACH what IN ARRAY ARRAY['case_batch', 'batch_line', 'batch_limit'] LOOP
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ROW LEVEL SECURITY', what);
        EXECUTE format('CREATE POLICY every_tenant ON gainsay.%I TO gainsay_writer, gainsay_sequencer, gainsay_auditor
                        USING (true) WITH CHECK (true)', what);
        EXECUTE format('CREATE POLICY own_tenant ON gainsay.%I TO gainsay_api
                        USING (tenant = gainsay.current_tenant())', what);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE ON gainsay.case_batch, gainsay.batch_line, gainsay.batch_limit TO gainsay_writer;
-- Lines without a batch, whose upload was cut off, are deleted.
GRANT DELETE ON gainsay.batch_line TO gainsay_writer;
GRANT SELECT, INSERT ON gainsay.case_batch, gainsay.batch_line, gainsay.batch_limit TO gainsay_api;
-- An abort is all that a caller changes of a batch.
GRANT UPDATE (stop, stop_detail) ON gainsay.case_batch TO gainsay_api;
GRANT SELECT ON gainsay.case_batch, gainsay.batch_line, gainsay.batch_limit TO gainsay_auditor;
