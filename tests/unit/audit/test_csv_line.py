"""A table for people: no cell is a formula, no character acts, each row is a line."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.audit.csv_line import _safe, _safe_json, csv_line
from service.unseen import PATTERN

texts = st.one_of(st.text(), st.text("=+-@\uff1d\u2212'\",;| \t\r\n\u200b1.a"))


plain = st.from_regex(r"[A-Za-z0-9@+][A-Za-z0-9 ._:/@+-]{0,12}", fullmatch=True)


def as_defined(cells: list[str], json: tuple[int, ...]) -> bytes:
    """Each cell spelled by itself, and written by the standard library."""
    out = StringIO(newline="")
    shown = [_safe_json(cell) if place in json else _safe(cell) for place, cell in enumerate(cells)]
    csv.writer(out, lineterminator="\r\n").writerow(shown)
    return out.getvalue().encode()


def read(line: bytes) -> list[str]:
    (row,) = csv.reader(StringIO(line.decode(), newline=""), strict=True)
    return row


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("+1-555", "'+1-555"),
        ("- an item", "'- an item"),
        ("\uff1d1", "'\uff1d1"),
        ("\uff0b1", "'\uff0b1"),
        ("\uff0d1", "'\uff0d1"),
        ("\uff20a", "'\uff20a"),
        ("\u22121", "'\u22121"),
        (" \u3000=1", "' \u3000=1"),
        ('"=1', "'\"=1"),
        ("\u200b=1", "[U+200B]=1"),
        ("a\n=1", "a \u23ce =1"),
        ("\r=1", "\u23ce =1"),
        ("\t=1", "' =1"),
        ("a;=1", "a;'=1"),
        ("a,\uff1d1", "a,'\uff1d1"),
        ("a | -b", "a | '-b"),
        ("-1.50", "-1.50"),
        ("+2e9", "+2e9"),
        ("3, -5; 7", "3, -5; 7"),
        ("a@example.org", "a@example.org"),
        ("\x1b[2J\x9b\u202e", "[U+001B][2J[U+009B][U+202E]"),
        ("a\u2028b\x85c", "a \u23ce b \u23ce c"),
    ],
)
def test_a_cell_says_what_it_holds_and_runs_nothing(cell: str, shown: str) -> None:
    assert read(csv_line(["x", cell])) == ["x", shown]


@given(st.lists(texts, min_size=2))
@example(["'=1", "''=1"])
def test_a_line_of_cells_that_were_read_is_that_line_again(cells: list[str]) -> None:
    line = csv_line(cells)

    assert csv_line(read(line)) == line
    assert line.count(b"\n") == 1
    assert not re.search(f"(?![\r\n])[{PATTERN}]", line.decode())


@given(st.lists(plain | st.just("") | texts), st.lists(st.integers(0, 8), max_size=2).map(tuple))
@example([""], ())
@example([], ())
@example(["a\n", "b"], ())
@example(["a\n=1"], ())
@example(["b", "=1", "c"], (1,))
@example(["1", "-5", "+x", "a@b"], ())
@example(["", '{"a":"b, -c\u200b"}', "x"], (1,))
def test_a_line_is_its_cells_each_spelled_by_itself(cells: list[str], json: tuple[int, ...]) -> None:
    assert csv_line(cells, json) == as_defined(cells, json)


@given(texts)
def test_a_program_that_splits_at_a_semicolon_finds_no_formula_either(text: str) -> None:
    for separator in ",;|":
        for cell in csv_line(["x", text]).decode().split(separator):
            bare = cell.strip().lstrip('" \u3000')
            first = re.split("[,;|]", bare)[0]
            number = re.fullmatch(r'[+-]\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*"?', first)
            assert number or not bare.startswith(("=", "+", "-", "@", "\uff1d", "\u2212"))
