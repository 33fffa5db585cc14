"""What an answer says: a reply, or one of the ends that are none, with its usage and who served it."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.money import Usage, normalise
from service.running.provider_port import Answer, CallFailed
from tests.end_to_end.vendors.answering import (
    ANTHROPIC,
    FAULT,
    JSON,
    OPENAI,
    REPLY,
    a_request,
    completion,
    connected,
    ended,
    http,
    message,
    said,
    serving,
    text,
)

CALL = {"id": "c", "type": "function", "function": {"name": "reply", "arguments": REPLY}}
USE = {"type": "tool_use", "id": "t", "name": "reply", "input": {"thesis": "x"}}
THOUGHT = {"type": "thinking", "thinking": "First the cap.", "signature": "x"}


def without(told: JSON, name: str) -> JSON:
    return {key: value for key, value in told.items() if key != name}


ANSWERS: dict[str, list[tuple[Any, tuple[Any, ...]]]] = {
    OPENAI: [
        (completion(), ("answer", REPLY)),
        (completion([text('{"thesis":'), text('"x"}')]), ("answer", REPLY)),
        (completion([{"type": "thinking", "thinking": []}, text()]), ("answer", REPLY)),
        (completion(None, "tool_calls", tool_calls=[CALL]), ("answer", REPLY)),
        (completion(None, tool_calls=[{"function": {"arguments": {"thesis": "x"}}}]), ("answer", REPLY)),
        (completion("Here it is.", tool_calls=[CALL]), ("answer", REPLY)),
        (completion(tool_calls=[]), ("answer", REPLY)),
        (completion(reasoning_content="First the cap.", refusal=None), ("answer", REPLY)),
        (completion(finish=None), ("answer", REPLY)),
        ({**completion(), "error": None}, ("answer", REPLY)),
        (completion(None, tool_calls=[CALL, CALL]), ("malformedReply", True, True, "")),
        (completion(None, tool_calls=[{"function": {}}]), ("malformedReply", True, True, "")),
        (completion(None), ("malformedReply", True, True, "")),
        (completion(" \n"), ("malformedReply", True, True, " \n")),
        (completion([]), ("malformedReply", True, True, "")),
        (completion('{"the', "length"), ("lengthLimit", True, True, '{"the')),
        (completion(None, "length"), ("lengthLimit", True, True, "")),
        (completion(None, refusal="I will not."), ("modelRefused", False, True, "I will not.")),
        (completion([{"type": "refusal", "refusal": "No."}]), ("modelRefused", False, True, "No.")),
        (completion("Half", "content_filter"), ("modelRefused", False, True, "Half")),
        (completion(7), (*FAULT, "")),
        (completion([{"type": "image_url", "image_url": {}}]), (*FAULT, "")),
        ({**completion(), "choices": []}, (*FAULT, "")),
        ({**completion(), "choices": completion()["choices"] * 2}, (*FAULT, "")),
        (without(completion(), "choices"), (*FAULT, "")),
        ({**completion(), "choices": ["x"]}, (*FAULT, "")),
        ({**completion(), "choices": [{"index": 0}]}, (*FAULT, "")),
        ({"error": {"code": 429, "message": "no"}}, ("rateLimit", True, False, None)),
        ({**completion(), "error": {"code": 429}}, ("rateLimit", True, True, "")),
        ({**completion(), "choices": [{"error": {"code": 502}, "finish_reason": "error"}]}, (*FAULT, "")),
    ],
    ANTHROPIC: [
        (message(text()), ("answer", REPLY)),
        (message(text('{"thesis":'), text('"x"}')), ("answer", REPLY)),
        (message(THOUGHT, {"type": "redacted_thinking", "data": "x"}, text()), ("answer", REPLY)),
        (message(THOUGHT, text("Here it is."), USE, stop="tool_use"), ("answer", REPLY)),
        ({**message(), "content": REPLY}, ("answer", REPLY)),
        (message(USE, USE), ("malformedReply", True, True, "")),
        (message(), ("malformedReply", True, True, "")),
        (message(THOUGHT), ("malformedReply", True, True, "")),
        (message(text('{"the'), stop="max_tokens"), ("lengthLimit", True, True, '{"the')),
        (message(text("{"), stop="model_context_window_exceeded"), ("lengthLimit", True, True, "{")),
        (message(text("I will not."), stop="refusal"), ("modelRefused", False, True, "I will not.")),
        (message(stop="refusal"), ("modelRefused", False, True, "")),
        ({**message(), "content": None}, (*FAULT, "")),
        (message({"type": "web_search_tool_result", "content": []}), (*FAULT, "")),
        ({"type": "error", "error": {"type": "overloaded_error"}}, ("overload", True, False, None)),
    ],
}
NO_ANSWERS = [b"<html>", b"", b"[]", b'{"choices": [', b"[" * 100_000, b"\xff"]


@pytest.mark.parametrize(
    ("kind", "body", "expected"), [(kind, body, expected) for kind, rows in ANSWERS.items() for body, expected in rows]
)
async def test_an_answer_is_read_as_what_it_is(kind: str, body: Any, expected: tuple[Any, ...]) -> None:
    assert said(await ended(kind, http(200, body))) == expected


@pytest.mark.parametrize("kind", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("body", NO_ANSWERS)
async def test_what_is_no_object_is_no_answer(kind: str, body: bytes) -> None:
    assert said(await ended(kind, http(200, body))) == (*FAULT, None)


@pytest.mark.parametrize(("kind", "body"), [(OPENAI, completion()), (ANTHROPIC, message(text()))])
async def test_an_answer_brings_usage_and_who_served_it(kind: str, body: JSON) -> None:
    answer = await ended(kind, http(200, body, x_request_id="req-7"))

    assert isinstance(answer, Answer)
    assert normalise(kind, answer.raw_usage) == Usage(input=100, output=20)
    assert answer.raw_usage == body["usage"]
    assert (answer.served_model, answer.request_id) == ("m-1-2026-01-01", "req-7")
    assert answer.fingerprint == ("fp_1" if kind == OPENAI else None)


async def test_what_is_no_identifier_is_not_kept() -> None:
    answer = await ended(OPENAI, http(200, {**completion(), "model": "a b", "system_fingerprint": 7, "id": "x" * 201}))

    assert isinstance(answer, Answer)
    assert (answer.served_model, answer.request_id, answer.fingerprint) == (None, None, None)


@pytest.mark.parametrize(("tier", "told"), [("default", None), ("auto", None), ("flex", "flex"), ({"a": 1}, None)])
async def test_a_service_tier_is_part_of_the_usage(tier: Any, told: str | None) -> None:
    answer = await ended(OPENAI, http(200, {**completion(), "service_tier": tier}))

    assert isinstance(answer, Answer)
    assert answer.raw_usage is not None
    if isinstance(tier, str):
        assert normalise(OPENAI, answer.raw_usage) == Usage(input=100, output=20, tier=told or "")
        assert answer.raw_usage.get("service_tier") == told
    else:
        assert normalise(OPENAI, answer.raw_usage) is None


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": 1, "x": "y" * 5_000}, {"prompt_tokens": "7"}])
async def test_a_usage_that_cannot_be_believed_is_none_and_not_zero(usage: Any) -> None:
    answer = await ended(OPENAI, http(200, {**completion(), "usage": usage}))

    assert isinstance(answer, Answer)
    assert normalise(OPENAI, answer.raw_usage) is None


@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream", ""])
async def test_another_content_type_is_no_reply_and_its_usage_counts(content_type: str) -> None:
    failed = await ended(OPENAI, http(200, completion(), content_type))

    assert isinstance(failed, CallFailed)
    assert (failed.reason, failed.retry, failed.billable) == FAULT
    assert failed.answer is not None
    assert normalise(OPENAI, failed.answer.raw_usage) == Usage(input=100, output=20)


# -- whatever comes back

SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.text(max_size=12) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices message content error code usage type text tool_calls function arguments input refusal "
                "finish_reason stop_reason id model system_fingerprint service_tier prompt_tokens".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("kind", [OPENAI, ANTHROPIC])
async def test_whatever_comes_back_is_an_answer_or_a_typed_failure(kind: str) -> None:
    told: bytes = b""
    loop = asyncio.get_running_loop()
    async with serving(lambda _: told) as server, connected(kind, server.port, breaker_failures=10**9) as made:
        body = made.encode(a_request())

        async def one(status: int, shape: Any) -> None:
            nonlocal told
            told = http(status, json.dumps(shape).encode())
            outcome: Answer | CallFailed
            try:
                outcome = await made.send(body)
            except CallFailed as failed:
                outcome = failed
            if isinstance(outcome, Answer):
                assert outcome.text.strip()
                assert status == 200
            else:
                assert outcome.detail

        @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
        @given(status=st.sampled_from([200, 200, 200, 400, 429, 500]), shape=SHAPES)
        def every(status: int, shape: Any) -> None:
            asyncio.run_coroutine_threadsafe(one(status, shape), loop).result(30)

        await asyncio.to_thread(every)
