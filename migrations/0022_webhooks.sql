-- Webhooks: endpoints of callers, the outbox of what each of them is to be sent, and the log of attempts.
--
-- All of it is working state and no evidence: who may be sent what is recorded as a change of access in the tenant's log.
-- No secret stands here: each is derived from a key of the deployment by tenant, endpoint and generation.

-- `reach` is whose cases the endpoint is sent the ends of: those that its subject submitted, or the tenant's. `master` names
-- the key from which its secret is derived. Until `previous_until` the secret before it signs beside it. `failures` counts
-- attempts that failed since the last that was taken.
CREATE TABLE gainsay.webhook (
    id                  text PRIMARY KEY CHECK (id ~ '^whk_[0-9a-hjkmnp-tv-z]{26}$'),
    tenant              text NOT NULL,
    subject             text NOT NULL,
    reach               text NOT NULL CHECK (reach IN ('own', 'tenant')),
    url                 text NOT NULL CHECK (length(url) <= 2000),
    created             timestamptz NOT NULL DEFAULT clock_timestamp(),
    generation          integer NOT NULL DEFAULT 1 CHECK (generation > 0),
    master              text NOT NULL,
    previous_generation integer,
    previous_master     text,
    previous_until      timestamptz,
    disabled            timestamptz,
    disabled_why        text,
    failures            integer NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX webhook_tenant ON gainsay.webhook (tenant, id);
-- What the end of a debate looks up; most tenants have no row in it.
CREATE INDEX webhook_active ON gainsay.webhook (tenant) WHERE disabled IS NULL;

-- A message to one endpoint: `id` is its webhook-id in every attempt. A message about a debate is `recorded` in the
-- transaction of its end, and `waiting` once a checkpoint covers the last record (`idx`, `size` and `root` are of that
-- checkpoint, and never change). It is `sending` while a process has it, until `lease_until` at most. `due` is when it is
-- sent next, `since` when the present round of attempts began.
CREATE TABLE gainsay.webhook_delivery (
    seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          text NOT NULL UNIQUE CHECK (id ~ '^msg_[0-9a-hjkmnp-tv-z]{26}$'),
    tenant      text NOT NULL,
    webhook     text NOT NULL REFERENCES gainsay.webhook,
    debate      uuid,
    n           integer,
    status      text,
    last_record bytea,
    happened    timestamptz NOT NULL DEFAULT clock_timestamp(),
    log         text,
    idx         bigint,
    size        bigint,
    root        bytea,
    state       text NOT NULL
                CHECK (state IN ('recorded', 'waiting', 'sending', 'delivered', 'expired', 'stopped')),
    due         timestamptz NOT NULL DEFAULT clock_timestamp(),
    since       timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts    integer NOT NULL DEFAULT 0,
    process     text,
    lease_until timestamptz,
    finished    timestamptz,
    UNIQUE (webhook, debate),
    CHECK ((debate IS NULL) = (n IS NULL) AND (debate IS NULL) = (status IS NULL)),
    CHECK (state = 'recorded' OR debate IS NULL OR log IS NOT NULL OR state = 'stopped')
) WITH (fillfactor = 70);
CREATE INDEX webhook_delivery_recorded ON gainsay.webhook_delivery (seq) WHERE state = 'recorded';
CREATE INDEX webhook_delivery_due ON gainsay.webhook_delivery (webhook, due, seq) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_sending ON gainsay.webhook_delivery (webhook) WHERE state = 'sending';
CREATE INDEX webhook_delivery_log ON gainsay.webhook_delivery (webhook, seq);
CREATE INDEX webhook_delivery_finished ON gainsay.webhook_delivery (finished) WHERE finished IS NOT NULL;

-- One attempt and how it went: added, never changed, and deleted with its message (`forget_deliveries`). `asked` is the
-- address that was connected to, `http_status` what was answered, `next_due` when it is sent again.
CREATE TABLE gainsay.webhook_attempt (
    delivery    bigint NOT NULL REFERENCES gainsay.webhook_delivery ON DELETE CASCADE,
    nth         integer NOT NULL CHECK (nth > 0),
    tenant      text NOT NULL,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    asked       text,
    http_status integer,
    took_ms     integer CHECK (took_ms >= 0),
    outcome     text NOT NULL CHECK (outcome IN ('delivered', 'failed', 'refused', 'gone', 'lost')),
    reason      text NOT NULL DEFAULT '',
    next_due    timestamptz,
    PRIMARY KEY (delivery, nth)
);
CREATE FUNCTION gainsay.refuse_edit() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'an attempt in %.% stays as it was recorded', TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER refuse_edit BEFORE UPDATE ON gainsay.webhook_attempt
    FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_edit();

-- An opaque id: a prefix and 128 random bits in Crockford's base32, as `service.identity.ids` writes them.
CREATE FUNCTION gainsay.new_opaque_id(prefix text) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bits bit(130) := B'00' || ('x' || right(
        sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))::text, 32))::bit(128);
BEGIN
    RETURN prefix || (
        SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 5 * i + 1 FOR 5)::int + 1, 1), ''
                          ORDER BY i)
        FROM generate_series(0, 25) AS i);
END $$;

-- The end of a debate goes into the outbox of each endpoint that is to be sent it, in the transaction that records the end:
-- there is no end that is forgotten, and no message of an end that is not recorded. It runs as the owner, because the login
-- that serves callers records ends too (a declined case, an abort) and sees no endpoint.
CREATE FUNCTION gainsay.notify_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- `created` keeps a head row that is written again from its records from being sent to later endpoints.
    INSERT INTO gainsay.webhook_delivery (id, tenant, webhook, debate, n, status, last_record, state)
    SELECT gainsay.new_opaque_id('msg_'), NEW.tenant, w.id, NEW.debate, NEW.next_n - 1, NEW.state, NEW.last_hash, 'recorded'
    FROM gainsay.webhook w
    WHERE w.tenant = NEW.tenant AND w.disabled IS NULL AND (w.reach = 'tenant' OR w.subject = NEW.subject)
      AND (TG_OP = 'UPDATE' OR w.created <= NEW.created)
      AND NOT EXISTS (SELECT FROM gainsay.subject s WHERE s.id = w.subject AND s.revoked IS NOT NULL)
    ON CONFLICT (webhook, debate) DO NOTHING;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION gainsay.notify_end() FROM PUBLIC;
CREATE TRIGGER notify_end AFTER UPDATE OF state ON gainsay.debate_head
    FOR EACH ROW WHEN (OLD.state IN ('queued', 'running') AND NEW.state NOT IN ('queued', 'running'))
    EXECUTE FUNCTION gainsay.notify_end();
CREATE TRIGGER notify_declined AFTER INSERT ON gainsay.debate_head
    FOR EACH ROW WHEN (NEW.state = 'declined')
    EXECUTE FUNCTION gainsay.notify_end();

-- Adds an endpoint unless the tenant has `most` active ones, in one order with all others of the tenant.
CREATE FUNCTION gainsay.add_webhook(
    webhook text, tenant text, subject text, reach text, url text, master text, most integer) RETURNS text
    LANGUAGE plpgsql VOLATILE SET search_path = gainsay, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gainsay webhooks of ' || $2, 0));
    IF (SELECT count(*) FROM gainsay.webhook w WHERE w.tenant = $2 AND w.disabled IS NULL) >= $7 THEN
        RETURN 'tooMany';
    END IF;
    INSERT INTO gainsay.webhook (id, tenant, subject, reach, url, master) VALUES ($1, $2, $3, $4, $5, $6);
    RETURN 'added';
END $$;

-- Messages for a process to send: the longest due of each endpoint, each tenant in its turn. An endpoint has at most
-- `per_endpoint` under way over all processes, and one while its last attempt has failed; a tenant has `per_tenant`. What a
-- process had whose lease is over is sent again: whether it arrived is not known. The lock makes the counts exact.
CREATE FUNCTION gainsay.claim_deliveries(
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
        UPDATE gainsay.webhook_delivery d SET state = 'waiting', due = this_moment, process = NULL, lease_until = NULL
        WHERE d.state = 'sending' AND d.lease_until <= this_moment RETURNING d.seq, d.attempts, d.tenant
    )
    INSERT INTO gainsay.webhook_attempt (delivery, nth, tenant, outcome, reason, next_due)
    SELECT l.seq, l.attempts, l.tenant, 'lost',
           'the process that sent it has gone, so whether it arrived is not known', this_moment
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
        SELECT d.webhook, d.tenant, count(*) AS places FROM gainsay.webhook_delivery d
        WHERE d.state = 'sending' GROUP BY d.webhook, d.tenant
    ), due AS MATERIALIZED (
        SELECT x.seq, x.due, w.tenant, row_number() OVER (PARTITION BY w.tenant ORDER BY x.nth, x.due, x.seq) AS turn
        FROM gainsay.webhook w
        LEFT JOIN gainsay.subject s ON s.id = w.subject
        LEFT JOIN busy b ON b.webhook = w.id
        CROSS JOIN LATERAL (
            SELECT d.seq, d.due, row_number() OVER (ORDER BY d.due, d.seq) AS nth FROM gainsay.webhook_delivery d
            WHERE d.webhook = w.id AND d.state = 'waiting' AND d.due <= this_moment ORDER BY d.due, d.seq
            LIMIT greatest(0, CASE WHEN w.failures > 0 THEN 1 ELSE per_endpoint END - coalesce(b.places, 0))
        ) x
        WHERE w.disabled IS NULL AND s.revoked IS NULL
    ), chosen AS MATERIALIZED (
        SELECT due.seq FROM due
        WHERE due.turn <= per_tenant - (SELECT coalesce(sum(b.places), 0) FROM busy b WHERE b.tenant = due.tenant)
        ORDER BY due.turn, due.due, due.seq LIMIT most
    ), locked AS MATERIALIZED (
        SELECT d.seq FROM gainsay.webhook_delivery d JOIN chosen USING (seq) WHERE d.state = 'waiting'
        FOR NO KEY UPDATE OF d SKIP LOCKED
    )
    UPDATE gainsay.webhook_delivery d
    SET state = 'sending', process = of_process, attempts = d.attempts + 1,
        lease_until = this_moment + make_interval(secs => lease_s)
    FROM locked l WHERE d.seq = l.seq RETURNING d.*;
END $$;

-- Messages that ended more than so many days ago are forgotten with their attempts, some at a time.
CREATE FUNCTION gainsay.forget_deliveries(days integer, most integer) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH gone AS (
        DELETE FROM gainsay.webhook_delivery WHERE seq IN (
            SELECT d.seq FROM gainsay.webhook_delivery d
            WHERE d.finished < clock_timestamp() - make_interval(days => greatest(forget_deliveries.days, 7))
              AND d.state IN ('delivered', 'expired', 'stopped')
            ORDER BY d.finished LIMIT forget_deliveries.most)
        RETURNING seq
    )
    SELECT count(*) FROM gone;
END;
REVOKE EXECUTE ON FUNCTION gainsay.forget_deliveries(integer, integer) FROM PUBLIC;

-- The login that serves callers has nothing here: endpoints are managed by the service's own, as registers are.
DO $$
DECLARE
    what text;
BEGIN
    FOREACH what IN ARRAY ARRAY['webhook', 'webhook_delivery', 'webhook_attempt'] LOOP
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ROW LEVEL SECURITY', what);
        EXECUTE format('CREATE POLICY every_tenant ON gainsay.%I TO gainsay_writer, gainsay_auditor
                        USING (true) WITH CHECK (true)', what);
    END LOOP;
END $$;
GRANT SELECT, INSERT ON gainsay.webhook, gainsay.webhook_delivery, gainsay.webhook_attempt TO gainsay_writer;
GRANT UPDATE (generation, master, previous_generation, previous_master, previous_until, disabled, disabled_why, failures)
    ON gainsay.webhook TO gainsay_writer;
GRANT UPDATE (log, idx, size, root, state, due, since, attempts, process, lease_until, finished)
    ON gainsay.webhook_delivery TO gainsay_writer;
GRANT SELECT ON gainsay.webhook, gainsay.webhook_delivery, gainsay.webhook_attempt TO gainsay_auditor;
GRANT EXECUTE ON FUNCTION
    gainsay.new_opaque_id(text),
    gainsay.add_webhook(text, text, text, text, text, text, integer),
    gainsay.claim_deliveries(text, float8, integer, integer, integer),
    gainsay.forget_deliveries(integer, integer)
    TO gainsay_writer;
