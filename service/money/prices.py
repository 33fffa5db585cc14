"""What a usage costs, what an attempt can cost at most, and what it is charged: whole micro-dollars, rounded up once.

    reserve   before an attempt: all input tokens at the dearest rate that can apply, and the whole output allowance
    settle    after it: what the usage says; what was held where the usage is missing, cannot be true or has no price

Which rates apply to a call, of its price row:

    usual tier, input within the limit   the row's own
    usual tier, input above the limit    `long_input`, for the whole call
    another tier                         that tier's; none where it is not listed, or where its input is above the limit
    a cache of an hour                   `cache_write_1h` of these rates; without one the usage has no price
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from service.debate.amounts import MICRO, MicroUSD
from service.debate.entries import Charge
from service.debate.model import PriceRow, Rates, SeatPlan
from service.errors import GainsayError
from service.money.tokens import count_tokens
from service.money.usage import Usage

RENDERING_TOKENS = 160
"""What fences, labels and verdicts add at most to a reply when a later seat is shown it; measured in a test."""
LABEL_TOKENS = 32
"""As much of `RENDERING_TOKENS` is for the label of a reply; what a longer one takes comes on top of it."""
RENDERING_PER_MILLE = 1_600
"""How much longer, in tokens, a reply may be in a later request than it was when its model said it."""


class NoPrice(GainsayError):
    """The price row does not know what was used."""

    code = "no_price"
    title = "What was used has no price"


def rates(usage: Usage, price: PriceRow) -> Rates | None:
    """The rates of the whole call, or ``None`` where the row has none for its tier or for a cache of an hour."""
    long = price.long_input
    above = long is not None and usage.inputs > long.above
    found: Rates | None = price
    if usage.tier:
        found = None if above else price.tiers.get(usage.tier)
    elif long is not None and above:
        found = long.rates
    return None if found and usage.cache_write_1h and found.cache_write_1h is None else found


def cost(usage: Usage, price: PriceRow) -> MicroUSD:
    """What a usage costs, rounded up once: rates are micro-dollars per million tokens. Raises `NoPrice`."""
    paid = rates(usage, price)
    if paid is None:
        raise NoPrice(
            f"expected a price for tier {usage.tier or 'usual'!r}, {usage.inputs} input tokens and "
            f"{usage.cache_write_1h} tokens in a cache of an hour, found none in the row of {price.model!r} from "
            f"{price.effective}; add them to a new row"
        )
    exact = (
        usage.input * paid.input
        + usage.cached_input * paid.cached_input
        + usage.cache_write * paid.cache_write
        + usage.cache_write_1h * (paid.cache_write_1h or 0)
        + usage.output * paid.output
        + usage.reasoning * paid.reasoning
    )
    return -(-exact // MICRO)


def tokens_at_most(input_tokens: int, plan: SeatPlan) -> int:
    """What the vendor may count: our count, times the safety factor of a tokenizer that is not its own, and what the
    vendor adds to each request."""
    return -(-input_tokens * plan.safety_per_mille // 1_000) + plan.overhead_tokens


def fits(input_tokens: int, plan: SeatPlan) -> bool:
    """Whether a model's window holds the request and the whole reply that it may give."""
    return tokens_at_most(input_tokens, plan) + plan.allowance <= plan.context_window


def worst_case(input_tokens: int, plan: SeatPlan) -> MicroUSD:
    """The most that one attempt can cost: every input token at its dearest rate, the whole allowance as output.

    No usage within ``tokens_at_most`` and the allowance, of a tier that can be served, costs more.
    """
    tokens, price = tokens_at_most(input_tokens, plan), plan.price
    possible: list[Rates] = [price, *(price.tiers[tier] for tier in servable(price, plan.parameters))]
    if price.long_input is not None and tokens > price.long_input.above:
        possible.append(price.long_input.rates)
    exact = max(tokens * _dearest_in(paid) + plan.allowance * max(paid.output, paid.reasoning) for paid in possible)
    return -(-exact // MICRO)


def servable(price: PriceRow, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The listed tiers in which a call with these parameters may be served; the usual one always may.

    A service tier or a place that the parameters leave open is the vendor's default, which its console can change: any
    listed one may be served. One that they name may be served, or the usual one. A higher speed is served only where
    it was asked for.
    """
    return tuple(tier for tier in price.tiers if all(_possible(part, parameters) for part in tier.split("+")))


def _possible(part: str, parameters: Mapping[str, Any]) -> bool:
    axis, name = part.split(":", 1) if ":" in part else ("service_tier", part)
    if axis == "speed":
        return name == str(parameters.get("speed"))
    if axis == "geo":
        return name == str(parameters.get("inference_geo", name))
    asked = str(parameters.get("service_tier", "auto"))
    return asked in ("auto", part) or (asked, part) == ("fast", "priority")  # OpenAI answers the one with the other


def _dearest_in(paid: Rates) -> MicroUSD:
    return max(paid.input, paid.cached_input, paid.cache_write, paid.cache_write_1h or 0)


def shown_tokens(said: int) -> int:
    """A bound on what a reply of this many tokens takes in a later request."""
    return -(-said * RENDERING_PER_MILLE // 1_000) + RENDERING_TOKENS


def label_tokens(labels: Iterable[str], tokenizer: str) -> int:
    """What labels of later replies take beyond what `shown_tokens` has for them: a caller may have written them."""
    return sum(max(0, count_tokens(label, tokenizer) - LABEL_TOKENS) for label in labels)


def closing_cost(tokens: int, allowances: Iterable[int], labels: Iterable[str], plan: SeatPlan) -> MicroUSD:
    """The most that a closing turn can cost at one model, before all that it will see is said.

    ``tokens`` are those of its request as far as it is known. What is missing counts by the ``allowances`` of those who
    will say it, and by the ``labels`` under which it will be shown.
    """
    shown = sum(shown_tokens(allowance) for allowance in allowances)
    return worst_case(tokens + shown + label_tokens(labels, plan.tokenizer), plan)


def charge(usage: Usage | None, held: MicroUSD, price: PriceRow) -> Charge:
    """The charge for an attempt that came back: its usage, or all that was held where none was told that can be true.

    A vendor that bills above the reservation is charged in full; ``excess`` says by how much. A usage that has no price
    is charged as held, and keeps its tokens.
    """
    if usage is None or not usage.believable:
        return Charge(held, "reserved")
    priced = rates(usage, price) is not None
    amount = cost(usage, price) if priced else held
    return Charge(
        amount,
        "usage" if priced else "reserved",
        usage.input,
        usage.cached_input,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        excess=max(0, amount - held),
        cache_write_1h_tokens=usage.cache_write_1h,
        tier=usage.tier,
    )


def charged(charge: Charge) -> Usage:
    """The usage that a charge was computed from; the inverse of `charge` wherever one was told."""
    return Usage(
        charge.input_tokens,
        charge.output_tokens,
        charge.cached_input_tokens,
        charge.cache_write_tokens,
        charge.reasoning_tokens,
        charge.cache_write_1h_tokens,
        charge.tier,
    )
