"""One attempt, from its request to the entry that it becomes.

    prepare   render the request, encode it for the vendor, compare the bytes on the wire with the pins, count tokens,
              compute the reservation
    make      send the request and read the response: a reply with its charge, or a failure with its reason and charge

Every call that is recorded as asked ends as an entry.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import traceback
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from service import log_lines, money, telemetry
from service.checks import output_schema
from service.debate import kernel
from service.debate.amounts import MicroUSD
from service.debate.entries import AttemptFailed, Charge, DebateStarted, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.model import Case, SeatPlan, Turn, seat_of
from service.debate.options import role_of
from service.debate.replies import Reply
from service.debate.replies.decoding import decode_reply
from service.debate.replies.pruning import Kept
from service.debate.script import Script
from service.debate.versions import version_of
from service.errors import IllegalEntry, SettingsError
from service.money import Reckoning
from service.prompts import Prompts, check_kept, check_pins, check_schema_pin
from service.prompts.layouts import lay_out
from service.prompts.render import pins
from service.prompts.request import Request, encode
from service.prompts.undocumented import pin_of
from service.running.provider_port import Answer, CallFailed, Provider

SAID_MAX = 20_000
"""The longest part of a response that is recorded as it came, in characters: unusable ones, and those with parts that
are left out."""


class Attempt(Struct, frozen=True):
    """An attempt that is ready to be sent: its recorded intent and its bytes on the wire."""

    asked: TurnAsked
    turn: Turn
    plan: SeatPlan
    body: bytes
    reckoning: Reckoning
    floor_per_mille: int = 0

    def charge(self, answer: Answer | None, reply: Reply | None, said: str | None) -> Charge:
        """The charge for a response, computed from recorded values alone: ``reply`` and ``said`` are as recorded.

        The usage is normalised under the wire that the debate began with, not by today's adapter: the policy may have
        changed since, and a verifier that computes the charge again has the record alone.
        """
        plan, rules = self.plan, self.reckoning
        usage = rules.normalise(plan.wire, answer.raw_usage, plan.reasoning) if answer else None
        tokens = rules.reply_tokens(reply, said, plan.tokenizer) if usage else 0
        counted = money.Counted(self.asked.input_tokens, tokens, self.floor_per_mille)
        return rules.charge(usage, self.asked.held, plan.price, counted)


class _Unsent(NamedTuple):
    """The prompts of a request that is counted and not sent: without its schema, which is counted by itself."""

    prompts: Prompts

    @property
    def layout(self) -> str:
        """The layout that the debate promised."""
        return self.prompts.layout

    def text(self, prompt: str) -> str:
        """A pinned text."""
        return self.prompts.text(prompt)

    def schema(self, _seat: str) -> dict[str, Any]:
        """An empty one."""
        return {}


class CallOutcome(Struct, frozen=True):
    """The result of an attempt, and the seconds of backoff that its vendor asks for."""

    entry: TurnSpoke | AttemptFailed
    retry_after_s: float = 0.0


class ModelCaller:
    """Makes the attempts of one debate, with its pinned prompts."""

    def __init__(self, prompts: Prompts, providers: Mapping[str, Provider], sources: Mapping[str, str]) -> None:
        self._prompts = prompts
        self._providers = providers
        self._sources = sources
        self._usual: Mapping[str, int] = {}
        self._counts: money.Known = {}

    def load_prompts(self, begun_with: Mapping[str, str]) -> None:
        """Use the prompts that the debate began with; raise `PromptMismatch` if this process does not have them."""
        self._prompts = self._prompts.at(begun_with)
        self._counts = dict(self._prompts.made.counts)

    def backoff_s(self, plan: SeatPlan) -> float:
        """Seconds until the provider of this model takes calls again."""
        return self._provider(plan).backoff_s(plan.model_name)

    def prepare(self, case: Case, facts: Facts, turn: Turn, plan: SeatPlan) -> Attempt:
        """Make an attempt: its wire body, checked against the pins, and its worst case.

        The files of its prompts are read again. Raises `PromptMismatch`.
        """
        asked_for, house = pins(facts, turn, plan), pin_of(facts, "house")
        prompts = self._prompts.read_again((house, *asked_for, f"schema.{turn.asks}"))
        said = lay_out(prompts, case, self._sources, facts, turn, plan)
        request = replace(said, keeps_case=self._is_asked_again(facts, turn))
        provider = self._provider(plan)
        body = provider.encode(request)
        decoded = provider.decode_request(body)
        check_pins(prompts, decoded.messages, asked_for, house)
        check_schema_pin(prompts, turn.asks, decoded.reply_schema)
        check_kept(request.keeps_case, decoded.keeps_case)
        salt = secrets.token_bytes(16)
        reckoning = _reckoning(facts)
        tokens = self._tokens(reckoning, request, plan.tokenizer)
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
        return Attempt(asked, turn, plan, body, reckoning, _started(facts).usage_floor_per_mille)

    def closing_cost(self, case: Case, facts: Facts, turn: Turn) -> MicroUSD:
        """The worst case of a closing turn.

        Replies that exist count as they will be shown, missing ones by their seat's allowance. The dearer of the seat's
        own model and its fallback counts.
        """
        started, reckoning = _started(facts), _reckoning(facts)
        plan = started.seat(turn.seat)
        said = tuple(t for t in turn.sees if t in facts.said)
        missing = [t for t in turn.sees if t not in facts.said]
        allowances = [started.seat(seat_of(t)).allowance for t in missing]
        known = kernel.FORMATS[started.format].shown(Script(started, facts), turn)
        labels = [known[t] for t in missing if t in known]
        request = lay_out(_Unsent(self._prompts), case, self._sources, facts, replace(turn, sees=said), plan)
        dearest, tokens = 0, dict[str, int]()
        for p in plan.with_fallback:
            if p.tokenizer not in tokens:
                tokens[p.tokenizer] = self._tokens(reckoning, request, p.tokenizer)
            dearest = max(dearest, reckoning.closing_cost(tokens[p.tokenizer], allowances, labels, p))
        return dearest

    async def make(self, attempt: Attempt, facts: Facts, within_s: float) -> CallOutcome:
        """Send an attempt and wait for the response, ``within_s`` seconds at most."""
        plan = attempt.plan
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(within_s):
                answer = await self._provider(plan).send(attempt.body)
            return CallOutcome(_decoded_entry(attempt, facts, answer))
        except CallFailed as failure:
            return CallOutcome(_failed(attempt, failure), failure.retry_after_s or 0.0)
        except TimeoutError:
            return CallOutcome(_failed(attempt, CallFailed("timeout", "no answer before the turn's deadline")))
        except Exception as fault:  # noqa: BLE001 - an adapter broke its contract; the cost of the call is unknown
            return CallOutcome(_failed(attempt, _adapter_failure(plan, fault)))
        finally:
            telemetry.CALL_SECONDS.labels(model=plan.model, seat=role_of(plan.seat)).observe(
                time.perf_counter() - begun
            )

    def _tokens(self, reckoning: Reckoning, request: Request, tokenizer: str) -> int:
        """The tokens of a request with its pinned schema. Its pinned texts are counted once for all debates that
        promised them."""
        prompts, known = self._prompts, len(self._counts)
        file = prompts.entry(f"schema.{request.schema_id}").file
        schema = prompts.made.schema_text(file, prompts.files()[file])
        texts = (*(message.content for message in request.messages), schema)
        tokens = reckoning.request_tokens(texts, tokenizer, self._counts)
        if len(self._counts) > known:
            for text in (*(message.content for message in request.messages if message.pins), schema):
                if (key := (tokenizer, text)) in self._counts:
                    prompts.made.counts[key] = self._counts[key]
        return tokens

    def _is_asked_again(self, facts: Facts, turn: Turn) -> bool:
        """Whether a debate of the usual course asks the seat of a turn more than once."""
        if not self._usual:
            started = _started(facts)
            self._usual = kernel.FORMATS[started.format].table(started.options).usual
        return self._usual.get(turn.seat, 1) > 1

    def _provider(self, plan: SeatPlan) -> Provider:
        if plan.provider not in self._providers:
            raise SettingsError(
                f"expected provider {plan.provider!r} with this worker, as the debate began with, found "
                f"{sorted(self._providers)}; finish the debate under a policy that has it, or abort it"
            )
        return self._providers[plan.provider]


def _reckoning(facts: Facts) -> Reckoning:
    """The rules of counting and charging: the version that was sealed with the debate's gate decision."""
    return money.USAGES[version_of(facts.versions, "usage")]


def _started(facts: Facts) -> DebateStarted:
    if facts.started is None:
        raise IllegalEntry("the debate has no debate.started entry, so no model can be called")
    return facts.started


def _adapter_failure(plan: SeatPlan, fault: Exception) -> CallFailed:
    """The failure that stands for a fault of an adapter. The log has its place; its message could hold a secret."""
    name, place = type(fault).__name__, "".join(traceback.format_tb(fault.__traceback__)[-3:])
    log_lines.ADAPTER_FAULT(model=plan.model, fault=name, place=place)
    return CallFailed("providerFault", f"the adapter failed with {name}")


def _failed(attempt: Attempt, failure: CallFailed) -> AttemptFailed:
    """The entry of a call without a reply, charged with what it can have cost."""
    answer = failure.answer
    charge = attempt.charge(answer, None, _said(answer)) if failure.billable else Charge(0, "none")
    failed = _failed_entry(attempt, failure.reason, failure.detail, charge, answer, final=not failure.retry)
    return replace(failed, unavailable=failure.unavailable)


def _said(answer: Answer | None) -> str | None:
    """The text of a response as a failed attempt records it."""
    return answer.text[:SAID_MAX] or None if answer else None


def _decoded_entry(attempt: Attempt, facts: Facts, answer: Answer) -> TurnSpoke | AttemptFailed:
    """Decode a reply. An unusable one is a failed attempt; every response is charged, whatever is left out of it."""
    asked, plan = attempt.asked, attempt.plan
    kept = _kept(facts, attempt.turn, answer.text)
    if isinstance(kept, str):
        charge = attempt.charge(answer, None, _said(answer))
        return _failed_entry(attempt, "malformedReply", kept, charge, answer, final=False)
    said = answer.text[:SAID_MAX] if kept.dropped or kept.worded else None
    charge = attempt.charge(answer, kept.reply, said)
    _count_doubts(plan, charge)
    return TurnSpoke(
        asked.turn,
        asked.attempt,
        kept.reply,
        charge,
        answer.raw_usage,
        answer.served_model,
        answer.request_id,
        answer.fingerprint,
        kept.dropped,
        kept.more,
        said,
    )


def _kept(facts: Facts, turn: Turn, text: str) -> Kept | str:
    """The reply that a text holds, without what nothing asked for; or why it is unusable."""
    decoded = decode_reply(turn.asks, text)
    if isinstance(decoded, str):
        return decoded
    kept = kernel.kept(facts, turn, decoded.reply).after(decoded)
    return _why_unusable(facts, turn, kept.reply) or kept


def _why_unusable(facts: Facts, turn: Turn, reply: Reply) -> str | None:
    """Why a decoded reply is unusable in its turn: the format rejects it, or it does not fit the caller's JSON Schema.

    Only this function checks the schema: a replay does not need JSON Schema to know that the turn has spoken.
    """
    return kernel.unusable(facts, turn, reply) or output_schema.unfit(_started(facts).options, reply)


def _failed_entry(
    attempt: Attempt, reason: str, detail: str, charge: Charge, answer: Answer | None, *, final: bool
) -> AttemptFailed:
    """A failed attempt, with the response if there was one."""
    asked, plan = attempt.asked, attempt.plan
    telemetry.ATTEMPTS_FAILED.labels(model=plan.model, reason=reason).inc()
    _count_doubts(plan, charge)
    failed = AttemptFailed(asked.turn, asked.attempt, reason, detail, charge, final=final)
    if answer is None:
        return failed
    return replace(
        failed,
        usage=answer.raw_usage,
        request_id=answer.request_id,
        served_model=answer.served_model,
        fingerprint=answer.fingerprint,
        said=_said(answer),
    )


def _count_doubts(plan: SeatPlan, charge: Charge) -> None:
    """Count a charge above its reservation, and a usage below its floor."""
    if charge.excess:
        telemetry.OVERRUNS.labels(model=plan.model).inc()
    if charge.below_floor:
        telemetry.BELOW_FLOOR.labels(model=plan.model, part=charge.below_floor).inc()
