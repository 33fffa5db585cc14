"""A recorded debate as spans of one trace: what was asked of whom, for how long, and what came of it.

    debate               from the request to the end; a part of the caller's trace where there is one
      turn               a seat asked once, from its first attempt to its reply or its silence
        chat             one attempt: from the record of the intent to the reply
      check              code's own judgement
      append             records written together

A pure function of the records and of when each was written. So it does not matter how many workers ran the debate, and
no span is lost with one that died: the worker that writes the end makes all of them. No span has words of a case or of
a reply, unless policy lets it (`service.policy.traces`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from service.audit.record import moment
from service.debate.amounts import MICRO
from service.debate.entries import (
    Arrival,
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
)
from service.debate.model import Outcome, SeatPlan, TurnId, seat_of
from service.debate.options import role_of
from service.debate.turns import round_of, take_of
from service.observing import attributes as names
from service.observing.span import Event, Span, Value, span_id, trace_id

_ESCAPED = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Moment(NamedTuple):
    """When a record was written, and by which process.

    ``occurred`` and ``recorded`` are those of its envelope. ``writer`` is empty where its actor is a caller, of whom no
    span says who it is. ``stored_us`` is when its writer knew that it is stored, in
    microseconds since 1970; ``None`` where another process wrote it.
    """

    occurred: str
    recorded: str
    writer: str
    stored_us: int | None = None

    @property
    def began_us(self) -> int:
        """When it happened."""
        return moment(self.occurred)

    @property
    def ended_us(self) -> int:
        """When it was stored, as far as is known: the time of its envelope is that of the attempt to write it."""
        return moment(self.recorded) if self.stored_us is None else self.stored_us


def trace_of(debate: str, arrival: Arrival | None) -> str:
    """The id of a debate's trace: its request's, or its own where it came without one or as one of many in a batch."""
    if arrival is None or arrival.trace is None or arrival.batch is not None:
        return trace_id(debate)
    return arrival.trace


def attempt_span(debate: str, turn: TurnId, attempt: int) -> str:
    """The id of an attempt's span, which its vendor learns before the attempt is over."""
    return span_id(debate, turn, str(attempt))


def debate_span(debate: str) -> str:
    """The id of a debate's span."""
    return span_id(debate)


def batch_trace(batch: str, given: str | None) -> str:
    """The id of the trace of a batch: its request's where that brought one."""
    return given or trace_id("batch", batch)


def batch_span(batch: str) -> str:
    """The id of the span of a batch."""
    return span_id("batch", batch)


def kept_for_itself(outcome: Outcome) -> bool:
    """Whether a debate's trace is kept whatever was drawn: it failed, was cut short, or is for a person."""
    return outcome.status != "completed" or outcome.human_review.required


def spans(
    debate: str,
    tenant: str,
    entries: Sequence[Entry],
    moments: Sequence[Moment],
    *,
    words: Callable[[str], str] | None = None,
) -> list[Span]:
    """The spans of a debate that has ended, the debate's own first; ``moments`` are those of the entries.

    ``words`` gives a text as a span may have it. Without it no span has the question or a reply.
    """
    return list(_Debate(debate, tenant, entries, moments, words).spans())


class _Debate:
    """A debate's entries with their moments, and what all of its spans have in common."""

    def __init__(
        self,
        debate: str,
        tenant: str,
        entries: Sequence[Entry],
        moments: Sequence[Moment],
        words: Callable[[str], str] | None,
    ) -> None:
        self.debate, self.tenant, self.words = debate, tenant, words
        self.entries, self.moments = entries, moments
        self.arrival = next((e.arrival for e in entries if isinstance(e, CaseReceived)), None)
        self.started = next((e for e in entries if isinstance(e, DebateStarted)), None)
        self.outcome = next((e.outcome for e in entries if isinstance(e, DebateConcluded)), None)
        self.trace = trace_of(debate, self.arrival)

    def spans(self) -> Iterator[Span]:
        if self.started is None:
            return
        yield self._whole(self.started)
        yield from self._turns(self.started)
        yield from self._checks()
        yield from self._appends()

    def _span(
        self,
        name: str,
        id_: str,
        start_us: int,
        end_us: int,
        about: Mapping[str, Value | None],
        *,
        parent: str | None = None,
        error: str | None = None,
    ) -> Span:
        """A span of the debate. It does not end before it begins, whatever two processes took for the time."""
        found = {name: value for name, value in about.items() if value is not None}
        return Span(
            name=name,
            trace=self.trace,
            id=id_,
            kind="client" if names.OPERATION in found and names.PROVIDER in found else "internal",
            start_us=start_us,
            end_us=max(start_us, end_us),
            parent=parent or debate_span(self.debate),
            attributes={names.DEBATE: self.debate, **found},
            error=error,
        )

    # -- the debate

    def _whole(self, started: DebateStarted) -> Span:
        case = next(e.case for e in self.entries if isinstance(e, CaseReceived))
        arrival = self.arrival or Arrival()
        inside = arrival.sampled and arrival.batch is None
        linked = (
            () if arrival.batch is None else ((batch_trace(arrival.batch, arrival.trace), batch_span(arrival.batch)),)
        )
        charged = sum(e.charge.amount for e in self.entries if isinstance(e, TurnSpoke | AttemptFailed))
        about: dict[str, Value | None] = {
            names.DEBATE: self.debate,
            names.TENANT: self.tenant,
            names.CONVERSATION: self.debate,
            names.OPERATION: "invoke_workflow",
            names.FORMAT: started.format,
            names.TASK_TYPE: case.task_type,
            names.BATCH: arrival.batch,
            names.SIMULATED: started.simulated,
            names.CEILING: started.ceiling / MICRO,
            names.COST: charged / MICRO,
            names.RECORDS: len(self.entries),
            names.INPUT_MESSAGES: self._message("user", case.question),
            names.WORKER: tuple(dict.fromkeys(at.writer for at in self.moments if at.writer)) or None,
            **_of_outcome(self.outcome),
        }
        failed = self.outcome is not None and self.outcome.status == "failed"
        return Span(
            name=f"debate {started.format.partition('/')[0]}",
            trace=self.trace,
            id=debate_span(self.debate),
            kind="consumer",
            start_us=self.moments[0].began_us,
            end_us=max(self.moments[0].began_us, self.moments[-1].ended_us),
            parent=arrival.span if inside else None,
            attributes={name: value for name, value in about.items() if value is not None},
            error=self.outcome.stop_reason if failed and self.outcome else None,
            links=linked,
            events=tuple(self._events()),
        )

    def _events(self) -> Iterator[Event]:
        """What happened to the debate as a whole."""
        for entry, at in zip(self.entries, self.moments, strict=True):
            match entry:
                case BudgetRefused():
                    yield Event("budget.refused", at.began_us, {names.REASON: entry.limit})
                case DebateStopped():
                    yield Event("debate.stopped", at.began_us, {names.REASON: entry.by})
                case _:
                    pass
        last = self.moments[0].writer
        for at in self.moments:
            if at.writer not in ("", last):
                last = at.writer
                yield Event("debate.claimed", at.began_us, {names.WORKER: last})

    # -- its parts

    def _turns(self, started: DebateStarted) -> Iterator[Span]:
        asked: dict[TurnId, list[tuple[TurnAsked, Moment]]] = {}
        ended: dict[tuple[TurnId, int], tuple[TurnSpoke | AttemptFailed, Moment]] = {}
        over: dict[TurnId, tuple[TurnSpoke | TurnSilent, Moment]] = {}
        for entry, at in zip(self.entries, self.moments, strict=True):
            match entry:
                case TurnAsked():
                    asked.setdefault(entry.turn, []).append((entry, at))
                case TurnSpoke() | AttemptFailed():
                    ended[entry.turn, entry.attempt] = entry, at
                case _:
                    pass
            if isinstance(entry, TurnSpoke | TurnSilent):
                over[entry.turn] = entry, at
        for turn, attempts in asked.items():
            yield self._turn(turn, len(attempts), attempts[0][1], over.get(turn))
            plan = started.seat(seat_of(turn))
            for attempt, at in attempts:
                yield self._attempt(attempt, at, plan.of(attempt.model), ended.get((turn, attempt.attempt)))

    def _turn(
        self, turn: TurnId, attempts: int, first: Moment, over: tuple[TurnSpoke | TurnSilent, Moment] | None
    ) -> Span:
        silent = over[0].reason if over and isinstance(over[0], TurnSilent) else None
        about: dict[str, Value | None] = {
            names.OPERATION: "invoke_agent",
            names.AGENT: seat_of(turn),
            names.TURN: turn,
            names.SEAT: role_of(seat_of(turn)),
            names.ROUND: round_of(turn),
            names.TAKE: take_of(turn),
            names.ATTEMPT: attempts,
            names.ERROR_TYPE: "turnSilent" if silent else None,
        }
        end_us = (over[1] if over else self.moments[-1]).began_us
        return self._span(f"turn {seat_of(turn)}", self._of(turn), first.began_us, end_us, about, error=silent)

    def _attempt(
        self, asked: TurnAsked, at: Moment, plan: SeatPlan, ended: tuple[TurnSpoke | AttemptFailed, Moment] | None
    ) -> Span:
        entry, when = ended or (None, self.moments[-1])
        reason = entry.reason if isinstance(entry, AttemptFailed) else None if entry else "lost"
        about: dict[str, Value | None] = {
            names.OPERATION: "chat",
            names.PROVIDER: names.PROVIDERS.get(plan.wire, plan.provider),
            names.REQUEST_MODEL: plan.model_name,
            names.OUTPUT_TYPE: "json",
            names.MODEL: asked.model,
            names.TURN: asked.turn,
            names.ATTEMPT: asked.attempt,
            names.HELD: asked.held / MICRO,
            names.WORKER: at.writer or None,
            names.ERROR_TYPE: reason,
        }
        if entry:
            about |= {names.RESPONSE_MODEL: entry.served_model, names.RESPONSE_ID: entry.request_id}
            about |= _of_charge(entry.charge)
            about[names.OUTPUT_MESSAGES] = self._said(entry)
        id_ = attempt_span(self.debate, asked.turn, asked.attempt)
        name = f"chat {plan.model_name}"
        return self._span(name, id_, at.ended_us, when.began_us, about, parent=self._of(asked.turn), error=reason)

    def _message(self, role: str, text: str | None) -> str | None:
        """A text as the conventions have messages, in JSON; ``None`` where spans have no words."""
        if self.words is None or text is None:
            return None
        return _as_message(role, self.words(text))

    def _said(self, entry: TurnSpoke | AttemptFailed) -> str | None:
        """What a model said. The words are let in before they become JSON, whose escapes hide from a pattern where a
        number begins."""
        if self.words is None:
            return None
        if isinstance(entry, AttemptFailed):
            return self._message("assistant", None if entry.said is None else _unescaped(entry.said))
        reply = _each_text(msgspec.to_builtins(entry.reply), self.words)
        return _as_message("assistant", msgspec.json.encode(reply).decode())

    def _checks(self) -> Iterator[Span]:
        """A check begins where what came before it was there: at its record, or as it happened if it waited too."""
        before = self.moments[0]
        for n, (entry, at) in enumerate(zip(self.entries, self.moments, strict=True)):
            if isinstance(entry, CheckFound):
                since = before.began_us if before.recorded == at.recorded else before.ended_us
                about: dict[str, Value | None] = {names.CHECK: entry.check, names.ENGINE: entry.engine, names.RECORD: n}
                name = f"check {entry.check.partition(':')[0]}"
                yield self._span(name, self._of("check", str(n)), min(since, at.began_us), at.began_us, about)
            before = at

    def _appends(self) -> Iterator[Span]:
        """Records that one process wrote at one time were written together."""
        numbered = enumerate(self.moments)
        for _, group in groupby(numbered, key=lambda each: (each[1].recorded, each[1].writer, each[1].stored_us)):
            written = list(group)
            (first, _), (last, at) = written[0], written[-1]
            about: dict[str, Value | None] = {
                names.RECORD: first,
                names.RECORDS: last - first + 1,
                names.WORKER: at.writer or None,
            }
            start_us = max(each.began_us for _, each in written)
            yield self._span("append", self._of("append", str(first)), start_us, at.ended_us, about)

    def _of(self, *what: str) -> str:
        return span_id(self.debate, *what)


def _as_message(role: str, content: str) -> str:
    return msgspec.json.encode([{"role": role, "parts": [{"type": "text", "content": content}]}]).decode()


def _each_text(found: Any, words: Callable[[str], str]) -> Any:
    """A reply of plain values with each of its texts as a span may have it."""
    match found:
        case str():
            return words(found)
        case list() | tuple():
            return [_each_text(each, words) for each in found]
        case dict():
            return {name: _each_text(each, words) for name, each in found.items()}
        case _:
            return found


def _unescaped(text: str) -> str:
    """A text that no one could read, with what it may have escaped as JSON does."""
    return _ESCAPED.sub(lambda found: _character(found[1], found[2]), text)


def _character(digits: str | None, letter: str) -> str:
    if digits is None:
        return _LETTERS.get(letter, letter)
    code = int(digits, 16)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)  # half of a pair is no character of UTF-8


def _of_outcome(outcome: Outcome | None) -> dict[str, Value | None]:
    if outcome is None:
        return {}
    return {
        names.STATUS: outcome.status,
        names.STOP_REASON: outcome.stop_reason,
        names.CONFIDENCE: outcome.confidence_level,
        names.HUMAN_REVIEW: outcome.human_review.required,
        names.FLAGS: outcome.flags or None,
        names.ERROR_TYPE: outcome.stop_reason if outcome.status == "failed" else None,
    }


def _of_charge(charge: Charge) -> dict[str, Value | None]:
    """Tokens as the conventions count them: those of the input include what a cache had."""
    if charge.basis == "none":
        return {names.CHARGED: 0.0}
    read, written = charge.cached_input_tokens, charge.cache_write_tokens + charge.cache_write_1h_tokens
    return {
        names.INPUT_TOKENS: charge.input_tokens + read + written,
        names.OUTPUT_TOKENS: charge.output_tokens + charge.reasoning_tokens,
        names.CACHE_READ_TOKENS: read or None,
        names.CACHE_WRITE_TOKENS: written or None,
        names.CHARGED: charge.amount / MICRO,
    }
