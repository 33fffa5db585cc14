"""A whole deployment as it ships, whose processes and PostgreSQL are measured from outside.

Beside an embedded PostgreSQL of its own it has `gainsay serve --no-worker --no-sequencer` with identities, asked with
an API key; `gainsay work`, one or several; `gainsay sequence`; and a vendor on loopback HTTP. Metrics are on and logs
are written. Debates are queued while the workers are stopped, and then run, so that taking a case and running a debate
are measured apart.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import psycopg
import uvloop
from httpx_aiohttp import HttpxAiohttpClient
from psycopg.conninfo import make_conninfo

from bench.cpu import Postgres, children_s
from bench.processes import ADDRESS, Process, started
from service.audit.record import open_leaf
from service.policy.settings import read_settings
from service.store.embedded.server import shared_server
from service.store.pool import Database
from service.store.startup import addresses
from tests.faults.books import models, policy_of
from tests.fixtures.issuing import KEYBOARD, a_key, issuing_on
from tests.fixtures.policies import WRITTEN
from tests.fixtures.running import repository
from tests.fixtures.serving import SIGNING_KEY

HERE = Path(__file__).resolve().parent
UNLIMITED = {"day_usd": "unlimited", "month_usd": "unlimited"}
WITHIN_S = 900.0
IDLE_S = 1.0
"""How long the sequencer is watched while nothing is recorded."""
SETTLED_S = 0.5
"""How long after the last end the sequencer has for what is left."""
CALLERS = 4
RATE = 1_000_000
"""Requests of a caller in a minute, which are counted and which nothing here reaches."""
SEQUENCER = "gainsay_sequencing"
"""The login of the sequencer's connections."""
OTHER_ENDS = ("declined", "truncated", "failed", "aborted")
STATES: LiteralString = "SELECT state, count(*) FROM gainsay.debate_head GROUP BY state"
TRANSACTIONS: LiteralString = (
    "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
)
STATEMENTS: LiteralString = (
    "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid "
    "WHERE r.rolname <> 'postgres' AND r.rolname <> 'gainsay_sequencing'"
)
ENDS: LiteralString = (
    "SELECT h.debate::text, e.leaf FROM gainsay.debate_head h JOIN gainsay.entry e ON e.debate = h.debate "
    "AND e.n = h.next_n - 1 WHERE h.debate = ANY (%s::uuid[])"
)
Json = Mapping[str, Any]


class Marks(NamedTuple):
    """Seconds of CPU so far, of each kind of process with its children, and of PostgreSQL; and counts of PostgreSQL.

    ``checks`` is the CPU of the processes below the workers. PostgreSQL's is apart for the sequencer's connections.
    """

    workers: float
    checks: float
    api: float
    sequencer: float
    postgres: float
    for_sequencer: float
    wal: float
    transactions: float

    def since(self, before: Marks) -> Marks:
        """The difference."""
        return Marks(*(now - then for now, then in zip(self, before, strict=True)))

    def each(self, debates: int) -> Marks:
        """Of each debate: CPU in milliseconds."""
        each = Marks(*(1_000 * value / debates for value in self))
        return each._replace(wal=self.wal / debates, transactions=self.transactions / debates)


class Run(NamedTuple):
    """What queueing and running the debates of some cases took, each; wall seconds; and when each ended after the
    workers began, by its case.

    ``looking`` is what the sequencer and PostgreSQL for it would have used of each debate's CPU in that time without a
    record: it looks for new ones however many come.
    """

    queued: Marks
    looking: Marks
    ran: Marks
    wall_s: float
    cpu_s: float
    ends_s: list[float]
    memory: int
    idle_memory: int


class Other(NamedTuple):
    """Another way to run: by a command in place of the service's own, with these variables beside the usual ones."""

    command: Sequence[str] = ()
    variables: Mapping[str, str] = {}


class Deployment(NamedTuple):
    """The processes, a key for the API, and a superuser's connection."""

    api: Process
    workers: Sequence[Process]
    sequencer: Process
    vendor: str
    key: str
    connection: psycopg.Connection[Any]
    postgres: Postgres
    folded: Path | None

    def run(self, cases: Sequence[Json]) -> Run:
        """Queue these cases while the workers are stopped, then run them, and say what each took."""
        for worker in self.workers:
            os.kill(worker.pid, signal.SIGSTOP)
        idle = sum(worker.memory for worker in self.workers)
        resting, done = self._marks(), sum(self._states().values())
        time.sleep(IDLE_S)
        before = self._marks()
        debates = uvloop.run(self._queue(cases))
        time.sleep(SETTLED_S)
        queued, begun = self._marks(), time.time()
        for worker in self.workers:
            os.kill(worker.pid, signal.SIGCONT)
        self._write_samples()
        self._over(done + len(cases))
        wall, cpu = time.time() - begun, self._workers_s() - queued.workers
        time.sleep(SETTLED_S)
        ran, share = self._marks().since(queued), (wall + SETTLED_S) / IDLE_S
        self._write_samples()
        return Run(
            queued=queued.since(before).each(len(cases)),
            looking=Marks(*(share * idle for idle in before.since(resting))).each(len(cases)),
            ran=ran.each(len(cases)),
            wall_s=wall,
            cpu_s=cpu,
            ends_s=[end - begun for end in self._ends(debates)],
            memory=sum(worker.most_memory for worker in self.workers),
            idle_memory=idle,
        )

    async def _queue(self, cases: Sequence[Json]) -> list[str]:
        headers = {"authorization": f"Bearer {self.key}"}
        debates = dict[int, str]()
        async with HttpxAiohttpClient(base_url=self.api.said, timeout=120, headers=headers) as client:
            left = iter(enumerate(cases))

            async def caller() -> None:
                for nth, case in left:
                    said = await client.post("/v1/debates", json=case)
                    if not said.is_success:
                        raise RuntimeError(f"expected a case to be taken, found {said.status_code}: {said.text[:500]}")
                    debates[nth] = said.json()["debateId"]

            await asyncio.gather(*(caller() for _ in range(CALLERS)))
        return [debates[nth] for nth in range(len(cases))]

    def _write_samples(self) -> None:
        """Let the first worker write what it sampled since the last time, if it samples."""
        if self.folded:
            self.folded.unlink(missing_ok=True)
            os.kill(self.workers[0].pid, signal.SIGUSR2)
            until = time.monotonic() + 20
            while not self.folded.exists() and time.monotonic() < until:
                time.sleep(0.05)

    def statements(self) -> int:
        """Statements so far, but those of the sequencer and of this connection."""
        ((calls,),) = self.connection.execute(STATEMENTS).fetchall()
        return int(calls)

    def _states(self) -> dict[str, int]:
        return dict(self.connection.execute(STATES).fetchall())

    def _over(self, debates: int) -> None:
        until, states = time.monotonic() + WITHIN_S, dict[str, int]()
        while time.monotonic() < until:
            time.sleep(0.05)
            states = self._states()
            if states.get("completed", 0) == debates:
                return
            if any(states.get(state) for state in OTHER_ENDS):
                break
        raise RuntimeError(f"expected {debates} completed debates within {WITHIN_S:g} s, found {states}")

    def _ends(self, debates: Sequence[str]) -> list[float]:
        leaves = dict(self.connection.execute(ENDS, (list(debates),)).fetchall())
        return [datetime.fromisoformat(open_leaf(leaves[debate]).recorded).timestamp() for debate in debates]

    def _workers_s(self) -> float:
        return sum(worker.cpu_s for worker in self.workers)

    def _marks(self) -> Marks:
        used = self.postgres.cpu()
        ((transactions,),) = self.connection.execute(TRANSACTIONS).fetchall()
        for_sequencer = used.get(SEQUENCER, 0.0)
        return Marks(
            workers=self._workers_s(),
            checks=sum(children_s(worker.pid) for worker in self.workers),
            api=self.api.cpu_s + children_s(self.api.pid),
            sequencer=self.sequencer.cpu_s + children_s(self.sequencer.pid),
            postgres=sum(used.values()) - for_sequencer,
            for_sequencer=for_sequencer,
            wal=float(self.postgres.wal()),
            transactions=float(transactions),
        )


@contextmanager
def deployed(
    *,
    latency_ms: float = 0.0,
    at_once: int = 50,
    workers: int = 1,
    says: str = "canned",
    counted: bool = False,
    folded: Path | None = None,
    other: Other | None = None,
) -> Iterator[Deployment]:
    """A deployment that is ready, gone afterwards.

    The vendor ``says`` canned words or what the offline models say. With ``counted`` PostgreSQL counts statements,
    which takes CPU too. The first worker writes samples of its stacks to the file ``folded``, or is run in an
    ``other`` way.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gainsay-bench-")))
        folder.chmod(0o755)
        with_paths = {"PYTHONPATH": str(repository())}  # a script's own folder is the only one that Python looks in
        vendor = [sys.executable, str(HERE / "vendor.py"), says, f"{latency_ms:g}"]
        address = stack.enter_context(started(vendor, ADDRESS, with_paths)).said
        settings = read_settings({"GAINSAY_DATA_DIR": str(folder), "GAINSAY_WARM_S": "0", "HOME": str(folder)})
        if counted:
            with addresses(settings), shared_server(settings.data_dir / "postgres") as server:
                _count_statements(make_conninfo(server.url("postgres"), dbname="gainsay"))
        where = stack.enter_context(addresses(settings, serving=True))
        server = stack.enter_context(shared_server(settings.data_dir / "postgres"))
        admin = make_conninfo(server.url("postgres"), dbname="gainsay")
        connection = stack.enter_context(psycopg.connect(admin, autocommit=True))
        if counted:
            connection.execute("CREATE EXTENSION pg_stat_statements")
        common = {
            "GAINSAY_DATABASE_URL": where.service,
            "GAINSAY_API_URL": str(where.serving),
            "GAINSAY_POLICY": str(policy_at(folder, address, at_once)),
            "GAINSAY_IDENTITY": str(_written(folder / "identity.toml", "[keys]\n")),
            "GAINSAY_DRAIN_S": "0",
            "VENDOR_KEY": "sk-fake-0123456789abcdef",
            **(other.variables if other else {}),
        }
        signing = {
            "GAINSAY_SEQUENCER_URL": str(where.sequencer),
            "GAINSAY_SIGNING_KEY": f"file:{_written(folder / 'log.key', SIGNING_KEY.encode())}",
            "GAINSAY_HEADS_DIR": str(folder / "heads"),
        }
        run = [sys.executable, "-m", "service"]
        sampled = (
            [sys.executable, str(HERE / "sampler.py"), str(folded)] if folded else [*((other and other.command) or run)]
        )
        sequencer = stack.enter_context(started([*run, "sequence", "--port", "0"], "sequencing", {**common, **signing}))
        serve = [*run, "serve", "--no-worker", "--no-sequencer", "--port", "0"]
        api = stack.enter_context(started(serve, ADDRESS, common))
        working = [
            stack.enter_context(started([*with_, "work", "--port", "0"], "taking debates", {**common, **with_paths}))
            for with_ in [sampled, *[run] * (workers - 1)]
        ]
        key = uvloop.run(_key(where.service))
        yield Deployment(api, working, sequencer, address, key, connection, Postgres(connection), folded)


def policy_at(folder: Path, vendor: str, at_once: int) -> Path:
    """Every seat of every format at the vendor; room for long documents, and what they cost."""
    known = models()
    names = [model["alias"] for model in known]
    seats = {
        name: {"model": names[:2] if name == "debater" else names[2], "allowance": seat["allowance"]}
        for name, seat in WRITTEN["seats"].items()
    }
    seats |= {name: {**seats[name], "model": names[0]} for name in ("framing", "proposer", "rebuttal")}
    seats["critic"]["model"] = names[1]
    return policy_of(
        folder,
        vendor,
        UNLIMITED,
        call_timeout_s=120,
        queue={**WRITTEN["queue"], "running_per_worker": at_once},
        rates={f"{of}_per_minute": RATE for of in ("submit", "read")},
        debate={**WRITTEN["debate"], "ceiling_max_usd": "1000.00"},
        formats={
            **WRITTEN["formats"],
            "auto": {},
            "convergence": {**WRITTEN["formats"]["convergence"], "rounds_max": 10, "convergence_check": False},
        },
        models=[{**model, "context_window": 4_000_000} for model in known],
        seats=seats,
    )


def _written(path: Path, text: str) -> Path:
    path.write_text(f"{text}\n", "utf-8")
    path.chmod(0o600)
    return path


def _count_statements(admin: str) -> None:
    """From the next start of the server on."""
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")


async def _key(url: str) -> str:
    async with Database.open(url, size=1) as database:
        return (await issuing_on(database).issue(KEYBOARD, a_key())).secret
