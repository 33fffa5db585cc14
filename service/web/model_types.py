"""The models as JSON: the answer of ``GET /v1/models`` and the output of ``gainsay models --json``.

Addresses of providers and the places of their keys are no part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, Literal, get_args

from msgspec import UNSET, Struct, UnsetType, field

from service.debate.model import PriceRow, Rates
from service.debate.replies.panel import QuestionType
from service.intake.model_ranking import Standing, rank_models, track_records
from service.policy import SIMULATED, Model, Policy, price_hash
from service.policy.prices import RATES
from service.policy.seating import ADVERSARIAL, DEBATER, SEATING, SeatChoice, may_be_named
from service.web.completions.names import ChatModel, chat_models

QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)


class RateDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """US dollars per million tokens, by kind."""

    input_usd: str = field(name="inputUSD")
    """US dollars for a million tokens of input at the full rate."""
    cached_input_usd: str = field(name="cachedInputUSD")
    """US dollars for a million tokens of input that the vendor reads from its cache."""
    cache_write_usd: str = field(name="cacheWriteUSD")
    """US dollars for a million tokens of input that the vendor writes into its cache for some minutes."""
    output_usd: str = field(name="outputUSD")
    """US dollars for a million tokens of output."""
    reasoning_usd: str = field(name="reasoningUSD")
    """US dollars for a million tokens of reasoning."""
    cache_write_1h_usd: str | UnsetType = field(name="cacheWrite1hUSD", default=UNSET)
    """US dollars for a million tokens of input that the vendor writes into its cache for an hour. Absent without a
    price of its own."""


class LongInputDetail(RateDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The rates of a call with a long input; they apply to all its tokens."""

    above: int
    """Tokens of input above which these rates hold for the whole call."""


class Price(RateDetail, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A price row: rates from a date on, and their source."""

    effective: str
    """The day from which the rates hold."""
    source: str
    """Where the rates come from, in the operator's words."""
    long_input: LongInputDetail | UnsetType = UNSET
    """The rates of a call with a long input."""
    tiers: dict[str, RateDetail] = {}
    """The rates of the vendor's other service tiers, by name."""

    @classmethod
    def of(cls, row: PriceRow) -> Price:
        """A row of the price table."""
        long = row.long_input
        return cls(
            effective=row.effective,
            source=row.source,
            long_input=LongInputDetail(above=long.above, **_rates(long.rates)) if long else UNSET,
            tiers={tier: RateDetail(**_rates(rates)) for tier, rates in row.tiers.items()},
            **_rates(row),
        )


class ModelRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a model did on questions of one type in the newest panels of the tenant.

    Its accuracy scores are four in each panel, or three where none of its citations could be compared. Scores measure
    conduct in debates and not truth.
    """

    question_type: QuestionType
    """The type of the questions."""
    debates: int
    """The number of the tenant's panels that count, at least 1."""
    mean: float
    """The mean of the model's accuracy scores in them, a share from 0 to 1."""
    score: float
    """What an automatic choice ranks by: the mean, drawn towards 0.5 where there are few debates. A share from 0 to 1.
    """

    @classmethod
    def of(cls, found: Standing, weight: int) -> ModelRecord:
        """The record that a standing gives, where ``weight`` debates count as much as the middle."""
        (record,) = track_records((found.model,), (found,), found.question_type, weight)
        mean, score = found.mean / 1_000, record.score / 1_000
        return cls(question_type=found.question_type, debates=found.debates, mean=mean, score=score)


class ModelDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model of the catalogue, the seats that it has or may have, and whether it is simulated.

    A case may name it if policy lets cases choose and takes its kind of name, and it has a price in force.
    """

    alias: str
    """The name that policy gives to the model."""
    provider: str
    wire: str
    name: str
    """The vendor's name for the model."""
    snapshot: bool
    """Whether that name stands for one fixed artefact."""
    family: str
    simulated: bool
    tokenizer: str
    """How tokens are counted before a call."""
    safety_factor: Decimal
    """What our count is multiplied by before money is reserved, as a decimal string, at least 1."""
    overhead_tokens: int
    """Tokens that the vendor adds to each request beyond the text that we count."""
    context_window: int
    """The most tokens of a request and its reply together, at least 1."""
    parameters: dict[str, Any]
    """Parameters of the vendor's that are sent with each request."""
    seats: tuple[str, ...]
    """The seats that the model has by default, with debater if it is in the pool of debaters."""
    fallback_of: tuple[str, ...]
    """The seats whose own model it replaces when that cannot answer."""
    prices: tuple[Price, ...]
    """The rows of its price, by date."""
    choosable: bool
    """Whether a case may name it in `options.models` now."""
    track_records: tuple[ModelRecord, ...]
    """How it did in the tenant's own panels, by type of question."""

    @classmethod
    def of(cls, model: Model, policy: Policy, day: str, found: Sequence[Standing]) -> ModelDetail:
        """A model of the policy on a day (``YYYY-MM-DD``), with the standings of the tenant."""
        kind, places = policy.providers[model.provider].kind, seat_places(policy)
        return cls(
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
            prices=tuple(Price.of(row) for row in model.prices),
            choosable=policy.debate.may_choose_models and may_be_named(policy, model) and bool(model.price(day)),
            track_records=tuple(
                ModelRecord.of(one, policy.formats.panel.track_record_debates)
                for one in sorted(found, key=lambda one: QUESTION_TYPES.index(one.question_type))
                if one.model == model.alias
            ),
        )


class ModelList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The catalogue. Debates record the hash of its prices.

    ``object`` and ``data`` are what clients of OpenAI's API read: the formats, by which they name a model.
    """

    always_sent: ClassVar = ("models", "data")

    price_hash: str
    models: tuple[ModelDetail, ...]
    """The models of the catalogue."""
    debater_order: dict[QuestionType, tuple[str, ...]]
    """The pool of debaters in the order in which a panel of mode auto prefers them now, by type of question."""
    object: Literal["list"] = "list"
    """Always `list`."""
    data: tuple[ChatModel, ...]
    """The formats, as models of POST /v1/chat/completions."""

    @classmethod
    def of(cls, policy: Policy, day: str, found: Sequence[Standing]) -> ModelList:
        """The catalogue of a policy on a day (``YYYY-MM-DD``), with the standings of one tenant."""
        pool, weight = policy.seats.get(DEBATER), policy.formats.panel.track_record_debates
        aliases = (pool.model, *pool.alternatives) if pool else ()
        return cls(
            price_hash=price_hash(policy),
            models=tuple(ModelDetail.of(model, policy, day, found) for model in policy.models.values()),
            debater_order={
                kind: rank_models(track_records(aliases, found, kind, weight)) for kind in QUESTION_TYPES if aliases
            },
            data=chat_models(policy),
        )


def seat_places(policy: Policy) -> tuple[SeatChoice, ...]:
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


def _rates(rates: Rates) -> dict[str, Any]:
    kept = [(key, getattr(rates, key.member)) for key in RATES]
    return {key.name: UNSET if rate is None else key.shown(rate) for key, rate in kept}
