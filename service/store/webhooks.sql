-- Queries of webhooks (migrations/0022_webhooks.sql): endpoints by the tenant and, for a caller that has only its own, the
-- subject; and the queue of messages, which one process serves for all tenants. `home` is the tenant in whose log a change is
-- recorded.

-- add_webhook --
-- A new endpoint with its record, or what prevented both.
WITH new AS MATERIALIZED (
    SELECT add_webhook_if_room(%(webhook)s, %(tenant)s, %(subject)s, %(reach)s, %(url)s, %(master)s, %(most)s, %(most_own)s) AS outcome
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new WHERE outcome = 'added'
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new WHERE outcome = 'added'
), staged AS (
    INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new WHERE outcome = 'added'
)
SELECT outcome FROM new;

-- rotate_webhook --
-- A new generation of an endpoint's secret with its record; the one before signs beside it for so many seconds, and so does
-- the one before that, if it still signs: the answer that had the one between may have been lost. No row if it is not
-- there, or has another generation by now.
WITH new AS (
    UPDATE webhook SET
        (previous_generation, previous_master) = (SELECT CASE WHEN goes_on THEN previous_generation ELSE generation END,
            CASE WHEN goes_on THEN previous_master ELSE webhook.master END
            FROM (SELECT coalesce(previous_until > clock_timestamp() AND previous_generation = generation - 1
                AND webhook.master IN (previous_master, %(master)s), false) AS goes_on) AS old),
        previous_until = clock_timestamp() + make_interval(secs => %(keep_s)s::float8),
        generation = generation + 1, master = %(master)s
    WHERE id = %(webhook)s AND tenant = %(tenant)s AND generation = %(generation)s RETURNING id
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- disable_webhook --
-- Disable an endpoint with its record, once: what it was still to be sent is stopped.
WITH new AS (
    UPDATE webhook SET disabled = clock_timestamp(), disabled_why = %(why)s
    WHERE id = %(webhook)s AND tenant = %(tenant)s AND disabled IS NULL RETURNING id
), stopped AS (
    UPDATE webhook_delivery d SET state = 'stopped', finished = clock_timestamp()
    FROM new WHERE d.webhook = new.id AND d.state IN ('recorded', 'waiting')
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- enable_webhook --
-- Enable an endpoint again with its record, once, unless its tenant or its subject has as many active ones as it may.
WITH room AS MATERIALIZED (
    SELECT w.id, webhook_room(w.tenant, w.subject, %(most)s, %(most_own)s) AS free FROM webhook w
    WHERE w.id = %(webhook)s AND w.tenant = %(tenant)s AND w.disabled IS NOT NULL
), new AS (
    UPDATE webhook w SET disabled = NULL, disabled_why = NULL, failures = 0
    FROM room r WHERE r.free AND w.id = r.id AND w.disabled IS NOT NULL RETURNING w.id
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- webhooks_of --
-- Endpoints of a tenant, or of one subject of it, in the order of their ids, from one on.
SELECT w.id, w.tenant, w.subject, w.reach, w.url, w.created, w.generation, w.master, w.previous_generation,
       w.previous_master, w.previous_until, w.disabled, w.disabled_why, w.failures,
       coalesce(w.previous_until > clock_timestamp(), false) AS both, s.revoked IS NOT NULL AS revoked
FROM webhook w LEFT JOIN subject s ON s.id = w.subject
WHERE w.tenant = %(tenant)s AND (%(subject)s::text IS NULL OR w.subject = %(subject)s)
  AND (%(only)s::text IS NULL OR w.id = %(only)s) AND w.id > %(after)s
ORDER BY w.id LIMIT %(limit)s;

-- webhook_sent --
-- The endpoint of a message that is being sent, as it is now; no row if it sends no more.
SELECT w.id, w.tenant, w.subject, w.reach, w.url, w.created, w.generation, w.master, w.previous_generation,
       w.previous_master, w.previous_until, w.disabled, w.disabled_why, w.failures,
       coalesce(w.previous_until > clock_timestamp(), false) AS both, s.revoked IS NOT NULL AS revoked,
       extract(epoch FROM clock_timestamp())::float8 AS now
FROM webhook w LEFT JOIN subject s ON s.id = w.subject
WHERE w.id = %(webhook)s AND w.tenant = %(tenant)s AND w.disabled IS NULL AND s.revoked IS NULL;

-- test_webhook --
-- A test message for an endpoint that is not disabled.
INSERT INTO webhook_delivery (id, tenant, webhook, state)
SELECT new_opaque_id('msg_'), w.tenant, w.id, 'waiting' FROM webhook w
WHERE w.id = %(webhook)s AND w.tenant = %(tenant)s AND w.disabled IS NULL
RETURNING id, seq;

-- redeliver --
-- Send a message again that has ended, or that waits: at once, with the same id, and with the whole time for its attempts.
UPDATE webhook_delivery d
SET state = CASE WHEN d.debate IS NULL OR d.log IS NOT NULL THEN 'waiting' ELSE 'recorded' END,
    due = clock_timestamp(), since = clock_timestamp(), finished = NULL
FROM webhook w
WHERE d.id = %(delivery)s AND d.tenant = %(tenant)s AND d.webhook = %(webhook)s AND w.id = d.webhook
  AND w.disabled IS NULL AND d.state IN ('delivered', 'expired', 'stopped', 'waiting')
RETURNING d.id, d.seq;

-- deliveries_of --
-- Messages of an endpoint, the newest first, before one; each with its last attempts.
SELECT d.seq, d.id, d.debate::text AS debate, d.status, d.happened, d.state, d.attempts, d.finished,
       CASE WHEN d.state = 'waiting' THEN d.due END AS due,
       (SELECT coalesce(jsonb_agg(to_jsonb(a) - 'delivery' - 'tenant' ORDER BY a.nth DESC), '[]') FROM (
            SELECT x.* FROM webhook_attempt x WHERE x.delivery = d.seq ORDER BY x.nth DESC LIMIT %(shown)s) a) AS log
FROM webhook_delivery d
WHERE d.webhook = %(webhook)s AND d.tenant = %(tenant)s AND (%(only)s::text IS NULL OR d.id = %(only)s)
  AND (%(before)s::text IS NULL
       OR d.seq < (SELECT b.seq FROM webhook_delivery b WHERE b.id = %(before)s AND b.webhook = %(webhook)s))
ORDER BY d.seq DESC LIMIT %(limit)s;

-- release_proven --
-- What a signed checkpoint covers by now may be sent, with its place in the log. The first checkpoint that covers a record
-- never changes, so neither does the message. A log without a sequencer keeps no other log's messages waiting.
WITH proven AS MATERIALIZED (
    SELECT d.seq, l.log, l.idx, c.size, c.root
    FROM webhook_delivery d
    JOIN leaf l ON l.debate = d.debate AND l.n = d.n
    CROSS JOIN LATERAL (SELECT k.size, k.root FROM checkpoint k WHERE k.log = l.log AND k.size > l.idx
                        ORDER BY k.size LIMIT 1) c
    WHERE d.state = 'recorded' ORDER BY d.seq LIMIT %(most)s
)
UPDATE webhook_delivery d
SET state = 'waiting', log = p.log, idx = p.idx, size = p.size, root = p.root, due = clock_timestamp(),
    since = clock_timestamp()
FROM proven p WHERE d.seq = p.seq AND d.state = 'recorded' RETURNING d.seq;

-- claim_deliveries --
-- Messages that are due, for this process to send, fair between tenants. `lost` are those of whose last attempt, beside the
-- first, nothing is known; `arrival` is how the case came, with its trace.
SELECT d.seq, d.id, d.tenant, d.webhook, d.debate::text AS debate, d.n, d.status, d.last_record, d.happened, d.log, d.idx,
       d.size, d.root, d.attempts, extract(epoch FROM clock_timestamp() - d.since)::float8 AS age_s,
       d.attempts > 2 AND EXISTS (SELECT FROM webhook_attempt a WHERE a.delivery = d.seq AND a.nth = d.attempts - 1
                                  AND a.outcome = 'lost') AS lost,
       (SELECT convert_from(p.body, 'UTF8')::jsonb -> 'arrival' FROM payload p
        WHERE p.debate = d.debate AND p.n = 0) AS arrival
FROM claim_deliveries(%(process)s, %(lease_s)s::float8, %(most)s, %(per_endpoint)s, %(per_tenant)s) d;

-- end_attempt --
-- How an attempt went: what follows for the message, unless another process has it by now, and for its endpoint.
WITH mine AS MATERIALIZED (
    SELECT d.seq, d.webhook, d.tenant FROM webhook_delivery d
    WHERE d.seq = %(seq)s AND d.tenant = %(tenant)s AND d.state = 'sending' AND d.process = %(process)s
      AND d.attempts = %(nth)s
    FOR NO KEY UPDATE
), noted AS (
    INSERT INTO webhook_attempt (delivery, nth, tenant, asked, http_status, took_ms, outcome, reason, next_due)
    SELECT m.seq, %(nth)s, m.tenant, %(asked)s, %(http_status)s::integer, %(took_ms)s::integer, %(outcome)s, %(reason)s,
           CASE WHEN %(state)s = 'waiting' THEN clock_timestamp() + make_interval(secs => %(wait_s)s::float8) END
    FROM mine m ON CONFLICT DO NOTHING
), counted AS (
    UPDATE webhook w SET failures = CASE WHEN %(outcome)s = 'delivered' THEN 0 ELSE w.failures + 1 END
    FROM mine m WHERE w.id = m.webhook AND (w.failures > 0 OR %(outcome)s <> 'delivered')
)
UPDATE webhook_delivery d
SET state = %(state)s, process = NULL, lease_until = NULL,
    due = clock_timestamp() + make_interval(secs => %(wait_s)s::float8),
    finished = CASE WHEN %(state)s = 'waiting' THEN NULL ELSE clock_timestamp() END
FROM mine m WHERE d.seq = m.seq RETURNING d.seq;

-- release_claimed --
-- Messages that this process has claimed and sends no more, because it stops: others send them at once.
WITH released AS (
    UPDATE webhook_delivery SET state = 'waiting', due = clock_timestamp(), process = NULL, lease_until = NULL
    WHERE state = 'sending' AND process = %(process)s RETURNING seq, attempts, tenant, due
), noted AS (
    INSERT INTO webhook_attempt (delivery, nth, tenant, outcome, reason, next_due)
    SELECT r.seq, r.attempts, r.tenant, 'lost',
           'the process that sent it was stopped, so whether it arrived is not known', r.due
    FROM released r ON CONFLICT DO NOTHING
)
SELECT seq FROM released;

-- webhook_backlog --
-- How many messages wait for a checkpoint or to be sent, and how long the one that is due longest has been. An end that can
-- never be proven, in a log that was left after an incident, is sent to nobody and waits for nothing.
SELECT (SELECT count(*) FROM webhook_delivery d WHERE d.state = 'recorded' AND NOT EXISTS (
            SELECT FROM debate_head h JOIN ({left_logs}) AS l ON l.log = h.log
            WHERE h.debate = d.debate AND NOT EXISTS (
                SELECT FROM leaf f WHERE f.debate = d.debate AND f.n = d.n
                AND f.idx < (SELECT max(c.size) FROM checkpoint c WHERE c.log = h.log)))) AS recorded,
       (SELECT count(*) FROM webhook_delivery WHERE state = 'waiting') AS waiting,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(due)) FROM webhook_delivery
                 WHERE state = 'waiting' AND due < clock_timestamp()), 0)::float8 AS late_s;

-- forget_deliveries --
-- Forget messages that ended long ago, with their attempts.
SELECT forget_deliveries(%(days)s, %(most)s) AS gone;
