"""The cost of a usage, the worst case of an attempt, and the charge for it: whole micro-dollars, rounded up once.

    reserve   before an attempt: all input tokens at the dearest rate that can apply, and the whole output allowance
    settle    after it: the cost of the usage; the reservation where the usage is missing, impossible or without a price

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
from service.money.floor import Counted, below_floor
from service.money.tokens import count_tokens
from service.money.usage import Usage

RENDERING_TOKENS = 160
"""Tokens that fences, labels and verdicts add at most to a reply in a later seat's request; a test measures them."""
LABEL_TOKENS = 32
"""The part of `RENDERING_TOKENS` for the label of a reply. A longer label adds its excess (`label_tokens`)."""
RENDERING_PER_MILLE = 1_600
"""The most tokens that a reply takes in a later request, for each thousand tokens of the model's own response."""


UNCOUNTED = Counted(0, 0, 0)
"""A call of which nothing is counted: any usage is above its floor."""


class NoPrice(GainsayError):
    """The price row has no rate for a part of the usage."""

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
    """The cost of a usage in micro-dollars, rounded up once; raises `NoPrice`. Rates are per million tokens."""
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
    """The most input tokens that the vendor may count: our count, times the safety factor of a tokenizer that is not
    the vendor's own, plus the tokens that the vendor adds to each request."""
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

    If the parameters name no service tier or no place, the vendor's default applies. The vendor's console can change
    it, so every listed one counts. If they name one, that one and the usual one count. A higher speed counts only if
    the parameters ask for it.
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
    """Tokens of the labels of later replies beyond the share in `shown_tokens`: a caller may have written labels.

    A text has no more tokens than bytes, so a short label is within the share and is not counted.
    """
    long = [label for label in labels if len(label.encode("utf-8", "surrogatepass")) > LABEL_TOKENS]
    return sum(max(0, count_tokens(label, tokenizer) - LABEL_TOKENS) for label in long)


def closing_cost(tokens: int, allowances: Iterable[int], labels: Iterable[str], plan: SeatPlan) -> MicroUSD:
    """The most that a closing turn can cost at one model, before all that it will see is said.

    ``tokens`` are those of its request as far as it is known. What is missing counts by the ``allowances`` of those who
    will say it, and by the ``labels`` under which it will be shown.
    """
    shown = sum(shown_tokens(allowance) for allowance in allowances)
    return worst_case(tokens + shown + label_tokens(labels, plan.tokenizer), plan)


def charge(usage: Usage | None, held: MicroUSD, price: PriceRow, counted: Counted = UNCOUNTED) -> Charge:
    """The charge for an attempt that came back: the cost of its usage, or the whole reservation if the response
    reports no usage that can be true, by its own sums or by what we have ``counted``.

    A cost above the reservation is charged in full; ``excess`` is the difference. For a usage without a price, the
    charge is the reservation, and the record keeps the tokens.
    """
    if usage is None or not usage.believable:
        return Charge(held, "reserved")
    priced = rates(usage, price) is not None
    amount = cost(usage, price) if priced else held
    if (below := below_floor(usage, counted)) and amount <= held:
        return Charge(held, "reserved", below_floor=below)
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
        below_floor=below,
    )


def charged(charge: Charge) -> Usage:
    """The usage that a charge was computed from; the inverse of `charge` for responses that report a usage."""
    return Usage(
        charge.input_tokens,
        charge.output_tokens,
        charge.cached_input_tokens,
        charge.cache_write_tokens,
        charge.reasoning_tokens,
        charge.cache_write_1h_tokens,
        charge.tier,
    )
