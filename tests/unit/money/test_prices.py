"""Money: what a usage costs, what an attempt can cost at most, and what it is charged."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import Charge
from service.debate.model import LongInput, PriceRow, Rates, SeatPlan
from service.money import (
    TOKENIZERS,
    NoPrice,
    Usage,
    charge,
    charged,
    cost,
    count_tokens,
    fits,
    label_tokens,
    rates,
    servable,
    shown_tokens,
    tokenizers,
    tokens_at_most,
    worst_case,
)
from service.money.prices import LABEL_TOKENS
from tests.fixtures.debates import PRICE, a_start, price_row

TIERS = ("flex", "priority", "speed:fast", "geo:us", "priority+geo:us")

tokens = st.integers(0, 2_000_000)
amounts = st.integers(0, 200_000_000)
plain_rows = st.builds(price_row, amounts, amounts, amounts, amounts, amounts)
usages = st.builds(Usage, tokens, tokens, tokens, tokens, tokens)
some_rates = st.builds(
    Rates,
    input=amounts,
    output=amounts,
    cached_input=amounts,
    cache_write=amounts,
    reasoning=amounts,
    cache_write_1h=st.none() | amounts,
)
rows = st.builds(
    lambda row, hour, long, tiers: replace(row, cache_write_1h=hour, long_input=long, tiers=tiers),
    plain_rows,
    st.none() | amounts,
    st.none() | st.builds(LongInput, tokens, some_rates),
    st.dictionaries(st.sampled_from(TIERS), some_rates, max_size=3),
)
parameters = st.fixed_dictionaries(
    {},
    optional={
        "service_tier": st.sampled_from(["auto", "default", "standard_only", "flex", "priority", "fast"]),
        "speed": st.sampled_from(["standard", "fast"]),
        "inference_geo": st.sampled_from(["global", "us"]),
        "temperature": st.just(0),
    },
)


def plan(price: PriceRow, allowance: int, safety: int = 1_000, **more: Any) -> SeatPlan:
    return replace(a_start().seat("critic"), price=price, allowance=allowance, safety_per_mille=safety, **more)


def flat(rate: int, hour: int | None = None) -> Rates:
    return Rates(
        input=rate, output=rate, cached_input=rate, cache_write=rate, reasoning=rate, cache_write_1h=hour
    )  # the same for every kind


# Costs.


def test_each_kind_of_token_has_its_own_price() -> None:
    price = replace(price_row(1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000), cache_write_1h=6_000_000)

    amounts = [
        cost(Usage(7, 0), price),
        cost(Usage(0, 7), price),
        cost(Usage(0, 0, cached_input=7), price),
        cost(Usage(0, 0, cache_write=7), price),
        cost(Usage(0, 0, reasoning=7), price),
        cost(Usage(0, 0, cache_write_1h=7), price),
    ]

    assert amounts == [7, 14, 21, 28, 35, 42]


@given(usages, plain_rows)
def test_a_cost_is_the_exact_amount_rounded_up_once(usage: Usage, price: PriceRow) -> None:
    exact = Fraction(
        usage.input * price.input
        + usage.output * price.output
        + usage.cached_input * price.cached_input
        + usage.cache_write * price.cache_write
        + usage.reasoning * price.reasoning,
        1_000_000,
    )

    amount = cost(usage, price)

    assert exact <= amount < exact + 1


def test_a_single_token_costs_a_micro_dollar_at_least_and_nothing_costs_nothing() -> None:
    cheap = price_row(1, 1, 1, 1, 1)

    assert cost(Usage(1, 0), cheap) == 1
    assert cost(Usage(1, 1, 1, 1, 1), cheap) == 1, "rounded up once, not kind by kind"
    assert cost(Usage(0, 0), cheap) == 0


@pytest.mark.parametrize(
    "usage",
    [Usage(1_001, 0), Usage(1, 0, cached_input=1_000), Usage(1, 0, cache_write=1_000), Usage(1_000, 0, 0, 0, 0, 1)],
)
def test_a_call_with_a_long_input_is_priced_as_long_as_a_whole_whatever_its_input_is(usage: Usage) -> None:
    price = replace(price_row(1, 1, 1, 1, 1), cache_write_1h=1, long_input=LongInput(1_000, flat(2_000_000, 2_000_000)))

    assert cost(usage, price) == 2 * 1_001
    assert cost(Usage(1_000, 5_000), price) == 1, "the limit itself is not above it, and output does not count"


def test_a_tier_is_priced_at_its_own_rates() -> None:
    price = replace(PRICE, tiers={"priority": flat(7_000_000)})

    assert cost(Usage(2, 1, tier="priority"), price) == 21


@pytest.mark.parametrize(
    "usage",
    [
        Usage(10, 10, tier="scale"),
        Usage(10, 10, cache_write_1h=1),
        Usage(10, 10, cache_write_1h=1, tier="priority"),
        Usage(1_001, 10, tier="priority"),
    ],
    ids=["a tier that is not listed", "an hour's cache", "a tier's hour", "a tier above the limit"],
)
def test_what_has_no_price_has_no_cost_and_is_charged_as_held_with_its_tokens(usage: Usage) -> None:
    price = replace(PRICE, tiers={"priority": flat(1)}, long_input=LongInput(1_000, flat(1, 1)))

    with pytest.raises(NoPrice, match="add them to a new row"):
        cost(usage, price)

    paid = charge(usage, 1_234, price)
    assert (paid.amount, paid.basis, paid.excess) == (1_234, "reserved", 0)
    assert charged(paid) == usage


# Worst cases.


@given(rows, parameters, st.integers(0, 200_000), st.integers(0, 100_000), st.integers(1_000, 2_000), st.data())
def test_no_usage_within_its_bounds_costs_more_than_the_worst_case(
    price: PriceRow, given_: dict[str, Any], counted: int, allowance: int, safety: int, data: st.DataObject
) -> None:
    seat = plan(price, allowance, safety, parameters=given_, overhead_tokens=data.draw(st.integers(0, 500)))
    left, kinds = tokens_at_most(counted, seat), []
    for _ in range(4):
        kinds.append(data.draw(st.integers(0, left)))
        left -= kinds[-1]
    said: int = data.draw(st.integers(0, allowance))
    tier = data.draw(st.sampled_from(["", *servable(price, given_)]))
    usage = Usage(kinds[0], said, kinds[1], kinds[2], data.draw(st.integers(0, allowance - said)), kinds[3], tier)

    held = worst_case(counted, seat)

    assert charge(usage, held, price).excess == 0
    if rates(usage, price) is not None:
        assert cost(usage, price) <= held


@given(rows, parameters, st.integers(0, 200_000), st.integers(0, 100_000))
def test_a_worst_case_is_no_more_than_some_usage_can_cost(
    price: PriceRow, given_: dict[str, Any], counted: int, allowance: int
) -> None:
    """Else debates starve that could be paid for."""
    possible = []
    for tier in ["", *servable(price, given_)]:
        for kind in ("input", "cached_input", "cache_write", "cache_write_1h"):
            for out in ("output", "reasoning"):
                kinds: dict[str, Any] = {"input": 0, "output": 0, "tier": tier, kind: counted, out: allowance}
                usage = Usage(**kinds)
                # A call just below the limit of long inputs is priced at the usual rates.
                short = replace(price, long_input=None)
                possible += [cost(usage, row) for row in (price, short) if rates(usage, row) is not None]

    assert worst_case(counted, plan(price, allowance, parameters=given_)) == max(possible)


def test_a_long_input_is_held_for_as_soon_as_the_vendor_may_count_one() -> None:
    price = replace(price_row(1_000_000, 0, 0, 0, 0), long_input=LongInput(1_100, flat(3_000_000)))

    assert worst_case(1_000, plan(price, 0, 1_100)) == 1_100
    assert worst_case(1_001, plan(price, 0, 1_100)) == 3 * 1_102
    assert worst_case(1_000, plan(price, 0, 1_100, overhead_tokens=1)) == 3 * 1_101


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ("flex", "priority", "geo:us", "priority+geo:us")),
        ({"service_tier": "auto"}, ("flex", "priority", "geo:us", "priority+geo:us")),
        ({"service_tier": "default"}, ("geo:us",)),
        ({"service_tier": "standard_only", "inference_geo": "global"}, ()),
        ({"service_tier": "priority", "inference_geo": "global"}, ("priority",)),
        ({"service_tier": "fast", "inference_geo": "global"}, ("priority",)),
        ({"service_tier": "flex"}, ("flex", "geo:us")),
        ({"inference_geo": "global"}, ("flex", "priority")),
        ({"service_tier": "default", "speed": "fast"}, ("speed:fast", "geo:us")),
    ],
)
def test_a_tier_can_be_served_where_it_is_asked_for_or_left_to_the_vendor(
    asked: dict[str, Any], expected: tuple[str, ...]
) -> None:
    price = replace(PRICE, tiers=dict.fromkeys(TIERS, flat(1)))

    assert servable(price, asked) == expected


def test_a_downgrade_to_the_usual_tier_is_held_for_too() -> None:
    price = replace(price_row(2_000_000, 2_000_000, 0, 0, 0), tiers={"flex": flat(1_000_000)})

    assert worst_case(100, plan(price, 10, parameters={"service_tier": "flex"})) == 220


def test_what_a_vendor_adds_is_not_multiplied_by_the_safety_factor() -> None:
    seat = plan(PRICE, 500, 1_100, overhead_tokens=50, context_window=1_650)

    assert tokens_at_most(1_000, seat) == 1_150
    assert fits(1_000, seat)
    assert not fits(1_001, seat)


def test_a_request_fits_a_window_only_with_its_safety_factor_and_the_whole_reply() -> None:
    seat = plan(PRICE, 500, 1_100, context_window=1_600)

    assert fits(1_000, seat)
    assert not fits(1_001, seat)


@given(tokens)
def test_a_reply_is_never_bounded_by_less_than_what_was_said(said: int) -> None:
    assert said < shown_tokens(said) <= shown_tokens(said + 1)


# Charges.


@given(
    labels=st.lists(st.text(max_size=80) | st.text("\U0001d518\ud800é 漢", min_size=6, max_size=40), max_size=4),
    tokenizer=st.sampled_from(TOKENIZERS),
)
def test_labels_take_what_each_has_beyond_its_share_whether_it_is_counted_or_too_short(
    labels: list[str], tokenizer: str
) -> None:
    tokenizers.load(TOKENIZERS)

    counted = [max(0, count_tokens(label, tokenizer) - LABEL_TOKENS) for label in labels]

    assert label_tokens(labels, tokenizer) == sum(counted)


@pytest.mark.parametrize(
    "nonsense",
    [Usage(-1, 5), Usage(5, -1), Usage(5, 5, reasoning=-1), Usage(10**30, 5), Usage(5, 5, cache_write_1h=-1)],
)
def test_a_usage_that_cannot_be_true_is_charged_as_held(nonsense: Usage) -> None:
    """A negative or boundless number of tokens would be an amount that no column takes, and the reply would be lost."""
    assert charge(nonsense, 1_234, PRICE) == Charge(1_234, "reserved")


def test_a_call_whose_usage_is_missing_is_charged_as_held_and_never_as_nothing() -> None:
    assert charge(None, 1_234, PRICE) == Charge(1_234, "reserved")


def test_a_usage_of_nothing_is_charged_as_nothing_and_not_as_missing() -> None:
    assert charge(Usage(0, 0), 1_234, PRICE) == Charge(0, "usage")


@given(
    st.builds(Usage, tokens, tokens, tokens, tokens, tokens, tokens, st.sampled_from(["", *TIERS])),
    rows,
    st.integers(0, 10**9),
)
def test_a_charge_is_recomputed_from_its_own_tokens_and_its_price_row(usage: Usage, price: PriceRow, held: int) -> None:
    paid = charge(usage, held, price)

    assert charged(paid) == usage
    if paid.basis == "usage":
        assert paid.amount == cost(charged(paid), price)
        assert paid.excess == max(0, paid.amount - held)
    else:
        assert (paid.amount, paid.excess) == (held, 0)
        assert rates(charged(paid), price) is None
