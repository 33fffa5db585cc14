-- Queries of evaluations (migrations/0030_evaluations.sql, 0032_evaluation_callers.sql, 0037_evaluations_watched.sql,
-- 0040_evaluation_ends.sql). The feeder serves every tenant: its claim names evaluations with their tenants, and what
-- follows asks by the tenant and the id of such an evaluation.

-- register_evaluation --
-- The first entry of a new evaluation with its record, in one statement; no row where the evaluation is there, its key is
-- in use, or a held split that it asks has other looks by now than it records. Registrations on held splits of a tenant wait
-- for each other, so that each counts those before it.
WITH looked AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE l.looks <> a.looks) AS others
    FROM unnest(%(held)s::text[], %(looks)s::bigint[]) AS a (id, looks)
    JOIN count_looks(%(tenant)s, %(held)s::text[]) AS l ON l.id = a.id
), opened AS (
    INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, scopes, credential, held, key, body)
    SELECT %(evaluation)s, %(tenant)s, %(name)s, %(subject)s, %(role)s, %(kind)s, %(via)s, %(roles)s::text[],
           %(scopes)s::text[], %(credential)s, %(held)s::text[], %(key)b::bytea, %(sent)b::bytea
    FROM looked WHERE others = 0
    ON CONFLICT DO NOTHING RETURNING evaluation, tenant
), new AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT tenant, evaluation, 0, %(debate)s FROM opened RETURNING tenant, record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, tenant FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, tenant FROM new RETURNING debate;

-- add_evaluation_entries --
-- The next entries with their records, in one statement, all or none; no row where another process has written the entry of
-- the first number. An entry is written by those who have read the one before it, so then none of the others is there either.
WITH record AS MATERIALIZED (
    SELECT e.tenant, e.evaluation, %(n)s::integer + r.nth::integer - 1 AS n, r.debate, r.leaf, r.salt, r.body
    FROM evaluation e, unnest(%(records)s::uuid[], %(leaves)b::bytea[], %(salts)b::bytea[], %(bodies)b::bytea[])
        WITH ORDINALITY AS r (debate, leaf, salt, body, nth)
    WHERE e.evaluation = %(evaluation)s AND e.tenant = %(tenant)s AND e.ended IS NULL
), first AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT tenant, evaluation, n, debate FROM record WHERE n = %(n)s
    ON CONFLICT (tenant, evaluation, n) DO NOTHING RETURNING tenant, evaluation
), new AS (
    SELECT r.* FROM first JOIN record r USING (tenant, evaluation)
), others AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT tenant, evaluation, n, debate FROM new WHERE n > %(n)s
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT debate, 0, leaf, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT debate, 0, salt, body, tenant FROM new
), moved AS (
    UPDATE evaluation e SET scored = e.scored OR %(scored)s, result = coalesce(%(result)b::bytea, e.result),
        ended = CASE WHEN %(ended)s THEN clock_timestamp() END, pause = NULL
    FROM first WHERE e.evaluation = first.evaluation AND (%(ended)s OR %(scored)s AND NOT e.scored)
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, debate, 0, tenant FROM new ORDER BY n RETURNING debate;

-- stop_evaluation --
-- The entry of a person's stop with its record, in one statement; no row where another process has written the entry of this
-- number, or the evaluation has ended. It changes no row: a feeder concludes what was asked.
WITH new AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT e.tenant, e.evaluation, %(n)s, %(debate)s FROM evaluation e
    WHERE e.evaluation = %(evaluation)s AND e.tenant = %(tenant)s AND e.ended IS NULL
    ON CONFLICT (tenant, evaluation, n) DO NOTHING RETURNING tenant, record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, tenant FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, tenant FROM new RETURNING debate;

-- keyed_evaluation --
-- The evaluation that a tenant's key stands for, and the hash of what came under it.
SELECT evaluation, subject, body FROM evaluation WHERE tenant = %(tenant)s AND key = %(key)b;

-- evaluation_entries --
-- The records of an evaluation from a number on, in order.
SELECT v.n, v.record, e.leaf, p.salt, p.body
FROM evaluation_entry v LEFT JOIN entry e ON e.debate = v.record AND e.n = 0
LEFT JOIN payload p ON p.debate = v.record AND p.n = 0
WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.n >= %(first)s ORDER BY v.n;

-- lost_evaluation --
-- The log in which the end of an evaluation is lost, and the one that its tenant has now; no row where it is not lost.
SELECT l.log, (SELECT n.log FROM log_epoch g JOIN log_epoch n USING (tenant) WHERE g.log = l.log
               ORDER BY n.epoch DESC LIMIT 1) AS following
FROM evaluation o, evaluation_log(o.evaluation, o.tenant) AS l (log)
WHERE o.evaluation = %(evaluation)s AND o.tenant = %(tenant)s AND end_is_lost(o.evaluation, o.tenant, o.ended);

-- evaluation --
-- One evaluation of a tenant. It has no end, and no result, before a checkpoint covers its last entry (0040).
SELECT o.evaluation, o.name, o.subject, o.registered, t.ended, o.pause, CASE WHEN t.ended IS NOT NULL THEN o.result END AS result,
       end_is_lost(o.evaluation, o.tenant, o.ended) AS lost
FROM evaluation o CROSS JOIN LATERAL shown_end(o.evaluation, o.tenant, o.ended) AS t (ended)
WHERE o.evaluation = %(evaluation)s AND o.tenant = %(tenant)s;

-- evaluations --
-- A tenant's evaluations below an id, the newest first.
SELECT o.evaluation, o.name, o.subject, o.registered, shown_end(o.evaluation, o.tenant, o.ended) AS ended, o.pause,
       NULL::bytea AS result, end_is_lost(o.evaluation, o.tenant, o.ended) AS lost
FROM evaluation o WHERE o.tenant = %(tenant)s AND (%(below)s::uuid IS NULL OR o.evaluation < %(below)s::uuid)
ORDER BY o.evaluation DESC LIMIT %(limit)s;

-- looks_at_held --
-- How many evaluations of a tenant have looked at the held labels of each of these sets, or are under way with them.
SELECT s.id, count(e.evaluation) AS looks
FROM unnest(%(sets)s::text[]) AS s (id)
LEFT JOIN evaluation e ON e.tenant = %(tenant)s AND (e.scored OR e.ended IS NULL) AND s.id = ANY (e.held)
GROUP BY s.id;

-- claim_evaluations --
-- Take evaluations whose turn it is, those first that have waited longest for one; of `only`, if one is named. A lease that
-- ends later than any that could be given now is from before the clock was set back.
WITH free AS (
    SELECT evaluation FROM evaluation
    WHERE ended IS NULL AND (%(only)s::uuid IS NULL OR evaluation = %(only)s::uuid)
      AND (lease_until < clock_timestamp()
           OR lease_until > clock_timestamp() + make_interval(secs => 2 * %(lease)s::float8))
    ORDER BY fed LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE evaluation e SET feeder = %(feeder)s, fed = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
FROM free WHERE e.evaluation = free.evaluation
RETURNING e.evaluation, e.tenant, e.subject, e.role, e.kind, e.via, e.roles, e.scopes, e.credential;

-- open_evaluations --
-- How many evaluations of a tenant have not ended: they share its places.
SELECT count(*) AS evaluations FROM evaluation WHERE tenant = %(tenant)s AND ended IS NULL;

-- renew_evaluations --
-- Keep evaluations for this feeder; one that another process has taken meanwhile is not among the rows.
UPDATE evaluation SET lease_until = clock_timestamp() + make_interval(secs => %(lease)s::float8)
WHERE evaluation = ANY(%(evaluations)s::uuid[]) AND feeder = %(feeder)s RETURNING evaluation;

-- release_evaluation --
-- Give an evaluation back after its turn, with what it waits for and how much of its ceiling is spent; it has no other turn for
-- a while. Since when it waits stays as it is while it waits for the same.
UPDATE evaluation e SET lease_until = clock_timestamp() + make_interval(secs => %(rest)s::float8), pause = %(pause)s,
    waits_for = %(waits_for)s::text,
    waits_since = CASE WHEN %(waits_for)s::text IS NULL THEN NULL WHEN e.waits_for = %(waits_for)s THEN e.waits_since
                       ELSE clock_timestamp() END,
    ceiling_used = coalesce(%(used)s::float8, e.ceiling_used), ceiling_needed = coalesce(%(needed)s::float8, e.ceiling_needed)
WHERE e.evaluation = %(evaluation)s AND e.feeder = %(feeder)s RETURNING e.evaluation;

-- evaluations_watched --
-- Evaluations that have not ended, by what they wait for: how many, the longest wait in seconds, for how long the one of them
-- that has stood still longest has had no new entry, and the most that one has spent and will need of its ceiling. The id of a
-- record begins with the milliseconds of its making.
SELECT e.waits_for, count(*) AS evaluations,
       greatest(0, max(extract(epoch FROM clock_timestamp() - e.waits_since)))::float8 AS waited,
       greatest(0, max(extract(epoch FROM clock_timestamp()) - last.at))::float8 AS still,
       coalesce(max(e.ceiling_used), 0) AS used, coalesce(max(e.ceiling_needed), 0) AS needed
FROM evaluation e CROSS JOIN LATERAL (
    SELECT ('x' || left(replace(v.record::text, '-', ''), 12))::bit(48)::bigint / 1000.0 AS at
    FROM evaluation_entry v WHERE (v.tenant, v.evaluation) = (e.tenant, e.evaluation) ORDER BY v.n DESC LIMIT 1) AS last
WHERE e.ended IS NULL GROUP BY e.waits_for;

-- looks_of_tenants --
-- How often each tenant has looked at the split `held` of each golden set, as `looks_at_held` counts.
SELECT e.tenant, s.id, count(*) AS looks FROM evaluation e, unnest(e.held) AS s (id)
WHERE e.scored OR e.ended IS NULL
GROUP BY e.tenant, s.id;

-- evaluation_place --
-- Where the registration of an evaluation stands in its log, and since how many seconds it has been recorded.
SELECT l.log, l.idx, extract(epoch FROM clock_timestamp() - o.registered)::float8 AS age_s
FROM evaluation_entry v JOIN leaf l ON l.debate = v.record AND l.n = 0
JOIN evaluation o ON o.evaluation = v.evaluation
WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.n = 0;

-- evaluation_log --
-- The record of an evaluation's registration, which names the log that all of its records are in.
SELECT e.leaf FROM evaluation_entry v JOIN entry e ON e.debate = v.record AND e.n = 0
WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.n = 0;

-- item_log --
-- The log that an item's debate is in.
SELECT log FROM debate_head WHERE debate = %(debate)s AND tenant = %(tenant)s;

-- export_evaluation --
-- The records of an evaluation and of its debates in a range of leaves, as far as they are stored.
SELECT l.idx, e.leaf, p.salt, p.body, c.salt AS context_salt, c.body AS context
FROM leaf l
LEFT JOIN entry e ON e.debate = l.debate AND e.n = l.n
LEFT JOIN payload p ON p.debate = l.debate AND p.n = l.n
LEFT JOIN context c ON c.debate = l.debate
WHERE l.log = %(log)s AND l.idx >= %(first)s AND l.idx < %(below)s
  AND (EXISTS (SELECT FROM evaluation_entry v
               WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.record = l.debate)
       OR EXISTS (SELECT FROM found_by f
                  WHERE f.tenant = %(tenant)s AND f.evaluation = %(evaluation)s::uuid::text AND f.debate = l.debate))
ORDER BY l.idx LIMIT %(most)s;

-- evaluation_provable --
-- Whether a checkpoint covers an entry of an evaluation.
SELECT EXISTS (
    SELECT FROM evaluation_entry v JOIN leaf l ON l.debate = v.record AND l.n = 0
    WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.n = %(n)s
      AND l.idx < (SELECT max(c.size) FROM checkpoint c WHERE c.log = l.log)) AS provable;

-- evaluation_revoked --
-- Whether who registered an evaluation is revoked, or the key that it came with.
SELECT EXISTS (SELECT FROM subject s WHERE s.id = e.subject AND s.revoked IS NOT NULL)
    OR EXISTS (SELECT FROM api_key k WHERE k.id = e.credential AND k.revoked IS NOT NULL) AS revoked
FROM evaluation e WHERE e.evaluation = %(evaluation)s AND e.tenant = %(tenant)s;

-- ended_of --
-- Which of these debates of a tenant have ended.
SELECT debate FROM debate_head
WHERE tenant = %(tenant)s AND debate = ANY(%(debates)s::uuid[]) AND state NOT IN ('queued', 'running');

-- the comparison of rows with records, and their rebuild (service.store.evaluation_rows)

-- evaluation_ids --
-- The evaluations after a given one that have a row of any kind, by id.
SELECT evaluation AS at FROM (SELECT evaluation FROM evaluation UNION SELECT evaluation FROM evaluation_entry) AS o
WHERE %(after)s::uuid IS NULL OR evaluation > %(after)s::uuid ORDER BY evaluation LIMIT %(limit)s;

-- evaluation_state --
-- The rows of an evaluation, with the record of each entry as far as it is stored, in one snapshot.
SELECT o.tenant, o.name, o.held, o.scored, o.ended IS NOT NULL AS ended, CASE WHEN v.n = 0 THEN o.result END AS result,
       v.tenant AS entry_tenant, v.n, v.record, e.leaf, p.salt, p.body
FROM (SELECT %(evaluation)s::uuid AS evaluation) AS asked
LEFT JOIN evaluation o ON o.evaluation = asked.evaluation
LEFT JOIN evaluation_entry v ON v.evaluation = asked.evaluation
LEFT JOIN entry e ON e.debate = v.record AND e.n = 0
LEFT JOIN payload p ON p.debate = v.record AND p.n = 0
ORDER BY v.n;

-- evaluation_entry_of --
-- Whether an entry's record has its row, or an earlier record has it.
SELECT EXISTS (SELECT FROM evaluation_entry v WHERE v.record = %(record)s
               AND (v.tenant, v.evaluation, v.n) = (%(tenant)s, %(evaluation)s::uuid, %(n)s)) AS present,
       EXISTS (SELECT FROM evaluation_entry v WHERE v.record < %(record)s
               AND (v.tenant, v.evaluation, v.n) = (%(tenant)s, %(evaluation)s::uuid, %(n)s)) AS earlier;

-- project_evaluation_entry --
-- Correct the row of one entry: of two records of one number the earlier has the row.
WITH gone AS (
    DELETE FROM evaluation_entry v
    WHERE (v.record = %(record)s AND (v.tenant, v.evaluation, v.n) IS DISTINCT FROM (%(tenant)s, %(evaluation)s::uuid, %(n)s))
       OR (v.record > %(record)s AND (v.tenant, v.evaluation, v.n) = (%(tenant)s, %(evaluation)s::uuid, %(n)s))
    RETURNING 1
), made AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT %(tenant)s, %(evaluation)s::uuid, %(n)s, %(record)s::uuid
    WHERE (SELECT count(*) FROM gone) >= 0  -- what is wrong goes first
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM made) AS added, (SELECT count(*) FROM gone) AS removed;

-- project_evaluation --
-- Correct the row of one evaluation, unless a feeder has moved it since it was read; a row that is lost is made anew.
WITH fixed AS (
    UPDATE evaluation o SET (tenant, name, held, scored, ended)
        = (%(tenant)s, %(name)s, %(held)s::text[], %(scored)s,
           CASE WHEN %(ended)s THEN coalesce(o.ended, %(until)s::timestamptz) END)
    WHERE o.evaluation = %(evaluation)s
      AND o.scored = %(was_scored)s::boolean AND (o.ended IS NOT NULL) = %(was_ended)s::boolean
      AND (o.tenant, o.name, o.held, o.scored, o.ended IS NOT NULL)
          IS DISTINCT FROM (%(tenant)s, %(name)s, %(held)s::text[], %(scored)s, %(ended)s)
    RETURNING 1
), made AS (
    INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, scopes, credential, held, scored,
                            registered, ended)
    SELECT %(evaluation)s, %(tenant)s, %(name)s, %(subject)s, %(role)s, %(kind)s, %(via)s, ARRAY[%(role)s], ARRAY[]::text[], '',
           %(held)s::text[], %(scored)s, %(since)s::timestamptz, CASE WHEN %(ended)s THEN %(until)s::timestamptz END
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM made) + (SELECT count(*) FROM fixed) AS added, (SELECT count(*) FROM fixed) AS removed;

-- remove_stray_entries --
-- Delete rows of entries that have no record.
WITH gone AS (
    DELETE FROM evaluation_entry v WHERE NOT EXISTS (SELECT FROM entry e WHERE e.debate = v.record AND e.n = 0) RETURNING 1
)
SELECT 0 AS added, count(*) AS removed FROM gone;

-- remove_stray_evaluations --
-- Delete evaluations without a registration.
WITH gone AS (
    DELETE FROM evaluation o
    WHERE NOT EXISTS (SELECT FROM evaluation_entry v WHERE v.evaluation = o.evaluation AND v.n = 0) RETURNING 1
)
SELECT 0 AS added, count(*) AS removed FROM gone;

-- debates_within --
-- A tenant's debates that began within a time, of some task types or of all, in steps. A declined case is none.
SELECT debate, format, state FROM debate_head
WHERE tenant = %(tenant)s AND state <> 'declined' AND debate > %(after)s AND debate < %(before)s
  AND (%(task_types)s::text[] IS NULL OR task_type = ANY (%(task_types)s::text[]))
ORDER BY debate LIMIT %(limit)s;

-- has_debates --
-- Whether a tenant has a debate at all.
SELECT (SELECT debate FROM debate_head WHERE tenant = %(tenant)s ORDER BY debate LIMIT 1) IS NOT NULL AS found;

-- results_within --
-- A tenant's evaluations that were concluded within a time, and may be shown so, with their results, in steps.
SELECT o.evaluation, o.name, o.subject, o.registered, o.ended, o.pause, o.result,
       end_is_lost(o.evaluation, o.tenant, o.ended) AS lost
FROM evaluation o
WHERE o.tenant = %(tenant)s AND o.result IS NOT NULL AND o.ended >= %(since)s AND o.ended < %(until)s
  AND o.evaluation > %(after)s AND shown_end(o.evaluation, o.tenant, o.ended) IS NOT NULL
ORDER BY o.evaluation LIMIT %(limit)s;

-- add_tilt --
-- A finding about a moderator with its record, in one statement; no row where one about the same stands already.
WITH new AS (
    INSERT INTO moderator_tilt (finding, tenant, record, alias, model, prompt, pin, task_type, aspect)
    SELECT %(finding)s, %(tenant)s, %(debate)s, %(alias)s, %(model)s, %(prompt)s, %(pin)s, %(task_type)s, %(aspect)s
    WHERE NOT EXISTS (
        SELECT FROM moderator_tilt t
        WHERE t.tenant = %(tenant)s AND t.alias = %(alias)s AND t.model = %(model)s AND t.prompt = %(prompt)s
          AND t.pin = %(pin)s AND t.aspect = %(aspect)s AND t.task_type IS NOT DISTINCT FROM %(task_type)s::text
          AND NOT EXISTS (SELECT FROM moderator_resolution r WHERE r.tenant = t.tenant AND r.finding = t.finding))
    RETURNING tenant, record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, tenant FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, tenant FROM new RETURNING debate;

-- resolve_tilt --
-- The resolution of a finding with its record, in one statement; no row where there is no such finding, or it is resolved.
WITH new AS (
    INSERT INTO moderator_resolution (finding, tenant, record)
    SELECT t.finding, t.tenant, %(debate)s FROM moderator_tilt t
    WHERE t.tenant = %(tenant)s AND t.finding = %(finding)s
    ON CONFLICT (finding) DO NOTHING RETURNING tenant, record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, tenant FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, tenant FROM new RETURNING debate;

-- tilts --
-- A tenant's findings about moderators, the newest first, with the records of their resolutions.
SELECT t.finding, t.alias, t.model, t.prompt, t.pin, t.task_type, t.aspect, t.recorded, r.resolved
FROM moderator_tilt t LEFT JOIN moderator_resolution r ON r.tenant = t.tenant AND r.finding = t.finding
WHERE t.tenant = %(tenant)s ORDER BY t.finding DESC;

-- standing_tilts --
-- Those that no one has resolved: a case that comes in is opened under them.
SELECT t.finding, t.alias, t.model, t.prompt, t.pin, t.task_type FROM moderator_tilt t
WHERE t.tenant = %(tenant)s
  AND NOT EXISTS (SELECT FROM moderator_resolution r WHERE r.tenant = t.tenant AND r.finding = t.finding)
ORDER BY t.finding;
