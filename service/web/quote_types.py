"""A quote as JSON: the answer of ``POST /v1/quotes`` and the output of ``gainsay quote --json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct, field

from service.debate.amounts import MicroUSD, usd
from service.debate.model import Diversity, Pair, SeatPlan
from service.intake.quote import CaseQuote, DocumentQuote, SeatQuote
from service.report import build_gate
from service.report.result.shown_options import ShownOptions, shown_options
from service.report.result.types import Gate


class QuotedModel(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that may sit in a seat, and the price row of its charges.

    ``inputUSD`` and ``outputUSD`` are per million tokens. ``GET /v1/models`` has the whole row.
    """

    alias: str
    provider: str
    model_name: str
    family: str
    wire: str
    tokenizer: str
    context_window: int
    price_effective: str
    price_source: str
    input_usd: str = field(name="inputUSD")
    output_usd: str = field(name="outputUSD")

    @classmethod
    def of(cls, plan: SeatPlan) -> QuotedModel:
        """The model of a plan."""
        return cls(
            alias=plan.model,
            provider=plan.provider,
            model_name=plan.model_name,
            family=plan.family,
            wire=plan.wire,
            tokenizer=plan.tokenizer,
            context_window=plan.context_window,
            price_effective=plan.price.effective,
            price_source=plan.price.source,
            input_usd=usd(plan.price.input),
            output_usd=usd(plan.price.output),
        )


class QuotedSeat(Struct, frozen=True, kw_only=True, rename="camel"):
    """A seat: its most turns, the tokens of its whole first request, and its cost.

    ``worstUSD`` is the cost of every attempt of every possible turn, each charged at its full reservation. The ceiling
    does not lower it.
    """

    seat: str
    model: QuotedModel
    fallback: QuotedModel | None
    turns_at_most: int
    first_request_tokens: int
    reply_tokens_at_most: int
    expected_usd: str = field(name="expectedUSD")
    worst_usd: str = field(name="worstUSD")

    @classmethod
    def of(cls, found: SeatQuote) -> QuotedSeat:
        """The amounts in US dollars."""
        plan = found.plan
        return cls(
            seat=plan.seat,
            model=QuotedModel.of(plan),
            fallback=QuotedModel.of(plan.fallback) if plan.fallback else None,
            turns_at_most=found.turns,
            first_request_tokens=found.first_request,
            reply_tokens_at_most=plan.allowance,
            expected_usd=usd(found.expected),
            worst_usd=usd(found.worst),
        )


class QuotedDocument(Struct, frozen=True, kw_only=True, rename="camel"):
    """A document: ``tokens`` maps each tokenizer of the roster to the tokens of the text alone."""

    always_sent: ClassVar = ("tokens",)

    id: str
    title: str
    round: int
    characters: int
    tokens: dict[str, int]

    @classmethod
    def of(cls, found: DocumentQuote) -> QuotedDocument:
        """The document as the caller gave it."""
        d = found.document
        return cls(id=d.id, title=d.title, round=d.round, characters=d.characters, tokens=dict(found.tokens))


class TenantLeft(Struct, frozen=True, kw_only=True, rename="camel"):
    """The amounts remaining of the tenant's limits for today and for this month; absent where there is no limit."""

    day_usd: str | None = field(name="dayUSD")
    month_usd: str | None = field(name="monthUSD")


class PriceQuote(Struct, frozen=True, kw_only=True, rename="camel"):
    """The cost of a case. A quote records nothing, calls no model and is not binding.

    ``gate`` is the decision that the case would get. ``options``, ``seats``, ``diversity`` and ``pairs`` are those with
    which its debate would begin. ``expectedUSD`` is the catalogue's estimate. ``worstUSD`` is the most that the debate
    can be charged: the ceiling, or ``askedAtMostUSD`` if that is less. ``askedAtMostUSD`` counts every round, with
    critic, moderator, judge and synthesizer asked twice and each attempt charged at its full reservation. Calls lost
    with their worker, and calls beyond ``attemptsPerTurn`` that find their vendor unavailable, add to it, but never
    above the ceiling. ``neededUSD`` is the least amount with which a debate begins. ``startable`` is true if the
    ceiling and the tenant's remaining limits cover it. A declined case is priced as if it were debated.

    The amounts follow from the prices and the policy of ``day``, which the hashes name. ``tenantLeft`` is absent
    where the tenant has no limits.
    """

    always_sent: ClassVar = ("seats",)

    gate: Gate
    startable: bool
    needed_usd: str = field(name="neededUSD")
    ceiling_usd: str = field(name="ceilingUSD")
    expected_usd: str = field(name="expectedUSD")
    worst_usd: str = field(name="worstUSD")
    asked_at_most_usd: str = field(name="askedAtMostUSD")
    format: str
    options: ShownOptions
    attempts_per_turn: int
    simulated: bool
    seats: tuple[QuotedSeat, ...]
    documents: tuple[QuotedDocument, ...]
    diversity: Diversity
    pairs: tuple[Pair, ...]
    tenant_left: TenantLeft | None
    day: str
    validity: str
    policy_version: str
    policy_hash: str
    price_hash: str
    prompts_pin: str

    @classmethod
    def of(cls, found: CaseQuote, left: Mapping[str, MicroUSD] | None = None) -> PriceQuote:
        """The amounts in US dollars. ``left``: the remaining amounts by limit (``tenantDay``, ``tenantMonth``)."""
        started = found.started
        return cls(
            gate=build_gate(found.decision),
            startable=found.startable and all(amount >= found.needed for amount in (left or {}).values()),
            needed_usd=usd(found.needed),
            ceiling_usd=usd(started.ceiling),
            expected_usd=usd(started.expected_cost),
            worst_usd=usd(found.worst),
            asked_at_most_usd=usd(found.asked_at_most),
            format=started.format,
            options=shown_options(started.options),
            attempts_per_turn=started.attempts_per_turn,
            simulated=started.simulated,
            seats=tuple(QuotedSeat.of(seat) for seat in found.seats),
            documents=tuple(QuotedDocument.of(document) for document in found.documents),
            diversity=started.diversity,
            pairs=started.pairs,
            tenant_left=_tenant_left(left) if left else None,
            day=found.day,
            validity=validity(found),
            policy_version=found.policy_version,
            policy_hash=started.policy_hash,
            price_hash=started.price_hash,
            prompts_pin=started.pin,
        )


def validity(found: CaseQuote) -> str:
    """How long a quote is valid, in words."""
    return f"prices and policy of {found.day}; not binding: a debate is charged by those of the day on which it begins"


def _tenant_left(left: Mapping[str, MicroUSD]) -> TenantLeft:
    amounts = {limit: usd(amount) for limit, amount in left.items()}
    return TenantLeft(day_usd=amounts.get("tenantDay"), month_usd=amounts.get("tenantMonth"))
