"""Writes the types of both clients anew from the OpenAPI document: `make clients`.

    clients/python/src/gainsay_client/types.py    by datamodel-code-generator, as TypedDicts
    clients/typescript/src/schema.ts              by openapi-typescript

Bounds of values are left out: a type says a shape, and the service checks values. So that a newer service may answer
more than the types say, no type is closed (docs/decisions/0074).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from service.web.openapi import document

HERE = Path(__file__).resolve().parent
PYTHON = HERE / "python" / "src" / "gainsay_client" / "types.py"
TYPESCRIPT = HERE / "typescript" / "src" / "schema.ts"
PROGRAMS = HERE / "typescript" / "node_modules" / ".bin"

WORDS = '''"""The types of requests and answers, generated from the OpenAPI document: do not edit (`make clients`).

They are read by type checkers alone. At run time an answer is the JSON that came, with members and values of a newer
service too: leave a default branch wherever you branch on one of the closed lists.
"""'''
OPTIONS = (
    *("--input-file-type", "openapi", "--openapi-scopes", "schemas"),
    *("--output-model-type", "typing.TypedDict", "--no-use-closed-typed-dict", "--enum-field-as-literal", "all"),
    *("--target-python-version", "3.11", "--use-standard-collections", "--use-union-operator"),
    *("--use-schema-description", "--formatters", "builtin", "--disable-timestamp"),
)
_BOUNDS = frozenset(
    {"pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems"}
    | {"maxItems", "propertyNames", "additionalProperties"}
)


def shapes(document_: dict[str, Any]) -> dict[str, Any]:
    """The schemas of a document without the bounds of values, as a document of their own."""
    schemas = {name: _shape(schema) for name, schema in document_["components"]["schemas"].items()}
    return {"openapi": "3.1.0", "info": document_["info"], "paths": {}, "components": {"schemas": schemas}}


def _shape(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_shape(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return _number(schema)
    if "allOf" in schema and "$ref" in schema["allOf"][0]:  # the rest bounds its values
        return schema["allOf"][0]
    found = {name: part for name, part in schema.items() if name not in _BOUNDS}
    for name, part in found.items():
        if name == "properties":
            found[name] = {member: _shape(inner) for member, inner in part.items()}
        elif name not in ("mapping", "enum", "required", "default", "const"):
            found[name] = _shape(part)
    if isinstance(extra := schema.get("additionalProperties"), dict):
        found["additionalProperties"] = _shape(extra)
    return found


def _number(schema: dict[str, Any]) -> dict[str, Any]:
    """A decimal: the service answers with strings. It takes amounts that are exact, and shares as any number."""
    if schema["type"] == "string":
        return {"type": "string"}
    exact = [{"customTypePath": "decimal.Decimal"}, {"type": "integer"}, {"type": "string"}]
    return {"anyOf": [*exact, {"type": "number"}] if schema.get("maximum") == 1 else exact}


def python_types(document_: dict[str, Any]) -> str:
    """The module of TypedDicts of a document."""
    with tempfile.TemporaryDirectory() as folder:
        given, made, header = (Path(folder) / name for name in ("openapi.json", "types.py", "header.txt"))
        given.write_text(json.dumps(shapes(document_)), "utf-8")
        header.write_text(WORDS, "utf-8")
        _run(
            *(sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", "--input", given, "--output", made),
            *("--custom-file-header-path", header, *OPTIONS),
        )
        return made.read_text("utf-8")


def typescript_types(document_: dict[str, Any], programs: Path = PROGRAMS) -> str:
    """The module of types for TypeScript, by the programs of an npm folder."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        given.write_text(json.dumps(document_), "utf-8")
        _run(programs / "openapi-typescript", given, "--output", made)
        return made.read_text("utf-8")


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} has failed:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Write the files, or those of one language."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--only", choices=("python", "typescript"))
    only = asked.parse_args().only
    if only != "typescript":
        PYTHON.write_text(python_types(document()), "utf-8")
    if only != "python":
        if shutil.which("npm") is None:
            raise SystemExit("types for TypeScript need node 20 and npm; --only python writes the others")
        _run(
            "npm",
            "--prefix",
            HERE / "typescript",
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        )
        TYPESCRIPT.write_text(typescript_types(document()), "utf-8")


if __name__ == "__main__":
    main()
