"""The checks of the recorded debates, with the facts that each was made on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from service.checks.given import given_to
from service.debate.entries import CheckFound, Entry, decode
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Case, Check, CheckKind, Measure
from service.debate.turns import TurnId
from supply import frozen
from tests.vectors.record import recorded_files

FIRST = frozen.recorded_by_the_first_release()
LATER = frozenset[str]() if FIRST is None else frozenset(f"{p.parent.name}/{p.stem}" for p in recorded_files()) - FIRST
"""Debates, as FORMAT/NAME, that were recorded after the first release: its versions are not held over them."""

Found = TypeVar("Found")


class Judged(Protocol):
    """What an engine is given of a debate with documents."""

    @property
    def documents(self) -> Sequence[str]:
        """Their ids."""
        ...

    def over(self, sources: Mapping[str, str]) -> tuple[Any, ...]:
        """What the engine is called with."""
        ...


class Checked(NamedTuple):
    """A check of a recorded debate, and what was known when it was made."""

    name: str
    check: Check
    facts: Facts


def files(*, later: bool = False) -> Iterator[Path]:
    """The recorded debates; with ``later`` those in `LATER` and no others."""
    for path in recorded_files():
        if (f"{path.parent.name}/{path.stem}" in LATER) == later:
            yield path


def checks(kind: CheckKind, *, later: bool = False) -> Iterator[Checked]:
    """Every check of a kind, debate by debate; with ``later`` those of the debates in `LATER` and no others."""
    for path in files(later=later):
        facts = Facts()
        for entry in _entries(path):
            if isinstance(entry, CheckFound) and entry.finding.__struct_config__.tag == kind:
                move = decide(facts)
                due = move.checks if isinstance(move, Measure) else ()
                for check in due:
                    if check.id == entry.check and check.kind == kind:
                        yield Checked(f"{path.parent.name}/{path.stem} {check.id}", check, facts)
            facts.add(entry)


def found(
    name: str,
    engine: Callable[..., Found],
    rows: Mapping[str, Callable[[Case, Facts, Sequence[TurnId]], Judged]],
    checked: Checked,
) -> Found:
    """What an engine finds in a recorded check; a recorded debate does not hold the texts of its documents."""
    assert checked.facts.case is not None
    judged = given_to(name, rows)(checked.facts.case, checked.facts, checked.check.over)
    return engine(*judged.over(dict.fromkeys(judged.documents, "")))


@cache
def _entries(path: Path) -> tuple[Entry, ...]:
    """The entries of a recorded debate, decoded once for all kinds of checks."""
    return tuple(map(decode, path.read_bytes().splitlines()))
