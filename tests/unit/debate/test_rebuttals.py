"""A rebuttal answers the points that it was shown; its answers to others are left out before it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, Entry, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, Finding
from service.debate.kernel import kept, refuse_illegal, unusable
from service.debate.model import Check, Turn
from service.debate.replies import Answer, Concession, Rebuttal, Reply
from service.debate.replies.pruning import Dropped, Kept
from service.debate.turns import TurnId
from service.errors import IllegalEntry
from tests.fixtures.debates import a_start, canned, drive, found
from tests.unit.debate.between import asked

CRITIC, REBUTTAL = TurnId("1.critic.1"), TurnId("1.rebuttal.1")


def answering(rebutted: Iterable[int], conceded: Iterable[int] = ()) -> Rebuttal:
    """A rebuttal that answers points by number, and grants others."""
    answers = tuple(Answer(n, "It is narrow.", basis="reasoning") for n in rebutted)
    return Rebuttal("The cap holds.", answers, tuple(Concession(n, "Granted.") for n in conceded), "upheld")


def striking(*numbers: int) -> Callable[[Check, Facts], Finding]:
    """Findings that strike these points of the critique, which has the points 1 and 2."""

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if not isinstance(finding, CitationsFound) or CRITIC not in check.over:
            return finding
        return CitationsFound(tuple(_struck(a) if a.n in numbers else a for a in finding.arguments))

    return findings


def _struck(argument: ArgumentVerdict) -> ArgumentVerdict:
    return replace(argument, verdicts=(CitationVerdict("not_found"),), struck="unverified_citation")


def asked_to_rebut(*struck: int) -> tuple[Facts, Turn]:
    """The facts at the time when the rebuttal of a debate is due, and its turn."""
    entries: list[Entry] = drive(a_start(), findings=striking(*struck))
    at = next(n for n, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn == REBUTTAL)
    turn = asked(entries, REBUTTAL)
    return Facts.of(entries[:at]), turn


def left(place: str, n: int, *, struck: bool = False) -> Dropped:
    return Dropped("struckPoint" if struck else "unaskedPoint", f"$.{place}", str(n))


@pytest.mark.parametrize(
    ("struck", "said", "stays", "dropped"),
    [
        ((), answering([1], [2]), answering([1], [2]), ()),
        ((2,), answering([1], [2]), answering([1]), (left("concessions[0]", 2, struck=True),)),
        ((2,), answering([2, 1]), answering([1]), (left("rebuttals[0]", 2, struck=True),)),
        ((2,), answering([1, 2], [2]), answering([1]),
         (left("rebuttals[1]", 2, struck=True), left("concessions[0]", 2, struck=True))),
        ((), answering([1, 7, 2], [99]), answering([1, 2]), (left("rebuttals[1]", 7), left("concessions[0]", 99))),
        ((1, 2), answering([1], [2]), answering([]),
         (left("rebuttals[0]", 1, struck=True), left("concessions[0]", 2, struck=True))),
        ((1, 2), answering([]), answering([]), ()),
    ],
)  # fmt: skip
def test_answers_to_points_that_were_not_shown_are_left_out(
    struck: tuple[int, ...], said: Rebuttal, stays: Rebuttal, dropped: tuple[Dropped, ...]
) -> None:
    facts, turn = asked_to_rebut(*struck)

    assert kept(facts, turn, said) == Kept(stays, dropped)
    assert unusable(facts, turn, stays) is None


@pytest.mark.parametrize(
    ("struck", "said", "why"),
    [
        ((), answering([7, 8]), "points [7, 8] are not among those to be answered, [1, 2]; leave them out"),
        ((1,), answering([1]), "points [1] are not among those to be answered, [2]; leave them out"),
        ((1,), answering([], [1]), "points [1] are not among those to be answered, [2]; leave them out"),
        ((), answering([1], [1]), "points [1] are rebutted and conceded at once; each belongs in one list"),
        ((2,), answering([1, 2], [1]), "points [1] are rebutted and conceded at once; each belongs in one list"),
    ],
)
def test_a_rebuttal_that_mistook_the_numbers_is_asked_for_again(
    struck: tuple[int, ...], said: Rebuttal, why: str
) -> None:
    facts, turn = asked_to_rebut(*struck)

    assert unusable(facts, turn, kept(facts, turn, said).reply) == why


def test_a_record_may_hold_no_answer_to_a_struck_point() -> None:
    facts, _ = asked_to_rebut(2)
    spoke = next(e for e in drive(a_start(), findings=striking(2)) if isinstance(e, TurnSpoke) and e.turn == REBUTTAL)

    refuse_illegal(facts, spoke)
    with pytest.raises(IllegalEntry, match=r"points \[2\] are not among those to be answered, \[1\]"):
        refuse_illegal(facts, replace(spoke, reply=answering([1], [2])))


def test_a_debate_goes_on_with_what_is_left_of_a_rebuttal() -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        return answering([1], [2, 3]) if turn.seat == "rebuttal" else canned(turn, facts)

    entries = drive(a_start(), replies, findings=striking(2))

    (spoke,) = [e for e in entries if isinstance(e, TurnSpoke) and e.turn == REBUTTAL]
    assert spoke.reply == answering([1])
    assert spoke.dropped == (left("concessions[0]", 2, struck=True), left("concessions[1]", 3))
    assert not [e for e in entries if isinstance(e, AttemptFailed)]


@pytest.mark.parametrize("mine", ["adopt", "wait"])
def test_a_rebuttal_of_several_answers_points_against_its_own_position_alone(mine: str) -> None:
    positions = a_start(positions=("adopt", "wait"))
    entries = drive(positions)
    rebuttal = TurnId(f"1.rebuttal.{mine}.1")
    turn = asked(entries, rebuttal)
    at = next(n for n, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn == rebuttal)
    own = (1, 2) if mine == "adopt" else (3, 4)

    reply, dropped, more, _ = kept(Facts.of(entries[:at]), turn, answering([1, 2, 3, 4]))

    assert reply == answering(own)
    assert [(part.why, int(part.name)) for part in dropped] == [
        ("unaskedPoint", n) for n in (1, 2, 3, 4) if n not in own
    ]
    assert more == 0
