"""The key derived from a caller and its body: one debate while it runs and for ten minutes after, then a new one."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.identity.caller import Caller
from service.store.idempotency import DerivedKey, IdempotencyKey, find_keyed
from service.store.pool import Database as Pool
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_request, bench

CALLER = Caller(subject="sub_one")
KEY = DerivedKey.of("sub_one", b"a body")
TOGETHER = 50


def heads(database: Database) -> int:
    with psycopg.connect(database.admin_url) as admin:
        (found,) = admin.execute("SELECT count(*) FROM gainsay.debate_head").fetchone() or (0,)
        return int(found)


def aged(database: Database, interval: str) -> None:
    """Let all that is recorded so far be older by this, as the database took it up."""
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("ALTER TABLE gainsay.entry DISABLE TRIGGER USER")
        admin.execute("UPDATE gainsay.entry SET at = at - %s::interval", [interval])


async def ended(service: Bench) -> None:
    claimed = await service.claim()
    assert claimed
    await (await service.runner(claimed)).run()


async def test_a_body_that_comes_again_is_the_same_debate_until_ten_minutes_after_its_end(database: Database) -> None:
    async with bench(database.service_url) as service:
        first = await service.reviews.record(a_request(), CALLER, KEY)
        aged(database, "1 day")  # however long it runs
        running = await service.reviews.record(a_request(), CALLER, KEY)
        await ended(service)
        aged(database, "9 minutes")
        again = await service.reviews.record(a_request(), CALLER, KEY)
        aged(database, "1 minute")
        anew = await service.reviews.record(a_request(), CALLER, KEY)
        once_more = await service.reviews.record(a_request(), CALLER, KEY)

    assert (first.replayed, running.replayed, again.replayed, anew.replayed) == (False, True, True, False)
    assert first.debate == running.debate == again.debate
    assert anew.debate == once_more.debate != first.debate
    assert heads(database) == 2


async def test_a_declined_case_ends_when_it_is_recorded(database: Database) -> None:
    declined = a_request(estimatedDownside=1)
    async with bench(database.service_url) as service:
        first = await service.reviews.record(declined, CALLER, KEY)
        again = await service.reviews.record(declined, CALLER, KEY)
        aged(database, "10 minutes")
        anew = await service.reviews.record(declined, CALLER, KEY)

    assert (first.status, again.decision) == ("declined", first.decision)
    assert (again.debate == first.debate, anew.debate == first.debate) == (True, False)


@pytest.mark.parametrize("over", [False, True])
async def test_of_many_that_come_together_one_is_recorded_also_where_the_key_is_free_again(
    database: Database, over: bool
) -> None:
    """Each waits for the row of the first. What it then sees of that debate is nothing, and no debate that is over."""
    async with bench(database.service_url) as service:
        earlier = None
        if over:
            earlier = (await service.reviews.record(a_request(), CALLER, KEY)).debate
            await ended(service)
            aged(database, "10 minutes")
        found = await asyncio.gather(*(service.reviews.record(a_request(), CALLER, KEY) for _ in range(TOGETHER)))

    assert len({one.debate for one in found}) == 1
    assert earlier not in {one.debate for one in found}
    assert [one.replayed for one in found].count(False) == 1
    assert heads(database) == 1 + over


async def test_processes_that_share_a_database_record_a_body_once(database: Database) -> None:
    async with bench(database.service_url) as one, bench(database.service_url) as other:
        await one.reviews.record(a_request(), CALLER, KEY)
        await ended(one)
        aged(database, "10 minutes")
        found = await asyncio.gather(
            *(each.reviews.record(a_request(), CALLER, KEY) for each in (one, other) for _ in range(10))
        )

    assert len({each.debate for each in found}) == 1
    assert heads(database) == 2


async def test_another_tenant_another_caller_and_another_body_have_debates_of_their_own(database: Database) -> None:
    async with bench(database.service_url) as service:
        made = [
            await service.reviews.record(a_request(), CALLER, KEY),
            await service.reviews.record(a_request(), Caller(tenant="acme", subject="sub_one"), KEY),
            await service.reviews.record(a_request(), Caller(subject="sub_two"), DerivedKey.of("sub_two", b"a body")),
            await service.reviews.record(a_request(), CALLER, DerivedKey.of("sub_one", b"another")),
        ]

    assert len({one.debate for one in made}) == len(made) == heads(database)


async def test_a_key_that_a_caller_sends_is_never_a_derived_one_and_never_expires(database: Database) -> None:
    """Not even one whose hash were the derived key itself: it stands in another table."""
    sent = IdempotencyKey(KEY.key, bytes(32))
    async with bench(database.service_url) as service, Pool.open(database.service_url, size=1) as pool:
        derived = await service.reviews.record(a_request(), CALLER, KEY)
        assert await find_keyed(pool, "default", sent) is None
        kept = await service.reviews.record(a_request(), CALLER, "k")
        for _ in range(2):
            await ended(service)
        aged(database, "1 year")
        again = await service.reviews.record(a_request(), CALLER, "k")
        anew = await service.reviews.record(a_request(), CALLER, KEY)

    assert again.debate == kept.debate != derived.debate
    assert anew.debate not in (kept.debate, derived.debate)
