"""The page from which another program leaves out what no reader sees has the ranges of the code."""

from __future__ import annotations

import re
from pathlib import Path

from service.debate import neutral

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "format" / "requests.md").read_text("utf-8")
CHARACTERS = {
    "right-to-left": neutral._RIGHT_TO_LEFT,
    "joining": neutral._JOINING,
    "pictographs": neutral._PICTOGRAPHS,
    "ideographs": neutral._IDEOGRAPHS,
    "Mongolian": neutral._MONGOLIAN,
}


def row(name: str) -> tuple[tuple[int, int], ...]:
    """The ranges in the second cell of the row that begins with this name."""
    (cell,) = re.findall(rf"^\| {name} \| ([0-9A-F -]+) \|", PAGE, re.MULTILINE)
    ends = (part.partition("-")[::2] for part in cell.split())
    return tuple((int(first, 16), int(last or first, 16)) for first, last in ends)


def test_every_kind_has_the_code_points_of_the_page() -> None:
    assert {kind: row(f"`{kind}`") for kind in neutral.TAKEN_KINDS} == dict(neutral._KINDS)


def test_every_set_of_neighbours_has_the_code_points_of_the_page() -> None:
    assert {name: row(name) for name in CHARACTERS} == CHARACTERS


def test_the_bounds_are_those_of_the_page() -> None:
    assert f"more than {neutral.MOST_TURNS:,} of these" in PAGE
    assert f"its first {neutral._LONGEST} characters" in PAGE
