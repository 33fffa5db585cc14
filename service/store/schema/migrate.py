"""Migrates a database to the state of the files in migrations/, and checks that it is there.

The rules, in the order in which they are checked:

    1. every file is named 0001_words.sql and every number is there once; nothing is ever rolled back
    2. a file is one transaction: no BEGIN, no COMMIT, no `-- transactional: false`
    3. an applied file that this code does not have: deleted -> refused; or the database is newer than the code
       -> refused, unless the database says that a version as old as this one may run on it (`schema_floor`)
    4. an applied file whose bytes have changed -> refused
    5. a new file numbered before an applied one -> refused: elsewhere it would run in another order
    6. the other files are applied in the order of numbers, as gainsay_owner, under a lock; a file that does not get the
       locks of its tables at once lets other sessions pass, and is tried again

The table gainsay.migration lists the applied files: each file's transaction adds its own row. A database from before
decision 0042 also has the tables of yoyo, which nothing reads any more.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg import errors, sql

from service import log_lines
from service.errors import GainsayError, StoreUnavailable
from service.store.schema import roles
from service.store.schema.address import check_address
from service.store.schema.pooler import check_sessions
from service.store.schema.session import Session

SEARCH_PATH = f"{roles.SCHEMA}, pg_temp"  # pg_temp last: a temporary table never stands in for one of ours
BUSY_SECONDS = 60  # at most, for another process that migrates, and for sessions that use a file's tables
LOCK_SECONDS = 2  # of these without a break for a table's lock: later sessions queue behind ours
PAUSE_SECONDS = 8  # in which those sessions have the table

_NAME = re.compile(r"\d{4}_[a-z0-9_]+\.sql")
_OWN_TRANSACTION = re.compile(
    r"^\s*(?:(?:BEGIN|COMMIT|ROLLBACK|START)(?:\s+(?:TRANSACTION|WORK))?\s*;|--\s*transactional\s*:\s*false)",
    re.IGNORECASE | re.MULTILINE,
)
_LOCK_KEY = int.from_bytes(hashlib.sha256(b"gainsay migrate").digest()[:8], "big", signed=True)


class MigrationError(GainsayError):
    """The database and the migration files do not fit together."""

    code = "migration"
    title = "The database cannot be migrated"


class BadMigrationFile(MigrationError):
    """A file in migrations/ cannot be applied."""

    code = "migration_file"


class EditedMigration(MigrationError):
    """A file was changed after it had been applied."""

    code = "migration_edited"


class DeletedMigration(MigrationError):
    """A file that had been applied is gone."""

    code = "migration_deleted"


class MisplacedMigration(MigrationError):
    """A new file has a number below one that was applied already."""

    code = "migration_misplaced"


class MigrationFailed(MigrationError):
    """PostgreSQL refused a file; its transaction was rolled back."""

    code = "migration_failed"


class MigrationBusy(MigrationError):
    """Another process migrates, or uses the tables of a file, for longer than the wait."""

    code = "migration_busy"
    status = 503


class Unmigrated(MigrationError):
    """The database lacks what this code needs."""

    code = "unmigrated"
    status = 503
    title = "The database is not migrated"


class DatabaseNewer(MigrationError):
    """The database has been migrated by a newer Gainsay than this one."""

    code = "database_newer"
    status = 503
    title = "The database is newer than this Gainsay"


Connection = psycopg.Connection[Any]


class File(NamedTuple):
    """One migration file; ``name`` is its name without ``.sql``."""

    name: str
    text: str
    sha256: bytes


def migrate(url: str, directory: Path, wait_s: float = inf) -> list[str]:
    """Apply what is due, as the migrator of ``url``; return the names that were applied now.

    Many processes may call this at the same time: one applies, the others wait and find nothing due. Raises
    `MigrationBusy` after waiting ``wait_s`` or `BUSY_SECONDS`; each applied file starts the wait anew.
    """
    files = read_files(directory)
    others_s = min(wait_s, BUSY_SECONDS)
    until = time.monotonic() + others_s
    with _connect(url) as connection:
        _take_lock(connection, until)
        roles.prepare(connection)
        due = _unapplied(files, connection)
        if due:
            with connection.patient():  # a file takes as long as it takes
                _apply(connection, due, until, others_s)
        return [file.name for file in due]


def pending(url: str, directory: Path) -> list[str]:
    """Return the names of the files that `migrate` would apply."""
    files = read_files(directory)
    with _connect(url) as connection:
        return [file.name for file in _unapplied(files, connection)]


def schema_version(connection: Connection) -> str | None:
    """Return the name of the last migration that the database has, None when it has none."""
    return max(_applied(connection), default=None)


def check_migrated(connection: Connection, directory: Path, group: str = roles.WRITER) -> None:
    """Raise a `MigrationError` unless the database has this code's migrations, and this code may run on it.

    ``group`` is the role that the login needs, for the message. The database may have later migrations, of a newer
    version that runs beside this one, as long as they allow this version.
    """
    due = _unapplied(read_files(directory), connection, group)
    if due:
        found = max(_applied(connection, group), default="an empty database")
        raise Unmigrated(f"expected migration {due[-1].name}, found {found}; run `gainsay migrate`")


def read_files(directory: Path) -> tuple[File, ...]:
    """Return the migration files in order of number; raise `BadMigrationFile` for one that breaks rule 1 or 2."""
    found = sorted(path for path in directory.iterdir() if path.name != "README.md") if directory.is_dir() else []
    if not found:
        raise BadMigrationFile(f"expected migrations like 0001_words.sql in {directory}, found none; reinstall Gainsay")
    files = tuple(_read_file(path) for path in found)
    for one, next_one in pairwise(files):
        if one.name[:4] == next_one.name[:4]:
            raise BadMigrationFile(
                f"expected one migration of number {one.name[:4]} in {directory}, found {one.name} and {next_one.name}"
                "; give the later one the next free number"
            )
    return files


def _read_file(path: Path) -> File:
    if not _NAME.fullmatch(path.name):
        raise BadMigrationFile(
            f"expected only files named like 0001_words.sql in {path.parent}, found {path.name}; rename or remove it"
        )
    stored = path.read_bytes()
    text = stored.decode("utf-8")
    own = _OWN_TRANSACTION.search(text)
    if own:
        line = text.count("\n", 0, own.end()) + 1
        raise BadMigrationFile(
            f"expected {path.name} to be one transaction, found {own.group().strip()!r} in line {line}; "
            "remove it, or split the file"
        )
    return File(path.stem, text, hashlib.sha256(stored).digest())


def _unapplied(files: Sequence[File], connection: Connection, group: str = roles.WRITER) -> tuple[File, ...]:
    """Compare files with what was applied (rules 3 to 5) and return those that are due."""
    roles.check_encoding(connection)
    applied = _applied(connection, group)
    _refuse_unknown(files, applied, connection)
    for file in files:
        if file.name in applied and applied[file.name] != file.sha256:
            raise EditedMigration(
                f"expected {file.name}.sql as it was applied, sha256 {applied[file.name].hex()}, found sha256 "
                f"{file.sha256.hex()}; restore the file and put the change into a new migration"
            )
    due = tuple(file for file in files if file.name not in applied)
    if due and applied and due[0].name < max(applied):
        raise MisplacedMigration(
            f"expected new migrations to be numbered after {max(applied)}, found {due[0].name}.sql, which is not "
            "applied; give it the next free number"
        )
    return due


def _refuse_unknown(files: Sequence[File], applied: Mapping[str, bytes], connection: Connection) -> None:
    """Rule 3: applied migrations that are none of our files."""
    last = files[-1].name
    unknown = sorted(set(applied) - {file.name for file in files})
    if unknown and unknown[0] <= last:
        raise DeletedMigration(f"expected file {unknown[0]}.sql, which was applied, found it gone; restore it")
    if unknown and ((floor := _floor(connection)) is None or floor > last):
        needed = f", and that {floor} has to be known" if floor else ""
        raise DatabaseNewer(
            f"expected a database up to migration {last}, found {unknown[0]} applied too{needed}; "
            "run the Gainsay that applied it, or a newer one"
        )


def _floor(connection: Connection) -> str | None:
    """The last migration that a version must know to run on this database; None if the database sets no floor."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [f"{roles.SCHEMA}.schema_floor"]).fetchone()
    if row is None or not row[0]:
        return None
    latest = connection.execute(
        sql.SQL("SELECT floor FROM {} ORDER BY id DESC LIMIT 1").format(sql.Identifier(roles.SCHEMA, "schema_floor"))
    ).fetchone()
    return None if latest is None else str(latest[0])


def _applied(connection: Connection, group: str = roles.WRITER) -> dict[str, bytes]:
    """Return the name and the SHA-256 of every applied file; none when the database is empty.

    ``group`` is the role that the login needs, for the message.
    """
    table = f"{roles.SCHEMA}.migration"
    # Every login may read the catalogue: one without rights on the schema yet must see an empty database.
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'migration')", [roles.SCHEMA]
    ).fetchone()
    if row is None or not row[0]:
        return {}
    try:
        with connection.transaction():  # or the next statement would be refused, too
            return dict(connection.execute(sql.SQL("SELECT name, sha256 FROM {}").format(sql.SQL(table))))
    except errors.InsufficientPrivilege as error:
        raise roles.RolesMissing(
            f"expected a member of {group}, found {connection.info.user!r}, which may not read {table}; "
            f"{roles.how_to_give(connection, group)}"
        ) from error


@contextmanager
def _connect(url: str) -> Iterator[Session]:
    """Connect; errors of PostgreSQL become `StoreUnavailable`, without the address's password."""
    check_address(url, "GAINSAY_MIGRATE_URL")
    try:
        with Session.of(url) as connection:
            check_sessions(connection, url, "GAINSAY_MIGRATE_URL")
            yield connection
    except psycopg.Error as error:
        found = error.diag.message_primary or next(iter(str(error).splitlines()), type(error).__name__)
        raise StoreUnavailable(
            f"expected to migrate the database, found: {found}; "
            "check that GAINSAY_MIGRATE_URL is right and that PostgreSQL runs"
        ) from error


def _take_lock(connection: Session, until: float) -> None:
    """Wait for the lock of all processes that migrate this database.

    It belongs to the connection that also applies the files. So it is held as long as the server works on a file, even
    when the client is dead, and no killed process leaves it behind.
    """
    seconds = max(until - time.monotonic(), LOCK_SECONDS)  # a process that only checks has it for a moment
    _set_lock_timeout(connection, seconds)
    try:
        with connection.patient(seconds):
            connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK_KEY])
    except errors.LockNotAvailable as error:
        raise MigrationBusy(
            f"expected to migrate, found another process migrating for {seconds:.0f} s; try again when it has ended"
        ) from error


def _set_lock_timeout(connection: Connection, seconds: float) -> None:
    """Set how long each lock is waited for from now on; PostgreSQL reads 0 as for ever."""
    connection.execute(sql.SQL("SET lock_timeout = {}").format(max(round(seconds * 1_000), 1)))


def _apply(connection: Session, due: Sequence[File], until: float, others_s: float) -> None:
    """Apply files in order; the caller holds the lock."""
    for file in due:
        _apply_in_turn(connection, file, until)
        until = time.monotonic() + others_s


def _apply_in_turn(connection: Session, file: File, until: float) -> None:
    """Apply a file; while others use its tables, let them pass from time to time and try again."""
    while True:
        _act_as_owner(connection)
        try:
            return _apply_one(connection, file)
        except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
            busy, left_s = _busy(file, error), until - time.monotonic()
            if left_s <= 0:
                raise busy from error
        except psycopg.Error as error:
            raise _failure(file, error) from error
        log_lines.DATABASE_WAITED_FOR(left_s=left_s, code=busy.code, detail=busy.detail)
        time.sleep(min(PAUSE_SECONDS, left_s))


def _act_as_owner(connection: Session) -> None:
    """Start a file as gainsay_owner, with our schema for unqualified names."""
    connection.execute(
        sql.SQL("SET ROLE {}; SET search_path = {}").format(sql.Identifier(roles.OWNER), sql.SQL(SEARCH_PATH))
    )
    _set_lock_timeout(connection, LOCK_SECONDS)


def _apply_one(connection: Session, file: File) -> None:
    """Run a file and record it, in one transaction. PostgreSQL parses the text; nothing splits it before."""
    record = sql.SQL("INSERT INTO {} (name, sha256) VALUES (%s, %s)").format(sql.Identifier(roles.SCHEMA, "migration"))
    with connection.transaction():
        connection.execute(file.text.encode())
        connection.execute(record, [file.name, file.sha256])


def _busy(file: File, error: psycopg.Error) -> MigrationBusy:
    return MigrationBusy(
        f"expected {file.name}.sql to lock its tables for a moment, found that other sessions use them "
        f"({error.diag.message_primary}, {error.sqlstate}): a dump or another long transaction reads or writes one. "
        "Find the session with the oldest xact_start in pg_stat_activity, let it end, or end it "
        "(pg_terminate_backend), then "
        "run `gainsay migrate` again; nothing of this file was applied"
    )


def _failure(file: File, error: psycopg.Error) -> MigrationFailed:
    position = error.diag.statement_position
    line = file.text.count("\n", 0, int(position) - 1) + 1 if position else None
    where = f"{file.name}.sql" + (f", line {line}" if line else "")
    return MigrationFailed(
        f"expected {where} to be applied, found: {error.diag.message_primary or type(error).__name__} "
        f"({error.sqlstate}); nothing of this file was applied. Correct the cause and run `gainsay migrate` again"
    )
