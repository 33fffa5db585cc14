"""Seats that think alike: one rule for every format, over the models that really spoke.

    cap at MODERATE                  when one model or one family spoke for both
    criticOnProposersModel           the critic and the proposer: one model
    deciderOnWeighedModel            a decider and a seat that it weighs: one model
    moderatorOfProposersFamily       the moderator and the proposer: one family
    deciderOfDebatersFamily          a decider and a debater: one family
    oneModel, oneFamily              all seats that make up the table

    flag alone
    criticOfProposersFamily          the critic and the proposer or its rebuttal: one family

The parts of the seats are the format's (`service.debate.roster.Roles`). A seat's models are all that spoke in
it, in any round and in either order, fallbacks among them; the plan's model where the seat never spoke. A table is of
one model (family) if some model (family) spoke in every seat of it, so a fallback that makes the last rounds alike
counts.

Two models are one by alias, or by family and name, at any provider (EAAPL-MAG005, section 11: other providers *or
versions*). A family is the policy's word, and two names of one family are one model in these cases:

    openai/gpt-4.1, gpt-4.1, us.anthropic.claude-x   the path or account before a name does not count
    Claude-3.5-Sonnet, claude-3-5-sonnet             neither do case, dots, colons and underscores
    gpt-4.1, gpt-4.1-2025-04-14                      a name without a date may serve any dated one
    gpt-4o-2024-05-13, gpt-4o-2024-08-06             two dates are two versions: two models
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from service.debate.model import Diversity, SeatPlan, seat_of
from service.debate.replies import ConfidenceLevel
from service.debate.roster import Roles
from service.debate.script import Script

_PATH = re.compile(r"^(?:[a-z]+\.)+")
_REVISION = re.compile(r"-v\d+(?::\d+)?$")
_VERSION = re.compile(r"[-@](?P<version>20\d\d-?\d\d-?\d\d|\d\d-20\d\d|\d{3,4}|latest)$")
_APART = re.compile(r"[._:\s-]+")


class Identity(NamedTuple):
    """A model by its alias, its name at the vendor and its family."""

    alias: str
    name: str
    family: str


class Alike(NamedTuple):
    """Which seats of a debate think alike; each member is a row of the table at the top."""

    critic_on_proposers_model: bool
    critic_of_proposers_family: bool
    decider_on_weighed_model: bool
    decider_of_proposers_family: bool
    one_model: bool
    one_family: bool

    @property
    def flags(self) -> dict[str, bool]:
        """The flags that all formats share."""
        return {"oneModel": self.one_model, "oneFamily": self.one_family}

    @property
    def caps(self) -> tuple[tuple[bool, str, ConfidenceLevel], ...]:
        """The caps that all formats share: whether each holds, its reason and the level that it leaves."""
        return (
            (self.decider_on_weighed_model, "deciderOnWeighedModel", "MODERATE"),
            (self.one_model, "oneModel", "MODERATE"),
            (self.one_family and not self.one_model, "oneFamily", "MODERATE"),
        )


def alike(s: Script, roles: Roles) -> Alike:
    """Which seats think alike, by the models that spoke and by the plan for seats that did not."""
    seats = dict.fromkeys((*roles.weighed, *roles.deciders, *roles.table))
    return _alike(roles, tuple((seat, tuple(map(identity, plans_behind(s, seat)))) for seat in seats))


@lru_cache(maxsize=256)
def _alike(roles: Roles, seated: tuple[tuple[str, tuple[Identity, ...]], ...]) -> Alike:
    """The same, by the models behind each seat: the catalogue has few, so most debates have those of another."""
    behind = dict(seated)

    def of(seats: Sequence[str]) -> list[Identity]:
        return [one for seat in seats for one in behind[seat]]

    table = [behind[seat] for seat in roles.table]
    return Alike(
        critic_on_proposers_model=_meet(of(roles.critics), of(roles.proposers), "sameModel"),
        critic_of_proposers_family=_meet(of(roles.critics), of((*roles.proposers, *roles.rebuttals)), "sameFamily"),
        decider_on_weighed_model=_meet(of(roles.deciders), of(roles.weighed), "sameModel"),
        decider_of_proposers_family=_meet(of(roles.deciders), of(roles.proposers), "sameFamily"),
        one_model=_one(table, "sameModel"),
        one_family=_one(table, "sameFamily"),
    )


def plans_behind(s: Script, seat: str) -> tuple[SeatPlan, ...]:
    """The plans of the models that spoke in a seat, or the seat's own plan if none did.

    A seat whose every reply was given has none behind it: it thinks like no other.
    """
    plan = s.started.seat(seat)
    turns = [turn for turn in s.facts.said if seat_of(turn) == seat]
    spoke = dict.fromkeys(model for turn in turns if (model := s.model(turn)) is not None)
    return tuple(plan.of(model) for model in spoke) or (() if turns else (plan,))


def families(s: Script, seats: Sequence[str]) -> set[str]:
    """The families behind these seats."""
    return {plan.family for seat in seats for plan in plans_behind(s, seat)}


def count_models(s: Script, seats: Sequence[str]) -> int:
    """How many models are behind these seats."""
    counted: list[Identity] = []
    for one in (identity(plan) for seat in seats for plan in plans_behind(s, seat)):
        if not _meet((one,), counted, "sameModel"):
            counted.append(one)
    return len(counted)


def identity(plan: SeatPlan) -> Identity:
    """The model of a plan."""
    return Identity(plan.model, plan.model_name, plan.family)


def nearness(one: Identity, other: Identity) -> Diversity:
    """The diversity of two models."""
    if one.alias == other.alias:
        return "sameModel"
    if one.family != other.family:
        return "crossFamily"
    return "sameModel" if same_name(one.name, other.name) else "sameFamily"


def same_name(one: str, other: str) -> bool:
    """Whether two names of one family may be one model, by the cases at the top."""
    (stem, version), (other_stem, other_version) = _parts(one), _parts(other)
    return stem == other_stem and (version == other_version or not version or not other_version)


@lru_cache(maxsize=1_024)
def _parts(name: str) -> tuple[str, str]:
    """A name without its path, folded, and the version or date at its end; empty if it has none, or says latest."""
    folded = _REVISION.sub("", _PATH.sub("", name.casefold().rpartition("/")[2]))
    found = _VERSION.search(folded)
    version = found["version"].replace("-", "") if found else ""
    stem = folded[: found.start()] if found else folded
    return _APART.sub("-", stem), "" if version == "latest" else version


def _near(one: Identity, other: Identity, least: Diversity) -> bool:
    """Whether two models are one model, or at least of one family."""
    return nearness(one, other) in ("sameModel", least)


def _meet(ones: Sequence[Identity], others: Sequence[Identity], least: Diversity) -> bool:
    return any(_near(one, other, least) for one in ones for other in others)


def _one(table: Sequence[Sequence[Identity]], least: Diversity) -> bool:
    """Whether some model spoke in every seat."""
    return any(all(_meet((one,), seat, least) for seat in table) for seated in table for one in seated)
