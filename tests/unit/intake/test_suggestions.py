"""The name that a slip stood for, one function for members, parameters, values and paths; the place of broken JSON."""

from __future__ import annotations

import json
import time

import pytest

from service.errors import BadRequest, WrongShape, did_you_mean
from service.intake.decoding import decode
from service.intake.positions import place, repeated_member, unclosed
from service.intake.request import CaseRequest
from service.web.paths import probable_path

MEMBERS = ("question", "taskType", "documents", "confidenceScore", "maxRounds", "id")
PATHS = ("/", "/v1/debates", "/v1/debates/{debate:str}", "/v1/debates/{debate:str}/events", "/openapi.json", "/livez")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("qestion", "question"),
        ("QUESTION", "question"),
        ("task_type", "taskType"),
        ("max-rounds", "maxRounds"),
        ("quetsion", "question"),
        ("confidence", "confidenceScore"),
        ("score", "confidenceScore"),
        ("idd", "id"),
    ],
)
def test_a_slip_is_answered_with_the_name_that_it_stood_for(written: str, meant: str) -> None:
    assert did_you_mean(written, MEMBERS) == f"; did you mean {meant!r}?"


@pytest.mark.parametrize("written", ["", "x", "answer", "ground", "tags", "q" * 10_000, "\0", "🙂"])
def test_another_word_is_answered_with_no_guess(written: str) -> None:
    assert did_you_mean(written, MEMBERS) == ""


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/debate", "/v1/debates"),
        ("/debates", "/v1/debates"),
        ("/V1/Debates/", "/v1/debates"),
        ("/v1/debats/7/event", "/v1/debates/7/events"),
        ("/open-api.json", "/openapi.json"),
        ("/healthz", None),
        ("/", None),
        ("/v1/debates/7/events/8", None),
        ("/v1/debate\x00", None),
        ("/" * 5_000, None),
    ],
)
def test_a_path_that_is_not_there_is_answered_with_the_one_that_was_meant(path: str, meant: str | None) -> None:
    assert probable_path(path, PATHS) == meant


def test_a_place_counts_characters_for_people_and_bytes_for_programs() -> None:
    raw = '{"ä":\n "öö", x}'.encode()

    assert place(raw, raw.index(b"x")) == "line 2, column 8 (byte 16)"
    assert place(raw, 0) == "line 1, column 1 (byte 0)"


@pytest.mark.parametrize(
    ("cut", "inside"),
    [
        (b'{"a": 1', "inside the object that begins at line 1, column 1 (byte 0)"),
        (b'{"a": [1, {"b": 2}', "inside the list that begins at line 1, column 7 (byte 6)"),
        (b'{"a": "b\\"', "inside the text that begins at line 1, column 7 (byte 6)"),
        (b'{"a": "}{', "inside the text that begins at line 1, column 7 (byte 6)"),
        (b"", ""),
    ],
)
def test_what_is_open_at_a_cut_is_named(cut: bytes, inside: str) -> None:
    assert unclosed(cut) == inside


def test_every_cut_of_a_body_is_told_with_its_place() -> None:
    """A body of every kind of value, cut after each byte: the place is the cut, whichever value it goes through."""
    body = json.dumps(
        {"question": 'q"\\\n\u0041ä', "taskType": "c", "metadata": {"a": "b"}, "x": [1.5, True, None, {}]}
    )
    raw = body.encode()

    for cut in range(1, len(raw)):
        with pytest.raises(Exception, match="found its end too early") as caught:
            decode(raw[:cut], CaseRequest)
        assert place(raw, cut) in str(caught.value), raw[:cut]


@pytest.mark.parametrize(
    ("raw", "path", "places"),
    [
        (b'{"a":1,"a":2}', ("a",), (1, 7)),
        (b'{"b":[{"c":{"a":1}},{"c":{"a":1,"b":"a","\\u0061":2}}]}', ("b", "1", "c", "a"), (26, 40)),
    ],
)
def test_a_repeated_member_is_found_with_both_its_places(
    raw: bytes, path: tuple[str, ...], places: tuple[int, int]
) -> None:
    found = repeated_member(raw)

    assert found is not None
    assert (found.path, (found.first, found.second)) == (path, places)


@pytest.mark.parametrize("raw", [b'{"a":{"a":1},"b":[{"a":1},{"a":1}],"c":"a"}', b'["a","a"]', b'"a"', b"{}"])
def test_a_name_in_another_object_is_no_repetition(raw: bytes) -> None:
    assert repeated_member(raw) is None


@pytest.mark.parametrize("raw", [b'"' + b"\\" * 400_001, b'{"a":' * 200_000, b"[" * 1_000_000, b'"\\"' * 300_000])
def test_hostile_text_is_placed_in_bounded_time(raw: bytes) -> None:
    begun = time.process_time()
    unclosed(raw)
    assert time.process_time() - begun < 5


DEEP = 400
LONG_NAME = b'{"' + b"k" * 200 + b'":'
HOSTILE = {
    "names for numbers, deep inside": (
        LONG_NAME * DEEP + b"[" + b",".join([b"NaN"] * 5_000) + b"]" + b"}" * DEEP,
        "object contains unknown field 'kkk",
    ),
    "names for numbers in every field": (b"{" + b",".join(b'"%d":NaN' % n for n in range(5_000)) + b"}", "50 faults"),
    "names for numbers": (b"[" + b"NaN," * 1_000_000 + b"1]", "invalid character at line 1, column 2 "),
    "numbers": (b"[" + b"1," * 2_000_000 + b"1]", "expected 'object', got 'array'"),
    "lists": (b"[" + b"[]," * 1_500_000 + b"1]", "expected 'object', got 'array'"),
    "lists without an end": (b"[" + b"[]," * 1_500_000, "its end too early"),
    "lists inside each other": (b"[" * 2_000_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_body_of_many_values_is_refused_in_bounded_time(name: str) -> None:
    raw, detail = HOSTILE[name]
    begun = time.process_time()
    with pytest.raises((BadRequest, WrongShape), match=detail) as caught:
        decode(raw, CaseRequest)
    assert time.process_time() - begun < 1
    assert len(str(caught.value)) + sum(map(len, caught.value.pointers)) < 10_000


@pytest.mark.parametrize("inside", [b"NaN", b"[NaN]", b'{"a":NaN}'])
def test_a_name_for_a_number_is_refused_under_a_name_of_any_length(inside: bytes) -> None:
    raw = b'{"question":"q","taskType":"contract","' + b"k" * 300 + b'":' + inside + b"}"

    with pytest.raises(WrongShape, match="NaN is no number in JSON"):
        decode(raw, CaseRequest)


@pytest.mark.parametrize("name", ["\n", "a\nb", "\r\n", "\u2028", "`", "a`b", "$", "...", "[0]", "", "~/", "\0"])
def test_an_unknown_member_is_refused_whatever_its_name_holds(name: str) -> None:
    raw = json.dumps({"question": "q", "taskType": "contract", name: 1}).encode()

    with pytest.raises(WrongShape) as caught:
        decode(raw, CaseRequest)
    assert caught.value.pointers == (f"/{name.replace('~', '~0').replace('/', '~1')}",)
