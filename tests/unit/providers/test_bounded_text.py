"""What a vendor tells is kept only within bounds."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.providers.bounded_text import bounded, decode, identifier, is_json, texts, unescaped, wait_s, word

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 2 "}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "86400"}, 600.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "٢"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "Sat, 21 Nov 2099 12:00:00 GMT"}, 600.0),
        ({"retry-after": "Sat, 99 Nov 2026 12:00:00 GMT"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, 600.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_a_wait_is_read_capped_or_ignored(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_s(headers, NOW) == seconds


@given(ms=st.text(max_size=40), told=st.text(max_size=40))
def test_no_header_breaks_the_reading_of_a_wait(ms: str, told: str) -> None:
    seconds = wait_s({"retry-after-ms": ms, "retry-after": told}, NOW)

    assert seconds is None or 0.0 <= seconds <= 600.0


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("chatcmpl-9x/7:2", "chatcmpl-9x/7:2"),
        ("x" * 200, "x" * 200),
        ("x" * 201, None),
        ("", None),
        ("two words", None),
        ("line\n", None),
        ("naïve", None),
        (7, None),
        (None, None),
        (["a"], None),
    ],
)
def test_an_identifier_is_one_run_of_printable_ascii(told: object, kept: str | None) -> None:
    assert identifier(told) == kept


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("messages[1].content", "messages[1].content"),
        ("invalid_request_error", "invalid_request_error"),
        (429, "429"),
        (10**12, ""),
        (True, ""),
        ("x" * 81, ""),
        ("Incorrect API key provided: sk-1", ""),
        ("a/b", ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_word_is_a_name_and_no_sentence(told: object, kept: str) -> None:
    assert word(told) == kept


@pytest.mark.parametrize("told", ["application/json", "application/json; charset=utf-8", "APPLICATION/PROBLEM+JSON"])
def test_json_is_what_says_that_it_is(told: str) -> None:
    assert is_json(told)


@pytest.mark.parametrize(
    "told", [None, "", "text/html", "text/plain", "text/event-stream", "application/jsonl", "json"]
)
def test_nothing_else_is_json(told: str | None) -> None:
    assert not is_json(told)


def nested(levels: int) -> dict[str, Any]:
    usage: dict[str, Any] = {"a": 1}
    for _ in range(levels - 1):
        usage = {"a": usage}
    return usage


def test_a_usage_is_kept_as_it_came_up_to_four_kilobytes_and_six_levels() -> None:
    kept = {"a": "x" * (4_096 - len('{"a":""}'))}

    assert bounded(kept) is kept
    assert bounded({"a": kept["a"] + "x"}) is None
    assert bounded(nested(6)) == nested(6)
    assert bounded(nested(7)) is None
    assert bounded(nested(900)) is None
    for told in (None, [kept], 1, "usage"):
        assert bounded(told) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{} {}", b'{"a": NaN}', b'"\xff"', b'"\\ud800"', b"[" * 100_000, b'{"a":' * 5_000, b"1" * 5_000],
)
def test_what_is_not_json_is_nothing(body: bytes) -> None:
    assert decode(body) is None


@given(body=st.binary(max_size=200))
def test_no_bytes_break_the_reading_of_json(body: bytes) -> None:
    decode(body)


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        (b'{"a": "b"}', b'{"a": "b"}'),
        (rb'{"a": "{\"b\":1}\n"}', b'{"a": "{"b":1}\n"}'),
        (rb'{"a": "\\n"}', None),
        (rb'{"a": "\\\""}', None),
        (rb'{"a": "\u0062"}', None),
    ],
)
def test_a_body_is_without_escapes_if_only_quotes_and_line_ends_have_them(body: bytes, plain: bytes | None) -> None:
    assert unescaped(body) == plain


SPOKEN = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\n\n'), max_size=12)


@given(
    said=st.recursive(SPOKEN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SPOKEN, inner, max_size=3)),
    ascii_only=st.booleans(),
)
def test_every_string_of_a_body_stands_in_it_without_escapes(said: Any, ascii_only: bool) -> None:
    body = json.dumps(said, ensure_ascii=ascii_only).encode()

    if (plain := unescaped(body)) is not None:
        for text in texts(decode(body)).split(b"\n"):
            assert text in plain
