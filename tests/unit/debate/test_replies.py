"""What a model may send: every reply is read strictly, and what is recorded reads back as it was."""

from typing import Any

import msgspec
import pytest

from service.debate.entries import decode
from service.debate.model import Turn
from service.debate.replies import REPLY_TYPES, Critique, Moderation, Proposal, Rebuttal, Reply, statements
from service.debate.turns import TurnId
from tests.fixtures.debates import reply_for

TURNS = {
    "framing": Turn(TurnId("0.framing.1"), "framing"),
    "proposer": Turn(TurnId("1.proposer.1"), "proposer", (), ("evidence",)),
    "critic": Turn(TurnId("1.critic.1"), "critic"),
    "rebuttal": Turn(TurnId("1.rebuttal.1"), "rebuttal"),
    "moderator": Turn(
        TurnId("1.moderator.1"), "moderator", (TurnId("0.framing.1"), TurnId("1.critic.1"), TurnId("1.proposer.1"))
    ),
}


def wire(seat: str) -> dict[str, Any]:
    """The canned reply as plain JSON values, as a model would send it."""
    sent: dict[str, Any] = msgspec.to_builtins(reply_for(TURNS[seat]))
    del sent["seat"]
    return sent


def read(seat: str, sent: dict[str, Any]) -> Reply:
    return msgspec.json.decode(msgspec.json.encode(sent), type=REPLY_TYPES[seat])


@pytest.mark.parametrize("seat", TURNS)
def test_a_reply_is_read_without_its_seat_and_written_with_it(seat: str) -> None:
    reply = read(seat, wire(seat))

    written = msgspec.to_builtins(reply)

    assert reply == reply_for(TURNS[seat])
    assert written == {"seat": seat, **wire(seat)}


@pytest.mark.parametrize("seat", TURNS)
def test_an_unknown_field_is_refused(seat: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `verdictOverride`"):
        read(seat, {**wire(seat), "verdictOverride": "approve"})


@pytest.mark.parametrize("seat", TURNS)
def test_a_missing_field_is_refused(seat: str) -> None:
    optional = {
        "proposer": {"objections", "shift"},
        "critic": {"shift"},
        "rebuttal": {"shift"},
        "moderator": {"ranking"},
    }

    for name in set(wire(seat)) - optional.get(seat, set()):
        sent = wire(seat)
        del sent[name]
        with pytest.raises(msgspec.ValidationError, match=f"missing required field `{name}`"):
            read(seat, sent)


@pytest.mark.parametrize(
    ("seat", "change"),
    [
        ("critic", {"challengeStrength": 0}),
        ("critic", {"challengeStrength": 11}),
        ("critic", {"challengeStrength": 7.5}),
        ("critic", {"challengeStrength": "7"}),
        ("critic", {"conclusion": "undecided"}),
        ("critic", {"thesis": ""}),
        ("critic", {"thesis": "x" * 20_001}),
        ("critic", {"points": [{"n": 1, "text": "a"}, {"n": 1, "text": "b"}]}),
        ("critic", {"points": [{"n": 0, "text": "a"}]}),
        ("critic", {"points": [{"n": 100, "text": "a"}]}),
        ("critic", {"points": [{"n": 1, "text": "a", "basis": "gut"}]}),
        ("critic", {"points": [{"n": 1, "text": "a", "citations": [{"sourceId": "D1"}]}]}),
        ("proposer", {"arguments": [{"n": 2, "text": "a"}, {"n": 2, "text": "b"}]}),
        ("proposer", {"shift": {"movement": "sideways", "because": "x"}}),
        ("rebuttal", {"rebuttals": [{"n": 1, "text": "a"}, {"n": 1, "text": "b"}]}),
        ("rebuttal", {"concessions": [{"n": 1, "text": "a"}, {"n": 1, "text": "b"}]}),
        ("moderator", {"confidenceLevel": "VERY HIGH"}),
        ("moderator", {"explicitUncertainties": []}),
        ("moderator", {"scores": [{"label": "Statement 1", "score": 5}, {"label": "Statement 1", "score": 6}]}),
        ("moderator", {"scores": [{"label": "Statement 1", "score": 0}]}),
        ("moderator", {"recommendAnotherRound": "no"}),
    ],
)
def test_a_value_out_of_its_range_is_refused(seat: str, change: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(seat, {**wire(seat), **change})


def test_a_critique_without_a_point_can_be_read_for_code_is_to_find_it_weak() -> None:
    critique = read("critic", {**wire("critic"), "points": []})

    assert isinstance(critique, Critique)
    assert critique.points == ()


def test_the_parts_that_may_cite_are_arguments_points_and_answers() -> None:
    counts = {seat: len(statements(reply_for(turn))) for seat, turn in TURNS.items()}

    assert counts == {"framing": 0, "proposer": 2, "critic": 2, "rebuttal": 1, "moderator": 0}
    assert REPLY_TYPES["moderator"] is Moderation
    assert {REPLY_TYPES["proposer"], REPLY_TYPES["rebuttal"]} == {Proposal, Rebuttal}


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"{}", b'{"kind":"turn.spoke"}', b'{"kind":"debate.paused"}'])
def test_bytes_that_are_no_entry_are_refused(payload: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(payload)
