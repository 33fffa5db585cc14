"""The trace of a call: where it is taken from, and what is passed on."""

from __future__ import annotations

from typing import Any

import pytest

from service.cli.mcp.callers import trace_headers, trace_of_call

HEADER, META, SPAN = "a" * 32, "b" * 32, "00f067aa0ba902b7"


def parent(trace: str) -> str:
    return f"00-{trace}-{SPAN}-01"


def scope(*headers: tuple[str, str]) -> dict[str, Any]:
    return {"headers": [(name.encode(), value.encode()) for name, value in headers]}


def taken(scope: dict[str, Any] | None, meta: dict[str, Any] | None) -> tuple[str, str] | None:
    """The id and the state of a call's trace."""
    trace = trace_of_call(scope, meta)
    return None if trace is None else (trace.id, trace.state)


STATED = {"traceparent": parent(META), "tracestate": "meta=1"}


@pytest.mark.parametrize(
    ("headers", "meta", "expected"),
    [
        ([("traceparent", parent(HEADER)), ("tracestate", "header=1")], STATED, (HEADER, "header=1")),
        ([("traceparent", parent(HEADER))], STATED, (HEADER, "")),  # the two are not mixed
        ([("traceparent", parent(HEADER))], None, (HEADER, "")),
        ([("traceparent", f"{parent(HEADER)}-x")], STATED, (META, "meta=1")),
        ([("traceparent", parent(HEADER)), ("traceparent", parent(HEADER))], STATED, (META, "meta=1")),
        ([("tracestate", "header=1")], {"traceparent": parent(META)}, (META, "")),
        ([], STATED, (META, "meta=1")),
        ([], {}, None),
        ([], None, None),
        (None, STATED, (META, "meta=1")),
        (None, {**STATED, "tracestate": 7}, (META, "")),
        (None, {**STATED, "tracestate": "meta"}, (META, "")),
        (None, {"tracestate": "meta=1"}, None),
        (None, {"traceparent": [parent(META)]}, None),
        (None, {"traceparent": parent(META).upper()}, None),
        (None, None, None),
    ],
)
def test_a_good_header_is_taken_before_what_the_call_says_itself(
    headers: list[tuple[str, str]] | None, meta: dict[str, Any] | None, expected: tuple[str, str] | None
) -> None:
    assert taken(None if headers is None else scope(*headers), meta) == expected


def test_a_request_that_follows_is_in_the_trace_with_its_state() -> None:
    trace = trace_of_call(None, STATED)
    assert trace is not None

    assert trace.span != SPAN
    assert trace_headers(trace) == {"traceparent": f"00-{META}-{trace.span}-01", "tracestate": "meta=1"}
    assert set(trace_headers(trace_of_call(None, {"traceparent": parent(META)}))) == {"traceparent"}
    assert trace_headers(None) == {}
