"""English words: a slip of the finger must not be one, because another word has another meaning.

The common words show whether a text is English. The further ones, with words of trades and of the law (pledgee,
obligor, therefor), serve for slips alone. Both lists have words of four letters and more; a shorter string always
counts as a word. The lists are read at first use.
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
    """Whether a word in lower case is a common English one, or too short to decide."""
    return len(word) < SHORTEST or word in common()


def is_listed(word: str) -> bool:
    """Whether a word in lower case is certainly a common English one."""
    return word in common()


def is_word(word: str) -> bool:
    """Whether a word in lower case is an English one, common or rare, or too short to decide."""
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
    """The words of a packed list. A line has a letter for the length shared with the word before, and the rest."""
    found: list[str] = []
    word = ""
    for line in lzma.decompress(base64.b64decode(packed)).decode("ascii").split("\n"):
        word = word[: ord(line[0]) - 65] + line[1:]
        found.append(word)
    return frozenset(found)
