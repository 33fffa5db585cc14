-- Queries of the registers of tenants, subjects and API keys. Those that look up before a tenant is known call functions of
-- migrations/0017_identity.sql, which see every tenant; all others carry the tenant. `home` is the tenant in whose log a
-- change is recorded: that of the row, and the service's own for a row without one.

-- find_key --
-- The valid key of a hash.
SELECT id, tenant, subject, kind, roles, scopes FROM find_key(%(hash)b);

-- still_good --
-- Whether a subject, and the key that it came with (or none: ''), are still good.
SELECT still_good(%(key)s, %(subject)s) AS good;

-- find_subject --
-- The subject that a source knows by a name of its own, made when it is new; no row for an unknown tenant.
SELECT id, good FROM find_subject(%(tenant)s, %(source)s, %(external)s, %(kind)s);

-- tenant_known --
-- Whether there is a tenant of this name.
SELECT tenant_known(%(tenant)s) AS known;

-- key_used --
-- A key was used just now; kept to the minute.
SELECT key_used(%(key)s);

-- add_tenant --
-- A new tenant with its record, or no row when there is one of this name.
WITH new AS (
    INSERT INTO tenant (name, created_by) VALUES (%(tenant)s, %(by)s) ON CONFLICT (name) DO NOTHING RETURNING name
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- add_key --
-- A new key with its record, or what prevented both.
WITH new AS MATERIALIZED (
    SELECT add_key(
        %(key)s, %(hash)b, %(tenant)s, %(subject)s, %(roles)s::text[], %(scopes)s::text[], %(name)s, %(kind)s, %(by)s,
        %(expires)s::timestamptz, %(first)s, %(replaced)s, %(old_until)s::timestamptz) AS outcome
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new WHERE outcome = 'added'
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new WHERE outcome = 'added'
), staged AS (
    INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new WHERE outcome = 'added'
)
SELECT outcome FROM new;

-- revoke_key --
-- Revoke a key of a tenant (or, without one, of the whole service) with its record, once.
WITH new AS (
    UPDATE api_key SET revoked = clock_timestamp()
    WHERE id = %(key)s AND tenant IS NOT DISTINCT FROM %(tenant)s::text AND revoked IS NULL RETURNING id
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- revoke_subject --
-- Revoke a subject of a tenant, and with it every key and token of it, with its record, once.
WITH new AS (
    UPDATE subject SET revoked = clock_timestamp()
    WHERE id = %(subject)s AND tenant = %(tenant)s AND revoked IS NULL RETURNING id
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- assign_case --
-- Assign a case to a subject of its tenant that is not revoked, with the record, once.
WITH new AS (
    INSERT INTO assignment (tenant, debate, subject, by_subject)
    SELECT h.tenant, h.debate, s.id, %(by)s
    FROM debate_head h JOIN subject s ON s.tenant = h.tenant
    WHERE h.debate = %(case)s AND h.tenant = %(tenant)s AND s.id = %(subject)s AND s.revoked IS NULL
    ON CONFLICT (tenant, debate, subject) DO NOTHING RETURNING subject
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- unassign_case --
-- Take a case back from a subject, with the record, once.
WITH new AS (
    DELETE FROM assignment WHERE tenant = %(tenant)s AND debate = %(case)s AND subject = %(subject)s RETURNING subject
), entries AS (
    INSERT INTO entry (debate, n, leaf, tenant) SELECT %(debate)s, 0, %(leaf)b, %(home)s FROM new
), payloads AS (
    INSERT INTO payload (debate, n, salt, body, tenant) SELECT %(debate)s, 0, %(salt)b, %(body)b, %(home)s FROM new
)
INSERT INTO pending (log, debate, n, tenant) SELECT %(log)s, %(debate)s, 0, %(home)s FROM new RETURNING debate;

-- reviewers --
-- Subjects to which a case of a tenant is assigned, in the order of their ids, from one on.
SELECT subject, by_subject, at FROM assignment
WHERE tenant = %(tenant)s AND debate = %(case)s AND subject > %(after)s ORDER BY subject LIMIT %(limit)s;

-- has_case --
-- Whether a case is one of this tenant.
SELECT debate FROM debate_head WHERE debate = %(case)s AND tenant = %(tenant)s;

-- operator_key_of --
-- A valid key of the role operator that a subject has in a tenant.
SELECT k.id FROM api_key k JOIN subject s ON s.id = k.subject
WHERE k.tenant = %(tenant)s AND s.tenant = k.tenant AND s.id = %(subject)s AND 'operator' = ANY (k.roles)
  AND k.revoked IS NULL AND s.revoked IS NULL AND k.expires > clock_timestamp() LIMIT 1;

-- other_operator --
-- A valid key of the role operator in a tenant, beside one key and those of one subject.
SELECT k.id FROM api_key k JOIN subject s ON s.id = k.subject
WHERE k.tenant = %(tenant)s AND s.tenant = k.tenant AND 'operator' = ANY (k.roles)
  AND k.id <> %(key)s AND k.subject <> %(subject)s
  AND k.revoked IS NULL AND s.revoked IS NULL AND k.expires > clock_timestamp() LIMIT 1;

-- has_operator --
-- Whether a tenant has a valid key of an operator.
SELECT has_operator(%(tenant)s) AS found;

-- keys_of --
-- Keys of a tenant (or, without one, of the whole service), or of one subject, in the order of their ids, from one on.
SELECT k.id, k.tenant, k.subject, s.kind, k.roles, k.scopes, k.name, k.created, k.created_by, k.expires, k.last_used,
       k.revoked, s.revoked AS subject_revoked, k.expires <= clock_timestamp() AS expired
FROM api_key k JOIN subject s ON s.id = k.subject
WHERE k.tenant IS NOT DISTINCT FROM %(tenant)s::text AND (%(subject)s::text IS NULL OR k.subject = %(subject)s)
  AND k.id > %(after)s ORDER BY k.id LIMIT %(limit)s;

-- key --
-- A key by its id, if it is one of this tenant (or, without one, of the whole service).
SELECT k.id, k.tenant, k.subject, s.kind, k.roles, k.scopes, k.name, k.created, k.created_by, k.expires, k.last_used,
       k.revoked, s.revoked AS subject_revoked, k.expires <= clock_timestamp() AS expired
FROM api_key k JOIN subject s ON s.id = k.subject
WHERE k.id = %(key)s AND k.tenant IS NOT DISTINCT FROM %(tenant)s::text;

-- subjects_of --
-- Subjects of a tenant, or those of some ids, in the order of their ids, from one on.
SELECT id, tenant, source, external, name, kind, created, revoked FROM subject
WHERE tenant = %(tenant)s AND (%(only)s::text[] IS NULL OR id = ANY (%(only)s::text[])) AND id > %(after)s
ORDER BY id LIMIT %(limit)s;

-- subject --
-- A subject by its id, if it is one of this tenant.
SELECT id, tenant, source, external, name, kind, created, revoked FROM subject
WHERE id = %(subject)s AND tenant = %(tenant)s;

-- tenants --
-- Tenants by name, after one.
SELECT name, created, created_by FROM tenant WHERE name > %(after)s ORDER BY name LIMIT %(limit)s;
