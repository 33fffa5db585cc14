"""What an examiner has in hand: a file that is no evidence at all, and beside one a report and golden sets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from service.cli.terminal_text import unbroken
from service.verify.steps import VerificationReport, VerificationStep

if TYPE_CHECKING:
    from service.evaluation.sets.golden_set import GoldenSet

REPORT_MAX = 1 << 28
"""The most bytes of a report that is compared."""
SNIFFED = 64
"""The bytes that show that a file is of another kind."""


class Unreadable(click.UsageError):
    """A file cannot be read."""


class ReportInHand(NamedTuple):
    """A report that a person holds: its name without folders, and its bytes."""

    name: str
    content: bytes


class Asked(NamedTuple):
    """What to carry out: every step, the comparison with a report in hand, and scores by the golden sets in hand."""

    every: bool
    shown: ReportInHand | None = None
    sets: Mapping[str, GoldenSet] | None = None

    @property
    def content(self) -> bytes | None:
        """The bytes of the report."""
        return self.shown and self.shown.content


def golden_sets(folders: tuple[Path, ...]) -> Mapping[str, GoldenSet] | None:
    """The golden sets in hand, by id; ``None`` where none was named. Raises `BadSet` and `NoSet`."""
    if not folders:
        return None
    from service.evaluation.sets import files as golden

    today = datetime.now(UTC).date()
    return {found.manifest.id: found for found in (golden.load(folder, today) for folder in folders)}


def held(path: Path) -> ReportInHand:
    """A report in hand; raises `Unreadable`."""
    try:
        with path.open("rb") as file:
            content = file.read(REPORT_MAX + 1)
    except OSError as error:
        raise Unreadable(f"{unbroken(str(path))} cannot be read: {error.strerror or type(error).__name__}") from None
    if len(content) > REPORT_MAX:
        raise Unreadable(f"{unbroken(str(path))} is no report: it has more than {REPORT_MAX >> 20} MiB")
    return ReportInHand(path.name, content)


def neither(start: bytes) -> VerificationReport | None:
    """The report on a file that begins neither as a ZIP nor as JSON; ``None`` for one that may be an export."""
    if start.startswith(b"{"):
        return None
    found = "another file" if start else "an empty file"
    if start.lstrip()[:1] == b"<":
        found = "an HTML or XML page, such as a sign-in page that was saved in its place"
    expected = "a bundle or a pack (a ZIP), or an export (lines of JSON)"
    detail = f"expected {expected}, found {found}; get the file anew"
    step = VerificationStep(1, "file", "FAILED", detail, expected=expected, found=found)
    return VerificationReport("unknown", {}, (step,))
