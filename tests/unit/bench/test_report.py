"""docs/performance.md has the rows of the bench, with the figures of docs/performance.json, and no others."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bench import report, run
from bench.figures import END, Figure, NotRun, Row, rewritten
from bench.table import PARTS

ABOUT = {"measured": "2026-11-25", "commit": "abc", "machine": "2 cores", "load before": "0.1", "Python": "3.11.7"}
GATE = {"gate": {"one": Figure(12.5, 12.0, 13.0, 5, 0.625, True, "warm")}}


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.KEPT.read_text("utf-8"))
    return found


def test_the_tables_of_the_document_are_those_that_the_bench_writes() -> None:
    document = report.DOCUMENT.read_text("utf-8")
    written = rewritten(document, report.BEGIN, report.tables(kept()))

    assert written == document, "write them with: python -m bench.report"


def test_every_figure_that_is_kept_is_of_a_row_that_the_bench_has() -> None:
    for name, part in kept().items():
        assert part["rows"].keys() <= PARTS[name].rows.keys()


def test_every_part_is_a_section_and_every_row_a_line_of_it() -> None:
    sections = dict(re.findall(r"^### (\S+)$(.*?)(?=^###? |\Z)", report.tables({}), re.MULTILINE | re.DOTALL))

    assert list(sections) == list(PARTS)
    for name, part in PARTS.items():
        shown = [row.split(" | ")[0].removeprefix("| ") for row in sections[name].splitlines() if row.startswith("| ")]
        assert shown == ["what", *(row.what for row in part.rows.values())]


def test_a_part_that_is_measured_again_takes_the_place_of_its_figures_alone(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "KEPT", tmp_path / "performance.json")
    monkeypatch.setattr(report, "DOCUMENT", tmp_path / "performance.md")
    report.DOCUMENT.write_text(f"Words.\n\n{report.BEGIN}\n{END}\n\nMore.\n", "utf-8")
    report.keep(ABOUT, {"limits": {"cpu": NotRun("not run: so")}})
    report.keep({**ABOUT, "commit": "def"}, GATE)

    text = report.DOCUMENT.read_text("utf-8")
    assert text.startswith("Words.\n\n<!-- Written by")
    assert text.endswith(f"{END}\n\nMore.\n")
    assert "| one decision | 12.5 us | 12.0 to 13.0 of 5 | at most 20 us | 0.625 holds | warm |" in text
    assert "| our CPU in process | not run: so | | without limits | | |" in text
    assert "2026-11-25 at def, 2 cores, load 0.1 before; Python 3.11.7." in text
    assert list(kept()) == ["limits", "gate"]


def test_a_document_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="found no pair of them"):
        rewritten(f"{END} {report.BEGIN}", report.BEGIN, "")


def test_a_printed_line_has_the_figure_its_spread_what_it_is_held_against_and_the_ratio() -> None:
    row = Row("CPU", "ms", 0.5, peer="the leanest")

    told = run.line("http", row, Figure(4.0, 3.0, 5.0, 5, 0.6, False, "loomflow 6.7 ms")).split()
    assert (
        " ".join(told) == "http CPU 4.00 ms 3.00 to 5.00 of 5 at most 0.5 of the leanest 0.600 missed loomflow 6.7 ms"
    )
    assert run.line("http", row, NotRun("not run: so")).split() == ["http", "CPU", "not", "run:", "so"]


def test_an_unknown_part_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["gates"])

    assert "no part is named gates; the parts are http, statements" in capsys.readouterr().err


def test_every_part_that_a_document_names_is_there() -> None:
    texts = [path.read_text("utf-8") for path in sorted(report.DOCS.rglob("*.md"))]
    named = [
        part
        for text in texts
        for quoted, plain in re.findall(r"make bench [^`\n]*?ONLY=(?:\"([^\"]+)\"|(\w+))", text)
        for part in (quoted or plain).split()
    ]

    assert {"http", "find", "injection"} <= set(named)
    assert set(named) - set(PARTS) == set()


def test_every_part_is_measured_and_each_row_has_something_to_say() -> None:
    for name, part in PARTS.items():
        assert callable(part.measure)
        assert part.turns in (1, 3, 5), name
        assert part.rows, name
        for row in part.rows.values():
            assert row.what, name
