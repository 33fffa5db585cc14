"""An export reads back line by line, each line in one spelling, and one that was cut or stirred is refused."""

import csv
import json
import re
import struct
from collections.abc import Callable
from io import StringIO
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.export import (
    COLUMNS,
    BadExport,
    Footer,
    Header,
    Row,
    decode_footer,
    decode_header,
    decode_row,
    encode_cells,
    encode_columns,
    encode_footer,
    encode_header,
    encode_row,
    read,
)
from service.audit.record import Actor, Context, Link, RecordPlace, Times, Writer, encode_context, seal
from service.unseen import PATTERN, escape_json

DEBATE = "0199c0de-0000-7000-8000-000000000001"
HEADER = Header(log="host/default/1", key="host+00+AA", size=3, checkpoint="a\n\nb\n", filters={}, complete=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
BYTES = st.binary(max_size=40)
PAIRS = st.none() | st.tuples(BYTES, TEXTS.map(str.encode))
PATHS = st.none() | st.lists(st.binary(min_size=32, max_size=32), max_size=3)
ROWS = st.builds(
    lambda index, leaf, payload, context, path: Row.of(index, leaf, payload=payload, context=context, path=path),
    st.integers(0, 2**62),
    TEXTS.map(str.encode),
    PAIRS,
    PAIRS,
    PATHS,
)
HEADERS = st.builds(
    Header,
    log=TEXTS,
    key=TEXTS,
    size=st.integers(0, 2**62),
    checkpoint=TEXTS,
    filters=st.dictionaries(TEXTS, TEXTS, max_size=3),
    complete=st.booleans(),
)


def rows(count: int) -> list[Row]:
    return [Row.of(index, b"{}", payload=(b"\x01", b"[]"), context=None, path=None) for index in range(count)]


def an_export(count: int = 3) -> list[bytes]:
    return [encode_header(HEADER), *map(encode_row, rows(count)), encode_footer(Footer(count))]


@given(ROWS)
def test_a_record_reads_back_and_its_line_is_one_line(row: Row) -> None:
    line = encode_row(row)

    assert decode_row(line) == row
    assert line.count(b"\n") == 1


@given(HEADERS, st.integers(0, 2**62))
def test_first_and_last_lines_read_back(header: Header, records: int) -> None:
    assert decode_header(encode_header(header)) == header
    assert decode_footer(encode_footer(Footer(records))) == Footer(records)


@given(st.binary(max_size=99), TEXTS.map(str.encode), PATHS)
def test_salts_texts_and_paths_are_given_back_as_the_bytes_that_they_were(
    salt: bytes, body: bytes, path: list[bytes] | None
) -> None:
    row = Row.of(7, body, payload=(salt, body), context=(salt, body), path=path)

    assert (row.leaf.encode(), bytes.fromhex(row.salt or ""), (row.payload or "").encode()) == (body, salt, body)
    assert (bytes.fromhex(row.context_salt or ""), (row.context or "").encode()) == (salt, body)
    assert row.hashes == path


@given(ROWS, st.data())
def test_a_line_has_one_spelling(row: Row, data: st.DataObject) -> None:
    line = bytearray(encode_row(row))
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255))

    try:
        found = decode_row(bytes(line))
    except BadExport:
        return
    assert encode_row(found) == bytes(line)


def test_an_export_reads_back_in_order() -> None:
    header, found = read(an_export())

    assert (header, list(found)) == (HEADER, rows(3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: [], "a first line"),
        (lambda lines: lines[1:], "a first line"),
        (lambda lines: lines[:-1], "was the file cut"),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], "spelling"),
        (lambda lines: [lines[0], *lines[2:]], "expected 3 records by the last line, found 2"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "in the order of their indexes"),
        (lambda lines: [lines[0], lines[1], *lines[1:-1], lines[-1]], "in the order of their indexes"),
        (lambda lines: [*lines, lines[-1]], "nothing behind the last line"),
        (lambda lines: [*lines, b""], "nothing behind the last line"),
        (lambda lines: [lines[0], b"\n", *lines[1:]], "a line with a record"),
        (lambda lines: [lines[0].replace(b"/1", b"/2", 1), *lines[1:]], "of format gainsay-export/1"),
        (lambda lines: [lines[0], b'{"index":0,' + lines[1][1:], *lines[2:]], "spelling"),
        (lambda lines: [lines[0], lines[1].replace(b"null", b"1"), *lines[2:]], "a line with a record"),
        (lambda lines: [lines[0], b"[" * 100_000, *lines[2:]], "a line with a record"),
    ],
)
def test_an_export_that_was_cut_or_stirred_is_refused(change: Callable[[list[bytes]], list[bytes]], words: str) -> None:
    with pytest.raises(BadExport, match=words):
        list(read(change(an_export()))[1])


def test_a_path_that_is_no_base64_is_refused() -> None:
    with pytest.raises(BadExport, match="base64 as the path of record 0"):
        _ = replace(rows(1)[0], path=("=",)).hashes


def a_row(**context: Any) -> Row:
    told = Context(**{**dict.fromkeys(Context.__struct_fields__), "task_type": "contract", "downside": "5", **context})
    writer = Writer(Actor("=w-1", "service", "worker", "databaseRole"), "bb" * 32)
    sealed = seal(
        b'{"kind":"x","text":"a, \\"b\\""}',
        bytes(32),
        "turn.spoke",
        place=RecordPlace("host/default/1", "default", DEBATE, "cc" * 32, "dd" * 32),
        writer=writer,
        link=Link(4, b""),
        times=Times("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.680Z"),
    )
    return Row.of(9, sealed.leaf, payload=(sealed.salt, sealed.payload), context=(b"", encode_context(told)), path=None)


def cells(row: Row) -> dict[str, str]:
    text = (encode_columns() + encode_cells(row)).decode()
    return next(csv.DictReader(StringIO(text, newline="")))


def test_a_line_of_csv_tells_who_when_and_about_what() -> None:
    row = a_row(use_case="credit", downside_basis="line one\nline two")

    assert cells(row) == {
        **dict.fromkeys(COLUMNS, ""),
        "log": "host/default/1",
        "index": "9",
        "debate": DEBATE,
        "n": "4",
        "kind": "turn.spoke",
        "occurred": "2026-01-02T03:04:05.678Z",
        "recorded": "2026-01-02T03:04:05.680Z",
        "actor": "'=w-1",
        "actorKind": "service",
        "actorRole": "worker",
        "actorVia": "databaseRole",
        "tenant": "default",
        "taskType": "contract",
        "useCase": "credit",
        "downside": "5",
        "downsideBasis": "line one \u23ce line two",
        "schema": "1",
        "build": "bb" * 32,
        "policy": "cc" * 32,
        "leafHash": cells(row)["leafHash"],
        "payload": row.payload,
    }
    assert len(bytes.fromhex(cells(row)["leafHash"])) == 32


@given(st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.lists(st.one_of(st.integers(), TEXTS)))))
@example({",=1": ";\uff1d\u202e", "a": [-1, "-1", -5, ", -2"], "b": '|"=cmd'})
def test_a_payload_in_a_cell_is_the_same_json_and_no_formula(value: object) -> None:
    payload = msgspec.json.encode(value).decode()
    found = cells(replace(a_row(), payload=payload))["payload"]

    assert json.loads(found) == json.loads(payload)
    assert not re.search(r'[,;|][\s"\\]*(?:[=@\uff1d]|[+-](?!\d))', found)


def test_what_is_not_stored_is_empty_in_csv() -> None:
    found = cells(replace(a_row(), payload=None, salt=None, context=None))

    assert (found["payload"], found["taskType"], found["downside"]) == ("", "", "")


def test_columns_of_the_csv_are_only_added_at_the_end() -> None:
    first = (
        *("log", "index", "debate", "n", "kind", "occurred", "recorded", "actor", "actorKind", "actorRole", "actorVia"),
        *("tenant", "taskType", "useCase", "intendedUse", "materiality", "downside", "downsideBasis"),
        *("schema", "build", "policy", "leafHash", "payload"),
    )

    assert COLUMNS[: len(first)] == first, "programs read columns by place: a new column goes to the end of COLUMNS"
    assert len(COLUMNS) == len(first), f"add {', '.join(COLUMNS[len(first) :])} to the columns of this test, at the end"


def test_json_spells_every_character_that_acts_unseen_by_its_number_and_no_other() -> None:
    """The fast way past common scripts is the definition: one character after the other, by the table."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    acts = re.compile(f"[{PATTERN}]")

    def spelled(one: str) -> str:
        if one in "\n\r\t" or not acts.fullmatch(one):
            return one
        return "".join(f"\\u{unit:04x}" for (unit,) in struct.iter_unpack(">H", one.encode("utf-16-be")))

    assert escape_json(every.encode()).decode() == "".join(map(spelled, every))
