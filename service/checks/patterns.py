"""Regular expressions that are compiled when they are first used.

The engines have some 350 of them. To compile all takes a third of a second, which is a third of what a command takes to
start, and most commands judge nothing.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but an expression that cannot be compiled raises ``re.error`` only at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))


class LazyPattern:
    """An expression with the attributes of `re.Pattern`; call its methods, because functions of `re` do not take it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._given = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it: the next access does not come here."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._given)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
