-- Tenants take turns, however many cases one has and whenever these are due.
--
-- claim_debates (0006_queue.sql) ranks a tenant's n-th case as its running debates and n. Of equal ranks it takes the
-- earliest due first, so a tenant whose cases run one after another was first again and again while its cases were due
-- earlier than those of others. Here the tenant that was served longest ago is first among equal ranks; in one call a
-- tenant's second case counts as served later than every first, so that one call for k cases takes what k calls would.
--
-- The promise: a tenant that has nothing running and a case that the worker may take is among the next N cases, where N
-- tenants wait in that time. Its rank is 1, which no other is below, and each other tenant goes before it once at most:
-- from then on that one was served later. Three things are no turns and come beside them: a debate whose worker fell
-- silent goes on first, a case past its deadline concludes (it asks nobody), and a case that is claimed by its id.
-- A case whose head row another session is writing is passed over in that claim.

-- When each tenant was served last, as a number that rises.
CREATE TABLE gainsay.queue_turn (
    tenant text PRIMARY KEY,
    turn   bigint NOT NULL
) WITH (fillfactor = 50);
CREATE SEQUENCE gainsay.queue_turns;

-- As claim_debates, in turn; it says of which tenant each debate is as well. `shares` has the most running debates of
-- tenants with another limit than `each_tenant`, null for none. Only one call at a time is past its first
-- statement, so no two wait for each other's rows of queue_turn. The version before calls claim_debates beside it.
CREATE FUNCTION gainsay.claim_in_turn(
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
            -- One that runs as many as it may is none of those whose first case is enough.
            WHERE coalesce(((SELECT b.debates FROM busy b) ->> t.tenant)::integer, 0)
                  < CASE WHEN shares ? t.tenant THEN coalesce((shares ->> t.tenant)::integer, 2147483647) ELSE each_tenant END
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
        ), numbered AS (
            SELECT f.debate, f.tenant, f.due, f.created, f.placed,
                   row_number() OVER (PARTITION BY f.tenant, f.placed ORDER BY f.due, f.created) AS nth
            FROM free f
        ), ranked AS (
            SELECT f.debate, f.tenant, f.due, f.created,
                   CASE WHEN f.placed THEN 0
                        ELSE coalesce(((SELECT b.debates FROM busy b) ->> f.tenant)::integer, 0) + f.nth END AS rank,
                   CASE WHEN f.placed THEN 0 ELSE f.nth END AS nth,
                   CASE WHEN f.placed THEN 0 ELSE coalesce(
                       (SELECT q.turn FROM gainsay.queue_turn q WHERE q.tenant = f.tenant), 0) END AS turn
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
                     WHERE r.rank <= CASE WHEN shares ? r.tenant THEN coalesce((shares ->> r.tenant)::integer, 2147483647)
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
        RETURNING h.debate, h.tenant, h.epoch, h.deadline, h.unable_since, l.lost, h.faults, h.falls
    ), served AS (
        INSERT INTO gainsay.queue_turn AS q (tenant, turn)
        SELECT s.tenant, nextval('gainsay.queue_turns') FROM (
            SELECT t.tenant, max(array_position(picked, t.debate)) AS place FROM taken t
            WHERE NOT t.lost AND NOT coalesce(t.deadline <= this_moment, false)
            GROUP BY t.tenant ORDER BY place) AS s
        ON CONFLICT ON CONSTRAINT queue_turn_pkey DO UPDATE SET turn = excluded.turn
    )
    SELECT t.debate, t.tenant, t.epoch, coalesce(t.deadline <= this_moment, false), coalesce(t.unable_since < patient, false),
           t.lost, t.faults, t.falls
    FROM taken t ORDER BY array_position(picked, t.debate);
END $$;

GRANT SELECT, INSERT, UPDATE ON gainsay.queue_turn TO gainsay_writer;
GRANT USAGE ON SEQUENCE gainsay.queue_turns TO gainsay_writer;
GRANT SELECT ON gainsay.queue_turn TO gainsay_auditor;
GRANT EXECUTE ON FUNCTION
    gainsay.claim_in_turn(text, float8, text[], text, uuid, uuid[], integer, integer, integer, jsonb, float8) TO gainsay_writer;
