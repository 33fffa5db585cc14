"""A usage below a share of our own count cannot be true: it is charged as held, whatever its sums are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.entries import BelowFloor, Charge
from service.debate.replies import Framing
from service.money import Counted, Usage, below_floor, bytes_over_four, charge, cost, normalise, reply_tokens
from service.money.tokenizers import load
from tests.fixtures.debates import price_row

PRICE = price_row(3_000_000, 15_000_000, 300_000, 3_750_000, 15_000_000)
HELD = 50_000
HALF = Counted(2_844, 300, 500)
"""A request of 2,844 tokens and a reply of 300, of which a usage must have half."""


@pytest.mark.parametrize(
    ("wire", "raw"),
    [
        ("openai-compatible", {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
        ("anthropic", {"input_tokens": 3, "output_tokens": 2}),
        ("openai-compatible", {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}),
    ],
)
def test_a_placeholder_whose_sums_are_right_is_charged_as_held(wire: str, raw: dict[str, int]) -> None:
    usage = normalise(wire, raw)

    assert usage is not None
    assert charge(usage, HELD, PRICE, HALF) == Charge(HELD, "reserved", below_floor="input")


@pytest.mark.parametrize(
    ("usage", "part"),
    [
        (Usage(1_422, 150), None),
        (Usage(1_421, 150), "input"),
        (Usage(1_422, 149), "output"),
        (Usage(0, 0), "input"),
        (Usage(1, 150, cached_input=1_421), None),  # read from a cache, written to one: part of the request
        (Usage(1, 150, cache_write=1_421), None),
        (Usage(1, 150, cache_write_1h=1_421), None),
        (Usage(2_844, 0, reasoning=300), "output"),  # thinking is not what was said
        (Usage(2_844, 0, reasoning=10**6), "output"),
        (Usage(9_000, 9_000), None),  # more than we count is for the reservation to judge
    ],
)
def test_each_part_is_compared_with_its_own_count(usage: Usage, part: BelowFloor | None) -> None:
    assert below_floor(usage, HALF) == part


@pytest.mark.parametrize("floor", [0, 1, 333, 500, 999, 1_000])
def test_a_usage_of_exactly_the_share_is_believed(floor: int) -> None:
    counted = Counted(1_000, 1_000, floor)

    assert below_floor(Usage(floor, floor), counted) is None
    assert floor == 0 or below_floor(Usage(floor - 1, floor), counted) == "input"
    assert floor == 0 or below_floor(Usage(floor, floor - 1), counted) == "output"


def test_a_usage_below_the_floor_that_still_costs_more_than_was_held_is_charged_in_full() -> None:
    usage = Usage(3, 9_000)

    found = charge(usage, HELD, PRICE, HALF)

    assert found.amount == cost(usage, PRICE) > HELD
    assert (found.basis, found.excess, found.below_floor) == ("usage", found.amount - HELD, "input")


def test_a_usage_below_the_floor_without_a_price_is_charged_as_held_and_named() -> None:
    found = charge(Usage(3, 2, tier="priority"), HELD, PRICE, HALF)

    assert (found.amount, found.basis, found.below_floor) == (HELD, "reserved", "input")


amounts = st.integers(0, 5_000)


@given(
    st.builds(Usage, amounts, amounts, amounts, amounts, amounts),
    st.builds(Counted, amounts, amounts, st.integers(0, 1_000)),
    st.integers(0, 200_000),
)
def test_the_floor_only_ever_raises_a_charge(usage: Usage, counted: Counted, held: int) -> None:
    before, after = charge(usage, held, PRICE), charge(usage, held, PRICE, counted)

    assert after.amount == (max(held, before.amount) if after.below_floor else before.amount)
    assert after.excess == before.excess
    assert (after.below_floor is None) == (below_floor(usage, counted) is None)


def test_the_tokens_of_a_reply_are_those_of_its_text_where_that_is_recorded() -> None:
    reply = Framing("A thesis.", "All.", ("text",), ())

    assert reply_tokens(reply, "x" * 400, "bytes/4") == 100
    assert reply_tokens(None, "x" * 400, "bytes/4") == 100
    assert reply_tokens(None, None, "bytes/4") == reply_tokens(None, "", "bytes/4") == 0
    recorded = reply_tokens(reply, None, "bytes/4")
    text = '{"thesis": "A thesis.", "scope": "All.", "criteria": ["text"], "keyDocuments": []}'
    assert 0.8 < recorded / bytes_over_four(text) < 1.3


@pytest.mark.parametrize(
    "text", ["The limit holds. " * 90, "Die Haftung ist unbegrenzt. " * 60, "責任は無制限である。" * 40]
)
def test_two_tokenizers_of_one_text_differ_by_less_than_the_shipped_floor(text: str) -> None:
    """An honest vendor with another tokenizer than the catalogue's is believed."""
    load(["o200k_base", "cl100k_base"])
    ours, theirs = (reply_tokens(None, text, name) for name in ("cl100k_base", "o200k_base"))

    assert below_floor(Usage(theirs, theirs), Counted(ours, ours, 500)) is None
    assert below_floor(Usage(ours, ours), Counted(theirs, theirs, 500)) is None
