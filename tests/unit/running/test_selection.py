"""Whom to ask now, as a pure function of what is recorded and what the clocks say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, Charge, DebateStarted, Entry, TurnSilent
from service.debate.facts import Facts
from service.debate.model import SeatPlan, Turn
from service.debate.turns import TurnId
from service.running.selection import Bounds, choose_model, choose_step, eligible_for_turn, fallback_reason
from tests.fixtures.debates import a_plan, a_start, asked

OWN, OTHER = replace(a_plan("critic", "oak"), fallback=a_plan("critic", "elm")), a_plan("critic", "elm")
TURN, LATER = Turn(TurnId("1.critic.1"), "critic"), Turn(TurnId("2.critic.1"), "critic")
ALONE = replace(OWN, fallback=None)
BOUNDS = Bounds(20.0, 12)


def started(plan: SeatPlan = OWN) -> DebateStarted:
    """A debate whose critic is this one, with a deadline of 300 seconds and three attempts."""
    start = a_start()
    seats = (*(seat for seat in start.seats if seat.seat != "critic"), plan)
    return replace(start, seats=seats, attempts_per_turn=3, turn_deadline_s=300)


def facts(*reasons: str, model: str = OWN.model, final: bool = False) -> Facts:
    """One failed attempt at a model for each reason, in the turn."""
    entries: list[Entry] = []
    for attempt, reason in enumerate(reasons, 1):
        entries += [
            asked(TURN.id, attempt, model=model),
            AttemptFailed(TURN.id, attempt, reason, "", Charge(0, "none"), final=final),
        ]
    return Facts.of(entries)


def chosen(
    known: Facts, plan: SeatPlan = OWN, waits: Mapping[str, float] | None = None, left_s: float = 100.0
) -> SeatPlan | float | str:
    """Whom to ask where each model is to be left alone for so long, and no pause is longer than 20 seconds."""
    seconds = waits or {}
    return choose_model(
        known, started(plan), TURN, left_s=left_s, wait_s=lambda p: seconds.get(p.model, 0.0), bounds=BOUNDS
    )


def test_a_seat_s_own_model_is_asked_first() -> None:
    assert chosen(Facts()) == OWN


def test_a_model_that_failed_for_good_leaves_the_turn_to_its_fallback() -> None:
    assert chosen(facts("unknownModel", final=True)) == OTHER


def test_after_no_answer_in_time_the_fallback_is_asked_before_it() -> None:
    assert [plan.model for plan in eligible_for_turn(facts("timeout"), started(), TURN, 12)] == [OTHER.model, OWN.model]


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        ({OWN.model: 5.0}, 5.0),  # a pause that ends soon is waited for
        ({OWN.model: 20.0}, 20.0),
        ({OWN.model: 20.1}, OTHER),  # a vendor that wants more than that is not
        ({OWN.model: 60.0, OTHER.model: 30.0}, 30.0),  # whoever may be asked sooner
        ({OWN.model: 30.0, OTHER.model: 60.0}, 30.0),
        ({OWN.model: 0.0, OTHER.model: 60.0}, OWN),
        ({OWN.model: -3.0}, OWN),  # a pause that is over
    ],
)
def test_a_model_that_is_left_alone_for_long_is_not_waited_for_where_its_fallback_is_free(
    waits: dict[str, float], expected: SeatPlan | float
) -> None:
    assert chosen(Facts(), waits=waits) == expected


@pytest.mark.parametrize("attempts", [1, 2, 3, 10])
@pytest.mark.parametrize("reason", ["malformedReply", "lengthLimit", "overload"])
def test_a_model_is_asked_as_often_as_policy_says_whatever_its_failures_are(attempts: int, reason: str) -> None:
    started_ = replace(started(), attempts_per_turn=attempts)

    before, last = (eligible_for_turn(facts(*[reason] * n), started_, TURN, 12) for n in (attempts - 1, attempts))

    assert before == (OWN, OTHER)
    assert last == (OTHER,)


def test_unusable_replies_and_other_failures_are_counted_together() -> None:
    assert eligible_for_turn(facts("malformedReply", "overload"), started(), TURN, 12) == (OWN, OTHER)
    assert eligible_for_turn(facts("malformedReply", "overload", "lengthLimit"), started(), TURN, 12) == (OTHER,)


@pytest.mark.parametrize(
    ("reasons", "why"),
    [
        (("overload",), "no usable reply within 300 seconds, in 1 attempt; the last ended as overload"),
        (("overload", "lost"), "no usable reply within 300 seconds, in 2 attempts; the last ended as lost"),
        ((), "no usable reply within 300 seconds, in 0 attempts"),
    ],
)
@pytest.mark.parametrize("left_s", [0.0, -3_600.0])
def test_a_turn_whose_deadline_has_passed_is_given_up(reasons: tuple[str, ...], why: str, left_s: float) -> None:
    assert chosen(facts(*reasons), left_s=left_s) == why


def test_a_turn_that_nobody_is_able_to_speak_in_any_more_is_given_up_also_after_its_deadline() -> None:
    known = facts("overload", "overload", "overload")
    why = "no usable reply in 3 attempts; the last ended as overload"

    assert chosen(known, ALONE) == chosen(known, ALONE, left_s=-1.0) == why


def test_a_turn_is_given_up_at_once_where_nobody_may_be_asked_before_its_deadline() -> None:
    waits = {OWN.model: 50.0, OTHER.model: 40.0}

    assert chosen(facts("overload"), waits=waits, left_s=40.5) == 40.0
    assert chosen(facts("overload"), waits=waits, left_s=40.0) == (
        "every model is in backoff for 40 s and the turn has 40 s left (1 attempt)"
    )


def test_turns_that_nobody_has_been_asked_for_are_asked_together_or_not_yet() -> None:
    assert choose_step(Facts(), [(TURN, OWN), (LATER, OWN)]) == [(TURN, OWN), (LATER, OWN)]
    assert choose_step(Facts(), [(TURN, OWN), (LATER, 3.0)]) == 3.0


def test_a_turn_that_is_asked_again_waits_for_no_other() -> None:
    known = facts("overload")

    assert choose_step(known, [(TURN, OWN), (LATER, 3.0)]) == [(TURN, OWN)]
    assert choose_step(known, [(TURN, 3.0), (LATER, OWN)]) == [(LATER, OWN)]
    assert choose_step(known, [(TURN, 3.0), (LATER, 2.0)]) == 2.0


def test_a_turn_is_given_up_before_others_are_asked() -> None:
    assert choose_step(Facts(), [(TURN, OWN), (LATER, "why")]) == TurnSilent(LATER.id, "why")


def test_why_a_fallback_is_asked_is_that_its_model_failed_is_left_alone_or_cannot_read_so_much() -> None:
    assert fallback_reason(Facts(), started(), TURN, OWN, OWN, 12) is None
    assert fallback_reason(Facts(), started(), TURN, OWN, OTHER, 12) == "contextTooLong"
    assert fallback_reason(Facts(), started(), TURN, OTHER, OTHER, 12) == "paused"
    assert fallback_reason(facts("unknownModel", final=True), started(), TURN, OTHER, OTHER, 12) == "failed"
    assert fallback_reason(facts("timeout"), started(), TURN, OTHER, OTHER, 12) == "failed"


def unavailable(own: int, other: int = 0, reason: str = "overload") -> Facts:
    """So many attempts at the seat's model, then at its fallback, that found their vendor unavailable."""
    entries: list[Entry] = []
    for attempt, model in enumerate([OWN.model] * own + [OTHER.model] * other, 1):
        failed = AttemptFailed(TURN.id, attempt, reason, "", Charge(0, "none"), unavailable=True)
        entries += [asked(TURN.id, attempt, model=model), failed]
    return Facts.of(entries)


@pytest.mark.parametrize("reason", ["overload", "rateLimit", "providerFault", "connectionCut", "timeout"])
def test_a_vendor_that_takes_no_calls_is_waited_for_longer_than_a_model_that_cannot_answer(reason: str) -> None:
    assert chosen(unavailable(3, reason=reason), ALONE, {OWN.model: 4.0}) == 4.0
    assert chosen(unavailable(11, reason=reason), ALONE) == ALONE
    assert chosen(unavailable(12, reason=reason), ALONE) == (
        f"no usable reply in 12 attempts; the last ended as {reason}"
    )


def test_attempts_at_an_unavailable_vendor_use_up_none_of_those_for_unusable_replies() -> None:
    known = unavailable(11)
    for attempt in (12, 13):
        known.add(asked(TURN.id, attempt, model=OWN.model))
        known.add(AttemptFailed(TURN.id, attempt, "malformedReply", "", Charge(0, "none")))
    assert chosen(known, ALONE) == ALONE

    known.add(asked(TURN.id, 14, model=OWN.model))
    known.add(AttemptFailed(TURN.id, 14, "malformedReply", "", Charge(0, "none")))

    assert chosen(known, ALONE) == "no usable reply in 14 attempts; the last ended as malformedReply"


@pytest.mark.parametrize(
    ("own", "other", "first"),
    [(0, 0, OWN), (2, 0, OWN), (3, 0, OTHER), (3, 2, OTHER), (3, 3, OWN), (5, 3, OWN), (6, 3, OTHER), (6, 6, OWN)],
)
def test_a_seat_s_model_and_its_fallback_take_turns_while_their_vendors_are_unavailable(
    own: int, other: int, first: SeatPlan
) -> None:
    assert eligible_for_turn(unavailable(own, other), started(), TURN, 12)[0] == first


def test_a_vendor_that_is_unavailable_is_given_up_at_the_deadline_and_for_good_when_it_says_so() -> None:
    assert chosen(unavailable(5), ALONE, left_s=0.0) == (
        "no usable reply within 300 seconds, in 5 attempts; the last ended as overload"
    )
    known = unavailable(1)
    known.add(asked(TURN.id, 2, model=OWN.model))
    known.add(AttemptFailed(TURN.id, 2, "refusedKey", "", Charge(0, "none"), final=True))
    assert chosen(known, ALONE) == "no usable reply in 2 attempts; the last ended as refusedKey"


def test_a_policy_that_allows_more_attempts_than_waits_keeps_its_attempts() -> None:
    few = eligible_for_turn(unavailable(4), replace(started(ALONE), attempts_per_turn=5), TURN, 1)
    none = eligible_for_turn(unavailable(5), replace(started(ALONE), attempts_per_turn=5), TURN, 1)

    assert (few, none) == ((ALONE,), ())
