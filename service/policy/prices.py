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

from service.debate.amounts import MicroUSD, usd
from service.debate.model import LongInput, PriceRow, Rates
from service.policy.bounds import money, within
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import AMOUNT, DAY, Key, members, sound_members

PRICE_MAX: MicroUSD = 10**12
"""A million US dollars for a million tokens."""
FACTOR = 100
USUAL = (10_000, 1_000_000_000)
"""From a hundredth of a US dollar to a thousand of them for a million tokens: most models' price for a thousand tokens
lies below."""
KINDS = ("input", "output", "cached_input", "cache_write", "reasoning", "cache_write_1h")
"""The rates of a row, as `Rates` names them."""
_TIER = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,39}(?:\+[a-z0-9][a-z0-9_.:-]{0,39})*")
_WITHIN = {
    "output": "input",
    "cached_input": "input",
    "cache_write": "input",
    "cache_write_1h": "input",
    "reasoning": "output",
}


def _rate(path: Path, written: str) -> MicroUSD:
    try:
        return money(path, written, PRICE_MAX)
    except WrongSetting as wrong:
        raise WrongSetting(path, f"{wrong.message}; a price is for a million tokens, such as 2.50") from None


RATES = tuple(
    Key(f"{kind}_usd", str, _rate, str, usd, member=kind, needed=kind != "cache_write_1h", schema=AMOUNT)
    for kind in ("input", "cached_input", "cache_write", "output", "reasoning", "cache_write_1h")
)
"""Rates in US dollars per million tokens: one of ``tiers``."""
LONG_INPUT = (*RATES, Key("above", int, member="above", needed=True, schema={"type": "integer", "minimum": 1}))
"""The rates of calls with more input tokens than ``above``."""
PRICE = (
    *RATES,
    Key("effective", str, member="effective", needed=True, schema=DAY),
    Key("source", str, member="source", needed=True),
    Key("long_input", dict[str, Any], member="long_input", schema=LONG_INPUT),
    Key("tiers", dict[str, Any], member="tiers", schema={"type": "object", "additionalProperties": RATES}),
    Key("confirmed", bool, member="confirmed"),
)
"""One of [[models.prices]]."""


class _Row(NamedTuple):
    """A price row, where it stands, and whether it is meant however odd it looks."""

    price: PriceRow
    path: Path
    confirmed: bool


def read_prices(alias: str, window: int, written: tuple[Any, ...], path: Path) -> tuple[PriceRow, ...]:
    """The price rows of a model in the order of their dates; raises `WrongSetting`."""
    if not written:
        raise WrongSetting(path, "there is no price; no price, no call")
    faults, rows = Faults(), list[_Row]()
    for i, row in enumerate(written):
        with faults.noted():
            rows.append(_row(alias, window, row, (*path, i)))
    rows.sort(key=lambda row: row.price.effective)
    for before, later in zip([None, *rows], rows, strict=False):
        if before and before.price.effective == later.price.effective:
            faults.note(later.path, f"there are two prices from {later.price.effective} on")
        if not later.confirmed:
            _plausible(later, before, faults)
    faults.refuse()
    return tuple(row.price for row in rows)


def _row(alias: str, window: int, written: Any, path: Path) -> _Row:
    faults = Faults()
    row = sound_members(written, PRICE, path, faults)
    if "effective" in row:
        with faults.noted():
            _day((*path, "effective"), row["effective"])
    if not row.get("source", "-").strip():
        faults.note((*path, "source"), "expected who says so and when it was read; a price needs its source")
    confirmed, tiers, long_input = row.pop("confirmed", False), row.pop("tiers", {}), row.pop("long_input", None)
    long, priced = None, {}
    if long_input is not None:
        with faults.noted():
            long = _long_input(long_input, row, window, (*path, "long_input"))
    for tier, inner in tiers.items():
        with faults.noted():
            priced[tier] = _tier(tier, inner, row, (*path, "tiers"))
    faults.refuse()
    return _Row(PriceRow(model=alias, long_input=long, tiers=priced, **row), path, confirmed)


def _tier(tier: str, written: Any, row: dict[str, Any], path: Path) -> Rates:
    if not _TIER.fullmatch(tier):
        raise WrongSetting(path, f"expected the vendor's names of tiers, such as priority, found {tier!r}")
    return _alike(members(written, RATES, (*path, tier)), row, (*path, tier))


def _long_input(written: Any, row: dict[str, Any], window: int, path: Path) -> LongInput:
    long = members(written, LONG_INPUT, path)
    above = long.pop("above")
    within((*path, "above"), above, 1, window - 1)
    return LongInput(above, _alike(long, row, path))


def _day(path: Path, day: str) -> None:
    try:
        exact = date.fromisoformat(day).isoformat() == day
    except ValueError:
        exact = False
    if not exact:
        raise WrongSetting(path, f"expected a day, YYYY-MM-DD, found {day!r}")


def _alike(rates: dict[str, Any], row: dict[str, Any], path: Path) -> Rates:
    """Rates that stand beside a row's own, and so price the same kinds."""
    if ("cache_write_1h" in rates) != ("cache_write_1h" in row):
        raise WrongSetting(
            path, "cache_write_1h_usd stands here or in the row itself, but not in both; price both or neither"
        )
    return Rates(**rates)


def _plausible(row: _Row, before: _Row | None, faults: Faults) -> None:
    """Note each rate that is out of all proportion to its neighbours, once."""
    for wrong in _implausible_rates(row, before):
        if wrong.path not in [fault.path for fault in faults.found]:
            faults.found.append(wrong)


def _implausible_rates(row: _Row, before: _Row | None) -> Iterator[WrongSetting]:
    price = row.price
    for path, rate, neighbour, what in _neighbours(row, before):
        if neighbour and rate and max(rate, neighbour) >= FACTOR * min(rate, neighbour):
            times = max(rate, neighbour) // min(rate, neighbour)
            side = "above" if rate > neighbour else "below"
            yield _implausible(path, f"{usd(rate)} is {times} times {side} {what}, {usd(neighbour)}")
    if price.reasoning == 0 < price.output:
        path = (*row.path, "reasoning_usd")
        yield _implausible(path, "0 makes reasoning free, which vendors bill as output")
    if (price.input == 0) != (price.output == 0):
        yield _implausible((*row.path, "output_usd"), "one of input and output costs something and the other nothing")
    for kind in ("input", "output"):
        path = (*row.path, f"{kind}_usd")
        rate = getattr(price, kind)
        if rate == 0 and before and getattr(before.price, kind):
            yield _implausible(path, f"what cost {usd(getattr(before.price, kind))} before costs nothing here")
        if rate and not USUAL[0] <= rate <= USUAL[1]:
            low, high = map(usd, USUAL)
            yield _implausible(path, f"{usd(rate)} is not between {low} and {high}, where prices are")


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


def _implausible(path: Path, found: str) -> WrongSetting:
    return WrongSetting(
        path,
        f"{found}. Prices are US dollars for a million tokens; correct it, or write confirmed = true in the row if it "
        "is meant",
    )
