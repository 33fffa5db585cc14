"""The longest debate of a format: the most turns that it can ask, and the most tokens of each.

The module plays the kernel itself, so it repeats no rule of a format. The seats give nearly empty replies and never
agree: every critique is weak and asked again, every decider quotes what stands nowhere and is asked once more, every
moderator wants another round, no debater votes, and no two answers agree. Where a decider may be asked once more with
flagged passages masked, the case has one of no characters, so nothing is left out of the masked request, and room for
marks is added. The size of a real reply in later requests is then added by the allowance of its seat, as the ledger
does for closing turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from service import money
from service.debate.amounts import MicroUSD
from service.debate.course import Course
from service.debate.entries import AttemptFailed, Charge, CheckFound, DebateStarted, TurnAsked, TurnGiven, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import (
    DIMENSIONS,
    AccuracyFound,
    CitationsFound,
    ConsensusFound,
    ConvergenceFound,
    CritiqueFound,
    Finding,
    Passage,
    SynthesisFound,
    TextsFound,
    UnansweredObjection,
    VoicesFound,
)
from service.debate.kernel import FORMATS
from service.debate.model import DEBATERS_MAX, Ask, Case, Check, Measure, PanelOptions, SeatPlan, Turn, TurnId, seat_of
from service.debate.options import masked_of
from service.debate.replies import AccuracyReview, Adjudication, Reply, Screening
from service.debate.replies.panel import DebaterReview
from service.debate.replies.texts import texts_of as read_texts
from service.debate.screening import SEAT
from service.debate.script import Script
from service.debate.suspicions import InjectionFound, Suspicion
from service.debate.turns import phase_of, round_of
from service.intake.formats import READINGS
from service.intake.mark_room import mark_room
from service.prompts import Prompts
from service.prompts.layouts import lay_out
from service.prompts.request import texts_of

WEAK = (
    "noPoint",
    "noPointNamesAnArgument",
    "concludesUpheld",
    "concludesAsProposer",
    "sparesAPosition",
    "thesisGrants",
    "thin",
    "noCitationVerified",
    "littleNovelty",
    "repeatsItself",
    "restatesTheProposer",
)
"""Every hard sign of a weak critique: the second request to a critic lists those that were found."""
WRONG = "\U0001f4b8" * 500
"""A text of expensive characters, as long as a reply's fault may be in a repeated request (`decoding.ERROR_MAX`)."""

_REPLIES: Mapping[str, Reply] = {
    SEAT: Screening(suspicious=False),
    **{kind: reply for one in READINGS.values() for kind, reply in one.replies.items()},
}
_CONSENSUS = Adjudication(100, 100, 100, 100, "-")
_FINDINGS: Mapping[str, Finding] = {
    "citations": CitationsFound(()),
    "critique": CritiqueFound(
        points=0,
        points_naming_an_argument=0,
        points_attacking=0,
        points_grounded=0,
        spared=(),
        unopposed=1,
        resisted=True,
        upholds=True,
        grants=True,
        same_conclusion=True,
        citations=0,
        citations_verified=0,
        novelty=0,
        self_overlap=0,
        restating=0,
        softening=(),
        weak=WEAK,
        soft=(),
    ),
    "consensus": ConsensusFound(DEBATERS_MAX, {}, 0, 1_000, terminated=False, lagging=DIMENSIONS, notes="-"),
    "convergence": ConvergenceFound(0, 1_000, (), converged=False, why_not=("overlap",)),
    "accuracy": AccuracyFound(()),
    "texts": TextsFound(()),
    "synthesis": SynthesisFound(()),
    "voices": VoicesFound(()),
}
_NOTHING = Charge(0, "none")
_SUSPICION = Suspicion("question", (0, 0), "override", "")


class Costing(NamedTuple):
    """A turn that a debate may ask, and the most that all its attempts can be charged."""

    turn: Turn
    worst: MicroUSD


def worst_case_turns(
    case: Case,
    sources: Mapping[str, str],
    started: DebateStarted,
    prompts: Prompts,
    given: Mapping[TurnId, Reply] = MappingProxyType({}),
) -> tuple[Costing, ...]:
    """Every turn of the longest debate, with what its attempts cost if each is charged as held.

    Every seat is asked ``attempts_per_turn`` times, and its fallback as often. Attempts that are lost with their
    worker, and further ones that find their vendor unavailable, are not among them: their number is unknown, and the
    ceiling holds for them all the same. Turns whose replies are ``given`` cost nothing.
    """
    found = []
    for facts, turn in longest(case, started, given):
        if turn.id in given:
            continue
        seated = started.seat(turn.seat).with_fallback
        worst = sum(money.RECKONING.worst_case(_tokens(case, sources, facts, prompts, turn, p), p) for p in seated)
        found.append(Costing(turn, worst * started.attempts_per_turn))
    return tuple(found)


def longest(case: Case, started: DebateStarted, given: Mapping[TurnId, Reply]) -> Iterator[tuple[Facts, Turn]]:
    """Each turn of the longest debate with the facts before it; a turn with a ``given`` reply speaks with that."""
    course = Course()
    course.facts.case, course.facts.started, course.facts.given = case, started, given
    for turn in _asked(course):
        yield course.facts, turn


def _asked(course: Course) -> Iterator[Turn]:
    """Each turn as the kernel asks for it; it speaks once the caller has looked at it."""
    while isinstance(move := course.move(), Ask | Measure):
        if isinstance(move, Measure):
            for check in move.checks:
                course.fold(CheckFound(check.id, "longest", _finding(course.facts, check)))
            continue
        for turn in move.turns:
            yield turn
        for turn in move.turns:
            _speak(course, turn)


def _finding(facts: Facts, check: Check) -> Finding:
    """Next to nothing found, but what makes a debate longest.

    The words of a decider quote what stands nowhere, so it speaks twice. After the last round of a panel every debater
    has raised a strong objection. Before that none has: it would keep an adjudicator from finding a consensus, which is
    asked about twice.
    """
    if check.kind == "injection":
        masked = facts.started is not None and masked_of(facts.started.options)
        return InjectionFound((_SUSPICION,) if masked else ())
    if check.kind == "texts":
        field = next((field for field, _ in read_texts(facts.said[check.over[-1]])), "")
        return TextsFound((Passage(field, (0, 1), "quotation", "nowhere", "document"),))
    options = facts.started.options if facts.started else None
    found = _FINDINGS[check.kind]
    if isinstance(found, ConsensusFound) and isinstance(options, PanelOptions):
        last = options.max_rounds if check.id == f"{options.max_rounds}/consensus" else 0
        raised = tuple(UnansweredObjection(turn, "-") for turn in check.over if round_of(turn) == last)
        return replace(found, unanswered=raised)
    return found


def _speak(course: Course, turn: Turn) -> None:
    started, given = course.facts.started, course.facts.given
    if turn.id in given:
        return course.fold(TurnGiven(turn.id, given[turn.id]))
    course.fold(TurnAsked(turn.id, 1, started.seat(turn.seat).model if started else "", "", "", 0, 0))
    return course.fold(TurnSpoke(turn.id, 1, _reply(course.facts, turn), _NOTHING))


def _reply(facts: Facts, turn: Turn) -> Reply:
    """Next to nothing, in the form in which this turn may say it.

    An adjudicator that is asked twice finds consensus first, or it would not be asked again, and then none. A review of
    debaters names each of them, by the labels under which it saw them.
    """
    started = facts.started
    if started and turn.asks == "panel.adjudicator" and isinstance(started.options, PanelOptions):
        again = started.options.swapped and phase_of(turn.id) != "swapped"
        return _CONSENSUS if again else _REPLIES[turn.asks]
    if started and turn.asks == "panel.accuracy":
        shown = FORMATS[started.format].shown(Script(started, facts), turn)
        return AccuracyReview(tuple(DebaterReview(label, 0, 0, 0, 0) for label in dict.fromkeys(shown.values())))
    return _REPLIES[turn.asks]


def _tokens(case: Case, sources: Mapping[str, str], facts: Facts, prompts: Prompts, turn: Turn, plan: SeatPlan) -> int:
    """The most that the request of a turn can take: what was said before it by the allowances of those who said it."""
    request = lay_out(prompts, case, sources, _wronged(facts, turn, plan), turn, plan)
    said = sum(money.RECKONING.shown_tokens(_allowance(facts, seen)) for seen in turn.sees)
    return money.RECKONING.request_tokens(texts_of(request), plan.tokenizer) + said + mark_room(turn.id, plan.tokenizer)


def _wronged(facts: Facts, turn: Turn, plan: SeatPlan) -> Facts:
    """The same facts, but that the model has just answered this turn in a way that could not be used."""
    wronged = Facts()
    vars(wronged).update(vars(facts))
    wronged.models = {**facts.models, turn.id: [plan.model]}
    wronged.failed = {turn.id: [AttemptFailed(turn.id, 1, "malformedReply", WRONG, _NOTHING)]}
    wronged.malformed = {turn.id: WRONG}
    return wronged


def _allowance(facts: Facts, turn: TurnId) -> int:
    return facts.started.seat(seat_of(turn)).allowance if facts.started else 0
