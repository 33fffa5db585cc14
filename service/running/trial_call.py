"""One priced test call of a model, as `gainsay doctor --call` makes it: outside of any debate, and of no case.

It takes the path of every other call: the provider's adapter, pinned texts that are compared with the bytes about to go
out, a worst case that is known before, a charge by the usage that comes back. The prompt is the panel's classifier on a
fixed question without documents, the shortest that there is. It belongs to no debate, decides nothing and carries no
word of a caller, so no log has a record of it: the vendor's bill and the operator's terminal do (decision 0075).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from service import money
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import BelowFloor, Charge
from service.debate.model import SeatPlan
from service.debate.replies import Reply
from service.debate.replies.decoding import decode_reply
from service.errors import InvalidCase
from service.policy import Model, Policy
from service.prompts import Prompts, check_pins, check_schema_pin
from service.prompts.fence import Block, fence
from service.prompts.request import Message, Request, texts_of
from service.running.provider_port import Answer, CallFailed, Provider

ASKS = "panel.classifier"
HOUSE, SEAT = "house.undocumented", "panel.classifier.undocumented"
QUESTION = "Is water made of hydrogen and oxygen?"
ALLOWANCE = 1_024
"""Output tokens: a reply takes fifty, and a model that thinks takes some hundreds more."""
MARK = "0" * 16
TRIES = 4
"""A server that lacks a way of sending the schema is asked again in the next one, as in a debate."""


class Trial(Struct, frozen=True):
    """A test call that is ready to be sent: its plan, its tokens by our count, and the most that it can cost.

    A usage below ``floor_per_mille`` of our count is not believed, as in a debate.
    """

    plan: SeatPlan
    request: Request
    input_tokens: int
    worst_case: MicroUSD
    floor_per_mille: int


class TrialOutcome(Struct, frozen=True):
    """How a test call ended. ``fault`` is empty after a usable reply; ``spent`` is what it is charged at.

    ``doubt`` says why the charge of a usable reply is not its vendor's usage, or is more than the most.
    """

    fault: str
    spent: MicroUSD
    tokens: int = 0
    served_model: str | None = None
    doubt: str = ""


def prepare_trial(policy: Policy, prompts: Prompts, model: Model, day: str) -> Trial:
    """The test call of a model; raises `InvalidCase` where it has no price, and `PromptMismatch`."""
    provider, price = policy.providers[model.provider], model.price(day)
    if price is None:
        raise InvalidCase(f"model {model.alias!r} has no price in force on {day}; no price, no call")
    plan = SeatPlan(
        seat="classifier",
        model=model.alias,
        provider=model.provider,
        model_name=model.name,
        family=model.family,
        tokenizer=model.tokenizer,
        safety_per_mille=model.safety_per_mille,
        context_window=model.context_window,
        allowance=min(ALLOWANCE, model.context_window // 2),
        price=price,
        parameters=model.parameters,
        wire=provider.kind,
        reasoning=provider.reasoning,
        overhead_tokens=model.overhead_tokens,
    )
    request = _request(prompts, plan)
    tokens = money.count(texts_of(request), plan.tokenizer)
    if not money.fits(tokens, plan):
        raise InvalidCase(f"the window of {model.alias!r} does not hold a request of {tokens} tokens and its reply")
    return Trial(plan, request, tokens, money.worst_case(tokens, plan), policy.calls.usage_floor_per_mille)


def _request(prompts: Prompts, plan: SeatPlan) -> Request:
    pinned = prompts.read_again((HOUSE, SEAT, f"schema.{ASKS}"))
    question = fence(MARK, Block("question", {}, QUESTION))
    return Request(
        seat=plan.seat,
        model=plan.model,
        model_name=plan.model_name,
        messages=(
            Message("house", pinned.text(HOUSE), (HOUSE,)),
            Message("data", question),
            Message("seat", pinned.text(SEAT), (SEAT,)),
        ),
        schema_id=ASKS,
        reply_schema=pinned.schema(ASKS),
        max_output_tokens=plan.allowance,
        parameters=plan.parameters,
    )


async def make_trial(trial: Trial, prompts: Prompts, provider: Provider, within_s: float) -> TrialOutcome:
    """Make the call, and again where the server lacks a way of sending the schema; an error becomes a fault in words.

    Raises `PromptMismatch` where the bytes on the wire do not carry the pinned texts.
    """
    spent, fault = 0, ""
    for _ in range(TRIES):
        body = provider.encode(trial.request)
        decoded = provider.decode_request(body)
        check_pins(prompts, decoded.messages, (SEAT,), HOUSE)
        check_schema_pin(prompts, ASKS, decoded.reply_schema)
        try:
            async with asyncio.timeout(within_s):
                answer = await provider.send(body)
        except CallFailed as failure:
            said = failure.answer.text if failure.answer else None
            spent += _charge(trial, failure.answer, None, said).amount if failure.billable else 0
            fault = f"{failure.reason}: {failure.detail}"
            if failure.reason == "unsupported" and failure.retry and not failure.billable:
                continue
            break
        except TimeoutError:
            return TrialOutcome(f"no answer within {within_s:g} seconds", spent + trial.worst_case)
        reply = decode_reply(ASKS, answer.text)
        if isinstance(reply, str):
            spent += _charge(trial, answer, None, answer.text).amount
            return TrialOutcome(f"the reply is not usable: {reply}", spent)
        charge = _charge(trial, answer, reply.reply, None)
        tokens = charge.output_tokens + charge.reasoning_tokens
        return TrialOutcome("", spent + charge.amount, tokens, answer.served_model, _doubt(charge, answer))
    return TrialOutcome(fault, spent)


def _charge(trial: Trial, answer: Answer | None, reply: Reply | None, said: str | None) -> Charge:
    """The charge by the usage that was reported, or the worst case, by the rules of a debate."""
    plan = trial.plan
    usage = money.normalise(plan.wire, answer.raw_usage, plan.reasoning) if answer else None
    counted = money.Counted(trial.input_tokens, money.reply_tokens(reply, said, plan.tokenizer), trial.floor_per_mille)
    return money.charge(usage, trial.worst_case, plan.price, counted)


def _doubt(charge: Charge, answer: Answer) -> str:
    """Why a charge is not what the vendor's usage costs, or is more than the most that the call could cost."""
    if charge.excess:
        return (
            f"it is billed {usd(charge.excess)} USD above the most that it could cost, and a debate ends at such a call"
        )
    if charge.basis == "usage":
        return ""
    if charge.below_floor:
        why = f"the vendor reports fewer tokens than {_PART[charge.below_floor]} can have"
    elif charge.input_tokens or charge.output_tokens:
        why = "what the vendor reports has no price"
    else:
        why = "the vendor reports no usage" if answer.raw_usage is None else "what the vendor reports cannot be true"
    return f"{why}, so each of its calls is charged at the most"


_PART: Mapping[BelowFloor, str] = {"input": "the request", "output": "the reply"}
