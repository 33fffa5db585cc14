"""The document in OpenAPI 3.0.3 says what that in 3.1 says, in the words of 3.0.3."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from service.web.openapi import document
from service.web.openapi_3_0 import in_3_0, schema_in_3_0
from service.web.value_bounds import CaseBounds
from tests.unit.intake.test_intake import POLICY

WHOLE = document(CaseBounds.of(POLICY))
OLDER = in_3_0(WHOLE)
OF_WEBHOOKS = {"DebateEndedEvent", "DebateEndedData", "WebhookTestEvent", "WebhookTestData"}
"""What is posted to receivers: 3.0 has no place for it."""
UNKNOWN_TO_3_0 = {"const", "prefixItems", "contentSchema", "contentMediaType", "propertyNames", "jsonSchemaDialect"}


def operations(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {op["operationId"]: op for of in whole["paths"].values() for op in of.values()}


def members(whole: dict[str, Any]) -> dict[str, tuple[set[str], set[str]]]:
    """The members of each schema, and those that it requires."""
    return {
        name: (set(schema.get("properties", {})), set(schema.get("required", ())))
        for name, schema in whole["components"]["schemas"].items()
        if name not in OF_WEBHOOKS
    }


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all in it, not those that it refers to."""
    yield schema
    for name, part in schema.items():
        if name in ("anyOf", "oneOf", "allOf"):
            inner = part
        elif name in ("items", "additionalProperties"):
            inner = [part] if isinstance(part, dict) else []
        else:
            inner = [*part.values()] if name == "properties" else []
        for one in inner:
            yield from schemas(one)


def test_both_have_the_same_operations_parameters_answers_and_members() -> None:
    new, old = operations(WHOLE), operations(OLDER)

    assert OLDER["openapi"] == "3.0.3"
    assert WHOLE["paths"].keys() == OLDER["paths"].keys()
    assert new.keys() == old.keys()
    for name, operation in new.items():
        other = old[name]
        assert operation.keys() == other.keys()
        assert [(p["name"], p["in"], p["required"]) for p in operation["parameters"]] == [
            (p["name"], p["in"], p["required"]) for p in other["parameters"]
        ]
        assert {s: [*a.get("content", {})] for s, a in operation["responses"].items()} == {
            s: [*a.get("content", {})] for s, a in other["responses"].items()
        }
    assert members(WHOLE) == members(OLDER)


def test_every_member_is_described_in_both() -> None:
    for name, schema in WHOLE["components"]["schemas"].items():
        for member, part in schema.get("properties", {}).items() if name not in OF_WEBHOOKS else ():
            older = OLDER["components"]["schemas"][name]["properties"][member]
            assert older["description"] == part["description"], (name, member)


def test_what_is_posted_to_receivers_is_described_in_3_1_alone() -> None:
    assert set(WHOLE["webhooks"]) == {"debateEnded", "webhookTest"}
    assert WHOLE["components"]["schemas"].keys() >= OF_WEBHOOKS
    assert OF_WEBHOOKS & OLDER["components"]["schemas"].keys() == set()
    assert "webhooks" not in OLDER


def test_no_schema_has_a_word_that_3_0_does_not_know() -> None:
    for name, whole in OLDER["components"]["schemas"].items():
        for schema in schemas(whole):
            assert UNKNOWN_TO_3_0.isdisjoint(schema), name
            assert not isinstance(schema.get("type"), list), name
            assert schema.get("type") != "null", name
            assert "type" in schema or "nullable" not in schema, f"{name}: nullable without a type says nothing"
            assert "$ref" not in schema or len(schema) == 1, f"{name}: words beside a reference are not read"
            assert schema.get("required") != [], name


def test_the_document_in_3_1_stays_as_it_is() -> None:
    before = deepcopy(WHOLE)

    in_3_0(WHOLE)

    assert before == WHOLE


REF = {"$ref": "#/components/schemas/Force"}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ({"type": "string", "const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "description": "Both."},
            {"anyOf": [{"type": "string", "nullable": True}, {"type": "integer"}], "description": "Both."},
        ),
        ({"anyOf": [REF, {"type": "null"}]}, {"type": "object", "nullable": True, "allOf": [REF]}),
        ({**REF, "description": "A force."}, {"allOf": [REF], "description": "A force."}),
        (
            {"type": ["number", "string"], "minimum": 0, "pattern": "^[0-9]+$"},
            {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}]},
        ),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "minimum": 0, "exclusiveMinimum": True}),
        ({"type": "string", "examples": ["a", "b"]}, {"type": "string", "example": "a"}),
        (
            {"type": "string", "contentMediaType": "text/event-stream", "contentSchema": REF},
            {"anyOf": [{"type": "string"}, REF]},
        ),
        ({"type": "object", "required": [], "propertyNames": {"maxLength": 3}}, {"type": "object"}),
        (
            {"type": "array", "items": {"type": "string", "const": "a"}},
            {"type": "array", "items": {"type": "string", "enum": ["a"]}},
        ),
    ],
)
def test_each_word_of_3_1_has_its_form(newer: dict[str, Any], older: dict[str, Any]) -> None:
    assert schema_in_3_0(newer) == older


def test_examples_are_no_schemas() -> None:
    """A case may have a member that is called like a word of schemas."""
    example = {"const": 1, "required": [], "properties": {"type": ["a", "null"]}}

    found = in_3_0({**WHOLE, "paths": {"/x": {"post": {"example": example, "examples": {"a": {"value": example}}}}}})

    assert found["paths"]["/x"]["post"] == {"example": example, "examples": {"a": {"value": example}}}
