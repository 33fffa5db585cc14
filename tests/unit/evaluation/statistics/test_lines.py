"""A line asked, a line answered: one reading of JSON, and no line without its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.evaluation.statistics import lines
from service.evaluation.statistics.lines import answer

WILSON = '"statistic":"wilson","input":{"k":1,"n":2}'


def answered(line: str | bytes) -> dict[str, Any]:
    found = answer(line if isinstance(line, bytes) else line.encode())
    assert b"\n" not in found
    assert found.isascii()
    value: dict[str, Any] = json.loads(found)
    return value


def test_a_line_is_answered_under_its_id() -> None:
    assert answered(f'{{"id":"a",{WILSON}}}')["output"]["rate"] == 0.5
    assert answered(f'{{"id":7,{WILSON}}}')["id"] == 7
    assert answered(f'{{"id":"\\ud800\\u001b",{WILSON}}}')["id"] == "\ud800\x1b"


def test_what_a_line_of_vectors_expects_is_not_read() -> None:
    assert answered(f'{{"id":1,{WILSON},"output":{{"rate":9}}}}')["output"]["rate"] == 0.5
    assert answered(f'{{"id":1,{WILSON},"error":"no"}}')["output"]["rate"] == 0.5


@pytest.mark.parametrize(
    ("line", "id", "words"),
    [
        ("", None, "the line is not JSON"),
        ("wilson", None, "the line is not JSON: Expecting value at character 0"),
        ("[]", None, "the line must be an object, found []"),
        ("{}", None, "the line lacks id, statistic, input"),
        (f"{{{WILSON}}}", None, "the line lacks id"),
        ('{"id":3}', 3, "the line lacks statistic, input"),
        (f'{{"id":"a",{WILSON},"seed":1,"x":2}}', "a", "the line has unknown members: 'seed', 'x'"),
        (f'{{"id":true,{WILSON}}}', None, "id must be a text or a whole number, found True"),
        (f'{{"id":[1],{WILSON}}}', None, "id must be a text or a whole number, found [1]"),
        ('{"id":"a","statistic":3,"input":{}}', "a", "statistic must be a text, found 3"),
        ('{"id":"a","statistic":"wilsn","input":{}}', "a", "did you mean 'wilson'"),
        (f'{{"id":"a","id":"b",{WILSON}}}', None, "a member stands twice: 'id'"),
        ('{"id":"a","statistic":"wilson","input":{"k":1,"k":2,"n":3}}', None, "a member stands twice: 'k'"),
        ('{"id":"a","statistic":"wilson","input":{"k":NaN,"n":3}}', None, "NaN is no number of JSON"),
        ('{"id":"a","statistic":"mean_t","input":{"values":[-Infinity]}}', None, "-Infinity is no number of JSON"),
        ('{"id":"a","statistic":"mean_t","input":{"values":[1e999]}}', "a", "each of values must be a number"),
        ('{"id":"a","statistic":"wilson","input":{"k":1,"n":' + "9" * 5000 + "}}", None, "a number that is too long"),
        ('{"id":"a","statistic":"wilson","input":{"k":1,"n":' + "9" * 4000 + "}}", "a", "at most 1,000,000,000"),
        ('{"id":"a","statistic":"holm","input":{"p":' + "[" * 50_000 + "]" * 50_000 + "}}", None, "nested too deeply"),
        ('{"id":"a","statistic":"holm","input":{"p":' + "[" * 400 + "]" * 400 + "}}", "a", "p must be from 0 to 1"),
        (b'{"id":"\xff"}', None, "the line is not UTF-8: byte 7"),
        (b'\xef\xbb\xbf{"id":"a"}', None, "the line is not JSON"),
        ('{"id":"a","statistic":"wilson","input":{"k":true,"n":3}}', "a", "a count must be a whole number from 0"),
        ('{"id":"a","statistic":"wilson","input":[1,2]}', "a", "must be an object, found [1, 2]"),
    ],
)
def test_a_line_that_asks_nothing_is_answered_by_a_sentence(line: str | bytes, id: Any, words: str) -> None:
    found = answered(line)

    assert found.keys() == {"id", "error"}
    assert found["id"] == id
    assert words in found["error"]
    assert len(found["error"]) < 400


def test_a_line_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 100)

    assert "at most 100 bytes" in answered(f'{{"id":"{"a" * 100}",{WILSON}}}')["error"]


def test_many_members_that_stand_twice_are_found_in_no_time() -> None:
    members = ",".join('"m":1' for _ in range(100_000))

    assert "a member stands twice" in answered(f"{{{members}}}")["error"]
