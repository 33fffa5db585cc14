"""An embedded PostgreSQL: made at the first start, shared by all processes of this machine, stopped after the last.

A user may ask that the server stays warm for some seconds after it, so that a next command finds it running.

``with shared_server(folder) as server`` gives a server whose files are in the folder; all users of one folder share the
server. It listens on 127.0.0.1 alone, with passwords that were drawn when the cluster was made. `supervisor` is its
parent process and stops it when no process uses it any more, also when the users were killed. In the folder:

    cluster/          the database cluster (see `cluster`)
    passwords.json    of the roles that log in; mode 0600
    server.log        PostgreSQL's log
    guardian.log      errors of the supervisor, normally empty
    status.json       the state of the server
    warm.json         for how long the server stays after its last user
    *.lock            see `supervisor`
    moved-to.txt      for root only: the place of all the above (see `data_dir`)
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from service.store.embedded import home_files, supervisor
from service.store.embedded.cluster import DATABASE, Login, ServerWouldNotStart, complete_logins, make_cluster
from service.store.embedded.data_dir import (
    DataDir,
    EmbeddedPostgresError,
    FolderUnusable,
    ProgramsMissing,
    choose_place,
    find_programs,
    reachable_programs,
    writing_in,
)

__all__ = [
    "EmbeddedPostgresError",
    "FolderUnusable",
    "ProgramsMissing",
    "Server",
    "ServerWouldNotStart",
    "Stopping",
    "shared_server",
    "stop_server",
]
Stopping = Literal["none", "stopped", "in use"]
"""What `stop_server` found: no server, one that it has stopped, or one that other processes use."""

SHELTER = Path("/var/lib/gainsay")  # root's place for files that the unprivileged user could not reach elsewhere
SPAWNS = 3  # supervisors that one start tries: one that ends without a status was killed
SIGHTINGS = 3  # of other users before leaving without a wait: a single one may be a user that is leaving too
LEAVE_SECONDS = supervisor.STOP_SECONDS + 15.0


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server: where its files are, its port on 127.0.0.1, and how to connect."""

    home: Path
    port: int
    passwords: dict[str, str] = field(repr=False)

    def url(self, role: Login = "gainsay_service", database: str = DATABASE) -> str:
        """The address of a database for a role, password included: not for logs."""
        # Only SCRAM: were another program to take the port, it could not ask for the password itself.
        options = "sslmode=disable&gssencmode=disable&require_auth=scram-sha-256"
        return f"postgresql://{role}:{self.passwords[role]}@127.0.0.1:{self.port}/{database}?{options}"


class _Locks(NamedTuple):
    """The two lock files, opened without a lock, so that their locks can be tested when the folder is gone."""

    users: int
    guard: int


@contextmanager
def shared_server(folder: Path, *, shelter: Path = SHELTER, warm_s: float = 0.0) -> Iterator[Server]:
    """Use the folder's server, started if necessary, until the block ends; then it stops unless others use it.

    The wish of the user that leaves last counts: with ``warm_s`` the server stays for so many seconds, at most
    `home_files.WARM_MOST`, and leaving does not wait; with 0 it has stopped when the block is left. Raises a subclass
    of `EmbeddedPostgresError` when there can be no server. A process that forks without executing another program
    (multiprocessing's "fork") shares its use with the child.
    """
    _check_loopback()
    place = choose_place(folder, shelter)
    with ExitStack() as leaving:
        with writing_in(place.home):
            programs = reachable_programs(find_programs(), place.account, shelter)
            locks = _Locks(*(_open(place.home / name, leaving) for name in ("users.lock", "guard.lock")))
            users = home_files.wait_for_lock(place.home / "users.lock", fcntl.LOCK_SH)
        leaving.callback(_leave, place, programs, locks, warm_s)
        leaving.callback(os.close, users)  # runs second: dropping this lock is what leaving means
        with writing_in(place.home):
            home_files.write_warmth(place.home, warm_s)
            leaving.callback(_write_last_wish, place, warm_s)  # runs first
            server = _start(place, programs)
        yield server


def stop_server(folder: Path, *, shelter: Path = SHELTER) -> Stopping:
    """Stop a server that is only warm, and wait for that; say what there was. Raises `FolderUnusable`.

    A server in use stays. It stops as its last user wishes.
    """
    if not folder.exists():
        return "none"
    place = choose_place(folder, shelter)
    with ExitStack() as leaving, writing_in(place.home):
        locks = _Locks(*(_open(place.home / name, leaving) for name in ("users.lock", "guard.lock")))
        if not _has_guardian(place.home) and not _is_server_left(place):
            return "none"
        home_files.write_warmth(place.home, 0.0)
        _await_stop(place, reachable_programs(find_programs(), place.account, shelter), locks)
        return "stopped" if home_files.could_lock(locks.guard, fcntl.LOCK_SH) else "in use"


def _write_last_wish(place: DataDir, warm_s: float) -> None:
    """Write the wish of a user that leaves. If that fails, the last one stays; what the user did is done."""
    with suppress(OSError):
        home_files.write_warmth(place.home, warm_s)


def _leave(place: DataDir, programs: Path, locks: _Locks, warm_s: float) -> None:
    """Wait for the server's end, or only see to it that a supervisor is there to bring it about."""
    if not warm_s:
        _await_stop(place, programs, locks)
    elif home_files.could_lock(locks.guard, fcntl.LOCK_SH) and _is_server_left(place):
        _spawn_guardian(place, programs)


def _open(path: Path, until: ExitStack) -> int:
    descriptor = home_files.open_owned(path, os.O_RDWR)
    until.callback(os.close, descriptor)
    return descriptor


def _check_loopback() -> None:
    """Refuse at once if 127.0.0.1 leads nowhere, as in a network namespace whose loopback is down."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("127.0.0.1", 9))  # of a datagram socket: looks up the route, sends nothing
    except OSError as error:
        raise ServerWouldNotStart(
            f"expected this machine to reach itself at 127.0.0.1, found: {error}; bring the loopback interface up "
            "(ip link set lo up)"
        ) from error


def _start(place: DataDir, programs: Path) -> Server:
    """Make the cluster if there is none, and make sure that its server runs; one starter at a time."""
    start = home_files.wait_for_lock(place.home / "start.lock", fcntl.LOCK_EX)
    try:
        passwords = make_cluster(place, programs, start)
        server = Server(home=place.home, port=_ensure_running(place, programs), passwords=passwords)
        found = complete_logins(place, passwords, server.url("postgres", "postgres"))
        return replace(server, passwords=found)
    finally:
        os.close(start)


def _ensure_running(place: DataDir, programs: Path) -> int:
    """Have a supervisor start the server unless it runs already; return its port when it accepts connections."""
    deadline = time.monotonic() + supervisor.START_SECONDS + 10.0
    spawned = 0
    while time.monotonic() < deadline:
        guarded = _has_guardian(place.home)
        status = home_files.read_status(place.home)
        if guarded and status and status["state"] == "ready" and _answers(status["port"]):
            return status["port"]
        if guarded:
            time.sleep(0.01)
            continue
        if spawned and status and status["state"] == "failed":
            raise ServerWouldNotStart(
                f"expected PostgreSQL to start on {place.cluster}, found that it did not; "
                f"the end of {place.home / 'server.log'} says why:\n{status['reason']}"
            )
        if spawned == SPAWNS:
            break
        _spawn_guardian(place, programs)
        spawned += 1
    raise ServerWouldNotStart(
        f"expected PostgreSQL on {place.cluster} to answer on 127.0.0.1 within {supervisor.START_SECONDS:.0f} s, found "
        f"that it does not; see server.log and guardian.log in {place.home}. A folder that another container uses too "
        "does not work: the server listens there, not here"
    )


def _has_guardian(home: Path) -> bool:
    return not home_files.is_free(home / "guard.lock", fcntl.LOCK_SH)


def _spawn_guardian(place: DataDir, programs: Path) -> None:
    """Start a supervisor in the background; when this returns one runs, ours or another's."""
    account = place.account
    user, group = (account.uid, account.gid) if account else (-1, -1)
    words = [str(place.home), str(programs / "postgres"), str(user), str(group)]
    log = home_files.open_owned(place.home / "guardian.log", os.O_WRONLY | os.O_APPEND)
    try:
        subprocess.run(
            [sys.executable, "-I", "-S", supervisor.__file__, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(log)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
    except OSError:
        return False
    return True


def _await_stop(place: DataDir, programs: Path, locks: _Locks) -> None:
    """After leaving, wait until the server has stopped or others are seen to use it.

    The supervisor stops the server; waiting for that lets the caller remove the folder. If the supervisor was killed, a
    new one is started to take the server over and stop it.
    """
    deadline = time.monotonic() + LEAVE_SECONDS
    shared = 0
    while time.monotonic() < deadline:
        guarded = not home_files.could_lock(locks.guard, fcntl.LOCK_SH)
        if not guarded and _is_server_left(place):
            _spawn_guardian(place, programs)
        elif not guarded and home_files.could_lock(locks.users, fcntl.LOCK_SH):
            return  # the server has stopped, and its supervisor has dropped its last lock
        # In this order: if the supervisor takes the lock between the two tests, the second test fails as well.
        others = not home_files.could_lock(locks.users, fcntl.LOCK_EX) and home_files.could_lock(
            locks.users, fcntl.LOCK_SH
        )
        shared = shared + 1 if others else 0
        if shared == SIGHTINGS:
            return
        time.sleep(0.005)


def _is_server_left(place: DataDir) -> bool:
    lines = home_files.read_pid_file(place.cluster)
    return bool(lines) and supervisor.is_postmaster(int(lines[0]), place.cluster)
