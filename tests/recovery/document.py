"""The table of docs/evaluation.md, which `make evaluation-recovery DOCS=1` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.figures import rewritten
from tests.recovery.model import Setting
from tests.recovery.tally import Line

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "evaluation.md"
BEGIN = "<!-- Written by `make evaluation-recovery DOCS=1` -->"


def table(settings: Sequence[Setting], found: Sequence[Line], seeds: int) -> str:
    """Each setting with the least share of its intervals that held the truth, and what was said wrongly."""
    return "\n".join(_rows(settings, found, seeds)) + "\n"


def _rows(settings: Sequence[Setting], found: Sequence[Line], seeds: int) -> Iterator[str]:
    yield f"{seeds:,} runs of each setting; shares of runs."
    yield ""
    yield "| what is true | exact intervals held it | other intervals held it | said wrongly | seen | stated at most |"
    yield "|---|---|---|---|---|---|"
    for setting in settings:
        own = [line for line in found if line.setting == setting.name]
        first = f"| {setting.about} | {_least(own, 'exact')} | {_least(own, 'other')} |"
        for line in (one for one in own if one.sort == "claim"):
            yield f"{first} {line.what} | {_share(line.wrong / line.of)} | {_share(line.rate or 0.0)} |"
            first = "| | | |"


def _least(own: Sequence[Line], sort: str) -> str:
    held = [line.held for line in own if line.sort == sort]
    return _share(min(held)) if held else ""


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def write(written: str) -> None:
    """Put the table between its marks; raises ValueError for a document without them."""
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text("utf-8"), BEGIN, written), "utf-8")
