"""What runs: prompts, models and policy, each with the hashes that debates record."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from litestar import Response, get
from msgspec import Struct, field

from service.debate.model import PriceRow
from service.debate.money import usd
from service.intake import SIMULATED
from service.intake.checks import FORMATS
from service.policy import DebatePolicy, Limits, Model, Policy, policy_hash
from service.prompts import PinnedFile
from service.web.debates import answered, known_query
from service.web.site import HttpRequest, site_of


class PromptDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pinned file: debates that start now get the current version."""

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


class Price(Struct, frozen=True, kw_only=True, rename="camel"):
    """A price row: US dollars per million tokens from a date on, and who says so."""

    effective: str
    source: str
    input_usd: str = field(name="inputUSD")
    cached_input_usd: str = field(name="cachedInputUSD")
    cache_write_usd: str = field(name="cacheWriteUSD")
    output_usd: str = field(name="outputUSD")
    reasoning_usd: str = field(name="reasoningUSD")


class ModelDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model of the catalogue, the seats that it sits in by default, and whether it is simulated."""

    alias: str
    provider: str
    name: str
    family: str
    simulated: bool
    tokenizer: str
    context_window: int
    seats: tuple[str, ...]
    prices: tuple[Price, ...]


class ModelList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The catalogue; ``priceHash`` is what debates record of its prices."""

    price_hash: str
    models: tuple[ModelDetail, ...]


class GateSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """When a question deserves a debate. Thresholds are per task type, in US dollars."""

    factor: int
    certain_factor: int
    confidence_floor: Decimal
    risk_categories: tuple[str, ...]
    always: tuple[str, ...]
    never: tuple[str, ...]
    may_force: tuple[str, ...]
    thresholds_usd: dict[str, str] = field(name="thresholdsUSD")


class DebateSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a debate gets where the case does not say."""

    format: str
    ceiling_usd: str = field(name="ceilingUSD")
    ceiling_max_usd: str = field(name="ceilingMaxUSD")
    rounds: int
    high_stakes_rounds: int
    high_stakes_downside_usd: str = field(name="highStakesDownsideUSD")
    high_stakes_materiality: tuple[str, ...]
    min_challenge_strength: int
    require_critic_retry_below: int
    attempts_per_turn: int
    human_review: tuple[str, ...]
    may_choose_models: bool


class SeatSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who sits in a seat by default, and the most output tokens of one turn there."""

    model: str
    allowance: int


class PolicyDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """The policy that runs; ``hash`` is what every decision names."""

    version: str
    hash: str
    task_types: tuple[str, ...]
    formats: tuple[str, ...]
    gate: GateSettings
    debate: DebateSettings
    limits: Limits
    seats: dict[str, SeatSettings]


@get("/v1/prompts")
async def prompts(request: HttpRequest) -> Response[bytes]:
    """Every pinned file of this image."""
    known_query(request, ())
    pinned = site_of(request).service.prompts
    return answered(PromptList(pin=pinned.pin, prompts=tuple(_prompt(entry) for entry in pinned.entries)))


@get("/v1/models")
async def models(request: HttpRequest) -> Response[bytes]:
    """The catalogue."""
    known_query(request, ())
    policy = site_of(request).deployment.policy
    prices = policy_hash([model.prices for _, model in sorted(policy.models.items())])  # as intake fixes it
    return answered(ModelList(price_hash=prices, models=tuple(_model(m, policy) for m in policy.models.values())))


@get("/v1/policy")
async def policy(request: HttpRequest) -> Response[bytes]:
    """The policy."""
    known_query(request, ())
    return answered(_policy(site_of(request).deployment.policy))


def _prompt(entry: PinnedFile) -> PromptDetail:
    return PromptDetail(
        id=entry.id,
        version=entry.version,
        kind=entry.kind,
        file=entry.file,
        sha256=entry.sha256,
        current=entry.current,
    )


def _model(model: Model, policy: Policy) -> ModelDetail:
    return ModelDetail(
        alias=model.alias,
        provider=model.provider,
        name=model.name,
        family=model.family,
        simulated=policy.providers[model.provider].kind in SIMULATED,
        tokenizer=model.tokenizer,
        context_window=model.context_window,
        seats=tuple(name for name, seat in policy.seats.items() if seat.model == model.alias),
        prices=tuple(_price(row) for row in model.prices),
    )


def _price(row: PriceRow) -> Price:
    return Price(
        effective=row.effective,
        source=row.source,
        input_usd=usd(row.input),
        cached_input_usd=usd(row.cached_input),
        cache_write_usd=usd(row.cache_write),
        output_usd=usd(row.output),
        reasoning_usd=usd(row.reasoning),
    )


def _policy(policy: Policy) -> PolicyDetail:
    gate = policy.gate
    return PolicyDetail(
        version=policy.version,
        hash=gate.hash,
        task_types=policy.task_types,
        formats=tuple(FORMATS),
        gate=GateSettings(
            factor=gate.factor,
            certain_factor=gate.certain_factor,
            confidence_floor=gate.confidence_floor,
            risk_categories=gate.risk_categories,
            always=gate.always,
            never=gate.never,
            may_force=gate.may_force,
            thresholds_usd={task: usd(amount) for task, amount in gate.thresholds.items()},
        ),
        debate=_debate(policy.debate),
        limits=policy.limits,
        seats={name: SeatSettings(model=seat.model, allowance=seat.allowance) for name, seat in policy.seats.items()},
    )


def _debate(rules: DebatePolicy) -> DebateSettings:
    return DebateSettings(
        format=rules.format,
        ceiling_usd=usd(rules.ceiling),
        ceiling_max_usd=usd(rules.ceiling_max),
        rounds=rules.rounds,
        high_stakes_rounds=rules.high_stakes_rounds,
        high_stakes_downside_usd=usd(rules.high_stakes_downside),
        high_stakes_materiality=rules.high_stakes_materiality,
        min_challenge_strength=rules.min_challenge_strength,
        require_critic_retry_below=rules.require_critic_retry_below,
        attempts_per_turn=rules.attempts_per_turn,
        human_review=rules.human_review,
        may_choose_models=rules.may_choose_models,
    )
