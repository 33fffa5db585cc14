"""PostgreSQL servers of a test's own: to stop, kill, freeze, fill up and fail over; and a wire that can fall silent.

A `Blank` is a migrated cluster that is copied for each server, so one costs half a second. As root a server runs as
another user, like the embedded one.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from service.store.embedded import supervisor
from service.store.embedded.cluster import DATABASE, Login, make_cluster
from service.store.embedded.data_dir import OsAccount, choose_place, find_programs, reachable_programs
from service.store.embedded.server import SHELTER
from service.store.schema.migrate import migrate
from tests.fixtures.postgres import MIGRATIONS

QUIET = (
    *("listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=16MB", "wal_level=replica"),
    "dynamic_shared_memory_type=mmap",  # in the cluster's folder, so that a killed server leaves nothing elsewhere
)
OPTIONS = "sslmode=disable&gssencmode=disable"
REPLICATED = "host replication postgres 127.0.0.1/32 scram-sha-256\n"
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Programs:
    """PostgreSQL's programs, and who runs them when we are root."""

    folder: Path
    account: OsAccount | None

    def begin(self, program: str, *words: str, log: Path, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program, as the server's own user."""
        account = self.account
        with log.open("ab") as told:
            return subprocess.Popen(
                [str(self.folder / program), *words],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                env={**supervisor.ENVIRONMENT, **environment},
                cwd="/",
                umask=0o077,
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )

    def own(self, folder: Path) -> None:
        """Make a folder the server's."""
        folder.mkdir(exist_ok=True)
        if self.account is not None:
            os.chown(folder, self.account.uid, self.account.gid)


class PrivateServer:
    """One server of a test. It is a child of the test, so none is left when the block ends."""

    def __init__(self, home: Path, programs: Programs, passwords: dict[str, str]) -> None:
        self.home, self.programs, self.passwords = home, programs, passwords
        self.port = supervisor.free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The cluster."""
        return self.home / "cluster"

    def url(self, role: Login = "gainsay_service", database: str = DATABASE) -> str:
        """The way in for a role."""
        return addressed(role, self.passwords[role], [self.port], database)

    def start(self, *settings: str) -> None:
        """Start, and wait until it lets in."""
        self.launch(*settings)
        self.wait()

    def launch(self, *settings: str) -> None:
        """Start."""
        words = [word for setting in (*QUIET, f"port={self.port}", *settings) for word in ("-c", setting)]
        self._process = self.programs.begin("postgres", "-D", str(self.data), *words, log=self.home / "server.log")

    def wait(self) -> None:
        """Wait until it lets in."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self._process is not None and self._process.poll() is None:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url("postgres"), connect_timeout=5):
                return
            time.sleep(0.02)
        raise AssertionError(f"the server does not start:\n{(self.home / 'server.log').read_text()[-2_000:]}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT as `pg_ctl stop` does, SIGQUIT at once, SIGKILL as a crash; wait until all of it is gone."""
        if (process := self._process) is None:
            return
        family = self._family()
        process.send_signal(how)
        process.wait(PATIENCE_S)
        until = time.monotonic() + PATIENCE_S
        while any(Path(f"/proc/{pid}/stat").exists() for pid in family[1:]) and time.monotonic() < until:
            time.sleep(0.01)
        self._process = None

    def crash(self) -> None:
        """End all of its processes at the same moment, as a power cut does."""
        assert self._process is not None
        self._signal(signal.SIGKILL)
        self.stop(signal.SIGKILL)

    def promote(self) -> None:
        """Make this standby the server that is written to, as an operator does."""
        words = ("promote", "-D", str(self.data), "-w", "-t", str(int(PATIENCE_S)))
        promoting = self.programs.begin("pg_ctl", *words, log=self.home / "server.log")
        assert promoting.wait(PATIENCE_S) == 0, (self.home / "server.log").read_text()[-2_000:]

    def clear(self) -> None:
        """Remove what the kernel keeps of a server that was killed, and that nobody starts again."""
        with suppress(FileNotFoundError, IndexError):
            segment = (self.data / "postmaster.pid").read_text("ascii").splitlines()[6].split()[1]
            subprocess.run(["ipcrm", "-m", segment], check=False)

    def freeze(self) -> None:
        """Let it do nothing more, without a word to anybody: its kernel still takes connections and bytes."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on where it was."""
        self._signal(signal.SIGCONT)

    def do(self, *statements: str) -> None:
        """Run statements as superuser in the service's database."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            for statement in statements:
                admin.execute(statement.encode())

    def _signal(self, which: signal.Signals) -> None:
        for pid in self._family():
            with suppress(ProcessLookupError):
                os.kill(pid, which)

    def _family(self) -> list[int]:
        """The postmaster and its processes."""
        assert self._process is not None
        first = self._process.pid
        with suppress(FileNotFoundError, ProcessLookupError):
            children = Path(f"/proc/{first}/task/{first}/children").read_text("ascii").split()
            return [first, *map(int, children)]
        return [first]


class Blank:
    """A migrated cluster, stopped."""

    def __init__(self, folder: Path) -> None:
        place = choose_place(folder / "blank", SHELTER)
        programs = Programs(reachable_programs(find_programs(), place.account, SHELTER), place.account)
        lock = os.open(place.home / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            passwords = make_cluster(place, programs.folder, lock)
        finally:
            os.close(lock)
        with (place.cluster / "pg_hba.conf").open("a", encoding="ascii") as rules:
            rules.write(REPLICATED)
        self.folder = folder
        self.server = PrivateServer(place.home, programs, passwords)
        self._made = 0
        self.server.start("fsync=off")
        try:
            migrate(self.server.url("gainsay_migrator"), MIGRATIONS)
        finally:
            self.server.stop()

    @contextmanager
    def copied(self, *settings: str) -> Iterator[PrivateServer]:
        """A running server on a copy."""
        with self.home() as home:
            subprocess.run(["cp", "-a", str(self.server.data), str(home / "cluster")], check=True)
            server = PrivateServer(home, self.server.programs, self.server.passwords)
            with ended(server):
                server.start(*settings)
                yield server

    @contextmanager
    def standby_of(self, primary: PrivateServer) -> Iterator[PrivateServer]:
        """A running standby of a server, which follows it."""
        with self.home() as home:
            standby = PrivateServer(home, self.server.programs, self.server.passwords)
            words = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres", "-D", str(standby.data), "-R", "-X")
            password = primary.passwords["postgres"]
            copying = primary.programs.begin(
                "pg_basebackup", *words, "stream", "-c", "fast", log=home / "server.log", PGPASSWORD=password
            )
            assert copying.wait(PATIENCE_S) == 0, (home / "server.log").read_text()
            with ended(standby):
                standby.start()
                yield standby

    @contextmanager
    def home(self) -> Iterator[Path]:
        """A folder that the server's user may write to."""
        self._made += 1
        home = self.folder / f"server-{self._made}"
        self.server.programs.own(home)
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def ended(server: PrivateServer) -> Iterator[None]:
    """Let the server end with the block, also where it is frozen."""
    try:
        yield
    finally:
        with suppress(AssertionError):
            server.thaw()
        server.stop(signal.SIGQUIT)
        server.clear()


def promote(standby: PrivateServer) -> None:
    """Make a standby the server that is written to."""
    with psycopg.connect(standby.url("postgres"), autocommit=True) as admin:
        assert admin.execute("SELECT pg_promote(true, 60)").fetchone() == (True,)


def addressed(role: Login, password: str, ports: Sequence[int], database: str = DATABASE) -> str:
    """An address with one server or several."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    writing = "&target_session_attrs=read-write" if len(ports) > 1 else ""
    return f"postgresql://{role}:{password}@{hosts}/{database}?{OPTIONS}{writing}"


class Wire:
    """A way to a server that can fall silent: nothing is cut, nothing is answered, and what was sent arrives later."""

    def __init__(self, port: int) -> None:
        self.port, self.mine = port, 0
        self._left: int | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._ends: set[asyncio.Task[None]] = set()

    def through(self, url: str) -> str:
        """The address of the server by this wire."""
        return str(psycopg.conninfo.make_conninfo(url, port=self.mine, host="127.0.0.1"))

    def mute(self) -> None:
        """Carry nothing for a while."""
        self._open.clear()

    def mute_after(self, count: int) -> None:
        """Fall silent once so many bytes more have been carried."""
        self._left = count

    def speak(self) -> None:
        """Carry what was held, and go on."""
        self._open.set()

    async def carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """Carry one connection to its end."""
        try:
            far, there = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            back.close()
            return
        both = [asyncio.create_task(self._pump(near, there)), asyncio.create_task(self._pump(far, back))]
        self._ends.update(both)
        await asyncio.gather(*both, return_exceptions=True)
        self._ends.difference_update(both)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                self._count(len(data))
                await self._open.wait()
                sink.write(data)
                await sink.drain()
            await self._open.wait()
        except OSError:
            pass
        finally:
            sink.close()

    def _count(self, size: int) -> None:
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                self.mute()

    async def close(self) -> None:
        """Cut everything."""
        for end in self._ends:
            end.cancel()
        await asyncio.gather(*self._ends, return_exceptions=True)


@asynccontextmanager
async def wire_to(url: str) -> AsyncIterator[Wire]:
    """A wire to the server of an address."""
    wire = Wire(int(str(psycopg.conninfo.conninfo_to_dict(url)["port"])))
    server = await asyncio.start_server(wire.carry, "127.0.0.1", 0, family=socket.AF_INET)
    wire.mine = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        await wire.close()
        await server.wait_closed()
