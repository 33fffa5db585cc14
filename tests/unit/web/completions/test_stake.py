"""What metadata and policy's [dropin] say of a chat request's case."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from service.errors import GainsayError, InvalidCase, WrongShape
from service.policy import DropIn, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.web.completions.case import ChatCase, canonical, read_chat
from service.web.completions.errors import StakeMissing, UnsupportedParameter
from service.web.completions.parameters import IGNORED, REFUSED
from service.web.completions.request import ChatRequest
from service.web.completions.stake import ELSEWHERE, TAKEN, Stake, read_stake
from tests.fixtures.chatting import STAKE, chat
from tests.fixtures.serving import JSON

POLICY = read_policy(SHIPPED_POLICY)
USUAL = replace(POLICY, dropin=DropIn(task_type="contract", estimated_downside=90_000_000, downside_basis="usual"))


def stake(metadata: dict[str, str], policy: Policy = POLICY) -> Stake:
    return read_stake(metadata, "adversarial", policy)


def chat_case(body: JSON, subject: str = "sub_one") -> ChatCase:
    return read_chat(json.dumps(body).encode(), POLICY, subject)


def test_what_metadata_leaves_open_is_policys() -> None:
    assert stake({}, USUAL).members == {
        "metadata": {},
        "options": {"format": "adversarial"},
        "taskType": "contract",
        "estimatedDownside": "90.00",
        "downsideBasis": "usual",
    }


def test_the_basis_of_policys_downside_is_not_that_of_another_one() -> None:
    assert "downsideBasis" not in stake({"estimatedDownside": "7"}, USUAL).members
    assert stake({"downsideBasis": "mine"}, USUAL).members["downsideBasis"] == "mine"


@pytest.mark.parametrize(
    ("metadata", "lacking"),
    [({}, ("taskType", "estimatedDownside")), ({"taskType": "contract"}, ("estimatedDownside",))],
)
def test_without_either_the_refusal_names_both_ways(metadata: dict[str, str], lacking: tuple[str, ...]) -> None:
    with pytest.raises(StakeMissing) as refused:
        stake(metadata)

    assert refused.value.pointers == tuple(f"/metadata/{name}" for name in lacking)
    assert '"metadata": {' in refused.value.detail
    assert "[dropin]" in refused.value.detail


@pytest.mark.parametrize("name", TAKEN)
def test_a_member_in_another_spelling_is_never_the_cases_own_metadata(name: str) -> None:
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    for written in {snake, name.lower(), name.upper(), f"{name}s" if len(name) > 6 else snake} - {name}:
        with pytest.raises(UnsupportedParameter) as refused:
            stake({**STAKE, written: "x"})
        assert f"did you mean {name!r}" in refused.value.detail


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_member_that_is_said_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedParameter, match=f"metadata.{name} is not supported"):
        stake({**STAKE, name: "x"})


def test_keys_of_the_callers_own_stay_its_own() -> None:
    own = {"ticket": "T-7", "team": "legal", "case": "4", "trace_id": "1", "note": ""}

    assert stake({**STAKE, **own}).members["metadata"] == own


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("{", WrongShape),
        ("[]", WrongShape),
        ("null", WrongShape),
        ('{"maxRounds": 1, "maxRounds": 2}', WrongShape),
        ('{"format": "panel"}', UnsupportedParameter),
    ],
)
def test_options_are_one_object_of_the_models_format(options: str, error: type[GainsayError]) -> None:
    with pytest.raises(error) as refused:
        stake({**STAKE, "options": options})

    assert refused.value.pointers == ("/metadata/options",)


def test_each_parameter_has_a_row_that_says_what_becomes_of_it() -> None:
    read = {"messages", "model", "metadata", "stream", "stream_options"}

    assert {*IGNORED, *REFUSED} | read == set(ChatRequest.__struct_fields__)
    assert not set(IGNORED) & set(REFUSED)


USUAL_VALUES: dict[str, Any] = {
    "n": 1,
    "stop": [],
    "logprobs": False,
    "top_logprobs": 0,
    "logit_bias": {},
    "response_format": {"type": "text"},
    "tools": [],
    "tool_choice": "auto",
    "functions": [],
    "function_call": "none",
    "modalities": ["text"],
}
OTHER_VALUES: dict[str, Any] = {
    "n": 2,
    "stop": "x",
    "logprobs": True,
    "top_logprobs": 1,
    "logit_bias": {"1": 1},
    "response_format": {"type": "json_schema"},
    "tools": [{}],
    "tool_choice": "required",
    "functions": [{}],
    "function_call": {"name": "f"},
    "modalities": ["audio"],
    "audio": {},
    "prediction": {},
    "web_search_options": {},
    "moderation": {},
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_parameter_is_refused_but_for_the_value_that_says_nothing(name: str) -> None:
    for value in (None, USUAL_VALUES.get(name)):
        assert chat_case(chat(**{name: value})).ignored == ()
    with pytest.raises(UnsupportedParameter) as refused:
        chat_case(chat(**{name: OTHER_VALUES[name]}))
    assert refused.value.pointers == (f"/{name}",)


def test_a_body_stands_for_its_caller_and_content_and_not_for_how_it_is_sent() -> None:
    body = chat(seed=1)
    other = dict(reversed(body.items()))
    key = chat_case(body).derived

    assert chat_case(other).derived == key
    assert chat_case({**body, "stream": True, "stream_options": {"include_usage": True}}).derived == key
    assert chat_case(body, "sub_two").derived != key
    assert chat_case({**body, "seed": 2}).derived != key
    assert canonical(b'{"a": 1, "stream": true}') == canonical(b'{"a":1}')


def test_two_answers_under_review_are_refused() -> None:
    said = [{"role": "assistant", "content": "Yes."}, *chat()["messages"]]
    metadata = {**STAKE, "singleAgentAnswer": "No.", "reviewLastAnswer": "true"}
    with pytest.raises(UnsupportedParameter, match="send one of them"):
        chat_case(chat(messages=said, metadata=metadata))


def test_a_case_is_checked_like_any_other() -> None:
    with pytest.raises(InvalidCase) as refused:
        chat_case(chat(metadata={**STAKE, "confidenceScore": "certain"}))
    assert refused.value.pointers == ("/confidenceScore",)
