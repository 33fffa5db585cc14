"""What a report says in words: every sentence follows from a finding, a count or the provenance, and from nothing else.

    finding        the set or sets, n, the numbers with their interval, and what the rules make of them
    standing       what makes a result exploratory; it then supports no claim
    excluded       nothing is left out; what is missing, by reason
    power          what these items could have shown
    notShown       what does not follow
    provenance     who labelled the sets and how, which look it is, who may have seen them
    simulated      on each page, where a simulated model took part

No sentence holds a word of `refused_words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from service.evaluation.plan.model import PER_MILLE, Effect
from service.evaluation.plan.power import FEWEST
from service.evaluation.scoring.cases import SetShown
from service.evaluation.scoring.release import SHIPPED
from service.evaluation.scoring.result import ArmShown, Finding, Result, Sentence
from service.evaluation.scoring.written import (
    ASPECT,
    BECAUSE,
    EXPLORATORY,
    FAMILY,
    LIMIT,
    MISSING,
    interval,
    number,
    ordinal,
    p_value,
    per_cent,
    points,
)

SIMULATED = "Simulated models: these figures show that the measuring works. They say nothing about any language model."
NOT_SHOWN = {
    "lift": (
        "It does not show how often an answer is right on other questions, other documents or other task types.",
        "The labels are taken as given: a wrong label counts against every arm.",
    ),
    "critic": (
        "It does not show how many of the errors in real documents a critic finds: these flaws were planted.",
        "A point counts by the argument that it names and the passage or value that it gives, not by its reasoning.",
    ),
    "moderator": (
        "It does not show that nothing else pulls the moderator, nor how it concludes on real cases.",
        "Sides of unlike strength tilt an even judge too: only orders and crossed pairs separate a pull from a reason.",
    ),
}


def sentences_of(result: Result) -> tuple[Sentence, ...]:
    """Every sentence that a report of this result may show."""
    return tuple(_sentences(result))


def _sentences(r: Result) -> Iterator[Sentence]:
    if r.simulated:
        yield Sentence("simulated", SIMULATED)
    yield from (Sentence("standing", text) for text in _standing(r))
    for finding in r.findings:
        yield from (Sentence("finding", text) for text in _found(r, finding))
    yield from (Sentence("excluded", text) for text in _excluded(r))
    yield from (Sentence("power", text) for text in _power(r))
    yield from (Sentence("notShown", text) for text in NOT_SHOWN[r.kind])
    yield from (Sentence("provenance", text) for text in _provenance(r))


def _standing(r: Result) -> Iterator[str]:
    if r.standing == "exploratory":
        reasons = "; ".join(EXPLORATORY[why] for why in r.why_exploratory)
        yield f"This result is exploratory and supports no claim: {reasons}."
    else:
        yield "The plan was registered beforehand, and was not changed."
    if r.stopped is not None:
        yield f"The evaluation was stopped before its end: {r.stopped.rstrip('.')}."
    if stricter := _stricter(r):
        yield f"Policy sets stricter limits of a release than the shipped ones: {'; '.join(stricter)}."


def _stricter(r: Result) -> list[str]:
    """The limits of a critic's release that policy set stricter, each beside the shipped one."""
    return [
        f"{words} {row.cells[name]:g}, shipped {getattr(SHIPPED, name):g}"
        for row in r.table("limits")
        for name, words in LIMIT.items()
        if row.cells[name] != getattr(SHIPPED, name)
    ]


def sets_named(r: Result) -> str:
    """The sets with version, split and who labelled them, as a sentence has to name them."""
    alike: dict[tuple[str, str], list[SetShown]] = {}
    for one in r.sets:
        alike.setdefault((one.split, one.provenance), []).append(one)
    return "; ".join(
        f"{', '.join(f'{s.id} v{s.version}' for s in sets)}, split {split} ({sum(s.items for s in sets)} items, {by})"
        for (split, by), sets in alike.items()
    )


def _found(r: Result, finding: Finding) -> Iterator[str]:
    match finding.question:
        case "lift":
            yield from _lift(r, finding)
        case "release":
            yield from _release(r, finding)
        case "releaseAll":
            yield _release_all(r, finding)
        case "family":
            yield _family(r, finding)
        case _:
            yield _pull(r, finding)


# Lift.


def _lift(r: Result, finding: Finding) -> Iterator[str]:
    first, second = (next(arm for arm in r.arms if arm.name == name) for name in finding.about)
    lift, apart = (r.figure(id_).output for id_ in finding.figures[:2])
    if lift["n"] == 0:
        yield f"No item was asked, so nothing is said of the arms {first.name} and {second.name}."
        return
    yield (
        f"On {sets_named(r)}, under plan {r.plan[:12]}, the arm {first.name} agreed with the labels in "
        f"{first.right} of {first.items.asked} items, {_other(r, first, second)} in {second.right}; difference "
        f"{points(apart['difference'])} {_shown_by(r, finding, lift, apart)}."
    )
    yield _verdict(r, finding)
    spend = r.find(f"spend/{'-'.join(finding.about)}")
    if spend is not None and second.does == "vote" and not spend.output["equal"]:
        yield f"The two arms did not spend alike ({_ratio(r, finding)}), so nothing is said about equal spend."


def _shown_by(r: Result, finding: Finding, lift: Mapping[str, Any], apart: Mapping[str, Any]) -> str:
    """Interval, p and n of a difference: of whole groups where items share some, since single items would overstate."""
    whole = lift["groups"]
    if whole is None:
        limits = interval(apart["low"], apart["high"], signed=True)
        return f"({limits}, {_level(r)}), {p_value(_adjusted(r, finding))} after correction, n = {lift['n']}"
    limits = interval(whole["low"], whole["high"], signed=True) + f", {_level(r)}, by whole groups"
    shown = "one group gives no interval" if whole["low"] is None else limits
    groups = f"{whole['n']} group{'s' if whole['n'] != 1 else ''}"
    return f"({shown}), {p_value(whole['p'])} by whole groups, n = {lift['n']} items in {groups}"


def _level(r: Result) -> str:
    return f"{(1 - r.alpha) * 100:g} %"


def _other(r: Result, first: ArmShown, second: ArmShown) -> str:
    spend = r.find(f"spend/{first.name}-{second.name}")
    equal = spend is not None and spend.output["equal"]
    spent = " of equal spend" if second.does == "vote" and equal else ""
    return f"the arm {second.name}{spent}"


def _ratio(r: Result, finding: Finding) -> str:
    ratios = r.figure(f"spend/{'-'.join(finding.about)}").output["ratios"]
    other = ratios[finding.about[1]]
    return f"{finding.about[1]} charged {number(other)} times what {finding.about[0]} did"


def _adjusted(r: Result, finding: Finding) -> float:
    return float(r.figure(finding.figures[0]).input["adjusted"])


def _verdict(r: Result, finding: Finding) -> str:
    first, second = finding.about
    if finding.outcome in ("better", "worse"):
        if r.standing == "exploratory":
            return "Every rule for a difference holds on these items; an exploratory result claims none."
        more, fewer = (first, second) if finding.outcome == "better" else (second, first)
        return f"By the registered rules, the arm {more} agreed with these labels in more items than the arm {fewer}."
    reasons = "; ".join(BECAUSE[why] for why in finding.because)
    if not {"nothingDiffers", "pAboveAlpha", "intervalHoldsZero"} & set(finding.because):
        return f"Not every rule for a difference holds, so nothing is concluded: {reasons}."
    if finding.visible is None:
        return f"No difference was shown; with so few items none could have been seen. Why: {reasons}."
    seen = points(finding.visible).lstrip("+")
    return f"No difference was shown; differences under {seen} could not have been seen. Why: {reasons}."


# Critics.


def _release(r: Result, finding: Finding) -> Iterator[str]:
    arm, task_type = finding.about
    hits, alarms = (r.figure(f"{name}/{arm}/{task_type}") for name in ("hits", "alarms"))
    if "noCases" in finding.because:
        yield f"In {task_type}, flawed proposals or their sound twins are missing, so the release stops there."
        return
    low = r.figure(f"hitBound/{arm}/{task_type}").output["bound"]
    high = r.figure(f"alarmBound/{arm}/{task_type}").output["bound"]
    sets = "; ".join(f"{s.id} v{s.version}, {s.provenance}" for s in r.sets if s.task_type == task_type)
    yield (
        f"In {task_type} ({sets}), the critic of the arm {arm} found {hits.input['k']} of {hits.input['n']} planted "
        f"flaws (at least {per_cent(low)}, one-sided 95 %) and raised {alarms.input['k']} false alarms on "
        f"{alarms.input['n']} sound twins (at most {per_cent(high)})."
    )
    if finding.outcome == "stops":
        reasons = "; ".join(BECAUSE[why] for why in finding.because)
        yield f"The release stops in {task_type}: {reasons}."
    elif r.standing == "exploratory":
        yield f"The rules of a release hold in {task_type}; an exploratory result releases nothing."
    else:
        yield f"By the rules of a release the critic passes in {task_type}."


def _release_all(r: Result, finding: Finding) -> str:
    (arm,) = finding.about
    if finding.outcome == "stops":
        return (
            f"The release of the critic of the arm {arm} stops: {'; '.join(BECAUSE[why] for why in finding.because)}."
        )
    if r.standing == "exploratory":
        return f"Every rule of a release holds for the arm {arm}; an exploratory result releases nothing."
    return f"By the rules of a release the critic of the arm {arm} passes in each task type, with no family missed."


def _family(r: Result, finding: Finding) -> str:
    arm, family = finding.about
    hits, bound = (r.figure(f"{name}/{arm}/{family}") for name in ("familyHits", "familyBound"))
    return (
        f"Blind spot: of {hits.input['n']} planted flaws of the family {FAMILY.get(family, family)}, the critic of the "
        f"arm {arm} found {hits.input['k']} (at most {per_cent(bound.output['bound'])}, one-sided 95 %)."
    )


# Moderators.


def _pull(r: Result, finding: Finding) -> str:
    arm, aspect = finding.about
    figure, what = r.figure(finding.figures[0]), ASPECT.get(aspect, aspect)
    counts = _counted(aspect, dict(figure.output), figure.input)
    if "noCases" in finding.because:
        return f"No case is decided, so nothing is said of a pull of the arm {arm} to {what}."
    if finding.outcome == "notEnough":
        return (
            f"Too few cases are decided to say anything of a pull of the arm {arm} to {what}: {counts}; 23 are needed."
        )
    if finding.outcome == "tilt":
        held = "" if r.standing == "registered" else " An exploratory result claims nothing of it."
        return f"The moderator of the arm {arm} is pulled to {what} on these cases: {counts}.{held}"
    if aspect in ("position", "side") and finding.visible is not None:
        limit = f"; one that moves under {per_cent(finding.visible)} of them to one side could not have been seen"
    elif finding.visible is not None:
        limit = f"; one of up to {points(finding.visible).lstrip('+')} is not excluded"
    else:
        limit = "; with so few cases none could have been seen"
    return f"No pull of the arm {arm} to {what} was seen: {counts}{limit}."


def _counted(aspect: str, output: dict[str, object], given: dict[str, object]) -> str:
    """The counts behind an aspect, in words."""
    if aspect == "position":
        n, same = output["n"], output["consistent"]
        changed = int(str(n)) - int(str(same))
        return (
            f"order changed the answer in {changed} of {n} cases, with the first place favoured twice in "
            f"{output['firstTwice']} and the second in {output['secondTwice']} ({p_value(float(str(output['p'])))})"
        )
    if aspect == "side":
        return (
            f"{given['first']} for the proposition and {given['second']} against it, {given['ties']} in between left "
            f"out ({p_value(float(str(output['p'])))})"
        )
    (right, n), (other_right, other_n) = _rates(given["favoured_right"]), _rates(given["other_right"])
    return (
        f"it judged {right} of {n} cases right where that side was right, and {other_right} of {other_n} where the "
        f"other one was ({p_value(float(str(output['p'])))})"
    )


def _rates(given: object) -> tuple[int, int]:
    right, n = given if isinstance(given, list | tuple) else (0, 0)
    return int(right), int(n)


# What every result says.


def _excluded(r: Result) -> Iterator[str]:
    yield "Nothing was excluded: what is missing stays in every denominator and counts as wrong."
    for arm in r.arms:
        missing = "".join(f"; {n} because {MISSING.get(why, why)}" for why, n in arm.debates.missing.items())
        gone = arm.debates.asked - arm.debates.answered
        yield f"Arm {arm.name}: debates {arm.debates.asked}, answered {arm.debates.answered}, missing {gone}{missing}."
    if r.items < r.planned:
        yield f"The sequence ended at a look: {r.items} of {r.planned} items were asked."
    for one in r.sets:
        if one.retired:
            yield f"{one.id}: {one.retired} items of the set were retired before, each with its reason in set.toml."


def _power(r: Result) -> Iterator[str]:
    power = r.power
    if power.n == 0:
        yield "Nothing was asked, so nothing could have been seen."
        return
    for row in power.rows:
        needed = f"; {row.needed} would give 80 %" if row.needed is not None else ""
        yield (
            f"{_effect(row.effect).capitalize()} ({row.name}): {power.n} {power.counted} show it in "
            f"{per_cent(row.power)} of runs{needed}."
        )
    if r.kind == "moderator" and power.n < FEWEST:
        yield f"Under {FEWEST} cases nothing is said of a pull, however strong it is."
    elif power.visible is None:
        yield "No effect of this kind would be seen in 80 % of runs with so few."
    else:
        yield f"The smallest effect that is seen in 80 % of runs: {_effect(power.visible)}."


def _effect(effect: Effect) -> str:
    def share(per_mille: int | None) -> str:
        return per_cent((per_mille or 0) / PER_MILLE)

    if effect.loss is not None:
        return f"{share(effect.gain)} of items better and {share(effect.loss)} worse"
    if effect.alarms is not None:
        return f"a critic with {share(effect.hits)} hits and {share(effect.alarms)} false alarms"
    return f"a moderator that decides {share(effect.share)} of cases for one side"


def _provenance(r: Result) -> Iterator[str]:
    for one in r.sets:
        labels = f"{one.provenance}: {one.labelling.rstrip('.')}"
        yield f"{one.id} v{one.version} ({one.task_type}): {labels}. Licence: {one.licence.rstrip('.')}."
        if one.split == "held":
            yield f"This is the {ordinal(one.look)} look at the split held of {one.id}."
        if one.worn:
            yield f"{one.id} is worn by its looks and supports no claim."
        if one.maybe_seen:
            models = ", ".join(one.maybe_seen)
            unknown = f" The cutoff of these is unknown: {', '.join(one.unknown_cutoff)}." if one.unknown_cutoff else ""
            yield f"{one.id} was published on {one.published} and may have been seen in training by: {models}.{unknown}"
