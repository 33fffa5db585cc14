"""The ceiling of a batch: all its debates draw from it, beside the tenant's limits, and none gets more than is left."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.identity.caller import Caller
from service.money import Refusal
from service.store.pool import Database
from tests.fixtures.batching import a_batch
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import bench
from tests.fixtures.spending import Spender, Spenders, a_tenant, exact, limits, rows

pytestmark = pytest.mark.no_replay
"""These debates spend without being played: what is legal is the kernel's question."""


async def test_fifty_debates_at_once_use_a_ceiling_up_exactly(database: Server) -> None:
    tenant, each = a_tenant(), 1_000

    async def spends(spender: Spender) -> Refusal:
        while (refusal := await spender.allocate(each, 3 * each)) is None:
            while spender.free >= each:
                await spender.spend(each)
        return refusal

    async with bench(database.service_url) as service, Database.open(database.service_url, size=12) as many:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 100 * each + 999, caller=Caller(tenant))
        none = limits()
        debates = [await spenders.take(await spenders.queue(none, tenant, batch=batch), none, many) for _ in range(50)]

        refusals = await asyncio.gather(*(spends(spender) for spender in debates))
        await asyncio.gather(*(spender.conclude("truncated") for spender in debates))

        (account,) = (await exact(service, tenant)).batches
        assert (account.drawn, account.spent, account.open) == (100 * each, 100 * each, 0)
        assert {(refusal.limit, refusal.left) for refusal in refusals} == {("batchCeiling", 999)}


async def test_what_a_debate_leaves_is_there_for_the_next(database: Server) -> None:
    tenant = a_tenant()
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 1_000, caller=Caller(tenant))
        first = await spenders.open(limits(), tenant, batch=batch)
        second = await spenders.open(limits(), tenant, batch=batch)
        assert await first.allocate(900) is None
        assert await second.allocate(200) == Refusal("batchCeiling", 200, 100)

        await first.spend(300)
        await first.conclude()

        assert await second.allocate(700) is None
        assert await second.allocate(1) == Refusal("batchCeiling", 1, 0)
        await exact(service, tenant)


async def test_the_shortest_of_batch_day_and_month_refuses_in_its_name(database: Server) -> None:
    tenant = a_tenant()
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 500, caller=Caller(tenant))

        async def asked(day: int | None, month: int | None, need: int) -> Refusal | None:
            spender = await spenders.open(limits(day, month), tenant, batch=batch)
            return await spender.allocate(need)

        assert await asked(400, 10_000, 450) == Refusal("tenantDay", 450, 400)
        assert await asked(10_000, 400, 450) == Refusal("tenantMonth", 450, 400)
        assert await asked(400, 400, 550) == Refusal("batchCeiling", 550, 500)
        assert await asked(10_000, 10_000, 500) is None
        await exact(service, tenant)


async def test_a_debate_of_another_batch_or_of_none_draws_nothing_from_it(database: Server) -> None:
    tenant = a_tenant()
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 100, caller=Caller(tenant))
        other = await a_batch(service.database, 100, caller=Caller(tenant))
        alone = await spenders.open(limits(day=10_000), tenant)
        assert await alone.allocate(5_000) is None
        beside = await spenders.open(limits(), tenant, batch=other)
        assert await beside.allocate(100) is None

        accounts = {account.batch: account.drawn for account in (await exact(service, tenant)).batches}
        assert accounts == {batch: 0, other: 100}


async def test_a_debate_whose_batch_has_no_limit_row_gets_nothing(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 1_000)
        spender = await spenders.open(limits(), batch=batch)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("DELETE FROM gainsay.batch_limit")

        assert await spender.allocate(1) == Refusal("batchCeiling", 1, 0)


async def test_an_excess_leaves_less_of_the_batch(database: Server) -> None:
    tenant = a_tenant()
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 1_000, caller=Caller(tenant))
        spender = await spenders.open(limits(), tenant, batch=batch)
        await spender.allocate(100)
        turn = await spender.hold(100)
        await spender.conclude("truncated", spender.settled(turn, 350))

        (account,) = (await exact(service, tenant)).batches
        assert (account.drawn, account.excess, account.spent) == (100, 250, 100)
        after = await spenders.open(limits(), tenant, batch=batch)
        assert await after.allocate(651) == Refusal("batchCeiling", 651, 650)


async def test_a_limit_row_that_was_changed_by_hand_is_shown_by_the_balance(database: Server) -> None:
    from service.store import spend

    async with bench(database.service_url) as service:
        batch = await a_batch(service.database, 1_000)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.batch_limit SET drawn = 7")

        balance = await spend.balance(service.database)
        assert not balance.exact
        assert [account.batch for account in balance.batches if not account.exact] == [batch]


async def test_draws_and_ends_of_a_batch_never_wait_for_each_other(database: Server) -> None:
    """Heads come first, then the batch, the day, the month: whatever is drawn and returned at once."""
    tenant, budgets = a_tenant(), limits(day=10**9, month=10**9)

    async def lives(spender: Spender) -> None:
        for _ in range(5):
            await spender.allocate(100, 300)
            await spender.spend(80)
        await spender.conclude("truncated")

    async with bench(database.service_url) as service, Database.open(database.service_url, size=12) as many:
        spenders = await Spenders.of(service)
        batch = await a_batch(service.database, 10**9, caller=Caller(tenant))
        debates = [
            await spenders.take(await spenders.queue(budgets, tenant, batch=batch if nth % 2 else None), budgets, many)
            for nth in range(30)
        ]
        await asyncio.gather(*(lives(spender) for spender in debates))
        await exact(service, tenant)
    assert rows(database, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
