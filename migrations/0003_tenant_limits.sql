-- What a tenant may spend in a day and in a month.
--
-- A debate of a tenant with limits begins with nothing granted. It draws on the tenant's day and month in tranches, and
-- its attempts are held against what it was granted: spend_limit is touched a few times in a debate and not in every
-- append. What is left goes back when the debate concludes, in the transaction that records the conclusion.
--
-- spend_limit and debate_head are working state; draw and charge are evidence. Everything that moves money takes its
-- locks in one order: the head, then rows of spend_limit by period (day before month) and first day.

-- How many rows of draw the debate has: with 0 it has its whole ceiling from the start, or nothing yet. draw_day is the
-- one day that they all count in, and NULL once there are several: most charges then need not look at the draws.
ALTER TABLE gainsay.debate_head
    ADD COLUMN draws integer NOT NULL DEFAULT 0,
    ADD COLUMN draw_day date;

-- ceiling is the limit by which the last draw was made, or what was drawn by then if that was more, and NULL without a
-- limit. excess is what vendors billed above their reservations: it leaves less to draw, and nothing can refuse it.
CREATE TABLE gainsay.spend_limit (
    tenant  text NOT NULL,
    period  text NOT NULL CHECK (period IN ('day', 'month')),
    starts  date NOT NULL,
    ceiling bigint CHECK (ceiling >= 0),
    drawn   bigint NOT NULL DEFAULT 0 CHECK (drawn >= 0),
    excess  bigint NOT NULL DEFAULT 0 CHECK (excess >= 0),
    PRIMARY KEY (tenant, period, starts),
    CHECK (drawn <= ceiling)
) WITH (fillfactor = 50);

-- What a debate has drawn (above 0) and given back (below 0), with the periods that it counts in.
CREATE TABLE gainsay.draw (
    debate       uuid NOT NULL,
    nth          integer NOT NULL CHECK (nth > 0),
    tenant       text NOT NULL,
    period_day   date NOT NULL,
    period_month date NOT NULL,
    amount       bigint NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (debate, nth)
) PARTITION BY RANGE (debate);

DO $$
DECLARE
    year integer;
    low  text;
    high text;
BEGIN
    FOR year IN 2026..2040 LOOP
        low := lpad(to_hex((extract(epoch FROM make_timestamptz(year, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint), 12, '0');
        high := lpad(to_hex((extract(epoch FROM make_timestamptz(year + 1, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint), 12, '0');
        EXECUTE format(
            'CREATE TABLE gainsay.%I PARTITION OF gainsay.draw FOR VALUES FROM (%L) TO (%L)',
            format('draw_%s', year),
            substr(low, 1, 8) || '-' || substr(low, 9, 4) || '-0000-0000-000000000000',
            substr(high, 1, 8) || '-' || substr(high, 9, 4) || '-0000-0000-000000000000');
    END LOOP;
    CREATE TABLE gainsay.draw_other PARTITION OF gainsay.draw DEFAULT;
END $$;

DO $$
DECLARE
    evidence regclass;
BEGIN
    FOR evidence IN
        SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = 'gainsay' AND c.relkind IN ('p', 'r') AND c.relname ~ '^draw(_|$)'
    LOOP
        EXECUTE format(
            'CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change()',
            evidence);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER refuse_truncate', evidence);
    END LOOP;
END $$;
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON gainsay.draw
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE gainsay.draw ENABLE ALWAYS TRIGGER refuse_change;

-- A charge that began with money of one period and ended with money of the next has a row for each, so that the rows of
-- a period add up to what was spent of its draws.
ALTER TABLE gainsay.charge ADD COLUMN part smallint NOT NULL DEFAULT 0;
ALTER TABLE gainsay.charge DROP CONSTRAINT charge_pkey;
ALTER TABLE gainsay.charge ADD PRIMARY KEY (debate, n, part);

-- The one clock that periods are taken from.
CREATE FUNCTION gainsay.today(zone text) RETURNS date
    LANGUAGE sql VOLATILE
AS $$ SELECT (clock_timestamp() AT TIME ZONE zone)::date $$;

-- A debate spends its draws in the order in which it made them: each is the money from `low` to below `high`.
CREATE FUNCTION gainsay.tranches(of_debate uuid)
    RETURNS TABLE (nth integer, period_day date, period_month date, low bigint, high bigint, latest boolean)
    LANGUAGE sql STABLE
AS $$
    SELECT d.nth, d.period_day, d.period_month,
           (sum(d.amount) OVER (ORDER BY d.nth) - d.amount)::bigint,
           (sum(d.amount) OVER (ORDER BY d.nth))::bigint,
           d.nth = max(d.nth) OVER ()
    FROM gainsay.draw d WHERE d.debate = of_debate AND d.amount > 0
$$;

-- The periods of a charge: `within` micro-dollars from `since` on of what the debate has spent in all, by the draws they
-- were taken from, and `beyond` of excess, which counts in the latest draw's periods. There is one row at least, and the
-- latest draw takes whatever no draw covers, so that no charge can get lost here.
CREATE FUNCTION gainsay.shares(of_debate uuid, since bigint, within bigint, beyond bigint)
    RETURNS TABLE (part smallint, amount bigint, excess bigint, period_day date, period_month date)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    WITH share AS (
        SELECT min(t.nth) AS nth, t.period_day, t.period_month, bool_or(t.latest) AS latest,
               sum(greatest(0, CASE WHEN t.latest THEN since + within ELSE least(t.high, since + within) END
                               - greatest(t.low, since)))::bigint AS amount
        FROM gainsay.tranches(of_debate) t GROUP BY t.period_day, t.period_month
    )
    SELECT (row_number() OVER (ORDER BY s.nth) - 1)::smallint,
           s.amount + CASE WHEN s.latest THEN beyond ELSE 0 END, CASE WHEN s.latest THEN beyond ELSE 0 END,
           s.period_day, s.period_month
    FROM share s WHERE s.amount > 0 OR s.latest AND (beyond > 0 OR within = 0);
END $$;

-- Lock one period of a tenant until the end of the transaction, and say what is gone of it.
CREATE FUNCTION gainsay.lock_period(of_tenant text, of_period text, from_day date) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    LOOP
        SELECT l.drawn + l.excess INTO gone FROM gainsay.spend_limit l
        WHERE l.tenant = of_tenant AND l.period = of_period AND l.starts = from_day FOR NO KEY UPDATE;
        IF FOUND THEN
            RETURN gone;
        END IF;
        INSERT INTO gainsay.spend_limit (tenant, period, starts) VALUES (of_tenant, of_period, from_day)
        ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- Grant a running debate `want` micro-dollars more while its tenant has ten times as much left, or else just what it
-- needs, or nothing; `short` then names what is short, and `remaining` is what is left of it. `known` is how many draws
-- the caller knows of: a draw that is asked for twice is made once. No row: the debate is not running under this epoch
-- with so many draws.
CREATE FUNCTION gainsay.draw_tranche(
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
    day_left   bigint;
    month_left bigint;
    more       bigint := 0;
BEGIN
    SELECT h.tenant, h.ceiling - h.granted AS room, h.granted INTO head FROM gainsay.debate_head h
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
    day := gainsay.today(zone);
    month := date_trunc('month', day)::date;
    day_left := day_limit - gainsay.lock_period(head.tenant, 'day', day);
    month_left := month_limit - gainsay.lock_period(head.tenant, 'month', month);
    IF month_left < need THEN -- named first: it is over later
        short := 'tenantMonth';
        remaining := month_left;
    ELSIF day_left < need THEN
        short := 'tenantDay';
        remaining := day_left;
    ELSIF least(day_left, month_left) / 10 < want THEN
        more := need;
    ELSE
        more := want;
    END IF;
    -- The limit that the caller's policy names is set before the amount is added, so that the table's CHECK refuses an
    -- amount that is wrong.
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

-- When a vendor billed above a reservation, less is left of the periods of the debate's latest draw. When a debate that
-- has drawn ends, what it has not spent goes back to the periods that it came from.
CREATE FUNCTION gainsay.settle_limits() RETURNS trigger
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
    FOR moved IN
        SELECT p.period, p.starts, sum(greatest(0, t.high - greatest(t.low, kept)))::bigint AS back,
               CASE WHEN bool_or(t.latest) THEN NEW.excess - OLD.excess ELSE 0 END AS beyond
        FROM gainsay.tranches(NEW.debate) t,
             LATERAL (VALUES ('day', t.period_day), ('month', t.period_month)) AS p (period, starts)
        GROUP BY p.period, p.starts ORDER BY p.period, p.starts
    LOOP
        -- A row that somebody has edited or removed must not keep a conclusion from being recorded.
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
-- The condition is read anew by every append, so it is short; the function asks the rest.
CREATE TRIGGER settle_limits AFTER UPDATE OF state, excess ON gainsay.debate_head
    FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.excess <> NEW.excess)
    EXECUTE FUNCTION gainsay.settle_limits();

GRANT SELECT, INSERT, UPDATE ON gainsay.spend_limit TO gainsay_writer;
GRANT SELECT, INSERT ON gainsay.draw TO gainsay_writer;
GRANT EXECUTE ON FUNCTION
    gainsay.today(text), gainsay.tranches(uuid), gainsay.shares(uuid, bigint, bigint, bigint),
    gainsay.lock_period(text, text, date),
    gainsay.draw_tranche(uuid, integer, integer, bigint, bigint, text, bigint, bigint)
    TO gainsay_writer;
