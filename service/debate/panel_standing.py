"""The state of a panel after a round: labels, latest answers, and whether there is consensus.

All of it follows from recorded replies and findings. Code always measures. If a model adjudicates, its four scores take
the place of the measured ones. But it cannot end a deliberation against a fact that excludes consensus: every veto of
the measured finding holds for its scores too, and with one of them no score of its own is above the measured one.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from service.debate.findings import DIMENSIONS, CitationsFound, ConsensusFound, Dimension
from service.debate.model import TurnId
from service.debate.options import PanelOptions, debater_seats
from service.debate.replies import Adjudication, BlindAnswer, Classification, RevisedAnswer
from service.debate.replies.panel import QuestionType
from service.debate.results import ConsensusRound
from service.debate.script import Script
from service.debate.turns import turn_id

_CONCLUDING: tuple[Dimension, ...] = ("stance_alignment", "empirical_overlap", "confidence_convergence")
USES: Mapping[QuestionType, tuple[Dimension, ...]] = {
    "factual": _CONCLUDING,
    "normative": _CONCLUDING,
    "business": _CONCLUDING,
    "prediction": _CONCLUDING,
    "brainstorm": _CONCLUDING,
    "belief": ("empirical_overlap", "framework_agreement", "confidence_convergence"),
}
"""The dimensions that count for each type of question; the others are measured and shown."""


def dimensions_used(kind: QuestionType, *, documented: bool) -> tuple[Dimension, ...]:
    """The dimensions that count for a type of question; empirical overlap only in a case with documents.

    Without any document there is no evidence that two debaters could share.
    """
    return tuple(name for name in USES[kind] if documented or name != "empirical_overlap")


TRIGGERS: Mapping[QuestionType, str] = {
    "factual": "Metric Convergence",
    "normative": "Value Alignment",
    "business": "Risk Stability",
    "prediction": "Probability Convergence",
    "brainstorm": "Coverage Saturation",
    "belief": "Framework Consensus",
}
"""The meaning of consensus for each type of question, in the words of the panel's reference."""


def options_of(s: Script) -> PanelOptions:
    """The options of a panel; raises `TypeError` for those of another format, which `misfit` has refused before."""
    if not isinstance(s.started.options, PanelOptions):
        raise TypeError("expected the options of panel/1")
    return s.started.options


def debaters_of(s: Script) -> tuple[str, ...]:
    """The debaters' seats in their declared order."""
    return debater_seats(s.started.options)


def labels_of(s: Script) -> dict[str, str]:
    """The label of each debater's seat in the debate, in an order from the seed: ``Model A``..."""
    order = s.order(debaters_of(s), "labels")
    return {seat: f"Model {chr(ord('A') + place)}" for place, seat in enumerate(order)}


def question_type(s: Script) -> QuestionType:
    """The question's type: the classifier's if it spoke, otherwise that of the options."""
    said = s.facts.said.get(turn_id(0, "classifier"))
    return said.question_type if isinstance(said, Classification) else options_of(s).question_type


def answers(s: Script, r: int) -> tuple[TurnId, ...]:
    """The answers of a round in declared order."""
    return tuple(turn for seat in debaters_of(s) if s.said(turn := turn_id(r, seat)))


def latest(s: Script, seat: str, before: int | None = None) -> TurnId | None:
    """The most recent answer of a seat; with ``before``, of the rounds before that one."""
    last = options_of(s).max_rounds if before is None else before - 1
    return next((turn for r in range(last, 0, -1) if s.said(turn := turn_id(r, seat))), None)


def claims_shown(s: Script, turn: TurnId) -> frozenset[int]:
    """The numbers of an answer's claims that the others see: all but the struck ones."""
    reply, found = s.facts.said.get(turn), s.facts.found.get(f"{turn}/citations")
    if not isinstance(reply, BlindAnswer | RevisedAnswer):
        return frozenset()
    struck = found.struck(turn) if isinstance(found, CitationsFound) else {}
    return frozenset(claim.n for claim in reply.claims if claim.n not in struck)


def standings(s: Script) -> tuple[ConsensusRound, ...]:
    """The standing of the debate after each measured round."""
    rounds = (standing(s, r) for r in range(1, options_of(s).max_rounds + 1))
    return tuple(now for now in rounds if now)


def standing(s: Script, r: int, *, alone: bool = False) -> ConsensusRound | None:
    """The standing of the debate after a round, or ``None`` before it is known.

    ``alone`` leaves out a model's reply in the reverse order.
    """
    found = measured_after(s, r)
    if found is None:
        return None
    first, second = turn_id(r, "adjudicator"), turn_id(r, "adjudicator", "swapped")
    if options_of(s).adjudicator == "algorithmic" or (s.facts.answered(first) and not s.said(first)):
        return _measured(r, found)
    now = _scored(s, r, found, first)
    if now is None or alone or not options_of(s).swapped or not now.terminated:
        return now
    again = _scored(s, r, found, second)
    if again is None:
        return now if s.facts.answered(second) else replace(now, terminated=False)
    if again.terminated:
        # Of two orders that both find consensus, the lower score counts.
        lower = min(now, again, key=lambda one: one.overall)
        return replace(now, dimensions=lower.dimensions, overall=lower.overall)
    notes = f"{now.notes} With the order of the answers turned round the adjudicator did not find consensus."
    return replace(now, terminated=False, notes=notes)


def measured_after(s: Script, r: int) -> ConsensusFound | None:
    """The measures after a round: those after the answers to its objections, if there are any."""
    found = s.facts.found.get(f"{r}/answered") or s.facts.found.get(f"{r}/consensus")
    return found if isinstance(found, ConsensusFound) else None


def _measured(r: int, found: ConsensusFound) -> ConsensusRound:
    """The standing by code's measures."""
    return ConsensusRound(
        round=r,
        dimensions=found.dimensions,
        overall=found.overall,
        threshold=found.threshold,
        terminated=found.terminated,
        lagging=found.lagging,
        notes=found.notes,
        by="algorithmic",
        unanswered_objections=len(found.unanswered),
        blind=r == 1,
        counted=found.counted,
        vetoes=found.vetoes,
    )


def _scored(s: Script, r: int, found: ConsensusFound, turn: TurnId) -> ConsensusRound | None:
    """The standing by a model's scores; code takes their mean and compares it with the threshold.

    The mean is over the dimensions that the measures count or could not define: those that the question's type uses.
    """
    said = s.facts.said.get(turn)
    if not isinstance(said, Adjudication):
        return None
    scores: dict[Dimension, int | None] = {}
    for name in DIMENSIONS:
        given, measured = getattr(said, name) * 10, found.dimensions.get(name)
        scores[name] = given if measured is None or not found.vetoes else min(given, measured)
    counted = dimensions_used(question_type(s), documented=s.facts.documented)
    overall = sum(scores[name] or 0 for name in counted) // len(counted)
    terminated = overall >= found.threshold and not found.vetoes
    return ConsensusRound(
        round=r,
        dimensions=scores,
        overall=overall,
        threshold=found.threshold,
        terminated=terminated,
        lagging=() if terminated else tuple(name for name in counted if (scores[name] or 0) < found.threshold),
        notes=" ".join((said.notes, *(veto.text for veto in found.vetoes))),
        by="model",
        unanswered_objections=len(found.unanswered),
        blind=r == 1,
        counted=counted,
        vetoes=found.vetoes,
    )


def is_order_sensitive(s: Script, rounds: tuple[ConsensusRound, ...]) -> bool:
    """Whether the last adjudication in both orders had another result in the second order."""
    pairs = [r for r in rounds if s.said(turn_id(r.round, "adjudicator", "swapped"))]
    return bool(pairs) and not pairs[-1].terminated


def is_order_unchecked(s: Script, rounds: tuple[ConsensusRound, ...]) -> bool:
    """Whether a model alone ended the deliberation, and the second order that was due could not be asked."""
    if not rounds or not options_of(s).swapped or rounds[-1].by != "model":
        return False
    return rounds[-1].terminated and not s.said(turn_id(rounds[-1].round, "adjudicator", "swapped"))


def agreed_blindly(s: Script) -> bool | None:
    """Whether the debaters' conclusions agreed in the blind round; ``None`` where code could not compare them.

    Without a comparison it is unknown whether they agreed only after they had read each other.
    """
    found = s.facts.found.get("1/consensus")
    if not isinstance(found, ConsensusFound):
        return None
    aligned = found.dimensions.get("stance_alignment")
    if aligned is None or any(veto.code == "conclusionsNotCompared" for veto in found.vetoes):
        return None
    return aligned >= found.threshold
