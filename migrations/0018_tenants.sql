-- Row security for the login that serves callers: it sees and adds rows of one tenant, the one that is set for its
-- transaction, and without one it sees nothing.
--
-- It guards against a clause that a statement forgets, and not against a program that holds the login: that one can set
-- another tenant. gainsay_writer, gainsay_sequencer and gainsay_auditor work over all tenants.

-- Before PostgreSQL looks for a deadlock (after a second), so that this file gives way, and no statement of the service.
SET LOCAL lock_timeout = '700ms';
LOCK TABLE debate_head, idempotency_key, entry, payload, document, context, charge, pending, rests_on, track_record,
    decision, found_by, case_words, issued_report, listener, damage, spend_limit, draw, log_epoch, batch, leaf, tile,
    checkpoint, cosignature, time_stamp, incident, log_check, row_check IN ACCESS EXCLUSIVE MODE;

GRANT USAGE ON SCHEMA gainsay, gainsay_tenant TO gainsay_api;
DO $$
BEGIN
    IF (SELECT datdba = 'gainsay_owner'::regrole FROM pg_database WHERE datname = current_database()) THEN
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO gainsay_api', current_database());
    END IF;
END $$;

-- Whose rows these are. Rows of before, and of the version before this one, have no tenant of their own: that of their
-- head row is meant, or that of their log. `subject` is the opaque id of the caller that submitted a case.
ALTER TABLE entry ADD COLUMN tenant text;
ALTER TABLE payload ADD COLUMN tenant text;
ALTER TABLE document ADD COLUMN tenant text;
ALTER TABLE context ADD COLUMN tenant text;
ALTER TABLE charge ADD COLUMN tenant text;
ALTER TABLE pending ADD COLUMN tenant text;
ALTER TABLE debate_head ADD COLUMN subject text;
-- A requester lists the cases that it submitted. No row of before is in it.
CREATE INDEX debate_head_own ON debate_head (tenant, subject, debate) WHERE subject IS NOT NULL;
GRANT INSERT (tenant) ON entry TO gainsay_writer;

-- The tenant of this transaction. A setting that was once set is empty afterwards, and not unset.
CREATE FUNCTION gainsay.current_tenant() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(pg_catalog.current_setting('gainsay.tenant', true), '') $$;

-- Whether a chain of records without a tenant of its own belongs to the tenant of this transaction.
CREATE FUNCTION gainsay.is_own_chain(of_debate uuid) RETURNS boolean
    LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM gainsay.debate_head h
                   WHERE h.debate = of_debate AND h.tenant = gainsay.current_tenant())
        OR EXISTS (SELECT FROM gainsay.leaf l JOIN gainsay.log_epoch g ON g.log = l.log
                   WHERE l.debate = of_debate AND g.tenant = gainsay.current_tenant())
$$;
GRANT EXECUTE ON FUNCTION gainsay.current_tenant(), gainsay.is_own_chain(uuid)
    TO gainsay_api, gainsay_writer, gainsay_sequencer, gainsay_auditor;

-- Whoever works over all tenants still does. A role without a policy sees no row, whatever it is granted by mistake.
DO $$
DECLARE
    what text;
BEGIN
    FOREACH what IN ARRAY ARRAY['debate_head', 'idempotency_key', 'entry', 'payload', 'document', 'context', 'charge',
        'pending', 'rests_on', 'track_record', 'decision', 'found_by', 'case_words', 'issued_report', 'listener',
        'damage', 'spend_limit', 'draw', 'log_epoch', 'batch', 'leaf', 'tile', 'checkpoint', 'cosignature',
        'time_stamp', 'incident', 'log_check', 'row_check']
    LOOP
        EXECUTE format('ALTER TABLE gainsay.%I ENABLE ROW LEVEL SECURITY', what);
        EXECUTE format('CREATE POLICY every_tenant ON gainsay.%I TO gainsay_writer, gainsay_sequencer, gainsay_auditor
                        USING (true) WITH CHECK (true)', what);
    END LOOP;
    FOREACH what IN ARRAY ARRAY['debate_head', 'idempotency_key', 'rests_on', 'track_record', 'decision', 'damage',
        'spend_limit', 'log_epoch']
    LOOP
        EXECUTE format('CREATE POLICY own_tenant ON gainsay.%I TO gainsay_api
                        USING (tenant = gainsay.current_tenant())', what);
    END LOOP;
    FOREACH what IN ARRAY ARRAY['entry', 'payload', 'document', 'context', 'charge'] LOOP
        EXECUTE format('CREATE POLICY own_tenant ON gainsay.%I TO gainsay_api
                        USING (tenant = gainsay.current_tenant() OR tenant IS NULL AND gainsay.is_own_chain(debate))
                        WITH CHECK (tenant = gainsay.current_tenant())', what);
    END LOOP;
    -- The names of the tenant's logs are read once for each statement, and an index takes them as it takes one name.
    FOREACH what IN ARRAY ARRAY['batch', 'leaf', 'tile', 'checkpoint', 'cosignature', 'time_stamp'] LOOP
        EXECUTE format('CREATE POLICY own_tenant ON gainsay.%I TO gainsay_api
                        USING (log = ANY (ARRAY(SELECT g.log FROM gainsay.log_epoch g
                                                WHERE g.tenant = gainsay.current_tenant())))', what);
    END LOOP;
END $$;
-- A tenant's first records are staged before a sequencer opens its log.
CREATE POLICY own_tenant ON pending TO gainsay_api
    USING (tenant = gainsay.current_tenant()
           OR tenant IS NULL AND log = ANY (ARRAY(SELECT g.log FROM gainsay.log_epoch g
                                                  WHERE g.tenant = gainsay.current_tenant())))
    WITH CHECK (tenant = gainsay.current_tenant());
CREATE POLICY own_tenant ON issued_report TO gainsay_api
    USING (EXISTS (SELECT FROM gainsay.debate_head h
                   WHERE h.debate = issued_report.debate AND h.tenant = gainsay.current_tenant()));

-- What lists are searched by is seen through views of the same names, in a schema that gainsay_api has before this one in
-- its search_path. Behind a policy PostgreSQL uses no index for words, for lists of flags, for the beginnings of texts
-- and for amounts, because it does not know their comparisons to be leakproof. A view asks for the tenant just as well.
CREATE VIEW gainsay_tenant.found_by AS
SELECT * FROM gainsay.found_by WHERE tenant = gainsay.current_tenant()
WITH LOCAL CHECK OPTION;
CREATE VIEW gainsay_tenant.case_words AS
SELECT * FROM gainsay.case_words WHERE tenant = gainsay.current_tenant()
WITH LOCAL CHECK OPTION;

-- An abort is all that gainsay_api appends to a debate that is there, so it has no right to change a head row, nor to add
-- a charge: this function moves the row, as the owner, by the record of a stop, and by that of the end where no call is in
-- flight and no worker has the debate. What is reserved, spent and allocated, the epoch and a live lease stay as they are.
-- No row: the debate is not as known, has ended, or is not that of the tenant of this transaction.
CREATE FUNCTION gainsay.stop_debate(
    of_debate uuid, of_epoch integer, known_n integer, known_hash bytea, leaves bytea[], ends text)
    RETURNS TABLE (debate uuid, log text, tenant text, left_s float8)
    LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE gainsay.debate_head h SET
        next_n = h.next_n + cardinality(leaves), last_hash = sha256('\x00'::bytea || leaves[cardinality(leaves)]),
        state = coalesce(ends, h.state), unable_since = NULL, falls = 0,
        lease_until = CASE WHEN ends IS NULL THEN h.lease_until ELSE '-infinity' END
    WHERE h.debate = of_debate AND h.epoch = of_epoch AND h.next_n = known_n AND h.last_hash = known_hash
      AND h.state IN ('queued', 'running')
      AND (h.tenant = gainsay.current_tenant() OR pg_has_role(session_user, 'gainsay_writer', 'MEMBER'))
      AND convert_from(leaves[1], 'UTF8')::jsonb ->> 'kind' = 'debate.stopped'
      AND (ends IS NULL AND cardinality(leaves) = 1
           OR ends = 'aborted' AND cardinality(leaves) = 2
              AND convert_from(leaves[2], 'UTF8')::jsonb ->> 'kind' = 'debate.concluded'
              AND h.held = 0 AND (h.worker IS NULL OR h.lease_until <= clock_timestamp()))
    RETURNING h.debate, h.log, h.tenant, extract(epoch FROM h.deadline - clock_timestamp())::float8;
END;
REVOKE EXECUTE ON FUNCTION gainsay.stop_debate(uuid, integer, integer, bytea, bytea[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.stop_debate(uuid, integer, integer, bytea, bytea[], text)
    TO gainsay_api, gainsay_writer;

-- What the statements that serve callers need, and no more: to read a tenant's records and logs, to open and abort
-- debates, and to record what was handed out. No partition is granted: policies hold for what is read by its whole.
GRANT SELECT ON debate_head, idempotency_key, entry, payload, document, context, pending, rests_on, track_record,
    decision, issued_report, damage, spend_limit, log_epoch, batch, leaf, tile, checkpoint, cosignature, time_stamp
    TO gainsay_api;
GRANT SELECT ON gainsay_tenant.found_by, gainsay_tenant.case_words TO gainsay_api;
GRANT INSERT ON debate_head, idempotency_key, payload, document, context, pending, rests_on, track_record, decision,
    issued_report, gainsay_tenant.found_by, gainsay_tenant.case_words TO gainsay_api;
GRANT INSERT (debate, n, leaf, tenant) ON entry TO gainsay_api;
GRANT INSERT (subject, tenant, log, debate, place, what) ON damage TO gainsay_api;
GRANT UPDATE (status, outcome, confidence, human_review, flags, spent) ON gainsay_tenant.found_by TO gainsay_api;
GRANT EXECUTE ON FUNCTION gainsay.told_state(uuid, text, integer, text), gainsay.today(text) TO gainsay_api;
-- Texts that are named by their hash belong to no tenant: prompts, manifests and configurations of this service, and no
-- word of a case. And which files were applied.
GRANT SELECT ON content, manifest_prompt, migration, schema_floor TO gainsay_api;

-- Which cases are assigned to a reviewer (0017_identity.sql). A caller's login reads them of its tenant, and changes none.
ALTER TABLE assignment ENABLE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON assignment TO gainsay_writer, gainsay_sequencer, gainsay_auditor
    USING (true) WITH CHECK (true);
CREATE POLICY own_tenant ON assignment TO gainsay_api USING (tenant = gainsay.current_tenant());
GRANT SELECT ON assignment TO gainsay_api;

-- Who calls is asked before a tenant is known: by functions of 0017_identity.sql, each of which gives one row at most, or a
-- yes or no, to a caller that has the key or the name already. The registers themselves this login neither reads nor
-- changes, so it learns the hash of no key, issues none, and un-revokes nothing.
GRANT EXECUTE ON FUNCTION gainsay.find_key(bytea), gainsay.still_good(text, text), gainsay.tenant_known(text),
    gainsay.find_subject(text, text, text, text), gainsay.key_used(text) TO gainsay_api;
