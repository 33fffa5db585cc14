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
    """A model that may sit in a seat, and the price row of its charges. ``GET /v1/models`` has the whole row."""

    alias: str
    """The alias of the model in the catalogue."""
    provider: str
    model_name: str
    family: str
    wire: str
    tokenizer: str
    """How its tokens are counted."""
    context_window: int
    """The most tokens of a request and its reply together, at least 1."""
    price_effective: str
    """The day from which its price holds."""
    price_source: str
    """Where the price comes from, in the operator's words."""
    input_usd: str = field(name="inputUSD")
    """US dollars for a million tokens of input at the full rate."""
    output_usd: str = field(name="outputUSD")
    """US dollars for a million tokens of output."""

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
    """A seat: how often it may speak, and its cost. The ceiling does not lower ``worstUSD``."""

    seat: str
    model: QuotedModel
    """The model that sits there."""
    fallback: QuotedModel | None
    """The model that is asked if that cannot answer."""
    turns_at_most: int
    """The most turns that the seat may have."""
    first_request_tokens: int
    """Tokens of its whole first request, by the model's tokenizer."""
    reply_tokens_at_most: int
    """The most output tokens of one of its turns."""
    expected_usd: str = field(name="expectedUSD")
    """US dollars that the seat is expected to cost."""
    worst_usd: str = field(name="worstUSD")
    """US dollars if every attempt of every possible turn is charged as reserved."""

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
    """A document and its length."""

    always_sent: ClassVar = ("tokens",)

    id: str
    """The document's id."""
    title: str
    """The document's title, or its id where the case gave none."""
    round: int
    """The first round whose seats read it, from 1."""
    characters: int
    """The length of the text in Unicode code points."""
    tokens: dict[str, int]
    """Tokens of the text alone, by tokenizer."""

    @classmethod
    def of(cls, found: DocumentQuote) -> QuotedDocument:
        """The document as the caller gave it."""
        d = found.document
        return cls(id=d.id, title=d.title, round=d.round, characters=d.characters, tokens=dict(found.tokens))


class TenantLeft(Struct, frozen=True, kw_only=True, rename="camel"):
    """The amounts remaining of the tenant's limits for today and for this month."""

    day_usd: str | None = field(name="dayUSD")
    """US dollars that remain for today. Absent without such a limit."""
    month_usd: str | None = field(name="monthUSD")
    """US dollars that remain for this month. Absent without such a limit."""


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
    """The gate's decision on the case."""
    startable: bool
    """Whether the ceiling and the tenant's limits cover what the debate needs to begin."""
    needed_usd: str = field(name="neededUSD")
    """US dollars that the debate needs to begin."""
    ceiling_usd: str = field(name="ceilingUSD")
    """US dollars that the debate may cost at most."""
    expected_usd: str = field(name="expectedUSD")
    """US dollars that it is expected to cost."""
    cache_saves_usd: str = field(name="cacheSavesUSD")
    """US dollars that vendors' prefix caches may take off `expectedUSD`, by the rates of the seats' price rows, if each
    call that repeats a prefix finds it: the system prompt and the case. Below 0 where writing costs more than reading
    saves. An estimate: caches expire after some minutes, and no vendor promises a hit."""
    cacheable_calls: int
    """The number of calls of the usual course that repeat a prefix long enough for a cache, at least 0."""
    worst_usd: str = field(name="worstUSD")
    """US dollars that it can be charged at most: the lower of its ceiling and `askedAtMostUSD`."""
    asked_at_most_usd: str = field(name="askedAtMostUSD")
    """US dollars if every attempt of every turn of the longest debate is charged as reserved."""
    format: str
    """The format and its version."""
    options: ShownOptions
    """The debate's options, all resolved."""
    attempts_per_turn: int
    """How many attempts of one model may fail in a turn, at least 1."""
    simulated: bool
    seats: tuple[QuotedSeat, ...]
    """What each seat costs."""
    documents: tuple[QuotedDocument, ...]
    """How long each document is."""
    diversity: Diversity
    pairs: tuple[Pair, ...]
    """The seats that should have models of different families."""
    tenant_left: TenantLeft | None
    """What remains of the tenant's limits. Absent without limits."""
    day: str
    """The day whose prices and policy the quote rests on, in UTC."""
    validity: str
    """How long the quote is valid, in words."""
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
            cache_saves_usd=usd(found.caches.saves),
            cacheable_calls=found.caches.calls,
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
