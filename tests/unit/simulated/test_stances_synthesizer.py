"""The simulated synthesizer fills in any plain form, and refuses in plain words what it cannot fill in."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.checks import output_schema
from service.debate.neutral import neutral
from service.debate.replies import Argument
from service.prompts.fence import Block, blocks, fence
from service.prompts.request import Request, encode
from service.running.provider_port import CallFailed
from service.simulated.framing import SIMULATED
from service.simulated.provider import answer
from tests.unit.simulated.formats import Played, play_sample

STRING = {"type": "string"}
SHOWN = st.text(max_size=6).filter(lambda text: neutral(text) == text)


@cache
def debate(name: str) -> Played:
    return play_sample(name, "stances", synthesizer=True)


def asked(schema: dict[str, Any], name: str = "contract", *, judged: bool = True) -> Request:
    """The request of a real debate's synthesizer, for another form."""
    request = next(r for t, r in debate(name).requests.items() if ".synthesizer." in t)
    shown = [b for b in blocks(request.messages[2].content) if judged or b.kind != "judgement"]
    shown = [
        Block(b.kind, b.attributes, msgspec.json.encode(schema).decode()) if b.kind == "output-schema" else b
        for b in shown
    ]
    data = "\n".join(fence("0123456789abcdef", b) for b in shown)
    messages = (*request.messages[:2], msgspec.structs.replace(request.messages[2], content=data), request.messages[3])
    return msgspec.structs.replace(request, messages=messages)


def filled(schema: dict[str, Any], name: str = "contract", *, judged: bool = True) -> Any:
    """The form as the simulated synthesizer fills it in, held against the schema."""
    assert output_schema.check_schema(schema) is None
    text = msgspec.json.decode(answer(encode(asked(schema, name, judged=judged))).text)["output"]
    assert output_schema.misfit(schema, text) is None
    return msgspec.json.decode(text)


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        STRING,
        {"type": "array", "items": STRING, "minItems": 3, "maxItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "items": False, "minItems": 2},
        {"type": "integer", "exclusiveMinimum": 3, "maximum": 5, "multipleOf": 4},
        {"type": "number", "minimum": -1.5, "exclusiveMaximum": -0.5},
        {"type": ["string", "null"]},
        {"const": {"fixed": [1, 2]}},
        {"enum": [7, None, True]},
        an_object(summary={"type": "string", "maxLength": 20}),
        an_object(summary={"type": "string", "minLength": 2000}),
        an_object(a={"$ref": "#/$defs/part"}) | {"$defs": {"part": an_object(point=STRING, sure={"type": "boolean"})}},
        an_object(a={"anyOf": [{"type": "null"}, an_object(why=STRING)]}),
        an_object(a={"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string", "maxLength": 3}]}),
        {"allOf": [an_object(why=STRING) | {"additionalProperties": True}, {"required": ["score"]}]},
        {"type": "object", "required": ["unnamed"], "additionalProperties": {"type": "integer"}},
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"claim": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                    "required": ["claim"],
                }
            },
        },
    ],
    ids=str,
)
def test_a_form_of_any_ordinary_kind_is_filled_in(schema: dict[str, Any]) -> None:
    filled(schema)


def test_text_fields_hold_what_was_said_in_the_debate() -> None:
    found = filled(
        an_object(
            verdict=STRING,
            winner=STRING,
            arguments={"type": "array", "items": STRING},
            evidence=STRING,
            openQuestions={"type": "array", "items": STRING},
            confidence={"type": "number", "minimum": 0, "maximum": 1},
            level={"type": "string", "enum": ["low", "medium", "high"]},
        )
    )

    said = [a for r in debate("contract").said(Argument).values() for a in r.arguments]
    assert "uncapped" in found["verdict"]
    assert found["winner"].startswith("The liability is uncapped")
    assert found["arguments"]
    assert set(found["arguments"]) <= {a.text for a in said}
    assert found["evidence"] in {c.quote for a in said for c in a.citations}
    assert found["openQuestions"]
    assert found["confidence"] == 0.65
    assert found["level"] == "medium"


def test_a_field_that_the_debate_does_not_deal_with_says_so_or_is_null() -> None:
    found = filled(
        an_object(
            colour=STRING,
            postcode={"type": ["string", "null"]},
            premium={"type": "number", "minimum": 12},
            deadline=STRING,
        )
    )

    assert found["colour"].startswith("The debate says nothing of colour.")
    assert found["postcode"] is None
    assert found["premium"] == 12
    assert found["deadline"].startswith("The debate names no time for it.")


def test_a_form_without_a_judgement_says_that_nothing_was_decided() -> None:
    assert "nothing was decided" in filled(an_object(decision=STRING), judged=False)["decision"]


@pytest.mark.parametrize(
    ("name", "options", "chosen"),
    [
        ("contract", ["capped", "uncapped"], "uncapped"),
        ("security", ["goLive", "doNotGoLive"], "doNotGoLive"),
        ("investment", ["approve", "approveSmallerHold", "defer"], "approveSmallerHold"),
        ("architecture", ["option_a", "option_b"], "option_a"),
    ],
)
def test_a_fixed_value_is_the_one_that_says_what_the_winner_says(name: str, options: list[str], chosen: str) -> None:
    for order in (options, options[::-1]):
        assert filled(an_object(decision={"enum": order}), name)["decision"] == chosen


@pytest.mark.parametrize(("name", "approved"), [("architecture", True), ("security", False)])
def test_a_truth_value_is_that_of_the_leading_stance(name: str, approved: bool) -> None:
    assert filled(an_object(approved={"type": "boolean"}), name)["approved"] is approved


def test_what_has_room_for_it_says_that_it_is_simulated() -> None:
    assert SIMULATED in filled(an_object(decision={"type": "string", "maxLength": 40}, rationale=STRING))["rationale"]


@pytest.mark.parametrize(
    "schema",
    [
        an_object(why={"type": "string", "not": {"minLength": 1}}),
        {"type": "array", "minItems": 10**9, "items": STRING},
        {"type": "string", "minLength": 10**9},
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}},
        },
        {"type": "array", "minItems": 99, "items": {"type": "array", "minItems": 99, "items": STRING}},
    ],
    ids=("contradictory", "endless list", "endless text", "endless depth", "endless lists"),
)
def test_a_form_that_cannot_be_filled_in_is_refused_in_plain_words(schema: dict[str, Any]) -> None:
    with pytest.raises(CallFailed, match="fill in plain forms") as refused:
        answer(encode(asked(schema)))

    assert refused.value.reason == "modelRefused"
    assert not refused.value.billable


def _bounded(low: int, more: int) -> dict[str, Any]:
    return {"minimum": low, "maximum": low + more}


NAMES = st.sampled_from(["decision", "why", "risks", "score", "stance", "quote", "n", "colour", "approved", "by when"])
LEAVES = st.one_of(
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more}, *[st.integers(0, 90)] * 2
    ),
    st.builds(lambda low, more: {"type": "integer"} | _bounded(low, more), st.integers(-50, 50), st.integers(0, 9)),
    st.builds(lambda low, more: {"type": "number"} | _bounded(low, more), st.integers(-50, 50), st.integers(0, 9)),
    st.just({"type": "boolean"}),
    st.just({"type": ["null", "string"]}),
    st.lists(SHOWN, min_size=1, max_size=4, unique=True).map(lambda values: {"enum": values}),
)
FORMS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda item, low, more: {"type": "array", "items": item, "minItems": low, "maxItems": low + more},
            inner,
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        st.dictionaries(NAMES, inner, min_size=1, max_size=4).map(lambda parts: an_object(**parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts}),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FORMS)
def test_every_plain_form_is_filled_in(schema: dict[str, Any]) -> None:
    filled(schema)
