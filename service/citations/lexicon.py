"""English words: what a slip of the finger must not be, because another word says something else.

The list knows words of four letters and more; a shorter one always counts as a word. It is read when first asked.
"""

from __future__ import annotations

import base64
import lzma
from functools import cache

from service.citations.lexicon_data import PACKED

SHORTEST = 4
VERSION = "scowl2020-a7258fba"
"""The list's origin and the beginning of its SHA-256; part of the engine's name."""


def is_english(word: str) -> bool:
    """Whether a word in lower case is an English one, or too short to say."""
    return len(word) < SHORTEST or word in words()


def is_listed(word: str) -> bool:
    """Whether a word in lower case is surely an English one."""
    return word in words()


@cache
def words() -> frozenset[str]:
    """All words of the list."""
    found: list[str] = []
    word = ""
    for line in lzma.decompress(base64.b85decode(PACKED)).decode("ascii").split("\n"):
        word = word[: ord(line[0]) - ord("A")] + line[1:]
        found.append(word)
    return frozenset(found)
