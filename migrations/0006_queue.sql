-- Which debate is taken next, by whom, and for how long.
--
-- What the version before this one writes is still understood. It sets no `due`, so its cases count as due an hour after
-- they came, whatever their deadline; a head without `lease_s` has a lease that only `lease_until` tells of; one without
-- `templates` may be tried by anybody; one with a worker and without a lease was handed back.

-- due        what is taken first within a tenant: the deadline, or an hour after the debate came if that is earlier
-- lease_s    for how long the lease was last taken or kept: one that ends later than that from now was given by a clock
--            that has been set back since
-- templates  SHA-256 over the pins of the templates that its requests are laid out by: workers that have others leave it
-- unable_since  when it was first given back by a worker that cannot run it, if nothing was recorded since
-- faults     how often a fault of the service ended its run
-- falls      how often in a row its lease ran out under a worker that recorded nothing
ALTER TABLE gainsay.debate_head
    ADD COLUMN due timestamptz,
    ADD COLUMN lease_s float8,
    ADD COLUMN templates text,
    ADD COLUMN unable_since timestamptz,
    ADD COLUMN faults integer NOT NULL DEFAULT 0,
    ADD COLUMN falls integer NOT NULL DEFAULT 0;
ALTER TABLE gainsay.debate_head ALTER COLUMN due SET DEFAULT clock_timestamp() + interval '1 hour';
UPDATE gainsay.debate_head SET due = least(deadline, created + interval '1 hour') WHERE state IN ('queued', 'running');

-- No column of these changes while a debate runs, so that an append need not touch an index.
CREATE INDEX debate_head_due ON gainsay.debate_head (tenant, due, created) WHERE state = 'queued';
CREATE INDEX debate_head_overdue ON gainsay.debate_head (deadline) WHERE state = 'queued' AND deadline IS NOT NULL;
CREATE INDEX debate_head_running ON gainsay.debate_head (tenant) WHERE state = 'running';

-- Take up to `most` debates for a worker, and beside them up to `most_late` whose deadline has passed: those ask nobody
-- any more, so they count for nothing. Taking a debate raises its epoch, which fences off whoever had it before. Those in
-- `leave` are left to others.
--
-- One call at a time, so that a tenant's limit is exact however many workers ask. The lock is a statement of its own:
-- what follows looks at the table as it is when the lock is had.
--
-- A debate whose lease has run out under its worker keeps its place among the running ones of its tenant, for that worker
-- may live yet and go on: so it is taken first, and no limit refuses it. Of all others a tenant's n-th ranks as that
-- tenant's running debates and n; the lowest rank is first, then the earliest `due`, then the oldest. What was handed
-- back ranks with those that were never taken.
--
-- A debate laid out by other templates is left to workers that have these, until it is older than `patience_s`. One whose
-- workers have fallen silent three times in a row, or more often, is left alone for a while, longer each time.
--
-- `lost` are those that were taken over from a worker that fell silent; `stale` those that were first given back by a
-- worker that could not run them longer than `patience_s` ago.
CREATE FUNCTION gainsay.claim_debates(
    by_worker text, lease float8, formats text[], laid_out_by text, named uuid, leave uuid[],
    most integer, most_late integer, each_tenant integer, patience_s float8)
    RETURNS TABLE (debate uuid, epoch integer, late boolean, stale boolean, lost boolean, faults integer, falls integer)
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
            SELECT h.debate, h.tenant, h.due, h.created, h.deadline, h.worker IS NOT NULL AND h.lease_until > '-infinity' AS placed,
                   coalesce(h.deadline <= this_moment, false) AS late,
                   h.format = ANY (formats) AND h.debate <> ALL (leave)
                   AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient OR h.deadline <= this_moment)
                   AND h.lease_until < this_moment
                   AND (h.falls < 3 OR h.worker IS NULL OR h.lease_until = '-infinity'
                        OR h.lease_until < this_moment - make_interval(secs => least(300, 2 ^ least(h.falls, 9)))) AS free
            FROM gainsay.debate_head h WHERE h.state = 'running' ORDER BY h.tenant
        ), busy AS MATERIALIZED (
            SELECT coalesce(jsonb_object_agg(b.tenant, b.n), '{}') AS debates FROM (
                SELECT u.tenant, count(*) AS n FROM under_way u WHERE u.placed AND NOT u.late GROUP BY u.tenant) AS b
        ), tenants (tenant) AS (
            (SELECT h.tenant FROM gainsay.debate_head h WHERE h.state = 'queued' ORDER BY h.tenant LIMIT 1)
            UNION ALL
            SELECT (SELECT h.tenant FROM gainsay.debate_head h WHERE h.state = 'queued' AND h.tenant > t.tenant
                    ORDER BY h.tenant LIMIT 1)
            FROM tenants t WHERE t.tenant IS NOT NULL
        ), asking AS MATERIALIZED (
            SELECT t.tenant, coalesce(((SELECT b.debates FROM busy b) ->> t.tenant)::integer, 0) AS n
            FROM tenants t CROSS JOIN LATERAL (
                SELECT FROM gainsay.debate_head h
                WHERE h.state = 'queued' AND h.tenant = t.tenant AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT 1) AS f
        ), enough AS (
            -- Where so many tenants ask, the first of each alone are enough: what ranks behind those is not read.
            SELECT (SELECT a.n FROM asking a ORDER BY a.n OFFSET greatest(most - 1, 0) LIMIT 1) AS n
        ), free AS (
            SELECT f.debate, f.tenant, f.due, f.created, false AS placed FROM asking a CROSS JOIN enough e CROSS JOIN LATERAL (
                SELECT h.debate, h.tenant, h.due, h.created FROM gainsay.debate_head h
                WHERE h.state = 'queued' AND h.tenant = a.tenant AND h.format = ANY (formats)
                  AND (coalesce(h.templates = laid_out_by, true) OR h.created < patient)
                  AND (h.deadline IS NULL OR h.deadline > this_moment) AND h.debate <> ALL (leave)
                ORDER BY h.due, h.created LIMIT greatest(0, least(most, e.n + 1 - a.n))) AS f
            UNION ALL
            SELECT u.debate, u.tenant, u.due, u.created, u.placed FROM under_way u WHERE u.free AND NOT u.late
        ), ranked AS (
            SELECT f.debate, f.due, f.created,
                   CASE WHEN f.placed THEN 0 ELSE coalesce(((SELECT b.debates FROM busy b) ->> f.tenant)::integer, 0)
                       + row_number() OVER (PARTITION BY f.tenant, f.placed ORDER BY f.due, f.created) END AS rank
            FROM free f
        ), late AS (
            (SELECT h.debate, h.deadline FROM gainsay.debate_head h
             WHERE h.state = 'queued' AND h.deadline <= this_moment AND h.format = ANY (formats)
               AND h.debate <> ALL (leave)
             ORDER BY h.deadline LIMIT most_late)
            UNION ALL
            SELECT u.debate, u.deadline FROM under_way u WHERE u.free AND u.late
        )
        SELECT array(SELECT l.debate FROM late l ORDER BY l.deadline LIMIT most_late)
            || array(SELECT r.debate FROM ranked r WHERE r.rank <= each_tenant
                     ORDER BY r.rank, r.due, r.created LIMIT most)
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
        RETURNING h.debate, h.epoch, h.deadline, h.unable_since, l.lost, h.faults, h.falls
    )
    SELECT t.debate, t.epoch, coalesce(t.deadline <= this_moment, false), coalesce(t.unable_since < patient, false),
           t.lost, t.faults, t.falls
    FROM taken t ORDER BY array_position(picked, t.debate);
END $$;

-- Give back what a worker was given in an answer that it never heard: all that is in its name and that it does not run.
-- A claim that is still waiting for its turn is waited for.
CREATE FUNCTION gainsay.disown_debates(by_worker text, running uuid[])
    RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(6723847561209418321);
    RETURN QUERY
    UPDATE gainsay.debate_head h SET lease_until = '-infinity', worker = NULL
    WHERE h.state = 'running' AND h.worker = by_worker AND h.debate <> ALL (running) RETURNING h.debate;
END $$;

GRANT EXECUTE ON FUNCTION
    gainsay.claim_debates(text, float8, text[], text, uuid, uuid[], integer, integer, integer, float8),
    gainsay.disown_debates(text, uuid[]) TO gainsay_writer;
