"""Draws that anyone can repeat: words of SHA-256, and what is drawn by them.

Block b (from 0) of resample r (from 0) is SHA-256 of the seed, a line feed, r in decimals, a line feed, b in decimals,
in UTF-8. It gives four words of 64 bits, each with its most significant byte first.
"""

from __future__ import annotations

from hashlib import sha256
from math import ceil, floor
from struct import unpack

from service.evaluation.statistics.reading import exact

WORD = 2**64


class Words:
    """The words of each resample of a seed, so many in each."""

    def __init__(self, seed: str, count: int) -> None:
        self._seed, self._count = seed, count
        self._blocks = [str(block).encode() for block in range((count + 3) // 4)]
        self._form = f">{4 * len(self._blocks)}Q"

    def of(self, resample: int) -> tuple[int, ...]:
        """The words of a resample."""
        before = f"{self._seed}\n{resample}\n".encode()
        hashed = b"".join([sha256(before + block).digest() for block in self._blocks])
        return unpack(self._form, hashed)[: self._count]


def percentile_places(resamples: int, level: float) -> tuple[int, int]:
    """The places of the bounds among sorted resamples, from 0: floor(B a/2) and ceil(B (1 - a/2)) - 1."""
    half = (1 - exact(level)) / 2
    return floor(resamples * half), ceil(resamples * (1 - half)) - 1


def upper_place(resamples: int, level: float) -> int:
    """The place of a one-sided upper bound: ceil(level x B) - 1, from 0."""
    return ceil(exact(level) * resamples) - 1
