"""A vendor's bad minute: five of six calls fail, and debates wait it out instead of failing within two seconds.

The clock is scaled: a storm of `STORM_S` seconds stands for a minute, and the backoff is as many times shorter.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    DebateConcluded,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
)
from service.debate.model import Outcome
from service.money import Ledger
from service.policy import Budgets, Calls, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.events.entry_events import entry_events
from service.report.result.build import build_result
from service.report.result.types import Result
from service.running.runner import Runner
from tests.end_to_end.vendors.adapters import ADAPTERS, ENVIRONMENT, setting_for
from tests.fixtures.behaviours import Behaviour, Call, Cut, Model, Reply, Status
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, bench
from tests.fixtures.upstream import Upstream, upstream

pytestmark = pytest.mark.replay

STORM_S = 3.0
SCALE = 60 / STORM_S
SHIPPED = read_policy(SHIPPED_POLICY)
SCALED = replace(
    SHIPPED.calls,
    turn_deadline_s=int(SHIPPED.calls.turn_deadline_s / SCALE),
    backoff_ms=int(SHIPPED.calls.backoff_ms / SCALE),
    backoff_max_ms=int(SHIPPED.calls.backoff_max_ms / SCALE),
)
FREE: tuple[Behaviour, ...] = (Status(429), Status(529, kind="overloaded_error"))
"""Refusals that a vendor bills nothing for."""
DEAR: tuple[Behaviour, ...] = (*FREE, Status(500), Status(503), Cut("headers"))
"""And failures after which the work may have been done."""


@dataclass
class Storm:
    """Five of six calls fail for ``for_s`` seconds from the first call on; then the vendor answers as a model."""

    failures: Sequence[Behaviour]
    for_s: float = STORM_S
    begun: float | None = None
    failed: int = 0
    count: int = 0

    def __call__(self, call: Call) -> Reply:
        """A failure, or an answer."""
        now = time.monotonic()
        self.begun = now if self.begun is None else self.begun
        self.count += 1
        if now - self.begun < self.for_s and self.count % 6:
            self.failed += 1
            return self.failures[self.failed % len(self.failures)](call)
        return Model()(call)


@dataclass(frozen=True)
class Ended:
    """A debate as it ended, what its caller was sent, and how long it took."""

    entries: list[Entry]
    outcome: Outcome
    result: Result
    sent: Sequence[tuple[str, Any]]
    took_s: float

    @property
    def failed(self) -> list[AttemptFailed]:
        """Its failed attempts."""
        return [e for e in self.entries if isinstance(e, AttemptFailed)]


@asynccontextmanager
async def vendor(database: Database, storm: Behaviour, calls: Calls = SCALED) -> AsyncIterator[tuple[Bench, Upstream]]:
    """A service at one vendor that behaves so."""
    async with upstream(storm) as up:
        models = {
            name: replace(model, safety_per_mille=1_200, overhead_tokens=100) for name, model in SHIPPED.models.items()
        }
        policy: Policy = replace(
            SHIPPED, models=models, providers={"offline": setting_for("openai", up.url)}, budgets=Budgets(), calls=calls
        )
        provider = ADAPTERS["openai"].adapter.connect("offline", policy.providers["offline"], ENVIRONMENT)
        try:
            async with bench(database.service_url, provider, policy=policy, calls=calls) as service:
                yield service, up
        finally:
            await provider.close()


async def run(service: Bench, count: int = 1, **changes: Any) -> list[Ended]:
    """So many debates at once, each to its end."""
    for _ in range(count):
        await service.submit(**changes)
    debates = [await service.claim(lease_s=60.0) for _ in range(count)]
    runners = [await service.runner(debate) for debate in debates]
    begun = time.monotonic()

    async def timed(runner: Runner) -> float:
        await runner.run()
        return time.monotonic() - begun

    took_s = await asyncio.gather(*map(timed, runners))
    return [await _ended(service, debate, s) for debate, s in zip(debates, took_s, strict=True)]


async def _ended(service: Bench, debate: str, took_s: float) -> Ended:
    lines = await service.reviews.lines(debate, CALLER)
    sent = [event for n, line in enumerate(lines) for event in entry_events(line, debate, lines[:n])]
    last = lines[-1].entry
    assert isinstance(last, DebateConcluded)
    return Ended([line.entry for line in lines], last.outcome, build_result(debate, lines), sent, took_s)


def assert_money_kept(entries: Sequence[Entry]) -> None:
    """At every entry spent and held are within the ceiling, and nothing is held while no attempt is open."""
    ledger, under_way = Ledger(0), set[str]()
    for entry in entries:
        ledger = ledger.add(entry)
        if isinstance(entry, TurnAsked):
            under_way.add(entry.turn)
        elif isinstance(entry, TurnSpoke | AttemptFailed):
            under_way.discard(entry.turn)
        if isinstance(entry, DebateStarted | TurnAsked | TurnSpoke | AttemptFailed):
            assert ledger.spent + sum(ledger.held.values()) <= ledger.ceiling
            assert set(ledger.held) == under_way
    assert not ledger.held


@pytest.mark.parametrize("failures", [FREE, DEAR], ids=["free", "dear"])
async def test_debates_wait_out_a_storm(database: Database, failures: tuple[Behaviour, ...]) -> None:
    async with vendor(database, Storm(failures)) as (service, _):
        debates = await run(service, 12, costCeilingUSD="2.00")

    assert [debate.outcome.status for debate in debates] == ["completed"] * 12
    assert max(debate.took_s for debate in debates) > STORM_S / 2
    for debate in debates:
        assert_money_kept(debate.entries)
        assert debate.failed
        assert all(e.unavailable for e in debate.failed)
        assert sum(e.charge.amount for e in debate.failed) == sum(
            e.charge.amount for e in debate.failed if e.charge.basis == "reserved"
        )


async def test_a_caller_sees_each_wait_and_each_new_attempt(database: Database) -> None:
    async with vendor(database, Storm(DEAR)) as (service, _):
        (debate,) = await run(service, costCeilingUSD="2.00")

    again = [(event.turn, event.attempt) for name, event in debate.sent if name == "asked" and event.why == "again"]
    assert again == [(e.turn, e.attempt + 1) for e in debate.failed]
    notices = [notice for notice in debate.result.notices if notice.notice == "attemptFailed"]
    assert [notice.turns for notice in notices] == [(e.turn,) for e in debate.failed]
    for notice, failed in zip(notices, debate.failed, strict=True):
        assert f"the vendor is given {failed.pause_ms / 1_000:.1f} s before this model is asked again" in notice.detail


async def test_waits_grow_and_are_kept(database: Database) -> None:
    down = Storm((Status(503),) * 6)
    down.count = 1  # the sixth call is answered, and a turn of five failures comes before it
    calls = replace(SCALED, backoff_ms=40, backoff_max_ms=200)
    async with vendor(database, down, calls) as (service, up):
        begun: list[float] = []
        up.otherwise = _timed(down, begun)
        (debate,) = await run(service, costCeilingUSD="2.00")

    first = [e for e in debate.failed if e.turn == debate.failed[0].turn]
    assert len(first) == 4
    for failed, most in zip(first, (40, 80, 160, 200), strict=True):
        assert most // 2 <= failed.pause_ms <= most
    for n, failed in enumerate(first):
        assert begun[n + 1] - begun[n] >= failed.pause_ms / 1_000


async def test_a_vendor_that_stays_down_ends_the_debate_with_its_reason_once_its_attempts_are_used_up(
    database: Database,
) -> None:
    calls = replace(SCALED, backoff_ms=1, backoff_max_ms=20)
    async with vendor(database, Status(529, kind="overloaded_error"), calls) as (service, up):
        (debate,) = await run(service)

    assert len(up.calls) == calls.unavailable_attempts == 12
    (silent,) = [e for e in debate.entries if isinstance(e, TurnSilent)]
    assert silent.reason == "no usable reply in 12 attempts; the last ended as overload"
    assert (debate.outcome.status, debate.outcome.stop_reason) == ("failed", "seatSilent")
    assert debate.result.overall_cost.spent_usd == "0.00"
    assert_money_kept(debate.entries)


async def test_a_vendor_that_stays_down_ends_the_debate_at_the_turn_s_deadline(database: Database) -> None:
    calls = replace(SCALED, turn_deadline_s=1, backoff_ms=100, backoff_max_ms=400)
    async with vendor(database, Status(529, kind="overloaded_error"), calls) as (service, up):
        (debate,) = await run(service)

    assert 2 <= len(up.calls) < 12
    assert debate.took_s < 3
    (silent,) = [e for e in debate.entries if isinstance(e, TurnSilent)]
    assert silent.reason.startswith(("no usable reply within 1 seconds", "every model is in backoff for"))
    assert (debate.outcome.status, debate.outcome.stop_reason) == ("failed", "seatSilent")


async def test_a_storm_whose_failures_are_billed_never_passes_the_ceiling(database: Database) -> None:
    def answers_the_framing_alone(call: Call) -> Reply:
        return (Model() if call.json["model"] == SHIPPED.seats["framing"].model else Status(500))(call)

    calls = replace(SCALED, backoff_ms=1, backoff_max_ms=20)
    async with vendor(database, answers_the_framing_alone, calls) as (service, up):
        (debate,) = await run(service, costCeilingUSD="0.20")

    assert_money_kept(debate.entries)
    assert 3 < len(up.calls) < 1 + calls.unavailable_attempts
    assert {e.charge.basis for e in debate.failed} == {"reserved"}
    (refused,) = [e for e in debate.entries if isinstance(e, BudgetRefused)]
    assert (refused.turns, refused.limit) == (("1.proposer.1",), "debateCeiling")
    assert debate.outcome.status in ("truncated", "failed")


def _timed(inner: Behaviour, begun: list[float]) -> Behaviour:
    def timed(call: Call) -> Reply:
        begun.append(time.monotonic())
        return inner(call)

    return timed
