"""A whole debate over real HTTP with two vendors, on real PostgreSQL: what is charged is what they bill, to the
micro-dollar; what they do not tell is charged as held, and nothing is ever charged less than it cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from service.debate.entries import AttemptFailed, DebateConcluded, DebateStarted, Entry, TurnAsked, TurnSpoke
from service.debate.model import Outcome
from service.debate.turns import seat_of
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from tests.end_to_end.vendors.adapters import ENVIRONMENT
from tests.end_to_end.vendors.policies import JUDGE, MICRO, OPEN, SEATS, cost, two_vendors, written
from tests.fixtures.behaviours import (
    Behaviour,
    Bill,
    Call,
    Cut,
    Faults,
    Model,
    Reply,
    Rule,
    Status,
    cached,
    plain,
    reasoned,
    too_much,
    untold,
)
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, bench
from tests.fixtures.serving import a_case, served
from tests.fixtures.upstream import Upstream, upstream

pytestmark = pytest.mark.replay


@dataclass(frozen=True)
class Vendors:
    """Two vendors and the service that asks them."""

    open: Upstream
    closed: Upstream
    service: Bench

    @property
    def bills(self) -> list[Bill]:
        """What both bill."""
        return [*self.open.bills, *self.closed.bills]

    async def run(self, **changes: Any) -> tuple[Outcome, list[Entry]]:
        """One debate, as it is recorded."""
        entries = await self.service.entries(await self.service.run(**changes))
        last = entries[-1]
        assert isinstance(last, DebateConcluded)
        return last.outcome, entries


@asynccontextmanager
async def vendors(database: Database, opened: Behaviour, closed: Behaviour) -> AsyncIterator[Vendors]:
    async with upstream(opened) as first, upstream(closed) as second:
        policy = two_vendors(first.url, second.url, call_timeout_s=5)
        providers = {
            "open": OpenAICompatible.connect("open", policy.providers["open"], ENVIRONMENT),
            "closed": Anthropic.connect("closed", policy.providers["closed"], ENVIRONMENT),
        }
        try:
            async with bench(database.service_url, policy=policy, providers=providers) as service:
                yield Vendors(first, second, service)
        finally:
            for provider in providers.values():
                await provider.close()


def seat(entry: TurnSpoke) -> str:
    return seat_of(entry.turn)


def charged(entries: Sequence[Entry]) -> int:
    return sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke | AttemptFailed))


@pytest.mark.parametrize(
    ("opened", "closed"), [(plain, plain), (cached, cached), (reasoned, cached), (cached, reasoned)]
)
async def test_every_charge_is_what_the_vendor_bills_for_that_call(
    database: Database, opened: Rule, closed: Rule
) -> None:
    async with vendors(database, Model(opened), Model(closed)) as table:
        outcome, entries = await table.run()

    spoken = [e for e in entries if isinstance(e, TurnSpoke)]
    assert outcome.status == "completed"
    assert {seat(e) for e in spoken} == set(SEATS)
    bills = {wire: iter(vendor.bills) for wire, vendor in (("open", table.open), ("closed", table.closed))}
    for e in spoken:
        bill = next(bills["open" if SEATS[seat(e)] == OPEN else "closed"])
        assert (bill.seat, cost(bill)) == (seat(e), e.charge.amount), e.turn
        assert (e.charge.basis, e.charge.excess) == ("usage", 0)
    assert charged(entries) == sum(map(cost, table.bills)) > 0
    assert len(spoken) == len(table.bills) == len(table.open.calls) + len(table.closed.calls)


async def test_who_spoke_is_recorded_as_the_vendor_tells_it(database: Database) -> None:
    async with vendors(database, Model(), Model()) as table:
        _, entries = await table.run()

    (started,) = [e for e in entries if isinstance(e, DebateStarted)]
    assert {plan.seat: plan.model_name for plan in started.seats} == SEATS
    assert started.diversity == "crossFamily"
    for e in (e for e in entries if isinstance(e, TurnSpoke)):
        asked = SEATS[seat(e)]
        assert e.served_model == f"{asked}-served"
        assert e.request_id
        assert (e.fingerprint == "fp_fake") == (asked == OPEN)
        assert e.usage


async def test_the_same_case_twice_is_two_debates_with_the_same_bill(database: Database) -> None:
    async with vendors(database, Model(), Model()) as table:
        _, first = await table.run()
        billed = sum(map(cost, table.bills))
        _, second = await table.run()

    assert charged(first) == billed
    assert charged(second) == sum(map(cost, table.bills)) - billed


async def test_refusals_cost_nothing_and_cut_answers_what_was_held(database: Database) -> None:
    async with vendors(database, Model(), Model()) as table:
        table.open.play(Status(429), Model(), Cut("body"), Status(500))
        table.closed.play(Status(529, kind="overloaded_error"), Cut("headers"))
        outcome, entries = await table.run()

    assert outcome.status == "completed"
    held = {(e.turn, e.attempt): e.held for e in entries if isinstance(e, TurnAsked)}
    lost = [e for e in entries if isinstance(e, AttemptFailed)]
    reasons = [(e.reason, e.charge.basis) for e in lost]
    assert sorted(reasons) == [
        ("connectionCut", "reserved"),
        ("connectionCut", "reserved"),
        ("overload", "none"),
        ("providerFault", "reserved"),
        ("rateLimit", "none"),
    ]
    for e in lost:
        assert e.charge.amount == (held[e.turn, e.attempt] if e.charge.basis == "reserved" else 0)
    _never_below(entries, table.bills)


async def test_what_is_not_told_is_charged_as_held(database: Database) -> None:
    async with vendors(database, Model(untold), Model()) as table:
        outcome, entries = await table.run()

    assert outcome.status == "completed"
    held = {e.turn: e.held for e in entries if isinstance(e, TurnAsked)}
    for e in (e for e in entries if isinstance(e, TurnSpoke)):
        silent = SEATS[seat(e)] == OPEN
        assert (e.charge.basis == "reserved") == silent
        assert not silent or e.charge.amount == held[e.turn]
    _never_below(entries, table.bills)


async def test_a_vendor_that_bills_too_much_is_paid_and_ends_the_debate(database: Database) -> None:
    async with vendors(database, Model(), Model(too_much)) as table:
        outcome, entries = await table.run()

    (over,) = [e for e in entries if isinstance(e, TurnSpoke | AttemptFailed) and e.charge.excess]
    assert outcome.status in ("truncated", "failed")
    assert charged(entries) == sum(map(cost, table.bills))
    assert over.charge.amount == cost(table.closed.bills[-1])


async def test_a_vendor_that_bills_too_much_for_the_last_call_leaves_the_debate_completed_for_a_person(
    database: Database,
) -> None:
    def dear_judge(call: Call) -> Reply:
        return Model(too_much if call.json["model"] == JUDGE else plain)(call)

    async with vendors(database, Model(), dear_judge) as table:
        outcome, entries = await table.run()

    (over,) = [e for e in entries if isinstance(e, TurnSpoke | AttemptFailed) and e.charge.excess]
    assert over is [e for e in entries if isinstance(e, TurnSpoke | AttemptFailed)][-1]
    assert outcome.status == "completed"
    assert "providerOverrun" in outcome.flags
    assert outcome.human_review.required
    assert "providerOverrun" in outcome.human_review.reasons
    assert charged(entries) == sum(map(cost, table.bills))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_no_fault_makes_a_debate_cheaper_than_it_was(database: Database, seed: int) -> None:
    async with vendors(database, Faults(0.4, seed), Faults(0.4, seed + 10)) as table:
        _, entries = await table.run()

    assert len(table.bills) < len(table.open.calls) + len(table.closed.calls)
    _never_below(entries, table.bills)
    ceiling = next(e.ceiling for e in entries if isinstance(e, DebateStarted))
    assert sum(map(cost, table.bills)) <= charged(entries) <= ceiling


async def test_the_service_as_an_operator_starts_it_tells_what_the_vendors_bill(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", ENVIRONMENT["FAKE_KEY"])
    file = tmp_path / "policy.toml"
    async with upstream(Model(cached)) as opened, upstream(Model(reasoned)) as closed:
        file.write_text(written(opened.url, closed.url, 'key = "env:FAKE_KEY"\n'), "utf-8")
        async with served(database.service_url, GAINSAY_POLICY=str(file)) as service:
            told = await service.finished(a_case(options={"format": "adversarial", "maxRounds": 1}))

    billed = sum(map(cost, [*opened.bills, *closed.bills]))
    assert told["status"] == "completed"
    assert Decimal(told["overallCost"]["spentUSD"]) * MICRO == billed > 0


def _never_below(entries: Sequence[Entry], bills: Sequence[Bill]) -> None:
    """What is charged is the bills of what was told, and never less than all bills together."""
    told = sum(cost(bill) for bill in bills if bill.told)
    by_usage = sum(
        e.charge.amount for e in entries if isinstance(e, TurnSpoke | AttemptFailed) and e.charge.basis == "usage"
    )
    assert by_usage <= told
    assert charged(entries) >= sum(map(cost, bills))
