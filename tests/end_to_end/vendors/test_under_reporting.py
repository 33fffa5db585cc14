"""A vendor that bills more than it tells: the most that its bill can be, and what is charged of it.

The vendor bills each call honestly, the whole output allowance of it, as hidden thinking would. What it tells is less.
docs/money.md and decision 0025 give the figures of these runs (`FIGURES`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from msgspec.structs import replace as changed

from service.debate.entries import AttemptFailed, DebateConcluded, Entry, TurnAsked, TurnSpoke
from service.debate.model import Outcome
from service.observing import labelled
from service.policy import Budgets, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.result.build import build_result
from service.verify.money import check_charges
from service.verify.opened_bundle import LegalDebate
from service.verify.steps import Differs, NotCheckable
from tests.end_to_end.vendors.adapters import ADAPTERS, ENVIRONMENT, setting_for
from tests.fixtures.behaviours import Bill, Model, Rule, cached, plain, reasoned
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, bench, repository
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import Heard, Tokens, Wire, usage

pytestmark = pytest.mark.replay

CASE: dict[str, Any] = {
    "costCeilingUSD": "0.32",
    "options": {"format": "convergence", "debaters": 6, "maxRounds": 6, "convergenceCheck": False},
}
CEILING = 320_000
DECISION = "docs/decisions/0025-usage-is-believed-when-its-sums-are-right.md"


def policy_at(url: str, wire: Wire, floor: int) -> Policy:
    """The shipped policy with its models at this upstream, and a floor of so many per mille."""
    shipped = read_policy(SHIPPED_POLICY)
    models = {
        name: changed(model, safety_per_mille=1_200, overhead_tokens=100) for name, model in shipped.models.items()
    }
    debater = changed(shipped.seats["debater"], model="alder-large", alternatives=("birch-small", "alder-small"))
    return changed(
        shipped,
        models=models,
        seats={**shipped.seats, "debater": debater},
        providers={"offline": setting_for(wire, url)},
        calls=changed(shipped.calls, usage_floor_per_mille=floor),
        budgets=Budgets(),
    )


@dataclass(frozen=True)
class Debate:
    """One debate as it is recorded, beside what its vendor billed."""

    entries: list[Entry]
    outcome: Outcome
    result: Any
    billed: int

    @property
    def charged(self) -> int:
        """What is charged of it, in micro-dollars."""
        return sum(e.charge.amount for e in self.entries if isinstance(e, TurnSpoke | AttemptFailed))


async def run(database: Database, told: Rule, *, wire: Wire = "openai", floor: int = 500, **changes: Any) -> Debate:
    """One debate at a vendor that tells of its calls by this rule."""
    async with upstream(Model(told)) as vendor:
        policy = policy_at(vendor.url, wire, floor)
        provider = ADAPTERS[wire].adapter.connect("offline", policy.providers["offline"], ENVIRONMENT)
        try:
            async with bench(database.service_url, provider, policy=policy) as service:
                debate = await service.run(**{**CASE, **changes})
                entries = await service.entries(debate)
                result = build_result(debate, await service.reviews.lines(debate, CALLER))
        finally:
            await provider.close()
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return Debate(entries, last.outcome, result, sum(cost(policy, bill) for bill in vendor.bills))


def cost(policy: Policy, bill: Bill) -> int:
    """What a bill comes to by the price table, computed here and not by the service."""
    (model,) = [model for model in policy.models.values() if model.name == bill.model]
    price, tokens = model.prices[-1], bill.tokens
    exact = tokens.input * price.input + tokens.output * price.output + tokens.reasoning * price.reasoning
    exact += tokens.cached_input * price.cached_input + tokens.cache_write * price.cache_write
    return -(-exact // 1_000_000)


def _whole(counted: Tokens, heard: Heard) -> Tokens:
    """All that was counted, and the rest of the allowance as thinking."""
    return replace(counted, reasoning=max(0, heard.request.max_output_tokens - counted.output))


def hidden(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """A gateway's placeholder, whatever was used."""
    return _whole(counted, heard), usage(heard.wire, Tokens(3, 2))


def visible(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """All that code can see and none of the thinking."""
    return _whole(counted, heard), usage(heard.wire, counted)


def least(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Next to the least that is believed, at the cheapest rate: somewhat more than half, all of it out of a cache."""
    told = Tokens(cached_input=counted.input * 11 // 20, output=counted.output * 12 // 20)
    return _whole(counted, heard), usage(heard.wire, told)


def short(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """All of the request, and next to nothing of the reply."""
    return _whole(counted, heard), usage(heard.wire, replace(counted, output=2))


def thinking_alone(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """The thinking and none of the reply, as a gateway has counted (BerriAI/litellm#18599)."""
    billed = _whole(counted, heard)
    return billed, usage(heard.wire, replace(billed, output=0))


def honest(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """All that is billed is told."""
    billed = _whole(counted, heard)
    return billed, usage(heard.wire, billed)


ROWS: Mapping[str, tuple[Rule, int]] = {
    "all of it": (honest, 500),
    "3 + 2 tokens, with a floor of 0": (hidden, 0),
    "3 + 2 tokens": (hidden, 500),
    "all but the thinking": (visible, 500),
    "the least that is believed": (least, 500),
}
"""What the vendor tells of each call, and the floor: the rows of the table in docs/money.md."""


@pytest.mark.parametrize("what", ROWS)
async def test_the_figures_of_the_page_on_money_are_those_of_this_run(database: Database, what: str) -> None:
    told, floor = ROWS[what]

    debate = await run(database, told, floor=floor)

    cells = (
        what,
        f"{debate.billed / 1_000_000:.2f}",
        f"{debate.billed / CEILING:.1f}",
        f"{debate.charged / 1_000_000:.2f}",
        debate.outcome.status,
    )
    assert f"| {' | '.join(cells)} |" in (repository() / "docs/money.md").read_text("utf-8")
    assert debate.charged <= CEILING


async def test_the_decision_and_the_readme_name_the_figures_of_this_page() -> None:
    page = (repository() / "docs/money.md").read_text("utf-8")
    factor = {what: re.search(rf"\| {re.escape(what)} \| [0-9.]+ \| ([0-9.]+) \|", page) for what in ROWS}

    decision = " ".join((repository() / DECISION).read_text("utf-8").split())
    readme = " ".join((repository() / "README.md").read_text("utf-8").split())

    before, least_ = factor["3 + 2 tokens, with a floor of 0"], factor["the least that is believed"]
    assert before
    assert least_
    assert before[1] == "2.1"
    for text in (decision, readme):
        assert f"{before[1]} times" in text
        assert f"{least_[1]} times" in text


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize(("told", "part"), [(hidden, "input"), (short, "output"), (thinking_alone, "output")])
async def test_a_usage_that_cannot_be_true_is_charged_as_held_counted_told_and_flagged(
    database: Database, wire: Wire, told: Rule, part: str
) -> None:
    before = _counted(part)

    debate = await run(database, told, wire=wire, options={"format": "adversarial", "maxRounds": 1})

    held = {(e.turn, e.attempt): e.held for e in debate.entries if isinstance(e, TurnAsked)}
    spoken = [e for e in debate.entries if isinstance(e, TurnSpoke)]
    assert [(e.charge.basis, e.charge.below_floor, e.charge.amount) for e in spoken] == [
        ("reserved", part, held[e.turn, e.attempt]) for e in spoken
    ]
    assert debate.billed <= debate.charged <= CEILING
    assert "usageBelowFloor" in debate.outcome.flags
    assert "providerOverrun" not in debate.outcome.flags
    assert "usageBelowFloor" not in debate.outcome.human_review.reasons
    assert _counted(part) - before == len(spoken) > 0
    notices = [n for n in debate.result.notices if n.notice == "usageBelowFloor"]
    assert [n.turns for n in notices] == [(e.turn,) for e in spoken]
    assert all(f"than the {'request' if part == 'input' else 'reply'} can have" in n.detail for n in notices)
    assert check_charges(LegalDebate(debate.entries, ""), lambda _: True).startswith(f"{len(spoken)} charges")
    with pytest.raises(NotCheckable, match="tokens of replies are not counted"):
        check_charges(LegalDebate(debate.entries, ""), lambda _: False)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("told", [plain, cached, reasoned])
async def test_an_honest_vendor_is_believed(database: Database, wire: Wire, told: Rule) -> None:
    debate = await run(database, told, wire=wire, options={"format": "adversarial", "maxRounds": 1})

    spoken = [e for e in debate.entries if isinstance(e, TurnSpoke)]
    assert {(e.charge.basis, e.charge.below_floor) for e in spoken} == {("usage", None)}
    assert debate.charged == debate.billed
    assert "usageBelowFloor" not in debate.outcome.flags


async def test_a_forged_belief_is_found_by_the_verifier(database: Database) -> None:
    debate = await run(database, hidden, options={"format": "adversarial", "maxRounds": 1})
    n = next(n for n, e in enumerate(debate.entries) if isinstance(e, TurnSpoke))
    spoke = debate.entries[n]
    assert isinstance(spoke, TurnSpoke)
    forged = changed(spoke, charge=changed(spoke.charge, below_floor=None))

    with pytest.raises(Differs):
        check_charges(LegalDebate([*debate.entries[:n], forged], ""), lambda _: True)


def _counted(part: str) -> float:
    """What the metric has counted so far, over all models."""
    return sum(
        sample.value
        for metric in labelled.REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "gainsay_usage_below_floor_total" and sample.labels["part"] == part
    )
