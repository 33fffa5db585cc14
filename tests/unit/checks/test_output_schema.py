"""Which schemas a caller may bring, and which outputs fit them: told without a word of the output."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import money
from service.checks.output_schema import CHARACTERS_MAX, check_schema, misfit, unfit
from service.debate.entries import AttemptFailed, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.model import StancesOptions
from service.debate.options import DEFAULT_OUTPUT_SCHEMA as DEFAULT
from service.debate.options import output_schema_of
from service.debate.projection import DEPTH_MAX, unreadable, value
from service.debate.replies import Argument, Projection, decoding
from service.debate.turns import TurnId
from service.prompts import Prompts
from service.prompts.request import Request, WireTexts
from service.running.attempt import Attempt, ModelCaller
from service.running.provider_port import Answer, Provider
from tests.fixtures.debates import drive
from tests.unit.debate.between import OUTPUT, a_start, asked, ballot, judged, said, stances

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DECISION = {
    "$schema": DRAFT,
    "type": "object",
    "properties": {
        "decision": {"enum": ["go", "wait"]},
        "risks": {"type": "array", "items": {"$ref": "#/$defs/risk"}, "minItems": 1, "uniqueItems": True},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["decision", "risks"],
    "additionalProperties": False,
    "$defs": {"risk": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


def nested(levels: int) -> dict[str, Any]:
    """A schema of about so many levels."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


# Which schemas may be used.


@pytest.mark.parametrize(
    "schema",
    [
        {},
        DEFAULT,
        DECISION,
        {"type": "array", "items": {"$ref": "#"}},
        {
            "$schema": f"{DRAFT}#",
            "$id": "https://example.com/decision",
            "$ref": "#/$defs/a",
            "$defs": {"a": {}},
        },
        {"definitions": {"a/b": {"type": "string"}}, "properties": {"x": {"$ref": "#/definitions/a~1b"}}},
        {"properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}, "dependencies": {}}},
        {"enum": [{"pattern": "a"}], "default": {"$ref": "elsewhere"}, "title": "x", "x-ours": {"pattern": "a"}},
        {"type": "string", "format": "date"},
    ],
)
def test_an_ordinary_schema_may_be_used(schema: dict[str, Any]) -> None:
    assert check_schema(schema) is None


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([], "outputSchema must be a JSON Schema as an object"),
        (True, "outputSchema must be a JSON Schema as an object"),
        ({"pattern": "^(a+)+$"}, "at #, pattern is not supported; describe the form in words"),
        ({"properties": {"a": {"pattern": "a"}}}, "at #/properties/a, pattern is not supported"),
        ({"anyOf": [{}, {"patternProperties": {}}]}, "at #/anyOf/1, patternProperties is not supported"),
        ({"$defs": {"a": {"pattern": "a"}}}, "at #/$defs/a, pattern is not supported"),
        ({"unevaluatedProperties": False}, "unevaluatedProperties is not supported; use additionalProperties"),
        ({"$dynamicRef": "#a"}, "$dynamicRef is not supported; point at the place itself, as in #/$defs/name"),
        ({"dependencies": {}}, "dependencies is not supported; use dependentRequired or dependentSchemas"),
        ({"$ref": "https://example.com/schema"}, "$ref must point at a schema within this one, as in #/$defs/name"),
        ({"$ref": "file:///etc/passwd"}, "nothing is fetched from elsewhere"),
        ({"$ref": "#/$defs/gone"}, "$ref must point at a schema within this one"),
        ({"$ref": "#/default", "default": {"pattern": "a"}}, "$ref must point at a schema within this one"),
        ({"$ref": "#/%24defs/a", "$defs": {"a": {}}}, "$ref must point at a schema within this one"),
        ({"$ref": "#/$defs/a%41", "$defs": {"a%41": {}, "aA": {"type": "string"}}}, "$ref must point at a schema"),
        ({"$ref": 3}, "$ref must point at a schema within this one"),
        ({"$ref": {}}, "$ref must point at a schema within this one"),
        ({"items": {"$ref": []}}, "at #/items, $ref must point at a schema within this one"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, f"$schema must be {DRAFT}"),
        ({"properties": {"a": {"$id": "https://example.com/a"}}}, "at #/properties/a, $id may stand at the top alone"),
        ({"$ref": "#"}, "more than 8 schemas look at the same value"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}, "more than 8 schemas look at"),
        ({"type": "text"}, "outputSchema is no JSON Schema of draft 2020-12: at #/type"),
        ({"properties": {"a": 3}}, "is no JSON Schema of draft 2020-12: at #/properties/a, expected object or boolean"),
        ({"items": [{"type": "string"}]}, "is no JSON Schema of draft 2020-12: at #/items"),
        (nested(DEPTH_MAX), f"outputSchema must be plain JSON of at most {DEPTH_MAX} levels, "),
        ({"maximum": float("nan")}, "outputSchema must be plain JSON"),
        ({"description": "x" * CHARACTERS_MAX}, f"outputSchema may have {CHARACTERS_MAX} characters as JSON, found"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_what_to_do(schema: object, why: str) -> None:
    refusal = check_schema(schema)

    assert refusal is not None
    assert why in refusal


def test_a_schema_of_many_small_parts_is_looked_at_in_no_time() -> None:
    """Every part refers to all that follow: whoever walked the references one by one would never end."""
    names = [f"s{i}" for i in range(30)]
    following = {name: {"anyOf": [{"$ref": f"#/$defs/{n}"} for n in names[i + 1 :]]} for i, name in enumerate(names)}

    assert "more than 8 schemas look at the same value" in str(check_schema({"$defs": following}))


# Which outputs fit.


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "go", "risks": [{"name": "late"}]}',
        ' {"risks": [{"name": "late", "more": null}, {"name": "dear"}], "decision": "wait", "confidence": 0.5}\n',
    ],
)
def test_an_output_that_fits_has_nothing_said_against_it(text: str) -> None:
    assert misfit(DECISION, text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "at $, expected object"),
        ("{}", "at $, a property is missing: decision, risks"),
        ('{"decision": "stop", "risks": [{"name": "x"}]}', "at $.decision, expected what enum says"),
        ('{"decision": "go", "risks": []}', "at $.risks, expected minItems 1"),
        ('{"decision": "go", "risks": [{"name": 1}]}', "at $.risks[0].name, expected string"),
        ('{"decision": "go", "risks": [{"name": "x"}, {"name": "x"}]}', "at $.risks, it does not fit uniqueItems"),
        ('{"decision": "go", "risks": [{"name": "x"}], "confidence": 2}', "at $.confidence, expected maximum 1"),
        (
            '{"decision": "go", "risks": [{"name": "x"}], "my secret": 2}',
            "at $, expected no property that the schema does not name",
        ),
        ('{"decision": "go"', "output must be the text of one JSON value and nothing around it"),
    ],
)
def test_an_output_that_does_not_fit_is_told_by_place_and_keyword(text: str, why: str) -> None:
    refusal = misfit(DECISION, text)

    assert refusal is not None
    assert refusal.endswith(why) or refusal.startswith(why)


def test_nothing_of_the_output_is_told_but_names_that_the_schema_has() -> None:
    schema = {"additionalProperties": {"type": "string", "maxLength": 3}}

    refusal = misfit(schema, '{"a secret name": "a secret value", "another": 7}')

    assert refusal == "output does not fit the schema: at $.*, expected maxLength 3; at $.*, expected string"


def test_three_places_are_told_and_the_rest_counted_whatever_the_order_of_the_schema() -> None:
    schema = {"properties": {name: {"type": "string"} for name in "abcde"}}
    text = json.dumps(dict.fromkeys("edcba", 1))

    refusal = misfit(schema, text)

    assert refusal == (
        "output does not fit the schema: at $.a, expected string; at $.b, expected string; at $.c, expected string; "
        "and 2 more"
    )
    assert misfit({"properties": dict(reversed(schema["properties"].items()))}, text) == refusal


@pytest.mark.parametrize("keyword", ["not", "if", "oneOf", "contains", "dependentSchemas", "propertyNames", "const"])
def test_every_keyword_that_may_be_used_is_checked(keyword: str) -> None:
    schemas: dict[str, dict[str, Any]] = {
        "not": {"not": {"type": "object"}},
        "if": {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        "oneOf": {"oneOf": [{"required": ["a"]}, {"type": "object"}]},
        "contains": {"properties": {"a": {"contains": {"const": 2}}}},
        "dependentSchemas": {"dependentSchemas": {"a": {"required": ["b"]}}},
        "propertyNames": {"propertyNames": {"enum": ["b"]}},
        "const": {"const": {"a": [2]}},
    }

    assert check_schema(schemas[keyword]) is None
    assert misfit(schemas[keyword], '{"a": [1]}') is not None


def test_false_allows_nothing() -> None:
    assert misfit({"properties": {"a": False}}, '{"a": 1}') == (
        "output does not fit the schema: at $, a part is there that the schema never allows"
    )


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ("[1, 1.0]", False),
        ("[1, true]", True),
        ("[0, false]", True),
        ('["1", 1]', True),
        ('[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]', False),
        ("[[1], [true]]", True),
        ("[null, null]", False),
    ],
)
def test_items_are_unique_as_the_draft_says(items: str, unique: bool) -> None:
    assert (misfit({"uniqueItems": True}, items) is None) is unique


# Bounds.


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (
            {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "minItems": 9}], "type": "array"},
            "[" * (DEPTH_MAX - 1) + "1" + "]" * (DEPTH_MAX - 1),
        ),
        ({"items": {"anyOf": [*[{"type": "string"}] * 400, {}]}}, json.dumps([1] * 9_000)),
        ({"items": {"enum": list(range(3_000))}}, json.dumps([1] * 9_000)),
    ],
)
def test_a_check_that_would_not_end_ends_after_its_steps(schema: dict[str, Any], text: str) -> None:
    assert check_schema(schema) is None
    assert misfit(schema, text) == (
        "output is too large or too nested to be checked against the schema; give a shorter one"
    )


def test_a_check_that_finds_more_and_more_stops_and_tells_what_it_has_found() -> None:
    refusal = misfit({"items": {"type": "string"}}, json.dumps([1] * 6_000))

    assert refusal is not None
    told, _, more = refusal.partition("; and ")
    assert told.startswith("output does not fit the schema: at $[0], expected string; at $[1], expected string")
    assert 500 < int(more.removesuffix(" more")) < 2_000


def test_the_longest_output_that_a_seat_may_give_is_checked_to_its_end() -> None:
    items = [{"name": f"n{i}"} for i in range(1_000)]
    text = json.dumps({"decision": "go", "risks": items}, separators=(",", ":"))

    assert 15_000 < len(text) < 20_000
    assert misfit(DECISION, text) is None


def test_the_deepest_output_is_checked_to_its_end() -> None:
    schema: dict[str, Any] = {"$ref": "#/$defs/a"}
    schema["$defs"] = {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"type": "array", "items": {"$ref": "#/$defs/a"}}}

    assert check_schema(schema) is None
    assert misfit(schema, "[" * DEPTH_MAX + "]" * DEPTH_MAX) is None


# What an output is, as text.


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "text that is not JSON, or more than one value"),
        ("{} {}", "text that is not JSON, or more than one value"),
        ("```json\n{}\n```", "text that is not JSON, or more than one value"),
        ("{'a': 1}", "text that is not JSON, or more than one value"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "an object with a name twice"),
        ('{"a": NaN}', "NaN or Infinity, which JSON does not know"),
        ('{"a": -Infinity}', "NaN or Infinity, which JSON does not know"),
        ('{"a": 1e999}', "a number that is too large"),
        ('{"a": 9223372036854775808}', "a whole number beyond 64 bits"),
        ('{"a": ' + "9" * 10_000 + "}", "a whole number beyond 64 bits"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1), "more levels than are read"),
        ("[" * 15_000, "text that is not JSON, or more than one value"),
    ],
)
def test_a_text_with_no_reading_or_two_is_no_output(text: str, found: str) -> None:
    why = unreadable(text)

    assert why is not None
    assert why.startswith("output must be the text of one JSON value and nothing around it, found ")
    assert found in why or text.startswith("[[")
    assert misfit({}, text) == why


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
        max_leaves=12,
    )
)
def test_any_plain_json_is_read_as_it_is(found: Any) -> None:
    assert value(json.dumps(found)) == found


SCHEMAS = st.recursive(
    st.sampled_from(
        [{}, {"type": "string"}, {"type": ["integer", "null"]}, {"minimum": 2}, {"enum": ["a", 1]}, {"maxItems": 1}]
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"items": s, "uniqueItems": True}, inner),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.builds(lambda s: {"properties": {"a": s}, "required": ["a"], "additionalProperties": False}, inner),
        st.builds(lambda s: {"not": s}, inner),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 1.0, 3, "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_an_output_fits_exactly_where_the_library_says_so(schema: dict[str, Any], found: Any) -> None:
    """Counting the steps and telling items apart in our own way must not change what fits."""
    assert check_schema(schema) is None

    assert (misfit(schema, json.dumps(found)) is None) is jsonschema.Draft202012Validator(schema).is_valid(found)


# In a debate.


def test_the_schema_of_a_debate_is_the_callers_or_the_default() -> None:
    assert output_schema_of(stances()) is DEFAULT
    assert output_schema_of(stances(output_schema=DECISION)) == DECISION
    assert output_schema_of(stances(output_schema={})) == {}, "a caller that takes anything is not given another shape"
    assert unfit(stances(), Projection(OUTPUT)) is None
    assert unfit(stances(output_schema=DECISION), Projection(OUTPUT)) is not None
    assert unfit(stances(), Argument(said(TurnId("1.debater-1.1")))) is None
    assert unfit(ballot(), Argument(said(TurnId("1.debater-1.1")))) is None


class Told(Provider):
    """Answers with this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def encode(self, request: Request) -> bytes:
        raise NotImplementedError

    def decode_request(self, body: bytes) -> WireTexts:
        raise NotImplementedError

    async def send(self, body: bytes) -> Answer:
        return Answer(self._text, None)


async def attempted(options: StancesOptions, output: str) -> TurnSpoke | AttemptFailed:
    """What an attempt at the synthesizer's turn comes to when its model answers with this output."""
    started = a_start(options)
    entries = drive(started, judged())
    n = next(n for n, e in enumerate(entries) if getattr(e, "turn", "") == "2.synthesizer.1")
    turn, plan = asked(entries, TurnId("2.synthesizer.1")), started.seat("synthesizer")
    intent = TurnAsked(turn.id, 1, plan.model, "", "", 1_000, 5_000)
    calling = ModelCaller(Prompts.load(), {plan.provider: Told(json.dumps({"output": output}))}, {})
    made = await calling.make(Attempt(intent, turn, plan, b"", money.RECKONING), Facts.of(entries[:n]), 5.0)
    return made.entry


async def test_a_projection_that_does_not_fit_is_a_failed_attempt_that_says_why() -> None:
    entry = await attempted(stances(output_schema=DECISION), '{"decision": "go"}')

    assert isinstance(entry, AttemptFailed)
    assert (entry.reason, entry.final) == ("malformedReply", False)
    assert entry.detail == "output does not fit the schema: at $, a property is missing: risks"


async def test_a_projection_that_fits_is_a_reply() -> None:
    entry = await attempted(stances(output_schema=DECISION), '{"decision": "go", "risks": [{"name": "late"}]}')

    assert isinstance(entry, TurnSpoke)


async def test_a_projection_that_is_no_json_is_a_failed_attempt_too() -> None:
    entry = await attempted(stances(), "Ship it.")

    assert isinstance(entry, AttemptFailed)
    assert entry.detail.startswith("output must be the text of one JSON value")


def test_what_is_told_to_a_model_is_never_longer_than_a_repair_may_be() -> None:
    names = [f"{i}{'n' * 80}" for i in range(9)]
    schema = {"properties": {name: {"required": names} for name in names}}
    text = json.dumps({name: {} for name in names})

    refusal = misfit(schema, text)

    assert refusal is not None
    assert len(refusal) == decoding.ERROR_MAX
