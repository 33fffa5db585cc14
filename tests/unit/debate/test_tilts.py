"""A recorded tilt that stood at the start asks for a person where its model moderated, and nowhere else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.debate.entries import DebateConcluded, DebateStarted, DebateStopped, Entry, StandingTilt, TurnAsked
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import AdversarialOptions, Conclude, HumanReview
from tests.fixtures.debates import canned, drive, start_of
from tests.fixtures.formats import plain

FINDING = "01890a5d-ac96-774b-bcce-b302099a8057"
PLAIN = AdversarialOptions(1, 6, 6, human_review=False, swapped=True)


def started(model: str) -> DebateStarted:
    """A start under a finding about a model; the moderator's fallback is ``spare``."""
    start = start_of(PLAIN)
    own = start.seat("moderator")
    spare = replace(own, model="spare", model_name="spare-1")
    seats = tuple(replace(plan, fallback=spare) if plan.seat == "moderator" else plan for plan in start.seats)
    return replace(start, seats=seats, tilts=(StandingTilt(FINDING, own.model if model == "own" else model),))


def review(entries: list[Entry]) -> HumanReview:
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome.human_review


def test_a_debate_that_such_a_model_moderated_asks_for_a_person_whatever_else_holds() -> None:
    with_it, without = drive(started("own"), canned), drive(replace(started("own"), tilts=()), canned)

    assert set(review(with_it).reasons) == {*review(without).reasons, "moderatorTilt"}
    assert review(with_it).required
    assert replace(with_it[-1].outcome, human_review=review(without)) == without[-1].outcome  # type: ignore[union-attr]


@pytest.mark.parametrize("turns", [("1.moderator.1",), ("1.moderator.swapped.1",)])
def test_a_tilt_of_the_fallback_counts_where_it_spoke_a_moderation_in_either_order(turns: tuple[str, ...]) -> None:
    whole = drive(started("spare"), canned)
    spoken = [replace(e, model="spare") if isinstance(e, TurnAsked) and e.turn in turns else e for e in whole]

    move = decide(Facts.of(spoken[:-1]))

    assert "moderatorTilt" not in review(whole).reasons
    assert isinstance(move, Conclude)
    assert "moderatorTilt" in move.outcome.human_review.reasons


def test_a_debate_that_ended_before_its_moderation_does_not_ask_because_of_it() -> None:
    stop = DebateStopped("abort", "it was stopped")

    stopped = drive(started("own"), canned, stops=lambda facts: stop if facts.said else None)

    assert "moderatorTilt" not in review(stopped).reasons


def test_another_format_has_no_moderator() -> None:
    start = start_of(plain("stances/1"))
    judge = start.seat("judge")

    ended = drive(replace(start, tilts=(StandingTilt(FINDING, judge.model),)), canned)

    assert "moderatorTilt" not in review(ended).reasons
