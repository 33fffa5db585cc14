-- open_debate --
-- The head row and the first records of a new debate, or of a declined case, in one statement, with its idempotency
-- key, or the key that is derived from its caller and body. Returns no row when the key or the debate exists already; it
-- waits for a transaction that is writing either. A derived key whose debate ended more than ten minutes ago, by the time
-- at which the database took up the last record, goes to the new debate. A debate that this statement does not see yet,
-- because another one has just given it the key, has not ended: of two that come together one alone takes the key over.
-- A case of a batch is due an hour after one that came alone, so those of the tenant that came alone are taken first.
-- An item of an evaluation (with a `reserve`) is opened only if its evaluations have a place and money for it (0034), and
-- with the entry of its evaluation that says that it is asked, or not at all (0041).
WITH short AS MATERIALIZED (
    SELECT r.short FROM evaluation_room(%(tenant)s, %(reserve)s::bigint, %(places)s::integer, %(zone)s, %(day)s::bigint,
                                        %(month)s::bigint) AS r
    WHERE %(reserve)s::bigint IS NOT NULL
), asked AS MATERIALIZED (
    SELECT record_asked(%(tenant)s, %(asking)s::uuid, %(asked_n)s::integer, %(asked_record)s::uuid, %(asked_leaf)b::bytea,
                        %(asked_salt)b::bytea, %(asked_body)b::bytea, %(key)b::bytea) AS done
    WHERE %(asking)s::uuid IS NOT NULL AND NOT EXISTS (SELECT FROM short)
), keyed AS (
    INSERT INTO idempotency_key (tenant, key, body, debate)
    SELECT %(tenant)s, %(key)b::bytea, %(key_body)b::bytea, %(debate)s
    WHERE %(key)b::bytea IS NOT NULL AND NOT EXISTS (SELECT FROM short) AND coalesce((SELECT a.done FROM asked a), true)
    ON CONFLICT DO NOTHING
    RETURNING debate
), derived AS (
    INSERT INTO derived_key AS k (tenant, key, debate)
    SELECT %(tenant)s, %(derived)b::bytea, %(debate)s WHERE %(derived)b::bytea IS NOT NULL
    ON CONFLICT (tenant, key) DO UPDATE SET debate = excluded.debate, since = clock_timestamp()
    WHERE EXISTS (SELECT FROM debate_head h LEFT JOIN entry e ON e.debate = h.debate AND e.n = h.next_n - 1
                  WHERE h.debate = k.debate AND h.state NOT IN ('queued', 'running')
                    AND coalesce(e.at, '-infinity') <= clock_timestamp() - interval '10 minutes')
    RETURNING debate
), head AS (
    INSERT INTO debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted, deadline,
                             policy, context, due, templates, subject, batch, purpose, reserve)
    SELECT %(debate)s, %(tenant)s, %(log)s, %(format)s, %(task_type)s, %(state)s, %(next_n)s, %(last_hash)b,
           %(ceiling)s, %(granted)s, %(deadline)s::timestamptz, %(policy)s, %(context)s,
           least(%(deadline)s::timestamptz,
                 clock_timestamp() + CASE WHEN %(batch)s::uuid IS NULL THEN interval '1 hour' ELSE interval '2 hours' END),
           %(templates)s, %(subject)s, %(batch)s::uuid,
           CASE WHEN %(reserve)s::bigint IS NOT NULL THEN 'evaluation' END, %(reserve)s::bigint
    WHERE NOT EXISTS (SELECT FROM short) AND (%(key)b::bytea IS NULL OR EXISTS (SELECT FROM keyed))
      AND (%(derived)b::bytea IS NULL OR EXISTS (SELECT FROM derived))
    ON CONFLICT DO NOTHING
    RETURNING debate, log, tenant
), record AS (
    SELECT head.debate, head.log, head.tenant, 0 + r.nth::integer - 1 AS n, r.leaf, r.salt, r.body
    FROM head, unnest(%(leaves)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
        WITH ORDINALITY AS r (leaf, salt, body, nth)
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT debate, n, leaf, tenant FROM record
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT debate, n, salt, body, tenant FROM record
), documents AS (
    INSERT INTO document (debate, id, salt, body, tenant)
    SELECT head.debate, d.id, d.salt, d.body, head.tenant
    FROM head, unnest(%(document_ids)s::text[], %(document_salts)b::bytea[], %(document_bodies)b::bytea[])
        AS d (id, salt, body)
), staged AS (
    INSERT INTO pending (log, debate, n, tenant)
    SELECT log, debate, n, tenant FROM record
    UNION ALL
    SELECT log, %(asked_record)s::uuid, 0, tenant FROM head WHERE %(asking)s::uuid IS NOT NULL
), context AS (
    INSERT INTO context (debate, salt, body, tenant) SELECT debate, %(context_salt)b, %(context_body)b, tenant FROM head
), found AS (
    INSERT INTO rests_on (tenant, what, value, debate)
    SELECT head.tenant, r.what, r.value, head.debate
    FROM head, unnest(%(rests_what)s::text[], %(rests_value)s::text[]) AS r (what, value)
    ON CONFLICT DO NOTHING
), decided AS (
    INSERT INTO decision (debate, tenant, body)
    SELECT debate, tenant, %(decision)b::bytea FROM head WHERE %(decision)b::bytea IS NOT NULL
), findable AS (
    INSERT INTO found_by
    SELECT f.* FROM head, jsonb_populate_record(NULL::found_by, %(found_by)s::jsonb) AS f
    WHERE %(found_by)s::jsonb IS NOT NULL
), worded AS (
    INSERT INTO case_words (tenant, debate, words, metadata)
    SELECT tenant, debate, to_tsvector('pg_catalog.english', %(words)s::text), %(metadata)s::text[] FROM head
    WHERE %(words)s::text IS NOT NULL
)
SELECT debate FROM head;

-- clock --
-- The time by which records are dated.
SELECT extract(epoch FROM clock_timestamp())::float8 AS now;

-- keyed --
-- The debate that a tenant's key stands for, and the hash of its case.
SELECT debate, body FROM idempotency_key WHERE tenant = %(tenant)s AND key = %(key)b;

-- derived --
-- The debate that a key stands for which was derived from a caller and its body: none if it ended more than ten minutes
-- ago, as in `open_debate`.
SELECT k.debate FROM derived_key k
JOIN debate_head h ON h.debate = k.debate AND h.tenant = k.tenant
LEFT JOIN entry e ON e.debate = h.debate AND e.n = h.next_n - 1
WHERE k.tenant = %(tenant)s AND k.key = %(key)b
  AND (h.state IN ('queued', 'running') OR coalesce(e.at, '-infinity') > clock_timestamp() - interval '10 minutes');

-- waiting --
-- How many debates are queued, of all tenants and of one (its evaluations left out), each counted up to a limit, and the
-- longest wait.
SELECT (SELECT count(*) FROM (SELECT FROM debate_head WHERE state = 'queued' LIMIT %(most)s) AS w) AS waiting,
       (SELECT count(*) FROM (
            SELECT FROM debate_head WHERE state = 'queued' AND tenant = %(tenant)s AND purpose IS NULL
            LIMIT %(most_of_tenant)s) AS w
       ) AS of_tenant,
       (SELECT extract(epoch FROM clock_timestamp() - created)::float8 FROM debate_head
        WHERE state = 'queued' ORDER BY created LIMIT 1) AS longest_s;

-- listen --
-- This process has listeners to these debates. Rows are locked in order, so that two processes cannot deadlock.
INSERT INTO listener AS l (debate, process)
SELECT d.debate, %(process)s FROM unnest(%(debates)s::uuid[], %(tenants)s::text[]) AS d (debate, tenant)
JOIN debate_head h ON h.debate = d.debate AND h.tenant = d.tenant ORDER BY d.debate
ON CONFLICT (debate) DO UPDATE SET process = excluded.process, seen = clock_timestamp()
RETURNING debate;

-- forget_listeners --
-- Delete rows that no process has renewed for so long. A row that a process is renewing just now stays, and no process
-- waits for another here. One statement deletes a limited number, so that a long backlog goes in small steps.
DELETE FROM listener WHERE debate IN (
    SELECT debate FROM listener WHERE seen < clock_timestamp() - make_interval(secs => %(unseen)s::float8)
    LIMIT 10000 FOR UPDATE SKIP LOCKED)
RETURNING debate;

-- listened --
-- Whether another process has had listeners to a debate lately.
SELECT EXISTS (
    SELECT FROM listener l JOIN debate_head h ON h.debate = l.debate
    WHERE l.debate = %(debate)s AND h.tenant = %(tenant)s AND l.process <> %(process)s
      AND l.seen > clock_timestamp() - make_interval(secs => %(within)s::float8)) AS elsewhere;

-- append --
-- Append records to debates, each debate's whole or not at all, in one transaction. A head row is fence (epoch), order
-- (next_n, last_hash) and ceiling in one: if any of them is not as expected, nothing is written for that debate and it has
-- no row in the answer; the others are written. Money can refuse a reservation, never a settlement. A charge counts in the
-- periods of the tranches that it spends; without tranches, in those of its own time.
--
-- Unless it is `alone`, a statement waits for no head row: a debate whose head row is locked has no row in the answer
-- either, and is asked for alone. So it cannot wait in a circle with others that lock head rows. The rows of limits that it
-- moves are locked in one order (lock_limits in 0026_group_commit.sql), after all heads and before the first is moved.
-- The bounds of `nth` say to the planner that there are few debates, so that it finds their rows by an index. The values of
-- a debate stand one after the other in arrays of one type each (DEBATE_COLUMNS in group_commit.py).
WITH asked AS MATERIALIZED (
    SELECT a.debate, a.lease, a.nth,
           (%(numbers)s::bigint[])[7 * a.nth - 6]::integer AS epoch, (%(numbers)s::bigint[])[7 * a.nth - 5]::integer AS next_n,
           (%(numbers)s::bigint[])[7 * a.nth - 4]::integer AS count, (%(numbers)s::bigint[])[7 * a.nth - 3] AS spent,
           (%(numbers)s::bigint[])[7 * a.nth - 2] AS excess, (%(numbers)s::bigint[])[7 * a.nth - 1] AS hold,
           (%(numbers)s::bigint[])[7 * a.nth] AS release,
           (%(texts)s::text[])[7 * a.nth - 6] AS tenant, (%(texts)s::text[])[7 * a.nth - 5] AS state,
           (%(texts)s::text[])[7 * a.nth - 4] AS zone, (%(texts)s::text[])[7 * a.nth - 3] AS charges,
           (%(texts)s::text[])[7 * a.nth - 2] AS rests, (%(texts)s::text[])[7 * a.nth - 1] AS tracked,
           (%(texts)s::text[])[7 * a.nth] AS found_by,
           (%(bytes)b::bytea[])[3 * a.nth - 2] AS prev, (%(bytes)b::bytea[])[3 * a.nth - 1] AS last_hash,
           (%(bytes)b::bytea[])[3 * a.nth] AS decision
    FROM unnest(%(debate)s::uuid[], %(lease)s::float8[]) WITH ORDINALITY AS a (debate, lease, nth)
    WHERE a.nth BETWEEN 1 AND 1000
), free AS MATERIALIZED (
    SELECT h.debate FROM asked a JOIN debate_head h ON h.debate = a.debate
    WHERE NOT %(alone)s AND h.epoch = a.epoch AND h.next_n = a.next_n AND h.last_hash = a.prev
    FOR NO KEY UPDATE OF h SKIP LOCKED
), open AS MATERIALIZED (
    SELECT a.* FROM asked a WHERE %(alone)s OR a.debate IN (SELECT debate FROM free)
), head AS (
    UPDATE debate_head h SET
        next_n = h.next_n + a.count, last_hash = a.last_hash,
        spent = h.spent + a.spent, excess = h.excess + a.excess, held = h.held + a.hold - a.release,
        state = coalesce(a.state, h.state), lease_s = coalesce(a.lease, h.lease_s), unable_since = NULL, falls = 0,
        lease_until = CASE
            WHEN a.state IN ('completed', 'truncated', 'failed', 'aborted') THEN '-infinity'
            WHEN a.lease IS NULL THEN h.lease_until
            ELSE clock_timestamp() + make_interval(secs => a.lease) END
    FROM open a
    WHERE h.debate = a.debate AND h.tenant = a.tenant AND h.epoch = a.epoch AND h.next_n = a.next_n AND h.last_hash = a.prev
      AND (a.hold = 0 OR h.spent + h.excess + h.held + a.spent + a.excess + a.hold - a.release <= h.granted)
    RETURNING h.debate, h.log, h.tenant, h.draws > 0 AND h.draw_day IS NULL AS over_days, h.draw_day,
              h.spent - a.spent AS spent_before, extract(epoch FROM h.deadline - clock_timestamp())::float8 AS left_s,
              h.draws > 0 AND (a.state IS NOT NULL OR a.excess > 0) AS moves,
              a.nth, a.zone, a.charges, a.rests, a.tracked, a.decision, a.found_by
), locked AS MATERIALIZED (
    SELECT lock_limits(array_agg(debate)) FROM head WHERE moves AND NOT %(alone)s HAVING count(*) > 0
), record AS (
    SELECT head.debate, head.log, head.tenant, r.n, r.leaf, r.salt, r.body
    FROM unnest(%(of)s::integer[], %(ns)s::integer[], %(leaves)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
             AS r (nth, n, leaf, salt, body)
    JOIN head ON head.nth = r.nth
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT debate, n, leaf, tenant FROM record
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT debate, n, salt, body, tenant FROM record
), charges AS (
    INSERT INTO charge (debate, n, part, turn, attempt, basis, amount, excess, period_day, period_month, tenant)
    SELECT head.debate, c.n, s.part, c.turn, c.attempt, c.basis, s.amount, s.excess, s.period_day, s.period_month,
           head.tenant
    FROM head,
         jsonb_to_recordset(head.charges::jsonb)
             AS c (n integer, turn text, attempt integer, basis text, amount bigint, excess bigint, earlier bigint),
         LATERAL (
             SELECT 0::smallint AS part, c.amount, c.excess, p.day AS period_day,
                    date_trunc('month', p.day)::date AS period_month
             FROM (SELECT coalesce(head.draw_day, today(head.zone)) AS day) AS p WHERE NOT head.over_days
             UNION ALL
             SELECT * FROM shares(head.debate, head.spent_before + c.earlier, c.amount - c.excess, c.excess)
             WHERE head.over_days) AS s
), staged AS (
    INSERT INTO pending (log, debate, n, tenant) SELECT log, debate, n, tenant FROM record
), found AS (
    INSERT INTO rests_on (tenant, what, value, debate)
    SELECT head.tenant, r.what, r.value, head.debate
    FROM head, jsonb_to_recordset(head.rests::jsonb) AS r (what text, value text)
    ON CONFLICT DO NOTHING
), tracked AS (
    INSERT INTO track_record (tenant, debate, model, question_type, factual_accuracy, logical_consistency, evidence_quality,
                              trajectory_score, factual_checked)
    SELECT head.tenant, head.debate, s.model, s.question_type, s.factual_accuracy, s.logical_consistency,
           s.evidence_quality, s.trajectory_score, s.factual_checked
    FROM head, jsonb_to_recordset(head.tracked::jsonb)
        AS s (model text, question_type text, factual_accuracy smallint, logical_consistency smallint,
              evidence_quality smallint, trajectory_score smallint, factual_checked boolean)
    ON CONFLICT DO NOTHING
), decided AS (
    INSERT INTO decision (debate, tenant, body)
    SELECT debate, tenant, decision FROM head WHERE decision IS NOT NULL
    ON CONFLICT DO NOTHING
), ended AS (
    UPDATE found_by f
    SET status = e.status, outcome = e.outcome, confidence = e.confidence, human_review = e.human_review, flags = e.flags,
        spent = e.spent
    FROM head, jsonb_populate_record(NULL::found_by, head.found_by::jsonb) AS e
    WHERE head.found_by IS NOT NULL AND f.tenant = head.tenant AND f.debate = head.debate
)
SELECT nth, left_s FROM head WHERE (SELECT count(*) FROM locked) >= 0;

-- append_stop --
-- Append an abort to a debate, and its end where nothing is left to wait for. A head row that is not as expected gives no
-- row, as in `append`. No money moves.
WITH head AS MATERIALIZED (
    SELECT s.debate, s.log, s.tenant, s.left_s
    FROM debate_head h,
         stop_debate(h.debate, %(epoch)s, %(next_n)s, %(prev)b, %(leaves)b::bytea[], %(state)s) AS s
    WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s
), record AS (
    SELECT head.debate, head.log, head.tenant, %(next_n)s + r.nth::integer - 1 AS n, r.leaf, r.salt, r.body
    FROM head, unnest(%(leaves)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
        WITH ORDINALITY AS r (leaf, salt, body, nth)
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT debate, n, leaf, tenant FROM record
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT debate, n, salt, body, tenant FROM record
), staged AS (
    INSERT INTO pending (log, debate, n, tenant) SELECT log, debate, n, tenant FROM record
), found AS (
    INSERT INTO rests_on (tenant, what, value, debate)
    SELECT head.tenant, r.what, r.value, head.debate
    FROM head, jsonb_to_recordset(%(rests)s::jsonb) AS r (what text, value text)
    ON CONFLICT DO NOTHING
), tracked AS (
    INSERT INTO track_record (tenant, debate, model, question_type, factual_accuracy, logical_consistency, evidence_quality,
                              trajectory_score, factual_checked)
    SELECT head.tenant, head.debate, s.model, s.question_type, s.factual_accuracy, s.logical_consistency,
           s.evidence_quality, s.trajectory_score, s.factual_checked
    FROM head, jsonb_to_recordset(%(tracked)s::jsonb)
        AS s (model text, question_type text, factual_accuracy smallint, logical_consistency smallint,
              evidence_quality smallint, trajectory_score smallint, factual_checked boolean)
    ON CONFLICT DO NOTHING
), decided AS (
    INSERT INTO decision (debate, tenant, body)
    SELECT debate, tenant, %(decision)b::bytea FROM head WHERE %(decision)b::bytea IS NOT NULL
    ON CONFLICT DO NOTHING
), ended AS (
    UPDATE found_by f
    SET status = e.status, outcome = e.outcome, confidence = e.confidence, human_review = e.human_review, flags = e.flags,
        spent = e.spent
    FROM head, jsonb_populate_record(NULL::found_by, %(found_by)s::jsonb) AS e
    WHERE %(found_by)s::jsonb IS NOT NULL AND f.tenant = head.tenant AND f.debate = head.debate
)
SELECT left_s FROM head;

-- note --
-- A record that belongs to no debate: a chain of its own with one link.
WITH entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) VALUES (%(debate)s, 0, %(leaf)b, %(tenant)s)
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) VALUES (%(debate)s, 0, %(salt)b, %(body)b, %(tenant)s)
)
INSERT INTO pending (log, debate, n, tenant) VALUES (%(log)s, %(debate)s, 0, %(tenant)s) RETURNING debate;

-- issue_report --
-- Record that a report is handed out, once for all processes: no row when it is recorded already, or the debate is not
-- the tenant's.
WITH new AS (
    INSERT INTO issued_report (debate, form, paper, template, sha256, record)
    SELECT h.debate, %(form)s, %(paper)s, %(template)s, %(sha256)s, %(debate)s
    FROM debate_head h WHERE h.debate = %(of)s AND h.tenant = %(tenant)s
    ON CONFLICT (debate, form, paper, template, sha256) DO NOTHING
    RETURNING record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, %(tenant)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, %(tenant)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, %(tenant)s FROM new RETURNING debate;

-- issued_report --
-- The record of a report that was handed out before.
SELECT r.record, e.leaf, p.salt, p.body
FROM issued_report r LEFT JOIN entry e ON e.debate = r.record AND e.n = 0
LEFT JOIN payload p ON p.debate = r.record AND p.n = 0
WHERE r.debate = %(of)s AND r.form = %(form)s AND r.paper = %(paper)s AND r.template = %(template)s
  AND r.sha256 = %(sha256)s
  AND EXISTS (SELECT FROM debate_head h WHERE h.debate = r.debate AND h.tenant = %(tenant)s);

-- issued_rows --
-- The rows of issued reports after a given record, each with that record as far as it is stored.
SELECT r.record AS at, r.debate AS of, r.form, r.paper, r.template, r.sha256, r.record, e.leaf, p.salt, p.body
FROM issued_report r LEFT JOIN entry e ON e.debate = r.record AND e.n = 0
LEFT JOIN payload p ON p.debate = r.record AND p.n = 0
WHERE %(after)s::uuid IS NULL OR r.record > %(after)s::uuid ORDER BY r.record LIMIT %(limit)s;

-- issued_reports --
-- The records of all reports of a debate that were handed out, as far as they are in a log, and how old each is.
SELECT l.log, l.idx, l.n, e.leaf, p.salt, p.body,
       extract(epoch FROM clock_timestamp() - e.at)::float8 AS age_s
FROM issued_report r JOIN leaf l ON l.debate = r.record AND l.n = 0
LEFT JOIN entry e ON e.debate = r.record AND e.n = 0
LEFT JOIN payload p ON p.debate = r.record AND p.n = 0
WHERE r.debate = %(debate)s
  AND EXISTS (SELECT FROM debate_head h WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s)
ORDER BY l.idx;

-- head --
-- The working state of one debate.
SELECT tenant, log, policy, context, format, task_type, state, created, epoch, next_n, last_hash, ceiling, granted, draws, spent, held,
       excess, batch, purpose, extract(epoch FROM deadline - clock_timestamp())::float8 AS left_s,
       worker IS NOT NULL AND lease_until > clock_timestamp() AS leased
FROM debate_head WHERE debate = %(debate)s AND tenant = %(tenant)s;

-- reached --
-- Whether a debate of a tenant was submitted by a subject, or is assigned to it.
SELECT FROM debate_head h
WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s
  AND (%(own)s AND h.subject = %(subject)s
       OR %(assigned)s AND EXISTS (SELECT FROM assignment a
                                   WHERE a.tenant = h.tenant AND a.debate = h.debate AND a.subject = %(subject)s));

-- draw --
-- Allocate more of the tenant's day and month to a running debate, or return what is short. Idempotent by `draws`.
SELECT d.granted, d.draws, d.short, d.remaining
FROM debate_head h,
     draw_tranche(h.debate, %(epoch)s, %(draws)s, %(need)s, %(want)s, %(zone)s, %(day)s, %(month)s) AS d
WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s;

-- left --
-- What remains of a tenant's limits in the present periods, and when these end; no row for a period without a limit.
SELECT p.period, p.named - coalesce(l.drawn + l.excess, 0) AS remaining, p.ends,
       extract(epoch FROM p.ends - clock_timestamp())::float8 AS ends_s
FROM (
    SELECT 'day' AS period, day AS starts, %(day)s::bigint AS named,
           (day + 1)::timestamp AT TIME ZONE %(zone)s AS ends
    FROM (SELECT today(%(zone)s) AS day) AS now
    UNION ALL
    SELECT 'month', month, %(month)s::bigint, (month + interval '1 month') AT TIME ZONE %(zone)s
    FROM (SELECT date_trunc('month', today(%(zone)s)::timestamp)::date AS month) AS now) AS p
LEFT JOIN spend_limit l ON l.tenant = %(tenant)s AND l.period = p.period AND l.starts = p.starts
WHERE p.named IS NOT NULL
ORDER BY p.period DESC;

-- item_room --
-- What one more debate of a tenant's evaluations lacks, if it lacks anything, and for how long at most.
SELECT r.short, r.remaining, r.ends, extract(epoch FROM r.ends - clock_timestamp())::float8 AS ends_s
FROM evaluation_room(%(tenant)s, %(reserve)s, %(places)s, %(zone)s, %(day)s, %(month)s) AS r;

-- items_under_way --
-- How many debates of a tenant's evaluations are under way, and what these may still draw.
SELECT count(*) AS debates, coalesce(sum(greatest(0, reserve - granted)), 0)::bigint AS reserved FROM debate_head
WHERE tenant = %(tenant)s AND purpose IS NOT NULL AND state IN ('queued', 'running');

-- budget --
-- The present day and month of a tenant, or of its evaluations: what was allocated of each, what was billed above
-- reservations, and what running debates have not spent of their allocations. One snapshot: what is allocated is what was
-- spent and what is not.
SELECT p.period, p.begins, p.ends, coalesce(l.drawn, 0) AS drawn, coalesce(l.excess, 0) AS excess,
       unspent_allocations(t.tenant, account_of(%(purpose)s, p.period), p.starts) AS held
FROM (SELECT %(tenant)s::text AS tenant) AS t
CROSS JOIN (
    SELECT 'day' AS period, day AS starts, day::timestamp AT TIME ZONE %(zone)s AS begins,
           (day + 1)::timestamp AT TIME ZONE %(zone)s AS ends
    FROM (SELECT today(%(zone)s) AS day) AS now
    UNION ALL
    SELECT 'month', month, month::timestamp AT TIME ZONE %(zone)s,
           (month + interval '1 month') AT TIME ZONE %(zone)s
    FROM (SELECT date_trunc('month', today(%(zone)s)::timestamp)::date AS month) AS now) AS p
LEFT JOIN spend_limit l
    ON l.tenant = %(tenant)s AND l.period = account_of(%(purpose)s, p.period) AND l.starts = p.starts
ORDER BY p.period;

-- balance --
-- Each period of each tenant with limits, from its row and from the evidence; `open` is the unspent part of allocations
-- to running debates.
WITH part AS (
    SELECT debate, period_day, period_month, amount AS drawn, 0 AS spent, 0 AS excess FROM draw
    UNION ALL
    SELECT c.debate, c.period_day, c.period_month, 0, c.amount - c.excess, c.excess
    FROM charge c JOIN debate_head h USING (debate) WHERE h.draws > 0
), counted AS (
    SELECT h.tenant, p.period, p.starts, sum(part.drawn) AS drawn, sum(part.spent) AS spent, sum(part.excess) AS excess,
           coalesce(sum(part.drawn - part.spent) FILTER (WHERE h.state IN ('queued', 'running')), 0) AS open
    FROM part JOIN debate_head h USING (debate),
         LATERAL (VALUES (account_of(h.purpose, 'day'), part.period_day),
                         (account_of(h.purpose, 'month'), part.period_month)) AS p (period, starts)
    GROUP BY h.tenant, p.period, p.starts
)
SELECT tenant, period, starts, l.ceiling, coalesce(l.drawn, 0) AS drawn, coalesce(l.excess, 0) AS excess,
       coalesce(c.drawn, 0)::bigint AS recorded, coalesce(c.spent, 0)::bigint AS spent,
       coalesce(c.excess, 0)::bigint AS overrun, coalesce(c.open, 0)::bigint AS open
FROM counted c FULL JOIN spend_limit l USING (tenant, period, starts)
ORDER BY tenant, period, starts;

-- astray --
-- Debates whose head row disagrees with their tranches and charges, or that have ended with a reservation.
SELECT h.debate
FROM debate_head h
LEFT JOIN (SELECT debate, sum(amount) AS granted FROM draw GROUP BY debate) AS d USING (debate)
LEFT JOIN (SELECT debate, sum(amount - excess) AS spent, sum(excess) AS excess FROM charge GROUP BY debate) AS c
    USING (debate)
WHERE (h.spent <> coalesce(c.spent, 0) OR h.excess <> coalesce(c.excess, 0)
       OR (h.draws > 0 AND h.granted <> d.granted)
       OR (h.state NOT IN ('queued', 'running') AND (h.held > 0 OR (h.draws > 0 AND h.granted <> h.spent))))
ORDER BY h.debate;

-- zone --
-- Whether the server knows a time zone of this name.
SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = %(zone)s) AS known;

-- records --
-- A debate as it is stored, in one snapshot and in parts: its head row first, empty where the tenant has none;
-- its records from
-- a number on in order, each with the hash of its leaf in the log and how long ago it was stored here; with the first
-- record its context; and its documents, if they are asked for.
WITH own AS (
    SELECT * FROM debate_head WHERE debate = %(debate)s AND tenant = %(tenant)s
)
SELECT part.*, h.tenant, h.log, h.policy, h.context, h.task_type, h.state, h.next_n, h.last_hash, h.granted, h.draws, h.spent,
       h.held, h.excess, h.purpose, extract(epoch FROM h.deadline - clock_timestamp())::float8 AS left_s
FROM (
    SELECT 'head' AS part, NULL::integer AS n, NULL::bytea AS leaf, NULL AS id, NULL::bytea AS salt, NULL::bytea AS body,
           NULL::bytea AS logged, NULL::float8 AS age_s
    UNION ALL
    SELECT 'record', e.n, e.leaf, NULL, p.salt, p.body, l.hash,
           greatest(0, extract(epoch FROM clock_timestamp() - e.at))::float8
    FROM entry e
    LEFT JOIN payload p ON p.debate = %(debate)s AND p.n = e.n
    LEFT JOIN leaf l ON l.debate = %(debate)s AND l.n = e.n
    WHERE e.debate = %(debate)s AND e.n >= %(from_n)s AND EXISTS (SELECT FROM own)
    UNION ALL
    SELECT 'context', NULL, NULL, NULL, c.salt, c.body, NULL, NULL FROM context c
    WHERE c.debate = %(debate)s AND %(from_n)s = 0 AND EXISTS (SELECT FROM own)
    UNION ALL
    SELECT 'document', NULL, NULL, d.id, d.salt, d.body, NULL, NULL FROM document d
    WHERE d.debate = %(debate)s AND %(documents)s AND EXISTS (SELECT FROM own)
) AS part LEFT JOIN own h ON part.part = 'head'
ORDER BY part.n NULLS FIRST, part.part = 'head' DESC;

-- latest_head --
-- The latest signed head of a log, with the lines of those who countersigned it.
SELECT c.size, c.root, c.note || coalesce((
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size), ''::bytea) AS note
FROM checkpoint c
WHERE c.log = %(log)s AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY c.size DESC LIMIT 1;

-- proven --
-- The place of a record in its log, and the first signed head that covers it.
SELECT l.log, l.idx, c.size, c.root
FROM leaf l, LATERAL (
    SELECT size, root FROM checkpoint WHERE log = l.log AND size > l.idx ORDER BY size LIMIT 1) AS c
WHERE l.debate = %(debate)s AND l.n = %(n)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = l.log AND g.tenant = %(tenant)s);

-- latest_log --
-- The log of a tenant's latest epoch; no row while no sequencer has opened the first.
SELECT log, epoch, key FROM log_epoch WHERE tenant = %(tenant)s ORDER BY epoch DESC LIMIT 1;

-- documents --
-- The source documents of a debate.
SELECT id, salt, body FROM document WHERE debate = %(debate)s
  AND EXISTS (SELECT FROM debate_head h WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s);

-- left_logs --
-- The logs that their tenants have left after an incident, each with what was found last, and the tenant's log of now.
-- What waits in one stays so for good. A log that was signed again since has recovered from its incident; the minute is
-- for clocks that differ.
SELECT DISTINCT ON (i.log) i.log, i.what, n.log AS following
FROM incident i JOIN log_epoch g ON g.log = i.log JOIN log_epoch n USING (tenant)
WHERE i.closes IS NULL AND n.epoch > g.epoch
  AND (SELECT c.at FROM checkpoint c WHERE c.log = i.log ORDER BY c.size DESC LIMIT 1)
      > i.at + interval '1 minute' IS NOT TRUE
ORDER BY i.log, i.id DESC, n.epoch DESC;

-- lost_debate --
-- The log of a debate, and the one that its tenant has now, where the first was left after an incident; `proven` says that a
-- checkpoint from before covers the last record of the debate.
SELECT h.log, l.following, EXISTS (
    SELECT FROM leaf f WHERE f.debate = h.debate AND f.n = h.next_n - 1
    AND f.idx < (SELECT max(c.size) FROM checkpoint c WHERE c.log = h.log)) AS proven
FROM debate_head h JOIN ({left_logs}) AS l ON l.log = h.log WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s;

-- claim --
-- Claim debates without a worker, fairly between tenants, or one by id. Their epochs rise, which fences off the
-- workers that had them before. `late` says that the deadline has passed, `lost` that the last lease was lost, `stale`
-- that no worker that claimed the debate could run it for long, and `left_for` what was found of a log that was left.
SELECT c.debate, c.tenant, c.epoch, c.late, c.stale, c.lost, c.faults, c.falls,
       (SELECT h.log || ': ' || l.what FROM ({left_logs}) AS l JOIN debate_head h ON h.log = l.log
        WHERE h.debate = c.debate) AS left_for
FROM claim_in_turn(%(worker)s, %(lease)s, %(formats)s, %(templates)s, %(only)s, %(leave)s, %(most)s, %(most_late)s,
                   %(per_tenant)s, %(shares)s::jsonb, %(patience)s) AS c;

-- renew --
-- Renew the lease while a call is in flight; returns no row when another worker has the debate.
UPDATE debate_head SET lease_s = %(lease)s, lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
WHERE debate = %(debate)s AND tenant = %(tenant)s AND epoch = %(epoch)s RETURNING debate;

-- renew_all --
-- Renew the leases of a worker's debates; returns those that it still has, and which are in a log that was left after an
-- incident. A locked head row is being written to,
-- and is renewed next time. A debate that was released or backed off since has no worker and is not renewed.
WITH mine AS (
    SELECT m.debate, m.tenant, m.epoch
    FROM unnest(%(debates)s::uuid[], %(tenants)s::text[], %(epochs)s::integer[]) AS m (debate, tenant, epoch)
), free AS (
    SELECT h.debate FROM debate_head h JOIN mine m ON m.debate = h.debate AND m.tenant = h.tenant AND m.epoch = h.epoch
    WHERE h.state = 'running' AND h.worker = %(worker)s FOR NO KEY UPDATE OF h SKIP LOCKED
), kept AS (
    UPDATE debate_head h
    SET lease_s = %(lease)s, lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
    FROM free f WHERE h.debate = f.debate
)
SELECT h.debate, h.next_n, h.log IN (SELECT log FROM ({left_logs}) AS l) AS adrift
FROM debate_head h JOIN mine m ON m.debate = h.debate AND m.tenant = h.tenant AND m.epoch = h.epoch;

-- release --
-- Release the lease, so that another worker need not wait until it runs out; or back the debate off for a while. It has
-- no worker then, and counts in no limit.
UPDATE debate_head SET worker = NULL, lease_s = coalesce(%(pause)s::float8, lease_s),
    lease_until = coalesce(clock_timestamp() + make_interval(secs => %(pause)s::float8), '-infinity')
WHERE debate = %(debate)s AND tenant = %(tenant)s AND epoch = %(epoch)s AND state = 'running' RETURNING debate;

-- pass_on --
-- Release a debate for workers that can run it, and remember since when a worker could not.
UPDATE debate_head SET worker = NULL, lease_until = '-infinity', unable_since = coalesce(unable_since, clock_timestamp())
WHERE debate = %(debate)s AND tenant = %(tenant)s AND epoch = %(epoch)s AND state = 'running' RETURNING debate;

-- park --
-- Back off a debate whose run a fault of ours ended, and count the fault. Idempotent: a repetition counts nothing.
UPDATE debate_head SET worker = NULL, faults = faults + 1, lease_s = %(pause)s,
    lease_until = clock_timestamp() + make_interval(secs => %(pause)s::float8)
WHERE debate = %(debate)s AND tenant = %(tenant)s AND epoch = %(epoch)s AND state = 'running' AND worker IS NOT NULL RETURNING debate;

-- disown --
-- Release what a claim with a lost response assigned to a worker.
SELECT * FROM disown_debates(%(worker)s, %(running)s);

-- backlog --
-- How many debates are queued, the longest wait in seconds, how many running ones have no worker, and what running ones
-- have been allocated and not spent.
SELECT (SELECT count(*) FROM debate_head WHERE state = 'queued') AS queued,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(created)) FROM debate_head
                 WHERE state = 'queued'), 0)::float8 AS seconds,
       (SELECT count(*) FROM debate_head
        WHERE state = 'running' AND (worker IS NULL OR lease_until < clock_timestamp())) AS left_behind,
       (SELECT coalesce(sum(greatest(0, granted - spent)), 0)::bigint FROM debate_head WHERE state = 'running') AS held;

-- partitions_end --
-- Until when every partitioned table has a partition of its own for new rows, in seconds since 1970: ids begin with the
-- milliseconds of their making, and partitions have ranges of ids.
SELECT min(upper) AS until
FROM (
    SELECT max(('x0000' || b.part[1] || b.part[2])::bit(64)::bigint / 1000.0)::float8 AS upper
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    JOIN pg_class t ON t.oid = i.inhparent AND t.relkind = 'p' AND t.relnamespace = 'gainsay'::regnamespace
    CROSS JOIN LATERAL (
        SELECT regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([0-9a-f]{8})-([0-9a-f]{4})') AS part) AS b
    GROUP BY t.oid) AS bounds;

-- login_end --
-- Until when the password of this login is valid, in seconds since 1970; no row where it has no end.
SELECT extract(epoch FROM rolvaliduntil)::float8 AS until
FROM pg_roles WHERE rolname = session_user AND isfinite(rolvaliduntil);

-- tenant_money --
-- What these tenants have spent of the present day and month and the least that they have left, in micro-dollars; all
-- others together have no name. Evaluations have limits of their own, and are left out. `whole` has the limits of tenants
-- with limits of their own, as JSON.
WITH present AS (
    SELECT 'day' AS period, today(%(zone)s) AS starts, %(day)s::bigint AS whole
    UNION ALL
    SELECT 'month', date_trunc('month', today(%(zone)s)::timestamp)::date, %(month)s::bigint
), open AS (
    SELECT h.tenant, p.period, sum(part.amount) AS held
    FROM debate_head h CROSS JOIN LATERAL (
        SELECT d.period_day, d.period_month, d.amount FROM draw d WHERE d.debate = h.debate
        UNION ALL
        SELECT c.period_day, c.period_month, c.excess - c.amount FROM charge c WHERE c.debate = h.debate) AS part
    JOIN present p ON p.starts = CASE p.period WHEN 'day' THEN part.period_day ELSE part.period_month END
    WHERE h.state IN ('queued', 'running') AND h.draws > 0 AND h.purpose IS NULL
    GROUP BY h.tenant, p.period
), gone AS (
    SELECT l.tenant, l.period, l.drawn, l.excess,
           CASE WHEN own.whole ? l.tenant THEN (own.whole -> l.tenant ->> l.period)::bigint ELSE p.whole END AS whole
    FROM present p
    JOIN spend_limit l ON l.period = p.period AND l.starts = p.starts
    CROSS JOIN (SELECT %(whole)s::jsonb AS whole) AS own
)
SELECT CASE WHEN tenant = ANY (%(names)s::text[]) THEN tenant END AS name, period,
       sum(greatest(0, drawn - coalesce(held, 0)) + excess)::bigint AS spent,
       min(CASE WHEN whole IS NOT NULL THEN greatest(0, whole - drawn - excess) END)::bigint AS remaining
FROM gone LEFT JOIN open USING (tenant, period)
GROUP BY name, period;

-- alive --
-- Whether the database answers and takes writes.
SELECT current_setting('transaction_read_only')::boolean AS read_only;

-- moved --
-- Of these debates, those with more entries than the caller knows, and those that have ended.
SELECT h.debate, h.next_n, h.state NOT IN ('queued', 'running') AS over
FROM unnest(%(debates)s::uuid[], %(tenants)s::text[], %(ns)s::integer[]) AS known (debate, tenant, n)
JOIN debate_head h ON h.debate = known.debate AND h.tenant = known.tenant
WHERE h.next_n > known.n OR h.state NOT IN ('queued', 'running');

-- subscribe --
-- Listen to the notifications of all processes.
LISTEN gainsay;

-- tell --
-- Notify all processes, the sender included.
SELECT pg_notify('gainsay', p) FROM unnest(%(payloads)s::text[]) AS p;

-- == recomputing

-- claim_check --
-- The logs that no process has begun to recompute for a while; selecting them marks them as begun.
INSERT INTO log_check AS c (log)
SELECT log FROM log_epoch WHERE %(only)s::text IS NULL OR log = %(only)s
ON CONFLICT (log) DO UPDATE SET at = clock_timestamp()
WHERE c.at < clock_timestamp() - make_interval(secs => %(every)s::float8)
RETURNING log;

-- log_key --
-- The tenant of a log, and the key that signs its heads.
SELECT tenant, epoch, key FROM log_epoch WHERE log = %(log)s;

-- heads_placed --
-- Whether the last record of each debate of a log is in the tree or staged; by id, after a given one.
SELECT h.debate, h.next_n - 1 AS n,
       EXISTS (SELECT FROM leaf l WHERE l.debate = h.debate AND l.n = h.next_n - 1)
       OR EXISTS (SELECT FROM pending p WHERE p.debate = h.debate AND p.n = h.next_n - 1) AS placed
FROM debate_head h WHERE h.log = %(log)s AND h.debate > %(after)s ORDER BY h.debate LIMIT %(limit)s;

-- leaves_from --
-- The next leaves of a log, each with the record that it stands for.
SELECT l.idx, l.hash, l.debate, l.n, e.leaf, p.salt, p.body
FROM leaf l LEFT JOIN entry e USING (debate, n) LEFT JOIN payload p USING (debate, n)
WHERE l.log = %(log)s AND l.idx >= %(first)s AND l.idx < %(below)s ORDER BY l.idx;

-- heads_within --
-- The stored roots for sizes in a range: of batches, and of signed heads.
SELECT next AS size, root, NULL::bytea AS note FROM batch WHERE log = %(log)s AND next > %(above)s AND next <= %(upto)s
UNION ALL
SELECT size, root, note FROM checkpoint WHERE log = %(log)s AND size > %(above)s AND size <= %(upto)s
ORDER BY size;

-- tiles_within --
-- The full tiles that end in a range of leaves. A full tile of level l covers 256**(l + 1) leaves (C2SP tlog-tiles).
SELECT level, idx, hashes FROM tile
WHERE log = %(log)s AND (idx + 1) * power(256::numeric, level + 1) > %(above)s
  AND (idx + 1) * power(256::numeric, level + 1) <= %(upto)s
ORDER BY level, idx;

-- claim_rows --
-- The next step of comparing rows with records, if it is due; selecting it keeps others from it for a while.
INSERT INTO row_check AS c (due) VALUES (clock_timestamp() + make_interval(secs => %(lease)s::float8))
ON CONFLICT (one) DO UPDATE SET due = excluded.due WHERE c.due <= clock_timestamp()
RETURNING after, pause_s;

-- begin_round --
-- A new round, with the pause that lets it end in so many seconds.
UPDATE row_check SET begun = clock_timestamp(), after = NULL, pause_s = %(within)s::float8 / greatest(1, ceil(
    (SELECT count(*) FROM debate_head) / %(limit)s::float8))
RETURNING pause_s;

-- end_step --
-- How far the round has come; a round that is over begins again so long after it began.
UPDATE row_check SET after = %(after)s::uuid, due = CASE
    WHEN %(after)s::uuid IS NULL THEN greatest(clock_timestamp(), begun + make_interval(secs => %(within)s::float8))
    ELSE clock_timestamp() + make_interval(secs => pause_s) END
RETURNING due;

-- rows_from --
-- The chains of records and the head rows after an id, each with its first leaf and its head row's tenant and log.
WITH ids AS (
    (SELECT debate FROM entry WHERE n = 0 AND (%(after)s::uuid IS NULL OR debate > %(after)s::uuid)
     ORDER BY debate LIMIT %(limit)s)
    UNION
    (SELECT debate FROM debate_head WHERE %(after)s::uuid IS NULL OR debate > %(after)s::uuid
     ORDER BY debate LIMIT %(limit)s)
)
SELECT i.debate, e.leaf, h.tenant, h.log
FROM (SELECT debate FROM ids ORDER BY debate LIMIT %(limit)s) AS i
LEFT JOIN entry e ON e.debate = i.debate AND e.n = 0 LEFT JOIN debate_head h ON h.debate = i.debate
ORDER BY i.debate;

-- projected --
-- What is computed from the records of one debate, as it is stored, in one snapshot.
SELECT h.debate, h.next_n, h.format, h.spent, h.held, h.excess, d.tenant AS decided_for, d.body AS decision,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(r.tenant, r.what, r.value)), '[]')
        FROM rests_on r WHERE r.debate = h.debate) AS rests,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(t.tenant, t.model, t.question_type, t.factual_accuracy,
                                                    t.logical_consistency, t.evidence_quality, t.trajectory_score,
                                                    t.factual_checked)), '[]')
        FROM track_record t WHERE t.debate = h.debate) AS tracked,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(c.n, c.turn, c.attempt, c.basis, c.amount, c.excess)), '[]')
        FROM (SELECT n, turn, attempt, basis, sum(amount) AS amount, sum(excess) AS excess
              FROM charge WHERE debate = %(debate)s GROUP BY n, turn, attempt, basis) AS c) AS charges,
       (SELECT jsonb_agg(to_jsonb(f) || jsonb_build_object('downside', trim_scale(f.downside)::text))
        FROM found_by f WHERE f.debate = h.debate) AS found_by,
       (SELECT jsonb_agg(jsonb_build_array(w.tenant, to_jsonb(w.metadata),
                                           w.words = to_tsvector('pg_catalog.english', %(words)s::text)))
        FROM case_words w WHERE w.debate = h.debate) AS words
FROM debate_head h LEFT JOIN decision d ON d.debate = h.debate WHERE h.debate = %(debate)s;

-- count_cosignatures --
-- How many cosignatures are stored, and how many were at the last comparison.
WITH kept AS (SELECT cosignatures FROM row_check)
INSERT INTO row_check AS c (due, cosignatures) SELECT clock_timestamp(), count(*) FROM cosignature
ON CONFLICT (one) DO UPDATE SET cosignatures = excluded.cosignatures
RETURNING (SELECT cosignatures FROM kept) AS before, cosignatures AS now;

-- count_time_stamps --
-- How many time stamps of heads are stored, and how many were at the last comparison.
WITH kept AS (SELECT time_stamps FROM row_check)
INSERT INTO row_check AS c (due, time_stamps) SELECT clock_timestamp(), count(*) FROM time_stamp
ON CONFLICT (one) DO UPDATE SET time_stamps = excluded.time_stamps
RETURNING (SELECT time_stamps FROM kept) AS before, time_stamps AS now;

-- time_stamps_of --
-- The time stamps of a log above a size, each with the head that it is of.
SELECT t.log, t.size, extract(epoch FROM t.stamped)::float8 AS stamped, t.authority, t.token, c.note
FROM time_stamp t JOIN checkpoint c USING (log, size)
WHERE t.log = %(log)s AND t.size > %(above)s ORDER BY t.size LIMIT %(limit)s;

-- stamped_logs --
-- Every log with a time stamp, and its tenant.
SELECT g.log, g.tenant FROM log_epoch g
WHERE EXISTS (SELECT FROM time_stamp t WHERE t.log = g.log) ORDER BY g.log;

-- manifest_prompts --
-- The prompts that a manifest is found by.
SELECT prompt, sha256 FROM manifest_prompt WHERE manifest = %(manifest)s;

-- == serving

-- head_at --
-- The signed head of a log of one size, with the lines of those who countersigned it.
SELECT c.size, c.root, c.note || coalesce((
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size), ''::bytea) AS note
FROM checkpoint c WHERE c.log = %(log)s AND c.size = %(size)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s);

-- logs_of --
-- The logs of a tenant, or one of them, each with its latest signed head.
SELECT g.log, g.tenant, g.epoch, g.key, c.size, c.root, c.note || coalesce((
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size), ''::bytea) AS note
FROM log_epoch g
LEFT JOIN LATERAL (SELECT * FROM checkpoint k WHERE k.log = g.log ORDER BY k.size DESC LIMIT 1) AS c ON true
WHERE g.tenant = %(tenant)s AND (%(log)s::text IS NULL OR g.log = %(log)s)
ORDER BY g.epoch;

-- tree_parts --
-- Everything that a proof needs: full tiles, the hashes of a range of leaves, and the signed root of a size.
WITH own AS (
    SELECT FROM log_epoch WHERE log = %(log)s AND tenant = %(tenant)s
)
SELECT 'tile' AS part, t.level::integer AS level, t.idx, t.hashes
FROM unnest(%(levels)s::smallint[], %(indexes)s::bigint[]) AS w (level, idx),
     LATERAL (SELECT * FROM tile WHERE log = %(log)s AND level = w.level AND idx = w.idx LIMIT 1) AS t
WHERE EXISTS (SELECT FROM own)
UNION ALL
SELECT 'leaves', 0, %(first)s::bigint, string_agg(hash, ''::bytea ORDER BY idx)
FROM leaf WHERE log = %(log)s AND idx >= %(first)s AND idx < %(end)s AND EXISTS (SELECT FROM own)
UNION ALL
SELECT 'head', 0, size, root FROM checkpoint WHERE log = %(log)s AND size = %(size)s AND EXISTS (SELECT FROM own);

-- leaves_between --
-- The envelopes of a range of leaves.
SELECT e.leaf FROM leaf l JOIN entry e USING (debate, n)
WHERE l.log = %(log)s AND l.idx >= %(first)s AND l.idx < %(end)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY l.idx;

-- current_heads --
-- The latest signed head of each of these tenants' logs of the latest epoch that has one.
SELECT DISTINCT ON (g.tenant) g.tenant, g.log, g.epoch, c.size, c.root
FROM log_epoch g, LATERAL (SELECT size, root FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS c
WHERE g.tenant = ANY (%(tenants)s)
ORDER BY g.tenant, g.epoch DESC;

-- recall --
-- The newest debates of a tenant that rest on something, below an id, each with the place of its last provable record and
-- the state in which lists show it.
SELECT h.debate, h.task_type, listed_state(h.debate, h.log, h.next_n - 1, h.state) AS state,
       (SELECT e.leaf FROM entry e WHERE e.debate = h.debate AND e.n = 0) AS leaf, h.log,
       (SELECT l.idx FROM leaf l WHERE l.debate = h.debate ORDER BY l.n DESC LIMIT 1) AS idx
FROM rests_on r JOIN debate_head h ON h.debate = r.debate AND h.tenant = r.tenant
WHERE r.tenant = %(tenant)s AND r.what = %(what)s AND r.value = %(value)s
  AND (%(below)s::uuid IS NULL OR r.debate < %(below)s::uuid)
ORDER BY r.debate DESC LIMIT %(limit)s;

-- recall_prompt --
-- The same for a prompt, through the manifests that list it.
SELECT h.debate, h.task_type, listed_state(h.debate, h.log, h.next_n - 1, h.state) AS state,
       (SELECT e.leaf FROM entry e WHERE e.debate = h.debate AND e.n = 0) AS leaf, h.log,
       (SELECT l.idx FROM leaf l WHERE l.debate = h.debate ORDER BY l.n DESC LIMIT 1) AS idx
FROM (SELECT DISTINCT r.debate
      FROM manifest_prompt m JOIN rests_on r ON r.what = 'manifest' AND r.value = m.manifest
      WHERE m.sha256 = %(value)s AND r.tenant = %(tenant)s
        AND (%(below)s::uuid IS NULL OR r.debate < %(below)s::uuid)) AS r
JOIN debate_head h ON h.debate = r.debate AND h.tenant = %(tenant)s
ORDER BY r.debate DESC LIMIT %(limit)s;

-- chains --
-- The chains of records after a given one, by id.
SELECT debate, debate AS at FROM entry
WHERE n = 0 AND (%(after)s::uuid IS NULL OR debate > %(after)s::uuid) ORDER BY debate LIMIT %(limit)s;

-- chain --
-- The records of one chain as far as they are stored, and its head row's next number, in one snapshot.
SELECT e.n, e.leaf, p.salt, p.body, h.next_n
FROM entry e LEFT JOIN payload p USING (debate, n) LEFT JOIN debate_head h USING (debate)
WHERE e.debate = %(debate)s ORDER BY e.n;

-- document_hashes --
-- The documents of a debate by their hashes and commitments.
SELECT id, encode(sha256(body), 'hex') AS sha256, encode(sha256(salt || body), 'hex') AS commitment
FROM document WHERE debate = %(debate)s;

-- project --
-- Correct what one debate rests on and is found by, its models' scores and its decision, unless its head row has moved since it
-- was read: then no row is returned.
WITH head AS (
    SELECT debate FROM debate_head WHERE debate = %(debate)s AND next_n = %(next_n)s FOR NO KEY UPDATE
), still AS (
    SELECT %(debate)s::uuid AS debate
    WHERE EXISTS (SELECT FROM head) OR NOT EXISTS (SELECT FROM debate_head WHERE debate = %(debate)s)
), truth AS (
    SELECT r.what, r.value FROM unnest(%(rests_what)s::text[], %(rests_value)s::text[]) AS r (what, value)
), gone AS (
    DELETE FROM rests_on r USING still
    WHERE r.debate = still.debate AND %(whole)s
      AND (r.tenant IS DISTINCT FROM %(tenant)s OR NOT EXISTS (SELECT FROM truth t WHERE (t.what, t.value) = (r.what, r.value)))
    RETURNING 1
), made AS (
    INSERT INTO rests_on (tenant, what, value, debate)
    SELECT %(tenant)s, truth.what, truth.value, still.debate FROM still, truth
    ON CONFLICT DO NOTHING RETURNING 1
), scores AS (
    SELECT %(tenant)s::text AS tenant, still.debate, s.model, s.question_type, s.factual_accuracy,
           s.logical_consistency, s.evidence_quality, s.trajectory_score, s.factual_checked
    FROM still, jsonb_to_recordset(%(tracked)s::jsonb)
        AS s (model text, question_type text, factual_accuracy smallint, logical_consistency smallint,
              evidence_quality smallint, trajectory_score smallint, factual_checked boolean)
), unscored AS (
    DELETE FROM track_record r USING still
    WHERE r.debate = still.debate AND %(whole)s
      AND NOT EXISTS (
          SELECT FROM scores s
          WHERE (s.tenant, s.model, s.question_type, s.factual_accuracy, s.logical_consistency, s.evidence_quality,
                 s.trajectory_score, s.factual_checked)
              = (r.tenant, r.model, r.question_type, r.factual_accuracy, r.logical_consistency, r.evidence_quality,
                 r.trajectory_score, r.factual_checked))
    RETURNING 1
), scored AS (
    INSERT INTO track_record
    SELECT * FROM scores WHERE (SELECT count(*) FROM unscored) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
), undecided AS (
    DELETE FROM decision d USING still
    WHERE d.debate = still.debate AND %(whole)s
      AND (d.tenant, d.body) IS DISTINCT FROM (%(tenant)s::text, %(decision)b::bytea)
    RETURNING 1
), decided AS (
    INSERT INTO decision (debate, tenant, body)
    SELECT still.debate, %(tenant)s::text, %(decision)b::bytea FROM still
    WHERE %(decision)b::bytea IS NOT NULL AND (SELECT count(*) FROM undecided) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
), row AS (
    SELECT f.* FROM still, jsonb_populate_record(NULL::found_by, %(found_by)s::jsonb) AS f
    WHERE %(found_by)s::jsonb IS NOT NULL
), unfindable AS (
    DELETE FROM found_by f USING still
    WHERE f.debate = still.debate AND %(whole)s AND NOT EXISTS (SELECT FROM row r WHERE r IS NOT DISTINCT FROM f)
    RETURNING 1
), findable AS (
    INSERT INTO found_by
    SELECT * FROM row WHERE %(whole)s AND (SELECT count(*) FROM unfindable) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
), said AS (
    SELECT %(tenant)s::text AS tenant, still.debate, to_tsvector('pg_catalog.english', %(words)s::text) AS words,
           %(metadata)s::text[] AS metadata
    FROM still WHERE %(words)s::text IS NOT NULL
), unworded AS (
    DELETE FROM case_words w USING still
    WHERE w.debate = still.debate AND %(whole)s
      AND NOT EXISTS (SELECT FROM said s WHERE (s.tenant, s.words, s.metadata) = (w.tenant, w.words, w.metadata))
    RETURNING 1
), worded AS (
    INSERT INTO case_words (tenant, debate, words, metadata)
    SELECT * FROM said WHERE %(whole)s AND (SELECT count(*) FROM unworded) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM made) + (SELECT count(*) FROM scored) + (SELECT count(*) FROM decided)
       + (SELECT count(*) FROM findable) + (SELECT count(*) FROM worded) AS added,
       (SELECT count(*) FROM gone) + (SELECT count(*) FROM unscored) + (SELECT count(*) FROM undecided)
       + (SELECT count(*) FROM unfindable) + (SELECT count(*) FROM unworded) AS removed
FROM still;

-- remove_strays --
-- Delete rows about debates that do not exist, some debates at a time; returns the last debate of the step.
WITH part AS (
    SELECT DISTINCT debate FROM rests_on
    WHERE %(after)s::uuid IS NULL OR debate > %(after)s::uuid ORDER BY debate LIMIT %(limit)s
), gone AS (
    DELETE FROM rests_on r USING part
    WHERE r.debate = part.debate
      AND NOT EXISTS (SELECT FROM entry e WHERE e.debate = part.debate)
      AND NOT EXISTS (SELECT FROM debate_head h WHERE h.debate = part.debate)
    RETURNING 1
)
SELECT debate AS at, (SELECT count(*) FROM gone) AS removed FROM part ORDER BY debate DESC LIMIT 1;

-- remove_stray_records --
-- Delete models' scores and decisions of debates that do not exist, what such are found by, and issued reports without a record.
WITH gone AS (
    DELETE FROM track_record r
    WHERE NOT EXISTS (SELECT FROM entry e WHERE e.debate = r.debate)
      AND NOT EXISTS (SELECT FROM debate_head h WHERE h.debate = r.debate)
    RETURNING 1
), undecided AS (
    DELETE FROM decision d
    WHERE NOT EXISTS (SELECT FROM entry e WHERE e.debate = d.debate)
      AND NOT EXISTS (SELECT FROM debate_head h WHERE h.debate = d.debate)
    RETURNING 1
), unfindable AS (
    DELETE FROM found_by f
    WHERE NOT EXISTS (SELECT FROM entry e WHERE e.debate = f.debate)
      AND NOT EXISTS (SELECT FROM debate_head h WHERE h.debate = f.debate)
    RETURNING 1
), unissued AS (
    DELETE FROM issued_report r WHERE NOT EXISTS (SELECT FROM entry e WHERE e.debate = r.record) RETURNING 1
)
SELECT 0 AS added,
       (SELECT count(*) FROM gone) + (SELECT count(*) FROM undecided) + (SELECT count(*) FROM unfindable)
       + (SELECT count(*) FROM unissued) AS removed;

-- project_issued --
-- Correct the row of one record of an issued report: of two records of one report the earlier has the row.
WITH gone AS (
    DELETE FROM issued_report r
    WHERE (r.record = %(record)s
           AND (r.debate, r.form, r.paper, r.template, r.sha256)
               IS DISTINCT FROM (%(of)s::uuid, %(form)s::text, %(paper)s::text, %(template)s::text, %(sha256)s::text))
       OR (r.record > %(record)s
           AND (r.debate, r.form, r.paper, r.template, r.sha256)
               = (%(of)s::uuid, %(form)s::text, %(paper)s::text, %(template)s::text, %(sha256)s::text))
    RETURNING 1
), made AS (
    INSERT INTO issued_report (debate, form, paper, template, sha256, record)
    SELECT %(of)s::uuid, %(form)s::text, %(paper)s::text, %(template)s::text, %(sha256)s::text, %(record)s::uuid
    WHERE (SELECT count(*) FROM gone) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM made) AS added, (SELECT count(*) FROM gone) AS removed;

-- standings --
-- The models' scores in the newest panels of a tenant, by type of question: their number and sum.
SELECT question_type, model, count(*) AS debates, sum(3 + factual_checked::int) AS scores,
       sum(factual_accuracy * factual_checked::int + logical_consistency + evidence_quality + trajectory_score) AS points
FROM (SELECT * FROM track_record WHERE tenant = %(tenant)s ORDER BY debate DESC LIMIT %(limit)s) AS newest
GROUP BY question_type, model;

-- manifests --
-- The manifests among the stored texts after a given one, by hash.
SELECT sha256 AS at, body FROM content
WHERE substr(body, 1, 64) LIKE '%%"format"%%"gainsay-prompts/1"%%'::bytea
  AND (%(after)s::bytea IS NULL OR sha256 > %(after)s::bytea)
ORDER BY sha256 LIMIT %(limit)s;

-- project_manifest --
-- Correct the prompts of one manifest.
WITH truth AS (
    SELECT t.prompt, t.sha256 FROM unnest(%(prompts)s::text[], %(hashes)s::text[]) AS t (prompt, sha256)
), gone AS (
    DELETE FROM manifest_prompt m
    WHERE m.manifest = %(manifest)s
      AND NOT EXISTS (SELECT FROM truth t WHERE (t.prompt, t.sha256) = (m.prompt, m.sha256))
    RETURNING 1
), made AS (
    INSERT INTO manifest_prompt (manifest, prompt, sha256)
    SELECT %(manifest)s, prompt, sha256 FROM truth WHERE (SELECT count(*) FROM gone) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM made) AS added, (SELECT count(*) FROM gone) AS removed;

-- unknown_manifests --
-- Manifests whose text is not stored: their rows are deleted unless a debate rests on them.
WITH unknown AS (
    SELECT m.manifest, EXISTS (SELECT FROM rests_on r WHERE r.what = 'manifest' AND r.value = m.manifest) AS used
    FROM (SELECT DISTINCT manifest FROM manifest_prompt) AS m
    WHERE NOT EXISTS (SELECT FROM content c WHERE encode(c.sha256, 'hex') = m.manifest)
), gone AS (
    DELETE FROM manifest_prompt m USING unknown u
    WHERE m.manifest = u.manifest AND NOT u.used RETURNING m.manifest
)
SELECT u.manifest, u.used, (SELECT count(*) FROM gone g WHERE g.manifest = u.manifest) AS removed FROM unknown u;

-- == bundling

-- kept_contents --
-- Which of these texts are stored already.
SELECT sha256 FROM content WHERE sha256 = ANY (%(hashes)s::bytea[]);

-- keep_contents --
-- Store texts under their SHA-256, which the database computes; in one order, so that two processes cannot deadlock.
INSERT INTO content (sha256, body)
SELECT sha256(body), body FROM unnest(%(bodies)b::bytea[]) AS given (body) ORDER BY 1
ON CONFLICT DO NOTHING RETURNING sha256;

-- contents --
-- Texts by their SHA-256.
SELECT sha256, body FROM content WHERE sha256 = ANY (%(hashes)s::bytea[]);

-- keep_manifest --
-- Store the prompts of a manifest, so that they are found by their own hashes.
INSERT INTO manifest_prompt (manifest, prompt, sha256)
SELECT %(manifest)s, given.prompt, given.sha256
FROM unnest(%(prompts)s::text[], %(hashes)s::text[]) AS given (prompt, sha256)
ORDER BY given.prompt
ON CONFLICT DO NOTHING RETURNING prompt;

-- == sequencing

-- lead --
-- Whether this session leads: one at a time does, until its connection ends. This only avoids wasted work; the fence is
-- the primary key of batch.
SELECT pg_try_advisory_lock(%(key)s) AS leads;

-- staged --
-- The oldest staged records above a number, by log; the log of the oldest first.
SELECT log, array_agg(seq ORDER BY seq) AS seqs
FROM (SELECT seq, log FROM pending WHERE seq > %(above)s AND log <> ALL (%(passing)s::text[])
      ORDER BY seq LIMIT %(most)s) AS oldest
GROUP BY log ORDER BY min(seq);

-- take --
-- Take records from staging in the order of the tree; the hash is that of a leaf in RFC 6962, 2.1, and `age_s` for how
-- long it has been staged. `follows` says whether the record before is in the tree or in this batch. With `careful`,
-- records in the tree are left out. A record of another tenant than the log's has no hash, as one that is not stored; one
-- of before 0018 names no tenant.
--
-- The order is that of staging, so a record that was staged after another was answered stands behind it. Ids cannot give
-- this order: two of one millisecond sort by chance. A record goes with the latest staged of those before it in its
-- chain, so no chain is out of order.
WITH taken AS (
    DELETE FROM pending WHERE seq = ANY (%(seqs)s::bigint[]) AND log = %(log)s RETURNING debate, n, seq, staged
)
SELECT t.debate::text AS debate, t.n, sha256('\x00'::bytea || e.leaf) AS hash,
       t.n = 0 OR coalesce(lag(t.n) OVER chain = t.n - 1, false)
       OR EXISTS (SELECT FROM leaf l WHERE l.debate = t.debate AND l.n = t.n - 1) AS follows,
       greatest(0, extract(epoch FROM clock_timestamp() - t.staged))::float8 AS age_s
FROM (SELECT debate, n, min(seq) AS seq, min(staged) AS staged FROM taken GROUP BY debate, n) AS t
LEFT JOIN entry e ON e.debate = t.debate AND e.n = t.n AND coalesce(e.tenant = %(tenant)s, true)
WHERE NOT %(careful)s OR NOT EXISTS (SELECT FROM leaf l WHERE l.debate = t.debate AND l.n = t.n)
WINDOW chain AS (PARTITION BY t.debate ORDER BY t.n)
ORDER BY max(t.seq) OVER chain, t.debate, t.n;

-- add_batch --
-- A batch that continues the last one, or fails.
INSERT INTO batch (log, first, next, root, frontier) VALUES (%(log)s, %(first)s, %(next)s, %(root)b, %(frontier)b);

-- add_leaves --
-- The leaves of a batch, in their order.
INSERT INTO leaf (log, idx, debate, n, hash)
SELECT %(log)s, %(first)s + r.nth - 1, r.debate, r.n, r.hash
FROM unnest(%(debates)s::uuid[], %(ns)s::integer[], %(hashes)b::bytea[]) WITH ORDINALITY AS r (debate, n, hash, nth);

-- add_tiles --
-- The tiles that a batch filled.
INSERT INTO tile (log, level, idx, hashes)
SELECT %(log)s, t.level, t.idx, t.hashes
FROM unnest(%(levels)s::smallint[], %(indexes)s::bigint[], %(tiles)b::bytea[]) AS t (level, idx, hashes);

-- open_log --
-- The row of a log that is new here.
INSERT INTO log_epoch (log, tenant, epoch, key) VALUES (%(log)s, %(tenant)s, %(epoch)s, %(key)s)
ON CONFLICT DO NOTHING RETURNING log;

-- every_log --
-- The names of all logs.
SELECT log FROM log_epoch ORDER BY opened;

-- tree_end --
-- The end of a log's tree, and its latest signed head.
SELECT g.key, b.next AS size, b.root, b.frontier, c.size AS signed, c.root AS signed_root, c.note
FROM log_epoch g
LEFT JOIN LATERAL (SELECT * FROM batch WHERE log = g.log ORDER BY first DESC LIMIT 1) AS b ON true
LEFT JOIN LATERAL (SELECT * FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS c ON true
WHERE g.log = %(log)s;

-- keep_head --
-- Store a signed head; one that is stored already is the same.
INSERT INTO checkpoint (log, size, root, note) VALUES (%(log)s, %(size)s, %(root)b, %(note)b)
ON CONFLICT DO NOTHING RETURNING size;

-- unsigned --
-- The logs whose tree has grown beyond the latest signed head.
SELECT g.log FROM log_epoch g
CROSS JOIN LATERAL (SELECT next FROM batch WHERE log = g.log ORDER BY first DESC LIMIT 1) AS b
LEFT JOIN LATERAL (SELECT size FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS c ON true
WHERE b.next > coalesce(c.size, 0);

-- unproven --
-- How many records are durable and not provable, in all and in the logs that go on; of these logs the age of the oldest
-- such record, and the age of the oldest latest head of one whose records wait for longer than some seconds; all in
-- seconds. A log without a head counts since its first record. A log that its tenant has left after an incident does not
-- go on: what waits in it stays so for good. Of each log the batches from its latest head on are read, by their key: the
-- order inside keeps the planner from reading all of them.
WITH waiting AS (
    SELECT log, count(*) AS records, min(staged) AS since FROM pending GROUP BY log
    UNION ALL
    SELECT g.log, b.next - b.first, b.at FROM log_epoch g
    LEFT JOIN LATERAL (SELECT size FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS c ON true
    CROSS JOIN LATERAL (
        SELECT first, next, at FROM batch WHERE log = g.log AND first >= coalesce(c.size, 0) ORDER BY first) AS b
), going AS (
    SELECT log, records, since FROM waiting
    WHERE log NOT IN (SELECT log FROM ({left_logs}) AS l)
), late AS (
    SELECT log, min(since) AS since FROM going
    GROUP BY log HAVING min(since) < clock_timestamp() - make_interval(secs => %(late)s::float8)
)
SELECT (SELECT coalesce(sum(records), 0) FROM waiting)::bigint AS records,
       coalesce(sum(records), 0)::bigint AS going,
       coalesce(extract(epoch FROM clock_timestamp() - min(since)), 0)::float8 AS seconds,
       coalesce((SELECT max(extract(epoch FROM clock_timestamp() - coalesce(c.at, late.since))) FROM late
                 LEFT JOIN LATERAL (SELECT at FROM checkpoint WHERE log = late.log ORDER BY size DESC LIMIT 1) AS c
                     ON true), 0)::float8 AS age_s
FROM going;

-- witness_lag --
-- Of these witnesses, those that have not countersigned some head since the last one that they did, with the age of the
-- oldest such head, in seconds. A log that its tenant has left after an incident is shown to no witness any more.
SELECT w.name, max(extract(epoch FROM clock_timestamp() - a.at))::float8 AS seconds
FROM unnest(%(names)s::text[]) AS w (name)
CROSS JOIN log_epoch g
LEFT JOIN LATERAL (SELECT max(size) AS size FROM cosignature WHERE log = g.log AND witness = w.name) AS s ON true
CROSS JOIN LATERAL (
    SELECT at FROM checkpoint WHERE log = g.log AND size > coalesce(s.size, -1) ORDER BY size LIMIT 1) AS a
WHERE g.log NOT IN (SELECT log FROM ({left_logs}) AS l)
GROUP BY w.name;

-- raise_incident --
-- A log that contradicts a signed or witnessed head; no row when the same incident is recorded already.
INSERT INTO incident (log, what)
SELECT %(log)s, %(what)s WHERE NOT EXISTS (SELECT FROM incident WHERE log = %(log)s AND what = %(what)s)
RETURNING id;

-- open_incidents --
-- The incidents that no person has closed.
SELECT id, log, what, at FROM incident i
WHERE closes IS NULL AND NOT EXISTS (SELECT FROM incident WHERE closes = i.id) ORDER BY id;

-- note_damage --
-- Evidence that is not what was recorded; no row when an incident of the same place is open already.
INSERT INTO damage (subject, tenant, log, debate, place, what)
SELECT %(subject)s, %(tenant)s, %(log)s, %(debate)s, %(place)s, %(what)s
WHERE NOT EXISTS (
    SELECT FROM damage d
    WHERE d.subject = %(subject)s AND d.log = %(log)s AND d.debate IS NOT DISTINCT FROM %(debate)s AND d.place = %(place)s
      AND d.closes IS NULL AND NOT EXISTS (SELECT FROM damage WHERE closes = d.id))
RETURNING id;

-- open_damage --
-- How many incidents of damaged evidence no person has closed, by what they are about, each with the first of them.
SELECT DISTINCT ON (subject) subject, count(*) OVER (PARTITION BY subject) AS incidents, id, log, debate, place, what
FROM damage d
WHERE closes IS NULL AND NOT EXISTS (SELECT FROM damage WHERE closes = d.id)
ORDER BY subject, id;

-- cosigned --
-- The largest head of a log that each witness has countersigned.
SELECT witness, max(size) AS size FROM cosignature WHERE log = %(log)s GROUP BY witness;

-- keep_cosignature --
-- A witness's line for a signed head.
INSERT INTO cosignature (log, size, witness, line) VALUES (%(log)s, %(size)s, %(witness)s, %(line)s)
ON CONFLICT DO NOTHING RETURNING size;

-- unstamped --
-- The logs whose latest head is larger than their last stamped one and whose last stamp is some seconds old, those that
-- have waited longest first. `waited` is for how long the first head without a stamp behind it has been signed.
SELECT g.log, z.size, z.note, extract(epoch FROM clock_timestamp() - a.at)::float8 AS waited
FROM log_epoch g
CROSS JOIN LATERAL (SELECT size, note FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS z
LEFT JOIN LATERAL (SELECT size, at FROM time_stamp WHERE log = g.log ORDER BY size DESC LIMIT 1) AS s ON true
CROSS JOIN LATERAL (
    SELECT at FROM checkpoint WHERE log = g.log AND size > coalesce(s.size, -1) ORDER BY size LIMIT 1) AS a
WHERE z.size > coalesce(s.size, -1)
  AND (s.at IS NULL OR s.at <= clock_timestamp() - make_interval(secs => %(every)s::float8))
ORDER BY a.at, g.log LIMIT %(most)s;

-- keep_time_stamp --
-- A time stamp of a signed head; no row where the log got one in these seconds, from another process.
INSERT INTO time_stamp (log, size, stamped, authority, token)
SELECT %(log)s, %(size)s, to_timestamp(%(stamped)s), %(authority)b, %(token)b
WHERE NOT EXISTS (SELECT FROM time_stamp t WHERE t.log = %(log)s
                  AND t.at > clock_timestamp() - make_interval(secs => %(every)s::float8))
ON CONFLICT DO NOTHING RETURNING size;

-- == vouching

-- key_heads --
-- A tenant's logs, each with its key and with its first and its latest signed head.
SELECT g.log, g.key, a.size AS first, extract(epoch FROM a.at)::float8 AS first_at,
       z.size AS last, extract(epoch FROM z.at)::float8 AS last_at
FROM log_epoch g
LEFT JOIN LATERAL (SELECT size, at FROM checkpoint WHERE log = g.log ORDER BY size LIMIT 1) AS a ON true
LEFT JOIN LATERAL (SELECT size, at FROM checkpoint WHERE log = g.log ORDER BY size DESC LIMIT 1) AS z ON true
WHERE g.tenant = %(tenant)s ORDER BY g.epoch;

-- witness_heads --
-- The first and the latest head of each of a tenant's logs that each of these witnesses has countersigned, by name.
SELECT g.log, a.line AS first_line, a.size AS first, extract(epoch FROM a.at)::float8 AS first_at,
       z.line AS last_line, z.size AS last, extract(epoch FROM z.at)::float8 AS last_at
FROM log_epoch g CROSS JOIN unnest(%(names)s::text[]) AS w (name)
CROSS JOIN LATERAL (
    SELECT size, line, at FROM cosignature WHERE log = g.log AND witness = w.name ORDER BY size LIMIT 1) AS a
CROSS JOIN LATERAL (
    SELECT size, line, at FROM cosignature WHERE log = g.log AND witness = w.name ORDER BY size DESC LIMIT 1) AS z
WHERE g.tenant = %(tenant)s ORDER BY g.epoch, w.name;

-- log_tenants --
-- Every tenant that has a log.
SELECT DISTINCT tenant FROM log_epoch ORDER BY tenant;

-- rotate_log --
-- A tenant's next log with the record that opens it, in one statement; no row when the log exists already.
WITH opened AS (
    INSERT INTO log_epoch (log, tenant, epoch, key) VALUES (%(log)s, %(tenant)s, %(epoch)s, %(key)s)
    ON CONFLICT DO NOTHING RETURNING log
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(tenant)s FROM opened
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(tenant)s FROM opened
)
INSERT INTO pending (log, debate, n, tenant) SELECT log, %(debate)s, 0, %(tenant)s FROM opened RETURNING log;

-- bundling: the parts of a bundle and the rows of an export

-- bundle_records --
-- The leaves of a debate, each with its record as far as that is stored.
SELECT l.log, l.idx, l.n, e.leaf, p.salt, p.body, extract(epoch FROM e.at)::float8 AS at
FROM leaf l LEFT JOIN entry e USING (debate, n) LEFT JOIN payload p USING (debate, n)
WHERE l.debate = %(debate)s
  AND EXISTS (SELECT FROM debate_head h WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s)
ORDER BY l.n;

-- bundle_context --
-- The context that a debate's records commit to beside their payloads.
SELECT salt, body FROM context WHERE debate = %(debate)s
  AND EXISTS (SELECT FROM debate_head h WHERE h.debate = %(debate)s AND h.tenant = %(tenant)s);

-- countersigned_head --
-- Of the latest countersigned heads above an index, the newest with the most cosignatures. A thousand lines are looked
-- through, here and below: a witness that signs each head has so many before one that signs every few minutes.
SELECT c.size, c.root, c.note || (
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size) AS note
FROM (SELECT size FROM (SELECT size FROM cosignature WHERE log = %(log)s AND size > %(above)s
                        ORDER BY size DESC LIMIT 1000) AS latest
      GROUP BY size ORDER BY count(*) DESC, size DESC LIMIT 1) AS best
JOIN checkpoint c ON c.log = %(log)s AND c.size = best.size
WHERE EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s);

-- first_countersigned --
-- Of the first countersigned heads above an index, up to a size, the first with the most cosignatures.
SELECT c.size, c.root, c.note || (
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size) AS note
FROM (SELECT size FROM (SELECT size FROM cosignature WHERE log = %(log)s AND size > %(above)s AND size <= %(upto)s
                        ORDER BY size LIMIT 1000) AS earliest
      GROUP BY size ORDER BY count(*) DESC, size LIMIT 1) AS best
JOIN checkpoint c ON c.log = %(log)s AND c.size = best.size
WHERE EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s);

-- countersigned_before --
-- Of the latest heads up to a size that were countersigned by some time, the newest with the most cosignatures of then.
SELECT c.size, c.root, c.note || (
           SELECT string_agg(convert_to(s.line, 'UTF8'), ''::bytea ORDER BY s.witness) FROM cosignature s
           WHERE s.log = c.log AND s.size = c.size AND s.at <= to_timestamp(%(by)s)) AS note
FROM (SELECT size FROM (SELECT size FROM cosignature
                        WHERE log = %(log)s AND size <= %(upto)s AND at <= to_timestamp(%(by)s)
                        ORDER BY size DESC LIMIT 1000) AS latest
      GROUP BY size ORDER BY count(*) DESC, size DESC LIMIT 1) AS best
JOIN checkpoint c ON c.log = %(log)s AND c.size = best.size
WHERE EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s);

-- stamped_before --
-- The newest head up to a size whose time stamp was stored by some time.
SELECT c.size, c.root, c.note, t.token FROM time_stamp t JOIN checkpoint c USING (log, size)
WHERE t.log = %(log)s AND t.size <= %(upto)s AND t.at <= to_timestamp(%(by)s)
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY t.size DESC LIMIT 1;

-- first_stamped --
-- The first stamped head above an index, up to a size.
SELECT c.size, c.root, c.note, t.token FROM time_stamp t JOIN checkpoint c USING (log, size)
WHERE t.log = %(log)s AND t.size > %(above)s AND t.size <= %(upto)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY t.size LIMIT 1;

-- opening --
-- The record that opened a log, which is in its first batch; none in a tenant's first log.
SELECT l.log, l.idx, l.n, e.leaf, p.salt, p.body
FROM leaf l JOIN entry e USING (debate, n) LEFT JOIN payload p USING (debate, n)
WHERE l.log = %(log)s AND l.n = 0 AND l.idx < least(%(below)s, (SELECT next FROM batch WHERE log = %(log)s AND first = 0))
  AND position('"kind":"log.opened"'::bytea IN e.leaf) > 0
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY l.idx LIMIT 1;

-- first_since --
-- The first leaf of the batches that were made at a time or later.
SELECT first FROM batch WHERE log = %(log)s AND at >= %(at)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY at, first LIMIT 1;

-- joined_before --
-- How many leaves had joined a log before a time, whether a record of then still waits to, and whether that time has
-- come, and an earlier one.
WITH own AS (
    SELECT FROM log_epoch WHERE log = %(log)s AND tenant = %(tenant)s
)
SELECT coalesce((SELECT max(next) FROM batch WHERE log = %(log)s AND at < %(at)s AND EXISTS (SELECT FROM own)), 0) AS leaves,
       EXISTS (SELECT FROM pending p JOIN entry e USING (debate, n)
               WHERE p.log = %(log)s AND e.at < %(at)s AND EXISTS (SELECT FROM own)) AS waiting,
       clock_timestamp() >= %(until)s AS past, clock_timestamp() >= %(at)s AS settled;

-- countersigned_since --
-- Whether a head of a log was countersigned at a time or later.
SELECT true AS seen FROM cosignature WHERE log = %(log)s AND at >= %(at)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
LIMIT 1;

-- export_all --
-- The records of a range of leaves, as far as they are stored.
SELECT l.idx, e.leaf, p.salt, p.body, c.salt AS context_salt, c.body AS context
FROM leaf l
LEFT JOIN entry e ON e.debate = l.debate AND e.n = l.n
LEFT JOIN payload p ON p.debate = l.debate AND p.n = l.n
LEFT JOIN context c ON c.debate = l.debate
WHERE l.log = %(log)s AND l.idx >= %(first)s AND l.idx < %(below)s
  AND EXISTS (SELECT FROM log_epoch g WHERE g.log = %(log)s AND g.tenant = %(tenant)s)
ORDER BY l.idx LIMIT %(most)s;

-- export_some --
-- The same, of debates alone: by their task type and state, and by a model, a prompt or a document that they rest on.
SELECT l.idx, e.leaf, p.salt, p.body, c.salt AS context_salt, c.body AS context
FROM leaf l
JOIN debate_head h ON h.debate = l.debate AND h.tenant = %(tenant)s
LEFT JOIN entry e ON e.debate = l.debate AND e.n = l.n
LEFT JOIN payload p ON p.debate = l.debate AND p.n = l.n
LEFT JOIN context c ON c.debate = l.debate
WHERE l.log = %(log)s AND l.idx >= %(first)s AND l.idx < %(below)s
  AND (%(task_type)s::text IS NULL OR h.task_type = %(task_type)s)
  AND (%(state)s::text IS NULL OR h.state = %(state)s)
  AND (%(model)s::text IS NULL OR EXISTS (
      SELECT FROM rests_on r WHERE r.tenant = h.tenant AND r.what = 'model' AND r.value = %(model)s AND r.debate = h.debate))
  AND (%(document)s::text IS NULL OR EXISTS (
      SELECT FROM rests_on r WHERE r.tenant = h.tenant AND r.what = 'document' AND r.value = %(document)s AND r.debate = h.debate))
  AND (%(prompt)s::text IS NULL OR EXISTS (
      SELECT FROM rests_on r JOIN manifest_prompt m ON m.manifest = r.value
      WHERE r.tenant = h.tenant AND r.what = 'manifest' AND r.debate = h.debate AND m.sha256 = %(prompt)s))
ORDER BY l.idx LIMIT %(most)s;

-- exchange_rates --
-- Tell the other processes what this one admitted of each bucket, and learn what they did; one row more has the time.
WITH mine AS (
    SELECT m.bucket, m.span, m.used
    FROM unnest(%(buckets)s::text[], %(spans)s::bigint[], %(used)s::bigint[]) AS m (bucket, span, used)
), noted AS (
    INSERT INTO rate AS r (bucket, span, process, used)
    SELECT bucket, span, %(process)s, used FROM mine ORDER BY bucket, span
    ON CONFLICT (bucket, span, process) DO UPDATE SET used = excluded.used, noted = clock_timestamp()
)
SELECT m.bucket, m.span, sum(r.used)::bigint AS used, extract(epoch FROM clock_timestamp())::float8 AS now
FROM mine m JOIN rate r ON r.bucket = m.bucket AND r.span = m.span AND r.process <> %(process)s
GROUP BY m.bucket, m.span
UNION ALL SELECT NULL, NULL, NULL, extract(epoch FROM clock_timestamp())::float8;

-- forget_rates --
-- Delete counts of minutes that are over; what another process deletes at the same time is skipped.
DELETE FROM rate WHERE (bucket, span, process) IN (
    SELECT bucket, span, process FROM rate WHERE noted < clock_timestamp() - make_interval(secs => 180)
    ORDER BY noted LIMIT 10000 FOR UPDATE SKIP LOCKED)
RETURNING bucket;
