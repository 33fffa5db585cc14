"""A deployment of many processes on a PostgreSQL of its own, with a vendor, and the ways in which it is hit.

    api-1, api-2, work-1 to work-4, sequence-1, sequence-2, witness    as any deployment has them
    write-1, write-2                                                   write records as fast as they can (`hammered`)
    vendor                                                             answers, on a bad day (`vendor.Moody`)

Every process may be killed, stopped for a while or told to end at any moment, PostgreSQL killed, and is started again.
The vendor alone is nobody's to kill: it keeps the books of what it bills. None may end by itself but one that found no
database when it started.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import psycopg

from service.audit.note import COSIGNATURE, SigningKey
from service.store.embedded import home_files, supervisor
from service.store.embedded.cluster import Login
from service.store.embedded.server import shared_server
from service.store.schema.migrate import migrate
from tests.end_to_end.vendors.policies import CLOSED, JUDGE, OPEN
from tests.faults import hammered
from tests.faults.books import models, wires
from tests.faults.foreman import Foreman, Forked, foreman
from tests.faults.vendor import Vendor, vendor
from tests.fixtures.policies import WRITTEN, policy_file
from tests.fixtures.postgres import MIGRATIONS, passable_folder
from tests.fixtures.serving import SIGNING_KEY

WITNESS_KEY = SigningKey.from_seed("witness.example", b"\x09" * 32, COSIGNATURE)
PATIENCE_S = 120.0
"""How long anything may take on a machine that has other things to do."""
NO_DATABASE = "store_unavailable"
UP = re.compile(rb"event=process\.(?:serving|sequencing|taking_debates|signing|witnessing)\b")
"""The line of every command that runs until it is told to stop."""
LEASE_S = 2.0
CALL_TIMEOUT_S = 3


class Server(Protocol):
    """What a deployment asks of its PostgreSQL."""

    @property
    def home(self) -> Path:
        """The folder with its cluster and what it says."""

    def url(self, role: Login, /) -> str:
        """The way in for a role."""


async def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; a database that is away says nothing."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            if holds():
                return
        except psycopg.OperationalError:
            pass
        await asyncio.sleep(0.05)
    raise AssertionError(f"not so after {PATIENCE_S:g} s: {what}")


@dataclass
class Child:
    """A process of the deployment."""

    name: str
    process: Forked
    stderr: Path
    since: int = 0

    def told(self) -> str:
        """What this one said last, and not the one before."""
        return self.stderr.read_bytes()[self.since :][-2_000:].decode(errors="replace")

    def is_up(self) -> bool:
        """Whether this one, and not the one before, has said that it works, and takes SIGTERM for an order by now."""
        return UP.search(self.stderr.read_bytes(), self.since) is not None


class Deployment:
    """All processes. What each was told is in the folder, with what it noted (`hammered`)."""

    WRITERS: ClassVar = ("write-1", "write-2")
    CHILDREN: ClassVar = {
        "api-1": ("serve", "--no-worker", "--no-sequencer", "--port", "{api-1}"),
        "api-2": ("serve", "--no-worker", "--no-sequencer", "--port", "{api-2}"),
        "work-1": ("work",),
        "work-2": ("work",),
        "work-3": ("work",),
        "work-4": ("work",),
        "write-1": ("append", "write-1"),
        "write-2": ("append", "write-2"),
        "sequence-1": ("sequence",),
        "sequence-2": ("sequence",),
        "witness": (
            *("witness", "--key", "file:{folder}/witness.key", "--heads", "{folder}/witnessed"),
            *("--log", SIGNING_KEY.public.encode(), "--port", "{witness}"),
        ),
    }

    def __init__(self, folder: Path, server: Server, vendor: Vendor, lead: Foreman) -> None:
        self.folder, self.server, self.vendor = folder, server, vendor
        self._foreman = lead
        self.ports = {name: supervisor.free_port() for name in ("api-1", "api-2", "witness")}
        self.children: dict[str, Child] = {}
        self.hits: list[str] = []

    @property
    def apis(self) -> list[str]:
        """The addresses of the API."""
        return [f"http://127.0.0.1:{self.ports[name]}" for name in ("api-1", "api-2")]

    def start(self, name: str) -> None:
        """Start a process, for the first time or anew."""
        stderr = self.folder / f"{name}.stderr.txt"
        since = stderr.stat().st_size if stderr.exists() else 0
        words = [w.format(folder=self.folder, **self.ports) for w in self.CHILDREN[name]]
        told = {"folder": str(self.folder), "words": words}
        process = self._foreman.start(hammered.__name__, told, stderr, self._environment(name))
        self.children[name] = Child(name, process, stderr, since)

    def keep(self, busy: Collection[str] = ()) -> None:
        """Start again what found no database when it started; whatever else has ended by itself is a failure."""
        for child in tuple(self.children.values()):
            if child.name not in busy and (code := child.process.poll()) is not None:
                found = f"{child.name} ended with {code}: {child.told()}"
                assert (code, NO_DATABASE in child.told()) == (3, True), found
                self.start(child.name)

    async def kill(self, name: str) -> None:
        """Kill a process as `kill -9` does, and start it again."""
        self.hits.append(f"kill {name}")
        self.children[name].process.kill()
        await asyncio.to_thread(self.children[name].process.wait)
        self.start(name)

    async def retire(self, name: str) -> None:
        """Tell a process to stop, as an update does, and start it again once it has ended well."""
        await self.up(name)
        child = self.children[name]
        self.hits.append(f"retire {name}")
        child.process.terminate()
        code = await asyncio.to_thread(child.process.wait, PATIENCE_S)
        assert code == 0, f"{name}: {code}: {child.told()}"
        self.start(name)

    async def pause(self, name: str, seconds: float) -> None:
        """Stop a process in whatever it does; it goes on where it was, after its leases have run out."""
        self.hits.append(f"pause {name}")
        process = self.vendor.process if name == "vendor" else self.children[name].process
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def cut(self, name: str) -> None:
        """End the connections of a process with PostgreSQL, as by a broken network."""
        self.hits.append(f"cut {name}")
        self.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", f"soak-{name}")

    async def kill_leader(self) -> None:
        """Kill the sequencer that leads."""
        await eventually(lambda: self.leader() is not None, "a sequencer leads")
        await self.kill(self.leader() or "sequence-1")

    async def pause_leader(self, *, cut: bool) -> None:
        """Stop the sequencer that leads in whatever it does, until another one leads; it then goes on where it was.

        With ``cut`` its connections are ended at once, as by a broken network; otherwise PostgreSQL does that when it
        has been silent for long enough.
        """
        await eventually(lambda: self.leader() is not None, "a sequencer leads")
        name = self.leader() or "sequence-1"
        self.hits.append(f"pause {name}")
        os.kill(self.children[name].process.pid, signal.SIGSTOP)
        if cut:
            self.cut(name)
        other = {"sequence-1": "sequence-2", "sequence-2": "sequence-1"}[name]
        await eventually(lambda: self.leader() == other, f"{other} leads")
        before = self.signed()
        await eventually(lambda: self.signed() > before, f"{other} signs")
        os.kill(self.children[name].process.pid, signal.SIGCONT)

    async def hit_postgres(self, how: signal.Signals) -> None:
        """End the server without a word to anybody; its guardian starts it again on the same port."""
        self.hits.append(f"{how.name} to PostgreSQL")
        before = self._postmaster()
        os.kill(before, how)
        try:
            await eventually(lambda: self._postmaster() not in (0, before) and self._ready(), "PostgreSQL is back")
        except AssertionError as error:
            logs = [(self.server.home / name).read_text("utf-8")[-3_000:] for name in ("server.log", "guardian.log")]
            raise AssertionError("\n".join([str(home_files.read_status(self.server.home)), *logs])) from error

    async def up(self, name: str) -> None:
        """Wait until a process works; one that found no database is started again."""

        def works() -> bool:
            self.keep([other for other in self.children if other != name])
            return self.children[name].is_up()

        await eventually(works, f"{name} has started")

    async def stop(self) -> None:
        """Tell all to stop, which they do by themselves."""
        for name in tuple(self.children):
            await self.up(name)
        for child in self.children.values():
            child.process.terminate()
        for child in self.children.values():
            code = await asyncio.to_thread(child.process.wait, PATIENCE_S)
            assert code == 0, f"{child.name}: {code}: {child.told()}"
        self.children.clear()

    def end(self, name: str) -> None:
        """Kill a process for good."""
        child = self.children.pop(name)
        child.process.kill()
        child.process.wait()

    # -- what PostgreSQL says

    def leader(self) -> str | None:
        """The sequencer that leads."""
        rows = self.rows(
            "SELECT application_name FROM pg_locks JOIN pg_stat_activity a USING (pid) "
            "WHERE locktype = 'advisory' AND granted AND a.datname = current_database()"
        )
        names = [str(name).removeprefix("soak-") for (name,) in rows]
        return next((name for name in names if name.startswith("sequence")), None)

    def signed(self) -> int:
        """How many records lie under signed heads, of all logs."""
        ((size,),) = self.rows("SELECT coalesce(sum(s), 0) FROM (SELECT max(size) AS s FROM checkpoint GROUP BY log) x")
        return int(size)

    def rows(self, query: str, *params: object) -> list[tuple[Any, ...]]:
        """What the database has, as superuser."""
        with psycopg.connect(self.server.url("postgres"), options="-c search_path=gainsay") as admin:
            return admin.execute(query.encode(), params).fetchall()

    def _postmaster(self) -> int:
        lines = home_files.read_pid_file(self.server.home / "cluster")
        return int(lines[0]) if lines else 0

    def _ready(self) -> bool:
        status = home_files.read_status(self.server.home)
        return bool(status and status["state"] == "ready" and self.rows("SELECT 1"))

    def settings(self) -> dict[str, str]:
        """The settings of every process."""
        return {
            "GAINSAY_DATA_DIR": str(self.folder / "none"),
            "GAINSAY_DATABASE_URL": self.server.url("gainsay_service"),
            "GAINSAY_SEQUENCER_URL": self.server.url("gainsay_sequencing"),
            "GAINSAY_API_URL": self.server.url("gainsay_serving"),
            "GAINSAY_SIGNING_KEY": f"file:{self.folder}/log.key",
            "GAINSAY_HEADS_DIR": str(self.folder / "heads"),
            "GAINSAY_POLICY": str(self.folder / "gainsay.toml"),
            "GAINSAY_LEASE_S": f"{LEASE_S:g}",
            "GAINSAY_GRACE_S": "5",
            "GAINSAY_DRAIN_S": "1",
            "VENDOR_KEY": "sk-fake-0123456789abcdef",
        }

    def _environment(self, name: str) -> Mapping[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("GAINSAY_") or key == "GAINSAY_LOG_FORMAT"
        }
        return {**kept, **self.settings(), "PGAPPNAME": f"soak-{name}"}


D = TypeVar("D", bound=Deployment)


@contextmanager
def a_deployment(seed: int) -> Iterator[Deployment]:
    """A migrated PostgreSQL, keys, a vendor, a policy with both of them and a witness, and no process yet."""
    with passable_folder() as top, shared_server(top / "postgres") as server:
        migrate(server.url("gainsay_migrator"), MIGRATIONS)
        with deployed_on(server, top, Deployment, vendor("moody", seed=seed)) as made:
            yield made


@contextmanager
def deployed_on(server: Server, top: Path, kind: type[D], hired: AbstractContextManager[Vendor]) -> Iterator[D]:
    """The same on a PostgreSQL that is there, with the files in a folder, and a vendor."""
    with hired as till, foreman(hammered.__name__) as lead:
        folder = top / "deployment"
        folder.mkdir(mode=0o700)
        made = kind(folder, server, till, lead)
        for name, key in (("log", SIGNING_KEY), ("witness", WITNESS_KEY)):
            path = folder / f"{name}.key"
            path.touch(mode=0o600)
            path.write_text(f"{key.encode()}\n", "ascii")
        witness = {"url": f"http://127.0.0.1:{made.ports['witness']}", "key": WITNESS_KEY.public.encode()}
        policy_file(folder, **_policy(till.url), audit={"witnesses": [witness]})
        try:
            yield made
        except BaseException as error:
            told = "\n".join(f"--- {child.name}\n{child.told()}" for child in made.children.values())
            error.add_note(f"{', '.join(made.hits)}\n{told}")
            raise
        finally:
            for name in tuple(made.children):
                made.end(name)


def _policy(url: str) -> dict[str, Any]:
    """The shipped policy with every seat of every format at the vendor, and a limit to draw on that is never reached.

    The simulated models stay in the catalogue: the debates of the writers are theirs, whoever runs them.
    """
    seats = {
        **dict.fromkeys(("framing", "proposer", "rebuttal"), OPEN),
        **dict.fromkeys(("critic", "classifier"), CLOSED),
        **dict.fromkeys(("moderator", "judge", "synthesizer", "adjudicator"), JUDGE),
        "debater": [OPEN, CLOSED],
    }
    return {
        **WRITTEN,
        "providers": {**WRITTEN["providers"], **wires(url, CALL_TIMEOUT_S)},
        "models": [*WRITTEN["models"], *models()],
        "seats": {name: {**seat, "model": seats[name]} for name, seat in WRITTEN["seats"].items()},
        "budgets": {"zone": "UTC", "day_usd": "100000.00", "month_usd": "1000000.00"},
        "calls": {"turn_deadline_s": 60, "backoff_ms": 50, "backoff_max_ms": 1_000},
    }
