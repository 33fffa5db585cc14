"""English words: what a slip of the finger must not be, because another word says something else.

The common words tell what English is; the further ones, among them those of trades and of the law (pledgee, obligor,
therefor), are asked of a slip alone. Both know words of four letters and more; a shorter one always counts as a word.
They are read when first asked.
"""

from __future__ import annotations

import base64
import lzma
from functools import cache

from service.checks.citations.text.lexicon_data import COMMON, FURTHER

SHORTEST = 4
VERSION = "scowl2020-4b0eaa04"
"""The lists' origin and the beginning of the SHA-256 of both; part of the engine's name."""


def is_english(word: str) -> bool:
    """Whether a word in lower case is a common English one, or too short to say."""
    return len(word) < SHORTEST or word in common()


def is_listed(word: str) -> bool:
    """Whether a word in lower case is surely a common English one."""
    return word in common()


def is_word(word: str) -> bool:
    """Whether a word in lower case is an English one, however rare, or too short to say."""
    return is_english(word) or word in further()


@cache
def common() -> frozenset[str]:
    """The words of the shorter lists."""
    return _unpacked(COMMON)


@cache
def further() -> frozenset[str]:
    """The words of the longer lists that the shorter ones do not have."""
    return _unpacked(FURTHER)


def words() -> frozenset[str]:
    """All words of the lists."""
    return common() | further()


def _unpacked(packed: str) -> frozenset[str]:
    """Each line is a letter that counts what is shared with the word before, and the rest of the word."""
    found: list[str] = []
    word = ""
    for line in lzma.decompress(base64.b64decode(packed)).decode("ascii").split("\n"):
        word = word[: ord(line[0]) - 65] + line[1:]
        found.append(word)
    return frozenset(found)
