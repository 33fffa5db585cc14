"""What an edit with the log's key may come to: the table of docs/verification.md, read, and compared with a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import NamedTuple

from service.audit.bundle import unpack
from service.cli.audit.verify import tools
from service.verify.steps import FAILED, Trust, VerificationReport
from tests.fixtures.bundles import LOG_KEY, Draft
from tests.mutations.harness import FOLDER, NAMES, pinned
from tests.mutations.resealed import DRAWS, Original, Sealed, drawn, forged, member, originals

DOCUMENT = Path(__file__).parents[2] / "docs" / "verification.md"
HEADING = "### What an edit with the log's key comes to\n"
TRIES = 1_000
"""How many edits of a row's members are tried until one comes to what the row says."""


class Row(NamedTuple):
    """A row of the table: the members, ``*`` for any name in them, and the exit code of their edits."""

    members: tuple[str, ...]
    code: int

    def holds(self, name: str) -> bool:
        """Whether a member is one of this row."""
        return any(fnmatchcase(name, pattern) for pattern in self.members)


class Came(NamedTuple):
    """What an edit of a bundle came to."""

    bundle: str
    edit: Sealed
    report: VerificationReport


def rows() -> list[Row]:
    """The rows of the table."""
    section = DOCUMENT.read_text("utf-8").partition(HEADING)[2].partition("\n##")[0]
    cells = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return [Row(tuple(re.findall(r"`([^`]+)`", members)), int(code)) for members, code, _ in cells]


def recorded() -> dict[str, Original]:
    """The recorded bundles, taken apart."""
    return originals({name: Draft.of(unpack((FOLDER / f"{name}.zip").read_bytes())) for name in NAMES})


def stolen() -> Trust:
    """What an examiner pins who trusts the forger's log, and the approver: no witness's lines come with that key."""
    return Trust(keys=(LOG_KEY.public, pinned("approved").keys[1]), allow_unwitnessed=True)


def mutate(bundles: dict[str, Original], edits: int, seed: int) -> Iterator[Came]:
    """So many edits, bundle after bundle in turn."""
    trust, own, random = stolen(), tools(), Random(seed)
    for nth in range(edits):
        name = NAMES[nth % len(NAMES)]
        edit = drawn(bundles[name], random)
        yield Came(name, edit, forged(edit, trust, own))


def judge(came: Came, listed: Iterable[Row]) -> str:
    """Why an edit came to something that the table does not say; empty if it did not."""
    code = came.report.code
    if code == FAILED or any(row.code == code and row.holds(came.edit.member) for row in listed):
        return ""
    gaps = ", ".join(step.name for step in came.report.gaps)
    return f"exit {code}{f' ({gaps})' if gaps else ''}, and docs/verification.md does not list {came.edit.member}"


def witness(bundles: dict[str, Original], row: Row, seed: int) -> Came | None:
    """An edit of a row's members that comes to what the row says; ``None`` if none of many does."""
    trust, own, random = stolen(), tools(), Random(seed)
    for _ in range(TRIES):
        bundle = random.choice(NAMES)
        edit = _of(bundles[bundle], row, random)
        if edit is not None and row.holds(edit.member):
            came = Came(bundle, edit, forged(edit, trust, own))
            if came.report.code == row.code:
                return came
    return None


def _of(one: Original, row: Row, random: Random) -> Sealed | None:
    """An edit of a member of a row, or of what is more than a member."""
    draws = [draw.edit for draw in DRAWS if any(map(row.holds, draw.names))]
    names = [name for name in one.places if row.holds(name)]
    if draws and (not names or random.random() < 0.5):
        return random.choice(draws)(one, random)
    return member(one, random, random.choice(names)) if names else None
