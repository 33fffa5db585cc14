"""Panels for tests: starts, short replies, and the real measures of consensus and conduct over canned citations.

agreeing     everybody says yes, by the words, 90 % sure, quotes one passage and accepts every claim
quarrelling  the same words, but everybody rejects every claim of the others
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from service import consensus
from service.debate.adjudication import TRIGGERS, claims_shown, labels_of
from service.debate.entries import DebateStarted, Entry
from service.debate.facts import Facts
from service.debate.findings import Citation, Finding
from service.debate.kernel import decide
from service.debate.model import Ask, Check, Turn, TurnId, seat_of
from service.debate.options import PanelOptions
from service.debate.panel import FORMAT, table
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    BlindAnswer,
    Claim,
    Classification,
    Reply,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.panel import (
    DebaterReview,
    Endorsement,
    Idea,
    Interval,
    Mark,
    MarkAs,
    QuestionType,
    StrongestObjection,
)
from service.debate.results import PanelResult
from service.debate.script import Script
from tests.debates import a_plan, a_start, drive, found, outcome

Replies = Callable[[Turn, Facts], Reply]
THRESHOLD = 800


def a_panel(
    debaters: int = 3, max_rounds: int = 3, kind: QuestionType = "factual", *, seed: str = "00" * 32, **options: Any
) -> DebateStarted:
    """A panel that may start: every seat has a model of a family of its own."""
    chosen = {"typed_by": "rules", "thresholds": dict.fromkeys(TRIGGERS, THRESHOLD), **options}
    given = PanelOptions(debaters, max_rounds, human_review=False, question_type=kind, **chosen)
    seats = tuple(a_plan(seat, f"wood{i}") for i, seat in enumerate(table(given).seats))
    return replace(a_start(seed=seed), format=FORMAT, options=given, seats=seats)


def others_claims(turn: Turn, facts: Facts) -> list[tuple[str, int]]:
    """The claims of the others that a turn is shown, by letter and number."""
    s = Script(_started(facts), facts)
    label = labels_of(s)
    return [(label[seat_of(t)], n) for t in turn.sees if seat_of(t) != turn.seat for n in sorted(claims_shown(s, t))]


def agreeing(turn: Turn, facts: Facts) -> Reply:
    """A reply in a debate of one mind."""
    return speak(turn, facts)


def quarrelling(turn: Turn, facts: Facts) -> Reply:
    """A reply in a debate where nobody accepts anything of another; a model adjudicator says so."""
    return speak(turn, facts, mark="reject", score=40, quoting=False)


def speak(
    turn: Turn,
    facts: Facts,
    *,
    mark: MarkAs = "accept",
    score: int = 90,
    severity: str = "low",
    quoting: bool = True,
) -> Reply:
    """The shortest legal reply of a turn."""
    match turn.asks:
        case "panel.classifier":
            return Classification("business", "It asks for a decision.")
        case "panel.blind" | "panel.deliberation":
            return _answer(turn, facts, mark, severity, quoting)
        case "panel.adjudicator":
            return Adjudication(score, score, score, score, "They agree in part.")
        case "panel.accuracy":
            return AccuracyReview(tuple(DebaterReview(label, 91, 88, 85, 72) for label in _labels(turn, facts)))
    ideas: tuple[Idea, ...] = ()
    if "panel.ideas" in turn.fragments:
        ideas = (Idea("A podcast.", (Endorsement("Model A", 1), Endorsement("Model B", 1))),)
    return Synthesis("Yes, the cap holds.", "HIGH", ("No court has read it.",), ideas)


def _answer(turn: Turn, facts: Facts, mark: MarkAs, severity: Any, quoting: bool) -> BlindAnswer | RevisedAnswer:
    quotes = (Citation("the Supplier's liability shall not exceed the Fees", "D1"),) if quoting else ()
    own = Claim(1, f"The cap holds, says {turn.seat}.", 90, quotes, "evidence" if quoting else "reasoning")
    predicts = "panel.prediction" in turn.fragments
    blind = BlindAnswer("Yes.", "affirmative", "textual", (own,), 90, (), Interval(60, 70) if predicts else None)
    if turn.asks == "panel.blind":
        return blind
    shown = others_claims(turn, facts)
    aimed = shown[0] if shown else ("Model A", 1)
    return RevisedAnswer(
        **{name: getattr(blind, name) for name in blind.__struct_fields__},
        learned_from_others="Nothing new.",
        corrections="",
        still_challenges="",
        unresolved="",
        marks=tuple(Mark(label, n, mark, 90) for label, n in shown),
        objection=StrongestObjection("It may leak.", *aimed, severity) if "panel.devil" in turn.fragments else None,
    )


def checked(check: Check, facts: Facts) -> Finding:
    """What code really measures, where every citation is verified."""
    if check.kind == "consensus":
        return consensus.judge_consensus(facts, check)
    return consensus.judge_accuracy(facts, check) if check.kind == "accuracy" else found(check, facts)


def debated(started: DebateStarted, replies: Replies = agreeing, **parts: Any) -> list[Entry]:
    """A whole panel."""
    return drive(started, replies, **{"findings": checked, **parts})


def result(entries: list[Entry]) -> PanelResult:
    """What a panel came to."""
    came_to = outcome(entries).result
    assert isinstance(came_to, PanelResult)
    return came_to


def changed(base: Replies, change: Callable[[Turn, Any], dict[str, Any] | None]) -> Replies:
    """These replies, with other members where ``change`` gives some for a turn."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = base(turn, facts)
        return replace(said, **(change(turn, said) or {}))

    return reply


def due(entries: list[Entry], turn: TurnId) -> Turn:
    """A turn as the kernel asked for it when it spoke."""
    return next(t for t in _asked(entries) if t.id == turn)


def _asked(entries: list[Entry]) -> list[Turn]:
    facts, turns = Facts(), list[Turn]()
    for entry in entries:
        if facts.started and not facts.concluded and isinstance(move := decide(facts), Ask):
            turns += move.turns
        facts.add(entry)
    return turns


def _labels(turn: Turn, facts: Facts) -> list[str]:
    label = labels_of(Script(_started(facts), facts))
    return sorted({label[seat_of(t)] for t in turn.sees if seat_of(t) in label})


def _started(facts: Facts) -> DebateStarted:
    assert facts.started
    return facts.started
