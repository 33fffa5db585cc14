"""The table of failures, with errors in the envelopes and words of the servers that send them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.providers.failures import Verdict, trouble, verdict
from service.running.provider_port import FailureReason


def judged(status: int, told: Any = None) -> Verdict:
    return verdict(trouble(status, told))


def openai(message: str = "no", kind: Any = None, code: Any = None, param: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def anthropic(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def coded(code: Any, message: str = "no", **more: Any) -> dict[str, Any]:
    """OpenRouter's envelope, and Azure's and Gemini's."""
    return {"error": {"code": code, "message": message, **more}}


INVALID = "invalid_request_error"
FREE_WORDS = "You exceeded your current quota, please check your plan and billing details."
ECHO = {"loc": ["body", "messages", 3, "role"], "msg": "Invalid role", "input": {"response_format": "json_schema"}}
FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}

CASES: dict[tuple[FailureReason, bool, bool], list[tuple[int, Any]]] = {
    ("refusedKey", False, False): [
        (401, openai("Incorrect API key provided", INVALID, "invalid_api_key")),
        (401, None),
        (403, anthropic("permission_error")),
        (200, coded(401)),
    ],
    ("unknownModel", False, False): [
        (404, openai("The model does not exist", INVALID, "model_not_found")),
        (403, openai("Project has no access to model", INVALID, "model_not_found")),
        (400, openai(code="model_not_found")),
        (404, anthropic("not_found_error", "model: claude-9")),
        (404, coded("DeploymentNotFound")),
        (404, {"detail": "Not Found"}),
        (404, None),
        (200, coded("404")),
    ],
    ("contextTooLong", False, False): [
        (400, openai("too long", INVALID, "context_length_exceeded", "messages")),
        (400, anthropic(INVALID, "prompt is too long: 208310 tokens > 200000 maximum")),
        (400, anthropic(INVALID, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
        (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400}),
        (400, coded(400, "the request exceeds the available context size", type="exceed_context_size_error")),
        (413, anthropic("request_too_large")),
        (413, None),
    ],
    ("unsupported", False, False): [
        (400, openai("'response_format' of type 'json_schema' is not supported with this model.", INVALID)),
        (400, openai("no", INVALID, None, "response_format")),
        (400, openai("Invalid schema for response_format 'critic'", code="invalid_json_schema")),
        (400, openai("This response_format type is unavailable now")),
        (400, openai("This model does not support response format `json_schema`.")),
        (400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
        (400, anthropic(INVALID, "output_config: Extra inputs are not permitted")),
        (400, anthropic(INVALID, "Thinking may not be enabled when tool_choice forces tool use.")),
        (400, anthropic(INVALID, "'claude-3' does not support structured outputs")),
        (422, {"detail": [FORBIDDEN]}),
        (404, coded(404, "No endpoints found that support tool use.")),
        (400, coded(400, "Provider returned error", metadata={"raw": "response_format is not supported"})),
    ],
    ("modelRefused", False, False): [
        (400, coded("content_filter", "The prompt was filtered", status=400)),
    ],
    ("rateLimit", True, False): [
        (429, openai("slow down", "requests", "rate_limit_exceeded")),
        (429, coded("429", "exceeded token rate limit of your pricing tier")),
        (429, coded(429, FREE_WORDS, status="RESOURCE_EXHAUSTED")),
        (429, None),
        (200, coded(429)),
    ],
    ("rateLimit", False, False): [
        (429, openai("quota", "insufficient_quota", "insufficient_quota")),
        (429, openai("billing", None, "billing_hard_limit_reached")),
        (402, coded(402, "Insufficient credits")),
        (200, coded("insufficient_quota")),
    ],
    ("overload", True, False): [
        (529, anthropic("overloaded_error")),
        (529, None),
        (503, openai("The engine is currently overloaded, please try again later", "server_error")),
        (503, openai("Slow down", "slow_down")),
        (200, anthropic("overloaded_error")),
    ],
    ("overload", True, True): [
        (503, openai("no healthy upstream", "server_error")),
        (503, None),
        (504, anthropic("timeout_error")),
        (200, coded(503)),
    ],
    ("providerFault", True, True): [
        (500, anthropic("api_error")),
        (502, None),
        (599, None),
        (101, None),
        (200, coded(502)),
        (200, {"error": "it broke"}),
        (200, coded(200)),
        (200, coded(True)),
    ],
    ("providerFault", False, False): [
        (400, openai("Unknown parameter: max_completion_tokens", param="max_completion_tokens")),
        (400, openai("developer is not one of ['system', 'user']", param="messages.[3].role")),
        (400, openai("restricted: cannot be served", INVALID)),
        (422, {"detail": [ECHO]}),
        (400, None),
        (405, None),
        (302, None),
        (304, openai("insufficient_quota")),
        (409, None),
        (418, [1]),
    ],
}


@pytest.mark.parametrize(
    ("expected", "status", "told"),
    [(expected, status, told) for expected, cases in CASES.items() for status, told in cases],
)
def test_an_error_becomes_what_the_table_says(
    expected: tuple[FailureReason, bool, bool], status: int, told: Any
) -> None:
    found = judged(status, told)

    assert (found.reason, found.retry, found.billable) == expected


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
def test_a_vendor_that_cannot_answer_counts_as_down(status: int) -> None:
    assert judged(status).down


@pytest.mark.parametrize("status", [101, 302, 400, 401, 404, 413, 429])
def test_one_that_answers_does_not(status: int) -> None:
    assert not judged(status).down


KEY = "sk-planted-5f2c9a71e4 and a sentence"


@pytest.mark.parametrize(
    "told", [openai(KEY, KEY, KEY, KEY), anthropic(KEY, KEY), {"detail": KEY}, {"error": KEY}, KEY]
)
def test_nothing_that_a_vendor_wrote_freely_is_shown(told: Any) -> None:
    assert trouble(400, told).shown == "400"


def test_its_words_are_shown_each_once() -> None:
    told = openai("no", "invalid_request_error", "invalid_request_error", "messages[1].content")

    assert trouble(400, told).shown == "400 (invalid_request_error, messages[1].content)"


@pytest.mark.parametrize("code", ["000000429" + "0" * 60, "0429", "٤٢٩", "600"])
def test_a_code_that_is_no_status_of_http_is_none(code: str) -> None:
    found = trouble(200, {"error": {"code": code, "message": "no"}})

    assert found.status == 0
    assert verdict(found).reason == "providerFault"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "type", "code", "message", "param", "detail", "metadata", "loc", "msg"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(status=st.integers(100, 599), told=JSON)
def test_every_body_with_every_status_becomes_one_failure(status: int, told: Any) -> None:
    found = judged(status, msgspec.json.decode(msgspec.json.encode(told)))

    assert found.advice
    if status >= 500:
        assert found.retry
