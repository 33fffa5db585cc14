-- open_debate --
-- The head and the first records of a new debate, or of a declined case, in one statement.
WITH head AS (
    INSERT INTO debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted, deadline)
    VALUES (%(debate)s, %(tenant)s, %(log)s, %(format)s, %(task_type)s, %(state)s, %(next_n)s, %(last_hash)s,
            %(ceiling)s, %(ceiling)s, %(deadline)s)
    RETURNING debate, log
), record AS (
    SELECT head.debate, head.log, 0 + r.nth::integer - 1 AS n, r.leaf, r.leaf_hash, r.salt, r.body
    FROM head, unnest(%(leaves)b::bytea[], %(hashes)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
        WITH ORDINALITY AS r (leaf, leaf_hash, salt, body, nth)
), entries AS (
    INSERT INTO entry (debate, n, leaf) SELECT debate, n, leaf FROM record
), payloads AS (
    INSERT INTO payload (debate, n, salt, body) SELECT debate, n, salt, body FROM record
), documents AS (
    INSERT INTO document (debate, id, salt, body)
    SELECT head.debate, d.id, d.salt, d.body
    FROM head, unnest(%(document_ids)s::text[], %(document_salts)b::bytea[], %(document_bodies)b::bytea[])
        AS d (id, salt, body)
), staged AS (
    INSERT INTO pending (log, debate, n, leaf_hash) SELECT log, debate, n, leaf_hash FROM record
)
SELECT debate FROM head;

-- append --
-- Records at the end of a debate. The head row is fence (epoch), order (next_n, last_hash) and ceiling at once: when
-- any of them is not as expected nothing at all is written, and no row comes back.
WITH head AS (
    UPDATE debate_head SET
        next_n = next_n + %(count)s, last_hash = %(last_hash)s,
        spent = spent + %(spent)s, excess = excess + %(excess)s, held = held + %(hold)s - %(release)s,
        state = coalesce(%(state)s, state),
        lease_until = CASE
            WHEN %(state)s IN ('completed', 'truncated', 'failed', 'aborted') THEN '-infinity'
            WHEN %(lease)s::float8 IS NULL THEN lease_until
            ELSE clock_timestamp() + make_interval(secs => %(lease)s::float8) END
    WHERE debate = %(debate)s AND epoch = %(epoch)s AND next_n = %(next_n)s AND last_hash = %(prev)s
      AND (%(hold)s = 0 OR spent + excess + held + %(spent)s + %(excess)s + %(hold)s - %(release)s <= granted)
    RETURNING debate, log, extract(epoch FROM deadline - clock_timestamp())::float8 AS left_s
), record AS (
    SELECT head.debate, head.log, %(next_n)s + r.nth::integer - 1 AS n, r.leaf, r.leaf_hash, r.salt, r.body
    FROM head, unnest(%(leaves)b::bytea[], %(hashes)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
        WITH ORDINALITY AS r (leaf, leaf_hash, salt, body, nth)
), entries AS (
    INSERT INTO entry (debate, n, leaf) SELECT debate, n, leaf FROM record
), payloads AS (
    INSERT INTO payload (debate, n, salt, body) SELECT debate, n, salt, body FROM record
), charges AS (
    INSERT INTO charge (debate, n, turn, attempt, basis, amount, excess, period_day, period_month)
    SELECT head.debate, c.n, c.turn, c.attempt, c.basis, c.amount, c.excess, p.day, date_trunc('month', p.day)::date
    FROM head,
         jsonb_to_recordset(%(charges)s::jsonb)
             AS c (n integer, turn text, attempt integer, basis text, amount bigint, excess bigint),
         (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day) AS p
), staged AS (
    INSERT INTO pending (log, debate, n, leaf_hash) SELECT log, debate, n, leaf_hash FROM record
)
SELECT left_s FROM head;

-- head --
-- The working state of one debate.
SELECT tenant, log, format, task_type, state, created, epoch, next_n, last_hash, ceiling, granted, spent, held, excess,
       extract(epoch FROM deadline - clock_timestamp())::float8 AS left_s, lease_until > clock_timestamp() AS leased
FROM debate_head WHERE debate = %(debate)s AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s);

-- records --
-- The records of a debate from a number on, with their payloads.
SELECT e.n, e.leaf, p.salt, p.body
FROM entry e JOIN payload p USING (debate, n)
WHERE e.debate = %(debate)s AND e.n >= %(from_n)s ORDER BY e.n;

-- documents --
-- The source documents of a debate.
SELECT id, salt, body FROM document WHERE debate = %(debate)s;

-- claim --
-- The oldest debate that nobody works on, or one that is named; taking it raises its epoch, which fences off whoever had it before.
UPDATE debate_head SET
    epoch = epoch + 1, state = 'running', worker = %(worker)s,
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
WHERE debate = (
    SELECT debate FROM debate_head
    WHERE state IN ('queued', 'running') AND lease_until < clock_timestamp() AND format = ANY (%(formats)s)
      AND (%(only)s::uuid IS NULL OR debate = %(only)s::uuid)
    ORDER BY created LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING debate, epoch;

-- renew --
-- Keep the lease while a call is under way; no row comes back when another worker has the debate by now.
UPDATE debate_head SET lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
WHERE debate = %(debate)s AND epoch = %(epoch)s RETURNING debate;

-- release --
-- Give the lease back, so that another worker need not wait for it to run out.
UPDATE debate_head SET lease_until = '-infinity' WHERE debate = %(debate)s AND epoch = %(epoch)s RETURNING debate;

-- list_debates --
-- The newest debates of a tenant, below an id.
SELECT debate, task_type, format, state, created FROM debate_head
WHERE tenant = %(tenant)s AND (%(below)s::uuid IS NULL OR debate < %(below)s::uuid)
ORDER BY debate DESC LIMIT %(limit)s;

-- alive --
-- Whether the database answers and takes writes.
SELECT pg_is_in_recovery() AS read_only;
