"""The table of a pack has one reading, and a forged one costs little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from io import BytesIO

import pytest

from service.audit.pack import COLUMNS, COLUMNS_BEFORE, encode_columns, encode_row
from service.verify import pack_table
from service.verify.pack_table import DecisionTable

ROWS = [
    {
        **dict.fromkeys(COLUMNS, "x"),
        "debate": "d1",
        "status": "completed",
        "question": '=1\r\n"a", b\n',
        "answer": "A.",
    },
    {**dict.fromkeys(COLUMNS, "y"), "debate": "d2", "status": "declined", "answer": ""},
]
ONE, TWO = map(encode_row, ROWS)
HEAD = encode_columns()
FORGED = encode_row({**ROWS[0], "debate": "forged"})


def compared(data: bytes | BytesIO) -> DecisionTable:
    table = DecisionTable(BytesIO(data) if isinstance(data, bytes) else data)
    for row in ROWS:
        table.compare(row)
    table.end()
    return table


def test_the_table_of_the_rows_has_no_difference() -> None:
    table = compared(HEAD + ONE + TWO)

    assert (table.broken, table.said, table.count) == (None, [], 2)
    assert table.statuses == {"completed": 1, "declined": 1}


@pytest.mark.parametrize(("evaluations", "unmarked"), [(("", ""), []), (("", "e1"), ["d2"])])
def test_a_table_of_the_columns_before_is_compared_and_its_items_are_named(
    evaluations: tuple[str, str], unmarked: list[str]
) -> None:
    rows = [{**row, "evaluation": one} for row, one in zip(ROWS, evaluations, strict=True)]
    lines = [encode_columns(COLUMNS_BEFORE), *(encode_row(row, COLUMNS_BEFORE) for row in rows)]

    for forged in (False, True):
        table = DecisionTable(BytesIO(b"".join(lines).replace(b"y", b"z", 1) if forged else b"".join(lines)))
        for row in rows:
            table.compare(row)
        table.end()

        assert (table.broken is not None) is forged
        assert table.unmarked == unmarked


@pytest.mark.parametrize("line", [b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b" ", b"\xef\xbb\xbf", b'""', b"\x1a"])
def test_no_byte_is_free_before_between_or_behind_rows(line: bytes) -> None:
    for data in (
        line + HEAD + ONE + TWO,
        HEAD + line + ONE + TWO,
        HEAD + ONE + line + TWO,
        HEAD + ONE + TWO + line,
        HEAD + ONE + TWO + line + FORGED,
        HEAD + ONE + TWO[:-2] + line + b"\r\n",
    ):
        table = compared(data)
        assert table.broken is not None or (table.said == ["d2"] and TWO not in data), data


@pytest.mark.parametrize(
    "rows",
    [
        [ONE, TWO, FORGED],
        [ONE],
        [TWO, ONE],
        [ONE.replace(b"\r\n", b"\n"), TWO],
        [ONE[:-2] + b"\n", TWO],
        [ONE[:-2] + b"\r", TWO],
        [ONE[:-4] + b'"A.', TWO],
        [ONE[:-4] + b'"A."\r\n', TWO],
        [ONE[:-4] + b"=A.\r\n", TWO],
        [ONE[:-4] + b"\xff\r\n", TWO],
        [ONE[:-2] + b",more\r\n", TWO],
        [ONE.replace(b"x", b"z", 1), TWO],
    ],
)
def test_rows_that_are_not_those_of_the_bundles_differ(rows: Sequence[bytes]) -> None:
    assert compared(HEAD + b"".join(rows)).broken is not None


@pytest.mark.parametrize("answer", ["B.", "", "A much longer answer, \r\n of two lines", 'said "so"'])
def test_another_sentence_is_noted_and_the_rows_behind_it_are_compared(answer: str) -> None:
    said = encode_row({**ROWS[0], "answer": answer})

    table, forged = compared(HEAD + said + TWO), compared(HEAD + said + TWO.replace(b"y", b"z", 1))

    assert (table.broken, table.said) == (None, ["d1"])
    assert forged.broken is not None


def test_a_row_that_is_passed_over_is_one_row() -> None:
    table = DecisionTable(BytesIO(HEAD + ONE + TWO))

    table.skip("d1")
    table.compare(ROWS[1])
    table.end()

    assert (table.broken, table.skipped, table.count) == (None, ["d1"], 2)


@pytest.mark.parametrize("piece", [b'"' + b"a\n" * 2_000 + b'",', b"," * 4_000, b'"a\n",'])
def test_a_row_without_end_costs_the_memory_of_the_longest_row(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_table, "ROW_MAX", 1 << 16)
    file = BytesIO(HEAD + piece * ((1 << 22) // len(piece)))
    tracemalloc.start()

    table = compared(file)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.broken is not None
    assert table.broken.expected == "at most 65536 bytes"
    assert file.tell() < 1 << 18
    assert peak < 1 << 20
