"""What tenants have spent and have left, in the metrics: only where tenants are named, to the micro-dollar."""

from __future__ import annotations

import asyncio
import math

import pytest

from service import telemetry
from service.observing import labelled
from service.policy import Budget, Budgets
from service.store import tenant_money
from service.store.pool import Database
from service.store.queue import Backlog
from service.store.spend import use_of
from service.store.tenant_money import TenantMoney
from tests.fixtures.postgres import Cluster
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import bench
from tests.fixtures.spending import Spenders, set_day
from tests.fixtures.waiting import until, within

pytestmark = pytest.mark.no_replay
LIMITS = Budgets("UTC", Budget(10_000, 100_000), {"own": Budget(2_000, None), "free": Budget(None, None)})


@pytest.fixture(autouse=True)
def no_series(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in (telemetry.TENANT_LEFT, telemetry.TENANT_SPENT):
        monkeypatch.setattr(metric.metric, "_metrics", {})
        monkeypatch.setattr(metric, "_series", {})


def name_tenants(monkeypatch: pytest.MonkeyPatch, *tenants: str) -> None:
    monkeypatch.setattr(labelled, "NAMED_TENANTS", {*tenants})


def shown(metric: str) -> dict[tuple[str, str], float]:
    """The samples of a gauge in micro-dollars, by tenant and period."""
    (family,) = (found for found in labelled.REGISTRY.collect() if found.name == metric)
    return {(s.labels["tenant"], s.labels["period"]): round(s.value * 1e6) for s in family.samples}


async def test_spent_and_left_are_shown_of_named_tenants_and_of_all_others_together(
    database: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_tenants(monkeypatch, "acme", "own", "free", "idle")
    async with bench(database.service_url) as service:
        set_day(database, "2026-11-21")
        spenders = await Spenders.of(service)
        amounts = {"acme": (3_000, 1_200), "own": (1_500, 500), "b": (4_000, 100), "c": (700, 700)}
        for tenant, (allocated, charged) in amounts.items():
            spender = await spenders.open(LIMITS, tenant)
            await spender.allocate(allocated)
            await spender.spend(charged)
        over = await spenders.open(LIMITS, "acme")
        await over.allocate(400)
        await over.settle(await over.hold(400), 450)
        await over.conclude()
        await (await spenders.open(LIMITS, "free")).spend(300)

        await TenantMoney(service.database, lambda: LIMITS).measure()
        use = await use_of(service.database, "acme", LIMITS)

    spent = shown("gainsay_tenant_spent_usd")
    assert spent["acme", "day"] == spent["acme", "month"] == 1_200 + 450 == use["day"].spent + use["day"].excess
    assert (spent["own", "day"], spent["own", "month"]) == (500, 500)
    assert (spent["other", "day"], spent["other", "month"]) == (800, 800)
    assert (spent["idle", "day"], spent["idle", "month"]) == (0, 0)
    left = shown("gainsay_tenant_limit_left_usd")
    assert left["acme", "day"] == 10_000 - 3_000 - 400 - 50 == use["day"].left
    assert left["acme", "month"] == 100_000 - 3_450
    assert left["own", "day"] == 500
    assert ("own", "month") not in left, "its month has no limit"
    assert left["other", "day"] == 10_000 - 4_000, "the least that one of them has"
    assert left["idle", "day"] == 10_000
    assert not [key for key in {**spent, **left} if key[0] in ("free", "b", "c")], "no limit, or not named"


async def test_without_named_tenants_nothing_is_measured_and_no_tenant_is_shown(
    database: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_tenants(monkeypatch)
    async with Database.open(database.service_url, size=1) as opened:
        await within(10, TenantMoney(opened, lambda: LIMITS).run())

    assert shown("gainsay_tenant_spent_usd") == shown("gainsay_tenant_limit_left_usd") == {}


async def test_while_the_database_is_away_what_tenants_have_is_unknown(
    database: Server, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_tenants(monkeypatch, "acme")
    monkeypatch.setattr(tenant_money, "LOOK_S", 0.1)

    def values() -> list[float]:
        of = {"tenant": "acme", "period": "day"}
        return [labelled.REGISTRY.get_sample_value(name, of) or 0.0 for name in NAMES]

    async with Database.open(database.service_url, size=1) as opened:
        task = asyncio.create_task(TenantMoney(opened, lambda: LIMITS).run())
        try:
            await within(20, until(lambda: values() == [0.01, 0.0]))
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            cluster.admin.execute(query, [database.name])
            await within(30, until(lambda: all(map(math.isnan, values()))))
        finally:
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


NAMES = ("gainsay_tenant_limit_left_usd", "gainsay_tenant_spent_usd")


async def test_what_running_debates_were_allocated_and_have_not_spent_is_held(database: Server) -> None:
    held = "gainsay_money_held_usd"
    async with bench(database.service_url) as service:
        set_day(database, "2026-11-21")
        spenders = await Spenders.of(service)
        queued = await spenders.queue(LIMITS, "free")
        first, second = await spenders.open(LIMITS, "acme"), await spenders.open(LIMITS, "own")
        await first.allocate(1_000)
        await second.allocate(500)
        await first.spend(300)
        await Backlog(service.database).look()
        before = labelled.REGISTRY.get_sample_value(held)
        await first.conclude()
        await Backlog(service.database).look()
        after = labelled.REGISTRY.get_sample_value(held)
        await spenders.take(queued, LIMITS)
        await Backlog(service.database).look()

    assert (before, after) == (0.0012, 0.0005)
    assert labelled.REGISTRY.get_sample_value(held) == pytest.approx(1.0005), "without limits the rest of its ceiling"
