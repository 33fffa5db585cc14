"""Evaluations have money and places of their own: exact however many ask at once, and apart from their tenant's."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
import pytest

from service.errors import BudgetExhausted, InvalidCase, QueueFull
from service.policy import EvaluationBudget, EvaluationBudgets
from service.policy.limits import Budgets, Queue
from service.store.evaluation_room import ItemRoom, items_under_way, refuse_without_room
from service.store.queue import ClaimRequest, claim
from service.store.queue_limits import QueueLimits
from service.store.spend import Purpose, limited, remaining, use_of
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import Bench, bench
from tests.fixtures.spending import CEILING, Spender, Spenders, drawn, exact, limits, rows, set_day, waiting

pytestmark = pytest.mark.no_replay
TENANT = "acme"
PRODUCTION = limits(day=10_000, month=20_000)
ITEMS: Purpose = "evaluation"


def a_room(
    reserve: int = 100, day: int | None = 1_000, month: int | None = 10_000, debates: int = 50, zone: str = "UTC"
) -> ItemRoom:
    return ItemRoom(reserve, EvaluationBudget(day=day, month=month, debates=debates), zone)


class Items:
    """Debates of evaluations of one tenant under one budget."""

    def __init__(self, service: Bench, spenders: Spenders, budgets: Budgets = PRODUCTION) -> None:
        self.service, self.spenders, self.budgets = service, spenders, budgets

    async def queue(self, room: ItemRoom, ceiling: int = CEILING) -> str | None:
        """A queued debate, if there is room for it."""
        return await self.spenders.queue_item(room, TENANT, ceiling)

    async def open(self, room: ItemRoom, ceiling: int = CEILING) -> Spender:
        """A claimed debate, for which there is room."""
        debate = await self.queue(room, ceiling)
        assert debate is not None
        return await self.take(debate, room)

    async def take(self, debate: str, room: ItemRoom) -> Spender:
        """Claim a debate as a worker under this budget."""
        return await self.spenders.take(debate, self.budgets, items=EvaluationBudgets(room.budget))


@asynccontextmanager
async def items(server: Server) -> AsyncIterator[Items]:
    async with bench(server.service_url) as service:
        yield Items(service, await Spenders.of(service))


# -- room


async def test_no_more_is_opened_than_the_day_pays_for_at_most(database: Server) -> None:
    """With the room for ten of these, thirty that come at once get ten."""
    async with items(database) as here:
        found = await asyncio.gather(*(here.queue(a_room()) for _ in range(30)))

        assert len([debate for debate in found if debate]) == 10
        under_way = await items_under_way(here.service.database, TENANT)
        assert (under_way.debates, under_way.reserved) == (10, 1_000)
        with pytest.raises(BudgetExhausted) as refused:
            await refuse_without_room(here.service.database, TENANT, a_room())
        assert (refused.value.limit, refused.value.left) == ("evaluationDay", 0)
        assert "the next debate may cost 0.0001 USD; the day ends at" in refused.value.detail


async def test_no_more_are_opened_at_once_than_there_are_places(database: Server) -> None:
    async with items(database) as here:
        room = a_room(day=None, month=None, debates=3)
        found = await asyncio.gather(*(here.queue(room) for _ in range(20)))

        assert len([debate for debate in found if debate]) == 3
        with pytest.raises(QueueFull, match=r"\[evaluation\.budget\] allows, 3"):
            await refuse_without_room(here.service.database, TENANT, room)
        assert drawn(database) == [], "nothing is counted where there is no limit"


async def test_a_debate_that_ends_gives_back_its_place_and_what_it_did_not_spend(database: Server) -> None:
    async with items(database) as here:
        room = a_room(reserve=600, debates=1)
        first = await here.open(room)
        assert await here.queue(a_room(reserve=1, debates=1)) is None, "one place"
        assert await here.queue(a_room(reserve=500)) is None, "400 are left"
        await first.allocate(250)
        await first.spend(250)
        await first.conclude()

        with pytest.raises(BudgetExhausted) as refused:
            await refuse_without_room(here.service.database, TENANT, a_room(reserve=751))
        assert refused.value.left == 750
        assert await here.queue(a_room(reserve=750, debates=1)) is not None
        await exact(here.service)


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_opened_drawn_and_ended_at_once_the_limit_holds_and_reserves_are_there(
    database: Server, seed: int
) -> None:
    """Every debate that was opened draws all of its reserve, whatever the others do meanwhile."""
    draw = random.Random(seed)

    async def one(reserve: int, spent: int) -> int:
        room = a_room(reserve)
        debate = await here.queue(room)
        if debate is None:
            return 0
        spender = await here.take(debate, room)
        while spender.log.allocated < reserve:
            most = reserve - spender.log.allocated
            assert await spender.allocate(draw.randint(1, most), draw.randint(0, CEILING)) is None
        await spender.spend(spent)
        await spender.conclude()
        return spent

    async with items(database) as here:
        asked = [(reserve, draw.randint(0, reserve)) for reserve in (draw.randint(1, 400) for _ in range(40))]
        charged = sum(await asyncio.gather(*(one(*each) for each in asked)))

        balance = await exact(here.service, TENANT)
        assert {period.period for period in balance.periods} == {"evaluationDay", "evaluationMonth"}
        assert all(period.drawn == period.spent == charged <= 1_000 for period in balance.periods)


async def test_beyond_its_reserve_a_debate_takes_nothing_that_others_have_reserved(database: Server) -> None:
    """A call that was lost with its worker is charged and made again: that is more than was reserved."""
    async with items(database) as here:
        first, second = await here.open(a_room(reserve=300)), await here.open(a_room(reserve=600))
        await first.allocate(300)
        await first.spend(300)

        refused = await first.allocate(101)
        assert refused is not None
        assert (refused.limit, refused.left) == ("evaluationDay", 100)
        assert await first.allocate(100) is None
        assert await second.allocate(600) is None


@contextmanager
def opening(server: Server, reserve: int) -> Iterator[psycopg.Connection[Any]]:
    """Another process in the middle of opening an item: it has found room, and has not committed."""
    with psycopg.connect(server.admin_url) as other:
        other.execute("SELECT * FROM gainsay.evaluation_room(%s, %s, 50, 'UTC', 1000, 10000)", [TENANT, reserve])
        other.execute(
            "INSERT INTO gainsay.debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, "
            "ceiling, granted, purpose, reserve) VALUES (gen_random_uuid(), %s, 'l', 'adversarial/1', 'contract', "
            "'queued', 3, '', 1000, 0, 'evaluation', %s)",
            [TENANT, reserve],
        )
        yield other


async def test_who_opens_waits_for_another_that_opens_and_counts_it(database: Server) -> None:
    async with items(database) as here:
        with opening(database, 950) as other:
            second = asyncio.create_task(here.queue(a_room(reserve=100)))
            elsewhere = await here.spenders.queue_item(a_room(reserve=100), "rival")
            await waiting(database)
            other.commit()

        assert await second is None
        assert elsewhere is not None, "another tenant waits for nobody"
        assert await here.queue(a_room(reserve=50)) is not None


async def test_who_draws_beyond_its_reserve_waits_for_another_that_opens_and_counts_it(database: Server) -> None:
    async with items(database) as here:
        first, second = await here.open(a_room(reserve=300)), await here.open(a_room(reserve=100))
        await first.allocate(300)
        with opening(database, 400) as other:
            beyond = asyncio.create_task(first.allocate(201))
            assert await second.allocate(100) is None, "within its reserve a debate waits for nobody"
            await waiting(database)
            other.commit()

        refused = await beyond
        assert refused is not None
        assert (refused.limit, refused.left) == ("evaluationDay", 200)


async def test_a_debate_that_no_day_would_pay_for_is_refused_for_good(database: Server) -> None:
    async with items(database) as here:
        for room in (a_room(reserve=1_001), a_room(reserve=500, day=None, month=499)):
            with pytest.raises(InvalidCase, match=r"\[evaluation\.budget\] pays"):
                await refuse_without_room(here.service.database, TENANT, room)


async def test_the_next_day_has_room_again_and_the_month_still_counts(database: Server) -> None:
    async with items(database) as here:
        set_day(database, "2026-12-30")
        room = a_room(reserve=1_000, month=1_500)
        spender = await here.open(room)
        await spender.allocate(1_000)
        await spender.spend(1_000)
        await spender.conclude()
        assert await here.queue(a_room(reserve=1)) is None

        set_day(database, "2026-12-31")
        assert await here.queue(a_room(reserve=501, month=1_500)) is None
        assert await here.queue(a_room(reserve=500, month=1_500)) is not None
        with pytest.raises(BudgetExhausted) as refused:
            await refuse_without_room(here.service.database, TENANT, a_room(reserve=1, month=1_500))
        assert refused.value.limit == "evaluationMonth"
        set_day(database, "2027-01-01")
        assert await here.queue(a_room(reserve=500, month=1_500)) is not None


# -- apart from production, in both directions


async def test_what_an_evaluation_spends_leaves_the_tenants_money_as_it_was(database: Server) -> None:
    async with items(database) as here:
        store = here.service.database
        item = await here.open(a_room(reserve=1_000))
        await item.allocate(1_000)
        await item.spend(900)

        assert {left.amount for left in await remaining(store, TENANT, PRODUCTION)} == {10_000, 20_000}
        assert (await use_of(store, TENANT, PRODUCTION))["day"].drawn == 0
        mine = await use_of(store, TENANT, PRODUCTION, a_room().budget.money, ITEMS)
        assert (mine["day"].spent, mine["day"].held, mine["day"].left) == (900, 100, 0)
        case = await here.spenders.open(PRODUCTION, TENANT)
        assert await case.allocate(10_000) is None
        await exact(here.service)


async def test_what_the_tenant_spends_leaves_the_evaluations_money_as_it_was(database: Server) -> None:
    async with items(database) as here:
        case = await here.spenders.open(PRODUCTION, TENANT)
        await case.allocate(10_000)
        refused = await case.allocate(1)
        assert refused is not None
        assert refused.limit == "tenantDay"

        item = await here.open(a_room(reserve=1_000))
        assert await item.allocate(1_000) is None
        assert [(period, amount) for period, _, amount, _ in drawn(database)] == [
            ("day", 10_000),
            ("evaluationDay", 1_000),
            ("evaluationMonth", 1_000),
            ("month", 10_000),
        ]
        await exact(here.service)


async def test_items_take_no_place_of_the_tenants_queue_and_need_none(database: Server) -> None:
    async with items(database) as here:
        store, queue = here.service.database, Queue(waiting=100, waiting_per_tenant=2)
        for _ in range(4):
            await here.queue(a_room())
        async with QueueLimits(store).reserve_slot(TENANT, queue):
            pass
        for _ in range(2):
            await here.spenders.queue(PRODUCTION, TENANT)

        with pytest.raises(QueueFull):
            await QueueLimits(store).refuse_full(TENANT, queue)
        async with QueueLimits(store).reserve_slot(TENANT, queue, item=True):
            pass
        with pytest.raises(QueueFull):
            await QueueLimits(store).refuse_full(TENANT, Queue(waiting=6), item=True)


async def test_items_run_beside_a_tenant_that_runs_as_many_as_it_may_and_count_in_no_limit_of_it(
    database: Server,
) -> None:
    async with items(database) as here:
        store, wanted = here.service.database, ClaimRequest(worker="w", lease_s=30.0, per_tenant=1)
        cases = [await here.spenders.queue(PRODUCTION, TENANT) for _ in range(3)]
        opened = [await here.queue(a_room()) for _ in range(3)]

        (first,) = await claim(store, wanted)
        (second,) = await claim(store, wanted)
        assert (first.debate, second.debate) == (cases[0], opened[0]), "they take turns"
        assert [taken.debate for taken in await claim(store, wanted, 9)] == opened[1:]
        assert await claim(store, wanted, 9) == []


async def test_running_items_leave_a_tenant_the_place_that_it_has(database: Server) -> None:
    async with items(database) as here:
        store, wanted = here.service.database, ClaimRequest(worker="w", lease_s=30.0, per_tenant=1)
        opened = [await here.queue(a_room()) for _ in range(3)]
        assert [taken.debate for taken in await claim(store, wanted, 9)] == opened

        case = await here.spenders.queue(PRODUCTION, TENANT)
        assert [taken.debate for taken in await claim(store, wanted, 9)] == [case]


async def test_a_long_queue_of_a_tenant_keeps_no_item_waiting(database: Server) -> None:
    async with items(database) as here:
        rows(
            database,
            "INSERT INTO gainsay.debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, "
            "ceiling, granted, due) SELECT gen_random_uuid(), 'acme', 'l', 'adversarial/1', 'contract', 'queued', 3, "
            "'', 1, 1, '2026-01-01' FROM generate_series(1, 3000) RETURNING 1",
        )
        opened = await here.queue(a_room())
        wanted = ClaimRequest(worker="w", lease_s=30.0)

        taken = await claim(here.service.database, wanted, 2)

        assert opened in {found.debate for found in taken}


async def test_one_tenants_evaluations_take_nothing_of_anothers(database: Server) -> None:
    async with items(database) as here:
        for _ in range(10):
            await here.queue(a_room())

        assert await here.queue(a_room()) is None
        assert await here.spenders.queue_item(a_room(), "other") is not None
        assert (await items_under_way(here.service.database, "other")).debates == 1


def test_the_shipped_budget_bounds_what_evaluations_spend() -> None:
    assert limited(EvaluationBudget().money)
