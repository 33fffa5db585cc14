"""Leaves of a log that a later build wrote: they alone may be the records that a chain of a complete export lacks."""

from __future__ import annotations


class UnreadLeaves:
    """The leaves that cannot be read, in their order, and how many records they have to stand for.

    A record behind a gap names the last leaf in it as ``prev``, and nothing names the others. So a gap is excused where

        named     that leaf is unread, stands behind the record before the gap, and is in no other gap
        between   at least as many unread leaves stand there as records are missing, up to the one that is named
        in all    no more records are missing, in all gaps so far, than unread leaves were met

    A leaf stands for one record, so what breaks one of these lacks a record for certain.
    """

    def __init__(self) -> None:
        self.why = ""
        """Why the first of them cannot be read; empty where there is none."""
        self.count = 0
        self._missing = 0
        self._places: dict[str, int] = {}
        """The count with each of them, by hash, but for those that a gap has named."""

    def add(self, leaf: bytes, why: str) -> None:
        """The next leaf that cannot be read, by its hash."""
        self.why = self.why or why
        self.count += 1
        self._places[leaf.hex()] = self.count

    def fill(self, missing: int, since: int, named: str) -> bool:
        """Whether they may be the records of a gap; ``since`` is the count at the record before it."""
        if missing < 1:
            return False
        self._missing += missing
        between = self._places.pop(named, 0) - since
        return between >= missing and self._missing <= self.count
