-- The list of debates, composed by finding.py from these parts. `{is name}` is a comparison with one value or with several
-- (`= %(name)s`, `= ANY (%(name)s)`), because only a comparison with one value lets an index give the order as well.

-- held --
-- Debates with a record that no checkpoint covers: if they have ended, their end is not provable yet. PostgreSQL takes a
-- range with an upper bound for a small one, as it is. Both bounds are made beforehand: behind row security a comparison with a
-- sum or a COALESCE uses no index.
SELECT p.debate FROM pending p WHERE %(held)s
UNION
SELECT l.debate FROM log_epoch g
CROSS JOIN LATERAL (SELECT coalesce(max(c.size), 0) AS size, coalesce(max(c.size), 0) + (1::bigint << 62) AS far
                    FROM checkpoint c WHERE c.log = g.log) AS c
JOIN leaf l ON l.log = g.log AND l.idx >= c.size AND l.idx < c.far
WHERE %(held)s AND g.tenant = %(tenant)s

-- provable --
-- The end of a debate is provable. PostgreSQL would take a NOT IN for the half of all rows, and sort them in the place of
-- reading them in the order of an index.
(CASE WHEN f.debate IN (SELECT debate FROM held) THEN 1 ELSE 0 END) <> 1

-- heads --
-- Every debate, also one that was not projected.
FROM debate_head f WHERE f.tenant = %(tenant)s

-- rows --
FROM found_by f WHERE f.tenant = %(tenant)s

-- worded_rows --
FROM found_by f JOIN case_words w ON w.tenant = f.tenant AND w.debate = f.debate WHERE f.tenant = %(tenant)s

-- rows_of_few --
-- Where few cases have the words, they have been read before.
FROM found_by f JOIN worded w ON w.debate = f.debate WHERE f.tenant = %(tenant)s

-- own --
-- Debates that the caller submitted. The head row says so.
f.debate IN (SELECT o.debate FROM debate_head o WHERE o.tenant = %(tenant)s AND o.subject = %(subject)s)

-- assigned --
-- Debates that are assigned to the caller.
f.debate IN (SELECT a.debate FROM assignment a WHERE a.tenant = %(tenant)s AND a.subject = %(subject)s)

-- own_or_assigned --
(f.debate IN (SELECT o.debate FROM debate_head o WHERE o.tenant = %(tenant)s AND o.subject = %(subject)s)
 OR f.debate IN (SELECT a.debate FROM assignment a WHERE a.tenant = %(tenant)s AND a.subject = %(subject)s))

-- none --
false

-- cases --
FROM case_words w WHERE w.tenant = %(tenant)s

-- searched --
-- Whether a text has words that are looked for: it may hold stop words alone.
coalesce(numnode(websearch_to_tsquery('pg_catalog.english', %(words)s::text)) > 0, true)

-- since --
f.debate >= %(since)s

-- until --
f.debate < %(until)s

-- task_type --
left(f.task_type, 120) {is task_type_begins} AND f.task_type {is task_type}

-- use_case --
left(f.use_case, 120) {is use_case_begins} AND f.use_case {is use_case}

-- format --
f.format {is format}

-- materiality --
f.materiality {is materiality}

-- purpose_decision --
f.evaluation IS NULL

-- purpose_evaluation --
f.evaluation IS NOT NULL

-- model --
EXISTS (SELECT FROM rests_on r WHERE r.tenant = f.tenant AND r.what = 'model' AND r.value {is model} AND r.debate = f.debate)

-- metadata --
w.metadata @> %(metadata)s::text[]

-- words --
w.words @@ websearch_to_tsquery('pg_catalog.english', %(words)s)

-- outcome --
f.outcome {is outcome}

-- confidence --
f.confidence {is confidence}

-- human_review --
f.human_review = %(human_review)s

-- flag --
f.flags && %(flag)s::text[]

-- status --
f.status {is status}

-- status_or_open --
-- Also of debates that have no provable end: one that is held counts as running, and as failed where its log was left.
(f.status = ANY (%(status)s) AND f.debate NOT IN (SELECT debate FROM held)
 OR f.status IS NULL AND (SELECT CASE WHEN %(held)s THEN listed_state(h.debate, h.log, h.next_n - 1, h.state) ELSE h.state END
                          FROM debate_head h WHERE h.debate = f.debate AND h.tenant = f.tenant) = ANY (%(status)s)
 OR f.debate = ANY (ARRAY(SELECT debate FROM held)) AND f.status IS NOT NULL
    AND (SELECT listed_state(h.debate, h.log, h.next_n - 1, h.state)
         FROM debate_head h WHERE (h.debate, h.tenant) = (f.debate, f.tenant)) = ANY (%(status)s))

-- spent_known --
f.spent IS NOT NULL AND (CASE WHEN f.debate IN (SELECT debate FROM held) THEN 1 ELSE 0 END) <> 1

-- spent_unknown --
(f.spent IS NULL OR f.debate = ANY (ARRAY(SELECT debate FROM held)))

-- below --
f.debate < %(after)s

-- above --
f.debate > %(after)s

-- downside_below --
(f.downside, f.debate) < (%(after_key)s::numeric, %(after)s)

-- downside_above --
(f.downside, f.debate) > (%(after_key)s::numeric, %(after)s)

-- spent_below --
(f.spent, f.debate) < (%(after_key)s::bigint, %(after)s)

-- spent_above --
(f.spent, f.debate) > (%(after_key)s::bigint, %(after)s)

-- shown --
-- What the page shows of each debate, beside its place in the order.
SELECT p.debate, p.key::text AS key, h.tenant, h.task_type, h.format, h.state,
       listed_state(h.debate, h.log, h.next_n - 1, h.state) AS shown,
       listed_state(h.debate, h.log, h.next_n - 1, h.state) <> told_state(h.debate, h.log, h.next_n - 1, h.state) AS lost, e.leaf, c.salt, c.body, d.body AS decision, f.flags
FROM page p JOIN debate_head h ON h.debate = p.debate AND h.tenant = %(tenant)s
LEFT JOIN entry e ON e.debate = p.debate AND e.n = 0
LEFT JOIN payload c ON c.debate = p.debate AND c.n = 0
LEFT JOIN decision d ON d.debate = p.debate AND d.tenant = h.tenant
LEFT JOIN found_by f ON f.debate = p.debate AND f.tenant = h.tenant

-- counted_of --
-- What is counted, with the columns of the facets behind it.
SELECT f.debate, f.debate IN (SELECT debate FROM held) AS is_held

-- counted_status --
-- The status as the list shows it.
CASE WHEN c.status IS NOT NULL AND NOT c.is_held THEN c.status
     ELSE (SELECT CASE WHEN %(held)s THEN listed_state(h.debate, h.log, h.next_n - 1, h.state) ELSE h.state END
           FROM debate_head h WHERE h.debate = c.debate AND h.tenant = %(tenant)s) END AS status

-- counted_outcome --
-- The facts of an end count once that end is provable.
CASE WHEN NOT c.is_held THEN c.outcome END AS outcome

-- counted_confidence --
CASE WHEN NOT c.is_held THEN c.confidence END AS confidence

-- counted_human_review --
CASE WHEN NOT c.is_held THEN c.human_review END AS human_review

-- counted_flags --
CASE WHEN NOT c.is_held THEN c.flags END AS flags
