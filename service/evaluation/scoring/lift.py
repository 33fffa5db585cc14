"""Whether one arm agrees with the labels in more items than another.

an item's answer      the majority of its repeats; a tie is none
missing, unreadable   wrong, and counted apart by reason
a comparison          better or worse only where p (adjusted over all comparisons), interval, margin, missing answers
                      and groups all agree (`lift`); anything else is inconclusive, with every reason
a sequence            p is that of `sign_sequence`, which holds at every look, in the plan's own order of items
equal spend           the ratio of what was charged; outside 0.9 to 1.1 nothing is said about equal spend
by task type          explains and decides nothing; adjusted by Benjamini and Hochberg, and named exploratory
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.evaluation.plan.model import PER_MILLE, Arm, Comparison
from service.evaluation.scoring.cases import Case
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.grid import NOT_SCORED, Grid, count, models_of, prompts_of
from service.evaluation.scoring.result import ArmShown, Because, Finding, Row
from service.evaluation.scoring.scores import QuestionScore
from service.evaluation.statistics import compute

TIED = "repeatsTied"
"""Why an item has no answer where its repeats gave several and none leads."""

Right = int | None
"""1 right, 0 wrong, ``None`` missing."""


class Answer(NamedTuple):
    """An item's answer in an arm: whether it is right, and why it is missing if it is."""

    right: Right
    missing: str | None


def conclude_lift(
    grid: Grid[QuestionScore], figures: Figures, visible: float | None
) -> tuple[list[ArmShown], list[Finding], list[Row]]:
    """Arms, findings and tables of a lift; its statistics go to ``figures``.

    ``visible`` is the smallest net difference (a share) that these items would have shown.
    """
    answers = {arm.name: [_answer(grid, arm.name, case) for case in grid.cases] for arm in grid.plan.arms}
    arms = [_arm(grid, arm, answers[arm.name]) for arm in grid.plan.arms]
    for arm in arms:
        figures.add(f"agreement/{arm.name}", "wilson", k=arm.right or 0, n=arm.items.asked)
    findings = _compare(grid, figures, answers, visible)
    rows = _by_task_type(grid, figures, answers)
    _spend(grid, figures, {arm.name: arm for arm in arms})
    return arms, findings, rows


def _answer(grid: Grid[QuestionScore], arm: str, case: Case) -> Answer:
    runs = grid.runs(arm, case)
    votes = [run.answer if run else None for run in runs]
    given = compute("majority", {"votes": votes})["answer"] if len(votes) > 1 else votes[0]
    if given is not None:
        return Answer(int(given == case.answer), None)
    reasons = [run.why_none or "" if run else NOT_SCORED for run, vote in zip(runs, votes, strict=True) if vote is None]
    several = any(vote is not None for vote in votes)
    return Answer(None, TIED if several else Counter(reasons).most_common(1)[0][0])


def _arm(grid: Grid[QuestionScore], arm: Arm, answers: Sequence[Answer]) -> ArmShown:
    scored = grid.scored(arm.name)
    runs = [run for case in grid.cases for run in grid.runs(arm.name, case)]
    return ArmShown(
        name=arm.name,
        does=arm.does,
        debates=count(run.why_none if run else NOT_SCORED for run in runs),
        items=count(answer.missing for answer in answers),
        right=sum(answer.right or 0 for answer in answers),
        charge=sum(score.run.charge for score in scored),
        attempts=sum(score.run.attempts for score in scored),
        unusable=sum(score.run.unusable for score in scored),
        fallbacks=sum(score.run.fallbacks for score in scored),
        models=models_of(scored),
        prompts=prompts_of(scored),
    )


# Comparisons.


def _compare(
    grid: Grid[QuestionScore], figures: Figures, answers: Mapping[str, list[Answer]], visible: float | None
) -> list[Finding]:
    comparisons = grid.plan.comparisons
    p = [_p_value(grid, figures, one, answers) for one in comparisons]
    adjusted = figures.add("adjusted", "holm", p=p)["adjusted"] if comparisons else []
    findings = (_finding(grid, figures, one, answers, adjusted[i]) for i, one in enumerate(comparisons))
    return [
        replace(found, primary=i == 0, visible=visible if found.outcome == "inconclusive" else None)
        for i, found in enumerate(findings)
    ]


def name_of(comparison: Comparison) -> str:
    """The name of a comparison in the ids of its figures."""
    return f"{comparison.first}-{comparison.second}"


def _pairs(comparison: Comparison, answers: Mapping[str, list[Answer]]) -> list[tuple[Right, Right]]:
    both = zip(answers[comparison.first], answers[comparison.second], strict=True)
    return [(first.right, second.right) for first, second in both]


def _p_value(
    grid: Grid[QuestionScore], figures: Figures, comparison: Comparison, answers: Mapping[str, list[Answer]]
) -> float:
    pairs, name = _pairs(comparison, answers), name_of(comparison)
    signs = [(first or 0) - (second or 0) for first, second in pairs]
    exact = figures.add(f"mcnemar/{name}", "mcnemar", b=signs.count(1), c=signs.count(-1))
    if grid.plan.stopping == "fixed":
        return float(exact["p"])
    order = sorted(range(len(pairs)), key=lambda i: grid.place(grid.cases[i]))
    ordered = figures.add(f"sequence/{name}", "sign_sequence", pairs=[signs[i] for i in order])
    return float(ordered["p"])


def _finding(
    grid: Grid[QuestionScore],
    figures: Figures,
    comparison: Comparison,
    answers: Mapping[str, list[Answer]],
    adjusted: float,
) -> Finding:
    plan, name = grid.plan, name_of(comparison)
    pairs = _pairs(comparison, answers)
    table = Counter((first or 0, second or 0) for first, second in pairs)
    figures.add(
        f"difference/{name}",
        "paired_difference",
        both=table[1, 1],
        first=table[1, 0],
        second=table[0, 1],
        neither=table[0, 0],
        level=1 - plan.alpha / PER_MILLE,
    )
    given: dict[str, Any] = {
        "items": [list(pair) for pair in pairs],
        "margin": plan.margin / PER_MILLE,
        "alpha": plan.alpha / PER_MILLE,
        "adjusted": adjusted,
        "missing_limit": plan.missing_limit / PER_MILLE,
        "seed": plan.seed,
    }
    if plan.groups == "whole":
        given["groups"] = [f"{case.set_}/{case.group}" for case in grid.cases]
    found = figures.add(f"lift/{name}", "lift", **given)
    outcome = found["finding"]
    return Finding(
        question="lift",
        about=(comparison.first, comparison.second),
        outcome=outcome,
        figures=(f"lift/{name}", f"difference/{name}", f"mcnemar/{name}"),
        because=() if outcome != "inconclusive" else _reasons(found, given),
    )


def _reasons(found: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[Because, ...]:
    """Every condition of a finding that does not hold; what is left then is the groups'."""
    if found["n"] == 0:
        return ("noCases",)
    difference = found["difference"] or 0.0
    facts: dict[Because, bool] = {
        "nothingDiffers": found["firstAlone"] == found["secondAlone"] == 0,
        "pAboveAlpha": given["adjusted"] > given["alpha"],
        "intervalHoldsZero": found["low"] <= 0 <= found["high"],
        "belowMargin": abs(difference) < given["margin"],
        "missingAboveLimit": max(found["missing"]) > given["missing_limit"] * found["n"],
    }
    return tuple(why for why, holds in facts.items() if holds) or ("groupsDisagree",)


# What explains and decides nothing.


def _by_task_type(grid: Grid[QuestionScore], figures: Figures, answers: Mapping[str, list[Answer]]) -> list[Row]:
    types = sorted({case.task_type for case in grid.cases})
    if len(types) < 2:
        return []
    rows: list[dict[str, Any]] = []
    for comparison in grid.plan.comparisons:
        pairs, name = _pairs(comparison, answers), name_of(comparison)
        for task_type in types:
            of = [pair for pair, case in zip(pairs, grid.cases, strict=True) if case.task_type == task_type]
            table = Counter((first or 0, second or 0) for first, second in of)
            cells = {"both": table[1, 1], "first": table[1, 0], "second": table[0, 1], "neither": table[0, 0]}
            found = figures.add(f"byTaskType/{name}/{task_type}", "paired_difference", **cells)
            exact = figures.add(f"byTaskType/p/{name}/{task_type}", "mcnemar", b=table[1, 0], c=table[0, 1])
            placed = {"comparison": name, "taskType": task_type}
            rows.append({**placed, **cells, **_interval(found), "n": len(of), "p": exact["p"]})
    adjusted = figures.add("byTaskType", "benjamini_hochberg", p=[row["p"] for row in rows])["adjusted"]
    return [Row("byTaskType", {**row, "adjusted": q}) for row, q in zip(rows, adjusted, strict=True)]


def _interval(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("difference", "low", "high")}


def _spend(grid: Grid[QuestionScore], figures: Figures, arms: Mapping[str, ArmShown]) -> None:
    """Real spend by the debate's, for each comparison of a debate with another arm."""
    for comparison in grid.plan.comparisons:
        first, second = arms[comparison.first], arms[comparison.second]
        if first.does == "debate" and first.charge > 0:
            spent = {"debate": first.charge, second.name: second.charge}
            figures.add(f"spend/{name_of(comparison)}", "equal_spend", spent_micro_usd=spent)
