"""GET /v1/budget on a real database: what is spent and what is only held, and what of it which tenant sees."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.policy import Budget, Budgets
from service.policy.settings import SHIPPED_POLICY
from service.store import spend
from service.store.spend import use_of
from tests.end_to_end.test_tenant_limits import policy_with
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.serving import JSON, a_case, served
from tests.fixtures.spending import Spenders, change, limits, set_day

pytestmark = pytest.mark.no_replay
"""Some of these debates spend without being played."""
DAY = ("2026-11-21", "2026-11-22")


def changed_policy(folder: Path, *changes: tuple[str, str]) -> str:
    """The shipped policy with these replacements, each of which is made."""
    text = SHIPPED_POLICY.read_text("utf-8")
    for pattern, to in changes:
        text, count = re.subn(pattern, to, text)
        assert count, pattern
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return str(path)


def amounts(period: JSON) -> dict[str, Decimal]:
    """The amounts of a period by their names."""
    return {name: Decimal(value) for name, value in period.items() if name.endswith("USD")}


async def test_spent_and_held_are_told_apart_and_add_up_to_the_limit(database: Database, tmp_path: Path) -> None:
    policy = policy_with(tmp_path, "100.00", "1000.00")
    async with served(database.service_url, GAINSAY_POLICY=policy, sequence=False, work=False) as site:
        before = (await site.http.get("/v1/budget")).json()
        async with bench(database.service_url) as service:
            spender = await (await Spenders.of(service)).open(limits(100_000_000, 1_000_000_000), tenant="default")
            await spender.allocate(500_000)
            await spender.spend(120_000)
            turn = await spender.hold(100_000)
            during = (await site.http.get("/v1/budget")).json()
            await spender.settle(turn, 150_000)
            over = (await site.http.get("/v1/budget")).json()
            await spender.conclude()
        after = (await site.http.get("/v1/budget")).json()

    assert amounts(before["day"]) == {
        **dict.fromkeys(("spentUSD", "excessUSD", "heldUSD"), Decimal(0)),
        **dict.fromkeys(("limitUSD", "remainingUSD"), Decimal(100)),
    }
    told = [tuple(map(str, list(amounts(each["day"]).values())[1:])) for each in (during, over, after)]
    assert told == [
        ("0.12", "0.00", "0.38", "99.50"),
        ("0.22", "0.05", "0.28", "99.45"),
        ("0.22", "0.05", "0.00", "99.73"),
    ]
    for each in (before, during, over, after):
        assert each["limited"] is True
        for period in (each["day"], each["month"]):
            whole, *parts = amounts(period).values()
            assert whole == sum(parts)
    assert amounts(during["month"])["remainingUSD"] == Decimal("999.50")


async def test_a_period_has_the_zone_of_the_policy_and_says_when_it_ends(database: Database, tmp_path: Path) -> None:
    policy = changed_policy(tmp_path, ('(?m)^zone = ".*"', 'zone = "Asia/Kolkata"'))
    async with served(database.service_url, GAINSAY_POLICY=policy, sequence=False, work=False) as site:
        answer = await site.http.get("/v1/budget")
        shown = (await site.http.get("/v1/policy")).json()
        refused = await site.http.get("/v1/budget?tenant=other")

    found = answer.json()
    day, month = found["day"], found["month"]
    begins, ends = (datetime.fromisoformat(day[name]) for name in ("begins", "ends"))
    assert (found["zone"], ends - begins, begins.utcoffset()) == ("Asia/Kolkata", timedelta(days=1), timedelta(0))
    assert (begins.hour, begins.minute) == (18, 30)
    assert begins <= datetime.now(UTC) <= ends
    assert datetime.fromisoformat(month["begins"]) <= begins < datetime.fromisoformat(month["ends"])
    assert found["ceilingUSD"] == shown["debate"]["ceilingUSD"]
    assert found["ceilingMaxUSD"] == shown["debate"]["ceilingMaxUSD"]
    assert answer.headers["ratelimit"].startswith('"read"')
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_request")


async def test_a_tenant_without_limits_is_told_so(database: Database, tmp_path: Path) -> None:
    policy = changed_policy(tmp_path, ('(?m)^(day|month)_usd = ".*"$', r'\1_usd = "unlimited"'))
    async with served(database.service_url, GAINSAY_POLICY=policy) as site:
        await site.finished()
        found = (await site.http.get("/v1/budget")).json()

    assert found["limited"] is False
    for period in (found["day"], found["month"]):
        assert period.keys() == {"begins", "ends", "limited"}
        assert period["limited"] is False


async def test_money_that_is_refused_leads_to_the_budget(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, GAINSAY_POLICY=policy_with(tmp_path, "0.001")) as site:
        refused = await site.http.post("/v1/debates", json=a_case())
        (path,) = re.findall(r'<([^>]*)>; rel="related"', refused.headers["link"])
        found = (await site.http.get(path)).json()

    assert refused.status_code == 402
    assert refused.json()["leftUSD"] == found["day"]["remainingUSD"] == "0.001"
    assert refused.json()["ends"] == found["day"]["ends"]


async def test_each_tenant_sees_its_own_limits_and_money_and_no_other_s(database: Database, tmp_path: Path) -> None:
    policy = changed_policy(
        tmp_path,
        ('(?m)^day_usd = ".*"$', 'day_usd = "2.00"'),
        ('(?m)^month_usd = ".*"$', 'month_usd = "20.00"'),
        (r"\Z", '\n[tenants.acme]\nday_usd = "7.77"\n[tenants.rival]\nday_usd = "3.21"\n'),
    )
    async with served(
        database.service_url, GAINSAY_POLICY=policy, GAINSAY_IDENTITY=identity_file(tmp_path), work=False
    ) as site:
        registers = Registers(database)
        for tenant in ("acme", "rival"):
            await registers.add_tenant(tenant)
        known = {tenant: await registers.issue("operator", tenant=tenant) for tenant in ("default", "acme", "rival")}
        async with bench(database.service_url) as service:
            spender = await (await Spenders.of(service)).open(limits(7_770_000, 20_000_000), tenant="acme")
            await spender.allocate(1_000_000)
            await spender.spend(10_000)
        said: dict[str, dict[str, Any]] = {}
        for tenant, caller in known.items():
            said[tenant] = {
                path: (await site.http.get(path, headers=caller.headers)).json()
                for path in ("/v1/budget", "/v1/policy")
            }
            quote = await site.http.post("/v1/quotes", json=a_case(), headers=caller.headers)
            said[tenant]["quote"] = quote.json()

    own = {"default": "2.00", "acme": "7.77", "rival": "3.21"}
    for tenant, day in own.items():
        found = said[tenant]
        assert found["/v1/budget"]["day"]["limitUSD"] == found["/v1/policy"]["budgets"]["dayUSD"] == day
        for other, foreign in own.items():
            assert other == tenant or foreign not in str(found), (tenant, other)
    assert said["acme"]["/v1/budget"]["day"]["heldUSD"] == "0.99"
    assert said["acme"]["quote"]["tenantLeft"]["dayUSD"] == said["acme"]["/v1/budget"]["day"]["remainingUSD"]
    for tenant in ("default", "rival"):
        assert said[tenant]["/v1/budget"]["day"]["heldUSD"] == "0.00"
        assert said[tenant]["/v1/budget"]["day"]["remainingUSD"] == own[tenant]


async def test_over_midnight_each_period_has_its_own_and_the_rows_agree_with_the_books(database: Database) -> None:
    budgets = limits(day=1_000, month=10_000)
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        set_day(database, DAY[0])
        one, two = await spenders.open(budgets), await spenders.open(budgets)
        await one.allocate(300)
        await one.spend(100)
        await two.allocate(200)
        first = await use_of(service.database, "acme", budgets)
        set_day(database, DAY[1])
        await one.allocate(400)  # 200 of yesterday's are left, and 200 at least come from today
        second = await use_of(service.database, "acme", budgets)
        await one.spend(250)  # the rest of yesterday's, and some of today's
        third = await use_of(service.database, "acme", budgets)
        books = {(p.period, str(p.starts)): p for p in (await spend.balance(service.database)).periods}
        strangers = await use_of(service.database, "nobody", budgets)

        assert (first["day"].spent, first["day"].held) == (100, 400)
        assert (second["day"].spent, second["day"].held) == (0, second["day"].drawn)
        assert second["day"].drawn > 0
        assert (second["month"].spent, second["month"].held) == (100, 400 + second["day"].drawn)
        assert (third["day"].spent, third["month"].spent) == (50, 350)
        for period, starts in (("day", DAY[1]), ("month", "2026-11-01")):
            book, found = books[period, starts], third[period]
            assert (found.drawn, found.excess, found.spent, found.held) == (
                book.drawn,
                book.excess,
                book.spent,
                book.open,
            )
        assert (strangers["day"].drawn, strangers["day"].held, strangers["day"].left) == (0, 0, 1_000)


async def test_a_limit_below_what_is_gone_leaves_nothing(database: Database) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        await spender.allocate(600)
        lowered = await use_of(service.database, "acme", Budgets(others=Budget(day=500)))
        change(database, "UPDATE gainsay.spend_limit SET excess = 9 WHERE period = 'day'")
        excess = await use_of(service.database, "acme", limits(day=1_000))

        change(database, "UPDATE gainsay.spend_limit SET drawn = 1")
        corrected = await use_of(service.database, "acme", limits(day=1_000))

    assert (lowered["day"].left, lowered["month"].left) == (0, None)
    assert excess["day"].left == 391
    assert (corrected["day"].spent, corrected["day"].held, corrected["day"].left) == (0, 600, 990)


async def test_a_session_of_callers_reads_the_unspent_part_of_its_own_tenant_alone(database: Database) -> None:
    asked = "SELECT unspent_allocations('acme', 'month', date_trunc('month', today('UTC'))::date)"
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        await spender.allocate(600)
        found = []
        for tenant in ("acme", "rival", ""):
            with psycopg.connect(database.serving_url, options="-c search_path=gainsay_tenant,gainsay") as login:
                login.execute("SELECT set_config('gainsay.tenant', %s, false)", [tenant])
                found += login.execute(asked).fetchall()

    assert found == [(600,), (0,), (0,)]
