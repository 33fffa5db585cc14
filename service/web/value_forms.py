"""The form of a value, by the name of its member: times, ids, hashes and addresses; and the range of a number.

A name stands for one form in every type, so the table goes by names. The range of a number is that of the member's
text: "from 0 to 1" is written as minimum and maximum. Where a text gives none, a whole number of an answer is a count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from service.debate.formats import NAMES
from service.debate.model import Diversity
from service.web.operation import Schema

INSTANT: Schema = {"format": "date-time"}
DAY: Schema = {"format": "date"}
ID: Schema = {"format": "uuid"}
HASH: Schema = {"pattern": "^[0-9a-f]{64}$"}
ADDRESS: Schema = {"format": "uri-reference"}
TURN: Schema = {"pattern": r"^(0|[1-9][0-9]*)\.[a-z][a-z0-9-]*(\..+)?\.[1-9][0-9]*$"}
RATIO: Schema = {"pattern": r"^[0-9]+\.[0-9]{3}$"}
VERSIONED: Schema = {"pattern": rf"^({'|'.join(NAMES)})/[1-9][0-9]*$"}
"""A format with its version."""

FORMS: Mapping[str, Schema] = {
    **dict.fromkeys(("at", "createdAt", "concludedAt", "ends", "deadline"), INSTANT),
    **dict.fromkeys(("day", "effective", "priceEffective", "since", "until"), DAY),
    **dict.fromkeys(("debateId", "debate_id"), ID),
    **dict.fromkeys(
        (
            *("promptsPin", "policyHash", "priceHash", "configurationHash", "buildHash", "seed", "lastRecord"),
            *("root", "pin", "sha256", "commitment"),
        ),
        HASH,
    ),
    **dict.fromkeys(("href", "self", "full", "events", "report", "audit", "abort", "instance", "type"), ADDRESS),
    **dict.fromkeys(("turn", "turns", "synthesisTurn", "synthesis_id", "firstDraft"), TURN),
    "actualToEstimate": RATIO,
    "diversity": {"enum": [*get_args(Diversity)]},
}
"""By the name in JSON."""
OWN_FORMS: Mapping[tuple[str, str], Schema] = {
    ("BallotResult", "report"): {},
    ("DifferingReplies", "first"): TURN,
    ("DifferingReplies", "second"): TURN,
    ("PolicyDetail", "hash"): HASH,
    ("VerifierKey", "hash"): {"pattern": "^[0-9a-f]{8}$"},
    ("Case", "materiality"): {"enum": ["high", "moderate", "low"]},
    ("Case", "format"): {"enum": [*NAMES, "auto"]},
    ("Problem", "limit"): {"enum": ["tenantDay", "tenantMonth"]},
    ("Problem", "code"): {"pattern": "^[a-z]+(_[a-z]+)*$"},
    **dict.fromkeys(
        (
            (name, "format")
            for name in (
                "Result",
                "Summary",
                "FinalEvent",
                "WholeFinalEvent",
                "StartedEvent",
                "PriceQuote",
                "DebateSummary",
            )
        ),
        VERSIONED,
    ),
    ("ConvergenceEvent", "whyNot"): {
        "enum": ["overlap", "order", "answers", "negation", "noWords", "fewVoices"],
    },
    ("PairShare", "apart"): {"enum": ["answers", "negation"]},
}
"""By the schema and the name in JSON, where a name stands for another form than elsewhere."""
_RANGE = re.compile(r"\bfrom (-?[0-9][0-9,]*) (?:to|up to) (-?[0-9][0-9,]*)\b", re.IGNORECASE)
_LEAST = re.compile(r"\b(?:from|at least) ([0-9][0-9,]*)\b", re.IGNORECASE)


def formed(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type with the form of each text among its members; ``name`` is the schema's."""
    members = {
        key: _with(part, OWN_FORMS.get((name, key), FORMS.get(key, {})), ("string",))
        for key, part in schema["properties"].items()
    }
    return {**schema, "properties": members}


def ranged(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type of an answer with the range of each number, as the member's text says it."""
    members = {
        key: _with(part, range_of(part.get("description", "")), ("integer", "number"))
        for key, part in schema["properties"].items()
    }
    return {**schema, "properties": members}


def range_of(text: str) -> Schema:
    """The bounds that a text names: both of "from 1 to 10", the least of "from 1"; a count where it names none."""
    if found := _RANGE.search(text):
        low, high = (int(bound.replace(",", "")) for bound in found.groups())
        return {"minimum": low, "maximum": high}
    if found := _LEAST.search(text):
        return {"minimum": int(found[1].replace(",", ""))}
    return {"minimum": 0}


def _with(schema: Schema, form: Schema, kinds: tuple[str, ...]) -> Schema:
    """The schema with a form, in whichever place of it a value of such a type stands; what has a form keeps it."""
    if not form:
        return schema
    if schema.get("type") in kinds and not ({"enum", "const", "pattern", "format", "minimum"} & schema.keys()):
        return {**schema, **form}
    found = dict(schema)
    if "anyOf" in schema:
        found["anyOf"] = [_with(shape, form, kinds) for shape in schema["anyOf"]]
    for inner in ("items", "additionalProperties"):
        if isinstance(part := schema.get(inner), dict):
            found[inner] = _with(part, form, kinds)
    return found
