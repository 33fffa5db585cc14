"""The steps of which every call is made. What a call does next is decided by generators of steps, which do no I/O.

A shell performs each step and sends its result back into the generator; `gainsay_client.shell` does so with threads,
`gainsay_client.async_shell` with a loop of events. So there is one protocol, and nothing of it is written twice.

    Send    a request                        -> its `Answer`, whole
    Open    a request whose answer streams   -> its `Answer` without the body; one stream is open at a time
    Read                                     -> the next bytes of the open stream, `None` at its end
    Close   the open stream
    Pause   for some seconds
    Do      work on a file                   -> what it returns
    Give    an item to the caller, who iterates

`Send`, `Open` and `Read` raise `Broken` inside the generator where the connection does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from gainsay_client.wire import Answer, Request

T = TypeVar("T")


class Broken(Exception):
    """The connection failed. ``sent``: the service may have the request."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Send:
    """``within``: seconds for the whole answer."""

    request: Request
    within: float


@dataclass(frozen=True, slots=True)
class Open:
    """``silence``: the most seconds between two pieces of the body."""

    request: Request
    silence: float


@dataclass(frozen=True, slots=True)
class Read:
    """The next bytes."""


@dataclass(frozen=True, slots=True)
class Close:
    """The end of the stream, whether or not all of it was read."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Do:
    """Work that may block for a moment."""

    work: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Give:
    """An item of an iteration."""

    item: object


Step: TypeAlias = Send | Open | Read | Close | Pause | Do | Give
Steps: TypeAlias = Generator[Step, Any, T]


def send(request: Request, within: float) -> Steps[Answer]:
    """The answer to a request; raises `Broken`."""
    return cast(Answer, (yield Send(request, within)))


def opened(request: Request, silence: float) -> Steps[Answer]:
    """The head of an answer whose body is read apart; raises `Broken`."""
    return cast(Answer, (yield Open(request, silence)))


def read() -> Steps[bytes | None]:
    """The next bytes of the open stream; raises `Broken`."""
    return cast("bytes | None", (yield Read()))


def rest(most: int) -> Steps[bytes]:
    """What is left of the open stream, up to so many bytes."""
    found = b""
    while len(found) < most and (chunk := (yield from read())) is not None:
        found += chunk
    yield Close()
    return found[:most]


def do(work: Callable[[], T]) -> Steps[T]:
    """What the work returns."""
    return cast(T, (yield Do(work)))
