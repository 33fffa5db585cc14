"""Patterns that are matched without regard to case, faster than `re.IGNORECASE` does it.

`re` skips to where a pattern may begin only while case counts. So a pattern is compiled in small letters, and it
searches a text whose letters A to Z are made small, which moves no place. That finds what `re.IGNORECASE` finds in
every text without the four letters that it also takes for an ASCII one; `re` itself searches a text with one of them.
"""

from __future__ import annotations

import re
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase

LIKE_ASCII = re.compile("[\u0130\u0131\u017f\u212a]")
"""What `re.IGNORECASE` takes for i, i, s and k: the i with a dot and without one, the long s and the sign of kelvin."""
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_CAPITAL = re.compile(r"\\.|\(\?P[<=]\w+|[A-Z]", re.DOTALL)


def in_small(text: str) -> str | None:
    """The text with its letters A to Z made small; ``None`` where only `re` itself finds all that it does."""
    return None if LIKE_ASCII.search(text) else text.translate(_SMALL)


class Caseless:
    """A pattern whose letters are ASCII; it is compiled when it is first needed."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def over(self, text: str, small: str | None) -> tuple[re.Pattern[str], str]:
        """The pattern to search with and the text to search, in which everything stands at the place that it has.

        ``small`` is the text by `in_small`, which many patterns share.
        """
        return (self._slow, text) if small is None else (self._fast, small)

    @cached_property
    def _fast(self) -> re.Pattern[str]:
        """In small letters, but for the signs behind a backslash and the names of groups."""
        small = _CAPITAL.sub(lambda found: found[0].lower() if found[0].isalpha() else found[0], self.pattern)
        return re.compile(small)

    @cached_property
    def _slow(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)
