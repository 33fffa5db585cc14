"""Parts of a debate's requests that were rendered before, for as long as its facts live.

The case and the replies stand in many requests of one debate, in the same bytes. A part is used again only where it
rests on the very same objects, so facts that were copied and changed never see a part of others, and no debate sees
one of another. All debates together keep a bounded number of characters; then the parts of all are dropped, and each is
rendered anew where it is needed next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import is_
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from service.debate.facts import Facts

MOST_CHARACTERS = 32_000_000
"""The most characters of the parts of all debates of a process."""

Part = TypeVar("Part")


class _Parts:
    """The parts of one debate: by a name, what each rests on and the part itself."""

    def __init__(self) -> None:
        self.by_name: dict[Hashable, tuple[tuple[object, ...], Any]] = {}
        self.characters = 0


class _Store:
    """The parts of all debates. ``came`` counts characters since the debates were last added up: no fewer are kept.

    Threads may render at once, each a debate of its own; what they leave uncounted is little.
    """

    def __init__(self) -> None:
        self.debates: WeakKeyDictionary[Facts, _Parts] = WeakKeyDictionary()
        self._came = 0

    def keep(self, facts: Facts, name: Hashable, rests_on: tuple[object, ...], part: object, characters: int) -> None:
        """Keep a part. If all come to too many characters, the parts of all debates are dropped first."""
        self._came += characters
        if self._came > MOST_CHARACTERS:
            living = [debate for reference in self.debates.keyrefs() if (debate := reference())]
            self._came = characters + sum(self.debates[debate].characters for debate in living)
        if self._came > MOST_CHARACTERS:
            self.debates, self._came = WeakKeyDictionary(), characters
        parts = self.debates.setdefault(facts, _Parts())
        parts.by_name[name] = rests_on, part
        parts.characters += characters


_store = _Store()


def once(
    facts: Facts,
    name: Hashable,
    rests_on: tuple[object, ...],
    render: Callable[[], Part],
    characters: Callable[[Part], int],
) -> Part:
    """A part of the requests of a debate, rendered once while the objects that it rests on are the same."""
    known = _store.debates.get(facts)
    if known and (found := known.by_name.get(name)) and _same(found[0], rests_on):
        part: Part = found[1]
        return part
    made = render()
    if (size := characters(made)) <= MOST_CHARACTERS:
        _store.keep(facts, name, rests_on, made, size)
    return made


def _same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))
