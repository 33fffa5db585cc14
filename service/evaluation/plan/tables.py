"""The members of a table of a plan file: each is read once, and what is wrong with it is noted where it stands.

A member that is missing or wrong has a placeholder, so that reading goes on to the next fault. `Noted.sound` tells
later rules what they must not judge.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from service.debate.amounts import MicroUSD, micro, usd
from service.errors import InvalidCase, did_you_mean, together

Path = tuple[str | int, ...]
"""Where something stands in the file: keys, and places in lists."""
Choice = TypeVar("Choice", bound=str)

CEILING_MAX: MicroUSD = 10**12
"""A million US dollars: an evaluation above it is a slip of the pen."""
TEXT_MAX = 2_000
NAME = re.compile(r"[a-z][a-z0-9-]{0,59}")
_SHOWN = 60


class InvalidPlan(InvalidCase):
    """The plan can be read, but it cannot be registered as it is."""

    code = "invalid_plan"
    title = "The plan is not valid"


class Noted:
    """The faults of one file."""

    def __init__(self) -> None:
        self.found: list[tuple[Path, str]] = []

    def note(self, at: Path, message: str) -> None:
        """Note a fault; the first one of each place is kept."""
        if all(at != place for place, _ in self.found):
            self.found.append((at, message))

    def sound(self, *places: Path) -> bool:
        """Whether no fault lies at one of these places, in it, or around it."""
        return not any(_related(at, place) for at, _ in self.found for place in places)

    def refuse(self) -> None:
        """Raise `InvalidPlan` with every fault as its ``parts``, each with its pointer (RFC 6901)."""
        if self.found:
            raise together([InvalidPlan(f"{said(at)}: {text}", pointers=(pointer(at),)) for at, text in self.found])


class Table:
    """One table of the file. ``known`` are the members that it may have; any other one is noted."""

    def __init__(self, written: Any, at: Path, noted: Noted, known: Collection[str]) -> None:
        self._at = at
        self._noted = noted
        self._members: Mapping[str, Any] = written if isinstance(written, dict) else {}
        if not isinstance(written, dict):
            noted.note(at, f"expected a table, found {shown(written)}")
        for name in self._members:
            if name not in known:
                meant = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
                noted.note((*at, name), f"there is no such member{meant}")

    def has(self, name: str) -> bool:
        """Whether the file writes this member."""
        return name in self._members

    def raw(self, name: str) -> Any:
        """A member as it is written; ``None`` where it is missing."""
        return self._members.get(name)

    def note(self, name: str, message: str) -> None:
        """Note a fault of a member."""
        self._noted.note((*self._at, name), message)

    def text(self, name: str, *, form: re.Pattern[str] | None = None, words: str = "") -> str:
        """A text on one line; ``form`` is what it has to match as a whole, ``words`` say so."""
        found = self._needed(name)
        if found is None:
            return ""
        if not isinstance(found, str) or not found.strip() or len(found) > TEXT_MAX or not found.isprintable():
            self.note(name, f"expected a text of 1 to {TEXT_MAX} characters on one line, found {shown(found)}")
            return ""
        if form is not None and not form.fullmatch(found):
            self.note(name, f"expected {words or form.pattern}, found {shown(found)}")
        return found

    def name(self, name: str) -> str:
        """A name: a lower-case letter, then letters, digits and hyphens."""
        return self.text(name, form=NAME, words="a lower-case letter, then at most 59 letters, digits and '-'")

    def choice(self, name: str, of: Sequence[Choice], default: Choice | None = None) -> Choice:
        """One of a closed list."""
        found = self._members.get(name) if default is not None else self._needed(name)
        if found is None:
            return default if default is not None else of[0]
        if found not in of:
            listed = ", ".join(of)
            self.note(name, f"expected one of {listed}, found {shown(found)}{did_you_mean(str(found), of)}")
            return of[0]
        return of[of.index(found)]

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number within its bounds."""
        found = self._members.get(name) if default is not None else self._needed(name)
        if found is None:
            return low if default is None else default
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
            self.note(name, f"expected a whole number from {low} to {high}, found {shown(found)}")
            return low
        return found

    def share(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A share as whole per mille, from ``low`` to ``high``; the file writes it from 0 to 1."""
        found = self._members.get(name) if default is not None else self._needed(name)
        if found is None:
            return low if default is None else default
        share = _decimal(found)
        if share is None or not low <= share * 1_000 <= high:
            self.note(name, f"expected a share from {low / 1000:g} to {high / 1000:g}, found {shown(found)}")
            return low
        if share * 1_000 != int(share * 1_000):
            self.note(name, f"expected a share with at most three decimals, found {shown(found)}")
        return int(share * 1_000)

    def dollars(self, name: str) -> MicroUSD:
        """An amount of US dollars above 0, in micro-dollars."""
        found = self._needed(name)
        if found is None:
            return CEILING_MAX
        try:
            amount = micro(found) if isinstance(found, str | int) and not isinstance(found, bool) else 0
        except ValueError:
            amount = 0
        if not 0 < amount <= CEILING_MAX:
            self.note(name, f"expected US dollars above 0 and at most {usd(CEILING_MAX)}, found {shown(found)}")
            return CEILING_MAX
        return amount

    def flag(self, name: str) -> bool:
        """A switch that is off unless the file turns it on."""
        found = self._members.get(name, False)
        if not isinstance(found, bool):
            self.note(name, f"expected true or false, found {shown(found)}")
        return found is True

    def tables(self, name: str, known: Collection[str], *, needed: bool = True) -> Iterator[tuple[Path, Table]]:
        """The tables of a list, each with its place; ``needed``: at least one."""
        found = self._members.get(name)
        if found is None or found == []:
            if needed:
                self.note(name, f"expected at least one table [[{name}]]")
            return
        if not isinstance(found, list):
            self.note(name, f"expected tables [[{name}]], found {shown(found)}")
            return
        for i, table in enumerate(found):
            at = (*self._at, name, i)
            yield at, Table(table, at, self._noted, known)

    def _needed(self, name: str) -> Any:
        if name not in self._members:
            self.note(name, "this member is missing, and it has no default")
        return self._members.get(name)


def pointer(at: Path) -> str:
    """A place as a JSON Pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in at)


def place_of(written: str) -> Path:
    """The place of a JSON Pointer."""
    steps = written.split("/")[1:]
    return tuple(int(step) if step.isdecimal() else step.replace("~1", "/").replace("~0", "~") for step in steps)


def said(at: Path) -> str:
    """A place in words: keys joined by points, places in lists counted from 1."""
    steps = [f"{step + 1}" if isinstance(step, int) else step[:_SHOWN] for step in at]
    return ".".join(steps) or "the file"


def shown(value: Any) -> str:
    """A value as a message repeats it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _decimal(written: Any) -> Decimal | None:
    if isinstance(written, bool) or not isinstance(written, str | int):
        return None
    try:
        found = Decimal(written)
    except ArithmeticError:
        return None
    return found if found.is_finite() else None


def _related(one: Path, other: Path) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]
