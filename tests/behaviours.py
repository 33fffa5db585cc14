"""What an upstream may do with a call: answer as a model, say what it is told, fail, dawdle, or break off at any byte.

A behaviour is anything that makes a `Reply` of a `Call`; those that take ``inner`` change what another one makes. What
was made is billed, also where it is cut off on its way; a refusal is not.

    Model()  Say("{...}", usage=cached)  Body({...})  Status(429, headers={"retry-after": "2"})  Raw(b"...")
    Slow(2, inner)  Cut("headers", inner)  Framed("chunked", inner=...)  Squeezed("gzip", inner)  Echo(Status(401))
    Faults(rate=0.1, seed=1)
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

import msgspec

from service.budget import bytes_over_four
from service.ports import CallFailed
from service.prompts.request import text_of
from service.providers.offline.provider import answer as offline_answer
from service.providers.offline.strategies import MODELS
from tests import vendors
from tests.vendors import JSON, Answered, Heard, NotUnderstood, Shape, Tokens, Wire

Stage = Literal["request", "headers", "body"]
UNTOLD: Any = object()
"""In the place of a usage: the vendor bills and says nothing of it."""


@dataclass(frozen=True)
class Call:
    """One request, as it came. Header names are in lower case; ``n`` counts the calls of both wires from 1."""

    n: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def wire(self) -> Wire | None:
        """Which vendor was asked."""
        return vendors.wire_of(urlsplit(self.target).path)

    @property
    def json(self) -> JSON:
        """The body."""
        told: JSON = json.loads(self.body)
        return told


@dataclass(frozen=True)
class Bill:
    """What one call costs its caller, whether or not the answer arrived. ``told`` is whether the answer says so."""

    n: int
    model: str
    seat: str
    tokens: Tokens
    told: bool = True


@dataclass(frozen=True)
class Reply:
    """What goes over the line. ``cut`` is after how many bytes the connection ends; ``pause_s`` comes before each of
    the ``slices`` that it is sent in."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str | None = "application/json"
    framing: Literal["length", "chunked", "unended", "close", "raw"] = "length"
    declared: int | None = None
    cut: int | None = None
    pause_s: float = 0.0
    slices: int = 1
    bill: Bill | None = None

    @property
    def head(self) -> bytes:
        """Status line and headers."""
        named = {"content-type": self.content_type, **self.headers}
        if self.framing == "length":
            named["content-length"] = str(len(self.body) if self.declared is None else self.declared)
        elif self.framing in ("chunked", "unended"):
            named["transfer-encoding"] = "chunked"
        else:
            named["connection"] = "close"
        lines = [f"HTTP/1.1 {self.status} Told", *(f"{k}: {v}" for k, v in named.items() if v is not None)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    @property
    def line(self) -> bytes:
        """Every byte of it."""
        if self.framing == "raw":
            return self.body
        if self.framing in ("chunked", "unended"):
            pieces = [self.body[at : at + 1000] for at in range(0, len(self.body), 1000)]
            sent = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
            return self.head + sent + (b"0\r\n\r\n" if self.framing == "chunked" else b"")
        return self.head + self.body

    @property
    def closes(self) -> bool:
        """Whether the connection ends with it."""
        return self.cut is not None or self.framing in ("close", "raw", "unended") or self.declared is not None


class Behaviour(Protocol):
    """What an upstream does with a call; `vendors.NotUnderstood` becomes the vendor's 400."""

    def __call__(self, call: Call) -> Reply: ...


Rule = Callable[[Tokens, Heard], tuple[Tokens, Any]]
"""From what was counted (all of it fresh input and output) to what is billed, and what is told of that."""


def plain(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Everything is fresh and told."""
    return counted, vendors.usage(heard.wire, counted)


def cached(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Half of the input came out of the cache, and Anthropic wrote another part into it."""
    half, written = counted.input // 2, counted.input // 5 if heard.wire == "anthropic" else 0
    billed = replace(counted, input=counted.input - half - written, cached_input=half, cache_write=written)
    return billed, vendors.usage(heard.wire, billed)


def reasoned(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Half of what the reply leaves of its allowance was thought."""
    spare = max(0, heard.request.max_output_tokens - counted.output) // 2
    billed = replace(counted, reasoning=spare)
    return billed, vendors.usage(heard.wire, billed)


def untold(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Billed, and not a word of it in the answer."""
    return counted, UNTOLD


def too_much(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """Four times the output that was allowed."""
    billed = replace(counted, output=4 * heard.request.max_output_tokens)
    return billed, vendors.usage(heard.wire, billed)


RULES: Mapping[str, Rule] = {r.__name__: r for r in (plain, cached, reasoned, untold, too_much)}
ALIASES = {"openai": "alder-large", "anthropic": "cedar-large"}
"""Which offline model answers on a wire for a name that none of them has."""


@dataclass(frozen=True)
class Model:
    """The offline models behind the wire: they see what a vendor's model would see."""

    usage: Rule = plain
    shape: Shape | None = None

    def __call__(self, call: Call) -> Reply:
        heard = _heard(call)
        name = heard.request.model_name
        played = name if name in MODELS else ALIASES[heard.wire]
        try:
            text = offline_answer(msgspec.json.encode(msgspec.structs.replace(heard.request, model_name=played))).text
        except CallFailed as failed:
            raise NotUnderstood(f"the offline models cannot answer: {failed.reason}") from failed
        return Say(text, self.usage, self.shape)(call)


@dataclass(frozen=True)
class Say:
    """A given text as the reply; ``usage`` is a rule, or what is told word for word (and then what `plain` bills)."""

    text: str | None
    usage: Rule | Any = plain
    shape: Shape | None = None
    finish: str | None = None
    refusal: str | None = None
    content_type: str | None = "application/json"
    changes: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, call: Call) -> Reply:
        heard = _heard(call)
        request = heard.request
        counted = Tokens(bytes_over_four(text_of(request)), bytes_over_four(self.text or self.refusal or ""))
        billed, told = self.usage(counted, heard) if callable(self.usage) else (counted, self.usage)
        said = Answered(
            self.text,
            usage=told,
            tell_usage=told is not UNTOLD,
            shape=self.shape or ("tool" if heard.structured == "tool" else "usual"),
            finish=self.finish,
            refusal=self.refusal,
            model=f"{request.model_name}-served",
            id=f"{'chatcmpl' if heard.wire == 'openai' else 'msg'}-{call.n}",
        )
        body = {**vendors.answer(heard.wire, said, heard.tool), **self.changes}
        bill = Bill(call.n, request.model_name, request.seat, billed, told is not UNTOLD)
        return Reply(json.dumps(body).encode(), content_type=self.content_type, headers=_id(call), bill=bill)


@dataclass(frozen=True)
class Body:
    """A given body with status 200: JSON, or bytes as they are. It is billed as if it were a good answer to come."""

    content: Any
    content_type: str | None = "application/json"
    bill: Tokens | None = None

    def __call__(self, call: Call) -> Reply:
        raw = self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()
        bill = None
        if self.bill:
            bill = Bill(call.n, _heard(call).request.model_name, _heard(call).request.seat, self.bill)
        return Reply(raw, content_type=self.content_type, headers=_id(call), bill=bill)


@dataclass(frozen=True)
class Status:
    """An answer with a status: the vendor's own error unless a body is given. ``kind`` and ``code`` go into that."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    code: str | None = None
    message: str = "no"
    content_type: str | None = "application/json"

    def __call__(self, call: Call) -> Reply:
        told = self.body
        if told is None:
            told = vendors.error(call.wire or "openai", self.status, self.kind, self.message, self.code)
        raw = told if isinstance(told, bytes) else json.dumps(told).encode()
        return Reply(raw, self.status, {**_id(call), **self.headers}, self.content_type)


@dataclass(frozen=True)
class Echo:
    """An error that repeats whatever the caller sent, its key with it, in the body and in the headers."""

    inner: Behaviour

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        seen = " ".join(call.headers.values())
        told = json.dumps({"seen": seen, "headers": dict(call.headers)})
        body = made.body.replace(b'"no"', json.dumps(told).encode())
        named = {f"x-echo-{name}": value for name, value in call.headers.items()}
        return replace(made, body=body, headers={**made.headers, **named})


@dataclass(frozen=True)
class Slow:
    """Wait before the answer, or (``slices``) before each piece of it."""

    s: float
    inner: Behaviour = field(default_factory=Model)
    slices: int = 1

    def __call__(self, call: Call) -> Reply:
        return replace(self.inner(call), pause_s=self.s, slices=self.slices)


@dataclass(frozen=True)
class Cut:
    """End the connection after so many bytes of the answer, or at a stage of the call.

    ``request`` comes before the body of the request is read, ``headers`` is in their middle, ``body`` in its.
    """

    after: int | Stage = 0
    inner: Behaviour = field(default_factory=Model)

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        head = len(made.head)
        at = {"request": 0, "headers": head // 2, "body": head + len(made.body) // 2}
        return replace(made, cut=at[self.after] if isinstance(self.after, str) else self.after)


@dataclass(frozen=True)
class Framed:
    """Another way to send the same body; ``declared`` is a Content-Length that is not its own, counted from it."""

    framing: Literal["chunked", "unended", "close"] | None = None
    declared: int | None = None
    inner: Behaviour = field(default_factory=Model)

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        length = None if self.declared is None else len(made.body) + self.declared
        return replace(made, framing=self.framing or made.framing, declared=length)


@dataclass(frozen=True)
class Squeezed:
    """The same with a content encoding."""

    encoding: Literal["gzip", "deflate"] = "gzip"
    inner: Behaviour = field(default_factory=Model)

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        squeeze = gzip.compress if self.encoding == "gzip" else zlib.compress
        return replace(made, body=squeeze(made.body), headers={**made.headers, "content-encoding": self.encoding})


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes, and the end."""

    sent: bytes

    def __call__(self, call: Call) -> Reply:
        return Reply(self.sent, framing="raw")


@dataclass(frozen=True)
class Faults:
    """A share of all calls fails in the ways that vendors fail; which ones, the seed and the call's number say."""

    rate: float
    seed: int = 0
    inner: Behaviour = field(default_factory=Model)

    def __call__(self, call: Call) -> Reply:
        draw = random.Random(f"{self.seed}:{call.n}")
        if draw.random() >= self.rate:
            return self.inner(call)
        return draw.choice(
            (
                Status(429, headers={"retry-after-ms": "20"}),
                Status(529, kind="overloaded_error"),
                Status(500),
                Cut("headers", self.inner),
                Cut("body", self.inner),
                Cut(0, self.inner),
                Body(b"<html>busy</html>", "text/html"),
                _Silent(self.inner),
            )
        )(call)


@dataclass(frozen=True)
class _Silent:
    """A good answer that does not tell its usage."""

    inner: Behaviour

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        told = json.loads(made.body)
        told.pop("usage", None)
        return replace(made, body=json.dumps(told).encode(), bill=made.bill and replace(made.bill, told=False))


def _heard(call: Call) -> Heard:
    if call.wire is None:
        raise NotUnderstood(f"nothing is served at {call.target}")
    return vendors.read(call.wire, call.body)


def _id(call: Call) -> dict[str, str]:
    return {"x-request-id" if call.wire == "openai" else "request-id": f"req-{call.n}"}
