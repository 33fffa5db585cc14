"""Regular expressions that are compiled when they are first used.

The engines have some 350 of them. To compile all takes a third of a second, which is a third of what a command takes to
start, and most commands judge nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, cast

_LAZY = list["LazyPattern"]()


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but an expression that cannot be compiled raises ``re.error`` only at its first use."""
    _LAZY.append(made := LazyPattern(pattern, flags))
    return cast("re.Pattern[str]", made)


def compile_all() -> None:
    """Compile every expression that was made by `lazily`, before one is used where the event loop would wait."""
    for pattern in tuple(_LAZY):
        with suppress(re.error):  # which its first use raises
            pattern.compiled()


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
        found = getattr(self.compiled(), name)
        setattr(self, name, found)
        return found

    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._given)
        return self._compiled
