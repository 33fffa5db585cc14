"""The signed head that answers name: looked up beside, only ever moving on, and never waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from service.store.checkpoints import CurrentCheckpoint, CurrentCheckpoints
from service.store.pool import Database
from tests.fixtures.growing import LOG, Growing
from tests.fixtures.postgres import Database as Place


@pytest.fixture
def growing(database: Place) -> Iterator[Growing]:
    log = Growing(database.admin_url)
    yield log
    log.close()


async def heard(heads: CurrentCheckpoints, size: int, tenant: str = "default") -> CurrentCheckpoint:
    """The head of this size, which has to come by itself."""
    for _ in range(500):
        if (head := heads.latest(tenant)) and head.size == size:
            return head
        await asyncio.sleep(0.01)
    raise AssertionError(f"no head of {size} was heard of, but {heads.latest(tenant)}")


async def test_a_head_that_another_process_signed_is_found_by_itself(database: Place, growing: Growing) -> None:
    async with Database.open(database.service_url, size=1) as opened:
        heads = CurrentCheckpoints(opened)
        assert heads.latest("default") is None

        growing.grow([b"one", b"two"])
        first = await heard(heads, 2)
        growing.grow([b"three"], signed=False)
        growing.grow([b"four"])
        second = await heard(heads, 4)
        await heads.close()

    assert first == CurrentCheckpoint(LOG, 2, growing.roots[2])
    assert second == CurrentCheckpoint(LOG, 4, growing.roots[4])
    assert str(first).split(" ")[:2] == [LOG, "2"]


async def test_a_head_that_was_signed_here_is_known_at_once_and_never_taken_back(
    database: Place, growing: Growing
) -> None:
    growing.grow([b"one"])
    async with Database.open(database.service_url, size=1) as opened:
        heads = CurrentCheckpoints(opened)
        await heard(heads, 1)

        heads.announce(LOG, 3, b"3" * 32)
        heads.announce(LOG, 2, b"2" * 32)
        heads.announce("localhost/another/1", 9, b"9" * 32)
        await heads.refresh()

        assert heads.latest("default") == CurrentCheckpoint(LOG, 3, b"3" * 32)
        heads.announce("localhost/default/2", 1, b"1" * 32)
        heads.announce(LOG, 4, b"4" * 32)
        assert heads.latest("default") == CurrentCheckpoint("localhost/default/2", 1, b"1" * 32), (
            "the later epoch counts"
        )
        assert heads.latest("another") is None, "nobody had asked when it was announced"
        await heads.close()


async def test_the_head_is_that_of_the_latest_epoch_that_has_one(database: Place, growing: Growing) -> None:
    growing.grow([b"one", b"two"])
    following = Growing(database.admin_url, log="localhost/default/2", epoch=2)
    other = Growing(database.admin_url, log="localhost/other/1", tenant="other", epoch=3)
    async with Database.open(database.service_url, size=1) as opened:
        heads = CurrentCheckpoints(opened)
        before = await heard(heads, 2)
        following.grow([b"opened"])
        other.grow([b"theirs"] * 3)
        after = await heard(heads, 1)
        theirs = await heard(heads, 3, "other")
        await heads.close()
    following.close()
    other.close()

    assert (before.log, after.log, theirs.log) == (LOG, "localhost/default/2", "localhost/other/1")


async def test_a_database_that_is_away_leaves_what_is_known(database: Place, growing: Growing) -> None:
    growing.grow([b"one"])
    async with Database.open(database.service_url, size=1) as opened:
        heads = CurrentCheckpoints(opened)
        head = await heard(heads, 1)

    await heads.refresh()  # the connections are closed by now

    assert heads.latest("default") == head
    await heads.close()


async def test_the_head_that_an_answer_rests_on_is_known_before_anybody_has_looked_it_up(database: Place) -> None:
    async with Database.open(database.service_url, size=1) as opened:
        heads = CurrentCheckpoints(opened)
        heads.served(LOG, 5, b"5" * 32)
        heads.served(LOG, 4, b"4" * 32)
        shown = heads.latest("default")
        await heads.close()

    assert shown == CurrentCheckpoint(LOG, 5, b"5" * 32)
