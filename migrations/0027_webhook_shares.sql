-- Webhooks: half of a tenant's endpoints and places stay for other subjects, and an attempt that is lost again waits.
--
-- `add_webhook` stays for the version before, which knows of no share of a subject.

-- Whether a tenant has fewer than `most` active endpoints, and its subject fewer than `most_own`. All that ask this of a tenant
-- go one after the other, so that it holds until the end of their transaction.
CREATE FUNCTION gainsay.webhook_room(tenant text, subject text, most integer, most_own integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SET search_path = gainsay, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gainsay webhooks of ' || $1, 0));
    RETURN (SELECT count(*) < $3 AND count(*) FILTER (WHERE w.subject = $2) < $4
            FROM gainsay.webhook w WHERE w.tenant = $1 AND w.disabled IS NULL);
END $$;

-- Adds an endpoint where there is room for it.
CREATE FUNCTION gainsay.add_webhook_if_room(
    webhook text, tenant text, subject text, reach text, url text, master text, most integer, most_own integer) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = gainsay, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF NOT gainsay.webhook_room($2, $3, $7, $8) THEN
        RETURN 'tooMany';
    END IF;
    INSERT INTO gainsay.webhook (id, tenant, subject, reach, url, master) VALUES ($1, $2, $3, $4, $5, $6);
    RETURN 'added';
END $$;

-- Messages for a process to send: the longest due of each endpoint, each tenant in its turn. An endpoint has at most
-- `per_endpoint` under way over all processes, and one while its last attempt has failed; a tenant has `per_tenant`, and the
-- endpoints that a subject has for its own cases half of these, so that one requester takes no other's places. What a
-- process had whose lease is over is sent again: whether it arrived is not known. The first time at once, then after the waits
-- of service/delivering/schedule.py, because there may be a message whose attempts always end so. The lock makes the counts
-- exact.
CREATE OR REPLACE FUNCTION gainsay.claim_deliveries(
    of_process text, lease_s float8, most integer, per_endpoint integer, per_tenant integer)
    RETURNS SETOF gainsay.webhook_delivery
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    this_moment timestamptz := clock_timestamp();
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('gainsay webhooks', 0)) THEN
        RETURN;
    END IF;
    WITH lost AS (
        UPDATE gainsay.webhook_delivery d
        SET state = 'waiting', process = NULL, lease_until = NULL, due = this_moment + make_interval(secs =>
            CASE WHEN d.attempts > 1 THEN least(3600, 5 * 2 ^ least(d.attempts - 1, 20)) * (0.5 + random() / 2) ELSE 0 END)
        WHERE d.state = 'sending' AND d.lease_until <= this_moment RETURNING d.seq, d.attempts, d.tenant, d.due
    )
    INSERT INTO gainsay.webhook_attempt (delivery, nth, tenant, outcome, reason, next_due)
    SELECT l.seq, l.attempts, l.tenant, 'lost',
           'the process that sent it has gone, so whether it arrived is not known', l.due
    FROM lost l ON CONFLICT DO NOTHING;
    -- What was under way when its endpoint was disabled, or waits for one whose subject was revoked, is sent to it no more.
    WITH over AS MATERIALIZED (
        SELECT x.seq FROM gainsay.webhook w
        LEFT JOIN gainsay.subject s ON s.id = w.subject
        CROSS JOIN LATERAL (
            SELECT d.seq FROM gainsay.webhook_delivery d WHERE d.webhook = w.id AND d.state = 'waiting'
            ORDER BY d.due, d.seq LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED
        ) x
        WHERE w.disabled IS NOT NULL OR s.revoked IS NOT NULL
    )
    UPDATE gainsay.webhook_delivery d SET state = 'stopped', finished = this_moment FROM over o WHERE d.seq = o.seq;
    RETURN QUERY
    WITH busy AS MATERIALIZED (
        SELECT d.webhook, w.tenant, w.subject, w.reach, count(*) AS places
        FROM gainsay.webhook_delivery d JOIN gainsay.webhook w ON w.id = d.webhook
        WHERE d.state = 'sending' GROUP BY d.webhook, w.tenant, w.subject, w.reach
    ), due AS MATERIALIZED (
        SELECT x.seq, x.due, x.nth, w.tenant, w.subject, w.reach,
               row_number() OVER (PARTITION BY w.tenant, w.subject, w.reach ORDER BY x.nth, x.due, x.seq) AS own
        FROM gainsay.webhook w
        LEFT JOIN gainsay.subject s ON s.id = w.subject
        LEFT JOIN busy b ON b.webhook = w.id
        CROSS JOIN LATERAL (
            SELECT d.seq, d.due, row_number() OVER (ORDER BY d.due, d.seq) AS nth FROM gainsay.webhook_delivery d
            WHERE d.webhook = w.id AND d.state = 'waiting' AND d.due <= this_moment ORDER BY d.due, d.seq
            LIMIT greatest(0, CASE WHEN w.failures > 0 THEN 1 ELSE per_endpoint END - coalesce(b.places, 0))
        ) x
        WHERE w.disabled IS NULL AND s.revoked IS NULL
    ), allowed AS MATERIALIZED (
        SELECT due.*, row_number() OVER (PARTITION BY due.tenant ORDER BY due.nth, due.due, due.seq) AS turn
        FROM due
        WHERE due.reach = 'tenant' OR due.own <= greatest(1, per_tenant / 2) - (
            SELECT coalesce(sum(b.places), 0) FROM busy b
            WHERE b.tenant = due.tenant AND b.subject = due.subject AND b.reach = 'own')
    ), chosen AS MATERIALIZED (
        SELECT a.seq FROM allowed a
        WHERE a.turn <= per_tenant - (SELECT coalesce(sum(b.places), 0) FROM busy b WHERE b.tenant = a.tenant)
        ORDER BY a.turn, a.due, a.seq LIMIT most
    ), locked AS MATERIALIZED (
        SELECT d.seq FROM gainsay.webhook_delivery d JOIN chosen USING (seq) WHERE d.state = 'waiting'
        FOR NO KEY UPDATE OF d SKIP LOCKED
    )
    UPDATE gainsay.webhook_delivery d
    SET state = 'sending', process = of_process, attempts = d.attempts + 1,
        lease_until = this_moment + make_interval(secs => lease_s)
    FROM locked l WHERE d.seq = l.seq RETURNING d.*;
END $$;

GRANT EXECUTE ON FUNCTION
    gainsay.webhook_room(text, text, integer, integer),
    gainsay.add_webhook_if_room(text, text, text, text, text, text, integer, integer)
    TO gainsay_writer;
