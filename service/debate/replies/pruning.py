"""What a reply holds beside what was asked for is left out, and named: no call is made for it.

    a member that the schema does not have           left out, at any depth, with all that is in it
    a name that stands twice                         left out if the schema does not have it; refused if it does,
                                                     because one of the two values would be lost
    a name that the schema has in another spelling   left out beside that member; refused in its absence, because what
    (``Citations``, ``challenge_strength``)          the seat meant for that member would be lost

A missing or a wrong member is refused by the type that the pruned object is converted to. The names are the model's
own words: they are data, cut to `NAME_MAX` characters and shown to no seat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from msgspec import Struct, inspect

from service.debate.replies import REPLY_TYPES, Reply

DROPPED_MAX = 20
"""The most parts of one reply that are named; others are counted."""
NAME_MAX = 40
"""The greatest length of a recorded name, in characters."""

DropReason = Literal["unknownMember", "struckPoint", "unaskedPoint"]
_SPACING = re.compile(r"[\W_]+")


class Dropped(Struct, frozen=True, rename="camel"):
    """A part of a reply that was left out.

    ``at`` is the place of the object or list that held it, in the reply as it came (``$.points[0]``). ``name`` is the
    member's name, cut to `NAME_MAX` characters, or the number of the point that an answer was to.
    """

    why: DropReason
    at: str
    name: str


class Kept(NamedTuple):
    """A reply without the parts that were left out; ``more`` counts those beyond `DROPPED_MAX`.

    ``worded`` says that it was read from a guard model's word, so the reply's own JSON is not what the model said.
    """

    reply: Reply
    dropped: tuple[Dropped, ...] = ()
    more: int = 0
    worded: bool = False

    def after(self, earlier: Kept) -> Kept:
        """This reply, with what was left out before it as well; what the format left out is named first."""
        parts = (*self.dropped, *earlier.dropped)
        more = earlier.more + self.more + len(parts[DROPPED_MAX:])
        return Kept(self.reply, parts[:DROPPED_MAX], more, self.worded or earlier.worded)


class Twice(Struct, frozen=True):
    """Stands for the values of a name that an object has more than once."""

    stands_twice: bool = True


TWICE = Twice()


class Misplaced(Exception):
    """A member that cannot be left out without loss; the message says which and where."""


def prune(kind: str, found: dict[str, Any]) -> tuple[Any, tuple[Dropped, ...], int]:
    """The object with the members of this kind of reply alone; what was left out; and how many more there were.

    Raises `Misplaced`, and `KeyError` for a kind that has no reply type.
    """
    if _is_asked_for(found, _form_of(kind)):
        return found, (), 0
    pruning = _Pruning()
    return pruning.value(found, _type_of(kind), "$"), tuple(pruning.dropped), pruning.more


@lru_cache
def _type_of(kind: str) -> inspect.Type:
    return inspect.type_info(REPLY_TYPES[kind])


class _Form(NamedTuple):
    """The members of an object, each with its own form, or the form of a list's items; `None` where nothing is named
    at any depth."""

    members: Mapping[str, _Form | None] | None = None
    items: _Form | None = None


@lru_cache
def _form_of(kind: str) -> _Form | None:
    return _form(_type_of(kind))


def _form(wanted: inspect.Type) -> _Form | None:
    match wanted:
        case inspect.StructType(fields=fields):
            return _Form(members={field.encode_name: _form(field.type) for field in fields})
        case inspect.VarTupleType(item_type=item):
            return _Form(items=form) if (form := _form(item)) else None
        case inspect.UnionType(types=types):
            return next((_form(kind) for kind in types if isinstance(kind, inspect.StructType)), None)
        case _:
            return None


def _is_asked_for(found: Any, form: _Form | None) -> bool:
    """Whether every member of a value has a name of its form and stands there once: nothing is to be left out."""
    if form is None:
        return True
    if form.members is None:
        return not isinstance(found, list) or all(_is_asked_for(one, form.items) for one in found)
    if not isinstance(found, dict):
        return True
    for name, value in found.items():
        if name not in form.members or value is TWICE:
            return False
        if (inner := form.members[name]) is not None and not _is_asked_for(value, inner):
            return False
    return True


class _Pruning:
    """Walks an object beside the type that it should have. What has another form stays, for the type to refuse."""

    def __init__(self) -> None:
        self.dropped: list[Dropped] = []
        self.more = 0

    def value(self, found: Any, wanted: inspect.Type, at: str) -> Any:
        match wanted:
            case inspect.StructType() if isinstance(found, dict):
                return self._members(found, wanted, at)
            case inspect.VarTupleType(item_type=item) if isinstance(found, list):
                return [self.value(one, item, f"{at}[{i}]") for i, one in enumerate(found)]
            case inspect.UnionType(types=types):
                one = next((kind for kind in types if isinstance(kind, inspect.StructType)), None)
                return self.value(found, one, at) if one else found
            case _:
                return found

    def _members(self, found: dict[str, Any], wanted: inspect.StructType, at: str) -> dict[str, Any]:
        types = {field.encode_name: field.type for field in wanted.fields}
        absent = {_spelling(name): name for name in types if name not in found}
        kept = {}
        for name, value in found.items():
            if name != wanted.tag_field and name not in types:
                self._drop(name, absent, at)
            elif value is TWICE:
                raise Misplaced(f"a name that stands twice in the object{_in_words(at)}: `{name}`")
            else:
                kept[name] = self.value(value, types[name], f"{at}.{name}") if name in types else value
        return kept

    def _drop(self, name: str, absent: dict[str, str], at: str) -> None:
        if meant := absent.get(_spelling(name)):
            raise Misplaced(f"no field `{meant}` in the object{_in_words(at)}, but one whose name is spelt otherwise")
        if len(self.dropped) < DROPPED_MAX:
            self.dropped.append(Dropped("unknownMember", at, name[:NAME_MAX]))
        else:
            self.more += 1


def _spelling(name: str) -> str:
    """A name without case, blanks, underscores and hyphens."""
    return _SPACING.sub("", name).casefold()


def _in_words(at: str) -> str:
    return "" if at == "$" else f" at `{at}`"
