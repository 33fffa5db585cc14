"""Payloads and contexts of every version are read, and written as they were: bytes that were kept are never another's.

tests/vectors/payloads has them, a line each, by the name of their schema. Its lines are only ever added to.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct
from msgspec.structs import fields

from service.audit import log_events, record
from service.audit.record import CONTEXT, SCHEMAS, Context, LaterContext, closed, encode_context, open_context
from service.debate import entries
from service.debate.kinds import Kinds, UnknownSchema
from service.debate.turns import TurnId
from service.verify.earlier_logs import EVENTS
from tests.vectors.schemas import path_of

KEPT = Path(__file__).parents[2] / "vectors" / "payloads"
NAMES = [
    *(f"context.v{version}" for version in range(1, CONTEXT + 1)),
    *(f"payload.{kind}.v{version}" for kind, last in SCHEMAS.items() for version in range(1, last + 1)),
]
ALWAYS_WRITTEN = {("Edit", "to"), ("Edit", "material"), ("HumanReview", "reasons")}
"""Members with defaults that version 1 has always written."""


def lines(name: str) -> list[bytes]:
    path = KEPT / f"{name}.jsonl"
    assert path.exists(), f"add tests/vectors/payloads/{path.name}: payloads of {name} as they are written, one a line"
    return path.read_bytes().splitlines()


def read(name: str, line: bytes) -> Struct:
    form, _, version = name.rpartition(".v")
    if form == "context":
        return open_context(line)
    kind = form.removeprefix("payload.")
    return EVENTS.decode(line, int(version)) if kind in EVENTS.last else entries.decode(line, int(version))


@pytest.mark.parametrize("name", NAMES)
def test_what_was_kept_is_read_and_written_to_the_same_bytes(name: str) -> None:
    path = path_of(name)
    assert path is not None
    validator = Draft202012Validator(json.loads(path.read_bytes()))
    form, _, version = name.rpartition(".v")
    kinds: Kinds[Any] = EVENTS if form.removeprefix("payload.") in EVENTS.last else entries.KINDS

    for line in lines(name):
        validator.validate(json.loads(line))
        found = read(name, line)
        if isinstance(found, Context):
            assert encode_context(found) == line
        else:
            assert kinds.exact(found, line, int(version)), (
                f"{name} is written otherwise than it was: a new member is omitted unless given (omit_defaults=True), "
                f"anything else is a new version; kept: {line[:200]!r}"
            )


def test_every_member_of_every_form_is_given_in_something_that_was_kept() -> None:
    """So a new member has a line of its own, and its name and type are held from then on."""
    given = {place for name in NAMES for line in lines(name) for place in members(read(name, line))}

    missing = [
        f"{form.__name__}.{field.encode_name}"
        for form in reached(entries.Entry, log_events.Event, Context)
        for field in fields(form)
        if (form, field.name) not in given
    ]

    assert missing == [], f"add lines to tests/vectors/payloads/NAME.vN.jsonl that give {', '.join(missing)}"


def test_every_member_that_may_be_left_out_is_written_only_when_given() -> None:
    written = [
        f"{form.__module__}.{form.__name__}.{field.name}"
        for form in reached(entries.Entry, log_events.Event, Context)
        for field in fields(form)
        if not field.required
        and field.default is not msgspec.UNSET  # which is never written
        and not form.__struct_config__.omit_defaults
        and (form.__name__, field.name) not in ALWAYS_WRITTEN
    ]

    assert written == [], "old bytes would be written with these: the type needs omit_defaults=True (decision 0041)"


def members(found: Any) -> Iterator[tuple[type[Struct], str]]:
    """Every member that is given in a value, by its type and name."""
    match found:
        case Struct():
            for field in fields(type(found)):
                value = getattr(found, field.name)
                unsaid = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
                if value != unsaid:
                    yield type(found), field.name
                yield from members(value)
        case dict():
            for value in found.values():
                yield from members(value)
        case list() | tuple():
            for value in found:
                yield from members(value)


def reached(*types: Any) -> list[type[Struct]]:
    """Every form that some type is made of."""
    found: dict[type[Struct], None] = {}
    rest = list(types)
    while rest:
        form = rest.pop()
        rest += get_args(form)
        if isinstance(form, type) and issubclass(form, Struct) and form not in found:
            found[form] = None
            rest += [field.type for field in fields(form)]
    return sorted(found, key=lambda form: form.__name__)


class Silent1(Struct, frozen=True, tag="turn.silent", tag_field="kind"):
    """A version before another, as it may come to be."""

    seat: str


OLDER = {("turn.silent", 1): (Silent1, lambda old: entries.TurnSilent(old.seat, "unknown"))}


def test_a_later_version_stands_beside_the_earlier_one() -> None:
    kinds: Kinds[entries.Entry] = Kinds(get_args(entries.Entry), OLDER)
    old, new = (
        b'{"kind":"turn.silent","seat":"1.critic.1"}',
        entries.encode(entries.TurnSilent(TurnId("1.critic.1"), "gone")),
    )
    stopped = entries.encode(entries.DebateStopped("abort", "asked"))

    raised = kinds.decode(old, 1)

    assert raised == entries.TurnSilent(TurnId("1.critic.1"), "unknown")
    assert kinds.decode(new, 2) == entries.TurnSilent(TurnId("1.critic.1"), "gone")
    assert kinds.decode(stopped, 1) == entries.DebateStopped("abort", "asked")
    assert kinds.exact(raised, old, 1)
    assert kinds.exact(kinds.decode(new, 2), new, 2)
    assert not kinds.exact(raised, old.replace(b":", b": "), 1)
    assert kinds.last == {**entries.KINDS.last, "turn.silent": 2}
    for payload, schema in ((old, 2), (new, 1), (stopped, 2)):
        with pytest.raises(msgspec.ValidationError):
            kinds.decode(payload, schema)


@pytest.mark.parametrize("schema", [-1, 0, 2])
def test_a_version_that_no_kind_has_is_not_read(schema: int) -> None:
    with pytest.raises(UnknownSchema, match=f"from 1 to 1, found {schema}"):
        entries.decode(entries.encode(entries.TurnSilent(TurnId("1.critic.1"), "gone")), schema)


@pytest.mark.parametrize(
    "older", [{("turn.silent", 2): OLDER["turn.silent", 1]}, {("turn.quiet", 1): OLDER["turn.silent", 1]}]
)
def test_versions_with_a_gap_do_not_start(older: Any) -> None:
    with pytest.raises(ValueError, match="without gaps, found turn"):
        Kinds(get_args(entries.Entry), older)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({"turn.silent": 2}, "turn.silent: written 1, read 2"),
        ({"turn.quiet": 1}, "turn.quiet: written None, read 1"),
    ],
)
def test_a_kind_without_its_version_does_not_start(read: dict[str, int], told: str) -> None:
    known = {**entries.KINDS.last, **EVENTS.last}
    closed(known)

    with pytest.raises(RuntimeError, match=told):
        closed({**known, **read})
    with pytest.raises(RuntimeError, match=r"turn\.silent: written 1, read None"):
        closed({kind: last for kind, last in known.items() if kind != "turn.silent"})


def test_the_events_of_a_log_are_written_in_the_version_that_is_read_as_the_last() -> None:
    assert EVENTS.last == log_events.LAST


@pytest.mark.parametrize(
    ("older", "expected"), [({}, 1), ({("audit.read", 1): None}, 2), ({("log.opened", 1): None}, 1)]
)
def test_an_older_version_of_an_event_makes_today_s_the_next(
    monkeypatch: pytest.MonkeyPatch, older: dict[tuple[str, int], None], expected: int
) -> None:
    assert log_events.last_versions(older)["audit.read"] == expected


def test_a_context_of_a_later_version_is_told_apart_from_one_that_is_none() -> None:
    (first, *_) = lines("context.v1")

    with pytest.raises(LaterContext, match="a context of version 2 is not known to this build"):
        open_context(first[:-1] + b',"v":2}')
    for wrong in (b',"v":1}', b',"v":0}', b',"more":1}'):
        with pytest.raises(ValueError, match="exactly as it is written"):
            open_context(first[:-1] + wrong)
    assert record.CONTEXT == 1


def test_whatever_reads_a_payload_says_its_version(root: Path) -> None:
    """Without it a payload of a later version would be read as one of the first."""
    found = [
        f"{path.relative_to(root)}:{call.lineno}"
        for path in sorted((root / "service").rglob("*.py"))
        if "service.debate.entries import" in (code := path.read_text("utf-8"))
        for call in ast.walk(ast.parse(code))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "decode"
        if len(call.args) != 2
    ]

    assert found == [], "give `decode` the schema of the envelope"
