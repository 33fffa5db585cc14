"""A vendor that bills a call above its reservation: no further call, a flag, and a person, in every format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from service.debate.entries import AttemptFailed, Charge, DebateStarted, DebateStopped, Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.kernel import decide, replay
from service.debate.model import Conclude, TurnId
from service.money import Usage
from tests.fixtures.debates import TURN_COST, a_case, a_start, drive, outcome, turns_asked
from tests.vectors.played import ballot, convergence, panel, stances

STARTS: dict[str, Callable[[], DebateStarted]] = {
    "adversarial": lambda: a_start(2, human_review=False),
    "stances": stances,
    "ballot": ballot,
    "panel": panel,
    "convergence": convergence,
}


def billing(*turns: TurnId) -> Callable[[TurnId], Usage]:
    """Three times what was held for these turns."""
    return lambda turn: Usage(9_000, 500) if turn in turns else Usage(1, 1)


def driven(form: str, *over: TurnId) -> list[Entry]:
    return drive(STARTS[form](), used=billing(*over))


@pytest.mark.parametrize("form", STARTS)
def test_an_overrun_of_the_last_call_is_flagged_and_goes_to_a_person(form: str) -> None:
    usual = driven(form)
    last = turns_asked(usual)[-1]

    entries = driven(form, last)

    replay(a_case(), entries)
    before, end = outcome(usual), outcome(entries)
    assert (end.status, end.stop_reason) == (before.status, before.stop_reason) == ("completed", before.stop_reason)
    assert set(end.flags) - set(before.flags) == {"providerOverrun"}
    assert "providerOverrun" not in before.flags
    assert end.human_review.required
    assert set(end.human_review.reasons) - set(before.human_review.reasons) == {"providerOverrun"}
    assert (end.confidence_level, end.caps, end.result) == (before.confidence_level, before.caps, before.result)


@pytest.mark.parametrize("form", STARTS)
def test_an_overrun_before_the_last_call_ends_the_debate_truncated(form: str) -> None:
    first = turns_asked(driven(form))[0]

    entries = driven(form, first)

    end = outcome(entries)
    assert (end.status, end.stop_reason, end.confidence_level) == ("truncated", "budget", "LOW")
    assert {"DEBATE_TRUNCATED", "providerOverrun"} <= set(end.flags)
    assert "providerOverrun" in end.human_review.reasons
    assert _rounds_of_asking(entries) == 1


def _rounds_of_asking(entries: Sequence[Entry]) -> int:
    """How many groups of turns were asked, with anything recorded between them."""
    asked = [isinstance(entry, TurnAsked) for entry in entries]
    return sum(now and not before for before, now in pairwise(asked))


def test_an_overrun_of_a_failed_call_of_a_stopped_debate_changes_its_outcome() -> None:
    entries = drive(a_start())
    n = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == "1.critic.1")
    facts = Facts.of([*entries[: n + 1], DebateStopped("abort", "no longer wanted")])
    before = decide(facts)

    facts.add(AttemptFailed(TurnId("1.critic.1"), 1, "malformedReply", "no", Charge(3 * TURN_COST, "usage", excess=9)))

    assert isinstance(before, Conclude)
    assert "providerOverrun" not in before.outcome.flags
    after = decide(facts)
    assert isinstance(after, Conclude)
    assert "providerOverrun" in after.outcome.flags
    assert "providerOverrun" in after.outcome.human_review.reasons
