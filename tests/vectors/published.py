"""The JSON Schemas of docs/format/schemas: of every JSON file that has none in the folder `schema/` of a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from service.audit import export
from service.audit.evaluation_bundle import EvaluationSummary, SetFiles
from service.audit.pack import Summary
from service.cli.audit import certificate
from service.policy import Policy
from service.policy.file.schema import policy_schema
from service.prompts import manifest
from service.verify.steps import VerificationStep
from tests.fixtures.policies import WRITTEN
from tests.vectors.schemas import DIALECT

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "format" / "schemas"
EDITORS = DOCS / "schemas"
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TYPES: Mapping[str, Any] = {
    "policy.v1": Policy,
    "prompts.v1": manifest._Manifest,
    "export.first.v1": export.Header,
    "export.record.v1": export.Row,
    "export.last.v1": export.Footer,
    "pack.summary.v1": Summary,
    "evaluation.summary.v1": EvaluationSummary,
    "evaluation.set.v1": SetFiles,
}


def _closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _of(name: str, form: Any) -> dict[str, Any]:
    """The schema of a type; a member ``format`` that a type's default fixes is required, as every file has it."""
    (found,), parts = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    for part in parts.values():
        if "description" in part:
            part["description"] = cleandoc(part["description"])
        if "format" in part.get("properties", {}):
            part["required"] = list(dict.fromkeys(["format", *part.get("required", [])]))
    return {"$schema": DIALECT, "$id": f"urn:gainsay:{name}", **found, "$defs": parts}


def _certificate() -> dict[str, Any]:
    """The certificate: the members of a verification, the file, the keys, and what was accepted."""
    (step,), parts = msgspec.json.schema_components([VerificationStep], ref_template="#/$defs/{name}")
    file = _closed(name=TEXT, bytes={"type": "integer", "minimum": 0}, sha256=HASH)
    kinds = ["bundle", "evaluation", "export", "pack", "unknown"]
    return {
        "$schema": DIALECT,
        "$id": "urn:gainsay:certificate.v1",
        **_closed(
            format={"const": certificate.FORMAT},
            verdict={"enum": [*certificate.VERDICTS.values()]},
            result=TEXT,
            exit={"enum": [*certificate.VERDICTS]},
            file=file,
            report={"anyOf": [file, {"type": "null"}]},
            kind={"enum": kinds},
            about={"type": "object"},
            keys=TEXTS,
            witnesses=TEXTS,
            periods={"type": "object", "additionalProperties": TEXT},
            quorum={"type": "integer", "minimum": 0},
            allowed=TEXTS,
            steps={"type": "array", "items": step},
            authorities={"type": "array", "items": HASH},
            left=TEXTS,
            words=TEXTS,
            verifiedAt={"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"},
            verifierBuild=HASH,
            says=TEXT,
        ),
        "$defs": parts,
    }


def files() -> dict[str, str]:
    """Every file of the folder by its name."""
    configuration = _closed(format={"const": "gainsay-configuration/1"}, policy=HASH, prices=HASH, prompts=HASH)
    found: dict[str, Any] = {name: _of(name, form) for name, form in TYPES.items()}
    found["configuration.v1"] = {"$schema": DIALECT, "$id": "urn:gainsay:configuration.v1", **configuration}
    found["certificate.v1"] = _certificate()
    return _encoded(found)


def editors() -> dict[str, str]:
    """Every file of the folder for editors: schemas of what operators write, which are never frozen."""
    return _encoded({"policy-file": policy_schema(WRITTEN), "tenant-policy-file": policy_schema(WRITTEN, tenant=True)})


def _encoded(found: Mapping[str, Any]) -> dict[str, str]:
    encode = msgspec.json.Encoder(order="sorted").encode
    return {f"{name}.json": msgspec.json.format(encode(one), indent=2).decode() + "\n" for name, one in found.items()}
