"""The JSON Schemas of the seats' replies: what the reply types give, with descriptions that steer a model.

The files under ``schemas/`` are these, written once and pinned; a test compares them with the types, so that neither
can drift from the other. Write them anew with ``python -m service.prompts.schemas`` and then record the change with
``gainsay prompts pin``. Docstrings of the types are left out: editing a comment must not change what a model is told.

They keep to what the vendors' constrained decoding has in common (OpenAI's strict schemas, Anthropic's output format,
the grammars of vLLM): closed objects whose fields are all required, null through ``anyOf``, an empty list where nothing
is to be listed, no references, defaults or limits. So a field that is optional in its type is always asked for here,
and the limits, which msgspec keeps, stand in the descriptions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from service.debate.replies import REPLY_TYPES

VERSION = 1
"""The version that the schemas of the present types are written as; a released one is never written over."""

KEPT = frozenset({"type", "enum", "items", "anyOf", "$ref"})
LEFT_OUT = frozenset({"default", "minimum", "maximum", "minLength", "maxLength", "minItems"})
"""Keywords that one vendor or another refuses or passes over in silence; the descriptions state these limits."""
ALWAYS_GIVEN = frozenset({"Citation.sourceId"})
"""What a caller's citation may do without and a seat's may not (house rules, on citations)."""

Schema = dict[str, Any]
_REFERENCE = "#/$defs/"

_N = "Number of the {}: whole, from 1 to 99, without gaps, never used twice."
_CITATIONS = (
    "The passages that this rests on. At least one when basis is evidence, otherwise an empty list. One wrong "
    "quotation strikes it all."
)
_BASIS = (
    "evidence: rests on passages of the documents and cites them. reasoning: rests on logic, on a hidden assumption or "
    "on what is missing; quotes nothing and names no numbered clause."
)
_CONCLUSION = (
    "What your case shows of the proposition. upheld: it holds as it is framed. modified: it holds only in a narrower "
    "or changed form. rejected: it does not hold."
)
_SHIFT = "null, unless a new-evidence block is shown: then how the new documents moved this seat."
_TEXTS = "No text in it is empty or has more than 20,000 characters."
"""The limits of `service.debate.replies.Words`, said once of each reply."""

DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "Citation": {
        "": "A quotation that code looks up in the documents.",
        "quote": "One unbroken passage, copied character for character, with at least 12 letters and digits.",
        "sourceId": "The id of the document block that the passage stands in. Always given.",
        "location": "Where in the document: the clause number or heading, as it is printed there. null if it has none.",
    },
    "Shift": {
        "": "How new evidence moved this seat from what it said in the round before.",
        "movement": "unchanged, strengthened, weakened or reversed, compared with this seat's own earlier statement.",
        "because": "What in which new document moved it, or why it moved nothing. Names the document's id.",
    },
    "Framing": {
        "": "The question as a proposition that can be argued for and against.",
        "thesis": "One declarative sentence that the documents can show to be true or false.",
        "scope": "What is to be decided, what is not, and what is taken as given.",
        "criteria": "Three to six tests that a good answer must pass, each of which can be checked.",
        "keyDocuments": "The documents that the question turns on, those against the thesis as well.",
    },
    "KeyDocument": {
        "": "A document that the question turns on.",
        "sourceId": "The document's id.",
        "why": "What it decides or contradicts, in one sentence.",
    },
    "Proposal": {
        "": "The best case for the proposition that the documents support.",
        "thesis": "The claim that the arguments prove, in one sentence.",
        "arguments": "Three to six arguments in order of priority, the strongest first.",
        "conclusion": _CONCLUSION,
        "objections": "The two to four strongest likely objections, answered before anyone raises them.",
        "shift": _SHIFT,
    },
    "Statement": {
        "": "One argument: one claim, its evidence, and why the claim follows.",
        "n": _N.format("argument"),
        "text": "The claim and why it follows from what is cited, in at most 90 words.",
        "citations": _CITATIONS,
        "basis": _BASIS,
    },
    "Objection": {
        "": "A likely objection in its strongest form, with the answer to it.",
        "text": "The objection as its best advocate would put it.",
        "answer": "The answer, or what has to be granted. Names arguments by number and quotes nothing.",
    },
    "Critique": {
        "": "The strongest possible case against the proposition.",
        "thesis": "The opposing case as one direct claim.",
        "points": "Three to seven challenges, the most consequential first.",
        "challengeStrength": "Your honest rating of this critique, 1 to 10. Below 6: rewrite it before you reply.",
        "conclusion": "rejected: the proposition falls. modified: only a narrower or changed form of it could stand. "
        "upheld is not this seat's to give.",
        "shift": _SHIFT,
    },
    "Point": {
        "": "One challenge, stated as a direct claim.",
        "n": _N.format("point"),
        "text": "The claim against the proposition and why it follows, in at most 90 words, without softening.",
        "attacks": "Numbers, 1 to 99, of the arguments that this point defeats. Empty only for what all leave out.",
        "citations": _CITATIONS,
        "basis": _BASIS,
        "position": "null, unless position blocks are shown: then the id of the position that is attacked.",
    },
    "Rebuttal": {
        "": "The answer to the critique, point by point.",
        "thesis": "The proposition as it stands after these answers and concessions, in one sentence.",
        "rebuttals": "The points that are contested, each with new evidence or new reasoning.",
        "concessions": "The points that are granted because the critic's argument is the stronger one.",
        "conclusion": _CONCLUSION,
        "shift": _SHIFT,
    },
    "Answer": {
        "": "The answer to one point of the critic.",
        "n": "The number of the critic's point that this answers, 1 to 99. Each point is answered once.",
        "text": "Why that point fails, by specific counter-evidence or reasoning, in at most 90 words.",
        "citations": _CITATIONS,
        "basis": _BASIS,
    },
    "Concession": {
        "": "A point of the critic that is granted.",
        "n": "The number of the critic's point that is granted, 1 to 99. It is not answered as well.",
        "text": "What is granted, and what follows from it for the proposition. Quotes nothing.",
    },
    "Moderation": {
        "": "The evaluation of the arguments under their neutral labels, and the synthesis.",
        "scores": "One score for every label that is shown, and for no other.",
        "resolvedPoints": "Points on which the arguments settle the matter, with how.",
        "unresolvedPoints": "Points that remain genuinely contested, with what stands on each side.",
        "recommendAnotherRound": "true only if another exchange over the documents could settle a named point.",
        "synthesis": "What the weight of evidence supports, which points are open, and what follows for the decision.",
        "confidenceLevel": "HIGH, MODERATE or LOW, as the prompt defines them. It is no probability.",
        "explicitUncertainties": "At least one: what could make the conclusion wrong, and what would settle it.",
        "conclusion": "upheld: the proposition holds as it is framed. modified: it holds only in the narrower or "
        "changed form that the synthesis states. rejected: the arguments against it stand.",
        "ranking": "Empty, unless position blocks are shown: then one label for each position, best supported first.",
    },
    "ArgumentScore": {
        "": "The quality of the arguments under one label.",
        "label": "The label, exactly as it is shown.",
        "score": "1 to 10 by the rubric: validity, evidence, completeness, consistency.",
    },
}


def reply_schema(seat: str) -> Schema:
    """The JSON Schema (2020-12) of a seat's reply, without references and without the ``seat`` that only records carry.

    Whatever fits it and the limits that its descriptions state can be read as the reply. Raises `KeyError` for a seat
    that has no reply type.
    """
    (root,), definitions = msgspec.json.schema_components([REPLY_TYPES[seat]], ref_template=_REFERENCE + "{name}")
    described = {known: _described(known, definition) for known, definition in definitions.items()}
    schema: Schema = _inlined(described[root["$ref"].removeprefix(_REFERENCE)], described)
    return {**schema, "description": f"{schema['description']} {_TEXTS}"}


def encode(schema: Schema) -> bytes:
    """The schema as the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _described(name: str, definition: Schema) -> Schema:
    """A type's schema with our descriptions in the place of docstrings and class names, and every field required."""
    said = DESCRIPTIONS[name]
    fields = {field: schema for field, schema in definition["properties"].items() if field != "seat"}
    return {
        "description": said[""],
        "type": "object",
        "properties": {f: {"description": said[f], **_shared(schema, f"{name}.{f}")} for f, schema in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _shared(schema: Schema, place: str) -> Schema:
    """The schema in the keywords that every vendor's constrained decoding knows."""
    if unknown := set(schema) - KEPT - LEFT_OUT:
        raise ValueError(f"expected {place} to need no other keywords than {sorted(KEPT)}, found {sorted(unknown)}")
    kept = {key: value for key, value in schema.items() if key in KEPT}
    if "items" in kept:
        kept["items"] = _shared(kept["items"], place)
    if "enum" in kept:
        kept["type"] = "string"
    if "anyOf" in kept:
        kept["anyOf"] = [_shared(choice, place) for choice in kept["anyOf"]]
        return kept["anyOf"][0] if place in ALWAYS_GIVEN else kept
    return kept


def _inlined(schema: Any, definitions: Mapping[str, Schema]) -> Any:
    """The schema with every reference replaced by what it refers to; the reply types do not nest in themselves."""
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].removeprefix(_REFERENCE)], definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items()}


def main(folder: Path) -> None:
    """Write the schema of every seat into the folder."""
    for seat in REPLY_TYPES:
        (folder / f"{seat}.v{VERSION}.json").write_bytes(encode(reply_schema(seat)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "schemas")
