"""A test call of a model: pinned and priced as every call, and a fault in words whatever the vendor does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from service.errors import InvalidCase, PromptMismatch
from service.money import tokenizers
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts import Prompts
from service.prompts.request import Request, WireTexts, encode, wire_texts
from service.running.provider_port import Answer, CallFailed, Provider
from service.running.trial_call import Trial, TrialOutcome, make_trial, prepare_trial

POLICY, PROMPTS, DAY = read_policy(SHIPPED_POLICY), Prompts.load(), "2026-11-24"
MODEL = POLICY.models["alder-large"]
REPLY = '{"questionType":"factual","because":"It can be looked up."}'
tokenizers.load(model.tokenizer for model in POLICY.models.values())
TRIAL = prepare_trial(POLICY, PROMPTS, MODEL, DAY)


class Vendor(Provider):
    """A provider that answers each call by a function of its number."""

    def __init__(self, answer: Callable[[int], Answer], change: Callable[[Request], Request] = lambda r: r) -> None:
        self.calls = 0
        self._answer = answer
        self._change = change

    def encode(self, request: Request) -> bytes:
        return encode(self._change(request))

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body)

    async def send(self, body: bytes) -> Answer:
        self.calls += 1
        return self._answer(self.calls)

    async def close(self) -> None:
        return


def replied(text: str = REPLY, usage: dict[str, Any] | None = None) -> Answer:
    return Answer(text, usage, "alder-large")


def failing(*failures: CallFailed) -> Callable[[int], Answer]:
    def answer(call: int) -> Answer:
        if call <= len(failures):
            raise failures[call - 1]
        return replied()

    return answer


async def made(vendor: Provider, trial: Trial = TRIAL, within_s: float = 5.0) -> TrialOutcome:
    return await make_trial(trial, PROMPTS, vendor, within_s)


def test_a_model_without_a_price_gets_no_call() -> None:
    with pytest.raises(InvalidCase, match="no price, no call"):
        prepare_trial(POLICY, PROMPTS, MODEL, "2025-01-01")


def test_a_window_that_does_not_hold_the_call_is_refused() -> None:
    with pytest.raises(InvalidCase, match="does not hold"):
        prepare_trial(POLICY, PROMPTS, replace(MODEL, context_window=2_000), DAY)


async def test_without_a_usage_the_call_is_charged_at_what_was_shown_before() -> None:
    outcome = await made(Vendor(lambda _: replied()))

    assert (outcome.fault, outcome.spent) == ("", TRIAL.worst_case)


TOLD = {"input_tokens": TRIAL.input_tokens, "output_tokens": 20}


@pytest.mark.parametrize(
    ("usage", "doubt"),
    [
        (TOLD, ""),
        (None, "reports no usage, so each of its calls is charged at the most"),
        ({**TOLD, "output_tokens": -20}, "cannot be true"),
        ({**TOLD, "input_tokens": TRIAL.input_tokens // 3}, "fewer tokens than the request can have"),
        ({**TOLD, "output_tokens": 1}, "fewer tokens than the reply can have"),
        ({**TOLD, "service_tier": "priority"}, "has no price"),
        ({**TOLD, "output_tokens": 4_000}, "USD above the most that it could cost"),
    ],
    ids=["believed", "none", "impossible", "small input", "small output", "another tier", "too much"],
)
async def test_a_usage_that_debates_would_not_be_charged_by_is_said(usage: dict[str, Any] | None, doubt: str) -> None:
    outcome = await made(Vendor(lambda _: replied(usage=usage)))

    assert not outcome.fault
    assert doubt in outcome.doubt
    assert bool(outcome.doubt) == bool(doubt) == (outcome.spent >= TRIAL.worst_case)


async def test_a_reply_that_is_none_is_a_fault_and_costs_the_same() -> None:
    outcome = await made(Vendor(lambda _: replied("I am well, thank you.")))

    assert outcome.fault.startswith("the reply is not usable")
    assert outcome.spent == TRIAL.worst_case


async def test_a_server_that_lacks_a_way_of_sending_the_schema_is_asked_in_the_next() -> None:
    lacking = CallFailed("unsupported", "no json_schema", retry=True, billable=False)
    vendor = Vendor(failing(lacking, lacking))

    outcome = await made(vendor)

    assert (outcome.fault, vendor.calls) == ("", 3)


@pytest.mark.parametrize(
    ("failure", "spent"),
    [
        (CallFailed("refusedKey", "401", retry=False, billable=False), 0),
        (CallFailed("overload", "503", billable=False), 0),
        (CallFailed("connectionCut", "cut", billable=True), TRIAL.worst_case),
    ],
    ids=lambda value: getattr(value, "reason", ""),
)
async def test_any_other_failure_ends_it_after_one_call(failure: CallFailed, spent: int) -> None:
    vendor = Vendor(failing(failure))

    outcome = await made(vendor)

    assert (outcome.fault, outcome.spent, vendor.calls) == (f"{failure.reason}: {failure.detail}", spent, 1)


async def test_a_vendor_that_never_answers_is_given_up_and_charged() -> None:
    class Silent(Vendor):
        async def send(self, body: bytes) -> Answer:
            await asyncio.sleep(60)
            return replied()

    outcome = await made(Silent(lambda _: replied()), within_s=0.01)

    assert outcome == TrialOutcome("no answer within 0.01 seconds", TRIAL.worst_case)


@pytest.mark.parametrize(
    "change",
    [
        lambda request: replace(request, messages=request.messages[1:]),
        lambda request: replace(
            request, messages=(*request.messages[:-1], replace(request.messages[-1], content="Say what you like."))
        ),
        lambda request: replace(request, reply_schema={"type": "object"}),
    ],
    ids=["without the system prompt", "another prompt", "another schema"],
)
async def test_nothing_is_sent_whose_texts_are_not_the_pinned_ones(change: Callable[[Request], Request]) -> None:
    vendor = Vendor(lambda _: replied(), change)

    with pytest.raises(PromptMismatch):
        await made(vendor)

    assert vendor.calls == 0
