"""A span: one thing that a process or a debate did, from when to when, and in which trace.

Ids are drawn from names by SHA-256. So a process that never saw a span knows its id, and a debate that two workers ran
is one trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

from msgspec import Struct

Value = str | bool | int | float | tuple[str, ...]
"""What an attribute holds."""
Kind = Literal["internal", "server", "client", "producer", "consumer"]

_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16


class Event(Struct, frozen=True):
    """Something that happened within a span, in microseconds since 1970."""

    name: str
    at_us: int
    attributes: Mapping[str, Value] = {}


class Span(Struct, frozen=True, kw_only=True):
    """One span. Times are microseconds since 1970, in UTC.

    ``parent`` is the id of the span that it is a part of, ``error`` why it failed, in words without content, and
    ``links`` name spans of other traces, as the ids of trace and span.
    """

    name: str
    trace: str
    id: str
    start_us: int
    end_us: int
    kind: Kind = "internal"
    parent: str | None = None
    attributes: Mapping[str, Value] = {}
    error: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    events: tuple[Event, ...] = ()


def trace_id(*names: str) -> str:
    """The id of a trace that no request brought along: 32 hexadecimal digits that follow from the names."""
    return _digits("trace", names, 32, _NO_TRACE)


def span_id(*names: str) -> str:
    """The id of a span: 16 hexadecimal digits that follow from the names."""
    return _digits("span", names, 16, _NO_SPAN)


def _digits(what: str, names: tuple[str, ...], count: int, nothing: str) -> str:
    """The first digits of the hash; all zeros stand for no id, so then it is the last ones."""
    hashed = sha256("\n".join(("gainsay", what, *names)).encode()).hexdigest()
    return found if (found := hashed[:count]) != nothing else hashed[-count:]
