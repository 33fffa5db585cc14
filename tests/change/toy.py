"""A toy change: the steps of a how-to for one small example, as a file that is read as what it is.

``KIND/steps.txt`` has the steps in their order, and ``KIND/`` the new files, each below its folder with ``.txt``:

    == 2 length                          a step, by the number of the how-to and a word
    half                                 the half-made change has it; ``half only``: no other has it
    named by: TEXT                       what a run says where this step alone is left out; so often as needed
    in half: TEXT                        what it says instead where only half is there
    nothing names it: REASON             the how-to says so too
    not needed: REASON                   the example has nothing to do here

    === service/debate/formats.py        texts that are replaced in a file
    --- old
    the text that stands once in the file
    --- new
    the text that takes its place
    +++ service/debate/duel.py           a new file
    +++ NEW from OLD                     a copy of a file
    >>> tests/vectors/x.jsonl            lines that are added at the end of a file
    $ python -m tests.vectors.schemas    a command that writes files
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.change.tree import ROOT, Append, Edit, Run, Step, Write

HERE = Path(__file__).parent
KINDS = ("format", "field", "metric", "wire", "rule")
HALVES = ("half", "half only")
_STEP = re.compile(r"^== (?P<name>.+)\n(?P<said>(?:(?!== ).+\n)*)", re.MULTILINE)
_PART = re.compile(
    r"^(?:=== (?P<edited>\S+)|>>> (?P<longer>\S+)|\+\+\+ (?P<new>\S+)(?: from (?P<copied>\S+))?"
    r"|\$ python (?P<run>.+))\n",
    re.MULTILINE,
)
_EDIT = re.compile(r"^--- old\n(?P<old>.+?)^--- new\n(?P<new>.*?)(?=^--- old\n|\Z)", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"(half only|half|named by: |in half: |nothing names it: |not needed: )(.*)")


class NotAStepError(ValueError):
    """A file of steps that cannot be read."""


class Said(NamedTuple):
    """What the file says of one step; ``why`` is there where nothing names it, or where there is nothing to do."""

    half: str | None
    named: tuple[str, ...]
    in_half: tuple[str, ...]
    why: str | None


class Toy(NamedTuple):
    """A toy change: what is done, and what is said of each step."""

    kind: str
    steps: tuple[Step, ...]
    said: Mapping[str, Said]

    @property
    def whole(self) -> tuple[Step, ...]:
        """Every step of the how-to."""
        return tuple(step for step in self.steps if self.said[step.step].half != "half only")

    @property
    def half(self) -> tuple[Step, ...]:
        """As much as somebody has done that begins."""
        return tuple(step for step in self.steps if self.said[step.step].half)

    @property
    def missing(self) -> Mapping[str, tuple[str, ...]]:
        """What a run says of each step that the half-made change lacks; of one that is wrong from the start, that."""
        wrong = {name: said.in_half for name, said in self.said.items() if said.half == "half only"}
        lacking = {name: said.in_half or said.named for name, said in self.said.items() if not said.half}
        return wrong or {name: texts for name, texts in lacking.items() if texts}


def toy(kind: str) -> Toy:
    """The toy change of a kind; raises `NotAStepError`."""
    return read(kind, (HERE / kind / "steps.txt").read_text(encoding="utf-8"))


def read(kind: str, text: str) -> Toy:
    """The toy change in the text of its ``steps.txt``; raises `NotAStepError`."""
    steps: list[Step] = []
    said: dict[str, Said] = {}
    found = [*_STEP.finditer(text)]
    for one, after in zip(found, [*found, None][1:], strict=True):
        name = one["name"]
        if name in said:
            raise NotAStepError(f"expected each step once, found {name!r} again")
        said[name] = _said(name, one["said"])
        done = [*_parts(kind, name, text[one.end() : after.start() if after else len(text)])]
        if not done and said[name].why is None:
            raise NotAStepError(f"expected something to do in {name!r}, found nothing; say why it is not needed")
        steps += done
    return Toy(kind, tuple(steps), said)


def _said(name: str, lines: str) -> Said:
    parts = [_SAID.fullmatch(line) for line in lines.splitlines()]
    if None in parts:
        raise NotAStepError(f"expected lines as tests/change/toy.py lists them in {name!r}, found {lines!r}")
    of = [(part[1].rstrip(": "), part[2]) for part in parts if part is not None]
    half = next((key for key, _ in of if key in HALVES), None)
    why = next((value for key, value in of if key in ("nothing names it", "not needed")), None)
    named = tuple(value for key, value in of if key == "named by")
    if half is None and bool(named) == (why is not None):
        raise NotAStepError(f"expected either what names {name!r} or why nothing does, found {lines!r}")
    return Said(half, named, tuple(value for key, value in of if key == "in half"), why)


def _parts(kind: str, step: str, text: str) -> Iterator[Step]:
    found = [*_PART.finditer(text)]
    if text[: found[0].start() if found else len(text)].strip():
        raise NotAStepError(f"expected a file or a command first in {step!r}, found {text[:60]!r}")
    for one, after in zip(found, [*found, None][1:], strict=True):
        body = text[one.end() : after.start() if after else len(text)]
        if one["edited"]:
            edits = [Edit(step, one["edited"], e["old"], e["new"].rstrip("\n") + "\n") for e in _EDIT.finditer(body)]
            if not edits:
                raise NotAStepError(f"expected a text and what replaces it in {one['edited']} of {step!r}, found none")
            yield from edits
        elif one["longer"]:
            yield Append(step, one["longer"], body.rstrip("\n") + "\n")
        elif one["new"]:
            source = ROOT / one["copied"] if one["copied"] else HERE / kind / f"{one['new']}.txt"
            yield Write(step, one["new"], source.read_text(encoding="utf-8"))
        else:
            yield Run(step, tuple(one["run"].split()))
