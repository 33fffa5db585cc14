"""Plans and evaluations as lines, and how a command about one ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from service.cli import exit_codes
from service.cli.terminal_text import line
from service.debate.amounts import usd
from service.evaluation.plan.model import PER_MILLE, Effect, Plan, plan_members
from service.evaluation.plan.power import FEWEST, VISIBLE_POWER, Power

if TYPE_CHECKING:
    from service.audit.evaluation_events import ItemScored
    from service.evaluation.scoring.result import Result
    from service.evaluation.scoring.scores import Score
    from service.reviews.evaluations import Planned, Standing
    from service.store.evaluations import StoredEvaluation

NEGATIVE = frozenset({"worse", "stops", "blindSpot", "tilt"})
UNDECIDED = frozenset({"inconclusive", "notEnough"})


def plan_page(planned: Planned) -> str:
    """A plan before it is registered: what it asks, what it costs, and what it could see."""
    return "\n".join([*_asks(planned), *_costs(planned), *_power(planned.plan, planned.power)])


def _asks(planned: Planned) -> Iterator[str]:
    plan = planned.plan
    yield f"{line(plan.name)}: {line(plan.question)}"
    yield f"    plan {planned.hash}{', exploratory' if plan.exploratory else ''}"
    for asked in planned.sets:
        look = f", look {asked.looks + 1} at it" if asked.split == "held" else ""
        yield f"    set {line(asked.id)} v{asked.version}, {asked.split}: {len(asked.items)} items{look}"
    for comparison in plan.comparisons:
        yield f"    {line(comparison.first)} against {line(comparison.second)}"


def _costs(planned: Planned) -> Iterator[str]:
    for quoted in planned.quote:
        debates = sum(len(asked.items) for asked in planned.sets) * planned.plan.repeats
        yield (
            f"    arm {line(quoted.arm)}: {debates} debates, {usd(quoted.expected)} USD expected, "
            f"{usd(quoted.most)} USD at most for one"
        )
    expected = sum(quoted.expected for quoted in planned.quote)
    yield f"    expected {usd(expected)} USD of a ceiling of {usd(planned.plan.ceiling)} USD"


def _power(plan: Plan, power: Power) -> Iterator[str]:
    yield f"    power with {power.n} {power.counted}, alpha {power.alpha:g}:"
    for row in power.rows:
        needed = f"; {row.needed} would see it in {VISIBLE_POWER:.0%}" if row.needed is not None else ""
        yield f"        {row.name}: {_effect(row.effect)} is seen in {row.power:.0%} of runs{needed}"
    if plan.kind == "moderator" and power.n < FEWEST:
        yield f"        under {FEWEST} cases nothing is said of a pull: ask more items"
    elif power.visible is None:
        yield f"        no effect is seen in {VISIBLE_POWER:.0%} of runs: ask more items"
    else:
        yield f"        the smallest that is seen in {VISIBLE_POWER:.0%} of runs: {_effect(power.visible)}"
    if plan.stopping == "sequence":
        yield f"        looked at after every {plan.look_every} items; the figures are for all of them at once"


def _effect(effect: Effect) -> str:
    members = json.loads(msgspec.json.encode(effect))
    return ", ".join(f"{name} {share / PER_MILLE:g}" for name, share in members.items())


def plan_json(planned: Planned) -> dict[str, Any]:
    """The same as JSON."""
    found: dict[str, Any] = {
        "plan": plan_members(planned.plan),
        "planHash": planned.hash,
        "sets": msgspec.to_builtins(planned.sets),
        "quote": msgspec.to_builtins(planned.quote),
        "power": msgspec.to_builtins(planned.power),
    }
    return found


def progress(standing: Standing) -> str:
    """How far an evaluation is, in one line."""
    found, stored = standing.progress, standing.stored
    words = f"{len(found.scored)} of {len(found.units)} scored, {len(found.under_way)} under way"
    spent = f"{usd(found.spent)} of {usd(found.plan.ceiling)} USD"
    if stored.lost:
        state = "lost: its log has lost records, and nothing will ever prove its end; register the plan again"
    elif found.concluded is not None:
        state = f"concluded: {line(found.concluded.finding)}"
    elif found.stopped is not None:
        state = f"stopped by {found.stopped.by}: {line(found.stopped.why)}"
    else:
        state = f"waits: {line(stored.pause)}" if stored.pause else "under way"
    return f"evaluation {stored.evaluation} {state}; {words}, {spent}"


def page(standing: Standing, result: Result | None) -> str:
    """An evaluation: how far it is, and the sentences of its result by the parts that they belong to."""
    found = standing.progress
    rows = [
        f"{line(found.plan.name)}: {line(found.plan.question)}",
        f"    {progress(standing)}",
        f"    plan {found.registered.plan_hash}{', exploratory' if found.exploratory else ''}",
    ]
    if found.changed:
        rows.append("    the plan was changed after the first score")
    if result is not None:
        rows += [f"    {sentence.part}: {line(sentence.text)}" for sentence in result.sentences]
    return "\n".join(rows)


def items(rows: Sequence[tuple[ItemScored, Score]], *, repeats: int) -> str:
    """Items with what they came to, in the order in which they were scored."""
    return "\n".join(_item(entry, score, repeats) for entry, score in rows) or "nothing of this kind is scored"


def _item(entry: ItemScored, score: Score, repeats: int) -> str:
    from service.evaluation.scoring.scores import is_as_labelled

    nth = f" {entry.repeat} of {repeats}" if repeats > 1 else ""
    verdict = "as labelled" if is_as_labelled(score) else "not as labelled"
    place = f"{line(entry.set)} {line(entry.item)}  {line(entry.arm)}{nth}"
    return f"{place}  {verdict}: {_came_to(score)}  debate {entry.debate}"


def _came_to(score: Score) -> str:
    from service.evaluation.scoring.observed_types import NONE_IN_WORDS
    from service.evaluation.scoring.scores import CriticScore, PairScore

    match score:
        case CriticScore():
            said = {True: "the critic said yes", False: "the critic said no", None: "no readable critique"}[score.yes]
            caught = ", which code caught" if score.by_code else ""
            return f"{said} of a {'flawed' if score.flawed else 'sound'} proposal{caught}"
        case PairScore():
            reverse = "" if score.swapped is None else f", {score.swapped} in the reverse order"
            return f"{score.conclusion or 'no readable moderation'}{reverse}"
        case _:
            why = "" if score.why_none is None else f"no answer, {NONE_IN_WORDS[score.why_none]}"
            return f"answered {line(score.answer)}" if score.answer is not None else why


def listed(stored: Sequence[StoredEvaluation]) -> str:
    """The evaluations of a tenant, the newest first."""
    rows = [f"{one.evaluation}  {line(one.name)}  {_standing_of(one)}" for one in stored]
    return "\n".join(rows) or "there is no evaluation yet; `gainsay evaluate run PLAN` registers one"


def _standing_of(stored: StoredEvaluation) -> str:
    if stored.ended:
        return "lost" if stored.lost else "ended"
    return line(stored.pause or "under way")


def code_of(standing: Standing) -> int:
    """0 shown, 1 stopped or worse, 3 lost, 5 inconclusive."""
    found = standing.progress
    if standing.stored.lost:
        return exit_codes.FAILED
    if found.stopped is not None:
        return exit_codes.NEGATIVE
    finding = found.concluded.finding if found.concluded else ""
    if finding in NEGATIVE:
        return exit_codes.NEGATIVE
    return exit_codes.INCONCLUSIVE if finding in UNDECIDED else exit_codes.DONE
