"""An item of a golden set in an arm of a plan, as the case that is debated. No label is read here.

debate      the format's own options; the closed answers are its votes, its stances, or named in its instructions
            adversarial: the proposition is the question, and the answer follows from what becomes of it
single      a ballot of one blind draft
vote        a ballot of so many blind drafts
critic      an adversarial debate whose proposal is given, to the critique or to its end
moderator   an adversarial debate of one round, all given but the moderation, which is asked in both orders
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from service.debate.adversarial import SEATS
from service.debate.amounts import MicroUSD
from service.debate.entries import EvaluationItem
from service.debate.formats import FormatName
from service.debate.model import TurnId
from service.debate.options import EvaluationTerms
from service.debate.replies import Reply
from service.debate.turns import turn_id
from service.evaluation.plan.model import Arm, Plan
from service.evaluation.run.units import Unit
from service.evaluation.sets.items import CriticItem, Item, ItemSet, PairItem, QuestionItem
from service.intake.request import DocumentRequest, OptionsRequest
from service.reviews.evaluation_items import EvaluationCase


class Asking(msgspec.Struct, frozen=True):
    """An evaluation that asks: its id, its plan, the hash of the plan as it was first registered, and its sets.

    ``ceiling`` is that of each debate in micro-dollars, policy's highest. A call that is lost with its worker is
    charged to its debate, and under a lower ceiling too little might be left for the call that replaces it.
    """

    evaluation: str
    plan: Plan
    plan_hash: str
    sets: Mapping[str, ItemSet]
    ceiling: MicroUSD


def case_of(asking: Asking, unit: Unit) -> EvaluationCase:
    """The case of a unit; raises `KeyError` for one that the plan or its sets do not have."""
    plan, asked = asking.plan, asking.sets[unit.set]
    arm, item = plan.arm(unit.arm), asked.item(unit.item)
    return EvaluationCase(
        evaluation=EvaluationItem(asking.evaluation, asking.plan_hash, asked.hash, unit.item, unit.arm, unit.repeat),
        question=_question(arm, item, asked.manifest.answers or ()),
        task_type=asked.manifest.task_type,
        documents=tuple(
            DocumentRequest(document.text, document.id, document.title) for document in asked.documents(item)
        ),
        options=_options(plan, arm, item, asked.manifest.answers or ()),
        terms=_terms(arm),
        given=_given(item),
        ceiling=asking.ceiling,
    )


def _question(arm: Arm, item: Item, answers: tuple[str, ...]) -> str:
    if not isinstance(item, QuestionItem):
        return item.question
    if arm.format == "adversarial":
        asked = "Does this proposition hold, exactly as it is written?"
        return f"{asked}\n\n{item.proposition}\n\nIt answers: {item.question}"
    return f"{item.question}\n\nThe answer is one of: {'; '.join(answers)}."


def _options(plan: Plan, arm: Arm, item: Item, answers: tuple[str, ...]) -> OptionsRequest:
    format_ = _format(arm)
    chosen: dict[str, Any] = {"format": format_, **_asked(arm, item, answers), **arm.options}
    seats = _seats(format_)
    models = {seat: alias for seat, alias in plan.models.items() if seat in seats}
    return msgspec.convert({**chosen, "models": models} if models else chosen, OptionsRequest)


def _format(arm: Arm) -> FormatName:
    match arm.does:
        case "debate":
            return arm.format or "adversarial"
        case "single" | "vote":
            return "ballot"
        case "critic" | "moderator":
            return "adversarial"


def _asked(arm: Arm, item: Item, answers: tuple[str, ...]) -> dict[str, Any]:
    """What the closed list of answers, or a given reply, makes of the options."""
    if arm.does in ("single", "vote"):
        drafts = [{"name": f"draft-{nth}"} for nth in range(1, (arm.drafts or 1) + 1)]
        return {"votes": list(answers), "debaters": drafts}
    if isinstance(item, PairItem):
        return {"maxRounds": 1}
    exactly = f"The final answer is exactly one of these, and nothing else: {'; '.join(answers)}."
    match arm.format:
        case "ballot":
            return {"votes": list(answers)}
        case "stances":
            stances = [{"name": f"side-{nth}", "stance": answer} for nth, answer in enumerate(answers, start=1)]
            return {"debaters": stances}
        case "panel":
            return {"instructions": exactly}
        case "convergence":
            return {"debaterInstructions": exactly, "judgeInstructions": exactly}
        case "adversarial" | None:
            return {}


def _seats(format_: FormatName) -> tuple[str, ...]:
    """The seats for which a request of a format may name a model."""
    match format_:
        case "adversarial":
            return SEATS
        case "ballot":
            return ("debater",)
        case "stances":
            return ("debater", "judge", "synthesizer")
        case "panel":
            return ("classifier", "debater", "adjudicator", "synthesizer")
        case "convergence":
            return ("debater", "judge")


def _terms(arm: Arm) -> EvaluationTerms:
    match arm.does:
        case "single" | "vote":
            return EvaluationTerms(drafts=True)
        case "critic":
            return EvaluationTerms(until="critic" if arm.until == "critic" else None)
        case "moderator":
            return EvaluationTerms(swapped=True)
        case "debate":
            return EvaluationTerms()


def _given(item: Item) -> dict[TurnId, Reply]:
    """The replies in the place of models', by turn."""
    match item:
        case CriticItem():
            return {turn_id(1, "proposer"): item.proposal}
        case PairItem():
            given = item.given
            return {
                turn_id(0, "framing"): given.framing,
                turn_id(1, "proposer"): given.proposal,
                turn_id(1, "critic"): given.critique,
                turn_id(1, "rebuttal"): given.rebuttal,
            }
        case QuestionItem():
            return {}
