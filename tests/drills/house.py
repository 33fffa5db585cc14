"""A deployment under load on PostgreSQL servers that a drill may lose, and callers who remember what they were told."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import httpx
import psycopg

from service.store.embedded.cluster import Login
from service.store.pool import Database
from tests.faults import reckoning
from tests.faults.books import Books
from tests.faults.callers import OVER, Caller, Told
from tests.faults.deployment import PATIENCE_S, Deployment, deployed_on, eventually
from tests.faults.servers import PrivateServer, addressed
from tests.faults.vendor import vendor
from tests.fixtures.postgres import passable_folder

SEED = int(os.environ.get("GAINSAY_TEST_DRILLS_SEED", "7"))
CALLERS = 6
TENANT = "default"
FIRST, SECOND = f"localhost/{TENANT}/1", f"localhost/{TENANT}/2"
"""The tenant's log, and the one that follows it after records were lost."""


@dataclass(frozen=True)
class Servers:
    """The servers that every process is given, in one address of libpq; one of them takes writes."""

    every: Sequence[PrivateServer]

    @property
    def home(self) -> Path:
        """The folder of the first."""
        return self.every[0].home

    def url(self, role: Login, /) -> str:
        """The way in to whichever of them takes writes."""
        return addressed(role, self.every[0].passwords[role], [server.port for server in self.every])


class House(Deployment):
    """The processes of a deployment, without writers beside the workers."""

    CHILDREN: ClassVar = {name: words for name, words in Deployment.CHILDREN.items() if not name.startswith("write")}

    def begin(self) -> None:
        """Start every process."""
        for name in self.CHILDREN:
            self.start(name)

    async def works(self) -> None:
        """Wait until every process works."""
        for name in self.children:
            await self.up(name)

    async def is_ready(self, status: int = 200) -> float:
        """Wait until both APIs answer so when they are asked whether they are ready; when that was."""
        async with httpx.AsyncClient() as http:
            until = time.monotonic() + PATIENCE_S
            while time.monotonic() < until:
                with suppress(httpx.TransportError):
                    found = [(await http.get(f"{url}/readyz")).status_code for url in self.apis]
                    if set(found) == {status}:
                        return time.monotonic()
                await asyncio.sleep(0.05)
        raise AssertionError(f"/readyz does not answer {status}")

    def ask(self, *words: str) -> tuple[int, str]:
        """Run a command of an operator to its end: its exit code, and what it says."""
        done = reckoning.run(*words, env={**os.environ, **self.settings()})
        return done.returncode, " ".join(f"{done.stdout}\n{done.stderr}".split())

    def close_incidents(self, why: str) -> None:
        """What a person does as the owner, once it is known what has happened."""
        with psycopg.connect(self.server.url("gainsay_migrator"), autocommit=True) as owner:
            owner.execute("SET ROLE gainsay_owner")
            closing = "INSERT INTO gainsay.incident (log, what, closes) SELECT log, %s, id FROM gainsay.incident"
            owner.execute(closing, [why])


@contextmanager
def house_on(*every: PrivateServer) -> Iterator[House]:
    """A deployment on these servers, with no process yet."""
    with passable_folder() as top, deployed_on(Servers(every), top, House, vendor("honest", seed=SEED)) as house:
        yield house


@dataclass
class Work:
    """Callers at work, and what they were told."""

    house: House
    apis: list[httpx.AsyncClient]
    told: Told = field(default_factory=Told)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    over: bool = False

    def begin(self) -> None:
        """Let the callers post one case after the other."""
        callers = [Caller(self.apis, self.told, Random(f"{SEED} drill {n}")) for n in range(CALLERS)]
        self.tasks = [asyncio.create_task(self._see(caller)) for caller in callers]

    async def finishes(self, more: int) -> None:
        """Wait until so many more debates were told to have ended."""
        least = len(self.told.last_records) + more

        def holds() -> bool:
            self.check()
            return len(self.told.last_records) >= least

        await eventually(holds, f"{least} debates have ended")

    def check(self) -> None:
        """Fail as a caller has."""
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def ends(self) -> None:
        """Let every caller see its case to the end."""
        self.over = True
        await asyncio.gather(*self.tasks)

    async def goes_home(self) -> None:
        """Let all callers leave at once."""
        self.check()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _see(self, caller: Caller) -> None:
        while not self.over:
            await caller.look()


@asynccontextmanager
async def at_work(house: House) -> AsyncIterator[Work]:
    """Callers at work in a house whose processes all work."""
    house.begin()
    await house.works()
    clients = [httpx.AsyncClient(base_url=url, timeout=10) for url in house.apis]
    work = Work(house, clients)
    work.begin()
    try:
        yield work
    finally:
        await work_over(work)
        for client in clients:
            await client.aclose()


async def work_over(work: Work) -> None:
    """End what callers still do."""
    for task in work.tasks:
        task.cancel()
    await asyncio.gather(*work.tasks, return_exceptions=True)


async def settled(house: House) -> None:
    """Wait until all debates are over and everything is provable and countersigned."""
    await eventually(lambda: reckoning.is_settled(house), "every debate is over, and every record countersigned")


async def reckon(house: House, work: Work) -> tuple[int, int]:
    """Hold everything that processes, callers and the vendor were told against the database; records and debates.

    The notes of processes that are held against it are of every record that PostgreSQL has confirmed to one of them.
    """
    await settled(house)
    await reckoning.expect_streams_are_the_record(house, work.apis, work.told)
    async with Database.open(house.server.url("gainsay_service"), size=2) as database:
        await reckoning.expect_bundles_verify(house, database, 5)
        await reckoning.expect_balance(database)
    await settled(house)
    await house.stop()
    records = reckoning.expect_every_record_once_and_unchanged(house)
    roots = reckoning.expect_one_tree_of_each_log(house, records)
    reckoning.expect_what_was_told(records, roots, work.told)
    debates = reckoning.expect_debates_replay(house)
    reckoning.expect_no_findings(house)
    books = Books.at(house.server.url("postgres"), TENANT)
    reckoning.expect_nothing_paid_twice(books, house.vendor.bills(), house.vendor.cases(), work.told)
    return len(records), debates


def lost(told: Told, server: PrivateServer) -> list[str]:
    """The debates that callers know to have ended and that a server does not have as ended."""
    with psycopg.connect(server.url("postgres")) as admin:
        rows = admin.execute("SELECT debate::text FROM gainsay.debate_head WHERE state = ANY (%s)", [list(OVER)])
        there = {debate for (debate,) in rows.fetchall()}
    return sorted(told.last_records.keys() - there)


def ask(server: PrivateServer, query: str) -> list[tuple[Any, ...]]:
    """Rows of one server, as its superuser."""
    with psycopg.connect(server.url("postgres"), options="-c search_path=gainsay") as admin:
        return admin.execute(query.encode()).fetchall()


def holds_on(server: PrivateServer, query: str) -> Callable[[], bool]:
    """Whether the one value of a query is true on a server."""
    return lambda: ask(server, query) == [(True,)]
