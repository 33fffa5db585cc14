"""The debates of an export that have ended: a set that spends some 16 bytes on each, so that long logs fit."""

from __future__ import annotations

from array import array
from hashlib import sha256

_FIRST_SLOTS = 1 << 10


class Ended:
    """A set of names by 64 bits of their SHA-256.

    In a log of ten million debates, two are taken for one with a chance of three in a million.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST_SLOTS))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: str) -> bool:
        key = _key(name)
        return self._slots[self._slot(key)] == key

    def add(self, name: str) -> None:
        """Add a name, which may be there already."""
        key = _key(name)
        slot = self._slot(key)
        if self._slots[slot] != key:
            self._slots[slot] = key
            self._count += 1
            if 3 * self._count > 2 * len(self._slots):
                self._grow()

    def _slot(self, key: int) -> int:
        """The place of a key, or the free one where it belongs."""
        slots, mask = self._slots, len(self._slots) - 1
        at = key & mask
        while slots[at] not in (0, key):
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        before = self._slots
        self._slots = array("Q", bytes(16 * len(before)))
        for key in before:
            if key:
                self._slots[self._slot(key)] = key


def _key(name: str) -> int:
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8]) or 1
