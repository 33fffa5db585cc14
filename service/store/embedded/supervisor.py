"""The supervisor: keeps one PostgreSQL server running as long as any process uses it, and warm for a while after that.

This is a program of its own: ``python -I -S supervisor.py HOME POSTGRES UID GID``. It uses the standard library alone
(and `home_files`, which does too), so that it starts in a few hundredths of a second. It is the server's parent, lives
in its own session (Ctrl-C in a terminal does not reach it) and holds none of its starter's pipes. It works by three
files in HOME:

    lock file     held by                        means
    users.lock    every user, shared             the server is in use
    users.lock    the supervisor, exclusively    it is not: the server is being stopped, new users wait
    guard.lock    the supervisor, exclusively    the server has a supervisor
    start.lock    a starter, exclusively         one starter at a time looks and acts

They are flock(2) locks: the kernel drops them when their process ends, however it ends. So the supervisor needs no list
of users. It requests users.lock exclusively, and gets it when the last user has left or was killed. HOME/status.json
gives starters the server's state.

HOME/warm.json says for how many seconds the server stays warm: without a user, and ready for the next one. Each user
writes its own wish when it comes and again when it leaves, so the last one decides; each writing also shows
the supervisor that a user was there. Meanwhile the supervisor holds no lock but guard.lock, and new users join at once.
With 0 seconds, or when HOME is gone, the server is stopped immediately.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

if not __package__:  # run as a program, in isolation: nothing is imported but the standard library and our own folder
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from service.store.embedded.home_files import (
    State,
    could_lock,
    last_use,
    leads_to,
    open_owned,
    read_pid_file,
    read_status,
    read_warmth,
    try_lock,
    until,
    write_status,
)

START_SECONDS = 60.0  # crash recovery replays up to max_wal_size (1 GB) before the server accepts connections
STOP_SECONDS = 30.0  # a fast shutdown writes one checkpoint
RESTARTS = 3  # in a row, each within RESTART_WINDOW seconds of the one before: then something is wrong for good
RESTART_WINDOW = 10.0
WARM_LOOK = 0.2  # seconds between looks at a warm server: whether it has a user again, and whether HOME is there
LOG_KEEPS = 8 * 1024 * 1024  # bytes; beyond that the log moves to server.log.1 at the next start

# What evidence needs is set here and not in postgresql.conf, so that it holds for clusters of any age.
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "password_encryption": "scram-sha-256",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # parallel queries need more /dev/shm than a container has
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # A failing statement and its DETAIL quote rows, and rows are evidence: neither belongs in a log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}  # no PGPORT or PGOPTIONS of a user reaches the server

# Each may pass by itself: children of a killed server that are still ending, or a port that another program took.
PORT_TAKEN = "could not create any TCP/IP sockets"
PASSING = ("pre-existing shared memory block", "lock file", PORT_TAKEN)
OF_CLIENTS = ("the database system is starting up", "terminating connection due to unexpected postmaster exit")

Event = Literal["unused", "asked to stop", "server died"]


class WouldNotStart(Exception):
    """The server did not become ready; the message is the end of its log."""


class Postmaster(NamedTuple):
    """A running server: our own child, or one whose supervisor was killed (``process`` is None then)."""

    pid: int
    port: int
    process: subprocess.Popen[bytes] | None
    cluster: Path

    def gone(self) -> bool:
        """Say whether it has ended; reap it if it is our child."""
        if self.process is not None:
            return self.process.poll() is not None
        return not is_postmaster(self.pid, self.cluster)

    def was_killed(self) -> bool:
        """Say whether `kill -9`, or the kernel when memory ran out, ended it, and not an error of its own."""
        return self.process is not None and self.process.returncode == -signal.SIGKILL

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended, ``seconds`` at most; say whether it has."""
        if self.process is None:
            return until(self.gone, float("inf") if seconds is None else seconds, every=0.1)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


def is_postmaster(pid: int, cluster: Path) -> bool:
    """Say whether a process is the live server of this cluster: not another program with its number, no zombie."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:
        if Path("/proc/self/cmdline").exists():
            return False
        ps = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]  # macOS has no /proc
        line = subprocess.run(ps, capture_output=True, check=False).stdout
        return os.fsencode(f"-D {cluster} ") in line
    except ProcessLookupError:  # it ended between open and read
        return False
    return os.fsencode(cluster) in words


def exists(pid: int) -> bool:
    """Say whether a process of this number exists, even as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def free_port() -> int:
    """Return a port of 127.0.0.1 that no program listens on at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Supervisor:
    """Starts, watches, restarts and stops the server of one HOME. ``user`` and ``group`` are None to keep our own."""

    def __init__(self, home: Path, postgres: Path, user: int | None, group: int | None) -> None:
        self.home, self.cluster, self.log = home, home / "cluster", home / "server.log"
        self.postgres, self.user, self.group = postgres, user, group
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.users: int | None = None
        self.guard: int | None = None  # guard.lock, opened and held
        self.port = 0  # where the server was started last

    def is_home_ours(self) -> bool:
        """Say whether HOME is still the folder of our lock, and not another one that has its name since."""
        return self.guard is None or leads_to(self.home / "guard.lock", self.guard)

    def report(self, state: State, *, pid: int = 0, port: int | None = None, reason: str = "") -> None:
        """Write the status, unless HOME is another supervisor's by now."""
        if self.is_home_ours():
            write_status(self.home, state, port=self.port if port is None else port, pid=pid, reason=reason)

    def run(self, port: int | None) -> None:
        """Run until the last user has left, or until a signal asks to stop; on ``port`` if one is given and free."""
        for ask in (signal.SIGTERM, signal.SIGINT):
            signal.signal(ask, lambda *_: self.events.put("asked to stop"))
        try:
            server = self.adopt() or self.start(port)
            threading.Thread(target=self.await_disuse, daemon=True).start()
            self.watch(server)
        except WouldNotStart as reason:
            self.report("failed", reason=str(reason))

    def await_disuse(self) -> None:
        """Block until the last user has left and its warm time is over, then hold users.lock: new users now wait."""
        users = open_owned(self.home / "users.lock", os.O_RDWR)
        while True:
            fcntl.flock(users, fcntl.LOCK_EX)  # no user is left
            seconds = read_warmth(self.home) if self.is_home_ours() else 0.0
            if not seconds or self.is_over(users, seconds):
                break
        self.users = users
        self.events.put("unused")

    def is_over(self, users: int, seconds: float) -> bool:
        """Keep the server warm; hold users.lock if no user came and HOME stayed in all the time, and say so."""
        seen = last_use(self.home)
        fcntl.flock(users, fcntl.LOCK_UN)

        def used() -> bool:
            return last_use(self.home) != seen or not could_lock(users, fcntl.LOCK_EX)

        until(lambda: used() or not self.is_home_ours(), seconds, every=WARM_LOOK)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return last_use(self.home) == seen or not self.is_home_ours()

    def watch(self, server: Postmaster) -> None:
        """Report that the server is ready, restart it when it dies in use, stop it when it is not used any more."""
        restarts, started = 0, time.monotonic()
        while True:
            self.report("ready", port=server.port, pid=server.pid)
            threading.Thread(target=self.await_death, args=(server,), daemon=True).start()
            if self.events.get() != "server died":
                self.stop(server)
                return
            restarts = restarts + 1 if time.monotonic() - started < RESTART_WINDOW else 1
            if restarts > RESTARTS:
                raise WouldNotStart(f"the server died {restarts} times in a row; see {self.log}")
            started = time.monotonic()
            server = self.start(server.port)  # the same port: its users' addresses stay valid

    def await_death(self, server: Postmaster) -> None:
        """Block until the server has ended."""
        server.wait()
        self.events.put("server died")

    def stop(self, server: Postmaster) -> None:
        """Stop the server: with a checkpoint, else without, else by force."""
        self.report("stopping", port=server.port, pid=server.pid)
        for how, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
            if server.gone():
                break
            os.kill(server.pid, how)
            if server.wait(seconds):
                break
        self.report("stopped", port=0)

    def adopt(self) -> Postmaster | None:
        """Adopt a server whose supervisor was killed, with its users; None when none runs."""
        lines = read_pid_file(self.cluster)
        if not lines:
            return None
        pid = int(lines[0])
        if not is_postmaster(pid, self.cluster):
            self.clear_pid_file(pid)
            return None
        server = Postmaster(pid, int(lines[3]), None, self.cluster)
        if not self.settle(server, START_SECONDS):
            raise WouldNotStart(f"the server left running as process {pid} did not become ready; see {self.log}")
        return None if server.gone() else server

    def clear_pid_file(self, pid: int) -> None:
        """Remove postmaster.pid when its number now belongs to another program, or to a zombie that is not reaped.

        PostgreSQL reads either as a running server and would refuse to start for ever. When there is no such process it
        removes the file itself. In any case it still looks for processes attached to the cluster's shared memory, whose
        key is the folder's inode, so a second server on the same files stays impossible.
        """
        if exists(pid):
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)

    def start(self, port: int | None = None) -> Postmaster:
        """Start the server and wait until it accepts connections, recovery included; repeat after passing errors.

        If another program has taken the port, a free one is used.
        """
        if not self.is_home_ours():
            raise WouldNotStart(f"the folder {self.home} was removed")
        self.report("starting", port=port or 0)
        self.turn_log()
        deadline = time.monotonic() + START_SECONDS
        while True:
            begun = self.log.stat().st_size if self.log.exists() else 0
            server = self.launch(port or free_port())
            if not self.settle(server, deadline - time.monotonic()):
                self.stop(server)
                raise WouldNotStart(f"not ready after {START_SECONDS:.0f} s: {end_of(self.log_since(begun))}")
            if not server.gone():
                return server
            said = self.log_since(begun)
            if time.monotonic() > deadline or not (server.was_killed() or any(words in said for words in PASSING)):
                raise WouldNotStart(end_of(said))
            port = None if PORT_TAKEN in said else port
            time.sleep(0.2)

    def launch(self, port: int) -> Postmaster:
        """Run the postgres program, as the unprivileged user when we are root."""
        self.port = port
        settings = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        command = [str(self.postgres), "-D", str(self.cluster), "-c", f"port={port}", *settings]
        try:
            log = open_owned(self.log, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError as error:
            raise WouldNotStart(f"the folder {self.home} was removed") from error
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=ENVIRONMENT,
                cwd=self.cluster,
                user=self.user,
                group=self.group,
                extra_groups=None if self.user is None else [],
            )
        except OSError as error:
            raise WouldNotStart(f"cannot run {self.postgres} as user {self.user or os.geteuid()}: {error}") from error
        finally:
            os.close(log)
        return Postmaster(process.pid, port, process, self.cluster)

    def settle(self, server: Postmaster, seconds: float) -> bool:
        """Wait until the server accepts connections or has ended; False when it has done neither in that time."""
        return until(lambda: self.is_ready(server.pid) or server.gone(), seconds)

    def is_ready(self, pid: int) -> bool:
        """Say whether this very process has written to postmaster.pid that it accepts connections."""
        lines = read_pid_file(self.cluster)
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def turn_log(self) -> None:
        """Begin a new log when the old one is long; keep one old log."""
        if self.log.exists() and self.log.stat().st_size > LOG_KEEPS:
            self.log.replace(self.log.with_name("server.log.1"))

    def log_since(self, begun: int) -> str:
        """The server's log since it had ``begun`` bytes.

        Lines about clients are left out: hundreds may have connected too early, or been cut off when the previous
        server was killed, and none of them says why this one does not start.
        """
        with self.log.open("rb") as log:
            log.seek(begun)
            lines = log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(line for line in lines if not any(words in line for words in OF_CLIENTS))


def end_of(said: str) -> str:
    """The last eight lines."""
    return "\n".join(said.splitlines()[-8:])


def main(words: list[str]) -> int:
    """Take guard.lock, go into the background, supervise. Exit status 3: another supervisor was first.

    The lock is taken before the fork, so when this program returns, a supervisor runs and its status is fresh.
    """
    home, postgres, user, group = Path(words[0]), Path(words[1]), int(words[2]), int(words[3])
    os.umask(0o077)
    guard: int | None = None
    for _ in range(20):  # another process may be testing the lock at this moment
        guard = try_lock(home / "guard.lock", fcntl.LOCK_EX)
        if guard is not None:
            break
        time.sleep(0.05)
    else:
        return 3
    last = read_status(home)
    port = last["port"] if last else 0  # none after a stop; after a crash its users still connect to it
    write_status(home, "starting", port=port)
    if os.fork():
        os._exit(0)
    guardian = Supervisor(home, postgres, None if user < 0 else user, None if group < 0 else group)
    guardian.guard = guard
    guardian.run(port or None)
    os.close(guard)  # before users.lock, which the exit drops: the next user then finds no supervisor and starts one
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
