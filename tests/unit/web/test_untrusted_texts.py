"""Every parser of what a caller writes into a header, a query or a path: it answers, or refuses in words.

A parser that raises anything else would be answered with 500. The parsers of keys, tokens, claims and of what a proxy
says have such tests in tests/unit/identity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from litestar.types import HTTPScope

from service.audit.tiles import parse_tile_path
from service.errors import GainsayError
from service.observing.trace_context import trace_of_headers, tracestate
from service.reviews.cursor import read_cursor, write_cursor
from service.reviews.query_parameters import page_size, read_query
from service.store.debate_query import DebateQuery, Position
from service.web import headers, loopback
from service.web.audit import _ENTRY, _NUMBER
from service.web.codings import CODINGS, plain_tags, wanted_coding
from service.web.every_answer import id_of_headers
from service.web.versions import expect_version

CURSOR = write_cursor("default", DebateQuery(), Position("01a2047f-26b0-7038-8000-000000000000", None))
SEEDS = (
    *("wait=10", "respond-async, wait=5", 'wait="3"', "wait=99999999999999999999", "wait=-1", "wait=0x1f", "wait=1e9"),
    *("text/html;q=0.8, */*;q=0", "application/json;q=1.0000", ";;,,", "a/b;q=", "*/*;q=NaN", "*/*;q=1e400"),
    *("gzip;q=0.5, br", "identity;q=0, *;q=0", '"abc"', '"abc-gzip", W/"x"', "17", "-1", "99999999999999999999"),
    *(
        "localhost:8000",
        "[::1]",
        "[::1%eth0]:80",
        "127.0.0.1:99999",
        "user@localhost",
        "2130706433",
        "0x7f.1",
        "[",
        "]:",
    ),
    *("http://localhost", "null", "http://[::1", "http://127.0.0.1:port", "//", "https://localhost.evil.example"),
    *(CURSOR, CURSOR[:-1], CURSOR + "=", "tile/0/x001/067", "tile/entries/x999/999.p/256", "tile/64/-1", "0.0"),
    *("2026-02-30", "2026-01-01T00:00:00+99:99", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "true", "٣"),
    *("\x00", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "é" * 300, "[" * 5_000, "%00%ff", "\t \x0b"),
)
SHORT = st.text(max_size=3)
TEXTS = st.one_of(
    st.sampled_from(SEEDS),
    st.text(st.characters(codec="latin-1"), max_size=60),
    st.text('0123456789=;,q.*/"-: wait[]%@TZ+', max_size=40),
    st.builds(
        lambda seed, at, more: f"{seed[:at]}{more}{seed[at:]}", st.sampled_from(SEEDS), st.integers(0, 40), SHORT
    ),
)


def _scope(name: bytes, text: str) -> HTTPScope:
    value = text.encode("latin-1", "replace")
    found = {
        "type": "http",
        "method": "POST",
        "path": "/v1/debates",
        "headers": [(b"host", b"localhost"), (name, value)],
    }
    return cast("HTTPScope", {**found, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "state": {}})


def _queried(name: str) -> Callable[[str], object]:
    return lambda text: read_query({name: [text]})


PARSERS: dict[str, Callable[[str], Any]] = {
    "Prefer": lambda text: headers.preferred_wait([text]),
    "Accept": lambda text: headers.best_media_type(text, ("text/html", "application/json")),
    "Last-Event-ID": lambda text: headers.last_event(text, None),
    "lastEventId": lambda text: headers.last_event(None, text),
    "Idempotency-Key": lambda text: headers.idempotency_key([text]),
    "Accept-Encoding": lambda text: wanted_coding([text], CODINGS),
    "If-None-Match": lambda text: plain_tags([text], ["gzip"]),
    "Request-Id": lambda text: id_of_headers([(b"request-id", text.encode("latin-1", "replace"))]),
    "traceparent": lambda text: trace_of_headers([(b"traceparent", text.encode("latin-1", "replace"))]),
    "tracestate": lambda text: tracestate([text]),
    "Gainsay-Version": lambda text: expect_version([(b"gainsay-version", text.encode("latin-1", "replace"))]),
    "Host": loopback.names_this_machine,
    "Origin": lambda text: loopback._fault(_scope(b"origin", text)),
    "Sec-Fetch-Site": lambda text: loopback._fault(_scope(b"sec-fetch-site", text)),
    "after": lambda text: read_cursor("default", DebateQuery(after=text)),
    "limit": page_size,
    **{
        name: _queried(name)
        for name in (
            *("since", "until", "taskType", "status", "outcome", "confidence", "humanReview", "flag", "format"),
            *("useCase", "materiality", "model", "metadata", "q", "sort", "facets", "limit", "after", "unknown"),
        )
    },
    "a tile's path": parse_tile_path,
    "a record's place": lambda text: (_NUMBER.fullmatch(text), _ENTRY.fullmatch(text)),
}
SAYS_WHY: dict[str, type[Exception]] = {"a tile's path": ValueError}
"""Parsers whose refusal an endpoint puts into words."""


def refusal(parser: str, text: str) -> GainsayError | None:
    """What a parser says of a text, if it does not take it; any other exception is one that nothing foresaw."""
    try:
        PARSERS[parser](text)
    except GainsayError as error:
        return error
    except SAYS_WHY.get(parser, GainsayError):
        return None
    return None


@pytest.mark.parametrize("parser", PARSERS)
@example("")
@given(TEXTS)
def test_a_parser_of_untrusted_text_answers_or_refuses(parser: str, text: str) -> None:
    said = refusal(parser, text)

    assert said is None or (400 <= said.status < 500 and len(said.detail) < 2_000)


@pytest.mark.parametrize("parser", PARSERS)
def test_a_parser_stands_the_texts_that_parsers_fall_over(parser: str) -> None:
    said = [refusal(parser, text) for text in SEEDS]

    assert all(error is None or error.status < 500 for error in said)
