"""Every member of the document is described, with unit and range, by the text below its field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct, structs

from service.web.answer_schemas import reached
from service.web.member_texts import SHARED, member_texts
from service.web.openapi import document
from service.web.schema_names import SCHEMA_NAMES
from service.web.value_bounds import CaseBounds
from service.web.value_forms import range_of
from tests.unit.intake.test_intake import POLICY

WHOLE = document(CaseBounds.of(POLICY))
MEMBERS: dict[str, dict[str, Any]] = {
    f"{name}.{member}": part
    for name, schema in WHOLE["components"]["schemas"].items()
    for member, part in schema.get("properties", {}).items()
}


def body_of(content: dict[str, Any]) -> str:
    """The schema of a body, or that of a line of one with lines."""
    *_, whole = content["schema"].get("anyOf", [content["schema"]])
    return str(whole["$ref"])


ASKED = {
    name
    for operations in WHOLE["paths"].values()
    for operation in operations.values()
    for content in operation.get("requestBody", {}).get("content", {}).values()
    for name in reached(WHOLE["components"]["schemas"], body_of(content).rpartition("/")[2])
}
"""The schemas of requests, whose bounds are those that the service refuses by."""
UNITS = (
    "US dollars",
    "tokens",
    "seconds",
    "days",
    "hours",
    "milliseconds",
    "code points",
    "share",
    "confidence",
    "score",
    "strength",
    *("number of", "numbers of", "the most", "rounds", "debaters", "debates", "votes", "place", "how many times"),
    *("round", "version", "index", "size", "status of the answer", "bound", "from 0 to 100", "beyond chance", "fail"),
    *("sampling", "count", "overlap", "keys", "documents", "positions", "consensus"),
)


class Described(Struct):
    """A type of which one member has a text, one the text of its name, and one none."""

    own: int
    """What this one is,
    on two lines."""
    turn: str
    silent: str


class Inherited(Described):
    """A type with the members of another."""

    further: str
    """A further one."""


def numbers(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas of numbers in a member's schema, at any depth but in other types."""
    if schema.get("type") in ("integer", "number"):
        yield schema
    for inner in ("items", "additionalProperties"):
        if isinstance(part := schema.get(inner), dict):
            yield from numbers(part)
    for shape in schema.get("anyOf", ()):
        yield from numbers(shape)


def test_every_member_is_described() -> None:
    without = [place for place, part in MEMBERS.items() if not part.get("description")]

    assert len(MEMBERS) > 1_600
    assert without == []


def test_a_description_is_a_sentence_that_says_more_than_the_name() -> None:
    for place, part in MEMBERS.items():
        text = part["description"]
        words = {word.lower() for word in re.findall(r"[A-Za-z]+", text)} - {"the", "a", "an", "of", "its", "is"}
        named = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", place.partition(".")[2])}

        assert text[0].isupper() or text[0] == "`", place
        assert text.endswith("."), place
        assert words - named, f"{place} says no more than its name: {text}"


def test_every_number_of_an_answer_has_a_least_value_and_every_share_a_greatest() -> None:
    found = {place: [*numbers(part)] for place, part in MEMBERS.items() if place.partition(".")[0] not in ASKED}

    assert sum(map(bool, found.values())) > 250
    for place, schemas in found.items():
        for schema in schemas:
            assert "minimum" in schema, place
            assert schema["type"] == "integer" or "maximum" in schema, f"{place}: no range in its text"


def test_the_text_of_a_number_names_its_unit() -> None:
    for place, part in MEMBERS.items():
        text = part["description"].lower()
        if place.endswith("USD"):
            assert "US dollars" in part["description"], place
        elif any(numbers(part)):
            assert any(unit.lower() in text for unit in UNITS), f"{place} names no unit: {text}"


def test_every_text_of_a_type_is_one_of_a_member_that_it_has() -> None:
    """The words of names that no type has any more are taken out."""
    names = {field.encode_name for kind in SCHEMA_NAMES for field in structs.fields(kind)}

    assert SHARED.keys() <= names


def test_a_text_stands_below_its_field_and_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.web.member_texts.OUR_OWN", __name__.partition(".")[0])

    assert member_texts(Described) == {"own": "What this one is, on two lines.", "turn": SHARED["turn"]}
    assert member_texts(Inherited) == {**member_texts(Described), "further": "A further one."}


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("A share from 0 to 1.", {"minimum": 0, "maximum": 1}),
        ("From -1 to 1.", {"minimum": -1, "maximum": 1}),
        ("Milliseconds from 1 to 600,000.", {"minimum": 1, "maximum": 600_000}),
        ("The round, from 1.", {"minimum": 1}),
        ("At least 1.", {"minimum": 1}),
        ("How many there are.", {"minimum": 0}),
    ],
)
def test_the_range_of_a_number_is_that_of_its_text(text: str, bounds: dict[str, int]) -> None:
    assert range_of(text) == bounds
