"""The JSON Schemas that bundles carry are frozen, say what the types say, and hold for every recorded debate."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError
from msgspec import Struct, defstruct

from service.audit import log_events
from service.audit.bundle import FORMAT, DocumentFile, Manifest, encode_index, encode_manifest
from service.audit.record import (
    CONTEXT,
    SCHEMAS,
    VERSION,
    Actor,
    Context,
    Link,
    RecordPlace,
    Times,
    Writer,
    encode_context,
    seal,
)
from service.debate.entries import decode, kind
from tests.vectors import schemas
from tests.vectors.record import FOLDER as RECORDED
from tests.vectors.schemas import advice, breaking, forms, main, path_of, row, said, schema

DEBATES = sorted(path for path in RECORDED.glob("*.jsonl") if ".moves." not in path.name)
MANIFEST = Manifest(
    debate="0199c0de-0000-7000-8000-000000000001",
    tenant="default",
    status="completed",
    records=2,
    logs=("host/default/1",),
    files={"README.txt": "aa" * 32},
)


def validator(name: str) -> Draft202012Validator:
    path = path_of(name)
    assert path is not None
    found = json.loads(path.read_bytes())
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


@pytest.mark.parametrize("name", sorted(forms()))
def test_type_and_schema_of_a_form_agree(name: str) -> None:
    """One that fails here has changed a form; the message says whether it keeps its version, and what to do."""
    path = path_of(name)
    assert path is not None, f"{name} has no schema: {row(name)}"
    assert path.exists(), f"{name} has no schema: run python -m tests.vectors.schemas"
    stored, found = said(json.loads(path.read_bytes())), said(json.loads(schema(name, forms()[name])))

    assert stored == found, advice(name, list(breaking(stored, found)))


def test_the_forms_of_today_are_those_that_are_written() -> None:
    assert f"leaf.v{VERSION}" in forms()
    assert f"manifest.v{FORMAT.partition('/')[2]}" in forms()
    assert {name for name in forms() if name.startswith("payload.")} == {
        f"payload.{kind}.v{version}" for kind, last in SCHEMAS.items() for version in range(1, last + 1)
    }
    assert f"context.v{CONTEXT}" in forms()


@pytest.mark.parametrize("path", DEBATES, ids=lambda path: path.stem)
def test_every_record_of_a_recorded_debate_is_as_its_schema_says(path: Path) -> None:
    validators = {name: validator(f"payload.{name}.v1") for name in _kinds()}

    for line in path.read_bytes().splitlines():
        validators[kind(decode(line))].validate(json.loads(line))


@pytest.mark.parametrize(
    "event",
    [
        log_events.LogOpened("host/default/2", 2, "host+00+AA", "a\n\nb\n"),
        log_events.LogOpened("host/default/1", 1, "host+00+AA", None),
        log_events.AuditRead("bundle", "0199c0de-0000-7000-8000-000000000001"),
        log_events.AuditRead("records", asked={"status": "completed"}),
        log_events.AuditChecked("host/default/1", 3, "aa" * 32, ("leaf 2 is another",)),
    ],
)
def test_what_happens_to_a_log_is_as_its_schema_says(event: log_events.Event) -> None:
    validator(f"payload.{log_events.kind(event)}.v{SCHEMAS[log_events.kind(event)]}").validate(
        json.loads(log_events.encode(event))
    )


def test_leaves_contexts_manifests_and_indexes_are_as_their_schemas_say() -> None:
    writer = Writer(Actor("w-1", "service", "worker", "databaseRole"), "bb" * 32)
    leaf = seal(
        b"{}",
        bytes(32),
        "turn.spoke",
        place=RecordPlace("host/default/1", "default", "0199c0de-0000-7000-8000-000000000001"),
        writer=writer,
        link=Link(0, b""),
        times=Times("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
    ).leaf
    context = Context("contract", "5", None, None, "to price it", None)
    index = (DocumentFile("a/b", "", "documents/0001.txt", "00" * 32), DocumentFile("", "Ü", None, None))

    validator(f"leaf.v{VERSION}").validate(json.loads(leaf))
    validator("context.v1").validate(json.loads(encode_context(context)))
    validator("manifest.v2").validate(json.loads(encode_manifest(MANIFEST)))
    validator("documents.v1").validate(json.loads(encode_index(index)))
    with pytest.raises(ValidationError):
        validator("leaf.v1").validate(json.loads(leaf))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "gainsay-bundle/1"},
        {"format": None},
        {"records": -1},
        {"files": {"README.txt": "AA" * 32}},
        {"logs": "host/default/1"},
        {"blocks": {}},
        {"made": "2026-01-02T03:04:05.678Z"},
    ],
)
def test_the_manifests_schema_refuses_what_the_reader_refuses(change: dict[str, Any]) -> None:
    told = {**json.loads(encode_manifest(MANIFEST)), **change}

    with pytest.raises(ValidationError):
        validator("manifest.v2").validate({name: value for name, value in told.items() if value is not None})


def _kinds() -> set[str]:
    return {kind(decode(line)) for path in DEBATES for line in path.read_bytes().splitlines()}


class Before(Struct, rename="camel", omit_defaults=True):
    """A form as it was."""

    first: str
    second: int = 0


class One(Struct, tag="one"):
    """An alternative."""

    a: str


class Two(Struct, tag="two"):
    """Another."""

    b: str


def form(*fields: tuple[Any, ...]) -> type[Struct]:
    return defstruct("Before", fields, rename="camel", omit_defaults=True)


OLD = (("first", str), ("second", int, 0))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (form(*OLD), []),
        (form(*OLD, ("third", str | None, None)), []),
        (form(*OLD, ("third", Two | None, None)), []),
        (form(*OLD, ("third", dict[str, str], msgspec.field(default_factory=dict))), []),
        (form(OLD[0], ("third", str)), ["third is new and required", "second is removed"]),
        (form(OLD[0]), ["second is removed"]),
        (form(OLD[0], ("other", int, 0)), ["second is removed"]),
        (form(("first", int), OLD[1]), ["first/type was"]),
        (form(("first", str, ""), OLD[1]), ["first was required"]),
        (form(OLD[0], ("second", int)), ["second was optional"]),
        (form(OLD[0], ("second", int, 1)), ["second/default was 0, is 1"]),
    ],
)
def test_only_members_that_may_be_left_out_are_added_to_a_form(now: type[Struct], expected: list[str]) -> None:
    stored, found = (said(json.loads(schema("context.v1", kind))) for kind in (Before, now))

    wrong = list(breaking(stored, found))

    assert all(any(part in line for line in wrong) for part in expected), wrong
    assert bool(wrong) == bool(expected), wrong
    assert ("keeps its version" if not expected else "needs a new version, context.v2:") in advice("context.v1", wrong)


def test_a_union_gets_alternatives_under_tags_of_their_own_and_loses_none() -> None:
    class Three(Struct, tag="three"):
        """A third."""

        c: str

    two, three = (
        said(json.loads(schema("context.v1", form(("one", union))))) for union in (One | Two, One | Two | Three)
    )

    assert list(breaking(two, three)) == []
    assert len(list(breaking(three, two))) > 1


@pytest.mark.parametrize("name", ["payload.audit.checked.v1", "leaf.v2", "manifest.v2", "documents.v1"])
def test_a_form_that_no_decision_excuses_gets_no_member_without_a_new_version(name: str) -> None:
    form, _, version = name.rpartition(".v")

    assert f"needs a new version, {form}.v{int(version) + 1}: see docs/how-to/add-a-field.md" in advice(name, [])


def test_the_command_writes_what_a_version_names_and_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = {"context.v1": form(*OLD)}
    versions = {"schemas/1": {"context.v1": 1}}
    for name, value in (("FOLDER", tmp_path), ("VERSIONS", versions), ("forms", lambda: now)):
        monkeypatch.setattr(schemas, name, value)
    files = {number: tmp_path / str(number) / "context.v1.json" for number in (1, 2)}

    assert main() == 0
    first = files[1].read_bytes()
    now["context.v1"] = form(*OLD, ("third", str | None, None))
    assert main() == 1
    versions["schemas/2"] = {"context.v1": 2}
    assert main() == 0
    second = files[2].read_bytes()
    now["context.v1"] = form(("third", str | None, None))
    assert main() == 1
    now["context.v2"] = now.pop("context.v1")
    assert main() == 1

    assert (b"third" in first, b"third" in second) == (False, True)
    assert {number: path.read_bytes() for number, path in files.items()} == {1: first, 2: second}
    told = capsys.readouterr()
    assert told.out == "1/context.v1.json: new\n2/context.v1.json: new\n"
    added, removed, unnamed = told.err.splitlines()
    assert 'name context.v1 under 2 in "schemas/2" of SCHEMAS' in added
    assert re.search("first is removed.*needs a new version, context.v2:", removed)
    assert unnamed.startswith('context.v2 has no schema: name context.v2 under 3 in "schemas/3" of SCHEMAS')
