"""One line of another's file as an item and its label to be, and what its import is given beside the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from service.evaluation.sets.faults import Fault
from service.evaluation.sets.form import Basis
from service.evaluation.sets.lines import read_object

_NOT_OF_AN_ID = re.compile(r"[^A-Za-z0-9._-]+")


class Mapped(NamedTuple):
    """A question of a file: where it stands, what is asked, and what is right. ``None`` is what the file leaves open.

    ``documents`` have a title and a text each. ``likeness`` has what questions with the same kind of answers share, the
    surest first: a wrong answer is taken from theirs.
    """

    file: str
    line: int
    id: str
    question: str
    documents: tuple[tuple[str, str], ...]
    answer: str
    note: str
    likeness: tuple[str, ...] = ()
    proposition: str | None = None
    states: str | None = None
    group: str | None = None
    split: str | None = None
    task_type: str | None = None
    licence: str | None = None


class ImportOptions(NamedTuple):
    """What is said beside the files. ``proposition`` is a template with ``{answer}``, and ``{question}`` if wanted.

    ``answers`` is the closed list, in its order; without any it is that of the labels. ``held_per_cent`` of the items
    go into the split `held`, whole groups at a time. ``ignore`` names members that are left out knowingly.
    """

    id: str
    labelled_by: str
    labelling: str
    basis: Basis
    published: date | None
    version: int = 1
    task_type: str | None = None
    licence: str | None = None
    proposition: str | None = None
    answers: tuple[str, ...] = ()
    held_per_cent: int = 50
    seed: str = "1"
    ignore: frozenset[str] = frozenset()


def opaque(id: str) -> str:
    """An id of the source in the form of a set's: every other character becomes a hyphen."""
    return _NOT_OF_AN_ID.sub("-", id).strip("-._")[:80]


def objects(file: str, text: str, ignore: frozenset[str], faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line's object with its number, without the members that are ignored; blank lines are passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = read_object(line.removesuffix("\r"))
        except ValueError as error:
            faults.append(Fault(file, number, "", str(error)))
        else:
            yield number, without(found, ignore, "")


def without(members: Mapping[str, Any], ignore: frozenset[str], above: str) -> dict[str, Any]:
    """The members of an object but for those that are ignored, by names such as ``metadata.source``."""
    kept = {}
    for name, value in members.items():
        whole = f"{above}{name}"
        if whole not in ignore:
            kept[name] = without(value, ignore, f"{whole}.") if isinstance(value, dict) else value
    return kept
