"""The pinned schemas are what the reply types give, and say of every field what is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from service.debate.replies import REPLY_TYPES
from service.prompts import DIRECTORY, Prompts
from service.prompts.schemas import DESCRIPTIONS, encode, main, reply_schema

SEATS = sorted(REPLY_TYPES)
PROMPTS = Prompts.load()

CITATION = {"quote": "limited to the fees paid", "sourceId": "D1", "location": "9.2"}
SHIFT = {"movement": "weakened", "because": "D3 shows that the insurance lapsed."}
ARGUMENT = {"n": 1, "text": "The cap covers this loss.", "basis": "evidence", "citations": [CITATION]}
REPLIES: dict[str, dict[str, Any]] = {
    "framing": {
        "thesis": "The liability is capped.",
        "scope": "The agreement of 2024.",
        "criteria": ["Deals with exceptions."],
        "keyDocuments": [{"sourceId": "D1", "why": "It holds the cap."}],
    },
    "proposer": {
        "thesis": "The liability is capped.",
        "arguments": [ARGUMENT],
        "conclusion": "upheld",
        "objections": [{"text": "Fraud is outside.", "answer": "It is, see argument 1."}],
        "shift": SHIFT,
    },
    "critic": {
        "thesis": "The cap fails.",
        "points": [{**ARGUMENT, "attacks": [1], "position": "adopt"}],
        "challengeStrength": 7,
        "conclusion": "rejected",
        "shift": SHIFT,
    },
    "rebuttal": {
        "thesis": "The cap holds but for fraud.",
        "rebuttals": [ARGUMENT],
        "concessions": [{"n": 2, "text": "Fraud is outside."}],
        "conclusion": "modified",
        "shift": SHIFT,
    },
    "moderator": {
        "scores": [{"label": "Statement 1", "score": 6}],
        "resolvedPoints": ["Fraud is outside."],
        "unresolvedPoints": [],
        "recommendAnotherRound": False,
        "synthesis": "The cap holds but for fraud.",
        "confidenceLevel": "MODERATE",
        "explicitUncertainties": ["Whether the insurance is in force."],
        "conclusion": "modified",
        "ranking": ["Statement 1"],
    },
}


def parts(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within a schema, with where it stands."""
    if isinstance(schema, dict):
        yield path, schema
        for name, part in schema.get("properties", {}).items():
            yield from parts(part, f"{path}.{name}")
        yield from parts(schema.get("items"), f"{path}[]")
        for choice in schema.get("anyOf", ()):
            yield from parts(choice, path)


@pytest.mark.parametrize("seat", SEATS)
def test_the_pinned_schema_is_what_the_types_give(seat: str) -> None:
    pinned = (DIRECTORY / PROMPTS.entry(f"schema.{seat}").file).read_bytes()

    assert pinned == encode(reply_schema(seat)), (
        "a reply type or a description changed: add a new version (service.prompts.schemas.VERSION), write it with "
        "`python -m service.prompts.schemas`, and record it with `gainsay prompts pin`"
    )


def test_writing_the_schemas_gives_the_pinned_files(tmp_path: Path) -> None:
    main(tmp_path)

    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in (DIRECTORY / "schemas").iterdir()}


@pytest.mark.parametrize("seat", SEATS)
def test_a_schema_is_a_closed_object_without_references_or_the_tag(seat: str) -> None:
    schema = PROMPTS.schema(seat)

    Draft202012Validator.check_schema(schema)
    objects = {path: part for path, part in parts(schema) if "properties" in part}
    assert schema["type"] == "object"
    assert all(part["additionalProperties"] is False for part in objects.values())
    assert "seat" not in schema["properties"]
    assert "seat" not in schema["required"]
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("seat", SEATS)
def test_every_object_and_field_of_a_schema_says_what_is_wanted(seat: str) -> None:
    schema = PROMPTS.schema(seat)

    silent = [
        f"{path}.{name}"
        for path, part in parts(schema)
        for name, field in part.get("properties", {"": part} if part.get("type") == "object" else {}).items()
        if not field.get("description", "").endswith(".")
    ]

    assert not silent


def test_no_description_is_of_a_field_that_does_not_exist() -> None:
    _, definitions = msgspec.json.schema_components(REPLY_TYPES.values())

    fields = {name: {"", *d["properties"]} - {"seat"} for name, d in definitions.items()}

    assert {name: set(said) for name, said in DESCRIPTIONS.items()} == fields


def test_no_docstring_steers_a_model() -> None:
    told = "".join(json.dumps(PROMPTS.schema(seat)) for seat in SEATS)

    said = [kind.__doc__.splitlines()[0] for kind in REPLY_TYPES.values() if kind.__doc__]

    assert len(said) == len(SEATS)
    assert not [line for line in said if line in told]
    assert "``" not in told


@pytest.mark.parametrize("seat", SEATS)
def test_what_a_schema_allows_can_be_decoded_as_the_reply(seat: str) -> None:
    reply = REPLIES[seat]

    Draft202012Validator(PROMPTS.schema(seat)).validate(reply)
    decoded = msgspec.json.decode(json.dumps(reply), type=REPLY_TYPES[seat])

    assert {"seat": seat, **reply} == json.loads(msgspec.json.encode(decoded)) | reply


@pytest.mark.parametrize("seat", SEATS)
def test_what_a_schema_requires_the_reply_type_requires(seat: str) -> None:
    for field in REPLIES[seat]:
        less = {name: value for name, value in REPLIES[seat].items() if name != field}
        optional = Draft202012Validator(PROMPTS.schema(seat)).is_valid(less)

        try:
            msgspec.json.decode(json.dumps(less), type=REPLY_TYPES[seat])
            decodes = True
        except msgspec.ValidationError:
            decodes = False

        assert decodes == optional, field


@pytest.mark.parametrize("seat", SEATS)
def test_a_field_that_is_not_known_is_refused(seat: str) -> None:
    more = {**REPLIES[seat], "verdict": "approve"}

    assert not Draft202012Validator(PROMPTS.schema(seat)).is_valid(more)


def test_a_seat_without_a_reply_has_no_schema() -> None:
    with pytest.raises(KeyError):
        reply_schema("jester")
