"""Whether a moderator is pulled by something that is no argument: a place, a side, or a feature of a side.

    position      the same arguments in two orders: the same place favoured twice, the first against the second, exact
    side          the proposition's side against the critic's; ties are counted and left out
    a feature     judged right where the side with it is right, against where the other is: on crossed pairs alone,
                  where both kinds of cases are equally hard
    stability     the same request again, where the plan repeats it
    experts       agreement with experts' labels beside kappa, only where experts labelled

All p-values of an audit are adjusted together (Holm). Under 23 decided cases nothing is said: `notEnough`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from service.evaluation.plan.model import PER_MILLE, Arm
from service.evaluation.plan.power import FEWEST
from service.evaluation.scoring.cases import Case
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.grid import NOT_SCORED, Grid, count, models_of, prompts_of
from service.evaluation.scoring.result import ArmShown, Finding, Row
from service.evaluation.scoring.scores import PairScore
from service.evaluation.sets.labels import FEATURES
from service.evaluation.statistics import compute

UNDECIDED = "noModeration"
"""Why an answer is missing where the debate has no readable moderation."""
VISIBLE_AT = 0.8
PRIMARY: dict[str, tuple[str, ...]] = {"position": ("position",), "tilt": ("side",), "preference": FEATURES}
"""The aspects that a plan's primary metric names."""


class Judged(NamedTuple):
    """A case with a moderator's first run on it; ``None`` where the evaluation ended before it."""

    case: Case
    score: PairScore | None

    @property
    def missing(self) -> str | None:
        """Why there is no conclusion, if there is none."""
        if self.score is None:
            return NOT_SCORED
        return UNDECIDED if self.score.conclusion is None else None

    @property
    def right(self) -> bool:
        """Whether the first conclusion is the label's; a missing one is not."""
        return self.score is not None and self.score.right


class Aspect(NamedTuple):
    """A question about a pull: its figure, p, decided cases, and the smallest pull that they would have shown."""

    name: str
    figure: str
    p: float
    decided: int
    visible: Callable[[float], float | None]


def conclude_moderator(grid: Grid[PairScore], figures: Figures) -> tuple[list[ArmShown], list[Finding], list[Row]]:
    """Arms, findings and tables of an audit; its statistics go to ``figures``."""
    arms: list[ArmShown] = []
    rows: list[Row] = []
    aspects: list[tuple[str, Aspect]] = []
    for arm in grid.plan.arms:
        judged = [Judged(case, grid.first(arm.name, case)) for case in grid.cases]
        arms.append(_arm(grid, arm, judged))
        aspects += [(arm.name, aspect) for aspect in _aspects(figures, arm.name, judged)]
        rows += _by_task_type(figures, arm.name, judged)
        _stability(grid, figures, arm.name)
        _experts(figures, arm.name, judged)
    p = [aspect.p for _, aspect in aspects]
    adjusted = figures.add("adjusted", "holm", p=p)["adjusted"]
    alpha = grid.plan.alpha / PER_MILLE
    strictest = alpha / max(1, len(aspects))
    primary = PRIMARY.get(grid.plan.metric, ())
    findings = [
        _finding(arm, aspect, q, alpha, strictest, primary=aspect.name in primary)
        for (arm, aspect), q in zip(aspects, adjusted, strict=True)
    ]
    return arms, findings, rows


def _finding(arm: str, aspect: Aspect, adjusted: float, alpha: float, strictest: float, *, primary: bool) -> Finding:
    """What an aspect came to; the pull that it would have shown is that at the strictest step of the adjustment."""
    about, ids = (arm, aspect.name), (aspect.figure, "adjusted")
    if aspect.decided < FEWEST:
        return Finding(
            "pull", about, "notEnough", ids, ("tooFewCases" if aspect.decided else "noCases",), None, primary
        )
    if adjusted <= alpha:
        return Finding("pull", about, "tilt", ids, primary=primary)
    return Finding("pull", about, "noneSeen", ids, ("pAboveAlpha",), aspect.visible(strictest), primary)


def _arm(grid: Grid[PairScore], arm: Arm, judged: Sequence[Judged]) -> ArmShown:
    scored = grid.scored(arm.name)
    runs = [Judged(case, run) for case in grid.cases for run in grid.runs(arm.name, case)]
    return ArmShown(
        name=arm.name,
        does=arm.does,
        debates=count(run.missing for run in runs),
        items=count(one.missing for one in judged),
        right=sum(one.right for one in judged),
        charge=sum(score.run.charge for score in scored),
        attempts=sum(score.run.attempts for score in scored),
        unusable=sum(score.run.unusable for score in scored),
        fallbacks=sum(score.run.fallbacks for score in scored),
        models=models_of(scored),
        prompts=prompts_of(scored),
    )


# The aspects.


def _aspects(figures: Figures, arm: str, judged: Sequence[Judged]) -> list[Aspect]:
    features = [feature for feature in FEATURES if any(one.case.feature == feature for one in judged)]
    return [
        _position(figures, arm, judged),
        _side(figures, arm, judged),
        *(_feature(figures, arm, feature, judged) for feature in features),
    ]


def _position(figures: Figures, arm: str, judged: Sequence[Judged]) -> Aspect:
    """Pairs of orders in which both were answered; a case without a second order is not among them."""
    slots = [
        [one.score.slot, one.score.swapped_slot]
        for one in judged
        if one.score is not None and one.score.slot is not None and one.score.swapped_slot is not None
    ]
    found = figures.add(f"position/{arm}", "order_swaps", pairs=slots)
    decided = sum("none" not in pair for pair in slots)
    return Aspect("position", f"position/{arm}", found["p"], decided, lambda alpha: fewest_same(alpha, decided))


def fewest_same(alpha: float, n: int) -> float | None:
    """The smallest share of cases that, all pulled to one place, the exact test would have shown."""
    fewest = next((k for k in range(1, n + 1) if compute("binomial", {"k": k, "n": k})["p"] <= alpha), None)
    return fewest / n if fewest else None


def _side(figures: Figures, arm: str, judged: Sequence[Judged]) -> Aspect:
    said = Counter(one.score.conclusion for one in judged if one.score is not None)
    proposer, critic, ties = said["upheld"], said["rejected"], said["modified"]
    found = figures.add(f"side/{arm}", "tilt", first=proposer, second=critic, ties=ties)
    decided = proposer + critic
    return Aspect("side", f"side/{arm}", found["p"], decided, lambda alpha: smallest_share(alpha, decided))


def smallest_share(alpha: float, n: int) -> float | None:
    """The smallest true share for one side, in whole per cent, with a power of 80 %."""
    low, high = 50, 101
    while low < high:
        middle = (low + high) // 2
        power = compute("binomial_power", {"n": n, "p": middle / 100, "alpha": alpha})["power"]
        low, high = (low, middle) if power >= VISIBLE_AT else (middle + 1, high)
    return low / 100 if low <= 100 else None


def _feature(figures: Figures, arm: str, feature: str, judged: Sequence[Judged]) -> Aspect:
    """Judged right where the side with the feature is right, against where the other one is; a missing one is not."""
    of = [one for one in judged if one.case.feature == feature]
    with_it = [one for one in of if _favoured(one.case)]
    without = [one for one in of if not _favoured(one.case)]
    rates = [[sum(one.right for one in group), len(group)] for group in (with_it, without)]
    id_ = f"preference/{arm}/{feature}"
    found = figures.add(id_, "preference", favoured_right=rates[0], other_right=rates[1])
    widest = max(abs(found["low"]), abs(found["high"])) if min(len(with_it), len(without)) else None
    decided = len(of) if with_it and without else 0
    return Aspect(feature, id_, found["p"], decided, lambda _: widest)


def _favoured(case: Case) -> bool:
    """Whether the side that is right has the feature."""
    return (case.answer == "upheld") == (case.favours == "proposer")


# What explains and decides nothing.


def _stability(grid: Grid[PairScore], figures: Figures, arm: str) -> None:
    """Cases that had the same conclusion in every run, of all; a missing run is not the same."""
    if grid.plan.repeats == 1:
        return
    same = 0
    for case in grid.cases:
        said = {run.conclusion if run else None for run in grid.runs(arm, case)}
        same += len(said) == 1 and None not in said
    figures.add(f"stability/{arm}", "wilson", k=same, n=len(grid.cases))


def _experts(figures: Figures, arm: str, judged: Sequence[Judged]) -> None:
    """Agreement with experts; labels by construction are no experts' judgement, and give no figure."""
    marked = [
        [one.score.conclusion, one.case.answer]
        for one in judged
        if one.case.basis == "expert" and one.score is not None and one.score.conclusion is not None
    ]
    if marked:
        figures.add(f"experts/{arm}", "kappa", pairs=marked)


def _by_task_type(figures: Figures, arm: str, judged: Sequence[Judged]) -> list[Row]:
    """Sides by task type: exploratory, adjusted by Benjamini and Hochberg."""
    types = sorted({one.case.task_type for one in judged})
    if len(types) < 2:
        return []
    found = []
    for task_type in types:
        said = Counter(o.score.conclusion for o in judged if o.score is not None and o.case.task_type == task_type)
        sides = {"first": said["upheld"], "second": said["rejected"], "ties": said["modified"]}
        output = figures.add(f"side/{arm}/{task_type}", "tilt", **sides)
        found.append((task_type, sides, output["p"]))
    adjusted = figures.add(f"side/{arm}/byTaskType", "benjamini_hochberg", p=[p for _, _, p in found])["adjusted"]
    return [
        Row("sidesByTaskType", {"arm": arm, "taskType": task_type, **sides, "p": p, "adjusted": q})
        for (task_type, sides, p), q in zip(found, adjusted, strict=True)
    ]
