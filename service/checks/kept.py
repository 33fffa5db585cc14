"""What engines work out of whole documents, once in a process: by tenant, kind of work and text, within a bound.

A tenant is never answered from what was worked out for another one: how soon an answer comes would say that the other
one has the same document. A result is used for a text that is at hand, so never for one that is stored no more; and
`sweep`, which a process calls from time to time, drops what was not asked for since the last call. Results over no
text, such as the words that were met, may hold words of a document that is gone since: `sweep` drops all of them.

Every operation is one step of the interpreter, so threads may share the results; at worst two of them work out the same
one at the same time, and what one of them has added is counted with the next ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, cast

from service.debate.whose import WHOSE, forget

Result = TypeVar("Result")

MOST_CHARACTERS = 32_000_000
"""The bound, in characters of the texts, one for each kind of work. A document prepared for citations costs about six
bytes a character, other results less."""


class _Key(NamedTuple):
    """Whose result it is, of which work, over which texts."""

    tenant: str
    work: Hashable
    texts: tuple[str, ...]

    @property
    def characters(self) -> int:
        """What the result counts against the bound."""
        return sum(map(len, self.texts))


_kept = OrderedDict[_Key, Any]()
_asked = set[_Key]()


class _Came:
    """The characters that came since the results were counted."""

    characters = 0


def once(work: Hashable, make: Callable[..., Result], *texts: str) -> Result:
    """What ``make`` returns for these texts, from before or worked out now; ``work`` names it, with its version."""
    key = _Key(WHOSE.get(), work, texts)
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = make(*texts)
        _Came.characters += key.characters
        if _Came.characters > MOST_CHARACTERS // 32:  # to count is to look at every result
            _Came.characters = 0
            _let_go(key)
    _asked.add(key)
    with suppress(KeyError):  # another thread has dropped it
        _kept.move_to_end(key)
    return cast("Result", found)


def sweep() -> None:
    """Drop what was not asked for since the last call, and what rests on no text or on passages alone (`by_tenant`)."""
    forget()
    for key in list(_kept):
        if key not in _asked or not key.texts:
            _kept.pop(key, None)
    _asked.clear()


def drop() -> None:
    """Drop everything."""
    forget()
    _kept.clear()
    _asked.clear()


def _let_go(newest: _Key) -> None:
    """Drop the results that were not asked for longest, but for the newest one, until all are within the bound."""
    total = sum(key.characters for key in list(_kept))
    for key in list(_kept):
        if total <= MOST_CHARACTERS or key == newest:
            return
        if _kept.pop(key, None) is not None:
            total -= key.characters
            _asked.discard(key)
