"""The tables of docs/evaluation.md, which `make evaluation-recovery DOCS=1` writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.figures import rewritten
from tests.recovery.model import Setting
from tests.recovery.tally import Line
from tests.recovery.whole import Ran, Whole

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "evaluation.md"
BEGIN = "<!-- Written by `make evaluation-recovery DOCS=1` -->"
WHOLE = "<!-- Written by `make evaluation-recovery DOCS=1` too -->"


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


def whole_table(settings: Sequence[Whole], ran: Mapping[str, Ran], runs: int) -> str:
    """Each setting of whole runs with the rates that arrived in its scores, and what was found."""
    return "\n".join(_whole_rows(settings, ran, runs)) + "\n"


def _whole_rows(settings: Sequence[Whole], ran: Mapping[str, Ran], runs: int) -> Iterator[str]:
    yield f"{runs} whole runs of each setting; cases of all of them together."
    yield ""
    yield "| what is true | what is counted | true | in the scores | found |"
    yield "|---|---|---|---|---|"
    for setting in settings:
        first, found = f"| {setting.about} |", counted(ran[setting.name].found)
        for rate in ran[setting.name].rates:
            arrived = f"{rate.cases} of {rate.of}: {_share(rate.cases / rate.of)}"
            yield f"{first} {rate.what} | {_share(rate.true)} | {arrived} | {found} |"
            first, found = "| |", ""


def counted(found: Counter[str]) -> str:
    """Outcomes with how often each was found, the most frequent first."""
    return "; ".join(f"{name} {times}" for name, times in sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def write(begin: str, written: str) -> None:
    """Put a table between its marks; raises ValueError for a document without them."""
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text("utf-8"), begin, written), "utf-8")
