"""Agreement where opposition was due, over debates that were cut short and debates of several rounds."""

from __future__ import annotations

from msgspec.structs import replace

from service.debate.adversarial_agreement import agreement
from service.debate.facts import Facts
from service.debate.findings import CritiqueFound
from service.debate.model import Check, Turn, TurnId
from service.debate.replies import Conclusion, Reply
from service.debate.turns import seat_of
from tests.fixtures.debates import canned, found


def said(**conclusions: Conclusion) -> dict[TurnId, Reply]:
    """Replies by turn (``critic_2`` is the critic's of round 2), each with its conclusion."""
    replies: dict[TurnId, Reply] = {}
    for name, conclusion in conclusions.items():
        seat, _, number = name.partition("_")
        turn = TurnId(f"{number or 1}.{seat}.1")
        replies[turn] = replace(canned(Turn(turn, seat_of(turn)), Facts()), conclusion=conclusion)
    return replies


def flags(replies: dict[TurnId, Reply], *, several: bool = False) -> set[str]:
    """The flags; every critique stands, and the last moderation is the debate's."""
    critics = [turn for turn in replies if seat_of(turn) == "critic"]
    final = max((turn for turn in replies if seat_of(turn) == "moderator"), default=None)
    return {flag for flag, holds in agreement(replies, {}, critics, final, several=several).items() if holds}


def test_all_four_seats_of_one_mind_are_one_flag_and_a_rebuttal_apart_is_another() -> None:
    same = said(proposer="modified", critic="modified", rebuttal="modified", moderator="modified")
    apart = said(proposer="modified", critic="modified", rebuttal="upheld", moderator="modified")

    assert flags(same) == {"sameConclusion"}
    assert flags(apart) == {"criticAndModeratorAsProposer"}


def test_a_moderator_that_closes_without_a_rebuttal_hides_nothing() -> None:
    assert flags(said(proposer="upheld", critic="upheld", moderator="upheld")) == {"criticAndModeratorAsProposer"}


def test_one_seat_of_another_mind_is_enough() -> None:
    assert flags(said(proposer="upheld", critic="rejected", rebuttal="upheld", moderator="upheld")) == set()
    assert flags(said(proposer="upheld", critic="upheld", rebuttal="upheld", moderator="modified")) == set()


def test_the_latest_conclusions_count() -> None:
    """In round 2 the critic gives up; or the money ends after the proposer of round 2, and the moderator closes."""
    first: dict[str, Conclusion] = {"proposer": "upheld", "critic": "rejected", "moderator": "modified"}
    seats = ("proposer_2", "critic_2", "rebuttal_2", "moderator_2")
    gives_up: dict[str, Conclusion] = dict.fromkeys(seats, "upheld")
    cut_short: dict[str, Conclusion] = {"proposer_2": "rejected", "moderator_2": "rejected"}

    assert flags(said(**first, **gives_up)) == {"sameConclusion"}
    assert flags(said(**first, **cut_short)) == {"proposerRejects", "criticAndModeratorAsProposer"}


def test_positions_are_concluded_about_apart_and_a_debate_without_moderation_concludes_nothing() -> None:
    same = said(proposer="upheld", critic="upheld", rebuttal="upheld", moderator="upheld")

    assert flags(same, several=True) == set()
    assert flags({turn: reply for turn, reply in same.items() if seat_of(turn) != "moderator"}) == set()


def test_a_critique_that_was_replaced_does_not_concede() -> None:
    replies = said(critic="upheld", moderator="modified")
    finding = found(Check("1.critic.1/critique", "critique", (TurnId("1.critic.1"),)), Facts())
    assert isinstance(finding, CritiqueFound)
    conceding = {TurnId("1.critic.1"): replace(finding, weak=("concludesUpheld",))}

    stands = agreement(replies, conceding, [TurnId("1.critic.1")], None, several=False)
    replaced = agreement(replies, conceding, [TurnId("1.critic.2")], None, several=False)

    assert (stands["critiqueConcedes"], replaced["critiqueConcedes"]) == (True, False)
