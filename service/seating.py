"""Who sits where: pure. The seats that should not think alike get models of different families where possible.

    moderator   apart from the proposer, from the rebuttal, who argues the proposer's side, and from the critic
    critic      apart from the proposer and from the rebuttal

Among the models that each seat may have, the table is chosen by, in this order:

    1  the fewest pairs nearer to each other than policy requires, and then whoever of a model and its fallback speaks
    2  the fewest pairs of one model, then the fewest of one family
    3  the same over the fallbacks
    4  the fewest steps down the lists of preference, those of later seats first

A model that a case names wins over all of this, is checked like the rest, and has no fallback: what was asked for, or
silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from typing import NoReturn

from msgspec import Struct

from service.budget import tokenizer_id
from service.debate.adversarial import SEATS
from service.debate.model import Diversity, Pair, SeatPlan
from service.errors import InvalidCase
from service.policy import Model, Policy

APART = (
    ("moderator", "proposer"),
    ("moderator", "rebuttal"),
    ("moderator", "critic"),
    ("critic", "proposer"),
    ("critic", "rebuttal"),
)
"""The pairs of seats that should not think alike; whom to change first stands first."""

ORDER: tuple[Diversity, ...] = ("sameModel", "sameFamily", "crossFamily")
"""Diversities from the least apart to the most."""

_DEMANDED = {"sameFamily": "different models", "crossFamily": "models of different families"}

CHOICE_MAX = 4
"""Models that a seat may choose among: with that many at every seat there are 256 tables to look at, and no more."""

ADVICE_MAX = 8
"""Models that a refusal proposes."""


class Place(Struct, frozen=True):
    """A seat, the model in it, and the one that is asked where that model cannot answer."""

    seat: str
    model: Model
    fallback: Model | None = None

    @property
    def models(self) -> tuple[Model, ...]:
        """Whoever may speak there."""
        return (self.model, self.fallback) if self.fallback else (self.model,)


class Clash(Struct, frozen=True):
    """Two seats whose models, one of each, are nearer to each other than policy requires."""

    seats: tuple[str, str]
    models: tuple[str, str]
    diversity: Diversity


def seats(policy: Policy, asked: Mapping[str, str], day: str) -> tuple[SeatPlan, ...]:
    """Who sits where, with the prices of a day. ``asked`` are the models that a case names, by seat: known ones.

    Raises `InvalidCase` where they break what policy requires of the table, or a model has no price yet.
    """
    for seat, alias in asked.items():
        if not policy.debate.floating_names and not policy.models[alias].snapshot:
            raise InvalidCase(
                f"model {alias!r} is named by something else than a fixed version, which policy refuses; name one of: "
                f"{', '.join(sorted(a for a, m in policy.models.items() if m.snapshot)) or 'none'}",
                pointers=(f"/options/models/{seat}",),
            )
    places = choose(policy, asked)
    if clashing := clashes([Place(p.seat, p.model) for p in places], policy.debate.diversity):
        _refuse(policy, asked, clashing[0])
    return tuple(_plan(policy, place, day) for place in _without_clashing_fallbacks(places, policy.debate.diversity))


def choose(policy: Policy, asked: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """The table that policy and a case's own choice lead to, in the order of the seats, with every fallback."""
    lists = [_choices(policy, seat, asked or {})[:CHOICE_MAX] for seat in SEATS]
    paired = {seat for pair in APART for seat in pair}
    # A seat that is in no pair has nothing to choose by but its own preference.
    ranges = [range(len(choices) if seat in paired else 1) for seat, choices in zip(SEATS, lists, strict=True)]
    best = tuple(choices[0] for choices in lists)
    least = _cost(best, policy.debate.diversity)
    for steps in sorted(product(*ranges), key=lambda steps: (sum(steps), steps))[1:]:
        if not any(least):
            break
        table = tuple(choices[step] for step, choices in zip(steps, lists, strict=True))
        if (cost := _cost(table, policy.debate.diversity)) < least:
            best, least = table, cost
    return best


def pairs(plans: Sequence[SeatPlan]) -> tuple[Pair, ...]:
    """How far apart the pairs are that should not think alike, by the models themselves and not their fallbacks."""
    by_seat = {plan.seat: plan for plan in plans}
    return tuple(
        Pair((one, other), _apart(_identity(by_seat[one]), _identity(by_seat[other])))
        for one, other in APART
        if one in by_seat and other in by_seat
    )


def diversity(plans: Sequence[SeatPlan]) -> Diversity:
    """That of the pair least apart."""
    return min((pair.diversity for pair in pairs(plans)), key=ORDER.index, default="crossFamily")


def clashes(places: Iterable[Place], least: Diversity) -> tuple[Clash, ...]:
    """The pairs that are nearer to each other than ``least``, in every mix of models and fallbacks."""
    by_seat = {place.seat: place for place in places}
    return tuple(
        Clash((one, other), (a.alias, b.alias), apart)
        for one, other in APART
        if one in by_seat and other in by_seat
        for a, b in product(by_seat[one].models, by_seat[other].models)
        if ORDER.index(apart := distance(a, b)) < ORDER.index(least)
    )


def distance(one: Model, other: Model) -> Diversity:
    """How far apart two models of the catalogue are; two aliases of one name are one model."""
    return _apart((one.alias, one.name, one.family), (other.alias, other.name, other.family))


def _identity(plan: SeatPlan) -> tuple[str, str, str]:
    return plan.model, plan.model_name, plan.family


def _apart(one: tuple[str, str, str], other: tuple[str, str, str]) -> Diversity:
    """Of two models, each by alias, name and family."""
    if one[0] == other[0] or one[1:] == other[1:]:
        return "sameModel"
    return "sameFamily" if one[2] == other[2] else "crossFamily"


def _choices(policy: Policy, seat: str, asked: Mapping[str, str]) -> list[Place]:
    """The models that a seat may have, the preferred first."""
    rules = policy.seats[seat]
    if seat in asked:
        return [Place(seat, policy.models[asked[seat]])]
    fallback = policy.models[rules.fallback] if rules.fallback else None
    models = [policy.models[alias] for alias in (rules.model, *rules.alternatives)]
    return [Place(seat, model, fallback if fallback != model else None) for model in models]


_Cost = tuple[int, ...]


def _cost(places: tuple[Place, ...], least: Diversity) -> _Cost:
    """What is wrong with a table, the worst first; less is better, and nothing is best."""
    alone = [Place(place.seat, place.model) for place in places]
    near = [clash.diversity for clash in clashes(alone, "crossFamily")]
    mixed = [clash.diversity for clash in clashes(places, "crossFamily")]
    return (
        len(clashes(alone, least)),
        len(clashes(places, least)),
        near.count("sameModel"),
        near.count("sameFamily"),
        mixed.count("sameModel"),
        mixed.count("sameFamily"),
    )


def _without_clashing_fallbacks(places: tuple[Place, ...], least: Diversity) -> tuple[Place, ...]:
    """The table without the fallbacks that a case's own models have made impossible.

    Policy's own table has none: the start refuses it. The seats are gone through in their order, so of two fallbacks
    that clash only with each other the first stays.
    """
    kept = {place.seat: Place(place.seat, place.model) for place in places}
    for place in places:
        tried = {**kept, place.seat: place}
        if place.fallback and not clashes(tried.values(), least):
            kept = tried
    return tuple(kept[place.seat] for place in places)


def _refuse(policy: Policy, asked: Mapping[str, str], clash: Clash) -> NoReturn:
    """Say which pair is too near, and what the case may name instead."""
    named = [seat for seat in clash.seats if seat in asked]
    one, other = clash.seats
    near = "the same model" if clash.diversity == "sameModel" else "models of one family"
    advice = "leave out options.models"
    if named:
        fitting = (alias for alias in sorted(policy.models) if _fits(policy, {**asked, named[0]: alias}))
        if others := list(islice(fitting, ADVICE_MAX)):
            advice = f"name for {named[0]!r} one of: {', '.join(others)}"
    raise InvalidCase(
        f"policy requires {_DEMANDED[policy.debate.diversity]} at seats that challenge each other; {one!r} "
        f"({clash.models[0]}) and {other!r} ({clash.models[1]}) would have {near}: {advice}",
        pointers=tuple(f"/options/models/{seat}" for seat in named) or ("/options/models",),
    )


def _fits(policy: Policy, asked: Mapping[str, str]) -> bool:
    """Whether a case might name these models."""
    named = [policy.models[alias] for alias in asked.values()]
    if not policy.debate.floating_names and not all(model.snapshot for model in named):
        return False
    places = [Place(place.seat, place.model) for place in choose(policy, asked)]
    return not clashes(places, policy.debate.diversity)


def _plan(policy: Policy, place: Place, day: str) -> SeatPlan:
    fallback = None
    if place.fallback:
        fallback = _plan(policy, Place(place.seat, place.fallback), day)
    model = place.model
    provider, price = policy.providers[model.provider], model.price(day)
    if price is None:
        raise InvalidCase(f"model {model.alias!r} has no price in force on {day}; no price, no call")
    return SeatPlan(
        seat=place.seat,
        model=model.alias,
        provider=model.provider,
        model_name=model.name,
        family=model.family,
        tokenizer=model.tokenizer,
        tokenizer_id=tokenizer_id(model.tokenizer),
        safety_per_mille=model.safety_per_mille,
        context_window=model.context_window,
        allowance=policy.seats[place.seat].allowance,
        price=price,
        parameters=model.parameters,
        wire=provider.kind,
        reasoning=provider.reasoning,
        overhead_tokens=model.overhead_tokens,
        fallback=fallback,
    )
