"""Money is never overspent: whole debates in worker processes, with a vendor that keeps books of its own.

What is compared are three accounts that know nothing of each other: what the vendor bills, by its own count; what the
records of the debates charge; and the rows that the tenants' limits are kept in.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, TurnAsked
from service.identity.caller import Caller
from service.money import tokenizers
from service.policy import Policy
from service.policy.file.reading import read_file
from service.policy.file.tenants import all_budgets
from service.store import spend
from tests.end_to_end.vendors.policies import MICRO
from tests.faults import failing
from tests.faults.books import (
    ALLOWANCES,
    TOKENIZER,
    Books,
    Told,
    assert_bound,
    assert_closed,
    assert_covered,
    policy_of,
    total,
)
from tests.faults.payer import Crew, workers
from tests.faults.vendor import OVERCHARGED, SILENT_S, Vendor, vendor
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_request, bench
from tests.fixtures.spending import set_day

WORKERS = 4
DEBATES = 200 if failing.ALL else 80
KILLS, KILLED_DEBATES = (12, 100) if failing.ALL else (6, 40)
DAY_USD = Decimal("0.02")
"""A debate's share of its tenant's day. A whole debate costs more, so the limit binds."""
SEEDS = (1, 2, 3, 4) if failing.ALL else (failing.SEED,)
WORTH, TRIED = 20, 60
LOOKS = 2_000
"""How often it is looked whether all debates are over, twenty times a second, before they count as stuck."""
DAY = "2026-11-29"
"""The database's day, so that no test runs over midnight."""
ONE_LONG_REPLY = {**ALLOWANCES, "framing": 6_000}
"""So long that a call costs nearly what is held for it, when the whole allowance is used."""
UNLIMITED = {"day_usd": "unlimited", "month_usd": "unlimited"}
KEY = "sk-fake-0123456789abcdef"
LEFT = "SELECT count(*) FROM gainsay.debate_head WHERE state IN ('queued', 'running')"


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """Worker processes: none yet, and none that a test leaves behind."""
    with workers(tmp_path_factory.mktemp("crew")) as found:
        yield found


@dataclass(frozen=True)
class House:
    """A service that takes cases, its worker processes, and the vendor that they ask."""

    database: Database
    till: Vendor
    crew: Crew
    policy: Policy
    environment: Mapping[str, str]
    desk: Bench

    async def submit(self, case: int, tenant: str = "acme", *, words: str = "", **changes: Any) -> str:
        """A case of a tenant; the vendor tells its calls by its number."""
        question = f"Case {case}{words and ' ' + words}: does this agreement leave us with uncapped liability?"
        request = a_request(question=question, **changes)
        return (await self.desk.reviews.submit(request, Caller(tenant=tenant))).debate

    async def submit_all(self, cases: range, tenant: str = "acme", **changes: Any) -> None:
        """Cases of a tenant, all queued before anybody takes one: the money for them is there until then."""
        for case in cases:
            await self.submit(case, tenant, **changes)

    def open(self) -> None:
        """Let the workers begin."""
        while len(self.crew.workers) < WORKERS:
            self.crew.start(self.environment)

    async def close(self) -> Books:
        """Wait until every debate is over, send the workers home, and read the books."""
        await self.quiet()
        assert await asyncio.to_thread(self.crew.stop) == [0] * WORKERS, self.crew.log[-4_000:]
        return await asyncio.to_thread(Books.read, self.database)

    async def quiet(self) -> None:
        """Wait until every debate is over; raises `TimeoutError`."""
        async with await psycopg.AsyncConnection.connect(self.database.admin_url, autocommit=True) as connection:
            for _ in range(LOOKS):
                if await (await connection.execute(LEFT)).fetchone() == (0,):
                    return
                await asyncio.sleep(0.05)
        raise TimeoutError(f"debates are left; the workers say: {self.crew.log[-4_000:]}")

    async def left(self, tenant: str) -> dict[str, int]:
        """What remains of each of a tenant's limits."""
        found = await spend.remaining(self.desk.database, tenant, self.policy.budgets)
        return {limit.limit: limit.amount for limit in found}

    async def balance(self) -> dict[tuple[str, str], spend.Period]:
        """The tenants' periods, by tenant and kind, once they are known to agree with the evidence."""
        found = await spend.balance(self.desk.database)
        assert found.exact, found
        assert all(period.open == 0 for period in found.periods)
        return {(period.tenant, period.period): period for period in found.periods}


@asynccontextmanager
async def house(
    database: Database,
    crew: Crew,
    folder: Path,
    till: Vendor,
    budgets: Mapping[str, Any],
    *,
    lease_s: float = 30.0,
    **changes: Any,
) -> AsyncIterator[House]:
    """A service under these limits. Its workers are killed if the test fails."""
    path = policy_of(folder, till.url, budgets, **changes)
    environment = {
        "GAINSAY_DATABASE_URL": database.service_url,
        "GAINSAY_POLICY": str(path),
        "GAINSAY_LEASE_S": str(lease_s),
        "VENDOR_KEY": KEY,
    }
    set_day(database, DAY)
    file = read_file(path)
    policy = replace(file.policy, budgets=all_budgets(file.policy, file.tenants))
    tokenizers.load([TOKENIZER])
    try:
        async with bench(database.service_url, policy=policy, providers={}) as desk:
            yield House(database, till, crew, policy, environment, desk)
    finally:
        crew.end()


@pytest.mark.timeout(180)
async def test_many_debates_at_once_spend_a_tenants_day_and_not_a_micro_dollar_more(
    database: Database, crew: Crew, tmp_path: Path
) -> None:
    limit = int(DEBATES * DAY_USD * MICRO)
    with vendor("honest", latency_ms=20) as till:
        async with house(database, crew, tmp_path, till, usd_a_day(limit)) as service:
            await service.submit_all(range(DEBATES))
            service.open()
            books = await service.close()
            left = await service.left("acme")
            day = (await service.balance())["acme", "day"]
            bills, calls = till.bills(), till.calls()

    assert_closed(books)
    assert_covered(books, bills)
    assert calls == len(bills) == sum(len(debate.asked) for debate in books.debates), "every call was made once"
    assert total(bills) == books.paid == day.spent == day.drawn
    assert_bound(books, "acme", "tenantDay", limit)
    assert left["tenantDay"] == limit - books.paid, "what was held and not spent is there for others"
    assert {debate.state for debate in books.debates} - {"completed"} == {"truncated"}
    assert_moderated(books)


async def calling(till: Vendor, before: int, looks: int = 100) -> None:
    """Wait until the vendor was called again, for a while: workers of a busy machine need time to start."""
    for _ in range(looks):
        if till.calls() > before:
            return
        await asyncio.sleep(0.05)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", SEEDS)
async def test_workers_killed_at_any_moment_overspend_nothing_and_leave_no_reservation(
    database: Database, crew: Crew, tmp_path: Path, seed: int
) -> None:
    draw, limit = random.Random(seed), int(KILLED_DEBATES * 2 * DAY_USD * MICRO)
    with vendor("honest", seed=seed, latency_ms=200) as till:
        async with house(database, crew, tmp_path, till, usd_a_day(limit), lease_s=2.0) as service:
            await service.submit_all(range(KILLED_DEBATES))
            service.open()
            await calling(till, KILLED_DEBATES // 2, LOOKS)  # so that some of them have no answer yet
            service.crew.end()
            service.open()
            for _ in range(KILLS):
                before = till.calls()
                await asyncio.sleep(draw.uniform(0.1, 0.5))
                await calling(till, before)
                service.crew.kill(draw.choice(service.crew.workers))
                service.open()
            books = await service.close()
            day = (await service.balance())["acme", "day"]
            bills = till.bills()

    lost = [e for debate in books.debates for e in debate.unheard]
    assert_closed(books)
    assert_covered(books, bills)
    assert lost, "no worker died during a call"
    assert {(e.reason, e.charge.basis) for e in lost} == {("lost", "reserved")}
    assert total(bills) <= books.paid == day.spent == day.drawn
    assert_bound(books, "acme", "tenantDay", limit)
    assert_moderated(books)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", SEEDS)
async def test_vendors_that_fail_after_spending_or_tell_nothing_never_bill_more_than_was_charged(
    database: Database, crew: Crew, tmp_path: Path, seed: int
) -> None:
    limit = 1_000_000
    budgets = {**usd_a_day(limit), "tenants": {"capped": UNLIMITED}}
    with vendor("troubled", seed=seed, latency_ms=5) as till:
        async with house(database, crew, tmp_path, till, budgets, call_timeout_s=int(SILENT_S) - 1) as service:
            await service.submit_all(range(40))
            await service.submit_all(range(40, 70), "capped", costCeilingUSD="0.10")
            service.open()
            books = await service.close()
            day = (await service.balance())["acme", "day"]
            bills, calls = till.bills(), till.calls()

    assert_closed(books)
    assert_covered(books, bills)
    assert calls == sum(len(debate.asked) for debate in books.debates)
    assert total(bills) < books.paid
    assert total(b for b in bills if b.case < 40) < books.spent("acme") == day.spent == day.drawn <= limit
    assert_bound(books, "acme", "tenantDay", limit)
    assert (limits_of(books.of("acme")), limits_of(books.of("capped"))) == ({"tenantDay"}, {"debateCeiling"})
    assert all(debate.excess == 0 for debate in books.debates)
    failures = {e.reason for debate in books.debates for e in debate.charged if isinstance(e, AttemptFailed)}
    assert failures >= {"malformedReply", "connectionCut", "providerFault", "timeout", "overload", "rateLimit"}
    assert_moderated(books)


@pytest.mark.timeout(180)
async def test_a_vendor_that_bills_more_than_it_was_allowed_ends_that_debate_and_leaves_less_to_the_others(
    database: Database, crew: Crew, tmp_path: Path
) -> None:
    limit = 3_000_000
    with vendor("overcharging", latency_ms=5) as till:
        async with house(database, crew, tmp_path, till, usd_a_day(limit)) as service:
            await service.submit_all(range(20), words=OVERCHARGED)
            await service.submit_all(range(20, 30))
            service.open()
            first = await service.close()
            left = await service.left("acme")
            await service.submit_all(range(30, 80))
            service.open()
            books = await service.close()
            day = (await service.balance())["acme", "day"]
            bills = till.bills()

    excess = sum(debate.excess for debate in books.debates)
    assert_closed(books)
    assert_covered(books, bills)
    for debate in first.debates:
        if debate.case < 20:
            (over,) = [entry for entry in debate.charged if entry.charge.excess]
            assert over.turn == "1.critic.1"
            assert not [entry for entry in debate.after(over) if isinstance(entry, TurnAsked)]
            assert (debate.state, debate.refused_by) == ("truncated", {"providerOverrun"})
        else:
            assert (debate.state, debate.excess) == ("completed", 0)
    assert left["tenantDay"] == limit - first.paid
    assert total(bills) == books.paid == day.spent + excess
    assert day.excess == excess > 0
    assert_bound(books, "acme", "tenantDay", limit)
    assert_moderated(books)


@pytest.mark.timeout(180)
async def test_days_and_months_bind_each_tenant_by_its_own_limits(
    database: Database, crew: Crew, tmp_path: Path
) -> None:
    # The month is little more than a day: it binds on the second day although much of the first is held and not spent.
    budgets = {
        **UNLIMITED,
        "tenants": {"north": {"day_usd": "0.80", "month_usd": "0.90"}, "south": {"month_usd": "0.60"}},
    }
    with vendor("honest", latency_ms=5) as till:
        async with house(database, crew, tmp_path, till, budgets) as service:
            await service.submit_all(range(25), "north")
            await service.submit_all(range(100, 120), "south")
            await service.submit_all(range(200, 210), "west")
            service.open()
            first = await service.close()
            set_day(database, "2026-11-30")
            await service.submit_all(range(25, 50), "north")
            service.open()
            books = await service.close()
            periods = (await spend.balance(service.desk.database)).periods
            await service.balance()
            bills = till.bills()

    assert_closed(books)
    assert_covered(books, bills)
    assert total(bills) == books.paid
    assert limits_of(first.of("north")) == {"tenantDay"}
    assert limits_of(books.of("south")) == {"tenantMonth"}
    assert limits_of(debate for debate in books.of("north") if debate.case >= 25) == {"tenantMonth"}
    assert all((debate.state, debate.draws) == ("completed", 0) for debate in books.of("west"))
    assert_bound(first, "north", "tenantDay", 800_000)
    assert_bound(books, "north", "tenantMonth", 900_000)
    assert_bound(books, "south", "tenantMonth", 600_000)
    assert {(p.tenant, p.period, str(p.starts), p.spent) for p in periods} == {
        ("north", "day", DAY, first.spent("north")),
        ("north", "day", "2026-11-30", books.spent("north") - first.spent("north")),
        ("north", "month", "2026-11-01", books.spent("north")),
        ("south", "day", DAY, books.spent("south")),
        ("south", "month", "2026-11-01", books.spent("south")),
    }
    assert_moderated(books)


@pytest.mark.timeout(180)
async def test_a_limit_worth_twenty_calls_pays_for_twenty_of_sixty_debates_at_once(
    database: Database, crew: Crew, tmp_path: Path
) -> None:
    with vendor("declining", latency_ms=20) as till:
        async with house(database, crew, tmp_path, till, UNLIMITED, allowances=ONE_LONG_REPLY) as service:
            await service.submit(100)
            service.open()
            (probe,) = (await service.close()).debates
        (asked,) = probe.asked
        limit = asked.held * WORTH * 1_005 // 1_000  # cases differ by their nonces, and what is held by a few tokens
        budgets = {"day_usd": str(Decimal(limit) / MICRO), "month_usd": "unlimited"}
        async with house(database, crew, tmp_path, till, budgets, allowances=ONE_LONG_REPLY) as service:
            await service.submit_all(range(101, 101 + TRIED), "shared")
            service.open()
            books = await service.close()
            day = (await service.balance())["shared", "day"]
            bills = [bill for bill in till.bills() if bill.case > 100]

    assert_closed(books)
    assert len(bills) == WORTH
    assert total(bills) == books.spent("shared") == day.spent == day.drawn <= limit
    assert Counter(len(debate.asked) for debate in books.of("shared")) == {1: WORTH, 0: TRIED - WORTH}


def usd_a_day(limit: int) -> dict[str, str]:
    """The budgets of a tenant with this limit for a day, in micro-dollars."""
    return {"day_usd": str(Decimal(limit) / MICRO), "month_usd": "100.00"}


def limits_of(debates: Iterable[Told]) -> set[str]:
    """Which limits have refused these debates money."""
    return {limit for debate in debates for limit in debate.refused_by}


def assert_moderated(books: Books) -> None:
    """Whoever drew money for arguments drew it for their moderation too: when money ends it is there, or it failed."""
    for debate in books.debates:
        argued = debate.said("proposer", "critic", "rebuttal")
        if debate.state == "truncated" and argued and not debate.excess and not debate.said("moderator"):
            assert any(entry.turn == "1.moderator.1" for entry in debate.asked), debate.debate
