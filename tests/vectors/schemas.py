"""Write the JSON Schemas that bundles carry: ``python -m tests.vectors.schemas``.

service/audit/schemas/VERSION/NAME.vN.json describes version N of a form: the bundle's manifest, its index of documents,
leaves, contexts, and the payload of each kind of record. VERSION is the version of the schemas that brought the file
(`SCHEMAS` in service/audit/bundle_texts.py). The command writes the files that the newest version names and that are
not there. It changes none: where a form is not as its file says, it names what is missing.

    what changed in a form                             what it needs (decision 0041)
    a member of an entry or a context that may be      a new version of the schemas, in which the form has a file of
    left out, an alternative under a tag of its own    that version
    anything else                                      a new version of the form, and one of the schemas that names it

Only a file that no release has carried may be removed and written anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any, get_args

import msgspec

from service.audit import log_events
from service.audit.bundle import FORMAT, DocumentFile, Manifest
from service.audit.bundle_texts import SCHEMAS as VERSIONS
from service.audit.record import CONTEXT, SCHEMAS, Context, Envelope, _Envelope1
from service.debate import entries
from service.debate.versions import newest, number

FOLDER = Path(__file__).resolve().parents[2] / "service" / "audit" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def forms() -> dict[str, Any]:
    """Every form's type, by the name of its file."""
    kinds = {t.__struct_config__.tag: t for t in (*get_args(entries.Entry), *get_args(log_events.Event))}
    older = {**entries.OLDER, **log_events.OLDER}
    return {
        "manifest.v2": Manifest,
        "documents.v1": tuple[DocumentFile, ...],
        "leaf.v1": _Envelope1,
        "leaf.v2": Envelope,
        f"context.v{CONTEXT}": Context,
        **{f"payload.{kind}.v{version}": form for (kind, version), (form, _) in older.items()},
        **{f"payload.{kind}.v{SCHEMAS[kind]}": kinds[kind] for kind in sorted(kinds)},
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
    """What the manifest's types check in code: it names its format."""
    manifest = parts["Manifest"]
    manifest["required"] = ["format", *manifest["required"]]
    manifest["properties"]["format"] = {"const": FORMAT}


def path_of(name: str) -> Path | None:
    """The file of a form by the newest version of the schemas; ``None`` where that does not name the form."""
    row = VERSIONS[newest(VERSIONS)]
    return FOLDER / str(row[name]) / f"{name}.json" if name in row else None


def grows(name: str) -> bool:
    """Whether a form may get members without a new version of its own.

    A decision names the schemas of its debate, so a build that does not know a member of an entry or a context says
    NOT CHECKABLE. Nothing says so of leaves, manifests, indexes and what happens to a log itself.
    """
    form = name.rpartition(".v")[0]
    return form == "context" or (form.startswith("payload.") and form.removeprefix("payload.") not in log_events.KINDS)


def said(part: Any) -> Any:
    """A schema without its descriptions, which may become better."""
    match part:
        case dict():
            return {
                name: said(value)
                for name, value in part.items()
                if not (name == "description" and isinstance(value, str))
            }
        case list():
            return [said(value) for value in part]
    return part


def breaking(stored: Any, found: Any, where: str = "") -> Iterator[str]:
    """What of a form is not as it was, but for what may be added to it; both schemas as `said`."""
    match stored, found:
        case {"properties": {}}, {"properties": {}}:
            yield from _members(stored, found, where)
        case {"anyOf": list(), "discriminator": {}}, {"anyOf": list(), "discriminator": {}}:
            yield from _alternatives(stored, found, where)
        case dict(), dict():
            for name in sorted({*stored, *found}):
                if where == "/$defs" and name not in stored:
                    continue  # a new type, which only something new can name
                if name not in stored or name not in found:
                    yield f"{where}/{name} is {'gone' if name in stored else 'new'}"
                else:
                    yield from breaking(stored[name], found[name], f"{where}/{name}")
        case list(), list() if len(stored) == len(found):
            for n, pair in enumerate(zip(stored, found, strict=True)):
                yield from breaking(*pair, f"{where}/{n}")
        case _ if stored != found:
            yield f"{where} was {json.dumps(stored)}, is {json.dumps(found)}"


def _members(stored: dict[str, Any], found: dict[str, Any], where: str) -> Iterator[str]:
    before, now = stored["properties"], found["properties"]
    needed = {True: set(stored.get("required", ())), False: set(found.get("required", ()))}
    for name in sorted({*before, *now}):
        if name not in now:
            yield f"{where}/{name} is removed (or has another name)"
        elif name not in before:
            if name in needed[False]:
                yield f"{where}/{name} is new and required: give it a default"
        else:
            if (name in needed[True]) != (name in needed[False]):
                yield f"{where}/{name} was {'required' if name in needed[True] else 'optional'} and is not any more"
            yield from breaking(before[name], now[name], f"{where}/{name}")
    was, is_ = ({n: v for n, v in part.items() if n not in ("properties", "required")} for part in (stored, found))
    yield from breaking(was, is_, where)


def _alternatives(stored: dict[str, Any], found: dict[str, Any], where: str) -> Iterator[str]:
    """A tagged union may get alternatives: what names a new tag is known as of a later build."""
    before, now = stored["discriminator"], found["discriminator"]
    if before["propertyName"] != now["propertyName"] or not before["mapping"].items() <= now["mapping"].items():
        yield f"{where}: the tags of a union are not as they were"
    for alternative in stored["anyOf"]:
        if alternative not in found["anyOf"]:
            yield f"{where}: {json.dumps(alternative)} is removed from a union"


def advice(name: str, wrong: list[str]) -> str:
    """What to do about a form that is not as its file says."""
    form, _, version = name.rpartition(".v")
    if not wrong and grows(name):
        return (
            f"{name}: only members that may be left out, or alternatives under tags of their own, were added, so it "
            f"keeps its version (decision 0041) and the schemas get one: {row(name)}"
        )
    why = "; ".join(wrong) or "members were added, and a build that does not know them refuses them"
    return (
        f"{name}: {why}. Bundles that were handed out are read by the form as it was, so this one needs a "
        f"new version, {form}.v{int(version) + 1}: see docs/how-to/add-a-field.md"
    )


def row(name: str) -> str:
    """What to write in the table of versions, and then to run."""
    later = number(newest(VERSIONS)) + 1
    return (
        f'name {name} under {later} in "schemas/{later}" of SCHEMAS (service/audit/bundle_texts.py), then run '
        "python -m tests.vectors.schemas and python -m tests.vectors.goldens"
    )


def main() -> int:
    """Write what is not there yet; refuse what is not as its file says, or stands in no version."""
    refused = 0
    for name, form in forms().items():
        path, content = path_of(name), schema(name, form)
        if path is None:
            sys.stderr.write(f"{name} has no schema: {row(name)}\n")
            refused += 1
        elif not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            sys.stdout.write(f"{path.parent.name}/{path.name}: new\n")
        else:
            stored, found = said(json.loads(path.read_bytes())), said(json.loads(content))
            if stored != found:
                sys.stderr.write(f"{advice(name, list(breaking(stored, found)))}\n")
                refused += 1
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
