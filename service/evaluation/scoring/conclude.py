"""From a plan, its items with their labels, and all scores to the result.

registered      the plan was recorded first, is unchanged, and asks the held splits of sets that are not worn
exploratory     anything else: figures are shown, and no sentence claims anything
nothing         of what was asked is left out; what is missing is counted by reason
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from service.audit.evaluation_rules import SHIPPED_LIMITS, ReleaseLimits
from service.debate.whose import by_tenant
from service.evaluation.plan.model import PER_MILLE, Plan, decode_plan, encode_plan, plan_hash
from service.evaluation.plan.power import FEWEST, Counted, Power, moderator_power, of_the_rarest, power_of
from service.evaluation.scoring.cases import Case, SetShown
from service.evaluation.scoring.critic import conclude_critic, sizes
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.grid import Grid, lost
from service.evaluation.scoring.lift import conclude_lift
from service.evaluation.scoring.moderator import conclude_moderator
from service.evaluation.scoring.release import limits_of
from service.evaluation.scoring.result import (
    ArmShown,
    Finding,
    Result,
    Row,
    Standing,
    WhyExploratory,
)
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Scored
from service.evaluation.scoring.sentences import sentences_of


class Circumstances(Struct, frozen=True):
    """What the plan itself cannot say of the run.

    ``changed``: the plan was changed after the first score. ``asked_under`` is the hash of the plan as it was first
    registered, if it was changed since: items were asked in its order. ``stopped``: why the run was stopped, if it was.
    ``limits`` are those of a critic's release, as the registration records them.
    """

    changed: bool = False
    asked_under: str | None = None
    stopped: str | None = None
    limits: ReleaseLimits = SHIPPED_LIMITS


AS_PLANNED = Circumstances()


def conclude(
    plan: Plan,
    cases: Sequence[Case],
    sets: Sequence[SetShown],
    scores: Sequence[Scored],
    circumstances: Circumstances = AS_PLANNED,
) -> Result:
    """The result; the order of cases, sets and scores does not enter it.

    Raises `UnplannedScore` for scores that do not belong to the plan.
    """
    why = _why_exploratory(plan, sets, circumstances)
    figures = Figures()
    (arms, findings, rows), asked, power = _conclude(plan, cases, scores, circumstances, figures)
    _recomputable(plan, power, figures)
    result = Result(
        kind=plan.kind,
        plan=plan_hash(plan),
        plan_name=plan.name,
        question=plan.question,
        standing=_standing(why),
        why_exploratory=why,
        stopped=circumstances.stopped,
        simulated=any(one.score.run.simulated for one in scores),
        alpha=plan.alpha / PER_MILLE,
        margin=plan.margin / PER_MILLE,
        missing_limit=plan.missing_limit / PER_MILLE,
        repeats=plan.repeats,
        seed=plan.seed,
        sets=tuple(sorted(sets, key=lambda one: (one.id, one.split))),
        planned=len(cases),
        items=len(asked),
        groups=len({(case.set_, case.group) for case in asked}),
        power=power,
        arms=tuple(arms),
        findings=tuple(findings),
        figures=figures.all(),
        rows=tuple(rows),
        sentences=(),
        lost_to_interruptions=lost(one.score for one in scores),
    )
    return replace(result, sentences=sentences_of(result))


Parts = tuple[list[ArmShown], list[Finding], list[Row]]


def _conclude(
    plan: Plan, cases: Sequence[Case], scores: Sequence[Scored], circumstances: Circumstances, figures: Figures
) -> tuple[Parts, tuple[Case, ...], Power]:
    """The parts of a kind, the cases that were asked, and the plan's power with them."""
    match plan.kind:
        case "lift":
            questions = Grid(plan, cases, scores, QuestionScore, circumstances.asked_under)
            power = _power(encode_plan(plan), _counted(plan, questions.cases))
            return conclude_lift(questions, figures, _net(power)), questions.cases, power
        case "critic":
            critics = Grid(plan, cases, scores, CriticScore, circumstances.asked_under)
            limits = limits_of(circumstances.limits)
            return (
                conclude_critic(critics, figures, limits),
                critics.cases,
                _power(encode_plan(plan), _counted(plan, critics.cases)),
            )
        case "moderator":
            pairs = Grid(plan, cases, scores, PairScore, circumstances.asked_under)
            return (
                conclude_moderator(pairs, figures),
                pairs.cases,
                _power(encode_plan(plan), _counted(plan, pairs.cases)),
            )


@by_tenant(most=64)
def _power(plan: bytes, counted: Counted) -> Power:
    """The power of a plan (its canonical JSON): the same for every result of it, and dearer than all other figures."""
    return power_of(decode_plan(plan), counted)


def _recomputable(plan: Plan, power: Power, figures: Figures) -> None:
    """The power of the plan's effects as figures too; a critic's stands in the table of its rules (`release`).

    A moderator's has none under `FEWEST` cases, of which no statistic is asked.
    """
    for row in power.rows:
        if plan.kind == "lift":
            gain, loss = ((share or 0) / PER_MILLE for share in (row.effect.gain, row.effect.loss))
            figures.add(f"power/{row.name}", "mcnemar_power", n=power.n, gain=gain, loss=loss, alpha=power.alpha)
        elif plan.kind == "moderator" and power.n >= FEWEST:
            statistic, given = moderator_power(plan, power.n, row.effect)
            figures.add(f"power/{row.name}", statistic, **given)


def _counted(plan: Plan, cases: Sequence[Case]) -> Counted:
    """What the plan's power counts as independent."""
    if plan.kind == "critic":  # a release stops in any one task type, so the smallest one has the power
        flawed, sound = min(sizes(cases), default=(0, 0))
        return Counted(flawed, "flawed proposals of a task type, each with its sound twin,", sound)
    if plan.kind == "lift" and plan.groups == "whole":
        return Counted(len({(case.set_, case.group) for case in cases}), "groups")
    if plan.metric == "preference":
        return of_the_rarest(Counter(case.feature for case in cases))
    return Counted(len(cases), "items")


def _net(power: Power) -> float | None:
    """The smallest visible difference of a lift, gain less loss, as a share."""
    seen = power.visible
    return None if seen is None else ((seen.gain or 0) - (seen.loss or 0)) / PER_MILLE


def _why_exploratory(plan: Plan, sets: Sequence[SetShown], circumstances: Circumstances) -> tuple[WhyExploratory, ...]:
    facts: dict[WhyExploratory, bool] = {
        "planSaysSo": plan.exploratory,
        "planChanged": circumstances.changed,
        "openSplit": any(one.split == "open" for one in sets),
        "wornSet": any(one.worn for one in sets),
    }
    return tuple(why for why, holds in facts.items() if holds)


def _standing(why: tuple[WhyExploratory, ...]) -> Standing:
    return "exploratory" if why else "registered"
