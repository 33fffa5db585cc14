"""What an audit reads of one debate: who moderated, the conclusion, the places in two orders, or why it is left out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from service.debate.entries import Arrival, CaseReceived, DebateStopped, Entry, EvaluationItem, TurnAsked
from service.debate.facts import Facts
from service.debate.model import AdversarialOptions, Position, Turn
from service.debate.replies import Moderation, Reply
from service.evaluation.moderators.recorded import Judged, Left, Moderator, judged
from tests.fixtures.debates import DECLINED, a_case, canned, drive, opening, start_of
from tests.fixtures.formats import plain

SWAPPED = AdversarialOptions(1, 6, 6, human_review=False, swapped=True)
SEVERAL = replace(SWAPPED, positions=(Position("keep", "Choose keep."), Position("end", "Choose end.")))
ITEM = EvaluationItem("0199c0de-0000-7000-8000-00000000e7a1", "0e" * 32, "0f" * 32, "clause-12", "debate", 1)


def concluding(conclusion: str, turned: str | None = None) -> list[Entry]:
    """A debate whose moderator concludes so, and so in the reverse order."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        if not isinstance(said, Moderation):
            return said
        return replace(said, conclusion=turned if turned and ".swapped." in turn.id else conclusion)

    return drive(start_of(SWAPPED), reply)


def received(entries: Sequence[Entry], **changes: object) -> list[Entry]:
    first, *others = entries
    assert isinstance(first, CaseReceived)
    return [replace(first, **changes), *others]


def found(entries: Sequence[Entry]) -> Judged:
    one = judged(entries)
    assert isinstance(one, Judged)
    return one


@pytest.mark.parametrize("conclusion", ["upheld", "rejected", "modified"])
def test_the_moderator_its_prompt_and_its_conclusion_are_those_of_the_last_moderation(conclusion: str) -> None:
    seen = found(concluding(conclusion))

    assert (seen.conclusion, seen.task_type) == (conclusion, "contract")
    assert seen.moderator.prompt == "moderator"
    assert seen.moderator.family == "birch"


def test_a_conclusion_that_goes_by_the_place_favours_one_place_twice() -> None:
    same, turned = found(concluding("upheld", "upheld")), found(concluding("upheld", "rejected"))

    assert same.slots is not None
    assert set(same.slots) == {"first", "second"}
    assert turned.slots in (("first", "first"), ("second", "second"))
    assert found(concluding("modified", "upheld")).slots == ("none", same.slots[1])


def test_where_two_models_spoke_the_two_orders_their_places_are_no_pair_of_one_moderator() -> None:
    entries = concluding("upheld", "rejected")
    started = entries[2]
    own = next(plan for plan in started.seats if plan.seat == "moderator")  # type: ignore[union-attr]
    fallback = replace(own, model="spare", model_name="spare-1", family="yew")
    plans = tuple(
        replace(plan, fallback=fallback) if plan.seat == "moderator" else plan
        for plan in started.seats  # type: ignore[union-attr]
    )

    def with_fallback(*turns: str) -> Judged:
        changed = [replace(e, model="spare") if isinstance(e, TurnAsked) and e.turn in turns else e for e in entries]
        return found([*changed[:2], replace(started, seats=plans), *changed[3:]])

    second, both = with_fallback("1.moderator.swapped.1"), with_fallback("1.moderator.1", "1.moderator.swapped.1")
    assert (second.moderator.alias, second.slots) == (own.model, None)
    assert both.moderator == Moderator("spare", "spare-1", "yew", "moderator", second.moderator.pin)
    assert both.slots is not None
    assert found([*entries[:2], replace(started, seats=plans), *entries[3:]]).slots == both.slots


def test_a_debate_that_ended_before_its_moderation_counts_for_the_seat_s_model_without_a_side() -> None:
    stop = DebateStopped("abort", "it was stopped")
    seen = found(drive(start_of(SWAPPED), canned, stops=lambda facts: stop if facts.said else None))

    assert (seen.conclusion, seen.slots) == (None, None)
    assert seen.moderator.family == "birch"


def test_debates_without_two_sides_or_a_decision_of_their_own_count_for_none() -> None:
    whole = concluding("upheld")
    case = a_case()
    expected: list[tuple[Left, list[Entry]]] = [
        ("evaluation", received(whole, arrival=Arrival(door="evaluation", evaluation=ITEM))),
        ("probe", received(whole, case=replace(case, metadata={"purpose": "probe"}))),
        ("positions", drive(start_of(SEVERAL), canned)),
        ("underWay", whole[:-1]),
        ("neverStarted", [opening(start_of(SWAPPED), case)[0], DECLINED]),
        *(("format", drive(start_of(plain(form)), canned)) for form in ("stances/1", "ballot/1", "panel/1")),
    ]
    for why, entries in expected:
        assert judged(entries) == why
    assert found(received(whole, arrival=Arrival(door="batch"))) == found(whole)
