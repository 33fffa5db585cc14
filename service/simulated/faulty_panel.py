"""The seats of a panel that give no answer of the list, with known faults, and the screener.

classifier            another type than its rules find, in `mistypes` of the cases
adjudicator           it says rightly whether the last answers are the same, as often as `accuracy` and later turns
                      say: all four scores are 100 where it takes them for the same, and 0 otherwise
its scores at the end 90 for a debater whose last answer it takes for right, 10 for the others
answers to objections every objection holds in `concedes` of the cases, and fails in the others
screener              it suspects a case, of which it names no passage, in `false_alarms` of the cases
"""

from __future__ import annotations

from typing import get_args

from msgspec.structs import replace

from service.debate.labels import read as named
from service.debate.replies import AccuracyReview, Adjudication, Classification, ObjectionAnswers, Screening
from service.debate.replies.panel import DebaterReview, QuestionType
from service.policy.known_faults import FaultShares
from service.simulated.draws import draw, happens
from service.simulated.faulty_answers import Who, right
from service.simulated.faulty_critic import of_family
from service.simulated.framing import SIMULATED
from service.simulated.known_cases import KnownCase
from service.simulated.panel_adjudicator import accuracy, adjudication
from service.simulated.panel_classifier import classification
from service.simulated.panel_debater import answer
from service.simulated.passage_choice import Desk
from service.simulated.screener import screening
from service.simulated.transcript import latest, voices

_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
_SAME, _APART = 100, 0
_GOOD, _BAD = 90, 10


def faulty_classification(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Classification:
    """The type of the question, or one of the others, the same for all models."""
    made = classification(desk, limit)
    if not happens(shares.mistypes, "mistypes", who.model, who.seat, case.shown):
        return made
    others = [one for one in _TYPES if one != made.question_type]
    return Classification(others[draw("type", case.shown) % len(others)], f"By a known fault. {SIMULATED}")


def faulty_adjudication(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Adjudication:
    """The consensus of the last answers, in which it may be wrong."""
    is_right = right(shares, who, case, later=desk.reading.round - 1, states=False)
    if is_right is None:
        return adjudication(desk, limit)
    given = {str(voice.spoken.body.get("answer", "")).casefold().strip() for voice in latest(voices(desk))}
    same = (len(given) == 1) == is_right
    score = _SAME if same else _APART
    return Adjudication(score, score, score, score, f"The answers are {'' if same else 'not '}the same. {SIMULATED}")


def faulty_accuracy(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> AccuracyReview:
    """The review of each debater by its last answer."""
    made = accuracy(desk, limit)
    is_right = right(shares, who, case, later=desk.reading.round - 1, states=False)
    if is_right is None or case.line.kind != "questions":
        return made
    last = {voice.label: str(voice.spoken.body.get("answer", "")) for voice in latest(voices(desk))}
    holds = {label: named(said, case.line.answers) == case.line.answer for label, said in last.items()}
    scores = {label: _GOOD if true == is_right else _BAD for label, true in holds.items()}
    return AccuracyReview(
        tuple(
            DebaterReview(one.label, *(scores[one.label],) * 4) if one.label in scores else one for one in made.reviews
        )
    )


def faulty_objection_answers(
    desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase
) -> ObjectionAnswers:
    """The answers to the objections that stand: all are granted, or none."""
    made = answer(desk, limit)
    if shares.concedes is None:
        return made
    granted = happens(shares.concedes, "concedes", who.model, who.seat, case.shown)
    verdict = "holds" if granted else "fails"
    return ObjectionAnswers(tuple(replace(one, verdict=verdict) for one in made.answers))


def faulty_screening(desk: Desk, limit: int, shares: FaultShares, who: Who, case: KnownCase) -> Screening:
    """Whether the case is suspected."""
    if shares.false_alarms is None:
        return screening(desk, limit)
    rate = of_family(shares.false_alarms, case.line.family)
    return Screening(suspicious=happens(rate, "screener", who.model, who.seat, case.shown))
