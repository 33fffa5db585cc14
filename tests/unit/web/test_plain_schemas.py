"""Schemas are written in words that generators of clients read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.intake.request import CaseRequest, GateRequest
from service.web.answer_schemas import reached
from service.web.openapi import document
from service.web.plain_schemas import defaults_in_words, plain
from service.web.schema_names import SCHEMA_NAMES

NUMBER, TEXT = {"type": "integer"}, {"type": "string"}


def inner(value: Any) -> Iterator[Any]:
    """A JSON value and everything in it."""
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inner(part)


def test_a_pair_is_a_list_of_two_of_one_kind_wherever_it_stands() -> None:
    pair = {"type": "array", "prefixItems": [NUMBER, NUMBER], "items": False, "minItems": 2, "maxItems": 2}
    same = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}

    assert plain({"properties": {"spans": {"items": pair}}, "anyOf": [pair]}) == {
        "properties": {"spans": {"items": same}},
        "anyOf": [same],
    }
    assert pair["items"] is False, "what was given stays as it is"


def test_a_list_whose_places_differ_is_refused() -> None:
    with pytest.raises(LookupError, match="expected one schema for all places of a list"):
        plain({"type": "array", "prefixItems": [NUMBER, TEXT], "items": False, "minItems": 2, "maxItems": 2})


def test_a_default_that_says_something_stands_in_words() -> None:
    members = {
        "round": {**NUMBER, "default": 1},
        "mode": {**TEXT, "description": "How.", "default": "auto"},
        "judge": {"type": "boolean", "default": False},
        "stance": {**TEXT, "default": ""},
        "title": {**TEXT, "default": None},
        "votes": {"type": "array", "default": []},
    }

    assert defaults_in_words({"type": "object", "properties": members})["properties"] == {
        "round": {**NUMBER, "description": "Default: 1."},
        "mode": {**TEXT, "description": "How. Default: auto."},
        "judge": {"type": "boolean", "description": "Default: false."},
        "stance": TEXT,
        "title": TEXT,
        "votes": {"type": "array"},
    }
    assert defaults_in_words({"oneOf": []}) == {"oneOf": []}


def test_the_document_has_neither_lists_by_places_nor_defaults_of_requests() -> None:
    components = document()["components"]["schemas"]
    asked = {name for kind in (CaseRequest, GateRequest) for name in reached(components, SCHEMA_NAMES[kind])}

    assert not any("prefixItems" in part for part in inner(components) if isinstance(part, dict))
    for name in asked:
        members = components[name].get("properties", {})
        assert [member for member, schema in members.items() if "default" in schema] == [], name


def test_answers_that_are_no_json_are_texts_or_bytes() -> None:
    contents = [
        (media, content["schema"])
        for operations in document()["paths"].values()
        for operation in operations.values()
        for answer in operation["responses"].values()
        for media, content in answer.get("content", {}).items()
        if not media.endswith("json")
    ]

    binary = {media for media, schema in contents if schema == {"type": "string", "format": "binary"}}
    assert binary == {"application/zip", "application/octet-stream", "application/pdf"}
    texts = [schema.get("anyOf", [schema])[0] for media, schema in contents if media not in binary]
    assert all(schema["type"] == "string" and "format" not in schema for schema in texts)
