"""Checks what the database refuses by itself: changes of evidence, and one tenant's rows to another's callers.

Owners and superusers can switch triggers off and grant more than the migrations did. This check proves nothing against
them; checkpoints and witnesses do. But the service records nothing in a database where that was done, even by mistake.
"""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg

from service.errors import GainsayError
from service.store.schema.roles import SCHEMA, TENANT_SCHEMA, UnsafeRole

SEQUENCED = ("batch", "leaf", "tile", "checkpoint", "cosignature", "time_stamp")
"""The tables that only the sequencer adds to."""
WRITTEN = ("entry", "payload", "charge", "document", "draw", "context", "content")
"""The tables that only the service adds to."""
TILTS = ("moderator_tilt", "moderator_resolution")
"""The tables of findings about moderators, which commands add to."""
NOT_SERVED = (*SEQUENCED, *TILTS, "draw", "content", "log_epoch", "incident")
"""The tables that the login which serves callers does not add to."""
SHARED = ("content", "manifest_prompt", "migration", "schema_floor")
"""The tables that this login reads and that belong to no tenant."""
EVIDENCE = (*WRITTEN, *SEQUENCED, *TILTS, "log_epoch", "incident", "damage", "uncertainty_baseline")
"""The tables whose rows are never changed or removed."""

_TABLES: LiteralString = """
WITH evidence AS (
    SELECT c.oid, c.relname, coalesce(p.relname, c.relname) AS name
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    LEFT JOIN pg_class p ON p.oid = i.inhparent
    WHERE n.nspname = %(schema)s AND c.relkind IN ('r', 'p') AND coalesce(p.relname, c.relname) = ANY (%(evidence)s)
)
"""
_UNGUARDED: LiteralString = (
    _TABLES
    + """
SELECT e.relname
FROM evidence e CROSS JOIN unnest(ARRAY['refuse_change', 'refuse_truncate']) AS wanted
WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = e.oid AND tgname = wanted AND tgenabled = 'A')
GROUP BY e.relname ORDER BY e.relname
"""
)
_EXCESS: LiteralString = (
    _TABLES
    + """
SELECT e.name, string_agg(DISTINCT may, ', ' ORDER BY may)
FROM evidence e CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS may
WHERE (may <> 'INSERT' OR e.name = ANY (%(others)s))
  AND EXISTS (
    SELECT FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER') AND
    CASE WHEN may IN ('INSERT', 'UPDATE') THEN has_any_column_privilege(r.oid, e.oid, may)
         ELSE has_table_privilege(r.oid, e.oid, may) END)
GROUP BY e.name ORDER BY e.name
"""
)
_OPEN: LiteralString = """
WITH acting AS (
    SELECT oid FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')
), reached AS (
    SELECT c.*, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY (%(schemas)s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT (n.nspname = %(schema)s AND c.relname = ANY (%(shared)s))
      AND EXISTS (SELECT FROM acting a WHERE has_any_column_privilege(a.oid, c.oid, 'SELECT, INSERT, UPDATE')
                                          OR has_table_privilege(a.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER'))
), policy AS (
    SELECT p.polrelid, coalesce(bool_and(
               position('current_tenant()' IN coalesce(pg_get_expr(p.polqual, p.polrelid), '')) > 0), false) AS narrows
    FROM pg_policy p
    WHERE p.polpermissive AND EXISTS (SELECT FROM acting a WHERE a.oid = ANY (p.polroles) OR 0 = ANY (p.polroles))
    GROUP BY p.polrelid
)
SELECT r.nspname || '.' || r.relname
FROM reached r LEFT JOIN policy p ON p.polrelid = r.oid
WHERE r.relispartition
   OR CASE WHEN r.relkind IN ('r', 'p') THEN NOT r.relrowsecurity OR NOT coalesce(p.narrows, false)
           WHEN r.relkind = 'v' AND r.nspname = %(tenant_schema)s
           THEN position('current_tenant()' IN pg_get_viewdef(r.oid)) = 0
           ELSE true END
ORDER BY 1
"""


class ProtectionMissing(GainsayError):
    """Evidence could be changed without the database refusing it."""

    code = "unguarded"
    title = "The database does not guard the evidence"


def check_guarded(connection: psycopg.Connection[Any]) -> None:
    """Raise `ProtectionMissing` if a trigger that refuses changes of evidence is missing or switched off."""
    names = {"schema": SCHEMA, "evidence": list(EVIDENCE)}
    if found := [name for (name,) in connection.execute(_UNGUARDED, names)]:
        raise ProtectionMissing(
            f"expected triggers that refuse every change of evidence, found them missing or switched off at "
            f"{', '.join(found[:5])}{' and others' if len(found) > 5 else ''}. Find out who did that and what was "
            "changed since (`gainsay audit check`), then create and ENABLE ALWAYS TRIGGER them again as the owner"
        )


def check_granted(connection: psycopg.Connection[Any], others: tuple[str, ...], variable: str) -> None:
    """Raise `UnsafeRole` if a login has grants on evidence that no process of ours may have.

    ``others`` are the tables that another process adds to.
    """
    names = {"schema": SCHEMA, "evidence": list(EVIDENCE), "others": list(others)}
    if granted := connection.execute(_EXCESS, names).fetchall():
        listed = "; ".join(f"{may} on {name}" for name, may in granted)
        raise UnsafeRole(
            f"expected a login at {variable} with the grants of the migrations and no more, found "
            f"{connection.info.user!r} with {listed}. REVOKE them as the owner"
        )


def check_row_security(connection: psycopg.Connection[Any]) -> None:
    """Raise `ProtectionMissing` if the login that serves callers reaches rows that no policy keeps to a tenant.

    That is a table without row security or with a policy that does not ask for the tenant, a partition by its own name,
    and a view that does not ask either. A view that does stands for a table that the login may not read.
    """
    names = {
        "schema": SCHEMA,
        "tenant_schema": TENANT_SCHEMA,
        "schemas": [SCHEMA, TENANT_SCHEMA],
        "shared": list(SHARED),
    }
    if found := [name for (name,) in connection.execute(_OPEN, names)]:
        raise ProtectionMissing(
            f"expected row security to keep {connection.info.user!r}, the login at GAINSAY_API_URL, to the rows of one "
            f"tenant, found none at {', '.join(found[:5])}{' and others' if len(found) > 5 else ''}. Find out who "
            "changed that, then as the owner REVOKE what was granted, or put the policy of the migrations back and "
            "ENABLE ROW LEVEL SECURITY"
        )
