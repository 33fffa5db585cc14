"""The critic with known faults: it names the planted argument in a set share of cases, and otherwise looks elsewhere.

    flawed proposal    in `hits` of the cases of its family a point attacks the planted argument and cites the decisive
                       passage; in the others no point attacks that argument
    sound proposal     the same in `false_alarms` of the cases
    with neither       and a `true_rate`: it is right of the proposal in that share of the cases

The other points are those of the critic without faults, with true quotations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from service.debate.findings import Citation
from service.debate.replies import Critique, Point
from service.policy.known_faults import OTHERS, FaultShares, Rate
from service.simulated.critic import critique
from service.simulated.draws import WHOLE, happens
from service.simulated.known_cases import KnownCase
from service.simulated.passage_choice import Desk

_STRONG = 8


def faulty_critique(desk: Desk, limit: int, shares: FaultShares, case: KnownCase) -> Critique:
    """The critique of a given proposal; in later rounds, and of other cases, that of a model without faults."""
    made = critique(desk, limit)
    rate = _yes(shares, case)
    if rate is None or desk.reading.round > 1:
        return made
    yes = happens(rate, "critic", desk.strategy.name, case.shown)
    elsewhere = [point for point in made.points if not _names(point, case.line.argument)]
    points = [_planted(case), *elsewhere[: limit - 1]] if yes else elsewhere or [_other(desk, case.line.argument)]
    strength = max(made.challenge_strength, _STRONG) if yes else made.challenge_strength
    return replace(
        made,
        points=tuple(replace(point, n=n) for n, point in enumerate(points, start=1)),
        challenge_strength=strength if shares.confidence is None else max(1, shares.confidence * 10 // WHOLE),
        conclusion="rejected" if yes else made.conclusion,
    )


def _yes(shares: FaultShares, case: KnownCase) -> int | None:
    """In what share of such cases it says that the planted argument is wrong; ``None`` for no fault there."""
    flawed = case.line.answer == "flawed"
    if case.line.kind != "critic":
        return None
    if shares.hits is not None or shares.false_alarms is not None:
        return of_family(shares.hits if flawed else shares.false_alarms, case.line.family)
    if shares.true_rate is None:
        return None
    return shares.true_rate if flawed else WHOLE - shares.true_rate


def of_family(rate: Rate | None, family: str) -> int:
    """A rate in the cases of a family; none is 0."""
    if isinstance(rate, dict):
        return rate.get(family, rate.get(OTHERS, 0))
    return rate or 0


def _names(point: Point, argument: int) -> bool:
    """Whether a point attacks an argument or speaks of it by its number."""
    return argument in point.attacks or bool(re.search(rf"\bargument {argument}\b", point.text, re.IGNORECASE))


def _planted(case: KnownCase) -> Point:
    """The point that names the argument on its decisive ground."""
    line = case.line
    turns_on = f" It turns on {line.value}." if line.value else ""
    text = f"Argument {line.argument} does not stand beside the passage that decides it.{turns_on}"
    cited = (Citation(line.span.quote, line.span.document),) if line.span else ()
    return Point(1, text, (line.argument,), cited, "evidence" if cited else "reasoning")


def _other(desk: Desk, argument: int) -> Point:
    """A point without a passage against another argument of the proposal, where it has one."""
    numbers: Sequence[int] = [a.n for said in desk.reading.statements for a in said.arguments if a.n]
    others = [n for n in numbers if n != argument][:1]
    what = f"Argument {others[0]} asks" if others else "The proposal asks"
    return Point(1, f"{what} a reader to take its last step on trust.", tuple(others), (), "reasoning")
