-- Queries of evaluations (migrations/0030_evaluations.sql, 0032_evaluation_callers.sql). The feeder serves every tenant: its claim names evaluations with
-- their tenants, and what follows asks by the tenant and the id of such an evaluation.

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

-- add_evaluation_entry --
-- The next entry with its record, in one statement; no row where another process has written the entry of this number.
WITH new AS (
    INSERT INTO evaluation_entry (tenant, evaluation, n, record)
    SELECT e.tenant, e.evaluation, %(n)s, %(debate)s FROM evaluation e
    WHERE e.evaluation = %(evaluation)s AND e.tenant = %(tenant)s AND e.ended IS NULL
    ON CONFLICT (tenant, evaluation, n) DO NOTHING RETURNING tenant, evaluation, record
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT record, 0, %(leaf)b, tenant FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT record, 0, %(salt)b, %(body)b, tenant FROM new
), moved AS (
    UPDATE evaluation e SET scored = e.scored OR %(scored)s, result = coalesce(%(result)b::bytea, e.result),
        ended = CASE WHEN %(ended)s THEN clock_timestamp() END, pause = NULL
    FROM new WHERE e.evaluation = new.evaluation AND (%(ended)s OR %(scored)s AND NOT e.scored)
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, record, 0, tenant FROM new RETURNING debate;

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

-- evaluation --
-- One evaluation of a tenant.
SELECT evaluation, name, subject, registered, ended, pause, result FROM evaluation
WHERE evaluation = %(evaluation)s AND tenant = %(tenant)s;

-- evaluations --
-- A tenant's evaluations below an id, the newest first.
SELECT evaluation, name, subject, registered, ended, pause, NULL::bytea AS result FROM evaluation
WHERE tenant = %(tenant)s AND (%(below)s::uuid IS NULL OR evaluation < %(below)s::uuid) ORDER BY evaluation DESC LIMIT %(limit)s;

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
-- Give an evaluation back after its turn, with what it waits for; it has no other one for a while.
UPDATE evaluation SET lease_until = clock_timestamp() + make_interval(secs => %(rest)s::float8), pause = %(pause)s
WHERE evaluation = %(evaluation)s AND feeder = %(feeder)s RETURNING evaluation;

-- evaluation_place --
-- Where the registration of an evaluation stands in its log.
SELECT l.log, l.idx FROM evaluation_entry v JOIN leaf l ON l.debate = v.record AND l.n = 0
WHERE v.tenant = %(tenant)s AND v.evaluation = %(evaluation)s AND v.n = 0;

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

-- ended_of --
-- Which of these debates of a tenant have ended.
SELECT debate FROM debate_head
WHERE tenant = %(tenant)s AND debate = ANY(%(debates)s::uuid[]) AND state NOT IN ('queued', 'running');

-- debates_within --
-- A tenant's debates that began within a time, of some task types or of all, in steps. A declined case is none.
SELECT debate, format, state FROM debate_head
WHERE tenant = %(tenant)s AND state <> 'declined' AND debate > %(after)s AND debate < %(before)s
  AND (%(task_types)s::text[] IS NULL OR task_type = ANY (%(task_types)s::text[]))
ORDER BY debate LIMIT %(limit)s;

-- has_debates --
-- Whether a tenant has a debate at all.
SELECT EXISTS (SELECT FROM debate_head WHERE tenant = %(tenant)s) AS found;

-- results_within --
-- A tenant's evaluations that were concluded within a time, with their results, in steps.
SELECT evaluation, name, subject, registered, ended, pause, result FROM evaluation
WHERE tenant = %(tenant)s AND result IS NOT NULL AND ended >= %(since)s AND ended < %(until)s AND evaluation > %(after)s
ORDER BY evaluation LIMIT %(limit)s;

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
