"""Figures as a file of JSON and as the tables of docs/performance.md.

docs/performance.json keeps the figures that the document shows, each part with the machine on which it was measured, so
that a part can be measured again alone. The document's tables are made of it and of `bench/table.py`, and a test
compares them. After a change of the table alone, `python -m bench.report` writes them again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import Figure, NotRun, Part, Row, as_json, from_json, rewritten, shown
from bench.table import PARTS

DOCS = Path(__file__).resolve().parent.parent / "docs"
DOCUMENT, KEPT = DOCS / "performance.md", DOCS / "performance.json"
BEGIN = "<!-- Written by `make bench DOCS=1`, from performance.json -->"
Found = Mapping[str, Mapping[str, Figure | NotRun]]


class Cells(NamedTuple):
    """How a row is shown beside its figure."""

    spread: str
    held: str
    ratio: str


def cells(row: Row, figure: Figure) -> Cells:
    """The spread, what it is held against, and the ratio with the verdict."""
    spread = "" if figure.turns == 1 else f"{shown(figure.least)} to {shown(figure.greatest)} of {figure.turns}"
    return Cells(spread, _held(row), _ratio(figure))


def _held(row: Row) -> str:
    bound = f"at {row.bound} "
    if row.peer:
        return f"{row.peer}" if row.limit is None else f"{bound}{row.limit:g} of {row.peer}"
    return "" if row.limit is None else f"{bound}{row.limit:,g} {row.unit}".rstrip()


def _ratio(figure: Figure) -> str:
    verdict = {True: " holds", False: " missed", None: ""}[figure.holds]
    return f"{'-' if figure.ratio is None else shown(figure.ratio)}{verdict}"


def write(path: Path, about: Mapping[str, str], found: Found) -> None:
    """The figures of a run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(as_kept(about, found), indent=1)}\n", "utf-8")


def as_kept(about: Mapping[str, str], found: Found) -> dict[str, Any]:
    """Each part with the machine and its rows."""
    return {
        name: {"machine": dict(about), "rows": {key: as_json(figure) for key, figure in rows.items()}}
        for name, rows in found.items()
    }


def keep(about: Mapping[str, str], found: Found) -> None:
    """Put the figures of a run in the place of those that the document has of the same parts, and write it anew."""
    kept = {**json.loads(KEPT.read_text("utf-8")), **as_kept(about, found)} if KEPT.is_file() else as_kept(about, found)
    kept = {name: kept[name] for name in PARTS if name in kept}
    KEPT.write_text(f"{json.dumps(kept, indent=1)}\n", "utf-8")
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text("utf-8"), BEGIN, tables(kept)), "utf-8")


def tables(kept: Mapping[str, Any]) -> str:
    """A table for each part; a part or a row that was never measured says so."""
    return "\n".join(line for name, part in PARTS.items() for line in _table(name, part, kept.get(name)))


def _table(name: str, part: Part, kept: Mapping[str, Any] | None) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    yield f"{part.about[0].upper()}{part.about[1:]}. {_where(kept)}"
    yield ""
    yield "| what | median | least to greatest | held against | ratio | |"
    yield "|---|---|---|---|---|---|"
    for key, row in part.rows.items():
        found = kept["rows"].get(key) if kept else None
        yield _row(row, from_json(found) if found else NotRun("not run"))
    yield ""


def _row(row: Row, figure: Figure | NotRun) -> str:
    if isinstance(figure, NotRun):
        return f"| {row.what} | {figure.why} | | {_held(row)} | | |"
    found = cells(row, figure)
    value = f"{shown(figure.value)} {row.unit}".rstrip()
    return f"| {row.what} | {value} | {found.spread} | {found.held} | {found.ratio} | {figure.note} |"


def _where(kept: Mapping[str, Any] | None) -> str:
    if kept is None:
        return "Not measured yet."
    about = dict(kept["machine"])
    when, commit = about.pop("measured"), about.pop("commit")
    machine, load = about.pop("machine"), about.pop("load before")
    versions = ", ".join(f"{name} {value}" for name, value in about.items())
    return f"{when} at {commit}, {machine}, load {load} before; {versions}."


if __name__ == "__main__":
    keep({}, {})
