"""What intake has to know of each format (`Reading`), and what several formats share in reading their options."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from service.debate.labels import clashing
from service.debate.model import Debater, Options
from service.debate.replies import Reply, Statement
from service.errors import InvalidCase
from service.intake.model_ranking import Standing
from service.intake.request import CaseRequest, GateRequest, OptionsRequest, terms_of
from service.intake.validation import between, check_text
from service.policy import Policy, seating

T = TypeVar("T")
Request = GateRequest | CaseRequest
DEBATERS_MIN = 2
WHOLE = 1_000
SAID = Statement(1, "-", basis="reasoning")


class Drawn(NamedTuple):
    """Options with what the draw of the debaters' models went by, and these models, the first choice first.

    ``order`` is ``None`` where policy's preference decides.
    """

    options: Options
    order: tuple[str, ...] | None


class Reading(NamedTuple):
    """A format as intake knows it.

    ``options`` are the options that it knows, by their names in JSON. ``read`` resolves them or raises `InvalidCase`.
    ``replies`` has the shortest reply to each kind of turn that it asks for. ``draws`` chooses the debaters' models by
    how models did in the tenant's own debates; ``None`` for a format that never does. ``replaceable`` is the kind of
    turn for which a debater may name another pinned prompt, or ``None``.
    """

    options: tuple[str, ...]
    read: Callable[[Request, OptionsRequest, Policy], Options]
    replies: Mapping[str, Reply]
    draws: Callable[[Options, Policy, Sequence[Standing]], Drawn] | None
    replaceable: str | None


def named(asked: OptionsRequest, usual: int | None, most: int, fewest: int = DEBATERS_MIN) -> tuple[Debater, ...]:
    """Debaters with names of their own, or ``usual`` ones; ``None`` where the caller has to say who debates."""
    pointer = "/options/debaters"
    found = asked.debaters
    if found is None and usual is not None:
        return tuple(Debater(f"debater-{n}") for n in range(1, usual + 1))
    if not isinstance(found, tuple):
        shape = 'a list such as [{"name": "a"}, {"name": "b"}]'
        if usual is None:
            shape = 'a list such as [{"name": "a", "stance": "yes"}, {"name": "b", "stance": "no"}]'
        what = "nothing" if found is None else "a number"
        raise InvalidCase(f"debaters must be {shape}, found {what}", pointers=(pointer,))
    if not fewest <= len(found) <= most:
        raise InvalidCase(f"expected {fewest} to {most} debaters, found {len(found)}", pointers=(pointer,))
    for i, debater in enumerate(found):
        if not (debater.name.strip() and debater.name.isprintable()):
            raise InvalidCase("a debater's name is one line of printable characters", pointers=(f"{pointer}/{i}/name",))
        if debater.role is not None and not debater.role.strip():
            raise InvalidCase(
                f"the role of {check_text(debater.name)} is empty; say who speaks, or leave it out",
                pointers=(f"{pointer}/{i}/role",),
            )
    if clashing([debater.name for debater in found]):
        names = check_text([debater.name for debater in found])
        raise InvalidCase(f"debaters need names that differ in more than case, found {names}", pointers=(pointer,))
    return found


def unassigned(format_: str, debaters: Sequence[Debater]) -> None:
    """Refuse a stance where debaters find their own."""
    for i, debater in enumerate(debaters):
        if debater.stance:
            raise InvalidCase(
                f"debaters of {format_} take their own stances, found one for {check_text(debater.name)}; leave it out,"
                " or ask for the format stances",
                pointers=(f"/options/debaters/{i}/stance",),
            )


def number(asked: OptionsRequest, usual: int, most: int) -> int:
    """How many debaters without names sit at the table."""
    if isinstance(asked.debaters, tuple):
        raise InvalidCase(
            "debaters of this format are known by letters alone; send how many there are, as a number",
            pointers=("/options/debaters",),
        )
    count = default(asked.debaters, usual)
    between("debaters", count, DEBATERS_MIN, most)
    return count


def most(asked: OptionsRequest, usual: int, limit: int) -> int:
    """The most rounds of the debate."""
    rounds = default(asked.max_rounds, usual)
    between("maxRounds", rounds, 1, limit)
    return rounds


def spoken(name: str, text: str | None) -> str | None:
    """The caller's words in an option; refused where they are blank."""
    if text is not None and not text.strip():
        raise InvalidCase(f"{name} is empty; say what to do, or leave it out", pointers=(f"/options/{name}",))
    return text


def one_line(text: str) -> bool:
    """Whether a text says something, in one line."""
    return bool(text.strip()) and not any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") for c in text)


def filled(seat: str, policy: Policy, pointer: str, otherwise: str) -> None:
    """Refuse an option that needs a seat which policy does not fill."""
    if seat not in policy.seats:
        raise InvalidCase(
            f"this needs a seat that policy does not fill; add seats.{seat} to the policy, or {otherwise}",
            pointers=(pointer,),
        )


def reviewed(request: Request, policy: Policy) -> bool:
    """Whether policy requires human review for the task type."""
    return seating.SEATING.human_review(policy, request.task_type)


def swapped(request: Request, policy: Policy) -> bool:
    """Whether so much is at stake that the decider is asked twice; an evaluation may say so itself."""
    own = terms_of(request).swapped
    return own if own is not None else seating.SEATING.asked_twice(policy, request.estimated_downside)


def screened(policy: Policy) -> bool:
    """Whether policy seats a screener, which then reads every case."""
    return seating.SEATING.screened(policy)


def masked(request: Request, policy: Policy) -> bool:
    """Whether so much is at stake that the decider is asked once more where passages of the case speak to a model."""
    return seating.SEATING.asked_masked(policy, request.estimated_downside)


def default(asked: T | None, usual: T) -> T:
    """What was asked for, or the usual."""
    return usual if asked is None else asked
