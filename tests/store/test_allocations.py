"""A debate draws on its tenant's day and month: in tranches, once, under its own epoch, and never above."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from service.errors import AuditUnavailable, Fenced, StoreUnavailable
from service.money import Refusal
from service.policy import Budget, Budgets
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import bench, take_log
from tests.fixtures.spending import CEILING, Spenders, change, drawn, exact, limits, rows, waiting

pytestmark = pytest.mark.no_replay
"""These debates spend without being played: what is legal is the kernel's question."""

# -- tranches


async def test_a_debate_without_limits_has_its_ceiling_from_the_start_and_draws_nothing(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits())

        await spender.spend(CEILING)
        await spender.conclude()

        assert spender.log.allocated == CEILING
        assert drawn(database) == rows(database, "SELECT * FROM gainsay.draw") == []
        assert (await exact(service)).periods == ()


async def test_a_debate_with_limits_may_hold_nothing_that_it_has_not_drawn(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))

        with pytest.raises(Fenced):
            await spender.hold(1)
        assert await spender.allocate(100) is None
        with pytest.raises(Fenced):
            await spender.hold(101)
        await spender.hold(100)


@pytest.mark.parametrize(
    ("budgets", "gone", "need", "want", "granted", "refused"),
    [
        pytest.param(limits(10_000), 0, 100, 1_000, 1_000, None, id="plenty: what is wanted"),
        pytest.param(limits(10_000), 1, 100, 1_000, 100, None, id="less than ten times: what is needed"),
        pytest.param(limits(10_000), 9_900, 100, 1_000, 100, None, id="the last that is left"),
        pytest.param(limits(10_000), 9_901, 100, 1_000, 0, ("tenantDay", 99), id="one too little"),
        pytest.param(limits(10_000), 10_000, 1, 1, 0, ("tenantDay", 0), id="nothing left"),
        pytest.param(limits(0), 0, 1, 1, 0, ("tenantDay", 0), id="a limit of nothing"),
        pytest.param(limits(None, 10_000), 9_901, 100, 100, 0, ("tenantMonth", 99), id="a month alone"),
        pytest.param(limits(10**9, 10_000), 5, 100, 1_000, 100, None, id="the shorter one counts"),
        pytest.param(limits(10_000, 10_050), 9_960, 100, 100, 0, ("tenantMonth", 90), id="both: what ends later"),
        pytest.param(limits(10_000, 20_000), 9_960, 100, 100, 0, ("tenantDay", 40), id="the day before the month"),
        pytest.param(limits(10**9), 0, 100, 0, 100, None, id="less wanted than needed"),
        pytest.param(limits(10**9), 0, 100, 2 * CEILING, CEILING, None, id="never above the ceiling"),
        pytest.param(limits(10**9), 0, CEILING + 1, 0, 0, ("debateCeiling", CEILING), id="needed above the ceiling"),
        pytest.param(limits(1), 0, 0, 1_000, 0, None, id="nothing needed"),
    ],
)
async def test_a_tranche_is_what_is_wanted_or_what_is_needed_or_nothing(
    database: Server,
    budgets: Budgets,
    gone: int,
    need: int,
    want: int,
    granted: int,
    refused: tuple[str, int] | None,
) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        if gone:
            assert await (await spenders.open(limits(10**9, 10**9))).allocate(gone) is None
        spender = await spenders.open(budgets)

        found = await spender.allocate(need, want)

        assert found == (Refusal(refused[0], need, refused[1]) if refused else None)
        assert spender.log.allocated == granted
        assert (await read_head(service.database, spender.debate, "acme"))["granted"] == granted
        await exact(service)


async def test_one_tenant_s_draws_are_nothing_to_another(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = Budgets(others=Budget(day=100), tenants={"rich": Budget(day=1_000), "free": Budget()})

        assert await (await spenders.open(budgets, "poor")).allocate(100) is None
        assert await (await spenders.open(budgets, "poor")).allocate(1) == Refusal("tenantDay", 1, 0)
        assert await (await spenders.open(budgets, "meek")).allocate(100) is None
        assert await (await spenders.open(budgets, "rich")).allocate(1_000) is None
        assert (await spenders.open(budgets, "free")).log.allocated == CEILING


async def test_a_debate_goes_on_when_its_tenant_s_limits_are_taken_away(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        debate = await spenders.queue(limits(day=100))
        spender = await spenders.take(debate, limits())

        assert await spender.allocate(5_000) is None
        await spender.spend(4_000)
        await spender.conclude()

        (day, month) = (await exact(service)).periods
        assert (day.ceiling, day.drawn, month.ceiling, month.drawn) == (None, 4_000, None, 4_000)


# -- other policies


async def test_a_limit_below_what_is_drawn_refuses_and_breaks_nothing(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        first = await spenders.open(limits(day=1_000))
        await first.allocate(800)
        lower = await spenders.open(limits(day=500))

        assert await lower.allocate(1) == Refusal("tenantDay", 1, -300)
        assert rows(database, "SELECT ceiling, drawn FROM gainsay.spend_limit WHERE period = 'day'") == [(800, 800)]
        await first.spend(800)
        await first.conclude()

        assert await (await spenders.open(limits(day=900))).allocate(100) is None
        await exact(service)


async def test_each_of_two_policies_draws_under_its_own_limit(database: Server) -> None:
    """While a new policy is rolled out two processes disagree for a while."""
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        large, small = limits(day=1_000), limits(day=300)
        for budgets, need, refused in [
            (small, 200, None),
            (large, 200, None),
            (small, 1, Refusal("tenantDay", 1, -100)),
            (large, 600, None),
            (large, 1, Refusal("tenantDay", 1, 0)),
            (small, 1, Refusal("tenantDay", 1, -700)),
        ]:
            assert await (await spenders.open(budgets)).allocate(need) == refused
        await exact(service)


# -- fences


async def test_a_worker_that_has_lost_the_debate_cannot_draw_and_the_next_one_owns_its_money(
    database: Server,
) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        old = await spenders.open(budgets)
        await old.allocate(400)

        new = await spenders.take(old.debate, budgets)
        with pytest.raises(Fenced):
            await old.allocate(100)

        assert new.log.allocated == 400
        await new.spend(400)
        assert await new.allocate(100) is None
        await new.conclude()
        with pytest.raises(Fenced):
            await new.allocate(1)
        (day, _) = (await exact(service)).periods
        assert (day.drawn, day.spent) == (400, 400)


async def test_a_queued_debate_holds_nothing_and_cannot_draw(database: Server) -> None:
    async with bench(database.service_url) as service:
        budgets = limits(day=1_000)
        debate = await (await Spenders.of(service)).queue(budgets)
        log = await take_log(service.database, debate, 0, budgets=budgets, tenant="acme")
        await log.new_entries()

        with pytest.raises(Fenced):
            await log.allocate(1, 1)

        assert drawn(database) == []


# -- answers that are lost, and a database that goes away


class Losing:
    """A database whose answers to some draws are lost, before or after they were made."""

    def __init__(self, database: Any, lost: int, *, done: bool) -> None:
        self._database, self._left, self._done = database, lost, done

    @property
    def pooled(self) -> Any:
        """The database of the connections."""
        return self._database

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
        if name == "draw" and self._left:
            self._left -= 1
            if self._done:
                await self._database.query(name, params)
            raise StoreUnavailable("the connection is lost")
        rows: list[Any] = await self._database.query(name, params)
        return rows


@pytest.mark.parametrize("done", [True, False], ids=["after the commit", "before the commit"])
async def test_a_draw_that_is_asked_for_again_is_made_once(database: Server, done: bool) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        losing: Any = Losing(service.database, 1, done=done)
        spender = await spenders.take(await spenders.queue(budgets), budgets, losing, lease_s=0.0)

        with pytest.raises(AuditUnavailable):
            await spender.allocate(300)
        assert await spender.allocate(300) is None

        assert spender.log.allocated == 300
        assert [r[2] for r in drawn(database)] == [300, 300]
        await spender.spend(300)
        await exact(service)


@pytest.mark.parametrize("done", [True, False], ids=["after the commit", "before the commit"])
async def test_a_draw_outlasts_a_database_that_is_back_within_the_lease(database: Server, done: bool) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        losing: Any = Losing(service.database, 3, done=done)
        spender = await spenders.take(await spenders.queue(budgets), budgets, losing)

        assert await spender.allocate(300) is None

        assert spender.log.allocated == 300
        assert [r[2] for r in drawn(database)] == [300, 300]


async def test_a_draw_that_was_made_for_less_is_made_up_for(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        losing: Any = Losing(service.database, 1, done=True)
        spender = await spenders.take(await spenders.queue(budgets), budgets, losing, lease_s=0.0)

        with pytest.raises(AuditUnavailable):
            await spender.allocate(300)
        assert await spender.allocate(500) is None

        assert spender.log.allocated == 500
        assert [r[0] for r in rows(database, "SELECT amount FROM gainsay.draw ORDER BY nth")] == [300, 200]


async def test_a_draw_whose_answer_was_lost_with_its_worker_belongs_to_the_next(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        losing: Any = Losing(service.database, 1, done=True)
        old = await spenders.take(await spenders.queue(budgets), budgets, losing, lease_s=0.0)
        with pytest.raises(AuditUnavailable):
            await old.allocate(300)

        new = await spenders.take(old.debate, budgets)

        assert new.log.allocated == 300
        await new.conclude()
        assert [r[2] for r in drawn(database)] == [0, 0]
        await exact(service)


def cut(server: Server) -> int:
    """Terminate every connection that the service has; how many there were."""
    ((found,),) = rows(
        server,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND usename <> current_user",
    )
    return int(found)


async def test_connections_that_are_cut_between_draw_hold_and_charge_lose_no_micro_dollar(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        for amount in (100, 70, 1):
            assert await spender.allocate(amount, amount) is None
            assert cut(database) > 0
            turn = await spender.hold(amount)
            assert cut(database) > 0
            await spender.settle(turn, amount - 1)
            assert cut(database) > 0
        await spender.conclude()

        (day, _) = (await exact(service)).periods
        assert (day.drawn, day.spent) == (168, 168)


async def test_a_draw_that_is_cut_while_it_waits_for_the_limit_s_row_is_made_once(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        await (await spenders.open(budgets)).allocate(100)
        spender = await spenders.open(budgets)

        with psycopg.connect(database.admin_url) as admin:
            admin.execute("SELECT FROM gainsay.spend_limit FOR UPDATE")
            drawing = asyncio.create_task(spender.allocate(200))
            await waiting(database)
            assert cut(database) > 0
        await drawing

        assert [r[2] for r in drawn(database)] == [300, 300]
        assert spender.log.allocated == 200
        await exact(service)


async def test_limits_that_cannot_be_reached_let_nobody_spend(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        change(database, "REVOKE UPDATE ON gainsay.spend_limit FROM gainsay_writer")

        with pytest.raises(AuditUnavailable):
            await spender.allocate(1)

        assert spender.log.allocated == 0
        with pytest.raises(Fenced):
            await spender.hold(1)
