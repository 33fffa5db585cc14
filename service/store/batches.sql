-- Queries of batches (migrations/0023_batches.sql). Those that a caller asks carry the tenant. The feeder serves every
-- tenant: its claim names batches with their tenants, and what follows asks by the id of such a batch.

-- add_batch_lines --
-- Lines of a batch that is to come. They belong to nothing until `open_batch`.
WITH added AS (
    INSERT INTO batch_line (batch, line, tenant, key, body)
    SELECT %(batch)s, l.line, %(tenant)s, l.key, l.body
    FROM unnest(%(lines)s::integer[], %(keys)s::text[], %(bodies)b::bytea[]) AS l (line, key, body)
    ON CONFLICT DO NOTHING RETURNING line
)
SELECT count(*) AS lines FROM added;

-- open_batch --
-- A batch with its limit, once under each key; no row where the key is in use or the batch is there.
WITH new AS (
    INSERT INTO case_batch (batch, tenant, subject, role, kind, via, roles, scopes, credential, trace, name, lines,
                            deadline, key, body)
    VALUES (%(batch)s, %(tenant)s, %(subject)s, %(role)s, %(kind)s, %(via)s, %(roles)s::text[], %(scopes)s::text[],
            %(credential)s, %(trace)s, %(name)s, %(count)s, %(deadline)s::timestamptz, %(key)b::bytea, %(body)b::bytea)
    ON CONFLICT DO NOTHING
    RETURNING batch, tenant
)
INSERT INTO batch_limit (batch, tenant, ceiling) SELECT batch, tenant, %(ceiling)s FROM new RETURNING batch;

-- keyed_batch --
-- The batch that a tenant's key stands for, and the hash of what came under it.
SELECT batch, subject, body FROM case_batch WHERE tenant = %(tenant)s AND key = %(key)b;

-- open_batches --
-- How many batches of a tenant have not ended.
SELECT count(*) AS open FROM case_batch WHERE tenant = %(tenant)s AND ended IS NULL;

-- batch --
-- One batch of a tenant, with its limit. `subject` limits it to those that a caller brought.
SELECT b.batch, b.subject, b.name, b.lines, b.deadline, b.created, b.stop, b.stop_detail, b.pause, b.pause_until, b.ended,
       b.counts, l.ceiling, l.drawn, l.excess
FROM case_batch b JOIN batch_limit l ON l.batch = b.batch
WHERE b.tenant = %(tenant)s AND b.batch = %(batch)s AND (%(subject)s::text IS NULL OR b.subject = %(subject)s::text);

-- batches --
-- Batches of a tenant below an id, the newest first.
SELECT b.batch, b.subject, b.name, b.lines, b.deadline, b.created, b.stop, b.stop_detail, b.pause, b.pause_until, b.ended,
       b.counts, l.ceiling, l.drawn, l.excess
FROM case_batch b JOIN batch_limit l ON l.batch = b.batch
WHERE b.tenant = %(tenant)s AND (%(subject)s::text IS NULL OR b.subject = %(subject)s::text)
  AND (%(below)s::uuid IS NULL OR b.batch < %(below)s::uuid)
ORDER BY b.batch DESC LIMIT %(limit)s;

-- batch_counts --
-- How many lines of a batch stand how, and what their debates have cost. An end that is not provable counts as running, and as
-- failed in a log that was left. A line without a debate has no such end: `listed_state` would call it running.
-- This is what `keep_batch_counts` keeps of a batch that has ended.
SELECT coalesce(l.refused, CASE WHEN NOT %(held)s OR h.debate IS NULL THEN h.state
                                ELSE listed_state(h.debate, h.log, h.next_n - 1, h.state) END, 'waiting') AS stands,
       l.refused IS NOT NULL AS refused, l.joined, count(*) AS lines,
       coalesce(sum(h.spent + h.excess), 0)::bigint AS spent
FROM batch_line l LEFT JOIN debate_head h ON h.debate = l.debate AND h.tenant = l.tenant
WHERE l.tenant = %(tenant)s AND l.batch = %(batch)s
GROUP BY 1, 2, 3;

-- batch_results --
-- The lines of a batch after one, with their debates and decisions. An end that is not provable counts as running, and as
-- failed in a log that was left; its decision is not told. Of a case whose payload was erased, no words are.
SELECT l.line, l.key, l.debate, l.joined, l.refused, l.detail,
       CASE WHEN NOT %(held)s OR h.debate IS NULL THEN h.state
            ELSE listed_state(h.debate, h.log, h.next_n - 1, h.state) END AS stands,
       h.format, h.task_type, h.spent + h.excess AS spent,
       CASE WHEN NOT %(held)s OR told_state(h.debate, h.log, h.next_n - 1, h.state) <> 'running' THEN d.body END AS decision,
       NOT EXISTS (SELECT FROM payload p WHERE p.debate = h.debate AND p.n = 0) AS erased
FROM batch_line l
LEFT JOIN debate_head h ON h.debate = l.debate AND h.tenant = l.tenant
LEFT JOIN decision d ON d.debate = h.debate AND d.tenant IS NOT DISTINCT FROM h.tenant
WHERE l.tenant = %(tenant)s AND l.batch = %(batch)s AND l.line > %(after)s
ORDER BY l.line LIMIT %(limit)s;

-- stop_batch --
-- Begin nothing more of a batch; one that has been stopped already stays as it was. An abort comes after other stops,
-- too: it alone ends the debates under way.
UPDATE case_batch SET stop = %(stop)s, stop_detail = %(detail)s
WHERE tenant = %(tenant)s AND batch = %(batch)s AND ended IS NULL
  AND (stop IS NULL OR %(stop)s = 'aborted' AND stop <> 'aborted') RETURNING batch;

-- claim_batches --
-- Take batches whose turn it is, those first that have waited longest for one. A lease that ends later than any that could
-- be given now is from before the clock was set back.
WITH free AS (
    SELECT batch FROM case_batch
    WHERE ended IS NULL AND (lease_until < clock_timestamp()
                             OR lease_until > clock_timestamp() + make_interval(secs => 2 * %(lease)s::float8))
    ORDER BY fed LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE case_batch b SET feeder = %(feeder)s, fed = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
FROM free WHERE b.batch = free.batch
RETURNING b.batch, b.tenant, b.subject, b.role, b.kind, b.via, b.roles, b.scopes, b.credential, b.trace, b.deadline, b.stop,
    b.stop_detail, coalesce(b.deadline <= clock_timestamp(), false) AS late,
    EXISTS (SELECT FROM subject s WHERE s.id = b.subject AND s.revoked IS NOT NULL)
    OR EXISTS (SELECT FROM api_key k WHERE k.id = b.credential AND k.revoked IS NOT NULL) AS revoked;

-- renew_batches --
-- Keep batches for this feeder; a batch that another one has taken meanwhile is not among the rows.
UPDATE case_batch SET lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
WHERE batch = ANY(%(batches)s::uuid[]) AND feeder = %(feeder)s RETURNING batch;

-- release_batch --
-- Give a batch back after its turn, with what it waits for; it has no other one for a while if it had nothing to do.
UPDATE case_batch SET lease_until = clock_timestamp() + make_interval(secs => %(rest)s::float8), pause = %(pause)s, pause_until = %(until)s::timestamptz
WHERE batch = %(batch)s AND feeder = %(feeder)s RETURNING batch;

-- batch_room --
-- What a batch has left, what its debates under way may still draw, how many there are, and how many debates of batches
-- of its tenant are queued.
SELECT l.ceiling - l.drawn - l.excess AS remaining, coalesce(u.reserved, 0)::bigint AS reserved, u.under_way,
       (SELECT count(*) FROM debate_head q
        WHERE q.tenant = l.tenant AND q.batch IS NOT NULL AND q.state = 'queued') AS queued
FROM batch_limit l, LATERAL (
    SELECT sum(h.ceiling - h.granted) AS reserved, count(*) AS under_way FROM debate_head h
    WHERE h.batch = l.batch AND h.state IN ('queued', 'running')) AS u
WHERE l.batch = %(batch)s;

-- next_batch_line --
-- The next line that waits, while nothing has stopped its batch; of a `stopped` one, too, if that is asked for.
SELECT l.line, l.key, l.body FROM batch_line l
WHERE l.batch = %(batch)s AND l.body IS NOT NULL AND l.line > %(after)s
  AND (%(stopped)s OR EXISTS (SELECT FROM case_batch b WHERE b.batch = l.batch AND b.stop IS NULL
                              AND (b.deadline IS NULL OR b.deadline > clock_timestamp())))
ORDER BY l.line LIMIT 1;

-- settle_batch_line --
-- A line has its debate, or is refused; its text goes. A feeder whose batch another one has taken changes nothing.
UPDATE batch_line SET body = NULL, debate = %(debate)s::uuid, refused = %(refused)s, detail = %(detail)s,
    joined = coalesce((SELECT h.batch FROM debate_head h WHERE h.debate = %(debate)s::uuid) IS DISTINCT FROM batch, false)
             AND %(debate)s::uuid IS NOT NULL
WHERE batch = %(batch)s AND line = %(line)s AND body IS NOT NULL
  AND EXISTS (SELECT FROM case_batch b WHERE b.batch = %(batch)s AND b.feeder = %(feeder)s) RETURNING line;

-- refuse_batch_lines --
-- Refuse every line that waits; their texts go. A feeder whose batch another one has taken changes nothing.
WITH refused AS (
    UPDATE batch_line SET body = NULL, refused = %(refused)s, detail = %(detail)s
    WHERE batch = %(batch)s AND body IS NOT NULL
      AND EXISTS (SELECT FROM case_batch b WHERE b.batch = %(batch)s AND b.feeder = %(feeder)s)
    RETURNING line
)
SELECT count(*) AS lines FROM refused;

-- batch_under_way --
-- Debates of a batch that have not ended.
SELECT debate FROM debate_head WHERE batch = %(batch)s AND state IN ('queued', 'running') LIMIT %(most)s;

-- end_batch --
-- End a batch whose lines all have an end. What is sent of an end belongs into this statement.
UPDATE case_batch b SET ended = clock_timestamp(), pause = NULL, pause_until = NULL
WHERE b.batch = %(batch)s AND b.ended IS NULL
  AND NOT EXISTS (SELECT FROM batch_line l WHERE l.batch = b.batch AND l.body IS NOT NULL)
  AND NOT EXISTS (SELECT FROM debate_head h WHERE h.batch = b.batch AND h.state IN ('queued', 'running'))
  AND NOT EXISTS (SELECT FROM batch_line l JOIN debate_head h ON h.debate = l.debate
                  WHERE l.batch = b.batch AND l.joined AND h.state IN ('queued', 'running'))
RETURNING extract(epoch FROM b.created)::float8 AS began, extract(epoch FROM b.ended)::float8 AS ended, b.lines;

-- keep_batch_counts --
-- Count the lines of batches that have ended, each once: when the end of every debate is provable, no count changes any
-- more. Those that have waited longest for a look come first; one whose ends are not provable yet is looked at later.
WITH due AS (
    SELECT batch, tenant FROM case_batch
    WHERE ended IS NOT NULL AND counts IS NULL AND fed < clock_timestamp() - make_interval(secs => %(rest)s::float8)
    ORDER BY fed LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
), counted AS (
    SELECT d.batch,
           coalesce(l.refused, CASE WHEN NOT %(held)s OR h.debate IS NULL THEN h.state
                                    ELSE listed_state(h.debate, h.log, h.next_n - 1, h.state) END, 'waiting') AS stands,
           l.refused IS NOT NULL AS refused, l.joined, count(*) AS lines,
           coalesce(sum(h.spent + h.excess), 0)::bigint AS spent
    FROM due d JOIN batch_line l ON l.batch = d.batch AND l.tenant = d.tenant
    LEFT JOIN debate_head h ON h.debate = l.debate AND h.tenant = l.tenant
    GROUP BY 1, 2, 3, 4
), kept AS (
    SELECT batch, jsonb_agg(to_jsonb(counted) - 'batch') AS counts FROM counted
    GROUP BY batch HAVING NOT bool_or(stands IN ('queued', 'running', 'waiting'))
)
UPDATE case_batch b SET fed = clock_timestamp(), counts = k.counts
FROM due d LEFT JOIN kept k ON k.batch = d.batch WHERE b.batch = d.batch RETURNING b.batch, b.counts;

-- batch_backlog --
-- How many batches have not ended: those that go on, and those that wait for something.
SELECT count(*) - count(pause) AS running, count(pause) AS paused FROM case_batch WHERE ended IS NULL;

-- remove_stray_lines --
-- Delete lines whose batch never came: ids begin with a time, and this one is of some time ago.
WITH gone AS (
    DELETE FROM batch_line l
    WHERE l.batch < %(before)s::uuid AND l.body IS NOT NULL
      AND NOT EXISTS (SELECT FROM case_batch b WHERE b.batch = l.batch)
    RETURNING line
)
SELECT count(*) AS lines FROM gone;

-- batch_balance --
-- Each batch's limit, from its row and from the evidence, as `balance` has it of tenants.
SELECT l.tenant, l.batch, l.ceiling, l.drawn, l.excess, coalesce(d.drawn, 0)::bigint AS recorded,
       coalesce(c.spent, 0)::bigint AS spent, coalesce(c.excess, 0)::bigint AS overrun,
       (coalesce(d.open, 0) - coalesce(c.open, 0))::bigint AS open
FROM batch_limit l
LEFT JOIN (
    SELECT h.batch, sum(w.amount) AS drawn, sum(w.amount) FILTER (WHERE h.state IN ('queued', 'running')) AS open
    FROM draw w JOIN debate_head h USING (debate) WHERE h.batch IS NOT NULL GROUP BY h.batch) AS d USING (batch)
LEFT JOIN (
    SELECT h.batch, sum(c.amount - c.excess) AS spent, sum(c.excess) AS excess,
           sum(c.amount - c.excess) FILTER (WHERE h.state IN ('queued', 'running')) AS open
    FROM charge c JOIN debate_head h USING (debate) WHERE h.batch IS NOT NULL AND h.draws > 0 GROUP BY h.batch) AS c
    USING (batch)
ORDER BY l.tenant, l.batch;
