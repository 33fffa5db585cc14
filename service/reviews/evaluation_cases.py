"""An item of a golden set in an arm of a plan, as the case that is debated. No label is read here.

debate      the format's own options; the closed answers are its votes, its stances, or named in its instructions
            adversarial: the proposition is the question, and the answer follows from what becomes of it
single      a ballot of one blind draft
vote        a ballot of so many blind drafts
critic      an adversarial debate whose proposal is given, to the critique or to its end
moderator   an adversarial debate of one round, all given but the moderation, which is asked in both orders
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from service.debate.adversarial import SEATS
from service.debate.amounts import MicroUSD
from service.debate.entries import EvaluationItem
from service.debate.formats import FormatName, complete_formats
from service.debate.model import TurnId
from service.debate.options import EvaluationTerms
from service.debate.replies import Reply
from service.debate.turns import turn_id
from service.evaluation.plan.model import Arm, Plan
from service.evaluation.run.units import Unit
from service.evaluation.sets.items import CriticItem, Item, ItemSet, PairItem, QuestionItem
from service.intake.request import DocumentRequest, OptionsRequest
from service.reviews.evaluation_items import EvaluationCase


class Closed(NamedTuple):
    """How a debate of a format is asked for one of a closed list of answers.

    ``seats`` are those for which a request may name a model. ``asked`` gives the options that say the answers;
    with ``by_proposition`` the question is the item's proposition, and the answer follows from what becomes of it.
    """

    seats: tuple[str, ...]
    asked: Callable[[Sequence[str]], dict[str, Any]]
    by_proposition: bool = False


def _exactly(answers: Sequence[str]) -> str:
    return f"The final answer is exactly one of these, and nothing else: {'; '.join(answers)}."


def _sides(answers: Sequence[str]) -> dict[str, Any]:
    return {"debaters": [{"name": f"side-{nth}", "stance": answer} for nth, answer in enumerate(answers, start=1)]}


def _instructed(answers: Sequence[str]) -> dict[str, Any]:
    return {"debaterInstructions": _exactly(answers), "judgeInstructions": _exactly(answers)}


CLOSED: Mapping[FormatName, Closed] = complete_formats(
    {
        "adversarial": Closed(SEATS, lambda _: {}, by_proposition=True),
        "stances": Closed(("debater", "judge", "synthesizer"), _sides),
        "ballot": Closed(("debater",), lambda answers: {"votes": list(answers)}),
        "panel": Closed(
            ("classifier", "debater", "adjudicator", "synthesizer"),
            lambda answers: {"instructions": _exactly(answers)},
        ),
        "convergence": Closed(("debater", "judge"), _instructed),
    },
    "reviews",
    __file__,
)


class Asking(msgspec.Struct, frozen=True):
    """An evaluation that asks: its id, its plan, the hash of the plan as it was first registered, and its sets.

    ``ceiling`` is that of each debate in micro-dollars, policy's highest. A call that is lost with its worker is
    charged to its debate, and under a lower ceiling too little might be left for the call that replaces it. ``most`` is
    what a debate of an arm costs at most, by the registered quote.
    """

    evaluation: str
    plan: Plan
    plan_hash: str
    sets: Mapping[str, ItemSet]
    ceiling: MicroUSD
    most: Mapping[str, MicroUSD] = {}


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
        reserve=asking.most.get(unit.arm, 0),
    )


def _question(arm: Arm, item: Item, answers: tuple[str, ...]) -> str:
    if not isinstance(item, QuestionItem):
        return item.question
    if CLOSED[_format(arm)].by_proposition:
        asked = "Does this proposition hold, exactly as it is written?"
        return f"{asked}\n\n{item.proposition}\n\nIt answers: {item.question}"
    return f"{item.question}\n\nThe answer is one of: {'; '.join(answers)}."


def _options(plan: Plan, arm: Arm, item: Item, answers: tuple[str, ...]) -> OptionsRequest:
    format_ = _format(arm)
    chosen: dict[str, Any] = {"format": format_, **_asked(arm, item, answers), **arm.options}
    seats = CLOSED[format_].seats
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
    return CLOSED[_format(arm)].asked(answers)


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
