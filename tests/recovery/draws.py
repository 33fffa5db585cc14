"""Draws of one run: each by SHA-256 of the setting, the run's seed and what is drawn."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple


class Draws(NamedTuple):
    """The draws of the run of a setting with a seed, from 1."""

    setting: str
    seed: int

    def unit(self, *what: str) -> float:
        """A number from 0 to 1 (exclusive), the same for the same words."""
        hashed = sha256("\n".join((self.setting, str(self.seed), *what)).encode()).digest()
        return int.from_bytes(hashed[:8], "big") / 2**64

    def happens(self, chance: float, *what: str) -> bool:
        """Whether something of this chance happens."""
        return self.unit(*what) < chance
