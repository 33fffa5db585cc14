"""The JSON Schemas of the seats' replies, made from the reply types, with descriptions that steer a model.

The files under ``schemas/`` hold these schemas, written once and pinned. A test compares them with the types, so that
neither can drift from the other. Write them anew with ``python -m service.prompts.schemas`` and then record the change
with ``gainsay prompts pin``. Docstrings of the types are left out: a docstring must not change a model's instructions.

The schemas use only keywords that all vendors' constrained decoding supports (OpenAI's strict schemas, Anthropic's
output format, the grammars of vLLM): closed objects whose fields are all required, null through ``anyOf``, an empty
list for no items, no references, defaults or limits. So a field that is optional in its type is required here. msgspec
enforces the limits, and the descriptions state them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from service.debate.replies import REPLY_TYPES
from service.prompts.descriptions import DESCRIPTIONS

VERSION = 1
"""The version of the schemas of the present types; a released one is never overwritten."""

KEPT = frozenset({"type", "enum", "items", "anyOf", "$ref"})
LEFT_OUT = frozenset({"default", "minimum", "maximum", "minLength", "maxLength", "minItems"})
"""Keywords that some vendors refuse or ignore; the descriptions state these limits."""
ALWAYS_GIVEN = frozenset({"Citation.sourceId"})
"""Fields that a caller's citation may omit and a seat's may not (house rules, on citations)."""

Schema = dict[str, Any]
_REFERENCE = "#/$defs/"

_TEXTS = "No text in it is empty or has more than 20,000 characters."
"""The limits of `service.debate.replies.Words`, stated once in each reply's schema."""
_SOME_EMPTY = "No text in it has more than 20,000 characters, and none is empty unless its own description allows that."
"""The same for a reply with texts that may be empty."""
_LONGEST = 20_000


def reply_schema(seat: str) -> Schema:
    """The JSON Schema (2020-12) of a seat's reply, without references and without the ``seat`` that only records carry.

    JSON that fits it and the limits in its descriptions can be read as the reply. Raises `KeyError` for a seat without
    a reply type, and `ValueError` for a type or a field without a description.
    """
    root, definitions = _components(seat)
    if missing := undescribed(seat):
        raise ValueError("; ".join(missing))
    described = {known: _described(known, definition) for known, definition in definitions.items()}
    schema: Schema = _inlined(described[root["$ref"].removeprefix(_REFERENCE)], described)
    texts = _SOME_EMPTY if _may_be_empty(definitions.values()) else _TEXTS
    return {**schema, "description": f"{schema['description']} {texts}"}


def undescribed(seat: str) -> list[str]:
    """The types and fields of a seat's reply without a description: a sentence for each type."""
    missing = []
    for name, definition in _components(seat)[1].items():
        said = DESCRIPTIONS.get(name, {})
        fields = [field for field in definition["properties"] if field != "seat" and not said.get(field)]
        if fields or not said.get(""):
            what = [*([] if said.get("") else ["itself"]), *fields]
            missing.append(
                f"expected a description of {name} in service/prompts/descriptions.py for: {', '.join(what)}"
            )
    return missing


def _components(seat: str) -> tuple[Schema, dict[str, Schema]]:
    """The schema of a seat's reply as msgspec makes it, and the schemas of its component types."""
    (root,), definitions = msgspec.json.schema_components([REPLY_TYPES[seat]], ref_template=_REFERENCE + "{name}")
    return root, definitions


def _may_be_empty(definitions: Iterable[Schema]) -> bool:
    """Whether one of the reply's long texts has no least length."""
    fields = (field for definition in definitions for field in definition["properties"].values())
    return any(field.get("maxLength") == _LONGEST and "minLength" not in field for field in fields)


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
    """The schema in the keywords that every vendor's constrained decoding supports."""
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
    """Write the schema of every seat into the folder; exits before it writes if a description is missing."""
    if missing := list(dict.fromkeys(why for seat in REPLY_TYPES for why in undescribed(seat))):
        raise SystemExit("\n".join(missing))
    for seat in REPLY_TYPES:
        (folder / f"{seat}.v{VERSION}.json").write_bytes(encode(reply_schema(seat)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "schemas")
