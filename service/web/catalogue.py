"""The catalogue: prompts, models and policy, each with the hashes that debates record."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

from litestar import Response, get
from msgspec import UNSET, Struct, UnsetType, defstruct, field

from service.debate.model import PriceRow, Rates
from service.policy import (
    SIMULATED,
    Budget,
    Budgets,
    Calls,
    DebatePolicy,
    FormatsPolicy,
    GatePolicy,
    Limits,
    Model,
    Policy,
    Seat,
    price_hash,
)
from service.policy.keys import Key, json_name, keys_of
from service.policy.prices import RATES
from service.policy.seating import ADVERSARIAL, DEBATER, SEATING, SeatChoice
from service.prompts import PinnedFile
from service.web.app_state import HttpRequest, app_state
from service.web.debates import answered, known_query


class PromptDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pinned file. New debates use the current version."""

    id: str
    version: int
    kind: Literal["prompt", "fragment", "schema", "template"]
    file: str
    sha256: str
    current: bool


class PromptList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pinned files and ``pin``, the SHA-256 of the manifest that lists them."""

    pin: str
    prompts: tuple[PromptDetail, ...]


class RateDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """US dollars per million tokens, by kind; ``cacheWrite1hUSD`` only where a one-hour cache has its own price."""

    input_usd: str = field(name="inputUSD")
    cached_input_usd: str = field(name="cachedInputUSD")
    cache_write_usd: str = field(name="cacheWriteUSD")
    output_usd: str = field(name="outputUSD")
    reasoning_usd: str = field(name="reasoningUSD")
    cache_write_1h_usd: str | UnsetType = field(name="cacheWrite1hUSD", default=UNSET)


class LongInputDetail(RateDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The rates of a call with more than ``above`` input tokens; they apply to all its tokens."""

    above: int


class Price(RateDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A price row: rates from a date on, and their source. ``tiers`` are the vendor's service tiers by name."""

    effective: str
    source: str
    long_input: LongInputDetail | UnsetType = UNSET
    tiers: dict[str, RateDetail] = {}


class ModelDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model of the catalogue, the seats that it has or may have, and whether it is simulated.

    ``wire`` is the format of its provider. ``snapshot`` is true if its name stands for one fixed artefact. ``seats``
    are its seats by default, with ``debater`` if it is in the pool of debaters. ``fallbackOf`` are the seats whose own
    model it replaces when that model cannot answer.
    """

    alias: str
    provider: str
    wire: str
    name: str
    snapshot: bool
    family: str
    simulated: bool
    tokenizer: str
    safety_factor: Decimal
    overhead_tokens: int
    context_window: int
    parameters: dict[str, Any]
    seats: tuple[str, ...]
    fallback_of: tuple[str, ...]
    prices: tuple[Price, ...]


class ModelList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The catalogue. Debates record ``priceHash``, the hash of its prices."""

    price_hash: str
    models: tuple[ModelDetail, ...]


class SeatSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The default model of a seat, the most output tokens of one of its turns, and the other models of the seat.

    ``choices`` are the models in order of preference. ``fallback`` replaces the model when it cannot answer.
    """

    model: str
    allowance: int
    choices: tuple[str, ...]
    fallback: str | None


def _settings(name: str, doc: str, keys: Iterable[Key]) -> type[Struct]:
    """A type that shows members of the policy over HTTP, with the types and names of their declaration."""
    members = [(key.member, key.shown_type, field(name=json_name(key))) for key in keys]
    return defstruct(name, members, frozen=True, kw_only=True, module=__name__, namespace={"__doc__": doc})


def _shown(kept: Struct, keys: Iterable[Key]) -> dict[str, Any]:
    return {key.member: key.shown(getattr(kept, key.member)) for key in keys}


_GATE = keys_of(GatePolicy)
_DEBATE = tuple(key for key in keys_of(DebatePolicy) if not key.member.startswith("expected_"))
_ZONE = tuple(key for key in keys_of(Budgets) if key.member == "zone")
"""HTTP shows the limits of a named tenant to no other tenant."""
GateSettings = _settings(
    "GateSettings",
    "The gate's rules for when a question deserves a debate. Thresholds are by task type, in US dollars.",
    _GATE,
)
DebateSettings = _settings(
    "DebateSettings",
    "The settings of a debate that its case leaves out.\n\n"
    "Above ``swapAboveUSD`` the closing seat is asked twice; null means never.",
    _DEBATE,
)
CallSettings = _settings(
    "CallSettings", "How often a turn is tried again, and when it ends without a reply.", keys_of(Calls)
)
BudgetSettings = _settings(
    "BudgetSettings",
    "The limits of a tenant that policy does not name, in US dollars; ``null`` where there is no limit.",
    (*_ZONE, *keys_of(Budget)),
)
PolicyDetail = defstruct(
    "PolicyDetail",
    [
        ("version", str),
        ("hash", str),
        ("task_types", tuple[str, ...]),
        ("formats", tuple[str, ...]),
        ("gate", GateSettings),
        ("debate", DebateSettings),
        ("limits", Limits),
        ("calls", CallSettings),
        ("budgets", BudgetSettings),
        ("seats", dict[str, SeatSettings]),
        ("format_rules", FormatsPolicy),
    ],
    frozen=True,
    kw_only=True,
    rename="camel",
    module=__name__,
    namespace={
        "__doc__": """The policy that runs. Every decision names its ``hash``.

    ``formats`` are those that a case may name here. ``formatRules`` are the defaults of each format and the bounds of a
    case, with shares per mille.
    """
    },
)


@get("/v1/prompts")
async def prompts(request: HttpRequest) -> Response[bytes]:
    """Every pinned file of this image."""
    known_query(request, ())
    pinned = app_state(request).service.prompts
    return answered(PromptList(pin=pinned.pin, prompts=tuple(_prompt(entry) for entry in pinned.entries)))


@get("/v1/models")
async def models(request: HttpRequest) -> Response[bytes]:
    """The catalogue."""
    known_query(request, ())
    policy = app_state(request).deployment.policy
    places = _places(policy)
    models = tuple(_model(model, policy, places) for model in policy.models.values())
    return answered(ModelList(price_hash=price_hash(policy), models=models))


@get("/v1/policy")
async def policy(request: HttpRequest) -> Response[bytes]:
    """The policy."""
    known_query(request, ())
    return answered(_policy(app_state(request).deployment.policy))


def _prompt(entry: PinnedFile) -> PromptDetail:
    return PromptDetail(
        id=entry.id,
        version=entry.version,
        kind=entry.kind,
        file=entry.file,
        sha256=entry.sha256,
        current=entry.current,
    )


def _model(model: Model, policy: Policy, places: tuple[SeatChoice, ...]) -> ModelDetail:
    kind = policy.providers[model.provider].kind
    return ModelDetail(
        alias=model.alias,
        provider=model.provider,
        wire=kind,
        name=model.name,
        snapshot=model.snapshot,
        family=model.family,
        simulated=kind in SIMULATED,
        tokenizer=model.tokenizer,
        safety_factor=Decimal(model.safety_per_mille) / 1_000,
        overhead_tokens=model.overhead_tokens,
        context_window=model.context_window,
        parameters=model.parameters,
        seats=tuple(place.seat for place in places if _sits(model, place, policy)),
        fallback_of=tuple(place.seat for place in places if place.fallback == model),
        prices=tuple(_price(row) for row in model.prices),
    )


def _price(row: PriceRow) -> Price:
    long = row.long_input
    return Price(
        effective=row.effective,
        source=row.source,
        long_input=LongInputDetail(above=long.above, **_rates(long.rates)) if long else UNSET,
        tiers={tier: RateDetail(**_rates(rates)) for tier, rates in row.tiers.items()},
        **_rates(row),
    )


def _rates(rates: Rates) -> dict[str, Any]:
    kept = {key: getattr(rates, key.member) for key in RATES}
    return {key.name: UNSET if rate is None else key.shown(rate) for key, rate in kept.items()}


def _policy(policy: Policy) -> Struct:
    return PolicyDetail(
        version=policy.version,
        hash=policy.gate.hash,
        task_types=policy.task_types,
        formats=policy.offered,
        gate=GateSettings(**_shown(policy.gate, _GATE)),
        debate=DebateSettings(**_shown(policy.debate, _DEBATE)),
        limits=policy.limits,
        calls=CallSettings(**_shown(policy.calls, keys_of(Calls))),
        budgets=BudgetSettings(**_shown(policy.budgets, _ZONE), **_shown(policy.budgets.others, keys_of(Budget))),
        seats={place.seat: _seat(place, policy.seats[place.seat]) for place in _places(policy)},
        format_rules=policy.formats,
    )


def _places(policy: Policy) -> tuple[SeatChoice, ...]:
    """The default models of the seats. A seat outside the adversarial format shows its preferred model, for the choice
    depends on the case."""
    others = [(name, seat) for name, seat in policy.seats.items() if name not in ADVERSARIAL.seats]
    return (
        *SEATING.choose(policy, ADVERSARIAL),
        *(
            SeatChoice(name, policy.models[seat.model], policy.models[seat.fallback] if seat.fallback else None)
            for name, seat in others
        ),
    )


def _sits(model: Model, place: SeatChoice, policy: Policy) -> bool:
    pool = policy.seats[place.seat].alternatives if place.seat == DEBATER else ()
    return place.model == model or model.alias in pool


def _seat(place: SeatChoice, seat: Seat) -> SeatSettings:
    return SeatSettings(
        model=place.model.alias,
        allowance=seat.allowance,
        choices=(seat.model, *seat.alternatives),
        fallback=place.fallback.alias if place.fallback else None,
    )
