"""Write the JSON Schemas that bundles carry: ``python -m tests.vectors.schemas``.

service/audit/schemas/NAME.vN.json describes version N of a form: the bundle's manifest, its index of documents, leaves,
contexts, and the payload of each kind of record. A file that is there is never written again, because bundles that were
handed out are read by it: a form that changed needs a new version here and where it is written. Only a file that no
release has carried may be removed and written anew, with its line in schemas.sha256.
"""

from __future__ import annotations

from hashlib import sha256
from inspect import cleandoc
from pathlib import Path
from typing import Any, get_args

import msgspec

from service.audit import events
from service.audit.bundle import BLOCKS, FORMAT, DocumentFile, Manifest
from service.audit.record import SCHEMA, Context, Envelope, _Envelope1
from service.debate.entries import Entry

FOLDER = Path(__file__).resolve().parents[2] / "service" / "audit" / "schemas"
PINS = Path(__file__).parent / "schemas.sha256"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def forms() -> dict[str, Any]:
    """Every form's type, by the name of its file."""
    kinds = {t.__struct_config__.tag: t for t in (*get_args(Entry), *get_args(events.Event))}
    return {
        "manifest.v1": Manifest,
        "documents.v1": tuple[DocumentFile, ...],
        "leaf.v1": _Envelope1,
        "leaf.v2": Envelope,
        "context.v1": Context,
        **{f"payload.{kind}.v{SCHEMA}": kinds[kind] for kind in sorted(kinds)},
    }


def schema(name: str, form: Any) -> bytes:
    """The JSON Schema of a form, as it is stored."""
    (found,), parts = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    for part in parts.values():
        if "description" in part:
            part["description"] = cleandoc(part["description"])  # whose indent depends on the version of Python
    if name.startswith("leaf."):
        parts[form.__name__]["properties"]["v"] = {"const": int(name.removeprefix("leaf.v"))}
    if form is Manifest:
        _complete(parts)
    told = {"$schema": DIALECT, "$id": f"urn:gainsay:{name}", **found, "$defs": parts}
    return msgspec.json.format(msgspec.json.Encoder(order="sorted").encode(told), indent=2) + b"\n"


def _complete(parts: dict[str, Any]) -> None:
    """What the manifest's types check in code: every block is told of, as present or as absent with a reason."""
    manifest, block = parts["Manifest"], parts["Block"]
    manifest["required"] = ["format", *manifest["required"]]
    manifest["properties"]["blocks"].update(required=list(BLOCKS), propertyNames={"enum": list(BLOCKS)})
    manifest["properties"]["format"] = {"const": FORMAT}
    for word in ("properties", "required", "additionalProperties"):
        del block[word]
    block["oneOf"] = [
        {"additionalProperties": False, "properties": {"present": {"const": True}}, "required": ["present"]},
        {
            "additionalProperties": False,
            "properties": {"absent": {"const": True}, "reason": {"type": "string", "minLength": 1}},
            "required": ["absent", "reason"],
        },
    ]


def pins() -> dict[str, str]:
    """The recorded SHA-256 of each stored schema, by file name."""
    lines = PINS.read_text("utf-8").splitlines() if PINS.exists() else []
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def main() -> None:
    """Write what is not there yet, and its line among the hashes."""
    FOLDER.mkdir(exist_ok=True)
    known = pins()
    for name, form in forms().items():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            path.write_bytes(schema(name, form))
            known[path.name] = sha256(path.read_bytes()).hexdigest()
    PINS.write_text("".join(f"{known[name]}  {name}\n" for name in sorted(known)), "utf-8")


if __name__ == "__main__":
    main()
