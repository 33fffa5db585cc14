"""PgBouncer in front of a test's database: a real one, where this machine has it or GAINSAY_TEST_PGBOUNCER names it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from service.store import guardian
from tests.postgres import Database, passable_folder

PATIENCE_S = 20.0
NOBODY = "nobody"
"""Whom it runs as where we are root: it refuses to be root."""


class Pooler:
    """One PgBouncer, which the block that made it ends."""

    def __init__(self, program: str, folder: Path, database: Database) -> None:
        self._program, self._folder, self._database = program, folder, database
        self._process: subprocess.Popen[bytes] | None = None
        self.port = guardian.free_port()

    def in_front(self, database: Database) -> Database:
        """The same database by addresses that lead here; the administrator's stays."""

        def moved(url: str) -> str:
            return make_conninfo(url, host="127.0.0.1", port=self.port)

        return Database(
            database.name,
            database.admin_url,
            moved(database.migrate_url),
            moved(database.service_url),
            moved(database.sequencer_url),
        )

    def start(self, **settings: str | float) -> None:
        """Start it with these settings, and wait until it takes connections."""
        self._write(settings)
        log = (self._folder / "pgbouncer.log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self._program, str(self._folder / "pgbouncer.ini")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=NOBODY if os.geteuid() == 0 else None,
                extra_groups=[] if os.geteuid() == 0 else None,
            )
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self._process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0):
                return
            time.sleep(0.02)
        raise AssertionError(f"PgBouncer does not start:\n{self.log[-2_000:]}")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, with all its connections."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE_S)
            self._process = None

    @property
    def log(self) -> str:
        """What it has said."""
        return (self._folder / "pgbouncer.log").read_text("utf-8", "replace")

    def _write(self, settings: dict[str, str | float]) -> None:
        parts = conninfo_to_dict(self._database.admin_url)
        ways = (self._database.migrate_url, self._database.service_url, self._database.sequencer_url)
        logins = {str(way["user"]): str(way["password"]) for way in map(conninfo_to_dict, ways)}
        given = {
            "listen_addr": "127.0.0.1",
            "listen_port": self.port,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": self._folder / "users.txt",
            "server_tls_sslmode": "disable",
            **settings,
        }
        users = "".join(f'"{name}" "{password}"\n' for name, password in logins.items())
        lines = "".join(f"{name} = {value}\n" for name, value in given.items())
        where = f"* = host={parts['host']} port={parts['port']}\n"
        (self._folder / "users.txt").write_text(users, "utf-8")
        (self._folder / "pgbouncer.ini").write_text(f"[databases]\n{where}[pgbouncer]\n{lines}", "utf-8")


@contextmanager
def pooler(database: Database) -> Iterator[Pooler]:
    """A PgBouncer that can be started; skips, and says so, where there is none on this machine."""
    program = os.environ.get("GAINSAY_TEST_PGBOUNCER") or shutil.which(
        "pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin"
    )
    if program is None:
        pytest.skip("not on this machine: pgbouncer")
    with passable_folder() as folder:
        made = Pooler(program, folder, database)
        try:
            yield made
        finally:
            made.stop()
