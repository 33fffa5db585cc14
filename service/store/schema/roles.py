"""The roles and the schema that Gainsay needs in a database, and the check that the service is not its owner.

    role               may                                                     log in
    gainsay_owner      owns the schema and everything in it                    no
    gainsay_writer     add evidence, read everything, change working state     no
    gainsay_sequencer  add to the tree of a log, and nothing else              no
    gainsay_api        what serves callers, of one tenant at a time            no
    gainsay_auditor    read everything of every tenant                         no
    gainsay_reader     read the records of the tenant that it names            no
    the migrator       SET ROLE gainsay_owner (GAINSAY_MIGRATE_URL)            yes
    the service        what gainsay_writer may (GAINSAY_DATABASE_URL)          yes
    the sequencer      what gainsay_sequencer may (GAINSAY_SEQUENCER_URL)      yes
    what serves        what gainsay_api may (GAINSAY_API_URL)                  yes

Migrations run as gainsay_owner. So the objects are the owner's whichever login migrates, and the service's login owns
nothing. The embedded server makes the logins itself. Elsewhere an administrator makes them, and may make the group
roles and the schemas as well (``SET_UP``); what exists already is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import errors, sql

from service.errors import GainsayError

SCHEMA = "gainsay"
TENANT_SCHEMA = "gainsay_tenant"
"""Of views in the place of tables, for gainsay_api alone."""
OWNER = "gainsay_owner"
WRITER = "gainsay_writer"
SEQUENCER = "gainsay_sequencer"
API = "gainsay_api"
AUDITOR = "gainsay_auditor"
READER = "gainsay_reader"
GROUPS = (OWNER, WRITER, SEQUENCER, API, AUDITOR, READER)
MIGRATOR = "gainsay_migrator"  # the embedded server's login for migrations
SERVICE = "gainsay_service"  # the one for the service
SEQUENCING = "gainsay_sequencing"  # the one for the sequencer
SERVING = "gainsay_serving"  # and the one that serves callers
OLDEST = 16  # PostgreSQL's major version: `SET` and `INHERIT` of a membership came with 16

SET_UP = """\
CREATE ROLE gainsay_owner NOLOGIN;
CREATE ROLE gainsay_writer NOLOGIN;
CREATE ROLE gainsay_sequencer NOLOGIN;
CREATE ROLE gainsay_api NOLOGIN;
CREATE ROLE gainsay_auditor NOLOGIN;
CREATE ROLE gainsay_reader NOLOGIN;
GRANT gainsay_owner TO {migrator};
CREATE SCHEMA gainsay AUTHORIZATION gainsay_owner;
CREATE SCHEMA gainsay_tenant AUTHORIZATION gainsay_owner;"""

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# Evidence can be changed, or the refusal to change it switched off, by these predefined roles' members.
_MIGHTY = ["pg_write_all_data", "pg_write_server_files", "pg_execute_server_program"]

_OWNED = (f"tables of schema {SCHEMA}", f"schema {SCHEMA}", "the database")  # in the order of the query's last columns
_DANGERS: LiteralString = """
SELECT CASE WHEN rolname = session_user THEN 'it' ELSE 'role ' || rolname || ', which it can act as,' END AS who,
       rolsuper, rolbypassrls, rolcreaterole,
       rolname = ANY (%(mighty)s) AS mighty, rolname = ANY (%(foreign)s) AS acts,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = %(schema)s AND c.relowner = r.oid) AS owns_tables,
       EXISTS (SELECT FROM pg_namespace WHERE nspname = %(schema)s AND nspowner = r.oid) AS owns_schema,
       EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND datdba = r.oid) AS owns_database
FROM pg_roles r
WHERE pg_has_role(session_user, oid, 'MEMBER')
ORDER BY rolname <> session_user, rolname
"""


class RolesMissing(GainsayError):
    """The group roles or the schema do not exist, and this login may not make them."""

    code = "roles_missing"
    title = "The database is not set up for Gainsay"


class UnsafeRole(GainsayError):
    """The service's role could change or remove evidence."""

    code = "unsafe_role"
    title = "The service's database role may do too much"


class PostgresTooOld(GainsayError):
    """The server is older than what Gainsay is written for."""

    code = "postgres_too_old"
    title = "PostgreSQL is too old"


class OtherEncoding(GainsayError):
    """The database keeps text in another encoding than UTF8."""

    code = "other_encoding"
    title = "The database cannot keep every text"


Connection = psycopg.Connection[Any]


def prepare(connection: Connection) -> None:
    """Make the missing group roles and schemas; raise `RolesMissing` when this login may not.

    The connection is in autocommit and not in SET ROLE. Afterwards the login can SET ROLE gainsay_owner.
    """
    if connection.info.server_version < OLDEST * 10_000:
        found = connection.info.server_version // 10_000
        raise PostgresTooOld(f"expected PostgreSQL {OLDEST} or newer, found {found}; upgrade the server")
    try:
        for role in GROUPS:
            _create_role(connection, role)
        _join_owner(connection)
        for schema in (SCHEMA, TENANT_SCHEMA):
            _create_schema(connection, schema)
    except errors.InsufficientPrivilege as error:
        raise RolesMissing(_how_to_set_up(connection, str(error.diag.message_primary))) from error


def check_encoding(connection: Connection) -> None:
    """Raise `OtherEncoding` unless the database keeps text in UTF8: another one lacks characters, or knows none."""
    if (found := connection.info.parameter_status("server_encoding")) != "UTF8":
        raise OtherEncoding(
            f"expected a database in the encoding UTF8, found {connection.info.dbname!r} in {found}, which cannot be "
            "changed; make another: CREATE DATABASE gainsay OWNER gainsay_owner ENCODING 'UTF8' TEMPLATE template0"
        )


def check_not_owner(connection: Connection) -> None:
    """Raise `UnsafeRole` when the login could change evidence, itself or through a role that it is a member of.

    That is: a superuser, BYPASSRLS, CREATEROLE, gainsay_owner, an owner of the schema, of a table in it or of the
    database, or a predefined role that writes everywhere. Every membership counts, indirect or without INHERIT too,
    because SET ROLE is one statement away.
    """
    login = connection.info.user
    reasons = _dangers(connection)
    if reasons:
        raise UnsafeRole(
            f"expected a database role for the service that can only add evidence, found {login!r}, because "
            + "; ".join(reasons)
            + f". Give GAINSAY_DATABASE_URL a login of its own (CREATE ROLE gainsay_service LOGIN PASSWORD '...' "
            f"IN ROLE {WRITER}) and keep this one for GAINSAY_MIGRATE_URL"
        )


def check_writer(connection: Connection) -> None:
    """Raise `RolesMissing` when the service's login is not a member of gainsay_writer, and so could record nothing."""
    _check_has(connection, WRITER, "GAINSAY_DATABASE_URL")


def check_sequencer(connection: Connection) -> None:
    """Raise `UnsafeRole` when the sequencer's login may do more than add to trees, and `RolesMissing` when less.

    It must not be able to write records: a login with both rights could have anything signed.
    """
    login = connection.info.user
    if reasons := _dangers(connection, (WRITER, API), "writes records, which only the service may"):
        raise UnsafeRole(
            f"expected a database role for the sequencer that can only add to the trees of logs, found {login!r}, "
            "because "
            + "; ".join(reasons)
            + ". Give GAINSAY_SEQUENCER_URL a login of its own (CREATE ROLE gainsay_sequencing LOGIN PASSWORD '...' "
            f"IN ROLE {SEQUENCER})"
        )
    _check_has(connection, SEQUENCER, "GAINSAY_SEQUENCER_URL")


def check_api(connection: Connection) -> None:
    """Raise `UnsafeRole` when the login that serves callers may see more than one tenant at a time, else as others.

    Row security holds for a login that is in gainsay_api and in no other role of ours.
    """
    login = connection.info.user
    foreign = (WRITER, SEQUENCER, AUDITOR, READER)
    if reasons := _dangers(connection, foreign, "reads or writes what is not for the login that serves callers"):
        raise UnsafeRole(
            f"expected a database role for serving callers that row security keeps to one tenant, found {login!r}, "
            "because "
            + "; ".join(reasons)
            + ". Give GAINSAY_API_URL a login of its own (CREATE ROLE gainsay_serving LOGIN PASSWORD '...' "
            f"IN ROLE {API})"
        )
    _check_has(connection, API, "GAINSAY_API_URL")


def _check_has(connection: Connection, role: str, variable: str) -> None:
    """Raise `RolesMissing` when the login lacks the rights of ``role``."""
    if role not in _rights(connection):
        raise RolesMissing(
            f"expected the role of {variable} to have the rights of {role}, found {connection.info.user!r} without "
            f"them; {how_to_give(connection, role)}"
        )


def how_to_give(connection: Connection, role: str) -> str:
    """What gives a process the rights of ``role``.

    A login of another role of ours was named by mistake. With both rights it would be refused as unsafe.
    """
    login = connection.info.user
    if others := [other for other in _rights(connection) if other != role]:
        return f"name the login of {role} in its place: {login} is one of {others[0]}, and is granted nothing more"
    return f"run `gainsay migrate`, then as an administrator: GRANT {role} TO {_in_sql(login)}"


def _in_sql(name: str) -> str:
    """A role's name as a statement has it: in quotation marks where it needs them."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _rights(connection: Connection) -> list[str]:
    """The roles of ours whose rights the login has."""
    rows = connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s) AND pg_has_role(session_user, oid, 'USAGE') ORDER BY 1",
        [list(GROUPS)],
    )
    return [row[0] for row in rows]


def _dangers(connection: Connection, foreign: Sequence[str] = (SEQUENCER,), does: str = "") -> list[str]:
    """The reasons, role by role, why the login is unsafe. A superuser is a member of every role: it is one reason.

    ``foreign`` are the roles whose rights belong to other processes, and ``does`` what only those may do.
    """
    reasons: list[str] = []
    does = does or "adds leaves to the log, which only the sequencer may"
    names = {"schema": SCHEMA, "mighty": [OWNER, *_MIGHTY], "foreign": list(foreign)}
    for who, superuser, bypass, creates, mighty, acts, *owns in connection.execute(_DANGERS, names):
        if superuser:
            reasons.append(f"{who} is a superuser")
            break
        owned = [what for what, is_owner in zip(_OWNED, owns, strict=True) if is_owner]
        traits = [
            *["may bypass row security"] * bypass,
            *["may create roles"] * creates,
            *["writes without regard to grants"] * mighty,
            *[does] * acts,
            *[f"owns {' and '.join(owned)}"] * bool(owned),
        ]
        if traits:
            reasons.append(f"{who} {' and '.join(traits)}")
    return reasons


def _create_role(connection: Connection, role: str) -> None:
    """Create a group role unless it exists; another database of the same server may be creating it just now."""
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
        return
    try:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
    except (errors.DuplicateObject, errors.UniqueViolation):
        return


def _join_owner(connection: Connection) -> None:
    """Let the login act as gainsay_owner. The creator of a role may grant it, but is not yet a member."""
    row = connection.execute("SELECT pg_has_role(session_user, %s, 'SET')", [OWNER]).fetchone()
    if row is None or not row[0]:
        connection.execute(sql.SQL("GRANT {} TO SESSION_USER").format(sql.Identifier(OWNER)))


def _create_schema(connection: Connection, schema: str) -> None:
    """Create a schema for its owner; refuse one that belongs to another role."""
    row = connection.execute("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = %s", [schema]).fetchone()
    if row is None:
        connection.execute(
            sql.SQL("CREATE SCHEMA {} AUTHORIZATION {}").format(sql.Identifier(schema), sql.Identifier(OWNER))
        )
    elif row[0] != OWNER:
        raise RolesMissing(
            f"expected schema {schema} to belong to {OWNER}, found it belongs to {row[0]}; "
            f"use another database, or ALTER SCHEMA {schema} OWNER TO {OWNER}"
        )


def _how_to_set_up(connection: Connection, refusal: str) -> str:
    login, database = connection.info.user, connection.info.dbname
    if [role for role in _rights(connection) if role != OWNER]:
        return f"expected a member of {OWNER} that migrates, found {login!r}; {how_to_give(connection, OWNER)}"
    return (
        f"expected roles {', '.join(GROUPS)}, schemas {SCHEMA} and {TENANT_SCHEMA}, and that {login!r} is in {OWNER}; "
        "something is missing "
        f"and {login!r} may not make it ({refusal}). As an administrator, run in database {database!r} what is not "
        f"there yet:\n{SET_UP.format(migrator=_in_sql(login))}"
    )
