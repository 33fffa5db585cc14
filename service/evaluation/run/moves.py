"""The next move of an evaluation, from its entries and from what is seen outside.

    a set that is registered is gone, or has another hash      Stop, by the set
    the log of the registration was rotated                    Stop, by a fault
    debates of units under way have ended                      Score them
    nothing is under way, and all is asked, stopped, settled   Conclude
    a unit is to be asked, and who registered it is revoked    Stop, by the revocation
    no checkpoint over the registration is recorded            Prove
    there is place, and money for the next unit's most         Ask, in the order of the plan
    nothing is under way, and no money for the next unit       Stop, by the ceiling
    otherwise                                                  Rest

A unit is asked if the ceiling pays for the most that it can cost beside what is charged and what is under way may still
cost. So the units that are asked do not depend on the order in which debates end: of two ways to the same unit, the
one that knows less waits. Charges for calls that are lost with a worker count too, once their debate is scored: they
alone can make a stop by the ceiling earlier, and they alone can pass the ceiling.

A sequence asks block after block of ``look_every`` items, and is looked at between blocks, so that all that is asked
is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from service.audit.evaluation_events import EvaluationEntry, StoppedBy
from service.debate.amounts import usd
from service.evaluation.run.looks import is_settled
from service.evaluation.run.progress import Progress
from service.evaluation.run.units import Unit, units_an_item

ROTATED = (
    "the log was rotated, and the records of an evaluation are those of one log; what was asked is scored, and the "
    "plan can be registered again"
)
"""Why a rotation of the log stops an evaluation."""


class Seen(Struct, frozen=True):
    """What is seen outside of the entries: the hash of each set at hand, by id, and the debates that have ended.

    ``at_once`` bounds the debates under way. ``revoked``: the caller that registered the evaluation is, or its key.
    ``rotated``: new records go to a later log than that of the registration.
    """

    sets: Mapping[str, str]
    ended: Collection[str]
    at_once: int
    revoked: bool = False
    rotated: bool = False


class Prove(Struct, frozen=True):
    """Record a checkpoint that covers the registration; without one there is nothing to do but to wait for it."""


class Ask(Struct, frozen=True):
    """Open a debate for each of these units, in this order."""

    units: tuple[Unit, ...]


class Score(Struct, frozen=True):
    """Score these units: their debates have ended."""

    units: tuple[Unit, ...]


class Stop(Struct, frozen=True):
    """Record that nothing more is asked, and why."""

    by: StoppedBy
    why: str


class Conclude(Struct, frozen=True):
    """Compute the result of all scores, and record its hash."""


class Rest(Struct, frozen=True):
    """Do nothing until something ends outside; ``until`` is ``over`` where nothing ever follows."""

    until: Literal["debate", "set", "over"]


Move = Prove | Ask | Score | Stop | Conclude | Rest


def next_move(entries: Iterable[EvaluationEntry], seen: Seen) -> Move:
    """The next move after these entries; raises `IllegalEntry` where they do not follow from each other."""
    return move_after(Progress.of(entries), seen)


def move_after(progress: Progress, seen: Seen) -> Move:
    """The same for entries that have been followed."""
    stopped = progress.stopped
    if progress.is_over:
        return Rest("over")
    if why := _gone(progress, seen.sets):
        return Rest("set") if stopped is not None else Stop("set", why)
    if seen.rotated and stopped is None:
        return Stop("fault", ROTATED)
    under_way = progress.under_way
    if ended := tuple(unit for unit, debate in under_way.items() if debate in seen.ended):
        return Score(ended)
    if not under_way and (stopped is not None or len(progress.asked) == len(progress.units) or is_settled(progress)):
        return Conclude()
    if stopped is not None:
        return Rest("debate")
    move = _ask(progress, seen.at_once - len(under_way), under_way)
    if not isinstance(move, Ask):
        return move
    if seen.revoked:
        return Stop("revoked", _revoked(progress))
    return Prove() if progress.proven is None else move


def _revoked(progress: Progress) -> str:
    left = len(progress.units) - len(progress.asked)
    return (
        "the caller that registered the evaluation was revoked, or the key that it came with; "
        f"{left} of {len(progress.units)} debates were not asked"
    )


def _ask(progress: Progress, places: int, under_way: Mapping[Unit, str]) -> Move:
    first = len(progress.asked)
    due = progress.units[first : min(first + max(places, 0), _block_end(progress))]
    left = progress.plan.ceiling - progress.spent - sum(progress.most[unit.arm] for unit in under_way)
    affordable = list[Unit]()
    for unit in due:
        left -= progress.most[unit.arm]
        if left < 0:
            break
        affordable.append(unit)
    if affordable:
        return Ask(tuple(affordable))
    if under_way or not due:
        return Rest("debate")
    most, ceiling = usd(progress.most[due[0].arm]), usd(progress.plan.ceiling)
    return Stop(
        "ceiling",
        f"the next item may cost {most} US dollars, more than is left of the ceiling of {ceiling}; "
        f"{len(progress.units) - first} of {len(progress.units)} debates were not asked",
    )


def _block_end(progress: Progress) -> int:
    """Behind which unit nothing is asked before the next look."""
    if progress.plan.stopping == "fixed":
        return len(progress.units)
    every = progress.plan.look_every
    return (progress.items_scored() // every + 1) * every * units_an_item(progress.plan)


def _gone(progress: Progress, sets: Mapping[str, str]) -> str:
    """Why a registered set cannot be used any more; empty where all are as they were."""
    for asked in progress.registered.sets:
        found = sets.get(asked.id)
        if found is None:
            return f"the set {asked.id} is not at hand any more; a new evaluation can be registered when it is back"
        if found != asked.sha256:
            return f"the set {asked.id} was registered with the hash {asked.sha256}, and has {found} now"
    return ""
