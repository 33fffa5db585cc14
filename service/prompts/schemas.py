"""The JSON Schemas of the seats' replies: what the reply types give, with descriptions that steer a model.

The files under ``schemas/`` are these, written once and pinned; a test compares them with the types, so that neither
can drift from the other. Write them anew with ``python -m service.prompts.schemas`` and then record the change with
``gainsay prompts pin``. Docstrings of the types are left out: editing a comment must not change what a model is told.
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

Schema = dict[str, Any]
_REFERENCE = "#/$defs/"

_N = "Number of the {}: whole, from 1, without gaps, never used twice."
_CITATIONS = "The passages that this rests on. At least one when basis is evidence. One wrong quotation strikes it all."
_BASIS = (
    "evidence: rests on passages of the documents and cites them. reasoning: rests on logic, on a hidden assumption or "
    "on what is missing; quotes nothing and names no numbered clause."
)
_CONCLUSION = (
    "What your case shows of the proposition. upheld: it holds as it is framed. modified: it holds only in a narrower "
    "or changed form. rejected: it does not hold."
)
_SHIFT = "Only when a new-evidence block is shown: how the new documents moved this seat. Otherwise left out."

DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "Citation": {
        "": "A quotation that code looks up in the documents.",
        "quote": "One unbroken passage, copied character for character, with at least 12 letters and digits.",
        "sourceId": "The id of the document block that the passage stands in. Always given.",
        "location": "Where in the document: the clause number or heading, as it is printed there.",
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
        "attacks": "Numbers of the arguments that this point defeats. Empty only for what every argument leaves out.",
        "citations": _CITATIONS,
        "basis": _BASIS,
        "position": "Only when position blocks are shown: the id of the position that is attacked.",
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
        "n": "The number of the critic's point that this answers.",
        "text": "Why that point fails, by specific counter-evidence or reasoning, in at most 90 words.",
        "citations": _CITATIONS,
        "basis": _BASIS,
    },
    "Concession": {
        "": "A point of the critic that is granted.",
        "n": "The number of the critic's point that is granted.",
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
        "ranking": "Only when position blocks are shown: one label for each position, best supported first.",
    },
    "ArgumentScore": {
        "": "The quality of the arguments under one label.",
        "label": "The label, exactly as it is shown.",
        "score": "1 to 10 by the rubric: validity, evidence, completeness, consistency.",
    },
}


def reply_schema(seat: str) -> Schema:
    """The JSON Schema (2020-12) of a seat's reply, without references and without the ``seat`` that only records carry.

    Raises `KeyError` for a seat that has no reply type.
    """
    (root,), definitions = msgspec.json.schema_components([REPLY_TYPES[seat]], ref_template=_REFERENCE + "{name}")
    name = root["$ref"].removeprefix(_REFERENCE)
    described = {known: _described(known, definition) for known, definition in definitions.items()}
    described[name]["properties"].pop("seat")
    described[name]["required"].remove("seat")
    schema: Schema = _inlined(described[name], described)
    return schema


def encode(schema: Schema) -> bytes:
    """The schema as the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _described(name: str, definition: Schema) -> Schema:
    """A type's schema with our descriptions in the place of docstrings and class names."""
    said = DESCRIPTIONS[name]
    properties = {
        field: {"description": said[field], **schema} if field != "seat" else schema
        for field, schema in definition["properties"].items()
    }
    rest = {key: value for key, value in definition.items() if key not in ("title", "description", "properties")}
    return {"description": said[""], **rest, "properties": properties}


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
