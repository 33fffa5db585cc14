"""The common part of all adapters: a body that decodes to its request, one HTTP request, one typed result.

An adapter's own module defines three things: how a request is encoded and decoded, how its answers are read, and where
they have the usage. All decisions on money, secrets and retries are here and in `failures`, once.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from service.errors import PromptMismatch, SettingsError
from service.policy import ProviderSetting
from service.prompts.request import Message, Request, WireTexts
from service.providers import bounded_text, failures, wire
from service.providers.circuit_breaker import CircuitBreaker
from service.providers.credentials import Credentials
from service.providers.failures import ErrorBody, ProviderFailure
from service.providers.wire import Ladder, Mode, Schema
from service.running.provider_port import Answer, CallFailed, FailureReason, Provider

if TYPE_CHECKING:
    from service.providers.transport import HttpReply, Transport

FRAMES_MAX = 64
"""How many frames a vendor keeps; then all are forgotten and read again."""
_members = msgspec.json.Decoder(dict[str, Raw])
_encoder = msgspec.json.Encoder()


class Written(Struct, frozen=True):
    """A body, read back: its request, as far as the wire keeps it and without the reply schema, the mode in which that
    travels, and its own bytes."""

    request: Request
    mode: Mode
    schema: Raw


class Frame(NamedTuple):
    """The bytes before and behind the data of a body, and what was read in them."""

    before: bytes
    behind: bytes
    house: Message
    seat: Message
    schema: Raw


class WireReply(Struct, frozen=True):
    """The text of a response. ``reason`` is set if it is no reply: it was cut, refused, or has another shape."""

    text: str
    reason: FailureReason | None = None
    why: str = ""
    retry: bool = True


class Vendor(Provider):
    """A provider behind HTTP. Each subclass implements one wire."""

    path: ClassVar[str]
    auth: ClassVar[str]
    modes: ClassVar[tuple[Mode, ...]]
    """The modes that a setting may name; ``auto`` begins with the first and steps down along `steps`."""
    steps: ClassVar[tuple[Mode, ...]]
    body: ClassVar[type[Struct]]
    """The form of a body, as far as its model's parameters do not make it."""
    own: ClassVar[frozenset[str]]
    """The members of a body that are no parameters."""
    reply_in: ClassVar[str]
    """The member of a response that holds the reply, or the part of it that came before an error."""
    headers: ClassVar[Mapping[str, str]] = {}
    marks: ClassVar[bool] = False
    """Whether a body says what the vendor's cache should keep."""

    def __init__(self, setting: ProviderSetting, transport: Transport, credentials: Credentials) -> None:
        self._setting = setting
        self._transport = transport
        self._credentials = credentials
        self._ladder = Ladder(self.steps if setting.structured == "auto" else (setting.structured,))
        self._breaker = CircuitBreaker(setting.breaker_failures, setting.breaker_pause_s, setting.call_timeout_s)
        self._held: dict[str, float] = {}
        self._body: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self.body)
        self._data: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[self._part])  # type: ignore[name-defined]
        self._frames: list[Frame] = []
        self._parameters: dict[str, dict[str, Any]] = {}
        self._clock: Callable[[], float] = time.monotonic

    @classmethod
    def connect(cls, name: str, setting: ProviderSetting, environment: Mapping[str, str]) -> Self:
        """The provider of a setting, with its secrets; raises `SettingsError` naming the key that cannot be used."""
        # The libraries for HTTP take a fifth of a second to import, and most commands call no vendor.
        from service.providers.transport import Transport, address

        if setting.structured != "auto" and setting.structured not in cls.modes:
            raise SettingsError(
                f"providers.{name}.structured: expected one of auto, {', '.join(cls.modes)}, found {setting.structured}"
            )
        url = address(name, setting, cls.path)
        credentials = Credentials.read(name, setting.key, setting.auth or cls.auth, setting.secret_headers, environment)
        del environment  # a traceback can show local variables
        if isinstance(credentials, SettingsError):
            raise credentials
        headers = {**cls.headers, **{header.lower(): value for header, value in setting.headers.items()}}
        transport = Transport(
            url,
            headers,
            credentials,
            connect_s=setting.connect_timeout_s,
            call_s=setting.call_timeout_s,
            proxy=setting.proxy,
        )
        return cls(setting, transport, credentials)

    # -- out

    @abstractmethod
    def _write(self, request: Request, mode: Mode, schema: Schema) -> bytes:
        """The body of a request with this reply schema; raises `SettingsError` for a forbidden parameter."""

    @abstractmethod
    def _take_apart(self, body: Any, parameters: dict[str, Any]) -> Written:
        """The request behind a body's own members and these parameters; raises `ValueError`, `LookupError` or
        `TypeError` where it is none."""

    @property
    @abstractmethod
    def _part(self) -> type[Struct]:
        """The form of a message of data in a body."""

    @abstractmethod
    def _parts(self, data: Sequence[Message], keeps_case: bool) -> list[Any]:
        """Messages of data in that form; in a body they stand one behind the other, with the seat's behind them."""

    @abstractmethod
    def _data_in(self, parts: Sequence[Any]) -> tuple[list[Message], bool]:
        """The messages of data behind such parts, and whether the case is marked for the vendor's cache."""

    def encode(self, request: Request) -> bytes:
        """The body that goes on the wire; raises `SettingsError` for a forbidden parameter."""
        return self._write(request, self._ladder.mode(request.model_name), request.reply_schema)

    def decode_request(self, body: bytes) -> WireTexts:
        """The texts in a body; raises `PromptMismatch` for a body that no adapter here has written.

        The body is decoded to a request, and encoding that request must give the same bytes. So any additional
        message, tool, field or blank is detected, but for those within the reply schema: its bytes are returned. Of a
        body that differs in its data alone from one that was read so before, the data alone is.
        """
        if found := self._within_a_frame(body):
            return found
        written = self._written(body)
        self._keep_frame(body, written)
        request = written.request
        return WireTexts(request.messages, written.schema, request.keeps_case if self.marks else None)

    def _within_a_frame(self, body: bytes) -> WireTexts | None:
        """The same for a body that differs in its data alone from one that was read before; ``None`` for others.

        Most of a body is ours: byte for byte it is what it was, so it says what it said. The data is decoded, and
        encoding it must give the same bytes.
        """
        for before, behind, house, seat, schema in self._frames:
            if not (body.startswith(before) and body.endswith(behind)):
                continue
            inside = body[len(before) : -len(behind)]  # empty where the two overlap
            listed = b"[%b]" % inside[:-1]
            try:
                data, keeps_case = self._data_in(self._data.decode(listed))
            except (ValueError, RecursionError):  # msgspec's are ValueErrors
                return None
            if not inside.endswith(b",") or _encoder.encode(self._parts(wire.speaking(data), keeps_case)) != listed:
                return None
            return WireTexts((house, *data, seat), schema, keeps_case if self.marks else None)
        return None

    def _keep_frame(self, body: bytes, written: Written) -> None:
        """Keep what stands around the data of a body, if its schema does not go as data too."""
        request, mode, schema = written.request, written.mode, written.schema
        house, *data, seat = request.messages
        if not data or mode not in ("json_schema", "tool"):
            return
        inside = _encoder.encode(self._parts(data, request.keeps_case))[1:-1] + b","
        before, found, behind = body.partition(inside)
        if not found or self._write(replace(request, messages=(house, seat)), mode, schema) != before + behind:
            return
        if len(self._frames) >= FRAMES_MAX:
            self._frames.clear()
        # A `Raw` that was decoded holds the whole body, with the documents in it; its copy holds the schema alone.
        self._frames.append(Frame(before, behind, house, seat, schema.copy()))

    def _written(self, body: bytes) -> Written:
        """A body, read back: with the parameters of its model's last body, else with those that it is found to have.

        Whichever they are, the request is the one behind the body only if it is written with the same bytes.
        """
        try:
            members = self._body.decode(body)
            written = self._take_apart(members, self._parameters.get(members.model, {}))
            if self._write(written.request, written.mode, written.schema) == body:
                return written
            others = _members.decode(body)
            parameters = {name: wire.decode(others[name]) for name in others if name not in self.own}
            written = self._take_apart(members, parameters)
            same = self._write(written.request, written.mode, written.schema) == body
        except (ValueError, LookupError, TypeError, RecursionError, SettingsError):  # msgspec's are ValueErrors
            raise wire.mismatch() from None
        if not same:
            raise wire.mismatch()
        self._parameters[members.model] = written.request.parameters  # one a model: all such bodies are ours
        return written

    # -- in

    async def send(self, body: bytes) -> Answer:
        """Send the body and wait for the answer; raises `CallFailed` and nothing else."""
        era = self._breaker.begin(self._clock())
        try:
            outcome = await self._attempt(body)
        except BaseException:  # a cancellation, most of the time
            self._breaker.ended(era)
            raise
        self._learn(outcome, era, body)
        if isinstance(outcome, CallFailed):
            raise outcome
        return outcome

    async def _attempt(self, body: bytes) -> Answer | CallFailed:
        """One request. A failure is returned and not raised here, so that no frame of its traceback holds the
        response: servers repeat keys, and a traceback may show variables."""
        reply = await self._transport.post(body)
        return reply if isinstance(reply, CallFailed) else self._read(reply, body)

    def backoff_s(self, model: str) -> float:
        """Seconds without calls to the vendor, or to that model of it.

        After the vendor's backoff, one caller at a time gets 0 (`CircuitBreaker`). A task is one caller for all its
        turns.
        """
        now = self._clock()
        held_s = self._held.get(model, now) - now
        return held_s if held_s > 0 else self._breaker.open_s(now, _task() if self._breaker.is_open else 0)

    @property
    def circuit_open(self) -> bool:
        """Whether the vendor's circuit is open; the call changes no state."""
        return self._breaker.is_open

    async def close(self) -> None:
        """Close all connections; no request is sent after this."""
        await self._transport.close()

    def _learn(self, outcome: Answer | CallFailed, era: int, body: bytes) -> None:
        """Update the breakers with an outcome. A response closes the vendor's breaker, unless another server, such as
        a proxy, may have sent it. Rate limits are per model, so a rate limit makes only its model wait."""
        now = self._clock()
        match outcome:
            case ProviderFailure():
                self._breaker.failed(now, era)
            case CallFailed(reason="providerFault", retry=True):
                self._breaker.ended(era)
            case _:
                self._breaker.succeeded()
        if isinstance(outcome, CallFailed) and outcome.retry_after_s:
            until = now + outcome.retry_after_s
            if outcome.reason == "rateLimit":
                model = msgspec.json.decode(body, type=_Addressed).model
                self._held[model] = max(until, self._held.get(model, until))
            else:
                self._breaker.open_for(until)

    @abstractmethod
    def _said(self, decoded: dict[str, Any]) -> WireReply:
        """The text of a response, or why it has none."""

    @abstractmethod
    def _reported(self, decoded: dict[str, Any]) -> dict[str, Any] | None:
        """The usage in a response, unchanged; ``None`` for one that is not kept."""

    def _inner_error(self, decoded: dict[str, Any]) -> Any:
        """The error in a response with a status of success, or a falsy value."""
        return decoded.get("error")

    def _read(self, reply: HttpReply, body: bytes) -> Answer | CallFailed:
        """The answer in a response, or the failure in it."""
        decoded = bounded_text.decode(reply.body)
        echoed = self._echoed(reply.body, decoded)
        if not 200 <= reply.status < 300:
            return self._refused(failures.trouble(reply.status, decoded), reply, body, decoded, echoed)
        if echoed or reply.unread or not isinstance(decoded, dict):
            why = reply.unread or ("it repeats the key, and is not kept" if echoed else "it is no JSON object")
            return CallFailed("providerFault", f"the answer cannot be used: {why}")
        if self._inner_error(decoded):
            found = failures.trouble(reply.status, {"error": self._inner_error(decoded)})
            return self._refused(found, reply, body, decoded, echoed)
        return self._answer(reply, decoded)

    def _echoed(self, body: bytes, decoded: Any) -> bool:
        """Whether a response repeats a secret, as it was sent or in one of its strings."""
        if self._credentials.stand_in(body):
            return True
        # Most bodies have a secret in no string if they have none as a whole, which takes a part of the time to see.
        plain = bounded_text.unescaped(body)
        if plain is not None and not self._credentials.stand_in(plain):
            return False
        return self._credentials.stand_in(bounded_text.texts(decoded))

    def _answer(self, reply: HttpReply, decoded: dict[str, Any]) -> Answer | CallFailed:
        said = self._said(decoded)
        answer = self._bring(reply, decoded, said.text)
        if not bounded_text.is_json(reply.headers.get("content-type")):
            return CallFailed("providerFault", "the answer does not say that it is JSON", answer=answer)
        if said.reason is not None:
            return CallFailed(said.reason, said.why, retry=said.retry, answer=answer)
        return answer

    def _bring(self, reply: HttpReply, decoded: dict[str, Any], text: str) -> Answer:
        named = (reply.headers.get("x-request-id"), reply.headers.get("request-id"), decoded.get("id"))
        ids = (bounded_text.identifier(name) for name in named)
        return Answer(
            text=text,
            raw_usage=self._reported(decoded),
            served_model=bounded_text.identifier(decoded.get("model")),
            request_id=next((found for found in ids if found and not self._shows(found)), None),
            fingerprint=bounded_text.identifier(decoded.get("system_fingerprint")),
        )

    def _shows(self, text: str) -> bool:
        return self._credentials.stand_in(text.encode())

    def _partial(self, reply: HttpReply, decoded: Any, echoed: bool) -> Answer | None:
        """The part of an answer that an error still brings, if it reports a usage."""
        if echoed or not isinstance(decoded, dict) or self._reported(decoded) is None:
            return None
        return self._bring(reply, decoded, "")

    def _refused(self, found: ErrorBody, reply: HttpReply, body: bytes, decoded: Any, echoed: bool) -> CallFailed:
        """The typed error for a vendor's error. If it reports tokens or holds a part of a reply, the vendor has begun
        the call, whatever the code is."""
        verdict, answer = failures.verdict(found), self._partial(reply, decoded, echoed)
        retry, advice = verdict.retry, verdict.advice
        if verdict.reason == "unsupported":
            retry, advice = self._step_down(body, advice)
        elif verdict.reason == "refusedKey" and self._credentials.reread() != reply.keys:
            retry, advice = True, "it refused the key, and the key's file holds another one now"
        waits = retry and verdict.reason in ("rateLimit", "overload")
        shown = str(found.status or reply.status) if echoed else found.shown
        error = ProviderFailure if verdict.down else CallFailed
        return error(
            verdict.reason,
            f"the provider answered {shown}: {advice}",
            retry=retry,
            billable=verdict.billable or (isinstance(decoded, dict) and self._worked_on(decoded)),
            answer=answer,
            retry_after_s=bounded_text.wait_s(reply.headers, datetime.now(UTC)) if waits else None,
            unavailable=verdict.down or waits,
        )

    def _worked_on(self, decoded: dict[str, Any]) -> bool:
        """Whether an error has a number of tokens, believable or not, or a part of the interrupted reply.

        Gateways report zeros for a call that was never begun.
        """
        found = (decoded.get("usage"), self._reported(decoded))
        return bool(decoded.get(self.reply_in)) or any(map(bounded_text.counts, found))

    def _step_down(self, body: bytes, advice: str) -> tuple[bool, str]:
        """Ask this model in a lower mode from now on; returns whether there is one."""
        try:
            written = self._written(body)
        except PromptMismatch:
            return False, advice
        model, mode = written.request.model_name, written.mode
        if self._ladder.step_down(model, mode):
            return True, f"{advice} ({mode}); it goes as {self._ladder.mode(model)} from now on"
        return False, f"{advice} ({mode}), and no other is left; see the provider's setting structured"


class _Addressed(Struct):
    """The model's name in a body on the wire; every vendor has it at the top level."""

    model: str


def _task() -> int:
    """The id of the running task; 0 for none."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        task = None
    return id(task) if task else 0
