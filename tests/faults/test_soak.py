"""The soak: a whole deployment at work while its processes and PostgreSQL are killed, stopped and cut off.

Four workers, two API processes, two sequencers, a witness and two writers; callers who post cases of every format and
listen; readers of the log who trust nobody; and a vendor that errs, dawdles and keeps its own books. `make test` runs a
short form with a fixed seed, `make soak` the long one: GAINSAY_TEST_SOAK_S seconds, with the seed in
GAINSAY_TEST_SOAK_SEED or a new one, which is printed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from random import Random

import httpx
import pytest

from service.store.pool import Database
from tests.faults import figures, reckoning
from tests.faults.books import Books
from tests.faults.callers import Caller, Told
from tests.faults.deployment import Deployment, a_deployment, eventually
from tests.faults.hammer import Hammer
from tests.faults.watching import FullReader, ProofsReader, SpotReader
from tests.fixtures.serving import SIGNING_KEY
from tests.fixtures.small_cases import CASES
from tests.fixtures.waiting import until

pytestmark = pytest.mark.long

TENANT = "default"
LOG = f"localhost/{TENANT}/1"
LONG_S = float(os.environ.get("GAINSAY_TEST_SOAK_S", "0"))
SEED = int(os.environ.get("GAINSAY_TEST_SOAK_SEED", str(time.time_ns() % 1_000_000 if LONG_S else 5)))
CALLERS = 10 if LONG_S else 5
WRITERS = Deployment.WRITERS if LONG_S else Deployment.WRITERS[:1]
BUNDLES = 100 if LONG_S else 8
"""How many debates are taken out as bundles and verified."""
WAITING = "gainsay_content_readings_waiting"
"""The readings of a process that have no record yet."""
Reader = FullReader | ProofsReader


@pytest.mark.timeout(LONG_S + 600)
async def test_whatever_is_killed_nothing_is_lost_asked_twice_or_overspent_and_all_debates_end() -> None:
    tell(f"seed {SEED} (GAINSAY_TEST_SOAK_SEED={SEED} hits alike)")
    with a_deployment(SEED) as house:
        for name in house.CHILDREN.keys() - {*house.WRITERS}:
            house.start(name)
        async with AsyncExitStack() as stack:
            clients = [httpx.AsyncClient(base_url=url, timeout=10) for url in house.apis]
            apis = [await stack.enter_async_context(client) for client in clients]
            database = await stack.enter_async_context(Database.open(house.server.url("gainsay_service"), size=2))
            told = Told()
            callers = [Caller(apis, told, Random(f"{SEED} caller {n}")) for n in range(CALLERS)]
            full, *others = readers_of(apis, database)
            for name in house.children:
                await house.up(name)
            begun = time.monotonic()
            await hammered(Hammer(house, Random(SEED), LONG_S), callers, [full, *others])
            for writer in WRITERS:
                house.end(writer)
            await settled(house)
            seconds = time.monotonic() - begun
            await reckoning.expect_streams_are_the_record(house, apis, told)
            await reckoning.expect_bundles_verify(house, database, BUNDLES)
            await reckoning.expect_balance(database)
            await readings_recorded(apis)
            await settled(house)
            for reader in (full, *others):
                await reader.look()
            await house.stop()
            assert isinstance(full, FullReader)
            reckon(house, full, told, seconds)


def readers_of(apis: Sequence[httpx.AsyncClient], database: Database) -> list[Reader]:
    """One who reads every leaf, two who have records proven over each API, one who reads every log in the database."""
    return [
        FullReader(apis[0], LOG, SIGNING_KEY.public),
        *(SpotReader(api, LOG, SIGNING_KEY.public, Random(f"{SEED} reader {n}")) for n, api in enumerate(apis)),
        ProofsReader(database, SIGNING_KEY.public, Random(SEED + 3)),
    ]


async def hammered(hammer: Hammer, callers: Sequence[Caller], readers: Sequence[Reader]) -> None:
    """Let everybody work while the deployment is hit; whoever fails ends it."""
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for each in (*callers, *readers):
            group.create_task(repeat(each.look, over))
        told = callers[0].told
        await eventually(lambda: hammer.house.signed() > 0 and bool(told.debates), "records are provable")
        for writer in WRITERS:  # now that all others have started: they take all the time that there is
            hammer.house.start(writer)
        await hammer.run()
        over.set()
    assert all(reader.looks for reader in readers)


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


async def readings_recorded(apis: Sequence[httpx.AsyncClient]) -> None:
    """Wait until the APIs have recorded who has read: what was read last may have its record a second later."""

    async def none_waits() -> bool:
        told = [(await api.get("/metrics")).raise_for_status().text for api in apis]
        return all(f"\n{WAITING} 0.0\n" in text for text in told)

    await until(none_waits)


def reckon(house: Deployment, full: FullReader, told: Told, seconds: float) -> None:
    """Everything that has to be so, and the figures."""
    records = reckoning.expect_every_record_once_and_unchanged(house)
    roots = reckoning.expect_one_tree_of_each_log(house, records)
    assert full.head is not None
    assert len(roots[LOG]) == full.head.size + 1
    reckoning.expect_what_was_told(records, roots, told)
    debates = reckoning.expect_debates_replay(house)
    reckoning.expect_no_findings(house)
    books, bills = Books.at(house.server.url("postgres"), TENANT), house.vendor.bills()
    reckoning.expect_nothing_paid_twice(books, bills, house.vendor.cases(), told)
    reckoning.expect_debates_went_well(house, books, told, CASES if LONG_S else ())
    tell(f"{len(records)} records and {debates} debates in {len(roots)} logs, all well:")
    tell(figures.tell(house, told, books, bills, len(records), seconds))
    tell(", ".join(house.hits))


def tell(words: str) -> None:
    """Say something to whoever watches, or reads why a run failed."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
