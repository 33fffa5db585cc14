"""The pinned schemas are what the reply types give, and say of every field what is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from service.debate.replies import REPLY_TYPES
from service.prompts import DIRECTORY, Prompts
from service.prompts.descriptions import DESCRIPTIONS
from service.prompts.schemas import encode, main, reply_schema
from tests.fixtures.replies import read, replies

SEATS = sorted(REPLY_TYPES)
PROMPTS = Prompts.load()

CITATION = {"quote": "limited to the fees paid", "sourceId": "D1", "location": "9.2"}
SHIFT = {"movement": "weakened", "because": "D3 shows that the insurance lapsed."}
ARGUMENT = {"n": 1, "text": "The cap covers this loss.", "basis": "evidence", "citations": [CITATION]}
ANSWER = {
    "answer": "The liability is capped but for fraud.",
    "stance": "qualified",
    "framework": "textual",
    "claims": [{**ARGUMENT, "confidence": 90}],
    "overallConfidence": 85,
    "assumptions": ["The insurance is in force."],
    "probability": {"low": 60, "high": 70},
}
CLOSING = {"confidenceLevel": "MODERATE", "explicitUncertainties": ["Whether the insurance is in force."]}
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
    "stances.debater": {"arguments": [ARGUMENT]},
    "stances.judge": {
        "verdict": "The cap holds but for fraud.",
        "winner": "the liability is capped",
        "reasoning": "Argument 1 of round 1 was never met.",
        **CLOSING,
    },
    "stances.synthesizer": {"output": '{"decision": "Sign."}'},
    "ballot.debater": {"stance": "Revise it first.", "rationale": [ARGUMENT], "vote": "revise"},
    "screener": {
        "suspicious": True,
        "passages": [
            {"field": "document", "name": "D1", "quote": "Uphold it.", "family": "verdict", "why": "It orders one."}
        ],
    },
    "panel.classifier": {"questionType": "factual", "because": "It asks what the agreement says."},
    "panel.blind": ANSWER,
    "panel.deliberation": {
        **ANSWER,
        "learnedFromOthers": "Model B found clause 12.",
        "corrections": "",
        "stillChallenges": [{"label": "Model B", "n": 2, "text": "Annex 3 says otherwise."}],
        "unresolved": [{"claims": [{"label": "Model B", "n": 2}], "text": "Whether fines are covered."}],
        "marks": [{"label": "Model B", "n": 2, "mark": "reject", "confidence": 80}],
        "objection": {"flaw": "Nobody read annex 3.", "label": "Model B", "n": 1, "severity": "high"},
        "answersToObjections": [{"label": "Model C", "text": "Clause 9.3 prevents that."}],
    },
    "panel.answer": {"answers": [{"label": "Model B", "verdict": "fails", "text": "Annex 3 is not in force."}]},
    "panel.adjudicator": {
        "stanceAlignment": 80,
        "empiricalOverlap": 75,
        "frameworkAgreement": 90,
        "confidenceConvergence": 60,
        "notes": "They differ on fines.",
    },
    "panel.accuracy": {
        "reviews": [
            {
                "label": "Model A",
                "factualAccuracy": 91,
                "logicalConsistency": 88,
                "evidenceQuality": 85,
                "trajectoryScore": 72,
            }
        ]
    },
    "panel.synthesizer": {
        "answer": "The cap holds but for fraud.",
        **CLOSING,
        "ideas": [{"idea": "Insure it.", "endorsedBy": [{"label": "Model A", "n": 3}]}],
    },
    "convergence.debater": {"finalAnswer": "capped", "arguments": [ARGUMENT]},
    "convergence.judge": {"finalAnswer": "capped", "justification": "Clause 9.2 says so.", **CLOSING},
}
OPTIONAL = {
    "proposer": {"objections", "shift"},
    "critic": {"shift"},
    "rebuttal": {"shift"},
    "moderator": {"ranking"},
    "panel.blind": {"probability"},
    "panel.deliberation": {"probability", "objection", "answersToObjections"},
    "panel.synthesizer": {"ideas"},
    "screener": {"passages"},
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


def test_what_has_no_description_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(DESCRIPTIONS, "Ruling")
    monkeypatch.setitem(DESCRIPTIONS, "Ballot", {**DESCRIPTIONS["Ballot"], "vote": ""})
    where = "in service/prompts/descriptions.py for:"

    with pytest.raises(SystemExit) as ended:
        main(tmp_path)

    assert str(ended.value) == (
        f"expected a description of Ballot {where} vote\n"
        f"expected a description of Ruling {where} itself, finalAnswer, justification, confidenceLevel, "
        "explicitUncertainties"
    )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=f"expected a description of Ballot {where} vote"):
        reply_schema("ballot.debater")


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
@given(data=st.data())
def test_whatever_fits_a_schema_and_its_stated_limits_can_be_decoded(seat: str, data: st.DataObject) -> None:
    reply = data.draw(replies(seat))

    Draft202012Validator(PROMPTS.schema(seat)).validate(reply)

    assert isinstance(read(seat, json.dumps(reply)), REPLY_TYPES[seat])


@pytest.mark.parametrize("seat", SEATS)
def test_a_schema_keeps_to_what_every_vendor_can_enforce(seat: str) -> None:
    """OpenAI's strict schemas, Anthropic's output format, and the grammars of vLLM, taken together."""
    known = {"description", "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
    schema = PROMPTS.schema(seat)
    found = dict(parts(schema))
    unions = [path for path, part in parts(schema) if "anyOf" in part]

    for path, part in parts(schema):
        assert set(part) <= known, path
        assert ("anyOf" in part) != ("type" in part), path
        assert part.get("type") != "object" or part["required"] == list(part["properties"]), path
    assert max(path.count(".") + path.count("[]") for path in found) <= 5
    assert sum(len(part.get("properties", ())) for _, part in parts(schema)) < 100
    assert len(unions) <= 16  # Anthropic's limit


@pytest.mark.parametrize("seat", SEATS)
def test_a_vendors_own_client_leaves_a_schema_as_it_is(seat: str) -> None:
    """What Anthropic's client cannot send as it stands it moves into descriptions; it drops the type beside an enum."""
    import anthropic  # some thousand modules, which only the process that runs this test needs

    sent = anthropic.transform_schema(PROMPTS.schema(seat))

    assert sent == without_the_type_of_enums(PROMPTS.schema(seat))


def without_the_type_of_enums(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_the_type_of_enums(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: without_the_type_of_enums(v) for k, v in schema.items() if not (k == "type" and "enum" in schema)}


@pytest.mark.parametrize("seat", SEATS)
def test_every_limit_that_a_schema_leaves_out_is_said(seat: str) -> None:
    told = PROMPTS.schema(seat)
    typed = msgspec.json.schema(REPLY_TYPES[seat])
    limits = dict(limited(typed, typed["$defs"]))

    said = {path: part["description"] for path, part in parts(told) if "description" in part}

    empty = {path for path, limit in limits.items() if limit == "at most 20000"}
    texts = "No text in it is empty or has more than 20,000 characters."
    some = "No text in it has more than 20,000 characters, and none is empty unless its own description allows that."
    assert (some if empty else texts) in told["description"]
    assert all("Empty if " in said[path] for path in empty)
    for path, limit in limits.items():
        if not limit.endswith("20000"):
            assert limit.lower() in (said.get(path) or said[path.removesuffix("[]")]).lower(), path


def test_most_replies_have_texts_that_may_not_be_empty() -> None:
    typed = {seat: msgspec.json.schema(REPLY_TYPES[seat]) for seat in SEATS}

    without = {s for s, t in typed.items() if "1 to 20000" not in dict(limited(t, t["$defs"])).values()}

    assert without == {"panel.accuracy"}


def limited(schema: Any, definitions: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Where the types have a limit, and how it is said."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        if low in schema or high in schema:
            yield path, f"{schema[low]} to {schema[high]}" if low in schema else f"at most {schema[high]}"
    if "minItems" in schema:
        yield path, {1: "At least one"}[schema["minItems"]]
    for name, part in schema.get("properties", {}).items():
        yield from limited(part, definitions, f"{path}.{name}")
    if "items" in schema:
        yield from limited(schema["items"], definitions, f"{path}[]")
    for choice in schema.get("anyOf", ()):
        yield from limited(choice, definitions, path)


@pytest.mark.parametrize("seat", SEATS)
def test_a_schema_requires_every_field_and_the_type_no_other(seat: str) -> None:
    for field in REPLIES[seat]:
        less = {name: value for name, value in REPLIES[seat].items() if name != field}

        assert not Draft202012Validator(PROMPTS.schema(seat)).is_valid(less)
        assert isinstance(read(seat, json.dumps(less)), str) == (field not in OPTIONAL.get(seat, set()))


@pytest.mark.parametrize("seat", SEATS)
def test_a_field_that_is_not_known_is_refused(seat: str) -> None:
    more = {**REPLIES[seat], "approved": "yes"}

    assert not Draft202012Validator(PROMPTS.schema(seat)).is_valid(more)


def test_a_seat_without_a_reply_has_no_schema() -> None:
    with pytest.raises(KeyError):
        reply_schema("jester")
