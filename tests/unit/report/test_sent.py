"""What leaves has no member that says nothing, and its schema requires exactly what is always there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from service.debate.entries import CaseReceived, DebateStopped
from service.report import Line, Result, build_result, sent, summary_of
from service.report.sent import EVERY, may_be_absent
from service.web import openapi
from service.web.answer_schemas import reached
from service.web.operations import OPERATIONS
from service.web.schema_names import SCHEMA_NAMES
from tests.fixtures import formats
from tests.fixtures.debates import DECLINED, World, a_case, drive, start_of
from tests.fixtures.emptiness import empty
from tests.unit.report.played import FORMATS, ruled, stream

PROFILE = settings()


class Inner(Struct):
    a: int | None = None
    b: tuple[str, ...] = ()


class Referred(Struct):
    always_sent: ClassVar = EVERY

    winner: str | None
    points: tuple[str, ...]


class Outer(Struct, rename="camel", tag="outer"):
    always_sent: ClassVar = ("asked_for",)

    asked_for: tuple[Inner, ...]
    inner: Inner
    referred: Referred
    given: dict[str, Any]
    by_name: Mapping[str, str | None]
    places: tuple[int | None, ...]
    said: str
    share: float = 0.0
    holds: bool = False
    amount: Decimal | None = None
    note: str = ""


NOTHING = Outer((), Inner(), Referred(None, ()), {}, {}, (), "")


def test_an_object_has_the_members_that_say_something() -> None:
    full = Outer(
        (Inner(0), Inner()), Inner(None, ("x",)), Referred("w", ()), {"a": None}, {"k": "", "n": None}, (None, 1), "y"
    )

    assert sent.as_json(full) == {
        "type": "outer",
        "askedFor": ({"a": 0}, {}),
        "inner": {"b": ("x",)},
        "referred": {"winner": "w", "points": ()},
        "given": {"a": None},
        "byName": {"k": ""},
        "places": (None, 1),
        "said": "y",
        "share": 0.0,
        "holds": False,
    }
    assert sent.encode(replace(full, amount=Decimal("0.50"))).endswith(b'"amount":"0.50"}')


def test_nothing_is_left_of_an_object_that_says_nothing_but_what_is_always_sent() -> None:
    assert sent.as_json(NOTHING) == {
        "type": "outer",
        "askedFor": (),
        "referred": {"winner": None, "points": ()},
        "said": "",
        "share": 0.0,
        "holds": False,
    }


def test_a_member_may_be_absent_exactly_where_some_value_of_its_type_leaves_it_out() -> None:
    absent = {field.encode_name for field in msgspec.structs.fields(Outer) if may_be_absent(Outer, field.name)}

    assert absent == {"inner", "given", "byName", "places", "amount", "note"}
    assert not any(may_be_absent(Referred, name) for name in ("winner", "points"))


# -- what another process has sent


class Cat(Struct, tag="cat"):
    lives: int
    names: tuple[str, ...]


class Dog(Struct, tag="dog"):
    tricks: tuple[str, ...]
    owner: str | None


class Sent(Struct, rename="camel"):
    the_text: str
    number: int | None
    texts: tuple[str, ...]
    by_name: dict[str, Inner]
    pet: Cat | Dog
    pets: tuple[Cat | Dog, ...]
    inner: Inner
    perhaps: Inner | None
    anything: Any
    usual: str = "usual"


texts = st.text(max_size=3)
inners = st.builds(Inner, st.none() | st.integers(0, 2), st.lists(texts, max_size=2).map(tuple))
pets = st.builds(Cat, st.integers(0, 9), st.lists(texts, max_size=2).map(tuple)) | st.builds(
    Dog, st.lists(texts, max_size=2).map(tuple), st.none() | texts.filter(bool)
)
values = st.builds(
    Sent,
    texts,
    st.none() | st.integers(-1, 1),
    st.lists(texts, max_size=2).map(tuple),
    st.dictionaries(texts, inners.filter(lambda one: one != Inner()), max_size=2),
    pets,
    st.lists(pets, max_size=2).map(tuple),
    inners,
    st.none() | inners.filter(lambda one: one != Inner()),
    st.none() | st.booleans() | texts.filter(bool) | st.lists(st.none(), min_size=1, max_size=2),
    st.sampled_from(["usual", "another"]),
)


@given(values)
def test_what_was_sent_is_read_as_it_was(value: Sent) -> None:
    assert sent.read(sent.encode(value), Sent) == value


def test_what_was_left_out_is_read_as_nothing() -> None:
    assert sent.read(b'{"pet":{"type":"dog"}}', Sent) == Sent(
        "", None, (), {}, Dog((), None), (), Inner(), None, None, "usual"
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"pet":{"type":"cow"}}',
        b'{"pet":{"type":"cat"}}',  # a number is never left out
        b'{"pet":{"type":"dog"},"number":"1"}',
        b'{"pet":{"type":"dog"},"texts":[1]}',
    ],
)
def test_what_is_no_such_value_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        sent.read(data, Sent)


def as_sent(value: Any, kind: Any = Any) -> Any:
    """A value as far as JSON tells it: of what may be any JSON, a tuple is a list there; an object that may be absent
    and says nothing is absent."""
    if isinstance(value, Struct):
        if type(None) in get_args(kind) and not sent.as_json(value):
            return None
        types = {field.name: field.type for field in msgspec.structs.fields(value)}
        return replace(value, **{name: as_sent(getattr(value, name), of) for name, of in types.items()})
    if isinstance(value, dict):
        return {key: as_sent(part, kind) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [as_sent(part, kind) for part in value]
        return parts if sent.any_json(kind) else type(value)(parts)
    return value


def results(form: str) -> list[Result]:
    """The results of debates of a format: whole, cut short, aborted, declined, without documents, and at each entry."""
    whole = ruled(drive(start_of(formats.plain(form))))
    ends = [
        whole,
        ruled(drive(start_of(formats.plain(form)), stops=lambda _: DebateStopped("deadline", "too late"))),
        ruled(drive(start_of(formats.plain(form)), stops=lambda _: DebateStopped("abort", "enough"))),
        ruled(World(7, failing=15, refusing=3).drive(start_of(formats.plain(form), ceiling=60_000))),
        ruled([CaseReceived(replace(a_case(), documents=()), "local"), DECLINED]),
    ]
    return [build_result("d1", given_) for given_ in (*ends, whole[:1], whole[:4], whole[: len(whole) // 2])]


@pytest.mark.parametrize("form", FORMATS)
def test_a_client_reads_the_result_of_every_format_as_it_was_sent(form: str) -> None:
    found = results(form)

    assert {result.status for result in found} >= {"completed", "truncated", "aborted", "declined", "running"}
    for result in found:
        read = sent.read(sent.encode(result), Result)
        assert read == as_sent(result)
        assert sent.encode(read) == sent.encode(result)


# -- everything that is told of debates


def check(given_: Sequence[Line]) -> None:
    r = build_result("d1", given_)
    for value in (sent.as_json(r), sent.as_json(summary_of(r)), *(event.data for event in stream(given_))):
        assert [*empty(value)] == []


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 15, 2))
@given(seed=st.integers(0, 5_000), data=st.data())
def test_no_result_summary_or_event_of_any_debate_has_a_member_that_says_nothing(
    form: str, seed: int, data: st.DataObject
) -> None:
    options = data.draw(formats.options(form))
    ceiling = data.draw(st.sampled_from([60_000, 10_000_000]))
    given_ = ruled(World(seed, failing=15, refusing=3).drive(start_of(options, ceiling=ceiling)))

    check(given_[: data.draw(st.integers(1, len(given_)))])


@pytest.mark.parametrize("form", FORMATS)
def test_neither_has_one_of_a_debate_that_was_stopped_or_declined(form: str) -> None:
    check(ruled(drive(start_of(formats.plain(form)), stops=lambda _: DebateStopped("deadline", "too late"))))
    check(ruled([CaseReceived(a_case(), "local"), DECLINED]))


# -- schemas


def test_the_schema_of_every_answer_requires_what_is_always_there_and_allows_nothing_empty() -> None:
    schemas = openapi.document()["components"]["schemas"]
    bodies = {
        name
        for body in {operation.body.__name__ for operation in OPERATIONS if operation.body is not None}
        for name in reached(schemas, body)
    }
    answers = {kind: name for kind, name in SCHEMA_NAMES.items() if name in schemas and name not in bodies}

    assert len(answers) > 150
    for kind, name in answers.items():
        assert kind.__name__, name
        fields = msgspec.structs.fields(kind)
        optional = {field.encode_name for field in fields if may_be_absent(kind, field.name)}
        always = {member.json for member in sent.members(kind) if member.always}
        tag = {kind.__struct_config__.tag_field} - {None}  # type: ignore[attr-defined]
        assert set(schemas[name]["required"]) == {field.encode_name for field in fields} - optional | tag, name
        for member, schema in schemas[name]["properties"].items():
            if member not in always | tag:
                fits = jsonschema.Draft202012Validator({**schema, "components": {"schemas": schemas}}).is_valid
                open_ = schema.keys() <= {"description"}
                assert open_ or not any(map(fits, (None, [], {}))) or leads_on(schema), (name, member)


WHOLE = {
    "PanelBlind": {"claims", "assumptions"},
    "PanelDeliberation": {
        "claims",
        "assumptions",
        "learned_from_others",
        "corrections",
        "still_challenges",
        "unresolved",
    },
    "PanelConsensus": {"scores", "lagging_dimensions", "notes"},
    "PanelAccuracy": {"scores"},
    "PanelAccuracyReview": {"scores"},
    "PanelFinal": {"final_consensus_score", "synthesis_id"},
    "WholePanelFinal": {"final_consensus_score", "synthesis_id"},
    "RoundRecord": {"proposerPosition", "criticPosition", "rebuttalPosition", "moderatorEvaluation"},
    "ProposerPosition": {"supporting_arguments", "evidence_cited"},
    "CriticPosition": {"counter_arguments", "evidence_cited"},
    "RebuttalPosition": {"rebuttals", "concessions"},
    "ModeratorEvaluation": {"resolvedPoints", "unresolvedPoints", "explicitUncertainties"},
    "Verdict": {"winner"},
    "VerdictEvent": {"winner"},
    "BallotResult": {"debaterIds", "phaseSequence", "voteTally", "speakerSchedule"},
}
"""Members that a reference names and that may be empty, by their schema."""


def test_what_a_reference_names_is_always_there() -> None:
    schemas = openapi.document()["components"]["schemas"]

    missing = {name: names - set(schemas[name]["required"]) for name, names in WHOLE.items()}
    assert not any(missing.values()), missing


def test_no_type_names_as_always_sent_what_its_usual_values_leave_out() -> None:
    for kind in SCHEMA_NAMES:
        named = getattr(kind, "always_sent", ())
        fields = {field.name: field for field in msgspec.structs.fields(kind)} if named else {}
        for name in fields if named == EVERY else named:
            assert not may_be_absent(kind, name), f"{kind.__name__}.{name}"  # KeyError: it has no such member


def leads_on(schema: dict[str, Any]) -> bool:
    """Whether a schema is that of another type, which says for itself what it requires."""
    return "$ref" in schema or any("$ref" in one for one in schema.get("anyOf", ()))
