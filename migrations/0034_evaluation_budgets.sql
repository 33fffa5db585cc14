-- Evaluations have money, places and turns of their own, apart from those of their tenant; and they count each other's looks.

-- purpose   `evaluation` for a debate that answers an item of an evaluation; NULL for every other, as of the version before
-- reserve   the most that such a debate is expected to cost: what its evaluation's budget had left when it was opened
ALTER TABLE gainsay.debate_head
    ADD COLUMN purpose text,
    ADD COLUMN reserve bigint;
CREATE INDEX debate_head_items ON gainsay.debate_head (tenant)
    WHERE purpose IS NOT NULL AND state IN ('queued', 'running');
CREATE INDEX debate_head_items_due ON gainsay.debate_head (tenant, due, created)
    WHERE purpose IS NOT NULL AND state = 'queued';

-- The rows of spend_limit that evaluations draw from have periods of other names, so no statement of the version before
-- takes one for a row of its tenant.
ALTER TABLE gainsay.spend_limit DROP CONSTRAINT spend_limit_period_check;
ALTER TABLE gainsay.spend_limit ADD CONSTRAINT spend_limit_period_check
    CHECK (period IN ('day', 'month', 'evaluationDay', 'evaluationMonth'));

-- The period of spend_limit in which a debate of this purpose counts.
CREATE FUNCTION gainsay.account_of(of_purpose text, period text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN of_purpose = 'evaluation' THEN 'evaluation' || initcap(period) ELSE period END $$;

-- Wait for others that open a debate of this tenant's evaluations, or register one, until the end of the transaction.
-- Whoever holds a row of spend_limit never comes here afterwards.
CREATE FUNCTION gainsay.lock_evaluations(of_tenant text) RETURNS void
    LANGUAGE sql VOLATILE
AS $$ SELECT pg_advisory_xact_lock(hashtextextended('gainsay evaluations of ' || of_tenant, 0)) $$;

-- How many debates of a tenant's evaluations are under way, and what these may still draw within their reserves.
CREATE FUNCTION gainsay.items_under_way(of_tenant text) RETURNS TABLE (debates bigint, reserved bigint)
    LANGUAGE sql STABLE
AS $$
    SELECT count(*), coalesce(sum(greatest(0, h.reserve - h.granted)), 0)::bigint FROM gainsay.debate_head h
    WHERE h.tenant = of_tenant AND h.purpose IS NOT NULL AND h.state IN ('queued', 'running')
$$;

-- Whether one more debate of a tenant's evaluations has a place, and money for the most that it may cost: `short` names
-- what it lacks. Others that ask wait until this transaction has ended, so that two never get what is enough for one.
-- Each statement of this function looks at the tables as they are when the lock is had.
CREATE FUNCTION gainsay.evaluation_room(
    of_tenant text, need bigint, places integer, zone text, day_limit bigint, month_limit bigint)
    RETURNS TABLE (short text, remaining bigint, ends timestamptz)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    day   date;
    month date;
BEGIN
    PERFORM gainsay.lock_evaluations(of_tenant);
    day := gainsay.today(zone);
    month := date_trunc('month', day::timestamp)::date;
    RETURN QUERY
    WITH under_way AS MATERIALIZED (
        SELECT * FROM gainsay.items_under_way(of_tenant)
    ), part AS (
        SELECT 1 AS rank, 'evaluationDebates' AS name, places - w.debates AS has, 1::bigint AS asked, NULL::timestamptz AS until
        FROM under_way w
        UNION ALL
        SELECT p.rank, p.name, p.named - w.reserved - coalesce(l.drawn + l.excess, 0), need, p.until
        FROM under_way w
        CROSS JOIN (VALUES
            (2, 'evaluationMonth', month, month_limit, (month + interval '1 month') AT TIME ZONE zone),
            (3, 'evaluationDay', day, day_limit, (day + 1)::timestamp AT TIME ZONE zone)) AS p (rank, name, starts, named, until)
        LEFT JOIN gainsay.spend_limit l ON l.tenant = of_tenant AND l.period = p.name AND l.starts = p.starts
        WHERE p.named IS NOT NULL
    )
    SELECT p.name, p.has, p.until FROM part p WHERE p.has < p.asked ORDER BY p.rank LIMIT 1;
END $$;

-- How many evaluations of a tenant have looked at each of these held splits or are under way with it, once no other one is
-- being registered on a held split.
CREATE FUNCTION gainsay.count_looks(of_tenant text, of_sets text[]) RETURNS TABLE (id text, looks bigint)
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(of_sets) > 0 THEN
        PERFORM gainsay.lock_evaluations(of_tenant);
    END IF;
    RETURN QUERY
    SELECT s.id, count(e.evaluation) FROM unnest(of_sets) AS s (id)
    LEFT JOIN gainsay.evaluation e
        ON e.tenant = of_tenant AND (e.scored OR e.ended IS NULL) AND s.id = ANY (e.held)
    GROUP BY s.id;
END $$;

-- As in 0023_batches.sql; a debate of an evaluation draws from the rows of evaluations. Within its reserve it gets what it
-- asks for: the limit had room for that when it was opened. Beyond it (a call was lost with its worker) it gets no more
-- than others under way leave. The order of locks is: the head, the tenant's evaluations, the batch's limit, the day, the
-- month.
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
    others     bigint := 0;
    more       bigint := 0;
BEGIN
    SELECT h.tenant, h.batch, h.purpose, h.ceiling - h.granted AS room, greatest(0, h.reserve - h.granted) AS reserved, h.granted
    INTO head FROM gainsay.debate_head h
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
    IF head.purpose = 'evaluation' AND need <= head.reserved THEN
        want := least(want, head.reserved);
    ELSIF head.purpose = 'evaluation' THEN
        want := need;
        PERFORM gainsay.lock_evaluations(head.tenant);
        SELECT u.reserved - head.reserved INTO others FROM gainsay.items_under_way(head.tenant) u;
    END IF;
    IF head.batch IS NOT NULL THEN
        SELECT b.ceiling - b.drawn - b.excess INTO batch_left FROM gainsay.batch_limit b
        WHERE b.batch = head.batch FOR NO KEY UPDATE;
        batch_left := coalesce(batch_left, 0); -- without its row a batch has nothing to draw from
    END IF;
    day := gainsay.today(zone);
    month := date_trunc('month', day)::date;
    day_left := day_limit - others - gainsay.lock_period(head.tenant, gainsay.account_of(head.purpose, 'day'), day);
    month_left := month_limit - others - gainsay.lock_period(head.tenant, gainsay.account_of(head.purpose, 'month'), month);
    IF batch_left < need THEN -- named first: it is never over
        short := 'batchCeiling';
        remaining := batch_left;
    ELSIF month_left < need THEN -- named before the day: it is over later
        short := CASE WHEN head.purpose = 'evaluation' THEN 'evaluationMonth' ELSE 'tenantMonth' END;
        remaining := month_left;
    ELSIF day_left < need THEN
        short := CASE WHEN head.purpose = 'evaluation' THEN 'evaluationDay' ELSE 'tenantDay' END;
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
    FROM (VALUES (gainsay.account_of(head.purpose, 'day'), day, day_limit),
                 (gainsay.account_of(head.purpose, 'month'), month, month_limit)) AS p (period, starts, named)
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

-- As in 0023_batches.sql; what a debate of an evaluation gives back goes to the rows of evaluations.
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
             LATERAL (VALUES (gainsay.account_of(NEW.purpose, 'day'), t.period_day),
                             (gainsay.account_of(NEW.purpose, 'month'), t.period_month)) AS p (period, starts)
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

-- As in 0026_group_commit.sql, with the rows of evaluations for debates of evaluations.
CREATE OR REPLACE FUNCTION gainsay.lock_limits(of_debates uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '1s'
AS $$
BEGIN
    PERFORM FROM gainsay.batch_limit b
    WHERE b.batch IN (SELECT h.batch FROM gainsay.debate_head h WHERE h.debate = ANY (of_debates))
    ORDER BY b.batch FOR NO KEY UPDATE;
    PERFORM FROM gainsay.spend_limit l
    WHERE (l.tenant, l.period, l.starts) IN (
        SELECT d.tenant, p.period, p.starts
        FROM gainsay.debate_head h JOIN gainsay.draw d ON d.debate = h.debate,
             LATERAL (VALUES (gainsay.account_of(h.purpose, 'day'), d.period_day),
                             (gainsay.account_of(h.purpose, 'month'), d.period_month)) AS p (period, starts)
        WHERE h.debate = ANY (of_debates) AND d.debate = ANY (of_debates))
    ORDER BY l.period, l.starts, l.tenant FOR NO KEY UPDATE;
END $$;

-- As in 0024_budget.sql: of the tenant's own debates in its day and month, of its evaluations' in theirs.
CREATE OR REPLACE FUNCTION gainsay.unspent_allocations(of_tenant text, of_period text, from_day date) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(sum(part.amount), 0)::bigint
    FROM gainsay.debate_head h CROSS JOIN LATERAL (
        SELECT d.amount, d.period_day, d.period_month FROM gainsay.draw d WHERE d.debate = h.debate
        UNION ALL
        SELECT c.excess - c.amount, c.period_day, c.period_month FROM gainsay.charge c WHERE c.debate = h.debate
    ) AS part
    WHERE h.tenant = of_tenant AND h.state IN ('queued', 'running') AND h.draws > 0
      AND from_day = CASE of_period WHEN gainsay.account_of(h.purpose, 'day') THEN part.period_day
                                    WHEN gainsay.account_of(h.purpose, 'month') THEN part.period_month END
      AND (of_tenant = gainsay.current_tenant() OR pg_has_role(session_user, 'gainsay_writer', 'MEMBER'));
END;

-- Whose turn it is: a tenant's, or that of its evaluations, which count as a tenant of their own. No tenant has a name with
-- a stroke.
CREATE FUNCTION gainsay.lane_of(of_tenant text, of_purpose text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN of_purpose IS NULL THEN of_tenant ELSE of_tenant || '/' || of_purpose END $$;

CREATE FUNCTION gainsay.is_of_items(lane text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT position('/' IN lane) > 0 $$;

-- As in 0019_tenant_claims.sql, with evaluations of a tenant in a lane of their own: they count in no limit of its running
-- debates, wait behind none of its cases, and no case waits behind theirs. `queue_turn` has lanes too.
CREATE OR REPLACE FUNCTION gainsay.claim_in_turn(
    by_worker text, lease float8, formats text[], laid_out_by text, named uuid, leave uuid[],
    most integer, most_late integer, each_tenant integer, shares jsonb, patience_s float8)
    RETURNS TABLE (debate uuid, tenant text, epoch integer, late boolean, stale boolean, lost boolean,
                   faults integer, falls integer)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    -- Plans are kept for long, and made of counts that are older than what waits: the table holds every debate that ever
    -- was, and a queue that was empty when it was counted may have ten thousand. So it is read by its indexes, in order.
    SET enable_seqscan = off
    SET enable_sort = off
    -- PostgreSQL 16 and 17 count a forbidden step as so dear that compiling the plan seems cheap beside it: a second each.
    SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    this_moment timestamptz;
    patient     timestamptz;
    picked      uuid[];
BEGIN
    PERFORM pg_advisory_xact_lock(6723847561209418321);
    this_moment := clock_timestamp();
    patient := this_moment - make_interval(secs => patience_s);
    each_tenant := coalesce(each_tenant, 2147483647);

    -- A lease that ends later than any that could be given now was given before the clock was set back. Whoever holds
    -- it keeps it by his next sign of life; if there is none, it runs out after its length by the clock of now.
    UPDATE gainsay.debate_head h SET lease_until = this_moment + make_interval(secs => h.lease_s)
    FROM (SELECT c.debate FROM gainsay.debate_head c
          WHERE c.state = 'running' AND c.lease_until > this_moment + make_interval(secs => 2 * c.lease_s)
          ORDER BY c.tenant FOR NO KEY UPDATE SKIP LOCKED) AS cut
    WHERE h.debate = cut.debate;

    IF named IS NOT NULL THEN
        picked := ARRAY[named];
    ELSE
        WITH RECURSIVE under_way AS MATERIALIZED (
            SELECT h.debate, gainsay.lane_of(h.tenant, h.purpose) AS lane, h.due, h.created, h.deadline,
                   h.worker IS NOT NULL AND h.lease_until > '-infinity' AS placed,
                   coalesce(h.deadline <= this_moment, false) AS late,
                   h.format = ANY (formats) AND h.debate <> ALL (leave)
                   AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient OR h.deadline <= this_moment)
                   AND h.lease_until < this_moment
                   AND (h.falls < 3 OR h.worker IS NULL OR h.lease_until = '-infinity'
                        OR h.lease_until < this_moment - make_interval(secs => least(300, 2 ^ least(h.falls, 9)))) AS free
            FROM gainsay.debate_head h WHERE h.state = 'running' ORDER BY h.tenant
        ), busy AS MATERIALIZED (
            SELECT coalesce(jsonb_object_agg(b.lane, b.n), '{}') AS debates FROM (
                SELECT u.lane, count(*) AS n FROM under_way u WHERE u.placed AND NOT u.late GROUP BY u.lane) AS b
        ), tenants (tenant) AS (
            (SELECT h.tenant FROM gainsay.debate_head h WHERE h.state = 'queued' ORDER BY h.tenant LIMIT 1)
            UNION ALL
            SELECT (SELECT h.tenant FROM gainsay.debate_head h WHERE h.state = 'queued' AND h.tenant > t.tenant
                    ORDER BY h.tenant LIMIT 1)
            FROM tenants t WHERE t.tenant IS NOT NULL
        ), asking AS MATERIALIZED (
            SELECT t.tenant, t.tenant AS lane, coalesce(((SELECT b.debates FROM busy b) ->> t.tenant)::integer, 0) AS n
            FROM tenants t CROSS JOIN LATERAL (
                SELECT FROM gainsay.debate_head h
                WHERE h.state = 'queued' AND h.tenant = t.tenant AND h.purpose IS NULL AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT 1) AS f
            -- One that runs as many as it may is none of those whose first case is enough.
            WHERE coalesce(((SELECT b.debates FROM busy b) ->> t.tenant)::integer, 0)
                  < CASE WHEN shares ? t.tenant THEN coalesce((shares ->> t.tenant)::integer, 2147483647) ELSE each_tenant END
            UNION ALL
            -- What evaluations may run at once is bounded where they are opened.
            SELECT t.tenant, i.lane, coalesce(((SELECT b.debates FROM busy b) ->> i.lane)::integer, 0)
            FROM tenants t CROSS JOIN LATERAL (SELECT gainsay.lane_of(t.tenant, 'evaluation') AS lane) AS i
            CROSS JOIN LATERAL (
                SELECT FROM gainsay.debate_head h
                WHERE h.state = 'queued' AND h.tenant = t.tenant AND h.purpose IS NOT NULL AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT 1) AS f
        ), enough AS (
            -- Where so many tenants ask, the first of each alone are enough: what ranks behind those is not read.
            SELECT (SELECT a.n FROM asking a ORDER BY a.n OFFSET greatest(most - 1, 0) LIMIT 1) AS n
        ), free AS (
            SELECT f.debate, a.lane, f.due, f.created, false AS placed FROM asking a CROSS JOIN enough e CROSS JOIN LATERAL (
                SELECT h.debate, h.due, h.created FROM gainsay.debate_head h
                WHERE a.lane = a.tenant
                  AND h.state = 'queued' AND h.tenant = a.tenant AND h.purpose IS NULL AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT greatest(0, least(most, e.n + 1 - a.n))) AS f
            UNION ALL
            SELECT f.debate, a.lane, f.due, f.created, false FROM asking a CROSS JOIN enough e CROSS JOIN LATERAL (
                SELECT h.debate, h.due, h.created FROM gainsay.debate_head h
                WHERE a.lane <> a.tenant
                  AND h.state = 'queued' AND h.tenant = a.tenant AND h.purpose IS NOT NULL AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT greatest(0, least(most, e.n + 1 - a.n))) AS f
            UNION ALL
            SELECT u.debate, u.lane, u.due, u.created, u.placed FROM under_way u WHERE u.free AND NOT u.late
        ), numbered AS (
            SELECT f.debate, f.lane, f.due, f.created, f.placed,
                   row_number() OVER (PARTITION BY f.lane, f.placed ORDER BY f.due, f.created) AS nth
            FROM free f
        ), ranked AS (
            SELECT f.debate, f.lane, f.due, f.created,
                   CASE WHEN f.placed THEN 0
                        ELSE coalesce(((SELECT b.debates FROM busy b) ->> f.lane)::integer, 0) + f.nth END AS rank,
                   CASE WHEN f.placed THEN 0 ELSE f.nth END AS nth,
                   CASE WHEN f.placed THEN 0 ELSE coalesce(
                       (SELECT q.turn FROM gainsay.queue_turn q WHERE q.tenant = f.lane), 0) END AS turn
            FROM numbered f
        ), late AS (
            (SELECT h.debate, h.deadline FROM gainsay.debate_head h
             WHERE h.state = 'queued' AND h.deadline <= this_moment AND h.format = ANY (formats)
               AND h.debate <> ALL (leave)
             ORDER BY h.deadline LIMIT most_late)
            UNION ALL
            SELECT u.debate, u.deadline FROM under_way u WHERE u.free AND u.late
        )
        SELECT array(SELECT l.debate FROM late l ORDER BY l.deadline LIMIT most_late)
            || array(SELECT r.debate FROM ranked r
                     WHERE r.rank <= CASE WHEN gainsay.is_of_items(r.lane) THEN 2147483647
                                          WHEN shares ? r.lane THEN coalesce((shares ->> r.lane)::integer, 2147483647)
                                          ELSE each_tenant END
                     ORDER BY r.rank, r.nth, r.turn, r.due, r.created LIMIT most)
        INTO picked;
    END IF;

    -- Whoever holds a head's lock is writing to it. What was picked is looked at again as it is by now: the version
    -- before this one takes debates without asking here.
    RETURN QUERY
    WITH locked AS (
        SELECT h.debate, h.worker IS NOT NULL AND h.lease_until > '-infinity' AS lost FROM gainsay.debate_head h
        WHERE h.debate = ANY (picked) AND h.debate <> ALL (leave) AND h.format = ANY (formats)
          AND h.lease_until < this_moment AND h.state NOT IN ('declined', 'completed', 'truncated', 'failed', 'aborted')
        FOR NO KEY UPDATE SKIP LOCKED
    ), taken AS (
        UPDATE gainsay.debate_head h
        SET epoch = h.epoch + 1, state = 'running', worker = by_worker, lease_s = lease,
            lease_until = this_moment + make_interval(secs => lease), falls = h.falls + l.lost::integer
        FROM locked l WHERE h.debate = l.debate
        RETURNING h.debate, h.tenant, h.purpose, h.epoch, h.deadline, h.unable_since, l.lost, h.faults, h.falls
    ), served AS (
        INSERT INTO gainsay.queue_turn AS q (tenant, turn)
        SELECT s.lane, nextval('gainsay.queue_turns') FROM (
            SELECT gainsay.lane_of(t.tenant, t.purpose) AS lane, max(array_position(picked, t.debate)) AS place FROM taken t
            WHERE NOT t.lost AND NOT coalesce(t.deadline <= this_moment, false)
            GROUP BY 1 ORDER BY place) AS s
        ON CONFLICT ON CONSTRAINT queue_turn_pkey DO UPDATE SET turn = excluded.turn
    )
    SELECT t.debate, t.tenant, t.epoch, coalesce(t.deadline <= this_moment, false), coalesce(t.unable_since < patient, false),
           t.lost, t.faults, t.falls
    FROM taken t ORDER BY array_position(picked, t.debate);
END $$;

GRANT EXECUTE ON FUNCTION gainsay.lane_of(text, text), gainsay.is_of_items(text) TO gainsay_writer;
GRANT EXECUTE ON FUNCTION gainsay.account_of(text, text), gainsay.lock_evaluations(text), gainsay.items_under_way(text),
    gainsay.evaluation_room(text, bigint, integer, text, bigint, bigint), gainsay.count_looks(text, text[])
    TO gainsay_writer, gainsay_api;
