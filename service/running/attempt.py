"""One attempt, from its request to the entry that it becomes.

    prepare   render, encode for the vendor, compare the bytes on the wire with the pins, count, and hold the worst case
    make      send, and read what came back: a reply with its charge, or a failure with its reason and its charge

Whatever happens to a call that is recorded as asked, it ends as an entry.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import traceback
from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from service import money, telemetry
from service.checks import output_schema
from service.debate import kernel
from service.debate.amounts import MicroUSD
from service.debate.entries import AttemptFailed, Charge, DebateStarted, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.model import Case, SeatPlan, Turn, seat_of
from service.debate.options import role_of
from service.debate.replies import Reply
from service.debate.replies.decoding import decode_reply
from service.debate.script import Script
from service.debate.versions import version_of
from service.errors import IllegalEntry, SettingsError
from service.money import Reckoning
from service.prompts import Prompts, verify_schema, verify_wire
from service.prompts.layouts import lay_out
from service.prompts.render import pins
from service.prompts.request import Request, encode, texts_of
from service.running.provider_port import Answer, CallFailed, Provider

SAID_MAX = 20_000
"""How much is kept of what came back and could not be used, in characters."""


class Attempt(Struct, frozen=True):
    """An attempt that is ready to be made: its recorded intent, and what goes on the wire."""

    asked: TurnAsked
    turn: Turn
    plan: SeatPlan
    body: bytes
    reckoning: Reckoning


class Made(Struct, frozen=True):
    """What an attempt came to, and for how many seconds its vendor asks to be left alone."""

    entry: TurnSpoke | AttemptFailed
    retry_after_s: float = 0.0


class Calling:
    """Makes the attempts of one debate, with its pinned prompts."""

    def __init__(self, prompts: Prompts, providers: Mapping[str, Provider], sources: Mapping[str, str]) -> None:
        self._prompts = prompts
        self._providers = providers
        self._sources = sources

    def take_prompts(self, begun_with: Mapping[str, str]) -> None:
        """Ask with the prompts that a debate began with; raises `PromptMismatch` where they are not here any more."""
        self._prompts = self._prompts.at(begun_with)

    def paused_s(self, plan: SeatPlan) -> float:
        """Seconds for which a model's vendor is left alone."""
        return self._provider(plan).paused_s(plan.model_name)

    def prepare(self, case: Case, facts: Facts, turn: Turn, plan: SeatPlan) -> Attempt:
        """An attempt's wire body, checked against the pins, with its worst case; raises `PromptMismatch`."""
        request = self._render(case, facts, turn, plan)
        provider = self._provider(plan)
        body = provider.encode(request)
        told = provider.spoken(body)
        verify_wire(self._prompts, told.messages, pins(facts, turn, plan))
        verify_schema(self._prompts, turn.asks, told.reply_schema)
        salt = secrets.token_bytes(16)
        tokens, reckoning = _counted(request, plan), _reckoning(facts)
        asked = TurnAsked(
            turn=turn.id,
            attempt=facts.attempts.get(turn.id, 0) + 1,
            model=plan.model,
            request_salt=salt.hex(),
            request_hash=sha256(salt + encode(request)).hexdigest(),
            input_tokens=tokens,
            held=reckoning.worst_case(tokens, plan),
            wire_hash=sha256(salt + body).hexdigest(),
        )
        return Attempt(asked, turn, plan, body, reckoning)

    def closing_cost(self, case: Case, facts: Facts, turn: Turn) -> MicroUSD:
        """The worst case of a closing turn: what was said as it will be shown, what was not by its seat's allowance.

        It is that of whoever is dearer, the seat's own model or its fallback.
        """
        started, reckoning = _started(facts), _reckoning(facts)
        plan = started.seat(turn.seat)
        said = tuple(t for t in turn.sees if t in facts.said)
        missing = [t for t in turn.sees if t not in facts.said]
        shown = sum(reckoning.shown_tokens(started.seat(seat_of(t)).allowance) for t in missing)
        known = kernel.FORMATS[started.format].shown(Script(started, facts), turn)
        labels = [known[t] for t in missing if t in known]
        request = self._render(case, facts, replace(turn, sees=said), plan)
        seated = (plan, plan.fallback) if plan.fallback else (plan,)
        return max(
            reckoning.worst_case(_counted(request, p) + shown + reckoning.label_tokens(labels, p.tokenizer), p)
            for p in seated
        )

    async def make(self, attempt: Attempt, facts: Facts, within_s: float) -> Made:
        """Make an attempt, and wait for it ``within_s`` seconds at most."""
        plan = attempt.plan
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(within_s):
                answer = await self._provider(plan).send(attempt.body)
            return Made(_read(attempt, facts, answer))
        except CallFailed as failure:
            return Made(_failed(attempt, failure), failure.retry_after_s or 0.0)
        except TimeoutError:
            return Made(_failed(attempt, CallFailed("timeout", "no answer before the turn's deadline")))
        except Exception as fault:  # noqa: BLE001 - an adapter broke its promise; what it cost nobody can know
            return Made(_failed(attempt, _broken(plan, fault)))
        finally:
            telemetry.CALL_SECONDS.labels(model=plan.model, seat=role_of(plan.seat)).observe(
                time.perf_counter() - begun
            )

    def _provider(self, plan: SeatPlan) -> Provider:
        if plan.provider not in self._providers:
            raise SettingsError(
                f"expected provider {plan.provider!r} with this worker, as the debate began with, found "
                f"{sorted(self._providers)}; finish the debate under a policy that has it, or abort it"
            )
        return self._providers[plan.provider]

    def _render(self, case: Case, facts: Facts, turn: Turn, plan: SeatPlan) -> Request:
        return lay_out(self._prompts, case, self._sources, facts, turn, plan)


def _counted(request: Request, plan: SeatPlan) -> int:
    return money.count(texts_of(request), plan.tokenizer)


def _reckoning(facts: Facts) -> Reckoning:
    """The rules by which a debate is charged: those of the version that was sealed when it was decided."""
    return money.USAGES[version_of(facts.versions, "usage")]


def _started(facts: Facts) -> DebateStarted:
    if facts.started is None:
        raise IllegalEntry("the debate has no debate.started; nobody can be asked")
    return facts.started


def _broken(plan: SeatPlan, fault: Exception) -> CallFailed:
    """The failure that an adapter's own fault is. Its place is logged; its words could hold a secret."""
    name, place = type(fault).__name__, "".join(traceback.format_tb(fault.__traceback__)[-3:])
    telemetry.LOG.error("a provider's adapter failed", extra={"model": plan.model, "fault": name, "place": place})
    return CallFailed("providerFault", f"the adapter failed with {name}")


def _failed(attempt: Attempt, failure: CallFailed) -> AttemptFailed:
    """The entry of a call that brought no reply: what it can have cost is charged."""
    charge = _charge(attempt, failure.answer) if failure.billable else Charge(0, "none")
    return _unusable(attempt, failure.reason, failure.detail, charge, failure.answer, final=not failure.retry)


def _charge(attempt: Attempt, answer: Answer | None) -> Charge:
    """The charge for what came back, from nothing but what is recorded of it.

    The usage is read again, under the wire that the debate began with: a policy may have changed since, and the adapter
    with it, but whoever computes the charge again has the record alone.
    """
    asked, plan, reckoning = attempt.asked, attempt.plan, attempt.reckoning
    usage = reckoning.normalise(plan.wire, answer.raw_usage, plan.reasoning) if answer else None
    return reckoning.charge(usage, asked.held, plan.price)


def _read(attempt: Attempt, facts: Facts, answer: Answer) -> TurnSpoke | AttemptFailed:
    """A reply is decoded strictly; one that cannot be used is a failed attempt, charged like any other."""
    asked, plan = attempt.asked, attempt.plan
    charge = _charge(attempt, answer)
    reply = decode_reply(attempt.turn.asks, answer.text)
    why = reply if isinstance(reply, str) else _misfit(facts, attempt.turn, reply)
    if isinstance(reply, str) or why:
        return _unusable(attempt, "malformedReply", str(why), charge, answer, final=False)
    _count_overrun(plan, charge)
    return TurnSpoke(
        asked.turn,
        asked.attempt,
        reply,
        charge,
        answer.raw_usage,
        answer.served_model,
        answer.request_id,
        answer.fingerprint,
    )


def _misfit(facts: Facts, turn: Turn, reply: Reply) -> str | None:
    """Why a decoded reply cannot stand at its place: the format has no use for it, or it is not in the caller's shape.

    The shape is looked at here alone: a replay need not know JSON Schema to know that the turn has spoken.
    """
    return kernel.unusable(facts, turn, reply) or output_schema.unfit(_started(facts).options, reply)


def _unusable(
    attempt: Attempt, reason: str, detail: str, charge: Charge, answer: Answer | None, *, final: bool
) -> AttemptFailed:
    """A failed attempt, with what came back all the same."""
    asked, plan = attempt.asked, attempt.plan
    telemetry.ATTEMPTS_FAILED.labels(model=plan.model, reason=reason).inc()
    _count_overrun(plan, charge)
    failed = AttemptFailed(asked.turn, asked.attempt, reason, detail, charge, final=final)
    if answer is None:
        return failed
    return replace(
        failed,
        usage=answer.raw_usage,
        request_id=answer.request_id,
        served_model=answer.served_model,
        fingerprint=answer.fingerprint,
        said=answer.text[:SAID_MAX] or None,
    )


def _count_overrun(plan: SeatPlan, charge: Charge) -> None:
    if charge.excess:
        telemetry.OVERRUNS.labels(model=plan.model).inc()
