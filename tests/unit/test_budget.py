"""Money: what a usage costs, what an attempt can cost at most, and a ledger that never passes its ceiling."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.budget import (
    Ledger,
    Refusal,
    Usage,
    bytes_over_four,
    charge,
    cost,
    count_tokens,
    fits,
    shown_tokens,
    worst_case,
)
from service.debate.entries import AttemptFailed, Charge, Entry, TurnSpoke
from service.debate.model import PriceRow, SeatPlan, Turn
from service.errors import SettingsError
from tests.debates import PRICE, a_start, asked, drive, price_row, reply_for

tokens = st.integers(0, 2_000_000)
rates = st.integers(0, 200_000_000)
prices = st.builds(price_row, rates, rates, rates, rates, rates)
usages = st.builds(Usage, tokens, tokens, tokens, tokens, tokens)


def plan(price: PriceRow, allowance: int, safety: int = 1_000) -> SeatPlan:
    return replace(a_start().seat("critic"), price=price, allowance=allowance, safety_per_mille=safety)


def spoke(turn: str, paid: Charge) -> Entry:
    return TurnSpoke(turn, 1, reply_for(Turn(turn, "framing")), paid)


# Prices.


def test_each_kind_of_token_has_its_own_price() -> None:
    price = price_row(1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000)

    amounts = [
        cost(Usage(7, 0), price),
        cost(Usage(0, 7), price),
        cost(Usage(0, 0, cached_input=7), price),
        cost(Usage(0, 0, cache_write=7), price),
        cost(Usage(0, 0, reasoning=7), price),
    ]

    assert amounts == [7, 14, 21, 28, 35]


@given(usages, prices)
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


@given(prices, tokens, tokens, st.integers(1_000, 2_000), st.data())
def test_no_usage_within_the_allowance_costs_more_than_the_worst_case(
    price: PriceRow, counted: int, allowance: int, safety: int, data: st.DataObject
) -> None:
    bound = counted * safety // 1_000
    cached = data.draw(st.integers(0, bound))
    written = data.draw(st.integers(0, bound - cached))
    reasoning = data.draw(st.integers(0, allowance))
    usage = Usage(bound - cached - written, allowance - reasoning, cached, written, reasoning)

    most = worst_case(counted, plan(price, allowance, safety))

    assert cost(usage, price) <= most


# Charges.


@pytest.mark.parametrize("nonsense", [Usage(-1, 5), Usage(5, -1), Usage(5, 5, reasoning=-1), Usage(10**30, 5)])
def test_a_usage_that_cannot_be_true_is_charged_as_held(nonsense: Usage) -> None:
    """A negative or boundless number of tokens would be an amount that no column takes, and the reply would be lost."""
    assert charge(nonsense, 1_234, PRICE) == Charge(1_234, "reserved")


def test_a_call_whose_usage_is_missing_is_charged_as_held_and_never_as_nothing() -> None:
    assert charge(None, 1_234, PRICE) == Charge(1_234, "reserved")


@given(usages, prices, st.integers(0, 10**9))
def test_a_charge_carries_the_tokens_that_it_is_recomputed_from(usage: Usage, price: PriceRow, held: int) -> None:
    paid = charge(usage, held, price)

    again = Usage(
        paid.input_tokens, paid.output_tokens, paid.cached_input_tokens, paid.cache_write_tokens, paid.reasoning_tokens
    )
    assert again == usage
    assert paid.amount == cost(again, price)
    assert paid.excess == max(0, paid.amount - held)


# The ledger.


@given(st.integers(0, 1_000), st.data())
def test_no_interleaving_of_calls_spends_past_the_ceiling(ceiling: int, data: st.DataObject) -> None:
    ledger, in_flight = Ledger(ceiling), dict[str, int]()

    for n in range(data.draw(st.integers(0, 30))):
        if data.draw(st.booleans()) and in_flight:
            turn = data.draw(st.sampled_from(sorted(in_flight)))
            amount: int = data.draw(st.integers(0, in_flight.pop(turn)))
            paid = Charge(amount, "usage")
            failed: bool = data.draw(st.booleans())
            ledger = ledger.add(AttemptFailed(turn, 1, "overload", "busy", paid) if failed else spoke(turn, paid))
        else:
            turns = {f"1.t{n}x{i}.1": data.draw(st.integers(0, 300)) for i in range(data.draw(st.integers(1, 4)))}
            if ledger.refuse(turns.values(), data.draw(st.lists(st.integers(0, 100), max_size=2))) is None:
                for turn, worst in turns.items():
                    ledger = ledger.add(asked(turn, held=worst))
                in_flight |= turns

        assert ledger.spent + sum(in_flight.values()) <= ceiling
        assert ledger.left == ceiling - ledger.spent - sum(in_flight.values()) >= 0


def test_a_closing_turn_is_held_although_it_is_not_asked_yet() -> None:
    ledger = Ledger(100)

    assert ledger.refuse([60], [40]) is None
    assert ledger.refuse([60], [41]) == Refusal("debateCeiling", 101, 100)
    assert ledger.refuse([30, 30], [40]) is None
    assert ledger.refuse([30, 30, 1], [40]) == Refusal("debateCeiling", 101, 100)


def test_what_is_in_flight_is_not_left() -> None:
    ledger = Ledger(100).add(asked("1.a.1", held=40)).add(asked("1.b.1", held=40))

    assert ledger.left == 20
    assert ledger.refuse([21]) == Refusal("debateCeiling", 21, 20)
    assert ledger.add(spoke("1.a.1", Charge(10, "usage"))).left == 50


def test_the_rest_of_a_reservation_comes_back_when_it_is_settled() -> None:
    ledger = Ledger(100).add(asked("1.a.1", held=100))

    settled = ledger.add(spoke("1.a.1", Charge(1, "usage")))

    assert (settled.spent, settled.left, dict(settled.held)) == (1, 99, {})


def test_a_vendor_that_bills_above_the_reservation_is_charged_in_full_and_ends_the_asking() -> None:
    price = price_row(1_000_000, 1_000_000, 0, 0, 0)
    ledger = Ledger(100).add(asked("1.a.1", held=40))

    paid = charge(Usage(50, 60), 40, price)
    over = ledger.add(spoke("1.a.1", paid))

    assert (paid.amount, paid.excess) == (110, 70)
    assert (over.spent, over.excess, over.left) == (40, 70, -10)
    assert over.refuse([0]) == Refusal("providerOverrun", 0, -10)


def test_a_small_overrun_ends_the_asking_too_although_money_is_left() -> None:
    ledger = Ledger(1_000).add(asked("1.a.1", held=40)).add(spoke("1.a.1", Charge(41, "usage", excess=1)))

    assert ledger.left == 959
    assert ledger.refuse([1]) == Refusal("providerOverrun", 1, 959)


@given(st.integers(1, 100), st.integers(0, 300))
def test_spent_and_excess_are_together_what_was_charged(held: int, amount: int) -> None:
    paid = Charge(amount, "usage", excess=max(0, amount - held))

    ledger = Ledger(1_000).add(asked("1.a.1", held=held)).add(spoke("1.a.1", paid))

    assert ledger.spent + ledger.excess == amount
    assert ledger.spent <= held


def test_a_ledger_is_folded_from_the_entries_of_a_debate() -> None:
    entries = drive(a_start(ceiling=77_000))

    ledger = Ledger.of(entries)

    assert ledger.ceiling == 77_000
    assert ledger.spent == sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke)) == 5 * 3_000
    assert dict(ledger.held) == {}


def test_a_ledger_is_a_value_and_adding_leaves_the_old_one_as_it_was() -> None:
    before = Ledger(100).add(asked("1.a.1", held=10))

    before.add(asked("1.b.1", held=10))
    before.add(spoke("1.a.1", Charge(5, "usage")))

    assert (before.spent, dict(before.held)) == (0, {"1.a.1": 10})


# Tokens.


@given(st.text(st.characters()))
def test_tokens_are_a_quarter_of_the_bytes_rounded_up(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))

    assert count_tokens(text, "bytes/4") == bytes_over_four(text)
    assert 4 * (bytes_over_four(text) - 1) < size <= 4 * bytes_over_four(text)


def test_an_unknown_tokenizer_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"expected a tokenizer among \['bytes/4'\], found 'guess'"):
        count_tokens("words", "guess")


@given(tokens)
def test_a_reply_is_never_bounded_by_less_than_what_was_said(said: int) -> None:
    assert said < shown_tokens(said) <= shown_tokens(said + 1)


def test_a_request_fits_a_window_only_with_its_safety_factor_and_the_whole_reply() -> None:
    plan = replace(a_start().seat("critic"), safety_per_mille=1_100, context_window=1_600, allowance=500)

    assert fits(1_000, plan)
    assert not fits(1_001, plan)
