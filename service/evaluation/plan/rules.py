"""What must agree between the parts of a plan, and with what is around it. Each rule passes over what is wrong already.

sets        are at hand, of the plan's kind, in the version and with the hash that the plan names, with items
held        a held split needs the role `validator`; a worn one supports no claim, so the plan must be exploratory
ids         no item of one set has the id of an item of another
groups      items that share a group are counted as one, or the plan must be exploratory
arms        a lift has at least two; a comparison names two of them
effect      shares that are possible, and differ
sequence    only where two arms are compared item by item
ceiling     pays for what is expected
power       below one half for the plan's own effect, the plan must be exploratory
"""

from __future__ import annotations

from service.debate.amounts import usd
from service.errors import GainsayError, did_you_mean
from service.evaluation.plan.around import SET_KINDS, Around, SetFacts
from service.evaluation.plan.model import Plan, PlannedSet
from service.evaluation.plan.power import LEAST_POWER, own_power, planned_units, shares_groups
from service.evaluation.plan.tables import Noted, Path, shown

_EXPLORATORY: Path = ("plan", "exploratory")
_GIVE = (
    "a set of your own is given with --sets FOLDER, to a service in GAINSAY_EVALUATION_SETS of the process that answers"
)
_SAY = "write exploratory = true, or"


def check_plan(plan: Plan, around: Around, noted: Noted) -> None:
    """Note where a plan contradicts itself, or what is around it."""
    for i, planned in enumerate(plan.sets):
        _check_set(plan, planned, ("sets", i), around, noted)
    _check_ids(plan, around, noted)
    _check_arms(plan, noted)
    _check_effect(plan, noted)
    if plan.stopping == "sequence" and plan.kind != "lift" and noted.sound(("plan", "kind")):
        noted.note(("plan", "stopping"), f"a sequence compares two arms, and a plan of the kind {plan.kind} has none")
    _check_power(plan, around, noted)
    _check_ceiling(plan, around, noted)


def _check_set(plan: Plan, planned: PlannedSet, at: Path, around: Around, noted: Noted) -> None:
    if not planned.id or not noted.sound((*at, "id")):
        return
    found = around.sets.get(planned.id)
    if found is None:
        known = did_you_mean(planned.id, around.sets) or f"; there are {', '.join(sorted(around.sets)) or 'none'}"
        noted.note((*at, "id"), f"there is no set {shown(planned.id)} at hand here{known}; {_GIVE}")
        return
    if found.version != planned.version and noted.sound((*at, "version")):
        noted.note((*at, "version"), f"expected version {found.version} of {planned.id}, found {planned.version}")
    if found.sha256 != planned.sha256 and noted.sound((*at, "sha256")):
        noted.note((*at, "sha256"), f"the files of {planned.id} have the hash {found.sha256}, the plan names another")
    if found.kind != SET_KINDS[plan.kind] and noted.sound(("plan", "kind")):
        asks = f"a plan of the kind {plan.kind} asks sets of {SET_KINDS[plan.kind]}"
        noted.note((*at, "id"), f"{asks}, and this one is of {found.kind}")
    _check_split(plan, planned, found, at, around, noted)


def _check_ids(plan: Plan, around: Around, noted: Noted) -> None:
    """Seeds and keys of debates name items by their ids alone, so no two sets of a plan may share one."""
    named = dict[str, str]()
    for i, planned in enumerate(plan.sets):
        items = around.sets[planned.id].of(planned.split) if planned.id in around.sets else ()
        twice = [item.id for item in items if named.setdefault(item.id, planned.id) != planned.id]
        if twice and noted.sound(("sets", i)):
            noted.note(("sets", i, "id"), f"{named[twice[0]]} has the item {shown(twice[0])} too; use another plan")


def _check_split(plan: Plan, planned: PlannedSet, found: SetFacts, at: Path, around: Around, noted: Noted) -> None:
    if not noted.sound((*at, "split")):
        return
    items = found.of(planned.split)
    if planned.split == "held" and not around.may_hold:
        noted.note((*at, "split"), "the split held is for callers with the role validator; ask one, or take open")
    if not items:
        noted.note((*at, "split"), f"the split {planned.split} of {planned.id} has no item")
    if found.worn and planned.split == "held" and not plan.exploratory:
        noted.note(_EXPLORATORY, f"the split held of {planned.id} is worn and supports no claim; {_SAY} take a new set")
    if shares_groups(items) and plan.kind == "lift" and plan.groups == "single" and noted.sound(("plan", "groups")):
        noted.note(("plan", "groups"), f'items of {planned.id} share groups; write groups = "whole"')


def _check_arms(plan: Plan, noted: Noted) -> None:
    if plan.kind == "lift" and len(plan.arms) == 1 and noted.sound(("arms",)):
        noted.note(("arms",), "a lift compares at least two arms, found one; add an arm, such as a vote")


def _check_effect(plan: Plan, noted: Noted) -> None:
    if not noted.sound(("effect",), ("plan", "kind")):
        return
    effect = plan.effect
    if effect.gain is not None and effect.loss is not None:
        if effect.gain + effect.loss > 1_000:
            noted.note(("effect",), "gain and loss are shares of all items and come to at most 1 together")
        elif effect.gain <= effect.loss:
            noted.note(("effect", "gain"), "expected a gain above the loss; swap the arms of the primary comparison")
        elif noted.sound(("plan", "margin")) and effect.gain - effect.loss < plan.margin and not plan.exploratory:
            noted.note(("effect", "gain"), f"gain less loss does not reach the plan's margin; {_SAY} lower the margin")
    if effect.hits is not None and effect.alarms is not None and effect.hits <= effect.alarms:
        noted.note(("effect", "hits"), "expected hits above alarms")
    if effect.share is not None and effect.share <= 500:
        noted.note(("effect", "share"), "expected a share above 0.5: that of the side which is favoured")


def _check_power(plan: Plan, around: Around, noted: Noted) -> None:
    parts: tuple[Path, ...] = (("sets",), ("effect",), ("comparisons",), ("plan", "alpha"), ("plan", "kind"))
    if plan.exploratory or not noted.sound(*parts, ("plan", "groups"), _EXPLORATORY):
        return
    power = own_power(plan, planned_units(plan, around))
    if power < LEAST_POWER:
        noted.note(
            _EXPLORATORY,
            f"the plan would see its own effect in {power:.0%} of runs, below {LEAST_POWER:.0%}; {_SAY} ask more items",
        )


def _check_ceiling(plan: Plan, around: Around, noted: Noted) -> None:
    if not noted.sound(("sets",), ("arms",), ("models",), ("plan", "repeats")):
        return
    expected = 0
    for i, arm in enumerate(plan.arms):
        try:
            expected += around.quote(plan, arm).expected
        except GainsayError as error:
            noted.note(("arms", i), f"the arm cannot be asked: {error.detail}")
    if plan.ceiling < expected and noted.sound(("arms",), ("plan", "ceiling_usd")):
        noted.note(
            ("plan", "ceiling_usd"),
            f"the plan is expected to cost {usd(expected)} US dollars, and its ceiling is {usd(plan.ceiling)}; "
            "raise the ceiling, or ask fewer items",
        )
