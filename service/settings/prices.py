"""Price rows, and the slips of the pen that are caught before they cost anything.

    1  within a row: output against input, cached and written input against input, reasoning against output
    2  long input and tiers: each rate against the row's own
    3  each rate against the row before it, by date
    4  input and output against what a million tokens has ever cost anywhere

What is 100 times off is most likely a price for one token, or for a thousand, in a table of prices for a million. A
row that means it says ``confirmed = true``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from service.debate.model import LongInput, PriceRow, Rates
from service.debate.money import MicroUSD, usd
from service.settings.lines import Path
from service.settings.reading import (
    WrittenLong,
    WrittenPrice,
    WrittenRates,
    Wrong,
    money,
    read,
    within,
)

PRICE_MAX: MicroUSD = 10**12
"""A million US dollars for a million tokens."""
FACTOR = 100
USUAL = (1_000, 1_000_000_000)
"""From a thousandth of a US dollar to a thousand of them for a million tokens."""
KINDS = ("input", "output", "cached_input", "cache_write", "reasoning", "cache_write_1h")
_TIER = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,39}(?:\+[a-z0-9][a-z0-9_.:-]{0,39})*")
_WITHIN = {
    "output": "input",
    "cached_input": "input",
    "cache_write": "input",
    "cache_write_1h": "input",
    "reasoning": "output",
}


class _Row(NamedTuple):
    """A price row, where it stands, and whether it is meant however odd it looks."""

    price: PriceRow
    path: Path
    confirmed: bool


def read_prices(alias: str, window: int, written: tuple[Any, ...], path: Path) -> tuple[PriceRow, ...]:
    """The price rows of a model in the order of their dates; raises `Wrong`."""
    if not written:
        raise Wrong(path, "there is no price; no price, no call")
    rows = [_row(alias, window, row, (*path, i)) for i, row in enumerate(written)]
    rows.sort(key=lambda row: row.price.effective)
    for before, row in zip([None, *rows], rows, strict=False):
        if before and before.price.effective == row.price.effective:
            raise Wrong(row.path, f"there are two prices from {row.price.effective} on")
        if not row.confirmed:
            _plausible(row, before)
    return tuple(row.price for row in rows)


def _row(alias: str, window: int, written: Any, path: Path) -> _Row:
    row = read(written, WrittenPrice, path)
    _day((*path, "effective"), row.effective)
    if not row.source.strip():
        raise Wrong((*path, "source"), "expected who says so and when it was read; a price needs its source")
    rates = _rates(row, path)
    tiers = {}
    for tier, inner in row.tiers.items():
        if not _TIER.fullmatch(tier):
            raise Wrong((*path, "tiers"), f"expected the vendor's names of tiers, such as priority, found {tier!r}")
        tiers[tier] = _alike(read(inner, WrittenRates, (*path, "tiers", tier)), row, (*path, "tiers", tier))
    long_input = None
    if row.long_input is not None:
        inside = (*path, "long_input")
        long = read(row.long_input, WrittenLong, inside)
        within((*inside, "above"), long.above, 1, window - 1)
        long_input = LongInput(long.above, _alike(long, row, inside))
    price = PriceRow(
        model=alias, effective=row.effective, source=row.source, long_input=long_input, tiers=tiers, **rates
    )
    return _Row(price, path, row.confirmed)


def _day(path: Path, day: str) -> None:
    try:
        exact = date.fromisoformat(day).isoformat() == day
    except ValueError:
        exact = False
    if not exact:
        raise Wrong(path, f"expected a day, YYYY-MM-DD, found {day!r}")


def _rates(written: WrittenRates, path: Path) -> dict[str, Any]:
    found = {}
    for kind in KINDS:
        amount: str | None = getattr(written, f"{kind}_usd")
        if amount is not None:
            try:
                found[kind] = money((*path, f"{kind}_usd"), amount, PRICE_MAX)
            except Wrong as wrong:
                raise Wrong(wrong.path, f"{wrong.message}; a price is for a million tokens, such as 2.50") from None
    return found


def _alike(written: WrittenRates, row: WrittenRates, path: Path) -> Rates:
    """Rates that stand beside a row's own, and so price the same kinds."""
    if (written.cache_write_1h_usd is None) != (row.cache_write_1h_usd is None):
        raise Wrong(path, "cache_write_1h_usd stands here or in the row itself, but not in both; price both or neither")
    return Rates(**_rates(written, path))


def _plausible(row: _Row, before: _Row | None) -> None:
    """Raise `Wrong` for the first rate that is out of all proportion to its neighbours."""
    price = row.price
    for path, rate, neighbour, what in _neighbours(row, before):
        if neighbour and rate and max(rate, neighbour) >= FACTOR * min(rate, neighbour):
            times = max(rate, neighbour) // min(rate, neighbour)
            side = "above" if rate > neighbour else "below"
            raise _implausible(path, f"{usd(rate)} is {times} times {side} {what}, {usd(neighbour)}")
    if price.reasoning == 0 < price.output:
        path = (*row.path, "reasoning_usd")
        raise _implausible(path, "0 makes reasoning free, which vendors bill as output")
    if (price.input == 0) != (price.output == 0):
        raise _implausible((*row.path, "output_usd"), "one of input and output costs something and the other nothing")
    for kind in ("input", "output"):
        path = (*row.path, f"{kind}_usd")
        rate = getattr(price, kind)
        if rate == 0 and before and getattr(before.price, kind):
            raise _implausible(path, f"what cost {usd(getattr(before.price, kind))} before costs nothing here")
        if rate and not USUAL[0] <= rate <= USUAL[1]:
            low, high = map(usd, USUAL)
            raise _implausible(path, f"{usd(rate)} is not between {low} and {high}, where prices are")


def _neighbours(row: _Row, before: _Row | None) -> Iterator[tuple[Path, MicroUSD, MicroUSD, str]]:
    """Each rate with a rate that it should not be far from: where it stands, the two, and what the other is."""
    price = row.price
    for kind, other in _WITHIN.items():
        yield (*row.path, f"{kind}_usd"), getattr(price, kind) or 0, getattr(price, other), f"{other}_usd beside it"
    beside: dict[Path, Rates] = {("tiers", tier): rates for tier, rates in price.tiers.items()}
    if price.long_input:
        beside["long_input",] = price.long_input.rates
    for inside, rates in beside.items():
        for kind in KINDS:
            path = (*row.path, *inside, f"{kind}_usd")
            yield path, getattr(rates, kind) or 0, getattr(price, kind) or 0, f"{kind}_usd of the row itself"
    if before:
        for kind in KINDS:
            what = f"{kind}_usd of {before.price.effective}"
            yield (*row.path, f"{kind}_usd"), getattr(price, kind) or 0, getattr(before.price, kind) or 0, what


def _implausible(path: Path, found: str) -> Wrong:
    return Wrong(
        path,
        f"{found}. Prices are US dollars for a million tokens; correct it, or write confirmed = true in the row if it "
        "is meant",
    )
