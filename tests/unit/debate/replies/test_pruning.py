"""Members that the schema does not have are left out and named; what is missing or wrong is still refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.entries import Charge, TurnSpoke, decode, encode
from service.debate.replies import REPLY_TYPES, Ballot
from service.debate.replies.decoding import CHARACTERS_MAX, decode_reply
from service.debate.replies.pruning import DROPPED_MAX, NAME_MAX, Dropped, Kept
from service.debate.turns import TurnId
from tests.fixtures.replies import Wire, replies

CITATION: Wire = {"quote": "ninety days of written notice", "sourceId": "lease", "location": None}
ARGUMENT: Wire = {"n": 1, "text": "The cap holds.", "basis": "evidence", "citations": [CITATION]}
BALLOT: Wire = {"stance": "Release.", "rationale": [ARGUMENT], "vote": "release"}
WHOLE = msgspec.convert(BALLOT, Ballot)


def ballot(text: str) -> Kept:
    """The ballot that a text holds, with what was left out of it."""
    kept = decode_reply("ballot.debater", text)
    assert isinstance(kept, Kept), kept
    assert kept.reply == WHOLE
    return kept


def spoken(**further: str) -> str:
    """The ballot with further members, as JSON texts."""
    members = {name: json.dumps(value) for name, value in BALLOT.items()} | further
    return "{" + ", ".join(f'"{name}": {value}' for name, value in members.items()) + "}"


def unknown(*names: str, at: str = "$") -> tuple[Dropped, ...]:
    return tuple(Dropped("unknownMember", at, name) for name in names)


def test_a_reply_without_further_members_loses_nothing() -> None:
    assert ballot(json.dumps(BALLOT)) == Kept(WHOLE, (), 0)


@pytest.mark.parametrize(
    "text",
    [
        spoken(next_speaker='"critic"'),
        spoken(next_speaker='{"vote": "revise", "vote": "escalate"}'),
        spoken(next_speaker="[" * 60 + "]" * 60),
        '{"next_speaker": null, ' + json.dumps(BALLOT)[1:],
        json.dumps(BALLOT)[:-1] + ', "next_speaker": "a", "next_speaker": "b"}',
        repr({**BALLOT, "next_speaker": "critic"}),
        f"Here it is: {spoken(next_speaker='1')}",
        '{"reply": ' + spoken(next_speaker="1") + "}",
    ],
)
def test_a_member_that_the_schema_does_not_have_is_left_out_and_named(text: str) -> None:
    assert ballot(text).dropped == unknown("next_speaker")


@pytest.mark.parametrize(
    "name",
    [
        "Vote",
        "VOTE",
        "vo_te",
        "vote ",
        "__proto__",
        "constructor",
        "seat ",
        "Seat",
        "kind",
        "struck",
        "",
        " ",
        "\u202egro",
        "\x00",
        "\n[[end]]",
        "<script>",
        "'; drop table",
        "é" * NAME_MAX,
    ],
)
def test_a_hostile_name_is_data(name: str) -> None:
    kept = ballot(json.dumps({**BALLOT, name: "revise"}))

    assert kept.dropped == unknown(name)
    entry = TurnSpoke(TurnId("1.debater-1.proposal.1"), 1, kept.reply, Charge(0, "none"), dropped=kept.dropped)
    assert decode(encode(entry)) == entry


def test_members_are_left_out_wherever_they_are() -> None:
    cited = {**CITATION, "page": 3, "Quote": "nothing"}
    argument = {**ARGUMENT, "citations": [CITATION, cited], "strength": 9}
    sent = {**BALLOT, "rationale": [ARGUMENT, {**argument, "n": 2}], "confidence": 0.9}

    kept = decode_reply("ballot.debater", json.dumps(sent))

    assert isinstance(kept, Kept)
    assert isinstance(kept.reply, Ballot)
    assert [len(a.citations) for a in kept.reply.rationale] == [1, 2]
    assert kept.dropped == (
        *unknown("page", "Quote", at="$.rationale[1].citations[1]"),
        *unknown("strength", at="$.rationale[1]"),
        *unknown("confidence"),
    )


def test_names_are_bounded_in_number_and_in_length() -> None:
    many = {**BALLOT, **{f"{n}{'x' * 1_000}": n for n in range(500)}}

    kept = ballot(json.dumps(many))

    assert len(kept.dropped) == DROPPED_MAX
    assert {len(part.name) for part in kept.dropped} == {NAME_MAX}
    assert kept.more == 500 - DROPPED_MAX


def test_a_member_may_be_as_long_as_a_reply_may_be() -> None:
    long = "x" * (CHARACTERS_MAX - 1_000)

    assert ballot(spoken(notes=json.dumps(long))).dropped == unknown("notes")
    assert ballot(json.dumps({**BALLOT, long: 1})).dropped == unknown(long[:NAME_MAX])
    assert "at most" in str(decode_reply("ballot.debater", spoken(notes=json.dumps(long + "x" * 1_000))))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (json.dumps(BALLOT)[:-1] + ', "vote": "release"}', "a name that stands twice in the object: `vote`"),
        (
            spoken(rationale='[{"n": 1, "text": "a", "text": "b", "basis": "reasoning", "citations": []}]'),
            "a name that stands twice in the object at `$.rationale[0]`: `text`",
        ),
        (json.dumps({"stance": "S.", "rationale": [ARGUMENT], "extra": 1}), "no field `vote` in the object"),
        (
            json.dumps({"stance": "S.", "rationale": [ARGUMENT], "Vote": "release"}),
            "no field `vote` in the object, but",
        ),
        (
            spoken(
                rationale=json.dumps([{**{k: v for k, v in ARGUMENT.items() if k != "citations"}, "Citations": []}])
            ),
            "no field `citations` in the object at `$.rationale[0]`, but one whose name is spelt otherwise",
        ),
        (json.dumps({"answer": BALLOT}), "no field `stance` in the object"),
        (json.dumps({"reply": BALLOT, "note": "x"}), "no field `stance` in the object"),
        (spoken(vote="1", extra="2"), "a value at `$.vote` that does not fit: expected `str`, got `int`"),
        (
            spoken(rationale="{}", extra="2"),
            "a value at `$.rationale` that does not fit: expected `array`, got `object`",
        ),
        (spoken(seat='"panel.blind"', extra="2"), "another name at `$.seat` than that of this kind of reply"),
    ],
)
def test_what_is_missing_or_wrong_is_refused_whatever_is_beside_it(text: str, found: str) -> None:
    why = decode_reply("ballot.debater", text)

    assert isinstance(why, str), why
    assert found in why


def test_objects_that_differ_only_in_what_is_left_out_are_still_two() -> None:
    text = f"{spoken(note='1')}\n{spoken(note='2')}"

    assert "several objects that differ" in str(decode_reply("ballot.debater", text))


def test_members_never_hide_the_answers_that_were_left_out() -> None:
    members = unknown(*(f"m{n}" for n in range(DROPPED_MAX)))
    answer = Dropped("struckPoint", "$.rebuttals[0]", "1")

    kept = Kept(WHOLE, (answer,)).after(Kept(WHOLE, members, 5))

    assert kept == Kept(WHOLE, (answer, *members[:-1]), 6)


def places(value: Any, at: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a JSON value, with its place."""
    if isinstance(value, dict):
        yield at, value
        for name, part in value.items():
            yield from places(part, f"{at}.{name}")
    if isinstance(value, list):
        for i, part in enumerate(value):
            yield from places(part, f"{at}[{i}]")


@pytest.mark.parametrize("kind", sorted(REPLY_TYPES))
@given(data=st.data())
def test_members_beside_those_of_any_reply_change_nothing_of_it(kind: str, data: st.DataObject) -> None:
    sent = data.draw(replies(kind))
    meant = msgspec.convert(sent, REPLY_TYPES[kind])
    at, place = data.draw(st.sampled_from(list(places(sent))))
    name = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(lambda n: n not in place))
    if at == "$" and name == "seat":
        return
    place[name] = data.draw(st.sampled_from([None, 1, "release", [], {"n": 1}, {"a": [{}]}]))

    kept = decode_reply(kind, json.dumps(sent))

    assert kept == Kept(meant, unknown(name[:NAME_MAX], at=at))
