"""Many debates draw on one tenant's limits at once: the last micro-dollar is used, no row is waited for in a circle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import psycopg
import pytest

from service.money import Refusal
from service.store.pool import Database
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import bench, take_log
from tests.fixtures.spending import Spender, Spenders, a_tenant, exact, limits, rows, set_day, waiting

Step = Callable[[], Coroutine[Any, Any, object]]

pytestmark = pytest.mark.no_replay
"""These debates spend without being played: what is legal is the kernel's question."""


async def test_many_connections_at_once_use_a_limit_up_exactly(database: Server) -> None:
    tenant, budgets, each = a_tenant(), limits(day=50_000, month=10**9), 1_000

    async def spends(spender: Spender) -> int:
        """How often a debate was granted what it needs, until it was refused."""
        count = 0
        while await spender.allocate(each, 3 * each) is None:
            while spender.free >= each:
                await spender.spend(each)
                count += 1
        return count

    async with bench(database.service_url) as service, Database.open(database.service_url, size=12) as many:
        spenders = await Spenders.of(service)
        debates = [await spenders.take(await spenders.queue(budgets, tenant), budgets, many) for _ in range(24)]

        counts = await asyncio.gather(*(spends(spender) for spender in debates))
        await asyncio.gather(*(spender.conclude("truncated") for spender in debates))

        (day, month) = (await exact(service, tenant)).periods
        assert (day.drawn, day.spent, month.spent) == (50_000, 50_000, 50_000)
        assert sum(counts) == 50


async def test_of_many_that_need_the_last_of_a_limit_one_has_it(database: Server) -> None:
    tenant, each = a_tenant(), 1_000
    async with bench(database.service_url) as service, Database.open(database.service_url, size=12) as many:
        spenders = await Spenders.of(service)
        debates = [await spenders.open(limits(day=0), tenant) for _ in range(24)]
        for last in range(1, 13):
            budgets = limits(day=last * each)
            logs = [await take_log(many, d.debate, 1, budgets=budgets, tenant=tenant) for d in debates]

            found = await asyncio.gather(*(log.allocate(each, each) for log in logs))

            assert sorted(found, key=str) == [None] + 23 * [Refusal("tenantDay", each, 0)], last
        await exact(service, tenant)


async def test_draws_returns_and_excesses_over_midnight_at_once_keep_the_books(
    database: Server,
) -> None:
    """Every debate has money of two days and two months, so each conclusion moves four rows while others draw."""
    tenant, budgets = a_tenant(), limits(day=10**9, month=10**9)

    async def runs(spender: Spender) -> None:
        await spender.allocate(100)
        turn = await spender.hold(150)
        await spender.conclude("truncated", spender.settled(turn, 170))

    async with bench(database.service_url) as service, Database.open(database.service_url, size=12) as many:
        spenders = await Spenders.of(service)
        debates = [await spenders.take(await spenders.queue(budgets, tenant), budgets, many) for _ in range(60)]
        set_day(database, "2026-11-30")
        await asyncio.gather(*(spender.allocate(100) for spender in debates))
        set_day(database, "2026-12-01")

        await asyncio.gather(*(runs(spender) for spender in debates))

        balance = await exact(service, tenant)
        assert {(p.period, p.starts.month): (p.spent, p.excess) for p in balance.periods} == {
            ("day", 11): (6_000, 0),
            ("month", 11): (6_000, 0),
            ("day", 12): (3_000, 1_200),
            ("month", 12): (3_000, 1_200),
        }


@pytest.mark.parametrize("drawn_first", [True, False], ids=["the draw first", "the conclusion first"])
async def test_a_draw_and_a_conclusion_that_wait_for_one_row_never_wait_for_each_other(
    database: Server, drawn_first: bool
) -> None:
    """Both take the day before the month: whoever comes second holds nothing that the first still needs."""
    budgets = limits(day=10_000, month=10_000)
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        draws, ends = [await spenders.open(budgets) for _ in range(2)]
        for day in ("2026-11-30", "2026-12-01"):
            set_day(database, day)
            await ends.allocate(100)
        settled = ends.settled(await ends.hold(150), 170)

        with psycopg.connect(database.admin_url) as admin:
            admin.execute("SELECT FROM gainsay.spend_limit WHERE period = 'day' AND starts = '2026-12-01' FOR UPDATE")
            draw: Step = partial(draws.allocate, 100)
            conclude: Step = partial(ends.conclude, "truncated", settled)
            under_way: list[asyncio.Task[Any]] = []
            for count, start in enumerate((draw, conclude) if drawn_first else (conclude, draw), 1):
                under_way.append(asyncio.create_task(start()))
                await waiting(database, count)
        await asyncio.gather(*under_way)

        await exact(service)
    await gone(database)  # a connection has told what it met when it has ended
    assert rows(database, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]


async def gone(server: Server) -> None:
    """Return once the service has no connection any more."""
    left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename <> current_user"
    for _ in range(200):
        if rows(server, left) == [(0,)]:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("connections stayed open")
