"""The process that checks long texts: `main`, started by `service.running.apart`.

It reads calls from its standard input and writes what each returned to its standard output, both as frames: a length
of eight bytes, then what is pickled. A call is two pickles. The first says whether to drop what was not asked for since
the last such call, the tenant, the numbers of long texts that are dropped, and new ones by their numbers. The second is
a function and its arguments, with numbers in the place of long texts. A return is a `Returned` or a `Raised`. Both ends
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
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from service.checks import kept
from service.debate.whose import WHOSE

MEMORY_MAX = 3 << 30
"""The most bytes of address space of the process: a case of the most characters that policy ships takes a third of it.
"""
OUT_OF_MEMORY = 77
"""The exit code of a process that found no more memory."""
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


class _Unpickler(pickle.Unpickler):
    """Reads long texts by their numbers."""

    def __init__(self, file: BytesIO, texts: Mapping[int, str]) -> None:
        super().__init__(file)
        self._texts = texts

    def persistent_load(self, pid: Any) -> str:
        return self._texts[pid]


def _called(pickled: bytes, texts: dict[int, str]) -> Returned | Raised:
    try:
        call = BytesIO(pickled)
        sweeps, tenant, dropped, new = pickle.load(call)  # noqa: S301 - written by the parent, see above
        texts |= new
        for number in dropped:
            del texts[number]
        if sweeps:
            kept.sweep()
        WHOSE.set(tenant)
        function, given = _Unpickler(call, texts).load()
        return Returned(function(*given))
    except MemoryError:  # a process with room in it may do better; the parent asks one
        os._exit(OUT_OF_MEMORY)
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
    texts = dict[int, str]()
    while (pickled := _read(calls)) is not None:
        returned = pickle.dumps(_called(pickled, texts), pickle.HIGHEST_PROTOCOL)
        del pickled
        returns.write(framed(returned))
        returns.flush()


def main() -> None:
    """Answer the calls of the parent until it closes its end or is gone."""
    _bound_memory()
    for signalled in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signalled, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)  # whatever is left in the output has no reader


def _bound_memory() -> None:
    """Bound the address space, where the system can: what asks for more gets a `MemoryError`."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY_MAX if hard == resource.RLIM_INFINITY else min(MEMORY_MAX, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
