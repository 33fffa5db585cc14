"""A quote says what prefix caches may save, by the rates of the seats, and counts no more than a debate repeats."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.intake import prefix_cache
from service.intake.expected_cost import bare_turns, begun
from service.intake.prefix_cache import CacheEstimate, estimate
from service.intake.quote import CaseQuote, quote
from service.money import count
from service.policy import Policy, seating
from service.prompts.layouts import lay_out
from tests.unit.intake.test_intake import POLICY, PROMPTS, a_case
from tests.unit.intake.test_quote import checked

LONG = " ".join(f"{n}.1 The Supplier shall indemnify the Bank." for n in range(300))


OPTIONS: dict[str, Any] = {
    "adversarial": {"maxRounds": 2},
    "stances": {"debaters": [{"name": "a", "stance": "yes"}, {"name": "b", "stance": "no"}]},
    "ballot": {"votes": ["yes", "no"]},
}
TWO_ROUNDS = {"format": "adversarial", "maxRounds": 2}


def quoted(under: Policy = POLICY, **changes: Any) -> CaseQuote:
    return quote(*checked(a_case(documents=[{"id": "D1", "text": LONG}], **changes), under))


def priced(**rates: int) -> Policy:
    """The shipped policy with these rates in every row, in micro-dollars a million tokens."""
    models = {
        alias: replace(model, prices=tuple(replace(row, **rates) for row in model.prices))
        for alias, model in POLICY.models.items()
    }
    return replace(POLICY, models=models)


@pytest.mark.parametrize("form", ["adversarial", "stances", "ballot", "panel", "convergence"])
def test_each_usual_call_after_a_seats_first_reads_the_prefix_that_the_first_one_wrote(form: str) -> None:
    under = priced(input=4_000_000, cached_input=1_000_000, cache_write=5_000_000)
    options = {"format": form, **OPTIONS.get(form, {})}
    prepared, deployment = checked(a_case(documents=[{"id": "D1", "text": LONG}], options=options), under)
    found = quote(prepared, deployment)
    usual, facts = seating.choose_table(found.started.options).usual, begun(prepared.case, found.started)

    calls, exact = 0, 0
    for plan, turn in bare_turns(found.started):
        house, case, *_ = lay_out(PROMPTS, prepared.case, prepared.sources, facts, turn).messages
        prefix = count([house.content, case.content], plan.tokenizer)
        assert prefix > 4_000
        if (again := usual[plan.seat] - 1) > 0:
            calls += again
            exact += prefix * (again * 3 - 1)

    assert (found.caches.calls, found.caches.saves) == (calls, exact)


def test_a_vendor_that_charges_nothing_for_writing_saves_the_difference_and_one_without_a_cache_nothing() -> None:
    reading, twice, none = (
        quoted(priced(input=price, cached_input=cached, cache_write=price), options=TWO_ROUNDS).caches
        for price, cached in ((4_000_000, 1_000_000), (8_000_000, 2_000_000), (4_000_000, 4_000_000))
    )

    assert reading.saves > 0
    assert twice.saves == 2 * reading.saves
    assert (none.saves, none.calls) == (0, reading.calls)


def test_where_writing_is_dearer_than_what_reading_saves_the_estimate_is_below_nothing() -> None:
    dear = priced(input=4_000_000, cached_input=4_000_000, cache_write=5_000_000)

    assert quoted(dear, options=TWO_ROUNDS).caches.saves < 0
    assert quoted(dear, options={"format": "adversarial", "maxRounds": 1}).caches == CacheEstimate(0, 0)


def test_a_prefix_that_is_shorter_than_any_vendor_keeps_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared, deployment = checked(a_case())
    started = quote(prepared, deployment).started
    monkeypatch.setattr(prefix_cache, "LEAST", 1_000_000)

    assert estimate(prepared.case, prepared.sources, started, deployment.prompts) == CacheEstimate(0, 0)


def test_the_estimate_is_no_part_of_what_is_held_or_needed() -> None:
    dear = priced(input=4_000_000, cached_input=1_000_000, cache_write=5_000_000)
    cheap = priced(input=4_000_000, cached_input=0, cache_write=5_000_000)

    assert quoted(dear).needed == quoted(cheap).needed
    assert quoted(dear).asked_at_most == quoted(cheap).asked_at_most
    assert quoted(dear, options=TWO_ROUNDS).caches.saves < quoted(cheap, options=TWO_ROUNDS).caches.saves


def test_where_a_cache_is_written_the_reservation_holds_the_price_of_writing() -> None:
    plain = quoted(priced(input=4_000_000, cached_input=1_000_000, cache_write=4_000_000))
    written = quoted(priced(input=4_000_000, cached_input=1_000_000, cache_write=5_000_000))

    for before, after in zip(plain.seats, written.seats, strict=True):
        assert after.worst > before.worst
    assert written.needed > plain.needed
