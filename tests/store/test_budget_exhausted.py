"""Nobody queues for what the tenant's limits cannot pay: the case is refused before anything is written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import DebateStopped
from service.errors import BudgetExhausted
from service.identity.caller import Caller
from service.policy import Budget, Budgets
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.store import spend
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import CALLER, a_request, bench
from tests.fixtures.spending import Spenders, limits, rows

pytestmark = pytest.mark.no_replay
"""These debates spend without being played: what is legal is the kernel's question."""

# -- at the door


def under(budgets: Budgets) -> Any:
    return replace(read_policy(SHIPPED_POLICY), budgets=budgets)


async def test_a_case_that_its_tenant_cannot_pay_is_refused_with_nothing_written(database: Server) -> None:
    async with bench(database.service_url, policy=under(limits(day=1_000, month=10**9))) as service:
        with pytest.raises(BudgetExhausted) as refused:
            await service.submit()

        assert rows(database, "SELECT FROM gainsay.debate_head") == []
        error = refused.value
        assert (error.code, error.status, error.limit, error.left) == ("budget_exhausted", 402, "tenantDay", 1_000)
        ends = datetime.fromisoformat(error.ends)
        assert (ends.hour, ends.minute, ends.utcoffset()) == (0, 0, UTC.utcoffset(None))
        assert error.retry_after is not None
        seconds = (ends - datetime.now(UTC)).total_seconds()
        assert abs(error.retry_after - seconds) < 5
        assert "limit for the day, 0.001 USD, leaves 0.001 USD" in error.detail
        assert f"ends at {error.ends}. The limit is too small for any day: raise it" in error.detail


async def test_a_month_that_is_used_up_is_named_and_its_end_is_not_waited_for_blindly(database: Server) -> None:
    async with bench(database.service_url, policy=under(limits(day=0, month=0, zone="Asia/Tokyo"))) as service:
        with pytest.raises(BudgetExhausted) as refused:
            await service.submit()

        ends = datetime.fromisoformat(refused.value.ends)
        assert (refused.value.limit, refused.value.left, ends.hour) == ("tenantMonth", 0, 15)
        assert 0 < (refused.value.retry_after or 0) <= spend.RETRY_MAX_S


async def test_the_door_opens_again_when_money_comes_back(database: Server) -> None:
    budgets = limits(day=400_000)
    async with bench(database.service_url, policy=under(budgets)) as service:
        spender = await (await Spenders.of(service)).open(budgets, CALLER.tenant)
        await spender.allocate(400_000)
        with pytest.raises(BudgetExhausted) as refused:
            await service.submit()
        assert "0.40 USD, leaves 0.00 USD" in refused.value.detail
        assert ". Try again then, or when running debates have returned" in refused.value.detail

        await spender.conclude()

        debate = await service.submit()
        assert (await read_head(service.database, debate, "default"))["granted"] == 0


async def test_what_costs_nothing_passes_a_limit_of_nothing(database: Server) -> None:
    """A declined case, and another tenant's."""
    budgets = Budgets(others=Budget(day=0), tenants={"rich": Budget()})
    async with bench(database.service_url, policy=under(budgets)) as service:
        declined = await service.reviews.submit(a_request(estimatedDownside=1), CALLER)
        rich = await service.reviews.submit(a_request(), Caller(tenant="rich"))

        assert (declined.status, rich.status) == ("declined", "queued")
        head = await read_head(service.database, rich.debate, "rich")
        assert head["granted"] == head["ceiling"]


async def test_a_stopped_debate_of_an_exhausted_tenant_is_still_recorded_to_its_end(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=100)
        await (await spenders.open(budgets)).allocate(100)
        spender = await spenders.open(budgets)

        assert await spender.allocate(1) is not None
        await spender.log.append([DebateStopped("abort", "no money")])
        await spender.conclude("aborted")

        assert (await read_head(service.database, spender.debate, "acme"))["state"] == "aborted"
