"""Callers that are cancelled, at any moment: no connection is lost with them, and nobody waits for one in vain."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from service.store import pool
from service.store.unbroken import Unbroken
from tests.fixtures.postgres import Database
from tests.fixtures.waiting import until

CALLERS, EACH, SIZE = 12, 120, 3


@pytest.mark.parametrize("serving", [False, True])
@pytest.mark.parametrize("seed", range(3))
async def test_the_pool_is_whole_after_many_callers_were_cancelled_while_they_waited_and_asked(
    database: Database, serving: bool, seed: int
) -> None:
    kind, url = (pool.ServingDatabase, database.serving_url) if serving else (pool.Database, database.service_url)
    async with kind.open(url, size=SIZE) as whole:
        found, drawn, answered = whole.of("default"), Random(seed), list[float]()

        async def ask() -> None:
            (row,) = await found.query("clock")
            answered.append(row["now"])

        async def caller() -> None:
            for _ in range(EACH):
                asked = asyncio.create_task(ask())
                for _ in range(drawn.randrange(12)):
                    await asyncio.sleep(0)
                while drawn.random() < 0.5:
                    asked.cancel()
                    await asyncio.sleep(drawn.choice((0, 0, 0.001)))
                await asyncio.wait([asked])
                assert asked.cancelled() or asked.exception() is None

        await asyncio.gather(*(caller() for _ in range(CALLERS)))
        assert 0 < len(answered) < CALLERS * EACH

        def is_whole() -> bool:
            stats = whole._pool.get_stats()
            return stats["pool_available"] == stats["pool_size"] > 0 and not stats["requests_waiting"]

        await until(is_whole)  # connections that were cut are made anew
        await asyncio.gather(*(ask() for _ in range(2 * SIZE)))


@pytest.mark.parametrize("turns", range(12))
async def test_nothing_goes_on_in_a_pool_that_is_closed_after_its_callers_were_cancelled(
    database: Database, turns: int
) -> None:
    """What still goes on when the loop ends is told as an unhandled error: the pool was closed before it."""
    before = asyncio.all_tasks()
    async with pool.Database.open(database.service_url, size=1) as found:
        connection = await found._pool.getconn()
        callers = [asyncio.create_task(found.query("clock")) for _ in range(3)]
        await asyncio.sleep(0.05)  # they wait in the pool by now
        if turns % 2:
            await found._pool.putconn(connection)
        for _ in range(turns // 2):
            await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await asyncio.wait(callers)

    assert asyncio.all_tasks() == before
    if not turns % 2:
        await found._pool.putconn(connection)


async def test_work_that_does_not_wait_is_done_at_once_and_without_a_task() -> None:
    done = list[str]()

    async def work() -> None:
        done.append("begun")

    before = len(asyncio.all_tasks())
    end = Unbroken().run(work())
    assert (done, len(asyncio.all_tasks())) == (["begun"], before)
    await end


async def test_work_that_waits_ends_although_its_caller_is_cancelled_more_than_once() -> None:
    unbroken, may_go, done = Unbroken(), asyncio.Event(), list[str]()

    async def work() -> None:
        async with asyncio.Lock():
            await may_go.wait()
        await asyncio.sleep(0)
        done.append("ended")

    async def caller() -> None:
        try:
            await unbroken.run(work())
        finally:
            await unbroken.run(work())

    calling = asyncio.create_task(caller())
    for _ in range(2):
        await asyncio.sleep(0)
        calling.cancel()
    await asyncio.wait([calling])
    assert calling.cancelled()
    assert not done
    may_go.set()
    await until(lambda: len(done) == 2)


async def test_what_goes_wrong_in_the_work_reaches_its_caller_also_after_a_wait() -> None:
    async def work(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        raise LookupError(turns)

    for turns in (0, 3):
        with pytest.raises(LookupError):
            await Unbroken().run(work(turns))
