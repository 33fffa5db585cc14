"""What a process was told is durable, noted before it goes on: later it has to be there, whatever has failed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from service.debate.entries import Entry
from service.reviews import submission
from service.store import sealing
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.sealing import NewDebate


@dataclass(frozen=True)
class Confirmed:
    """A record: its debate, its number, and the hash of its leaf, which commits to every record before."""

    debate: str
    n: int
    leaf_hash: bytes


@contextmanager
def noting(note: Callable[[Confirmed], object]) -> Iterator[None]:
    """Have everything noted meanwhile that is confirmed to whoever opens a debate or appends in this process."""
    append, open_debate = DebateLog.append, sealing.open_debate

    async def appended(self: DebateLog, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        await append(self, entries, occurred)
        note(Confirmed(self.debate, self._next_n - 1, self._last_hash))

    async def opened(database: Database, new: NewDebate, entries: Sequence[Entry]) -> bool:
        recorded = await open_debate(database, new, entries)
        if recorded:
            note(Confirmed(new.place.debate, len(new.records) - 1, new.records[-1].leaf_hash))
        return recorded

    DebateLog.append = appended  # type: ignore[method-assign]
    setattr(submission, "open_debate", opened)  # noqa: B010 - a name that it imports
    try:
        yield
    finally:
        DebateLog.append = append  # type: ignore[method-assign]
        setattr(submission, "open_debate", open_debate)  # noqa: B010
