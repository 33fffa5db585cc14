"""What a process was told is durable, noted before it goes on: later it has to be there, whatever has failed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from service.debate.entries import Entry
from service.store.log import DebateLog


@dataclass(frozen=True)
class Confirmed:
    """A record: its debate, its number, and the hash of its leaf, which commits to every record before."""

    debate: str
    n: int
    leaf_hash: bytes


@contextmanager
def noting(note: Callable[[Confirmed], object]) -> Iterator[None]:
    """Have everything noted meanwhile that is confirmed to whoever appends in this process."""
    append = DebateLog.append

    async def appended(self: DebateLog, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        await append(self, entries, occurred)
        note(Confirmed(self.debate, self._next_n - 1, self._last_hash))

    DebateLog.append = appended  # type: ignore[method-assign]
    try:
        yield
    finally:
        DebateLog.append = append  # type: ignore[method-assign]
