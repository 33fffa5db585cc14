"""Replies from a file, in the place of a model: for tests, demonstrations and the replay of recorded debates.

    {
      "turns": {
        "0.framing.1":  [{"reply": {"thesis": "...", "scope": "...", "criteria": [], "keyDocuments": []}}],
        "1.critic.1":   [{"fail": "timeout", "usage": {"input": 900, "output": 0}}, {"reply": {...}}],
        "1.critic.2":   [{"text": "not JSON at all"}],
        "1.proposer.buy.1": [{"reply": {...}, "usage": null}],
        "moderator":    [{"reply": {...}}]
      },
      "otherwise": "offline"
    }

A key is a turn's id, or a seat's name for every turn of that seat that has no key of its own. Each attempt plays one
step. The next step follows after a failure, and after an unusable reply, if the turn is then asked in another way (a
repair, a fallback); the last step stays. A step is exactly one of

    reply   an object, sent as JSON            text    raw text, sent unchanged
    fail    a reason of `service.running.provider_port`, with ``detail``, ``retry`` and ``billable`` if they matter

and may carry ``usage`` (counted by the rule ``bytes/4`` when left out, none at all when null), ``servedModel`` and
``latencyS``. Turns without a step go to the offline models when ``otherwise`` says so, and fail as ``scriptExhausted``
when it does not.

No wire body names its turn, so the turn follows from the contents: the round from the statements and evaluations, the
take from the request to try again, the position from the block of that name. A request to repair shows that the first
step without a failure has been played. So a debate that is claimed again after a crash gets the same replies; only
failures already played are forgotten, and played again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from service.debate.replies import Reply
from service.debate.turns import TurnId, is_turn, turn_id
from service.errors import SettingsError
from service.money import Usage, bytes_over_four
from service.prompts.request import Request, WireTexts, encode, text_of, wire_texts
from service.running.provider_port import Answer, CallFailed, FailureReason, Provider
from service.simulated.provider import answer
from service.simulated.request_reader import read

FINGERPRINT = "scripted/1"
_SEAT = re.compile(r"[a-z][a-z0-9-]*")
_decoder = msgspec.json.Decoder(Request)


class ScriptedReply(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """The step of one attempt: exactly one of ``reply``, ``text`` and ``fail``."""

    reply: dict[str, Any] | None = None
    text: str | None = None
    fail: FailureReason | None = None
    detail: str | None = None
    retry: bool = True
    billable: bool = True
    usage: Usage | UnsetType | None = UNSET
    served_model: str | None = None
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        given = [name for name in ("reply", "text", "fail") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a step is exactly one of reply, text and fail, found {given or 'none of them'}")
        if self.latency_s < 0:
            raise ValueError(f"latencyS must not be negative, found {self.latency_s}")


class ReplyScript(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """The steps by turn id or seat, and the provider of turns without a step."""

    turns: dict[str, tuple[ScriptedReply, ...]]
    otherwise: Literal["offline"] | None = None

    def __post_init__(self) -> None:
        for key, steps in self.turns.items():
            if not (is_turn(key) or _SEAT.fullmatch(key)):
                raise ValueError(f"a key is a turn id such as 1.critic.2 or a seat such as critic, found {key!r}")
            if not steps:
                raise ValueError(f"{key!r} must have at least one step")


_script = msgspec.json.Decoder(ReplyScript)


def parse(raw: bytes, name: str = "script") -> ReplyScript:
    """A script from its JSON; raises `SettingsError` with the fault and its place."""
    try:
        return _script.decode(raw)
    except msgspec.DecodeError as error:  # ValidationError is one of them
        raise SettingsError(
            f"{name} is no script that can be played: {error}; see service/simulated/scripted.py"
        ) from error


def load(path: Path) -> ReplyScript:
    """A script from a file; raises `SettingsError` if it cannot be read or played."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"expected a script at {path}, found none that can be read ({error.strerror})") from error
    return parse(raw, path.name)


def recorded(said: Mapping[str, Reply]) -> ReplyScript:
    """The script that plays recorded replies: turn id -> reply."""
    turns: dict[str, tuple[ScriptedReply, ...]] = {}
    for turn, reply in said.items():
        body = msgspec.to_builtins(reply)
        body.pop("seat", None)
        turns[turn] = (ScriptedReply(reply=body),)
    return ReplyScript(turns=turns)


class _Played(NamedTuple):
    """The last step of a turn, and the hash of the body that asked for it."""

    step: int
    asked: bytes


class ScriptedProvider(Provider):
    """Plays a script behind the port of a vendor; every answer comes after ``latency_s`` seconds."""

    def __init__(self, script: ReplyScript, latency_s: float = 0.0) -> None:
        self._script = script
        self._latency_s = latency_s
        self._played: dict[tuple[bytes, str], _Played] = {}

    def encode(self, request: Request) -> bytes:
        """The wire body: the request itself as JSON."""
        return encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        """The texts in a body."""
        return wire_texts(body)

    async def send(self, body: bytes) -> Answer:
        """Play the step that is due for a body; raises `CallFailed` if the script says so or has no step."""
        request = _decoder.decode(body)
        turn = turn_of(request)
        step = self._due(turn, request, body)
        wait = self._latency_s + (step.latency_s if step else 0.0)
        if wait:
            await asyncio.sleep(wait)
        if step is None:
            return self._without(turn, body)
        if step.fail is not None:
            raise _failure(step, step.fail, turn)
        return _played(step, request, body)

    def _due(self, turn: str, request: Request, body: bytes) -> ScriptedReply | None:
        steps = self._script.turns.get(turn) or self._script.turns.get(request.seat)
        if not steps or len(steps) == 1:
            return steps[0] if steps else None
        place, asked = (_case(request), turn), sha256(body).digest()
        if before := self._played.get(place):
            n = before.step + (steps[before.step].fail is not None or before.asked != asked)
        else:
            n = _first_unusable(steps) + 1 if read(request).repair else 0
        n = min(n, len(steps) - 1)
        self._played[place] = _Played(n, asked)
        return steps[n]

    def _without(self, turn: str, body: bytes) -> Answer:
        if self._script.otherwise == "offline":
            return answer(body)
        raise CallFailed(
            "scriptExhausted",
            f'the script has no step for turn {turn}; add one, or "otherwise": "offline"',
            retry=False,
            billable=False,
        )


def _case(request: Request) -> bytes:
    """The key of a debate: the case between its fences, whose nonce no two debates share."""
    return sha256(next((m.content for m in request.messages if m.role == "data"), "").encode()).digest()


def _first_unusable(steps: Sequence[ScriptedReply]) -> int:
    """The first step with a reply: a request to repair means that this reply was played and was unusable."""
    return next((n for n, step in enumerate(steps) if step.fail is None), len(steps))


def turn_of(request: Request) -> TurnId:
    """The id of a request's turn, from the request's contents."""
    reading = read(request)
    if request.seat == "framing":
        return turn_id(0, "framing")
    take = 2 if reading.retry or reading.former else 1
    return turn_id(reading.round, request.seat, reading.own_position or "", take=take)


def _failure(step: ScriptedReply, reason: FailureReason, turn: str) -> CallFailed:
    usage = step.usage if isinstance(step.usage, Usage) else None
    detail = step.detail or f"the script fails turn {turn} as {reason}"
    failed_answer = Answer("", _raw(usage)) if usage else None
    return CallFailed(reason, detail, retry=step.retry, billable=step.billable, answer=failed_answer)


def _played(step: ScriptedReply, request: Request, body: bytes) -> Answer:
    text = msgspec.json.encode(step.reply).decode() if step.reply is not None else step.text or ""
    usage = step.usage
    if isinstance(usage, UnsetType):
        usage = Usage(input=bytes_over_four(text_of(request)), output=bytes_over_four(text))
    return Answer(
        text=text,
        raw_usage=_raw(usage),
        served_model=step.served_model or request.model_name,
        request_id=f"scripted-{sha256(body).hexdigest()[:24]}",
        fingerprint=FINGERPRINT,
    )


def _raw(usage: Usage | None) -> dict[str, Any] | None:
    """The usage in the form of the wire: every kind, so that the charge can be computed again from the record."""
    if usage is None:
        return None
    others = {
        "cached_input_tokens": usage.cached_input,
        "cache_write_tokens": usage.cache_write,
        "cache_write_1h_tokens": usage.cache_write_1h,
        "reasoning_tokens": usage.reasoning,
        "service_tier": usage.tier,
    }
    raw = {"input_tokens": usage.input, "output_tokens": usage.output}
    return {**raw, **{name: value for name, value in others.items() if value}}
