"""Checks a database before the service records in it, or the sequencer adds to the trees of its logs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from service.errors import GainsayError, SettingsError, StoreUnavailable
from service.store.schema import migrate, protections, roles
from service.store.schema.address import check_address
from service.store.schema.pooler import check_sessions
from service.store.schema.session import Session

_LASTING = ("fsync", "full_page_writes", "synchronous_commit")
"""With one of these off, a confirmed record may be lost in a crash; with the last one ``local``, when the standby that
commits are to wait for is promoted."""
_OPEN = """
SELECT id, log, what FROM gainsay.incident i
WHERE closes IS NULL AND NOT EXISTS (SELECT FROM gainsay.incident WHERE closes = i.id) ORDER BY id
"""

_LOCKED = """
SELECT FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = %s AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class NotDurable(GainsayError):
    """The server may lose what it has confirmed."""

    code = "not_durable"
    title = "The database may forget what it has confirmed"


class OpenIncident(GainsayError):
    """A log contradicts its checkpoints, and no person has closed the incident yet."""

    code = "open_incident"
    status = 503
    title = "An incident of the audit log is open"


def check_database(url: str, migrations: Path) -> None:
    """Refuse a database in which no record is safe.

    That is a database that is down, unmigrated or newer, that may lose what it has confirmed, or whose login could
    change evidence.
    """
    with _login(url, "GAINSAY_DATABASE_URL") as connection:
        roles.check_not_owner(connection)
        migrate.check_migrated(connection, migrations)
        roles.check_writer(connection)
        protections.check_granted(connection, protections.SEQUENCED, "GAINSAY_DATABASE_URL")
        check_durable(connection, "GAINSAY_DATABASE_URL")


def check_sequencer(url: str, migrations: Path) -> None:
    """Check the same for the sequencer, whose role adds to the trees of logs and does nothing else."""
    with _login(url, "GAINSAY_SEQUENCER_URL") as connection:
        roles.check_sequencer(connection)
        migrate.check_migrated(connection, migrations, roles.SEQUENCER)
        protections.check_granted(connection, protections.WRITTEN, "GAINSAY_SEQUENCER_URL")
        check_durable(connection, "GAINSAY_SEQUENCER_URL")


def check_serving(url: str, migrations: Path) -> None:
    """Check the login that serves callers: it adds records, and row security keeps it to the tenant that is set."""
    with _login(url, "GAINSAY_API_URL") as connection:
        roles.check_api(connection)
        migrate.check_migrated(connection, migrations, roles.API)
        protections.check_granted(connection, protections.NOT_SERVED, "GAINSAY_API_URL")
        protections.check_row_security(connection)
        check_durable(connection, "GAINSAY_API_URL")


def check_one_database(service: str, other: str, variable: str) -> None:
    """Raise `SettingsError` unless both addresses lead to one database: a lock that one takes there the other sees.

    Names say nothing: two servers may have a database of one name, and one may be the restored copy of the other.
    """
    with _login(service, "GAINSAY_DATABASE_URL") as ours, _login(other, variable) as theirs:
        key = secrets.randbits(62)
        ours.execute("SELECT pg_advisory_lock(%s)", [key])
        if theirs.execute(_LOCKED, [key]).fetchone() is None:
            raise SettingsError(
                f"expected GAINSAY_DATABASE_URL and {variable} to lead to one database, found two: "
                f"{_place(ours)} and {_place(theirs)}. What is recorded in one would wait there for processes that "
                "look into the other; correct the address that is wrong"
            )


def _place(connection: psycopg.Connection[Any]) -> str:
    found = connection.info
    return f"{found.dbname!r} at {found.host}:{found.port}"


def check_durable(connection: psycopg.Connection[Any], variable: str) -> None:
    """Raise `NotDurable` when a commit may be lost in a crash, by the settings of the server or of this login."""
    rows = connection.execute(
        "SELECT name, setting, source FROM pg_settings WHERE name = ANY (%s) AND (setting = 'off' OR setting = 'local' "
        "AND current_setting('synchronous_standby_names') <> '') ORDER BY name",
        [list(_LASTING)],
    ).fetchall()
    if rows:
        found = ", ".join(f"{name} = {setting} (set by: {source})" for name, setting, source in rows)
        raise NotDurable(
            f"expected {', '.join(_LASTING)} on at {variable}, found {found}: confirmed records could be lost in a "
            "crash, or with the primary. Switch it on for the server, the database and the role, and remove from the "
            "address all options that switch it off"
        )


def refuse_incidents(url: str) -> None:
    """Raise `OpenIncident` while a log contradicts its checkpoints and no person has closed the incident.

    Raises `Unguarded` if the database would not refuse a change of evidence.
    """
    with _login(url, "GAINSAY_DATABASE_URL") as connection:
        protections.check_guarded(connection)
        rows = connection.execute(_OPEN).fetchall()
    if rows:
        (number, log, what), more = rows[0], len(rows) - 1
        others = f" ({more} more are open)" if more else ""
        raise OpenIncident(
            f"incident {number} is open{others}: the log {log} contradicts its checkpoints: {what}. Nothing is "
            "recorded until a person closes it: keep this database, find out whether a backup was restored, "
            "a server that was behind took the lead, or records were changed, and put the right database back, or open "
            "the tenant's next log (`gainsay audit rotate`). Then close it, as gainsay_owner, with a row of "
            f"gainsay.incident that has the log, in `what` what was done and by whom, and in `closes` {number} "
            "(docs/sequencer.md)"
        )


@contextmanager
def _login(url: str, variable: str) -> Iterator[psycopg.Connection[Any]]:
    check_address(url, variable)
    try:
        with Session.of(url) as connection:
            check_sessions(connection, url, variable)
            yield connection
    except psycopg.OperationalError as error:
        said = str(error).splitlines()[0]
        raise StoreUnavailable(
            f"expected PostgreSQL at {variable}, found no server that accepts the login ({said}); {_remedy(said)}"
        ) from error


def _remedy(said: str) -> str:
    """What to do about an error of libpq, by its words."""
    if any(word in said for word in ("SSL", "certificate")):
        return (
            "its certificate has to be for the host in the address, in force, and of an issuer in GAINSAY_CA_FILE or "
            "sslrootcert"
        )
    return "check that it runs and that role and password are right"
