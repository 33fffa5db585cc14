"""A charge can be computed again from its record, whichever process made the call."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from msgspec.structs import replace

from service import money
from service.debate import kernel
from service.debate.entries import GateDecided, TurnAsked
from service.debate.facts import Facts
from service.debate.model import Turn
from service.debate.turns import TurnId
from service.errors import PromptMismatch
from service.intake import start
from service.money import Usage, tokenizers
from service.money.usage import Reasoning
from service.policy import ProviderSetting
from service.prompts import Prompts
from service.prompts.layouts import lay_out
from service.prompts.request import Request, WireTexts, texts_of
from service.providers.anthropic import Anthropic
from service.running.attempt import Attempt, ModelCaller
from service.running.provider_port import Answer, Provider
from service.simulated import OfflineProvider
from tests.fixtures.debates import a_case, a_plan, a_start, opening
from tests.unit.intake.test_intake import PROMPTS
from tests.unit.intake.test_intake import a_case as a_request
from tests.unit.intake.test_quote import checked


class Told(Provider):
    """Answers with this usage."""

    def __init__(self, raw: dict[str, object] | None) -> None:
        self._answer = Answer("not JSON", raw)

    def encode(self, request: Request) -> bytes:
        raise NotImplementedError

    def decode_request(self, body: bytes) -> WireTexts:
        raise NotImplementedError

    async def send(self, body: bytes) -> Answer:
        return self._answer


@pytest.mark.parametrize("reasoning", ["inside", "outside"])
async def test_usage_is_read_as_the_plan_that_is_recorded_says(reasoning: Reasoning) -> None:
    """A policy that changes while a debate runs would leave charges that cannot be explained."""
    plan = replace(a_plan("critic", "oak"), wire="openai-compatible", reasoning=reasoning)
    raw = {"prompt_tokens": 1_000, "completion_tokens": 400, "completion_tokens_details": {"reasoning_tokens": 100}}
    asked = TurnAsked(TurnId("1.critic.1"), 1, plan.model, "", "", 1_000, 5_000)
    calling = ModelCaller(Prompts.load(), {plan.provider: Told(raw)}, {})

    made = await calling.make(
        Attempt(asked, Turn(TurnId("1.critic.1"), "critic"), plan, b"", money.RECKONING), Facts(), 5.0
    )

    expected = Usage(1_000, 300 if reasoning == "inside" else 400, reasoning=100)
    assert made.entry.charge == money.charge(expected, asked.held, plan.price)


async def test_an_attempt_is_charged_by_the_version_that_is_sealed_with_its_debate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = money.USAGES["usage/1"]

    def one_more(texts: Iterable[str], tokenizer: str, known: money.Known | None = None, /) -> int:
        return first.request_tokens(texts, tokenizer, known) + 1

    other = first._replace(
        worst_case=lambda tokens, plan: 7 * first.worst_case(tokens, plan),
        charge=lambda usage, held, price, counted: replace(first.charge(usage, held, price, counted), amount=held),
        request_tokens=one_more,
        closing_cost=lambda *given: 1_000 * first.closing_cost(*given),
    )
    monkeypatch.setitem(money.USAGES, "usage/2", other)
    prepared, deployment = checked(a_request())
    started = start(prepared, deployment, "cd" * 32)
    old, new = (
        Facts.of([prepared.received("local"), GateDecided(prepared.decision, sealed), started])
        for sealed in ({}, {"usage": "usage/2"})
    )
    case, calling = prepared.case, ModelCaller(PROMPTS, {"offline": OfflineProvider()}, prepared.sources)
    framing = Turn(TurnId("0.framing.1"), "framing")
    closing = Turn(TurnId("1.moderator.1"), "moderator", (TurnId("1.proposer.1"),))

    was, now = (calling.prepare(case, facts, framing, started.seat("framing")) for facts in (old, new))
    charges = [(await calling.make(attempt, facts, 5.0)).entry.charge for attempt, facts in ((was, old), (now, new))]

    assert now.asked.input_tokens == was.asked.input_tokens + 1
    assert now.asked.held == 7 * first.worst_case(was.asked.input_tokens + 1, now.plan)
    assert charges[0].amount < was.asked.held
    assert charges[1].amount == now.asked.held
    assert calling.closing_cost(case, new, closing) > 100 * calling.closing_cost(case, old, closing)


def test_counts_of_pinned_texts_outlive_a_debate_and_no_other_does() -> None:
    tokenizers.load(["o200k_base"])
    prompts = Prompts.load()
    started = replace(a_start(1), pins=prompts.pins())
    facts, framing = Facts.of(opening(started, a_case(1))), Turn(TurnId("0.framing.1"), "framing")
    plan = replace(started.seat("framing"), provider="bank", tokenizer="o200k_base")
    schema = msgspec.json.encode(prompts.schema("framing")).decode()

    for words in ("The first document.", "The second one, which is another."):
        calling = ModelCaller(prompts, {"bank": anthropic()}, {"D1": words})
        calling.load_prompts(started.pins)
        asked = calling.prepare(a_case(1), facts, framing, plan).asked
        request = lay_out(prompts, a_case(1), {"D1": words}, facts, framing, plan)

        assert asked.input_tokens == money.count(texts_of(request), "o200k_base")
        kept = prompts.at(started.pins).made.counts
        assert {text for _, text in kept} == {prompts.text("house"), prompts.text("framing"), schema}
        assert all(tokens == money.count_tokens(text, name) for (name, text), tokens in kept.items())


# -- the mark for a vendor's cache


class Unmarked(Anthropic):
    """An adapter that forgets the mark for the vendor's cache, or sets it where none was asked for."""

    def encode(self, request: Request) -> bytes:
        return super().encode(replace(request, keeps_case=not request.keeps_case))


def anthropic(made: type[Anthropic] = Anthropic) -> Anthropic:
    setting = ProviderSetting(kind="anthropic", base_url="http://127.0.0.1:9", key="env:K")
    return made.connect("bank", setting, {"K": "sk-1"})


@pytest.mark.parametrize(("rounds", "marked"), [(1, []), (2, ["proposer", "critic", "rebuttal", "moderator"])])
def test_the_case_is_marked_for_seats_that_a_debate_of_the_usual_course_asks_again(
    rounds: int, marked: list[str]
) -> None:
    started = replace(a_start(rounds), pins=PROMPTS.pins())
    facts, found = Facts.of(opening(started, a_case(1))), list[str]()
    for seat, turn in kernel.FORMATS[started.format].table(started.options).seats.items():
        plan = replace(started.seat(seat), provider="bank")
        calling = ModelCaller(PROMPTS, {"bank": anthropic()}, {"D1": "words"})
        body = calling.prepare(a_case(1), facts, turn, plan).body
        assert body.count(b"cache_control") <= 1
        found += [seat] if b"cache_control" in body else []
        with pytest.raises(PromptMismatch, match="for the vendor's cache"):
            ModelCaller(PROMPTS, {"bank": anthropic(Unmarked)}, {"D1": "words"}).prepare(a_case(1), facts, turn, plan)

    assert found == marked
