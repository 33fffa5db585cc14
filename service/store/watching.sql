-- Statements for those who watch the service: the last probe, and what a usual number of explicit uncertainties is.

-- last_probe --
-- The newest debate of the prober that is over, or should be by now: whether it was good, and how long it took or has taken.
-- Beside it when the last good one ended. A debate is over when its end is provable. `since` bounds how far back is looked.
SELECT newest.good, newest.seconds, best.ended
FROM (
    SELECT told_state(h.debate, h.log, h.next_n - 1, h.state) = 'completed' AND h.excess = 0 AND h.held = 0 AS good,
           extract(epoch FROM coalesce((convert_from(e.leaf, 'UTF8')::jsonb ->> 'occurred')::timestamptz, clock_timestamp())
                              - h.created)::float8 AS seconds
    FROM debate_head h
    LEFT JOIN entry e ON e.debate = h.debate AND e.n = h.next_n - 1 AND h.state NOT IN ('queued', 'running')
    WHERE h.tenant = %(tenant)s AND h.debate > %(since)s
      AND (told_state(h.debate, h.log, h.next_n - 1, h.state) NOT IN ('queued', 'running')
           OR h.created < clock_timestamp() - make_interval(secs => %(due)s::float8))
    ORDER BY h.debate DESC LIMIT 1) AS newest
LEFT JOIN (
    SELECT extract(epoch FROM (convert_from(e.leaf, 'UTF8')::jsonb ->> 'occurred')::timestamptz)::float8 AS ended
    FROM debate_head h JOIN entry e ON e.debate = h.debate AND e.n = h.next_n - 1
    WHERE h.tenant = %(tenant)s AND h.debate > %(since)s AND h.state = 'completed' AND h.excess = 0
      AND told_state(h.debate, h.log, h.next_n - 1, h.state) = 'completed'
    ORDER BY h.debate DESC LIMIT 1) AS best ON true;

-- ended_within --
-- Debates of a task type that began within a time and are over, of every tenant, in steps.
SELECT debate, tenant FROM debate_head
WHERE task_type = %(task_type)s AND state NOT IN ('declined', 'queued', 'running')
  AND debate > %(after)s AND debate < %(before)s
ORDER BY debate LIMIT %(limit)s;

-- keep_baseline --
-- Add a baseline; it is in force from then on.
INSERT INTO uncertainty_baseline (task_type, recorded_by, since, until, debates, uncertainties)
VALUES (%(task_type)s, %(by)s, to_timestamp(%(since)s::float8), to_timestamp(%(until)s::float8), %(debates)s,
        %(uncertainties)s)
RETURNING recorded;

-- baselines --
-- Every baseline, the one in force first for each task type.
SELECT task_type, recorded, recorded_by, since, until, debates, uncertainties
FROM uncertainty_baseline ORDER BY task_type, recorded DESC;
