-- Who belongs to the service: tenants, their subjects, and API keys. These are registers, not evidence: what was changed in
-- them, and by whom, is in the tenant's log. Names of persons stand here and in no record.

CREATE TABLE gainsay.tenant (
    name       text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    created    timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL
);
-- `default` is the tenant of every record before this one; `gainsay` is that of the service itself.
INSERT INTO gainsay.tenant (name, created_by) VALUES ('default', 'migration'), ('gainsay', 'migration');

-- `external` is how its source names a subject. The source of a key's subject is `key`, or `service` for one without a
-- tenant, and its external name is its own id; any other source is an identity provider or a proxy.
CREATE TABLE gainsay.subject (
    id       text PRIMARY KEY CHECK (id ~ '^sub_[0-9a-hjkmnp-tv-z]{26}$'),
    tenant   text NOT NULL REFERENCES gainsay.tenant,
    source   text NOT NULL,
    external text NOT NULL,
    name     text,
    kind     text NOT NULL CHECK (kind IN ('person', 'service', 'unknown')),
    created  timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked  timestamptz,
    UNIQUE (tenant, source, external)
);

-- `hash` is SHA-256 of the whole key, which is stored nowhere. A key without a tenant is one of the whole service; its
-- subject belongs to the tenant `gainsay`.
CREATE TABLE gainsay.api_key (
    id         text PRIMARY KEY CHECK (id ~ '^key_[0-9a-hjkmnp-tv-z]{26}$'),
    hash       bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    tenant     text REFERENCES gainsay.tenant,
    subject    text NOT NULL REFERENCES gainsay.subject,
    roles      text[] NOT NULL CHECK (cardinality(roles) > 0),
    scopes     text[],
    name       text NOT NULL,
    created    timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL,
    expires    timestamptz NOT NULL,
    revoked    timestamptz,
    last_used  timestamptz
);
CREATE INDEX api_key_tenant ON gainsay.api_key (tenant, id);
CREATE INDEX api_key_subject ON gainsay.api_key (subject);

-- Whose review a case waits for: a reviewer reads the cases that are assigned to it.
CREATE TABLE gainsay.assignment (
    tenant     text NOT NULL REFERENCES gainsay.tenant,
    debate     uuid NOT NULL,
    subject    text NOT NULL REFERENCES gainsay.subject,
    by_subject text NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant, debate, subject)
);
CREATE INDEX assignment_subject ON gainsay.assignment (tenant, subject, debate);

-- What was revoked stays so, and no life grows: not by mistake, and not by a statement that does not mean to.
CREATE FUNCTION gainsay.refuse_return() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.revoked IS NOT NULL AND NEW.revoked IS DISTINCT FROM OLD.revoked THEN
        RAISE EXCEPTION 'what was revoked in % stays revoked', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_TABLE_NAME = 'api_key' THEN
        IF NEW.expires > OLD.expires THEN
            RAISE EXCEPTION 'the life of a key does not grow' USING ERRCODE = 'restrict_violation';
        END IF;
    END IF;
    RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION gainsay.refuse_return() FROM PUBLIC;
CREATE TRIGGER refuse_return BEFORE UPDATE ON gainsay.subject FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_return();
CREATE TRIGGER refuse_return BEFORE UPDATE ON gainsay.api_key FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_return();

-- What is looked up before it is known whose request it is, so with the owner's rights: each function gives one row at most,
-- to a caller that has its key already.

-- The key of a hash, if its life, its subject and its tenant are there. `tenant` is null for one of the whole service.
CREATE FUNCTION gainsay.find_key(hash bytea)
RETURNS TABLE (id text, tenant text, subject text, kind text, roles text[], scopes text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    SELECT k.id, k.tenant, k.subject, s.kind, k.roles, k.scopes
    FROM gainsay.api_key k
    JOIN gainsay.subject s ON s.id = k.subject
    JOIN gainsay.tenant t ON t.name = s.tenant
    WHERE k.hash = find_key.hash AND (k.tenant IS NULL OR k.tenant = s.tenant)
      AND k.revoked IS NULL AND s.revoked IS NULL AND k.expires > clock_timestamp();
END;

-- Whether a subject, and its key if it came with one, are still good.
CREATE FUNCTION gainsay.still_good(key text, subject text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM gainsay.subject s JOIN gainsay.tenant t ON t.name = s.tenant
        WHERE s.id = still_good.subject AND s.revoked IS NULL
          AND (still_good.key = '' OR EXISTS (
            SELECT FROM gainsay.api_key k
            WHERE k.id = still_good.key AND k.subject = s.id AND k.revoked IS NULL AND k.expires > clock_timestamp())));
END;

CREATE FUNCTION gainsay.tenant_known(name text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM gainsay.tenant t WHERE t.name = tenant_known.name);
END;

-- When a key was last used, to the minute: a key that is used all the time is written once in it.
CREATE FUNCTION gainsay.key_used(key text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    UPDATE gainsay.api_key SET last_used = clock_timestamp()
    WHERE id = key_used.key AND (last_used IS NULL OR last_used < clock_timestamp() - interval '1 minute');
END;

-- The id of a new subject: 128 random bits in Crockford's base32, as `service.identity.ids` writes them.
CREATE FUNCTION gainsay.new_subject_id() RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = gainsay, pg_temp AS $$
DECLARE
    bits bit(130) := B'00' || ('x' || right(
        sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))::text, 32))::bit(128);
BEGIN
    RETURN 'sub_' || (
        SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 5 * i + 1 FOR 5)::int + 1, 1), ''
                          ORDER BY i)
        FROM generate_series(0, 25) AS i);
END $$;
REVOKE EXECUTE ON FUNCTION gainsay.new_subject_id() FROM PUBLIC;

-- The subject that a source knows by a name of its own, made when it is new. No row for an unknown tenant. `good` says that
-- it was not revoked.
CREATE FUNCTION gainsay.find_subject(tenant text, source text, external text, kind text)
RETURNS TABLE (id text, good boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = gainsay, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.id, s.revoked IS NULL FROM gainsay.subject s
        WHERE s.tenant = $1 AND s.source = $2 AND s.external = $3;
    IF FOUND OR NOT gainsay.tenant_known($1) THEN
        RETURN;
    END IF;
    INSERT INTO gainsay.subject (id, tenant, source, external, kind) VALUES (gainsay.new_subject_id(), $1, $2, $3, $4)
        ON CONFLICT (tenant, source, external) DO NOTHING;
    RETURN QUERY SELECT s.id, s.revoked IS NULL FROM gainsay.subject s
        WHERE s.tenant = $1 AND s.source = $2 AND s.external = $3;
END $$;

-- Adds a key, for a new subject (`replaced` null) or beside the key that it replaces, in one order with all others of its
-- tenant: each statement in it sees what the one before it under the lock has committed. It says what prevented it: `noTenant`, `hasOperator` (a first key was wanted), `gone` (what it replaces is not
-- valid) or `twoKeys` (a subject has no third valid key); else `added`.
CREATE FUNCTION gainsay.add_key(
    key text, hash bytea, tenant text, subject text, roles text[], scopes text[], name text, kind text, by text,
    expires timestamptz, first boolean, replaced text, old_until timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = gainsay, pg_temp AS $$
#variable_conflict use_column
DECLARE
    home text := coalesce($3, 'gainsay');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gainsay keys of ' || home, 0));
    IF NOT gainsay.tenant_known(home) THEN
        RETURN 'noTenant';
    END IF;
    IF $11 AND gainsay.has_operator($3) THEN
        RETURN 'hasOperator';
    END IF;
    IF $12 IS NULL THEN
        INSERT INTO gainsay.subject (id, tenant, source, external, name, kind) VALUES (
            $4, home, CASE WHEN $3 IS NULL THEN 'service' ELSE 'key' END, $4, $7, $8);
    ELSE
        PERFORM FROM gainsay.api_key k JOIN gainsay.subject s ON s.id = k.subject
            WHERE k.id = $12 AND k.subject = $4 AND s.tenant = home AND k.tenant IS NOT DISTINCT FROM $3
              AND k.revoked IS NULL AND s.revoked IS NULL AND k.expires > clock_timestamp();
        IF NOT FOUND THEN
            RETURN 'gone';
        END IF;
        IF (SELECT count(*) FROM gainsay.api_key k
            WHERE k.subject = $4 AND k.revoked IS NULL AND k.expires > clock_timestamp()) > 1 THEN
            RETURN 'twoKeys';
        END IF;
        UPDATE gainsay.api_key k SET expires = least(k.expires, $13) WHERE k.id = $12;
    END IF;
    INSERT INTO gainsay.api_key (id, hash, tenant, subject, roles, scopes, name, created_by, expires)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $10);
    RETURN 'added';
END $$;

-- Whether a tenant has an operator: a valid key that is one.
CREATE FUNCTION gainsay.has_operator(tenant text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = gainsay, pg_temp
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT FROM gainsay.api_key k JOIN gainsay.subject s ON s.id = k.subject
        WHERE k.tenant = has_operator.tenant AND s.tenant = k.tenant AND 'operator' = ANY (k.roles)
          AND k.revoked IS NULL AND s.revoked IS NULL AND k.expires > clock_timestamp());
END;

REVOKE EXECUTE ON FUNCTION gainsay.find_key(bytea), gainsay.still_good(text, text), gainsay.tenant_known(text),
    gainsay.key_used(text), gainsay.find_subject(text, text, text, text), gainsay.has_operator(text),
    gainsay.add_key(text, bytea, text, text, text[], text[], text, text, text, timestamptz, boolean, text, timestamptz)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gainsay.find_key(bytea), gainsay.still_good(text, text), gainsay.tenant_known(text),
    gainsay.key_used(text), gainsay.find_subject(text, text, text, text), gainsay.has_operator(text),
    gainsay.add_key(text, bytea, text, text, text[], text[], text, text, text, timestamptz, boolean, text, timestamptz)
    TO gainsay_writer;

GRANT SELECT, INSERT ON gainsay.tenant, gainsay.subject, gainsay.api_key TO gainsay_writer;
GRANT UPDATE (revoked) ON gainsay.subject TO gainsay_writer;
GRANT UPDATE (expires, revoked) ON gainsay.api_key TO gainsay_writer;
GRANT SELECT, INSERT, DELETE ON gainsay.assignment TO gainsay_writer;
GRANT SELECT ON gainsay.tenant, gainsay.subject, gainsay.api_key, gainsay.assignment TO gainsay_auditor;
