"""Whether a critic may be released: hits of planted flaws and false alarms on their sound twins, by one rule.

a proposal's answer  yes where more than half of its runs say yes: a critique that is missing or unreadable says no,
                     which is a miss of a flaw and no alarm, and stays in the denominator
each task type       hits and alarms with exact intervals, d', twins, own ratings, unusable answers; passes or stops
each family          over all task types: a blind spot where the upper bound of its hits is too low
by code              flaws that the citation engine caught are counted apart and are never the critic's hits
whole debate         flawed proposals that were upheld, sound ones that were rejected
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from service.evaluation.plan.model import Arm
from service.evaluation.scoring.cases import Case
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.grid import NOT_SCORED, Grid, count, models_of, prompts_of
from service.evaluation.scoring.release import Limits, chances
from service.evaluation.scoring.result import ArmShown, Because, Finding, Row
from service.evaluation.scoring.scores import CriticScore

UNUSABLE = "noCritique"
"""Why an answer is missing where the debate has no readable critique."""
ALL = "all"
"""The name of all task types together in the ids of figures."""


class Tried(NamedTuple):
    """A proposal that a critic was tried on, with its runs; a run is ``None`` where the evaluation ended before it."""

    case: Case
    runs: tuple[CriticScore | None, ...]

    @property
    def missing(self) -> str | None:
        """Why there is no answer in any run, if there is none."""
        if any(run is not None and run.yes is not None for run in self.runs):
            return None
        return NOT_SCORED if all(run is None for run in self.runs) else UNUSABLE

    @property
    def yes(self) -> bool:
        """Whether more than half of the runs say yes."""
        return 2 * sum(run is not None and run.yes is True for run in self.runs) > len(self.runs)

    @property
    def by_code(self) -> bool:
        """Whether the citation engine itself struck the planted argument."""
        return any(run is not None and run.by_code for run in self.runs)

    @property
    def hit(self) -> bool:
        """A planted flaw that the critic found, and code did not."""
        return self.case.flawed and self.yes and not self.by_code

    @property
    def alarm(self) -> bool:
        """A sound proposal of which the critic said yes."""
        return not self.case.flawed and self.yes

    @property
    def rating(self) -> float | None:
        """The critic's mean rating of itself, 1 to 10, over the runs that have one."""
        given = [run.own_rating for run in self.runs if run is not None and run.own_rating is not None]
        return sum(given) / len(given) if given else None

    @property
    def concluded(self) -> frozenset[str]:
        """The conclusions of its whole debates."""
        return frozenset(run.conclusion for run in self.runs if run is not None and run.conclusion is not None)


def conclude_critic(
    grid: Grid[CriticScore], figures: Figures, limits: Limits
) -> tuple[list[ArmShown], list[Finding], list[Row]]:
    """Arms, findings and tables of a critic's trial; its statistics go to ``figures``."""
    arms: list[ArmShown] = []
    findings: list[Finding] = []
    rows: list[Row] = []
    for arm in grid.plan.arms:
        tried = [Tried(case, grid.runs(arm.name, case)) for case in grid.cases]
        arms.append(_arm(grid, arm, tried))
        found: list[Finding] = []
        for task_type in sorted({one.case.task_type for one in tried}):
            of = [one for one in tried if one.case.task_type == task_type]
            found.append(_release(figures, (arm.name, task_type), of, limits))
            rows.append(_counted(arm.name, task_type, of))
        _measure(figures, f"{arm.name}/{ALL}", tried)
        rows.append(_counted(arm.name, ALL, tried))
        spots = _families(figures, arm.name, tried, limits)
        findings += [_together(arm.name, [*found, *spots]), *spots, *found]
        rows += [_family_row(arm.name, family, of) for family, of in _by_family(tried)]
        _whole(figures, arm.name, tried)
    rows += [Row("limits", limits._asdict()), *chances(figures, limits, sizes(grid.cases))]
    return arms, findings, rows


def sizes(cases: Sequence[Case]) -> frozenset[tuple[int, int]]:
    """The numbers of flawed and of sound proposals that task types have."""
    counted = Counter((case.task_type, case.flawed) for case in cases)
    return frozenset((counted[name, True], counted[name, False]) for name, _ in counted)


def _arm(grid: Grid[CriticScore], arm: Arm, tried: Sequence[Tried]) -> ArmShown:
    scored = grid.scored(arm.name)
    runs = [run for one in tried for run in one.runs]
    return ArmShown(
        name=arm.name,
        does=arm.does,
        debates=count(NOT_SCORED if run is None else UNUSABLE if run.yes is None else None for run in runs),
        items=count(one.missing for one in tried),
        right=sum(one.hit if one.case.flawed else not one.yes and one.missing is None for one in tried),
        charge=sum(score.run.charge for score in scored),
        attempts=sum(score.run.attempts for score in scored),
        unusable=sum(score.run.unusable for score in scored),
        fallbacks=sum(score.run.fallbacks for score in scored),
        models=models_of(scored),
        prompts=prompts_of(scored),
    )


# The release rules, by task type.


def _release(figures: Figures, about: tuple[str, str], tried: Sequence[Tried], limits: Limits) -> Finding:
    """Whether a critic passes in a task type: every rule that stops it is named."""
    at = "/".join(about)
    n, hits, alarms = _measure(figures, at, tried)
    flawed, sound = n
    low = figures.add(f"hitBound/{at}", "one_sided_bound", k=hits, n=flawed, side="low")["bound"]
    high = figures.add(f"alarmBound/{at}", "one_sided_bound", k=alarms, n=sound, side="high")["bound"]
    mean = figures.output(f"rating/{at}")["mean"]
    unusable = sum(one.missing is not None for one in tried)
    stops: dict[Because, bool] = {
        "noCases": flawed == 0 or sound == 0,
        "hitsTooLow": low < limits.hits,
        "alarmsTooHigh": high > limits.alarms,
        "ratingTooLow": mean is None or mean <= limits.rating,
        "unusableTooMany": unusable > limits.unusable * len(tried),
    }
    because = tuple(why for why, holds in stops.items() if holds)
    return Finding(
        question="release",
        about=about,
        outcome="stops" if because else "passes",
        figures=tuple(f"{name}/{at}" for name in ("hitBound", "alarmBound", "detection", "twins", "rating")),
        because=because,
    )


def _together(arm: str, found: Sequence[Finding]) -> Finding:
    """Whether the critic passes in every task type without a blind spot; where nothing was tried it does not."""
    every: list[Because] = [why for one in found for why in one.because] if found else ["noCases"]
    because = tuple(dict.fromkeys(every))
    figures = tuple(id_ for one in found for id_ in one.figures[:1])
    return Finding("releaseAll", (arm,), "stops" if because else "passes", figures, because, primary=True)


def _measure(figures: Figures, at: str, tried: Sequence[Tried]) -> tuple[tuple[int, int], int, int]:
    """The figures of a group of proposals; returns (flawed, sound), hits and alarms."""
    flawed = [one for one in tried if one.case.flawed]
    sound = [one for one in tried if not one.case.flawed]
    hits, alarms = sum(one.hit for one in flawed), sum(one.alarm for one in sound)
    figures.add(f"hits/{at}", "clopper_pearson", k=hits, n=len(flawed))
    figures.add(f"alarms/{at}", "clopper_pearson", k=alarms, n=len(sound))
    figures.add(
        f"detection/{at}",
        "signal_detection",
        hits=hits,
        misses=len(flawed) - hits,
        false_alarms=alarms,
        correct_rejections=len(sound) - alarms,
    )
    twins = _twins(tried)
    figures.add(f"twins/{at}", "mcnemar", b=twins.count((True, False)), c=twins.count((False, True)))
    rated = [(rating, one.hit) for one in flawed if (rating := one.rating) is not None]
    ratings = [rating for one in tried if (rating := one.rating) is not None]
    figures.add(f"rating/{at}", "mean_t", values=ratings)
    figures.add(f"ratingAuroc/{at}", "auroc", p=[r / 10 for r, _ in rated], y=[int(hit) for _, hit in rated])
    return (len(flawed), len(sound)), hits, alarms


def _twins(tried: Sequence[Tried]) -> list[tuple[bool, bool]]:
    """Yes of the flawed twin and of the sound one, by pair."""
    said: dict[tuple[str, str], dict[bool, bool]] = {}
    for one in tried:
        yes = one.hit if one.case.flawed else one.alarm
        said.setdefault((one.case.set_, one.case.pair), {})[one.case.flawed] = yes
    return [(twins[True], twins[False]) for twins in said.values() if len(twins) == 2]


# Families, over all task types.


def _by_family(tried: Sequence[Tried]) -> list[tuple[str, list[Tried]]]:
    families = sorted({one.case.family for one in tried if one.case.family})
    return [(family, [one for one in tried if one.case.family == family]) for family in families]


def _families(figures: Figures, arm: str, tried: Sequence[Tried], limits: Limits) -> list[Finding]:
    """A finding for each family of which too few flaws were found; a family without a flaw is no finding."""
    findings = []
    for family, of in _by_family(tried):
        flawed = [one for one in of if one.case.flawed]
        hits, at = sum(one.hit for one in flawed), f"{arm}/{family}"
        figures.add(f"familyHits/{at}", "clopper_pearson", k=hits, n=len(flawed))
        figures.add(f"familyAlarms/{at}", "clopper_pearson", k=sum(o.alarm for o in of), n=len(of) - len(flawed))
        bound = figures.add(f"familyBound/{at}", "one_sided_bound", k=hits, n=len(flawed), side="high")["bound"]
        if flawed and bound <= limits.family:
            ids = (f"familyBound/{at}", f"familyHits/{at}")
            findings.append(Finding("family", (arm, family), "blindSpot", ids, ("familyMissed",)))
    return findings


def _family_row(arm: str, family: str, of: Sequence[Tried]) -> Row:
    return Row("families", {"arm": arm, "family": family, **_cells(of)})


# Tables.


def _counted(arm: str, task_type: str, tried: Sequence[Tried]) -> Row:
    runs = [run for one in tried for run in one.runs if run is not None]
    charge = sum(run.run.charge for run in runs)
    return Row(
        "critic",
        {
            "arm": arm,
            "taskType": task_type,
            **_cells(tried),
            "retries": sum(run.retries for run in runs),
            "weak": sum(bool(run.weak) for run in runs),
            "soft": sum(bool(run.soft) for run in runs),
            "runs": len(runs),
            "charge": charge,
        },
    )


def _cells(tried: Sequence[Tried]) -> dict[str, int]:
    """Counts that add up: flawed = hits + byCode + misses + unusableFlawed; sound = alarms + quiet + unusableSound."""
    flawed = [one for one in tried if one.case.flawed]
    sound = [one for one in tried if not one.case.flawed]
    missing = sum(one.missing is not None for one in flawed)
    by_code = sum(one.by_code and one.missing is None for one in flawed)
    hits, alarms = sum(one.hit for one in flawed), sum(one.alarm for one in sound)
    quiet_missing = sum(one.missing is not None for one in sound)
    return {
        "flawed": len(flawed),
        "hits": hits,
        "byCode": by_code,
        "misses": len(flawed) - hits - by_code - missing,
        "unusableFlawed": missing,
        "sound": len(sound),
        "alarms": alarms,
        "quiet": len(sound) - alarms - quiet_missing,
        "unusableSound": quiet_missing,
    }


def _whole(figures: Figures, arm: str, tried: Sequence[Tried]) -> None:
    """The whole debate's misses, where debates went on to a conclusion; without one the debate upheld nothing."""
    if not any(one.concluded for one in tried):
        return
    flawed = [one for one in tried if one.case.flawed]
    sound = [one for one in tried if not one.case.flawed]
    upheld, overturned = (
        sum(word in one.concluded for one in of) for word, of in (("upheld", flawed), ("rejected", sound))
    )
    figures.add(f"flawedUpheld/{arm}", "clopper_pearson", k=upheld, n=len(flawed))
    figures.add(f"soundOverturned/{arm}", "clopper_pearson", k=overturned, n=len(sound))
