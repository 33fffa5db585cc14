"""Each line of the log is declared once, named on docs/logs.md with what to do about it, and used."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from string import Formatter

import pytest

from service import log_lines
from service.log_lines import EVERY, LogLine

CONSTANTS = {name: found for name, found in vars(log_lines).items() if isinstance(found, LogLine)}
ROW = re.compile(r"^\| `([\w.]+)` \| (\w+) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)


def rows(root: Path) -> dict[str, tuple[str, ...]]:
    page = (root / "docs/logs.md").read_text("utf-8")
    return {event: tuple(cells) for event, *cells in ROW.findall(page)}


def test_the_page_has_each_line_with_its_level_its_words_and_its_fields(root: Path) -> None:
    stated = {event: cells[:3] for event, cells in rows(root).items()}

    assert stated == {
        line.name: (
            logging.getLevelName(line.level).lower(),
            line.words,
            ", ".join(f"`{field}`" for field in line.fields) or "none",
        )
        for line in EVERY.values()
    }


def test_the_page_says_what_to_do_about_each_warning_and_error(root: Path) -> None:
    done = {event: cells[3] for event, cells in rows(root).items()}

    assert [line.name for line in EVERY.values() if line.level >= logging.WARNING and len(done[line.name]) < 7] == []


def test_the_page_leads_to_sections_that_are_there(root: Path) -> None:
    page = (root / "docs/logs.md").read_text("utf-8")
    headings = {
        re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", (root / "docs/runbook.md").read_text("utf-8"), re.MULTILINE)
    }

    assert set(re.findall(r"\(runbook\.md#([\w-]+)\)", page)) <= headings


def test_each_line_is_written_somewhere(root: Path) -> None:
    code = "".join(path.read_text("utf-8") for path in (root / "service").rglob("*.py"))

    assert [name for name in CONSTANTS if f"log_lines.{name}" not in code] == []
    assert sorted(line.name for line in CONSTANTS.values()) == sorted(EVERY)


def test_no_line_is_written_past_the_declarations(root: Path) -> None:
    past = re.compile(
        r"\blogging\.(?:debug|info|warning|error|exception|critical|log)\(|\bLOG\.(?!setLevel|isEnabledFor)"
    )
    found = {
        str(path.relative_to(root)) for path in (root / "service").rglob("*.py") if past.search(path.read_text("utf-8"))
    }

    assert found == {"service/log_lines.py"}


@pytest.mark.parametrize("line", EVERY.values(), ids=EVERY)
def test_a_line_has_a_plain_name_and_fields_that_its_words_and_records_allow(line: LogLine) -> None:
    taken = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", log_lines.EVENT}
    taken |= {"time", "level", "service", "version", "error", "logger"}

    assert re.fullmatch(r"[a-z]+\.[a-z0-9_]+", line.name)
    assert taken & {*line.fields} == set()
    assert {field for _, field, _, _ in Formatter().parse(line.words) if field} <= {*line.fields}


def test_a_field_that_is_not_declared_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"expected fields of debate\.left_unfinished"):
        log_lines.DEBATE_LEFT(debate="d", code="c", answer="words of a reply")


def test_a_name_stands_for_one_line() -> None:
    with pytest.raises(ValueError, match="for the second time"):
        LogLine("debate.left_unfinished", logging.ERROR, "again")


def test_the_ids_of_a_block_are_those_of_the_blocks_around_it_too() -> None:
    with log_lines.bound(request="r"), log_lines.bound(debate="d", tenant=None):
        assert dict(log_lines.bound_fields()) == {"request": "r", "debate": "d"}
    assert dict(log_lines.bound_fields()) == {}
