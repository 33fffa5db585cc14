"""The hammer: writers, callers and readers at work while processes and PostgreSQL are killed, paused and cut off.

`make test` runs a short form with a fixed seed. `make faults` runs the long one: GAINSAY_TEST_FAULTS_S seconds, with
the seed in GAINSAY_TEST_FAULTS_SEED or a new one, which is printed. The seed decides what is hit, in which order and
when; what the processes were doing just then is the machine's, so the same seed hits alike and not the same.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from random import Random

import httpx
import pytest

from service.store.pool import Database
from tests.faults import reckoning
from tests.faults.hammer import Deployment, a_deployment, eventually
from tests.faults.watching import Caller, FullReader, ProofsReader, SpotReader
from tests.running import TEXT
from tests.serving import SIGNING_KEY, a_case

LOG = "localhost/default/1"
LONG_S = float(os.environ.get("GAINSAY_TEST_FAULTS_S", "0"))
SEED = int(os.environ.get("GAINSAY_TEST_FAULTS_SEED", str(time.time_ns() % 1_000_000 if LONG_S else 5)))
CASE = a_case(documents=[{"id": "D1", "title": "Master agreement", "text": TEXT}], options={"maxRounds": 1})
ONCE = ("leader", "cut", "postgres", "work", "write-1", "api", "witness")
"""What the short form hits, in an order that the seed gives."""
OFTEN = (*ONCE, "work", "write-1", "write-2", "sequence-1", "sequence-2", "api", "leader", "cut", "paused", "stopped")
"""What the long form draws from."""
APART_S = 12.0
"""PostgreSQL is left alone for so long after it was hit: its guardian gives up a server that dies again at once."""
BUNDLES = 100 if LONG_S else 8
"""How many debates are taken out as bundles and verified."""


class Hammer:
    """Hits a deployment while everybody works."""

    def __init__(self, house: Deployment, random: Random) -> None:
        self.house = house
        self._random = random
        self._postgres_at = 0.0

    async def hit(self, what: str) -> None:
        """Do one thing to the deployment."""
        house = self.house
        match what:
            case "leader":
                await house.kill_leader()
            case "cut" | "paused":
                await house.pause_leader(cut=what == "cut")
            case "postgres" | "stopped":
                await asyncio.sleep(max(0.0, self._postgres_at + APART_S - time.monotonic()))
                await house.hit_postgres(signal.SIGKILL if what == "postgres" else signal.SIGQUIT)
                self._postgres_at = time.monotonic()
            case _:
                await house.kill(what)

    async def run(self) -> None:
        """Hit again and again; between two hits there is time for something to happen."""
        for what in self._plan():
            await asyncio.sleep(self._random.uniform(0.2, 3.0 if LONG_S else 1.0))
            self.house.keep()
            await self.hit(what)

    def _plan(self) -> Iterator[str]:
        if not LONG_S:
            yield from self._random.sample(ONCE, len(ONCE))
        until = time.monotonic() + LONG_S
        while time.monotonic() < until:
            yield self._random.choice(OFTEN)


@pytest.mark.timeout(LONG_S + 600)
async def test_whatever_is_killed_what_was_confirmed_is_there_and_every_reader_sees_one_log_that_grows() -> None:
    tell(f"seed {SEED} (GAINSAY_TEST_FAULTS_SEED={SEED} hits alike)")
    with a_deployment() as house:
        for name in house.CHILDREN:
            house.start(name)
        async with (
            httpx.AsyncClient(base_url=house.api, timeout=30) as http,
            Database.open(house.server.url("gainsay_service"), size=2) as database,
        ):
            callers = [Caller(http, CASE), Caller(http, CASE)]
            full = FullReader(http, LOG, SIGNING_KEY.public)
            readers: list[FullReader | ProofsReader] = [
                full,
                *(SpotReader(http, LOG, SIGNING_KEY.public, Random(SEED + n)) for n in (1, 2)),
                ProofsReader(database, SIGNING_KEY.public, Random(SEED + 3)),
            ]
            await hammered(Hammer(house, Random(SEED)), callers, readers)
            for writer in ("write-1", "write-2"):
                house.end(writer)
            await settled(house)
            await reckoning.expect_bundles_verify(house, database, BUNDLES)
            await settled(house)
            for reader in readers:
                await reader.look()
            await house.stop()
            reckon(house, full, callers)


async def hammered(hammer: Hammer, callers: Sequence[Caller], readers: Sequence[FullReader | ProofsReader]) -> None:
    """Let everybody work while the deployment is hit; whoever fails ends it."""
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for each in (*callers, *readers):
            group.create_task(repeat(each.look, over))
        await eventually(lambda: hammer.house.signed() > 0 and bool(callers[0].submitted), "records are provable")
        await hammer.run()
        over.set()
    assert all(reader.looks > 1 for reader in readers)


async def repeat(look: Callable[[], Awaitable[None]], over: asyncio.Event) -> None:
    """Look again and again until it is over."""
    while not over.is_set():
        await look()
        await asyncio.sleep(0.05)


async def settled(house: Deployment) -> None:
    """Wait until all debates are over and everything is provable and countersigned."""

    def done() -> bool:
        house.keep()
        return reckoning.is_settled(house)

    await eventually(done, "every debate is over, and every record provable and countersigned")


def reckon(house: Deployment, full: FullReader, callers: Sequence[Caller]) -> None:
    """Everything that has to be so."""
    records = reckoning.expect_every_record_once_and_unchanged(house)
    roots = reckoning.expect_one_tree_of_each_log(house, records)
    assert full.head is not None
    assert len(roots[LOG]) == full.head.size + 1
    last = {debate: hash_ for (debate, _), hash_ in records.items()}
    for caller in callers:
        reckoning.expect_heads_of(roots, caller.heads)
        assert caller.submitted <= last.keys()
        assert {debate: last[debate] for debate in caller.last_records} == caller.last_records
    debates = reckoning.expect_debates_replay(house)
    reckoning.expect_no_findings(house)
    tell(f"{len(records)} records and {debates} debates in {len(roots)} logs after {len(house.hits)} hits, all well:")
    tell(", ".join(house.hits))


def tell(words: str) -> None:
    """Say something to whoever watches, or reads why a run failed."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
