"""Whether a seat stood behind what a moderator concluded: rebuttals that concede, and conclusions that no seat gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import Entry
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, Finding, Voice, VoicesFound
from service.debate.model import Cap, Check, Turn, labels
from service.debate.replies import Conclusion, Moderation, Rebuttal, Reply
from service.debate.turns import phase_of
from tests.fixtures.debates import a_start, canned, drive, found, outcome

POSITIONS = ("adopt-x", "adopt-y")
Replies = Callable[[Turn, Facts], Reply]


def concluding(**conclusions: Conclusion) -> Replies:
    """Every seat that is named concludes so."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        given = canned(turn, facts)
        return replace(given, conclusion=conclusions[turn.seat]) if turn.seat in conclusions else given

    return reply


def rebutting(replies: Replies, position: str = "", **members: Any) -> Replies:
    """The rebuttal of a position has these members."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        given = replies(turn, facts)
        mine = isinstance(given, Rebuttal) and phase_of(turn.id) == position
        return replace(given, **members) if mine else given

    return reply


def raised(entries: list[Entry]) -> set[str]:
    """The flags about support, each with its cap and a person."""
    end = outcome(entries)
    flags = set(end.flags) & {"rebuttalGaveUp", "moderatorAlone"}
    assert flags == {cap.reason for cap in end.caps} & {"rebuttalGaveUp", "moderatorAlone"}
    assert flags <= set(end.human_review.reasons)
    assert all(cap.at_most == "MODERATE" for cap in end.caps if cap.reason in flags)
    return flags


UPHELD = concluding(moderator="upheld")
NONE: Mapping[str, Any] = {"rebuttals": (), "concessions": ()}


def test_a_rebuttal_that_answers_one_point_and_grants_another_supports_both_conclusions() -> None:
    for conclusion in ("upheld", "modified"):
        assert raised(drive(a_start(), concluding(moderator=conclusion))) == set()


@pytest.mark.parametrize("members", [{"conclusion": "rejected"}, {"rebuttals": ()}, NONE])
def test_a_proposition_that_its_rebuttal_leaves_is_not_simply_upheld(members: Mapping[str, Any]) -> None:
    assert raised(drive(a_start(), rebutting(UPHELD, **members))) == {"rebuttalGaveUp"}


def test_answers_that_only_agree_are_no_answers() -> None:
    def empty(check: Check, facts: Facts) -> Finding:
        return VoicesFound((Voice(check.over[-1], empty=(1,)),)) if check.kind == "voices" else found(check, facts)

    assert raised(drive(a_start(), UPHELD, findings=empty)) == {"rebuttalGaveUp"}


def test_a_rebuttal_to_points_that_are_all_struck_has_nothing_to_answer() -> None:
    def struck(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if not isinstance(finding, CitationsFound) or not check.id.startswith("1.critic"):
            return finding
        return CitationsFound(tuple(replace(a, struck="unverified_citation") for a in finding.arguments))

    assert "rebuttalGaveUp" not in raised(drive(a_start(), rebutting(UPHELD, **NONE), findings=struck))


def test_a_moderator_may_reject_or_modify_what_the_rebuttal_concedes() -> None:
    for conclusion in ("rejected", "modified"):
        yielding = rebutting(concluding(moderator=conclusion), rebuttals=(), conclusion="rejected")
        assert raised(drive(a_start(), yielding)) == set()


@pytest.mark.parametrize(
    ("conclusions", "alone"),
    [
        ({"proposer": "upheld", "critic": "rejected", "rebuttal": "upheld", "moderator": "upheld"}, False),
        ({"proposer": "upheld", "critic": "rejected", "rebuttal": "upheld", "moderator": "rejected"}, False),
        ({"proposer": "upheld", "critic": "rejected", "rebuttal": "upheld", "moderator": "modified"}, True),
        ({"proposer": "upheld", "critic": "modified", "rebuttal": "upheld", "moderator": "rejected"}, True),
        ({"proposer": "modified", "critic": "rejected", "rebuttal": "modified", "moderator": "upheld"}, True),
    ],
)
def test_a_conclusion_that_no_seat_gave_is_the_moderators_alone(
    conclusions: dict[str, Conclusion], alone: bool
) -> None:
    entries = drive(a_start(), rebutting(concluding(**conclusions), concessions=()))

    assert ("moderatorAlone" in raised(entries)) is alone
    assert (Cap("moderatorAlone", "MODERATE") in outcome(entries).caps) is alone


def test_a_moderation_that_closes_before_the_rebuttal_is_low_and_not_flagged_for_it() -> None:
    entries = drive(a_start(), refuses=lambda turns: turns == ("1.rebuttal.1",))

    assert raised(entries) == set()
    assert outcome(entries).confidence_level == "LOW"


@pytest.mark.parametrize(("best", "flagged"), [("adopt-x", True), ("adopt-y", False)])
def test_of_several_positions_the_rebuttal_of_the_first_ranked_one_counts(best: str, flagged: bool) -> None:
    """The rebuttal of one position rejects it, and the moderator ranks that one or the other first."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        given = rebutting(UPHELD, "adopt-x", conclusion="rejected")(turn, facts)
        if not isinstance(given, Moderation):
            return given
        order = sorted(given.ranking, key=lambda label: best not in _whose(turn, label))
        return replace(given, ranking=tuple(order))

    entries = drive(a_start(positions=POSITIONS), reply)

    assert outcome(entries).ranking[0].position == best
    assert raised(entries) == ({"rebuttalGaveUp"} if flagged else set())


def _whose(turn: Turn, label: str) -> str:
    """The party behind a neutral label."""
    return next(who for who, shown in labels(turn).items() if shown == label)
