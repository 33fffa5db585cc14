"""The process that checks long texts: `main`, started by `service.running.apart`.

It reads calls from its standard input and writes what each returned to its standard output, both as frames: a length
of eight bytes, then a pickle. A call is a function and its arguments; a return is a `Returned` or a `Raised`. Both ends
are one build of one program under one user, so a pickle here comes from this service itself.

The process ends when its input ends: a parent that is gone, however it went, leaves no child. It does not heed SIGINT
and SIGTERM, which a terminal or a supervisor sends to a whole group: its parent decides when it ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

LENGTH = 8
"""The bytes of a frame's length, the most significant first."""


class Returned(NamedTuple):
    """What a call returned."""

    value: Any


class Raised(NamedTuple):
    """The type of the exception that a call raised, and where; without its message, which may hold words of a case."""

    kind: str
    where: str


def framed(pickled: bytes) -> bytes:
    """A frame."""
    return len(pickled).to_bytes(LENGTH) + pickled


def _called(pickled: bytes) -> Returned | Raised:
    try:
        function, given = pickle.loads(pickled)  # noqa: S301 - written by the parent, see above
        return Returned(function(*given))
    except Exception as fault:  # noqa: BLE001 - reported to the parent, where it is the fault of a run
        frames = traceback.extract_tb(fault.__traceback__)
        return Raised(type(fault).__name__, " < ".join(f"{at.name}:{at.lineno}" for at in reversed(frames)))


def _read(calls: BinaryIO) -> bytes | None:
    """The next call; ``None`` at the end of the input, in the midst of a frame too."""
    length = calls.read(LENGTH)
    if len(length) < LENGTH:
        return None
    size = int.from_bytes(length)
    pickled = calls.read(size)
    return pickled if len(pickled) == size else None


def serve(calls: BinaryIO, returns: BinaryIO) -> None:
    """Answer calls until the input ends."""
    while (pickled := _read(calls)) is not None:
        returned = pickle.dumps(_called(pickled), pickle.HIGHEST_PROTOCOL)
        del pickled
        returns.write(framed(returned))
        returns.flush()


def main() -> None:
    """Answer the calls of the parent until it closes its end or is gone."""
    for signalled in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signalled, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)  # whatever is left in the output has no reader
