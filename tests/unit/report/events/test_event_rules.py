"""The rules that hold for every event of every format, read from the schema and from played streams.

names     camelCase, or a name that a reference gives
gainsay   our own members of an event in a reference's shape; they hide none of its names
numbers   a share is a number from 0 to 1, and every whole number is a count, a place or a score
empty     only members that a reference names may be empty
heading   number and time on each; the debate's id once
seats     a seat's events name it as `started`, the transcript and the bill do
order     the gate first, `final` last, the same bytes whenever they are rendered, ids that can be resumed from
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import CaseReceived, CheckFound, DebateStopped, Entry
from service.debate.options import PanelOptions
from service.report import Line, build_result, events
from service.report import sent as sending
from service.report.events import EventName
from service.report.result.summary import VIEWS, Summary, View, viewed
from service.report.result.types import Result
from service.web import openapi
from service.web.debate_stream import encode
from tests.fixtures import formats
from tests.fixtures.debates import DECLINED, World, a_case, drive, start_of
from tests.fixtures.masking import MASKED, flagged, masking
from tests.unit.report.played import FORMATS, lines, ruled

pytestmark = pytest.mark.many

PROFILE = settings()
JSON = dict[str, Any]
CAMEL = re.compile(r"[a-z]+([A-Z][a-z0-9]*)*(USD)?")
OURS = "gainsay"

REFERENCE = {
    "adversarial": {
        *("thesis", "supporting_arguments", "evidence_cited", "counter_arguments", "challengeStrength"),
        *("rebuttals", "concessions", "argumentQualityScore", "proposer", "critic", "rebuttal"),
        *("resolvedPoints", "unresolvedPoints", "recommendAnotherRound", "synthesis", "confidenceLevel"),
        "explicitUncertainties",
    },
    "stances": {"verdict", "winner", "reasoning"},
    "panel": {
        *("event", "debate_id", "round", "model", "answer", "claims", "claim", "confidence", "overall_confidence"),
        *("assumptions", "learned_from_others", "corrections", "still_challenges", "unresolved"),
        *("scores", "overall", "terminated", "lagging_dimensions", "notes", "synthesis_id", "status"),
        *("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence"),
        *("factual_accuracy", "logical_consistency", "evidence_quality", "trajectory_score"),
        *("rounds_completed", "consensus_reached", "final_consensus_score"),
    },
}
"""The members that a format's reference names; they stay whole, also where they are empty."""
NAMED = frozenset().union(*REFERENCE.values())
WHOLE_NUMBERS = {
    *("n", "round", "attempt", "tokens", "inputTokens", "factor", "rank", "claim", "attacks", "struck", "span"),
    *(
        "verified",
        "altered",
        "tooShort",
        "notFound",
        "unchecked",
        "compared",
        "marked",
        "unclear",
        "voices",
        "arguments",
        "numbers",
    ),
    *("unansweredObjections", "challengeStrength", "proposer", "critic", "rebuttal", "at"),
    *("factual_accuracy", "logical_consistency", "evidence_quality", "trajectory_score"),
    *("shared", "either", "rounds_completed"),
}
"""The members that are whole numbers: counts, places, and scores from 1 to 10 or from 0 to 100."""
CONVERGENCE = {"similarity", "leastOverlap", "overlap"}
"""What the word overlap of convergence has; its figures are the format's own."""
RECORDED = ("options", "result")
"""Parts that are sent as they are recorded, or as GET answers: rules of events do not read them."""
AS_GIVEN = {"framing", "reply"}
"""A seat's own words, whole."""
SEVERAL = {"debaters", "seats"}
"""Members that list seats."""


# -- the schema


@cache
def document() -> JSON:
    found: JSON = msgspec.json.decode(openapi.encoded())
    return found


@cache
def types_of(name: EventName) -> tuple[JSON, ...]:
    """The schemas of an event's data."""
    operation = document()["paths"]["/v1/debates/{debate}/events"]["get"]
    given = operation["x-event-data"][name]
    return tuple(resolved(one) for one in given.get("anyOf", [given]))


def resolved(schema: JSON) -> JSON:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


@cache
def validators(name: EventName) -> tuple[jsonschema.Draft202012Validator, ...]:
    """What checks data by each of an event's types."""
    components = document()["components"]
    return tuple(jsonschema.Draft202012Validator({**one, "components": components}) for one in types_of(name))


def members(schema: JSON, seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, JSON]]:
    """Every member of a schema at every depth, by name, without the parts that are sent as recorded."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from members(resolved(schema), seen | {name})
        return
    for name, part in schema.get("properties", {}).items():
        yield name, part
        if name not in RECORDED:
            yield from members(part, seen)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("prefixItems", ())):
        yield from members(part, seen)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from members(schema[key], seen)


def kinds(schema: JSON) -> Iterator[str]:
    """The JSON types of a member's value, of a list those of its items."""
    schema = resolved(schema)
    of = schema.get("type")
    yield from [of] if isinstance(of, str) else of or ()
    for part in (*schema.get("anyOf", ()), *schema.get("prefixItems", ())):
        yield from kinds(part)
    if isinstance(schema.get("items"), dict):
        yield from kinds(schema["items"])


EVENTS: tuple[EventName, ...] = get_args(EventName)
RESULT = {field.encode_name for kind in (Summary, Result) for field in msgspec.structs.fields(kind)}


def sent(name: EventName) -> Iterator[tuple[str, JSON]]:
    """Every member of an event; of `final` without those of the result."""
    for schema in types_of(name):
        own = {k: v for k, v in schema["properties"].items() if name != "final" or k not in RESULT - {"debateId"}}
        yield from members({**schema, "properties": own})


def test_the_document_has_the_data_of_every_event() -> None:
    operation = document()["paths"]["/v1/debates/{debate}/events"]["get"]

    assert set(operation["x-event-data"]) == set(EVENTS)


@pytest.mark.parametrize("name", EVENTS)
def test_every_member_is_in_camel_case_or_is_a_references(name: EventName) -> None:
    wrong = {member for member, _ in sent(name) if not CAMEL.fullmatch(member) and member not in NAMED}

    assert wrong == set()


@pytest.mark.parametrize("name", EVENTS)
def test_a_whole_number_is_no_share(name: EventName) -> None:
    whole = {member for member, schema in sent(name) if "integer" in kinds(schema)}

    assert whole - CONVERGENCE <= WHOLE_NUMBERS


@pytest.mark.parametrize("name", EVENTS)
def test_what_is_ours_stands_at_the_top_or_beside_a_references_members_in_one_member(name: EventName) -> None:
    for schema in types_of(name):
        top = set(schema["properties"])
        if OURS not in top:
            assert "event" not in top
            assert {"n", "at", "debateId"} <= set(schema["required"])
            continue
        own = resolved(schema["properties"][OURS])
        assert top - {OURS, "marks", "objection", "ideas"} <= REFERENCE["panel"] | {"synthesis"}
        assert {"n", "at"} <= set(own["required"])
        assert "debateId" not in own["properties"]
        assert not top & set(own["properties"]), "{...data, ...data.gainsay} loses nothing"


# -- played streams


def walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every member of an event's data with its path, without the parts that are sent as recorded."""
    for name, part in value.items() if isinstance(value, dict) else ():
        yield (*path, name), part
        if name not in RECORDED:
            yield from walk(part, (*path, name))
    for part in value if isinstance(value, list | tuple) else ():
        yield from walk(part, path)


def read(line: Line, before: Sequence[Line]) -> list[tuple[EventName, JSON]]:
    """The events of an entry as a client reads them."""
    return [(event.name, msgspec.json.decode(msgspec.json.encode(event.data))) for event in events(line, "d1", before)]


def whole(data: JSON) -> JSON:
    """An event's members, ours beside a reference's."""
    return {**data, **data.get(OURS, {})}


def own(name: EventName, data: JSON) -> JSON:
    """The members of an event without those of the result."""
    return {k: v for k, v in data.items() if name != "final" or k not in RESULT - {"debateId"}}


def holds(given: Sequence[Line]) -> Counter[EventName]:
    """Check every rule on a whole debate; the events by name."""
    result = sending.as_json(build_result("d1", given))
    transcript = {one["turn"]: one for one in result.get("transcript", ())}
    names: dict[str, JSON] = {}
    found: Counter[EventName] = Counter()
    for n, line in enumerate(given):
        for name, data in read(line, given[:n]):
            found[name] += 1
            told = whole(data)
            assert (told["n"], told["at"]) == (n, line.at)
            assert [data.get("debateId", data.get("debate_id"))] == ["d1"]
            described(name, data)
            full(name, own(name, data))
            if name == "started":
                names = {one["seat"]: {k: one.get(k) for k in ("label", "name")} for one in data.get("debaters", ())}
            seated(told if name != "started" else {}, names, transcript)
    assert (found["gate"], found["final"], read(given[-1], given[:-1])[-1][0]) == (1, 1, "final")
    for one in result.get("attempts", ()):
        assert {k: one.get(k) for k in ("label", "name")} == names.get(one["seat"], {"label": None, "name": None})
    return found


@cache
def known(name: EventName) -> frozenset[str]:
    """The names of every member of an event."""
    return frozenset(member for member, _ in sent(name))


def described(name: EventName, data: JSON) -> None:
    """The data is of one of the event's types, and has no member that none of them knows."""
    assert any(one.is_valid(data) for one in validators(name)), f"no type of {name} in service/web/openapi.py: {data}"
    for path, _ in walk(own(name, data)):
        assert path[-1] in known(name) or {"pins", "scores", "reply"} & set(path[:-1]), (name, path)


def full(name: EventName, data: JSON) -> None:
    """No member is empty but a reference's; no share is above 1."""
    for path, value in walk(data):
        if value in (None, "", [], {}):
            assert path[-1] in NAMED or AS_GIVEN & set(path), (name, path)
        if isinstance(value, int) and not isinstance(value, bool):
            assert path[-1] in WHOLE_NUMBERS | CONVERGENCE, (name, path, value)
        if isinstance(value, float):
            assert -1 <= value <= 1, (name, path, value)
            assert value >= 0 or path[-1] == "beyondChance"


def seated(told: JSON, names: dict[str, JSON], transcript: dict[str, JSON]) -> None:
    """An event of a seat names it as the start did, and as the transcript does."""
    several = [one for member in SEVERAL if "wire" not in str(told.get(member)) for one in told.get(member, ())]
    for one in ([told] if "turn" in told else []) + several:
        if "turn" in one:
            assert one["seat"] == one["turn"].split(".")[1]
        given = {k: one.get(k) for k in ("label", "name")}
        assert given == names.get(one["seat"], {"label": None, "name": None})
        assert any(given.values()) == one["seat"].startswith("debater-")
        if spoken := transcript.get(one.get("turn", "")):
            assert given["name"] == spoken.get("name")
            assert given["label"] in (spoken["label"], None)
            assert given["label"] or spoken["label"] == spoken["stance"]


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 15, 2))
@given(seed=st.integers(0, 400), data=st.data())
def test_every_event_of_any_debate_holds_the_rules(form: str, seed: int, data: st.DataObject) -> None:
    options = data.draw(formats.options(form))
    ceiling = data.draw(st.sampled_from([60_000, 10_000_000]))
    given_ = ruled(World(seed, failing=15, refusing=3).drive(start_of(options, ceiling=ceiling)))

    found = holds(given_)

    assert found["started"] == 1


def test_the_debates_of_all_formats_have_every_event_between_them() -> None:
    panel = formats.plain("panel/1")
    assert isinstance(panel, PanelOptions)
    by_code = replace(panel, adjudicator="algorithmic", question_type="brainstorm", typed_by="caller", swapped=False)
    screened = drive(start_of(replace(by_code, screened=True)))
    converging = World(2).drive(start_of(formats.plain("convergence/1")))
    told = [drive(start_of(form)) for form in (*map(formats.plain, FORMATS), by_code)]
    told += [drive(masking(form), findings=flagged) for form in MASKED]
    told.append(drive(start_of(by_code), stops=lambda f: DebateStopped("deadline", "too late") if f.said else None))

    found = Counter[EventName]()
    declined: list[Entry] = [CaseReceived(a_case(), "local"), DECLINED]
    for entries in (*told, screened, converging, declined):
        found += holds(ruled(entries))

    assert set(found) == set(EVENTS)


@pytest.mark.parametrize("form", FORMATS)
def test_a_stream_is_the_same_whenever_it_is_rendered_and_can_be_resumed_after_any_id(form: str) -> None:
    given_ = lines(drive(start_of(formats.plain(form))))

    silent: set[int] = set()

    def chunks(after: int) -> list[bytes]:
        told = [(line.n, events(line, "d1", given_[: line.n])) for line in given_ if line.n > after]
        silent.update(n for n, of_entry in told if not of_entry)
        return [encode(event, n if event is of_entry[-1] else None) for n, of_entry in told for event in of_entry]

    everything = chunks(0)
    ids = [int(chunk.split(b"\n")[0][4:]) for chunk in everything if chunk.startswith(b"id: ")]

    assert ids == [n for n in range(1, len(given_)) if n not in silent]
    assert all(isinstance(given_[n].entry, CheckFound) for n in silent)
    assert everything[-1].startswith(b"id: %d\nevent: final\n" % ids[-1])
    for n in ids:
        behind = next(i for i, chunk in enumerate(everything) if chunk.startswith(b"id: %d\n" % n)) + 1
        assert chunks(n) == everything[behind:]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("form", [*FORMATS, "declined"])
def test_final_has_the_view_that_was_asked_for_and_its_own_type(form: str, view: View) -> None:
    declined: list[Entry] = [CaseReceived(a_case(), "local"), DECLINED]
    given_ = lines(declined if form == "declined" else drive(start_of(formats.plain(form))))

    *others, last = events(given_[-1], "d1", given_[:-1], view=view)
    told = msgspec.json.decode(msgspec.json.encode(last.data))

    assert others == list(events(given_[-1], "d1", given_[:-1])[:-1]), "the view changes final alone"
    result = told["gainsay"]["result"] if OURS in told else {k: v for k, v in told.items() if k not in ("n", "at")}
    assert result == msgspec.json.decode(sending.encode(viewed(build_result("d1", given_), view)))
    (title,) = (
        kind["title"] for kind, one in zip(types_of("final"), validators("final"), strict=True) if one.is_valid(told)
    )
    titles = {"FinalEvent": ("summary", False), "WholeFinalEvent": ("full", False)}
    titles |= {"PanelFinal": ("summary", True), "WholePanelFinal": ("full", True)}
    assert titles[title] == (view, OURS in told)


# -- the page


HEADING = {"n", "at", "debateId", "turn", "round", "seat", "label", "name", "position", "phase"}
REPLY = {"attempt", "servedModel", "tokens", "chargedUSD", "chargeBasis", "spentUSD", "leftUSD"}


def documented(name: EventName) -> set[str]:
    """The members that the page has to name: those beside the common ones, ours beside a reference's."""
    found: set[str] = set()
    for schema in types_of(name):
        top = schema["properties"]
        common = HEADING | (REPLY if "servedModel" in top or OURS in top else set())
        ours = resolved(top[OURS])["properties"] if OURS in top else {}
        result = RESULT if schema["title"] in ("FinalEvent", "WholeFinalEvent") else set()
        found |= (set(top) | set(ours)) - common - {OURS} - result
    return found


def test_the_page_names_every_event_and_every_member(root: Path) -> None:
    page = (root / "docs/calling.md").read_text("utf-8")
    rows: dict[str, set[str]] = {}
    for event, cell in re.findall(r"^\| (`[^|]*) \| (.*?) \| .* \|$", page, re.MULTILINE):
        for name in set(re.findall(r"`([a-z._]+)`", event)) & set(EVENTS):
            rows.setdefault(name, set()).update(set(re.findall(r"`(\w+)`", cell)) - {OURS})

    expected = {name: documented(name) for name in EVENTS}
    rows["final"].discard("GET")
    assert {name: rows.get(name) for name in EVENTS} == expected
