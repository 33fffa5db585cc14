"""The JSON Schemas that bundles carry are frozen, say what the types say, and hold for every recorded debate."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from service.audit import events
from service.audit.bundle import BLOCKS, FORMAT, PRESENT, DocumentFile, Manifest, absent, encode_index, encode_manifest
from service.audit.record import SCHEMA, VERSION, Actor, Context, Place, Writer, encode_context, seal
from service.debate.entries import decode, kind
from tests.vectors.record import FOLDER as RECORDED
from tests.vectors.schemas import FOLDER, forms, pins, schema

DEBATES = sorted(path for path in RECORDED.glob("*.jsonl") if ".moves." not in path.name)
MANIFEST = Manifest(
    debate="0199c0de-0000-7000-8000-000000000001",
    tenant="default",
    status="completed",
    made="2026-01-02T03:04:05.678Z",
    build="bb" * 32,
    records=2,
    logs=("host/default/1",),
    files={"README.txt": "aa" * 32},
    blocks={**dict.fromkeys(BLOCKS, PRESENT), "heads": absent("it is the first log")},
)

ALL = {name: {"present": True} for name in BLOCKS}


def validator(name: str) -> Draft202012Validator:
    found = json.loads((FOLDER / f"{name}.json").read_bytes())
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def test_no_schema_that_bundles_carry_is_ever_changed_or_lost() -> None:
    stored = {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()}

    assert stored == pins()


@pytest.mark.parametrize("name", sorted(forms()))
def test_type_and_schema_of_a_form_agree(name: str) -> None:
    """One that fails here has changed a form: give it a new version."""
    stored = (FOLDER / f"{name}.json").read_bytes()

    assert _said(json.loads(stored)) == _said(json.loads(schema(name, forms()[name])))


def test_the_forms_of_today_are_those_that_are_written() -> None:
    assert f"leaf.v{VERSION}" in forms()
    assert FORMAT.endswith("/1")
    assert {name for name in forms() if name.startswith("payload.")} == {
        f"payload.{kind}.v{SCHEMA}" for kind in (*_kinds(), *events.KINDS)
    }


@pytest.mark.parametrize("path", DEBATES, ids=lambda path: path.stem)
def test_every_record_of_a_recorded_debate_is_as_its_schema_says(path: Path) -> None:
    validators = {name: validator(f"payload.{name}.v{SCHEMA}") for name in _kinds()}

    for line in path.read_bytes().splitlines():
        validators[kind(decode(line))].validate(json.loads(line))


@pytest.mark.parametrize(
    "event",
    [
        events.LogOpened("host/default/2", 2, "host+00+AA", "a\n\nb\n"),
        events.LogOpened("host/default/1", 1, "host+00+AA", None),
        events.AuditRead("bundle", "0199c0de-0000-7000-8000-000000000001"),
        events.AuditRead("records", asked={"status": "completed"}),
        events.AuditChecked("host/default/1", 3, "aa" * 32, ("leaf 2 is another",)),
    ],
)
def test_what_happens_to_a_log_is_as_its_schema_says(event: events.Event) -> None:
    validator(f"payload.{events.kind(event)}.v{SCHEMA}").validate(json.loads(events.encode(event)))


def test_leaves_contexts_manifests_and_indexes_are_as_their_schemas_say() -> None:
    writer = Writer(Actor("w-1", "service", "worker", "databaseRole"), "bb" * 32)
    leaf = seal(
        b"{}",
        bytes(32),
        place=Place("host/default/1", "default", "0199c0de-0000-7000-8000-000000000001"),
        writer=writer,
        kind="turn.spoke",
        n=0,
        prev=b"",
        occurred="2026-01-02T03:04:05.678Z",
        recorded="2026-01-02T03:04:05.678Z",
    ).leaf
    context = Context("contract", "5", None, None, "to price it", None)
    index = (DocumentFile("a/b", "", "documents/0001.txt", "00" * 32), DocumentFile("", "Ü", None, None))

    validator(f"leaf.v{VERSION}").validate(json.loads(leaf))
    validator("context.v1").validate(json.loads(encode_context(context)))
    validator("manifest.v1").validate(json.loads(encode_manifest(MANIFEST)))
    validator("documents.v1").validate(json.loads(encode_index(index)))
    with pytest.raises(ValidationError):
        validator("leaf.v1").validate(json.loads(leaf))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "gainsay-bundle/2"},
        {"format": None},
        {"records": -1},
        {"files": {"README.txt": "AA" * 32}},
        {"blocks": {**ALL, "heads": {}}},
        {"blocks": {**ALL, "heads": {"absent": True}}},
        {"blocks": {**ALL, "heads": {"absent": True, "reason": ""}}},
        {"blocks": {**ALL, "head": {"present": True}}},
        {"blocks": {"heads": {"present": True}}},
        {"more": 1},
    ],
)
def test_the_manifests_schema_refuses_what_the_reader_refuses(change: dict[str, Any]) -> None:
    told = {**json.loads(encode_manifest(MANIFEST)), **change}

    with pytest.raises(ValidationError):
        validator("manifest.v1").validate({name: value for name, value in told.items() if value is not None})


def _kinds() -> set[str]:
    return {kind(decode(line)) for path in DEBATES for line in path.read_bytes().splitlines()}


def _said(part: Any) -> Any:
    """A schema without its descriptions, which may become better."""
    match part:
        case dict():
            return {name: _said(value) for name, value in part.items() if not _is_description(name, value)}
        case list():
            return [_said(value) for value in part]
    return part


def _is_description(name: str, value: Any) -> bool:
    return name == "description" and isinstance(value, str)
