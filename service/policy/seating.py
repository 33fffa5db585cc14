"""The models of the seats: pure. Seats that should not think alike get models of different families if possible.

Which they are follows from the format's table, as pairs of seats. Among the models that each seat may have, the table
is chosen by, in this order:

    1  the fewest pairs that must not be one model: a panel's synthesizer and adjudicator, each with the debaters
    2  the fewest pairs nearer to each other than policy requires, then the same in every mix with fallbacks
    3  the fewest pairs of one model, then the fewest of one family
    4  the same over the fallbacks
    5  the fewest steps down the lists of preference, those of later seats first

Debaters are drawn one by one from one pool, for every choice of the other seats: first the model with the fewest pairs
of one family among those already seated, then the fewest pairs of one model, then by preference or, in auto mode, by
track record.

A model that a case names overrides these rules, is checked like the others, and has no fallback: if it cannot answer,
the seat is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice, product
from typing import NamedTuple, NoReturn, Protocol

from msgspec import Struct

from service.debate import adversarial, screening
from service.debate.alike import Identity, identity, nearness
from service.debate.amounts import MICRO
from service.debate.kernel import FORMATS
from service.debate.model import AdversarialOptions, Diversity, Options, Pair, SeatPlan
from service.debate.options import role_of
from service.debate.roster import Roster
from service.debate.versions import newest
from service.errors import InvalidCase
from service.money import tokenizer_id
from service.policy import SIMULATED, ChosenFormat, Model, Policy

APART = adversarial.APART
ADVERSARIAL: Roster = adversarial.table(AdversarialOptions(1, 1, 1, human_review=False))
"""The table of the usual format; its seats and pairs are the same whatever its options are."""

SCREENER = screening.SEAT
"""The seat of policy that reads a case before the debate, in every format."""
DEBATER = "debater"
"""The seat of policy that is a pool for many."""

ORDER: tuple[Diversity, ...] = ("sameModel", "sameFamily", "crossFamily")
"""Diversities from the least apart to the most."""

_DEMANDED = {"sameFamily": "different models", "crossFamily": "models of different families"}

CHOICE_MAX = 4
"""Models that a seat may choose among: with that many at every seat there are 256 tables to look at, and no more."""

ADVICE_MAX = 8
"""Models that a refusal proposes."""

_NEVER_ONE = ("synthesizer", "adjudicator")
"""Seats whose pairs are never of one model, independent of policy (the panel's reference, Debate Roles)."""


def choose_table(options: Options) -> Roster:
    """The roster of a debate with these options."""
    return FORMATS[str(options.__struct_config__.tag)].table(options)


class SeatChoice(Struct, frozen=True):
    """A seat, the model in it, and the one that is asked where that model cannot answer."""

    seat: str
    model: Model
    fallback: Model | None = None

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that may speak in that seat."""
        return (self.model, self.fallback) if self.fallback else (self.model,)


class SeatingClash(Struct, frozen=True):
    """Two seats whose models, one of each, are nearer to each other than is required."""

    seats: tuple[str, str]
    models: tuple[str, str]
    diversity: Diversity
    required: Diversity


class SeatingRules(Struct, frozen=True):
    """What a table asks of its pairs: those of ``apart`` are at least as far from each other as ``least``."""

    apart: tuple[tuple[str, str], ...]
    least: Diversity

    def required(self, pair: tuple[str, str]) -> Diversity:
        """The least that a pair has to reach."""
        return "sameFamily" if self.least == "sameModel" and self.strict(pair) else self.least

    def strict(self, pair: tuple[str, str]) -> bool:
        """Whether it must not be one model even where policy requires nothing."""
        return any(seat in _NEVER_ONE for seat in pair)


def seats(
    policy: Policy, table: Roster, asked: Mapping[str, str], day: str, ranked: Sequence[str] | None = None
) -> tuple[SeatPlan, ...]:
    """The plans of the seats, with the prices of a day, in the order of the roster.

    ``asked`` are the models that a case names, by seat or, for all debaters at once, by ``debater``: known ones.
    ``ranked`` is the pool of debaters in another order than policy's; a table that is drawn from it is never of one
    family. Raises `InvalidCase` where the models break what the table requires, or one has no price yet.
    """
    _refuse_floating(policy, asked)
    rules = SeatingRules(table.apart, policy.debate.diversity)
    named = _named(table, asked)
    places = choose(policy, table, named, ranked)
    if clashing := clashes([SeatChoice(p.seat, p.model) for p in places], rules):
        _refuse(policy, table, asked, min(clashing, key=lambda c: not rules.strict(c.seats)))
    if ranked is not None:
        _refuse_one_family(places)
    return tuple(seat_plan(policy, place, day) for place in _without_clashing_fallbacks(places, rules))


def choose(
    policy: Policy, table: Roster, named: Mapping[str, str] | None = None, ranked: Sequence[str] | None = None
) -> tuple[SeatChoice, ...]:
    """The table that policy and a case's own choice by seat lead to, in the order of its seats, with every fallback."""
    rules = SeatingRules(table.apart, policy.debate.diversity)
    named = named or {}
    lists = {seat: _choices(policy, seat, named, ranked) for seat in table.seats}
    drawn = [seat for seat in table.seats if role_of(seat) == DEBATER and seat not in named]
    paired = {seat for pair in table.apart for seat in pair}
    # A seat that is in no pair has nothing to choose by but its own preference.
    others = [seat for seat in table.seats if seat not in drawn]
    ranges = [range(len(lists[seat][:CHOICE_MAX]) if seat in paired else 1) for seat in others]
    best, least = None, None
    for steps in sorted(product(*ranges), key=lambda steps: (sum(steps), steps)):
        placed = {seat: lists[seat][step] for seat, step in zip(others, steps, strict=True)}
        for seat in drawn:
            placed[seat] = _drawn(lists[seat], placed, rules)
        found = tuple(placed[seat] for seat in table.seats)
        cost = _cost(found, rules)
        if least is None or cost < least:
            best, least = found, cost
        if not any(least):
            break
    return best or ()


def may_be_named(policy: Policy, model: Model) -> bool:
    """Whether a case may name the model: policy may refuse a name that stands for no fixed version."""
    return policy.debate.floating_names or model.snapshot


def pairs(plans: Sequence[SeatPlan], apart: Sequence[tuple[str, str]] = APART) -> tuple[Pair, ...]:
    """The diversity of the pairs that should not think alike, by the models themselves and not their fallbacks."""
    by_seat = {plan.seat: plan for plan in plans}
    return tuple(
        Pair((one, other), nearness(identity(by_seat[one]), identity(by_seat[other])))
        for one, other in apart
        if one in by_seat and other in by_seat
    )


def diversity(plans: Sequence[SeatPlan], apart: Sequence[tuple[str, str]] = APART) -> Diversity:
    """That of the pair least apart."""
    return min((pair.diversity for pair in pairs(plans, apart)), key=ORDER.index, default="crossFamily")


def clashes(places: Iterable[SeatChoice], rules: SeatingRules) -> tuple[SeatingClash, ...]:
    """The pairs that are nearer to each other than they have to be, in every mix of models and fallbacks."""
    by_seat = {place.seat: place for place in places}
    return tuple(
        SeatingClash((one, other), (a.alias, b.alias), apart, required)
        for one, other in rules.apart
        if one in by_seat and other in by_seat
        for required in [rules.required((one, other))]
        for a, b in product(by_seat[one].models, by_seat[other].models)
        if ORDER.index(apart := distance(a, b)) < ORDER.index(required)
    )


def distance(one: Model, other: Model) -> Diversity:
    """The diversity of two models of the catalogue; two aliases may be one model."""
    return nearness(Identity(one.alias, one.name, one.family), Identity(other.alias, other.name, other.family))


def _named(table: Roster, asked: Mapping[str, str]) -> dict[str, str]:
    """The models that a case names, by seat: what it says of a seat goes before what it says of all debaters."""
    return {seat: asked[key] for seat in table.seats for key in [_key(seat, asked)] if key}


def _key(seat: str, asked: Mapping[str, str]) -> str | None:
    """By which name a case has given a seat its model, if it has."""
    return next((key for key in (seat, role_of(seat)) if key in asked), None)


def _choices(policy: Policy, seat: str, named: Mapping[str, str], ranked: Sequence[str] | None) -> list[SeatChoice]:
    """The models that a seat may have, the preferred first."""
    if seat in named:
        return [SeatChoice(seat, policy.models[named[seat]])]
    rules = policy.seats[role_of(seat)]
    fallback = policy.models[rules.fallback] if rules.fallback else None
    aliases: Sequence[str] = (rules.model, *rules.alternatives)
    if ranked is not None and role_of(seat) == DEBATER:
        aliases = ranked
    models = [policy.models[alias] for alias in aliases]
    return [SeatChoice(seat, model, fallback if fallback != model else None) for model in models]


def _drawn(pool: Sequence[SeatChoice], placed: Mapping[str, SeatChoice], rules: SeatingRules) -> SeatChoice:
    """The model of a debater's seat, given the models of the other seats; of the pool's equals the first."""
    (seat,) = {place.seat for place in pool}
    others = [
        (pair, placed[other])
        for pair in rules.apart
        if seat in pair
        for other in [pair[0] if pair[1] == seat else pair[1]]
        if other in placed
    ]

    def cost(place: SeatChoice) -> _Cost:
        near = [(distance(place.model, other.model), pair) for pair, other in others]
        short = [pair for apart, pair in near if ORDER.index(apart) < ORDER.index(rules.required(pair))]
        apart = [apart for apart, _ in near]
        strict = sum(map(rules.strict, short))
        return strict, len(short), len(apart) - apart.count("crossFamily"), apart.count("sameModel")

    return min(pool, key=cost)


_Cost = tuple[int, ...]


def _cost(places: tuple[SeatChoice, ...], rules: SeatingRules) -> _Cost:
    """The faults of a table, the worst first; fewer are better, and none is best."""
    alone = [SeatChoice(place.seat, place.model) for place in places]
    every = SeatingRules(rules.apart, "crossFamily")
    near = [clash.diversity for clash in clashes(alone, every)]
    mixed = [clash.diversity for clash in clashes(places, every)]
    short = clashes(alone, rules)
    return (
        sum(rules.strict(clash.seats) for clash in short),
        len(short),
        len(clashes(places, rules)),
        near.count("sameModel"),
        near.count("sameFamily"),
        mixed.count("sameModel"),
        mixed.count("sameFamily"),
    )


def _without_clashing_fallbacks(places: tuple[SeatChoice, ...], rules: SeatingRules) -> tuple[SeatChoice, ...]:
    """The table without the fallbacks that a case's own models, or a panel's rules, have made impossible.

    Policy's own adversarial table has none: the start refuses it. The seats are gone through in their order, so of two
    fallbacks that clash only with each other the first stays.
    """
    kept = {place.seat: SeatChoice(place.seat, place.model) for place in places}
    for place in places:
        tried = {**kept, place.seat: place}
        if place.fallback and not clashes(tried.values(), rules):
            kept = tried
    return tuple(kept[place.seat] for place in places)


def _refuse_floating(policy: Policy, asked: Mapping[str, str]) -> None:
    for seat, alias in asked.items():
        if not may_be_named(policy, policy.models[alias]):
            raise InvalidCase(
                f"model {alias!r} is named by something else than a fixed version, which policy refuses; name one of: "
                f"{', '.join(sorted(a for a, m in policy.models.items() if may_be_named(policy, m))) or 'none'}",
                pointers=(f"/options/models/{seat}",),
            )


def _refuse_one_family(places: Sequence[SeatChoice]) -> None:
    """An automatic choice of one family alone would agree with itself (the panel's reference, Auto Mode)."""
    families = {place.model.family for place in places if role_of(place.seat) == DEBATER}
    if len(families) == 1:
        raise InvalidCase(
            f"an automatic choice of debaters never fills a panel from one family, and policy's pool leaves none but "
            f"{families.pop()!r}; name debaters of your own in options.models with mode 'manual', or add models of "
            "other families to seats.debater of the policy",
            pointers=("/options/mode",),
        )


def _refuse(policy: Policy, table: Roster, asked: Mapping[str, str], clash: SeatingClash) -> NoReturn:
    """Say which pair is too near, and what the case may name instead."""
    named = list(dict.fromkeys(key for seat in clash.seats if (key := _key(seat, asked))))
    one, other = clash.seats
    near = "the same model" if clash.diversity == "sameModel" else "models of one family"
    advice = "leave out options.models"
    if named:
        fitting = (alias for alias in sorted(policy.models) if _fits(policy, table, {**asked, named[0]: alias}))
        if others := list(islice(fitting, ADVICE_MAX)):
            advice = f"name for {named[0]!r} one of: {', '.join(others)}"
    elif not asked:
        advice = "ask for fewer debaters, or add models of other families to the seats of the policy"
    who = "policy" if clash.required == policy.debate.diversity else "a panel"
    raise InvalidCase(
        f"{who} requires {_DEMANDED[clash.required]} at seats that challenge each other; {one!r} "
        f"({clash.models[0]}) and {other!r} ({clash.models[1]}) would have {near}: {advice}",
        pointers=tuple(f"/options/models/{key}" for key in named) or ("/options/models" if asked else "/options",),
    )


def _fits(policy: Policy, table: Roster, asked: Mapping[str, str]) -> bool:
    """Whether a case might name these models."""
    named = [policy.models[alias] for alias in asked.values()]
    if not policy.debate.floating_names and not all(model.snapshot for model in named):
        return False
    places = [SeatChoice(place.seat, place.model) for place in choose(policy, table, _named(table, asked))]
    return not clashes(places, SeatingRules(table.apart, policy.debate.diversity))


def seat_plan(policy: Policy, place: SeatChoice, day: str) -> SeatPlan:
    """Everything that a call at a seat and its charge need; raises `InvalidCase` where a model has no price yet."""
    fallback = None
    if place.fallback:
        fallback = seat_plan(policy, SeatChoice(place.seat, place.fallback), day)
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
        allowance=policy.seats[role_of(place.seat)].allowance,
        price=price,
        parameters=model.parameters,
        wire=provider.kind,
        reasoning=provider.reasoning,
        overhead_tokens=model.overhead_tokens,
        fallback=fallback,
    )


def asked_twice(policy: Policy, downside: Decimal | None) -> bool:
    """Whether so much is at stake that a single decider is asked twice."""
    stake = policy.debate.swap_above
    return stake is not None and downside is not None and downside.is_finite() and downside * MICRO > stake


def asked_masked(policy: Policy, downside: Decimal | None) -> bool:
    """Whether so much is at stake that a decider is asked once more where passages of the case speak to a model."""
    stake = policy.debate.mask_above
    return stake is not None and downside is not None and downside.is_finite() and downside * MICRO > stake


def human_review(policy: Policy, task_type: str) -> bool:
    """Whether policy requires human review for a task type."""
    return task_type in policy.debate.human_review


def simulated(policy: Policy, plans: Iterable[SeatPlan]) -> bool:
    """Whether a model at the table is simulated."""
    return any(policy.providers[plan.provider].kind in SIMULATED for plan in plans)


def screened(policy: Policy) -> bool:
    """Whether every case is read by a screener: policy seats one, and no case can choose or refuse it."""
    return SCREENER in policy.seats


class _Seats(Protocol):
    def __call__(
        self, policy: Policy, table: Roster, asked: Mapping[str, str], day: str, ranked: Sequence[str] | None = None
    ) -> tuple[SeatPlan, ...]: ...


class _Choose(Protocol):
    def __call__(
        self,
        policy: Policy,
        table: Roster,
        named: Mapping[str, str] | None = None,
        ranked: Sequence[str] | None = None,
    ) -> tuple[SeatChoice, ...]: ...


class Seating(NamedTuple):
    """The rules of one version: the seats of a debate, and all else of its start that follows from case and policy.

    The functions of these names say what each does.
    """

    seats: _Seats
    choose: _Choose
    pairs: Callable[[Sequence[SeatPlan], Sequence[tuple[str, str]]], tuple[Pair, ...]]
    diversity: Callable[[Sequence[SeatPlan], Sequence[tuple[str, str]]], Diversity]
    choose_format: Callable[[Policy, str | None, str], ChosenFormat]
    asked_twice: Callable[[Policy, Decimal | None], bool]
    asked_masked: Callable[[Policy, Decimal | None], bool]
    human_review: Callable[[Policy, str], bool]
    simulated: Callable[[Policy, Sequence[SeatPlan]], bool]
    screened: Callable[[Policy], bool]


SEATINGS: Mapping[str, Seating] = {
    "seating/1": Seating(
        seats,
        choose,
        pairs,
        diversity,
        Policy.choose_format,
        asked_twice,
        asked_masked,
        human_review,
        simulated,
        screened,
    ),
}
"""Every version of these rules. A case is seated by the newest, and verified by the one that is sealed with it."""
SEATING = SEATINGS[newest(SEATINGS)]
