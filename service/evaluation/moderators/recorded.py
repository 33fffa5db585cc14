"""From the entries of one recorded debate to what its moderator concluded, or why the debate counts nowhere.

A side is defined where a proposer argues for a proposition and a critic against it: in the adversarial format about one
proposition. Between several positions, and in every other format, no side is the proposition's.

    the last moderation in its first order      its conclusion: for the proposer, for the critic, or in between
    the one in the reverse order, if there is   the places that both favour, where one model spoke both
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from service.debate.adversarial_moderations import final_of, turned_of
from service.debate.entries import DebateStarted, Entry
from service.debate.facts import Facts
from service.debate.model import AdversarialOptions, SeatPlan, TurnId
from service.debate.purpose import evaluation_of, is_probe
from service.debate.replies.parts import Conclusion
from service.debate.script import Script
from service.debate.turns import MODERATOR
from service.evaluation.scoring.observed import moderation_of
from service.evaluation.scoring.observed_types import Slot
from service.prompts.undocumented import pin_of

Left = Literal["evaluation", "probe", "positions", "format", "underWay", "neverStarted", "damaged", "otherBuild"]
"""Why a debate counts for no moderator."""

LEFT: dict[Left, str] = {
    "evaluation": "it is an item of an evaluation",
    "probe": "it is the prober's",
    "positions": "it is between several positions, so that no side is the proposition's",
    "format": "its format has no proposer and critic before a moderator",
    "underWay": "it has not ended",
    "neverStarted": "it ended before it started",
    "damaged": "what is stored of it does not agree with its records",
    "otherBuild": "this build cannot read its records",
}
"""The same in words."""


class Moderator(Struct, frozen=True, order=True):
    """A model under one version of the moderator's own prompt: its alias, its name at the vendor and its family.

    ``prompt`` is the id of the prompt and ``pin`` its version with its SHA-256, as the debate recorded them.
    """

    alias: str
    model: str
    family: str
    prompt: str
    pin: str


class Judged(Struct, frozen=True):
    """What a debate's moderator concluded; ``conclusion`` is ``None`` without a readable moderation.

    ``slots`` are the places of the favoured side in the first order and in the reverse one.
    """

    moderator: Moderator
    task_type: str
    conclusion: Conclusion | None
    slots: tuple[Slot, Slot] | None
    simulated: bool


def judged(entries: Iterable[Entry]) -> Judged | Left:
    """What the moderator of a debate concluded, or why the debate counts for none."""
    facts = Facts.of(entries)
    if facts.case is None or facts.started is None:
        return "neverStarted"
    if evaluation_of(facts.arrival) is not None:
        return "evaluation"
    if is_probe(facts.case.metadata):
        return "probe"
    options = facts.started.options
    if not isinstance(options, AdversarialOptions):
        return "format"
    if options.positions:
        return "positions"
    if facts.concluded is None:
        return "underWay"
    return _judged(facts, facts.started, facts.case.task_type)


def _judged(facts: Facts, started: DebateStarted, task_type: str) -> Judged:
    script = Script(started, facts)
    final, turned = final_of(script), next(iter(turned_of(script)), None)
    first, second = moderation_of(script, final), moderation_of(script, turned)
    alike = final is not None and turned is not None and facts.spoke(final) == facts.spoke(turned)
    return Judged(
        moderator=_moderator(facts, started, final),
        task_type=task_type,
        conclusion=first.conclusion if first else None,
        slots=(first.slot, second.slot) if first and second and alike else None,
        simulated=started.simulated,
    )


def _moderator(facts: Facts, started: DebateStarted, final: TurnId | None) -> Moderator:
    """The model that spoke the moderation, a fallback perhaps; without one the model of the seat."""
    plan = _spoke(started.seat(MODERATOR), facts.spoke(final) if final else None)
    prompt = pin_of(facts, MODERATOR)
    return Moderator(plan.model, plan.model_name, plan.family, prompt, started.pins.get(prompt, ""))


def _spoke(plan: SeatPlan, alias: str | None) -> SeatPlan:
    fallback = plan.fallback
    return fallback if fallback is not None and alias == fallback.model else plan
