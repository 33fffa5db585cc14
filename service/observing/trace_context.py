"""The trace that a request takes part in: W3C Trace Context, Level 1 and what Level 2 adds to it.

    traceparent    given once and well formed: the request takes part in that trace
                   given otherwise, or not at all: a new trace begins, with a new id
    tracestate     taken with a good traceparent alone, and then whole or not at all
    traceresponse  every answer: the trace, and the id of this request within it

What a caller sends is data of a stranger. Ids are lower-case hexadecimal of a fixed length, and a list that is longer
than `STATE_MEMBERS` or `STATE_CHARACTERS` is left. Nothing here decides a limit or a right. A caller's flag decides
whether the spans of its request are sent to our own collector, and that is all.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar

from msgspec import Struct

from service.observing import tracing

STATE_MEMBERS = 32
"""The most members of a list that is taken (3.3.1.1)."""
STATE_CHARACTERS = 512
"""The longest list that is taken. The specification asks for so many at least (3.3.1.5)."""
SAMPLED, RANDOM = 0x01, 0x02
"""Flags: the trace is recorded; its id was drawn at random (Level 2). The others are set to 0."""

Draw = Callable[[int], str]
"""So many random octets, in hexadecimal."""

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_KEY = re.compile(r"[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13}")
"""A key as Level 1 writes it, with a digit at its beginning as in Level 2. Another ``@`` than a tenant's is refused."""
_VALUE = re.compile(r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")
_OWS = " \t"
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16


OUTGOING: ContextVar[str] = ContextVar("traceparent", default="")
"""The ``traceparent`` of calls that are made here; empty where they are no part of a trace."""


def header(trace: str, span: str, *, sampled: bool) -> str:
    """The value of a ``traceparent`` header."""
    return f"00-{trace}-{span}-{SAMPLED if sampled else 0:02x}"


class Trace(Struct, frozen=True, kw_only=True):
    """The trace of one request: ``span`` is this service's part of it, ``parent`` the caller's.

    Without a ``parent`` the trace began here. ``state`` is what a caller's tracing systems passed along.
    """

    id: str
    span: str
    flags: int = 0
    parent: str | None = None
    state: str = ""

    @property
    def given(self) -> str | None:
        """The id of the trace that the caller sent; ``None`` where it sent none."""
        return self.id if self.parent is not None else None

    @property
    def sampled(self) -> bool:
        """Whether the trace is recorded: the caller says so, or its id drew it."""
        return bool(self.flags & SAMPLED)

    @property
    def header(self) -> bytes:
        """The value of ``traceresponse``, and of a ``traceparent`` of a request that follows from this one."""
        return f"00-{self.id}-{self.span}-{self.flags:02x}".encode()


def trace_of_headers(headers: Iterable[tuple[bytes, bytes]], draw: Draw = secrets.token_hex) -> Trace:
    """The trace that the headers of a request name, or a new one; names are in lower case, as ASGI has them."""
    parents, states = list[str](), list[str]()
    for name, value in headers:
        if name == b"traceparent":
            parents.append(value.decode("latin-1"))
        elif name == b"tracestate":
            states.append(value.decode("latin-1"))
    return continued(parents, states, draw) or begun(draw)


def begun(draw: Draw = secrets.token_hex) -> Trace:
    """A new trace, which is recorded if its id draws that."""
    id_ = _drawn(draw, 16, _NO_TRACE)
    flags = RANDOM | (SAMPLED if tracing.current().drawn(id_) else 0)
    return Trace(id=id_, span=_drawn(draw, 8, _NO_SPAN), flags=flags)


def continued(parents: Sequence[str], states: Sequence[str] = (), draw: Draw = secrets.token_hex) -> Trace | None:
    """The trace of a request with these headers, under a new span; ``None`` where it has to begin anew (3.2.2)."""
    if len(parents) != 1 or (found := _PARENT.fullmatch(parents[0].strip(_OWS))) is None:
        return None
    version, id_, parent, flags, more = found.groups()
    if version == "ff" or id_ == _NO_TRACE or parent == _NO_SPAN:
        return None
    if version == "00" and more is not None:  # a later version may have more parts, after a dash (3.2.4)
        return None
    taken = int(flags, 16) & (SAMPLED | RANDOM)
    return Trace(id=id_, span=_drawn(draw, 8, _NO_SPAN), flags=taken, parent=parent, state=tracestate(states))


def tracestate(states: Sequence[str]) -> str:
    """The list of all these headers as one; empty where it is malformed or longer than is taken (3.3)."""
    members, keys = list[str](), set[str]()
    for part in ",".join(states).split(","):
        member = part.strip(_OWS)
        if not member:
            continue
        key, sign, value = member.partition("=")
        if not sign or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value) or key in keys:
            return ""
        keys.add(key)
        members.append(member)
    whole = ",".join(members)
    return whole if len(members) <= STATE_MEMBERS and len(whole) <= STATE_CHARACTERS else ""


def _drawn(draw: Draw, octets: int, nothing: str) -> str:
    """A random id that is not all zeros, which stand for none."""
    while (found := draw(octets)) == nothing:
        continue
    return found
