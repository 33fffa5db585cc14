"""docs/audit.md says what is handed out: every block, column, filter and kind of record, and no other."""

import re
from pathlib import Path

from service.audit import log_events
from service.audit.bundle import FORMAT
from service.audit.export import COLUMNS, FILTERS
from service.audit.export import FORMAT as EXPORT
from service.audit.record import Envelope
from tests.vectors.schemas import forms

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "audit.md").read_text("utf-8")


def table(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, as cells."""
    below = TEXT.split(f"{heading}\n", 1)[1]
    lines = below[below.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named(cells: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cells)


def test_every_file_is_told_of_and_when_it_is_there() -> None:
    files = {name.partition("/")[0] for row in table("## The bundle of one debate") for name in named(row[0])}
    files -= {".payload.json", ".salt"}
    there = {name.partition("/")[0] for row in table("### Which files there are") for name in named(row[0])}

    assert files - {"manifest.json"} == there


def test_every_column_and_filter_is_told() -> None:
    found = [name for row in table("### CSV, for reading") for name in named(row[0])]
    assert found == list(COLUMNS), f"docs/audit.md, CSV: expected the columns in the order {', '.join(COLUMNS)}"
    assert [name for row in table("## The export of a log") for name in named(row[0])] == list(FILTERS)


def test_every_member_of_a_leaf_and_every_kind_is_told() -> None:
    leaf = table("once; those bytes are hashed, stored, handed out, and never encoded again.")
    kinds = {name.removeprefix("payload.").removesuffix(".v1") for name in forms() if name.startswith("payload.")}

    assert {name for row in leaf for name in named(row[0])} == set(Envelope.__struct_encode_fields__)
    assert set(next(named(row[1]) for row in leaf if row[0] == "`kind`")) == kinds >= set(log_events.KINDS)


def test_the_formats_are_those_that_are_written() -> None:
    assert f"`{FORMAT}`" in TEXT
    assert f"`{EXPORT}`" in TEXT
