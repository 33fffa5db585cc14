"""What the seats of the formats beside the adversarial one say, canned and at random, and what code finds there.

said     a short, legal reply for any turn of those formats
drawn    the same with other words, votes, marks, winners and confidences, still legal
unfit    a reply that cannot be used at its place
found    the finding of a check of consensus, convergence or accuracy: nobody agrees yet
varied   the same, at random
options  options of every format, at random
"""

from __future__ import annotations

from random import Random
from typing import Any, Literal

from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.adjudication import claims_shown, labels_of, latest, question_type
from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import (
    DIMENSIONS,
    AccuracyFound,
    Citation,
    ConsensusFound,
    ConvergenceFound,
    DebaterScores,
    Finding,
    PairOverlap,
)
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    Check,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    Position,
    StancesOptions,
    Turn,
    seat_of,
)
from service.debate.options import debater_seats
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    Argument,
    Ballot,
    BlindAnswer,
    Claim,
    Classification,
    ConfidenceLevel,
    Judgement,
    Projection,
    Reply,
    RevisedAnswer,
    Ruling,
    Statement,
    Synthesis,
)
from service.debate.replies import Position as Answer
from service.debate.replies.panel import (
    DebaterReview,
    Endorsement,
    Idea,
    Interval,
    Mark,
    ObjectionAnswer,
    QuestionType,
    StrongestObjection,
)
from service.debate.script import Script

NAMES = ("Ursula", "Viktor", "Wanda", "Xaver", "Yvonne", "Zoltan")
"""What callers may call their debaters: no label shows it."""
STANCES = ("sign as it stands", "do not sign", "renegotiate", "wait a year", "split the contract", "ask counsel")
VOTES = ("sign", "renegotiate", "escalate")
ANSWERS = ("Sign.", "sign", "Renegotiate clause 9", "Do not sign")
LEVELS: tuple[ConfidenceLevel, ...] = ("HIGH", "MODERATE", "LOW")
TYPES: tuple[QuestionType, ...] = ("factual", "normative", "business", "prediction", "brainstorm", "belief")
THRESHOLDS: dict[str, int] = dict.fromkeys(TYPES, 700)
QUOTE = (Citation("the Supplier's liability shall not exceed the Fees", "D1"),)
_ARGUMENTS = (Statement(1, "The cap covers all claims.", QUOTE), Statement(2, "It is usual.", (), "reasoning"))
_CLAIMS = (Claim(1, "The cap covers all claims.", 80, QUOTE), Claim(2, "It is usual.", 60, (), "reasoning"))


def said(turn: Turn, facts: Facts) -> Reply:
    """The canned reply to a turn of these kinds."""
    match turn.asks:
        case "stances.debater":
            return Argument(_ARGUMENTS)
        case "stances.judge":
            return Judgement("Clause 9 holds.", STANCES[0], "It is clear.", "HIGH", ("No court has read it.",))
        case "stances.synthesizer":
            return Projection('{"decision": "sign"}')
        case "ballot.debater":
            return Ballot("The cap holds.", _ARGUMENTS, VOTES[debater_seats(_options(facts)).index(turn.seat) % 2])
        case "convergence.debater":
            return Answer(ANSWERS[int(turn.seat.rpartition("-")[2]) % 3], _ARGUMENTS)
        case "convergence.judge":
            return Ruling(ANSWERS[0], "It is clear.", "HIGH", ("No court has read it.",))
    return _of_panel(turn, facts)


def _of_panel(turn: Turn, facts: Facts) -> Reply:
    s = _script(facts)
    interval = Interval(40, 60) if question_type(s) == "prediction" else None
    match turn.asks:
        case "panel.classifier":
            return Classification("factual", "It asks what the contract says.")
        case "panel.blind":
            return BlindAnswer("Sign.", "affirmative", "textual", _CLAIMS, 70, ("No side letter.",), interval)
        case "panel.deliberation":
            return _revised(s, turn, interval)
        case "panel.adjudicator":
            return Adjudication(50, 50, 50, 50, "They differ on fines.")
        case "panel.accuracy":
            labels = sorted({labels_of(s)[seat_of(t)] for t in turn.sees if seat_of(t) in labels_of(s)})
            return AccuracyReview(tuple(DebaterReview(label, 70, 70, 70, 70) for label in labels))
    return Synthesis("Sign.", "HIGH", ("No court has read it.",), _ideas(s))


def _revised(s: Script, turn: Turn, interval: Interval | None) -> RevisedAnswer:
    label = labels_of(s)
    others = [t for t in turn.sees if seat_of(t) != turn.seat]
    shown = [(label[seat_of(t)], n) for t in others for n in sorted(claims_shown(s, t))]
    own = [(label[turn.seat], n) for t in turn.sees if seat_of(t) == turn.seat for n in sorted(claims_shown(s, t))]
    objectors = [label[seat_of(t)] for t in others if getattr(s.facts.said[t], "objection", None)]
    devil = "panel.devil" in turn.fragments
    aim = next(iter([*shown, *own]), ("Model A", 1))
    return RevisedAnswer(
        "Sign.",
        "affirmative",
        "textual",
        _CLAIMS,
        75,
        ("No side letter.",),
        "The carve-out.",
        "",
        "",
        "Fines.",
        tuple(Mark(whose, n, "accept", 80) for whose, n in shown),
        interval,
        StrongestObjection("It says nothing of fines.", *aim, "high") if devil else None,
        tuple(ObjectionAnswer(whose, "It need not.") for whose in objectors[:1]),
    )


def _ideas(s: Script) -> tuple[Idea, ...]:
    if question_type(s) != "brainstorm":
        return ()
    last = [(seat, t) for seat in debater_seats(s.started.options) if (t := latest(s, seat))]
    claims = [Endorsement(labels_of(s)[seat], n) for seat, t in last for n in sorted(claims_shown(s, t))]
    return (Idea("Insure the gap.", tuple(claims[:2])),) if claims else ()


def drawn(rng: Random, reply: Reply) -> Reply:
    """A legal reply with other words, votes, marks, winners and confidences."""
    level = rng.choice(LEVELS)
    match reply:
        case Judgement():
            return replace(reply, winner=rng.choice((*STANCES[:3], None, "a middle way")), confidence_level=level)
        case Ballot():
            return replace(reply, vote=rng.choice((*VOTES, VOTES[0].upper(), "I vote to sign", "")))
        case Answer():
            return replace(reply, final_answer=rng.choice(ANSWERS))
        case Ruling():
            return replace(reply, final_answer=rng.choice(ANSWERS[:3]), confidence_level=level)
        case Synthesis():
            return replace(reply, confidence_level=level)
        case Classification():
            return replace(reply, question_type=rng.choice(TYPES))
        case Adjudication():
            return replace(reply, stance_alignment=rng.randint(0, 100), empirical_overlap=rng.choice((50, 100, 100)))
        case RevisedAnswer():
            marks = tuple(replace(mark, mark=rng.choice(("accept", "reject", "unsure"))) for mark in reply.marks)
            return replace(reply, stance=rng.choice(("affirmative", "negative")), marks=marks)
        case BlindAnswer():
            return replace(
                reply, stance=rng.choice(("affirmative", "negative")), overall_confidence=rng.randint(0, 100)
            )
    return reply


def unfit(reply: Reply) -> Reply:
    """A reply that cannot be used in the place of this one: with one thing wrong where that is told, else another's."""
    match reply:
        case Judgement():
            return replace(reply, winner=" . ")
        case Projection():
            return Projection("no JSON")
        case Answer() | Ruling():
            return replace(reply, final_answer="...")
        case RevisedAnswer() if reply.marks:
            return replace(reply, marks=reply.marks[1:])
        case AccuracyReview() if len(reply.reviews) > 1:
            return replace(reply, reviews=reply.reviews[1:])
        case Synthesis() if not reply.ideas:
            return replace(reply, ideas=(Idea("An idea.", (Endorsement("Model Z", 9),)),))
        case Classification():
            return Argument(_ARGUMENTS)
    return Classification("factual", "It was asked for something else.")


def found(check: Check, facts: Facts) -> Finding:
    """Nobody agrees: so a debate runs through all its rounds."""
    if check.kind == "accuracy":
        return AccuracyFound(tuple(DebaterScores(seat, 70, 70, 70, 70) for seat in _seats(check)))
    if check.kind == "convergence":
        turns = check.over
        pairs = [(a, b) for i, a in enumerate(turns) for b in turns[i + 1 :]]
        apart = tuple(PairOverlap(pair, 1, 4, 250) for pair in pairs)
        return ConvergenceFound(len(turns), 850, apart, converged=False, why_not=("overlap",))
    return ConsensusFound(
        voices=len(_seats(check)),
        dimensions=dict.fromkeys(DIMENSIONS, 500),
        overall=500,
        threshold=700,
        terminated=False,
        lagging=DIMENSIONS,
        notes="They differ.",
    )


def varied(rng: Random, finding: Finding) -> Finding:
    """They agree, now and then."""
    agree = rng.randrange(100) < 30
    match finding:
        case ConvergenceFound() if agree:
            return replace(finding, converged=True, why_not=())
        case ConsensusFound() if agree:
            return replace(finding, overall=900, terminated=True, lagging=())
    return finding


def _seats(check: Check) -> list[str]:
    return sorted({seat_of(turn) for turn in check.over})


def _script(facts: Facts) -> Script:
    return Script(_started(facts), facts)


def _started(facts: Facts) -> DebateStarted:
    assert facts.started is not None
    return facts.started


def _options(facts: Facts) -> Options:
    return _started(facts).options


def debaters(count: int, *, stances: bool = False) -> tuple[Debater, ...]:
    """Debaters with names, and stances where they are assigned."""
    return tuple(Debater(NAMES[i], STANCES[i] if stances else "") for i in range(count))


def plain(form: str) -> Options:
    """The options of a debate of three debaters, in each format."""
    every: dict[str, Options] = {
        "adversarial/1": AdversarialOptions(2, 6, 6, human_review=False, swapped=True),
        "stances/1": StancesOptions(debaters(3, stances=True), 2, human_review=False, swapped=True),
        "ballot/1": BallotOptions(debaters(3), 2, VOTES, 3, human_review=False),
        "panel/1": PanelOptions(3, 3, False, "factual", "classifier", THRESHOLDS, "model", "manual", swapped=True),
        "convergence/1": ConvergenceOptions(3, 2, human_review=False, swapped=True),
    }
    return every[form]


@st.composite
def options(draw: st.DrawFn, form: str) -> Options:
    """Options of a format at random, small enough to be played often."""
    count, review, swapped = draw(st.sampled_from([2, 3, 3, 4])), draw(st.booleans()), draw(st.booleans())
    told = draw(st.sampled_from([None, "Weigh the fines."]))
    match form:
        case "adversarial/1":
            names = draw(st.sampled_from([(), (), ("adopt", "defer"), ("a", "a.b", "c")]))
            positions = tuple(Position(name, f"Choose {name}.") for name in names)
            return AdversarialOptions(draw(st.integers(1, 3)), 6, 6, review, positions, swapped=swapped)
        case "stances/1":
            given = _persons(draw, debaters(count, stances=True))
            switches: dict[str, Any] = {
                name: draw(st.booleans()) for name in ("anonymize_transcript", "shuffle_for_judge", "synthesizer")
            }
            rounds = draw(st.integers(1, 3))
            return StancesOptions(given, rounds, review, **switches, instructions=told, swapped=swapped)
        case "ballot/1":
            threshold = draw(st.integers(1, count))
            return BallotOptions(
                _persons(draw, debaters(count)), draw(st.integers(1, 2)), VOTES, threshold, review, told
            )
        case "panel/1":
            typed: QuestionType = draw(st.sampled_from(TYPES))
            by: Literal["rules", "classifier"] = draw(st.sampled_from(("rules", "classifier")))
            who: Literal["algorithmic", "model"] = draw(st.sampled_from(("algorithmic", "model")))
            rounds = draw(st.integers(1, 4))
            return PanelOptions(
                count, rounds, review, typed, by, THRESHOLDS, who, "manual", instructions=told, swapped=swapped
            )
    return ConvergenceOptions(
        count,
        draw(st.integers(1, 3)),
        review,
        judge=draw(st.booleans()),
        convergence_check=draw(st.booleans()),
        ties=draw(st.sampled_from(["lowestDebater", "noAnswer"])),
        debater_instructions=told,
        judge_instructions=draw(st.sampled_from([None, "Be brief."])),
        swapped=swapped,
    )


def _persons(draw: st.DrawFn, given: tuple[Debater, ...]) -> tuple[Debater, ...]:
    """Some with a role, some with a prompt of their own."""
    return tuple(
        replace(who, role=draw(st.sampled_from([None, "a lawyer"])), prompt=draw(st.sampled_from([None, None, "own"])))
        for who in given
    )
