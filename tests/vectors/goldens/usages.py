"""What vendors say of usage, as it is read and charged; what attempts hold, and what is held for the closing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from service.debate.model import LongInput, PriceRow, Rates, SeatPlan
from service.debate.replies import Framing
from service.money import USAGE_MAX, USAGES, Counted, Reckoning, Usage
from tests.fixtures.debates import a_plan, price_row
from tests.vectors.goldens import CASES, Golden, file_of, lines


class Told(msgspec.Struct):
    """A usage object, the wire under which it came, and the price row by which it is charged."""

    wire: str
    reasoning: Any
    price: PriceRow
    usage: Any


def a_rate(fresh: int, cached: int, written: int, said: int, reasoned: int, hour: int | None = None) -> Rates:
    """Rates of the six kinds of tokens."""
    return Rates(
        input=fresh, cached_input=cached, cache_write=written, output=said, reasoning=reasoned, cache_write_1h=hour
    )


DEAR = replace(
    price_row(3_000_000, 15_000_000, 300_000, 3_750_000, 16_000_000),
    cache_write_1h=6_000_000,
    long_input=LongInput(2_000, a_rate(6_000_000, 600_000, 7_500_000, 22_500_000, 22_500_000, 12_000_000)),
    tiers={
        "priority": a_rate(9_000_000, 900_000, 9_000_000, 45_000_000, 45_000_000),
        "geo:us": a_rate(3_300_000, 330_000, 4_125_000, 16_500_000, 16_500_000),
        "speed:fast": a_rate(18_000_000, 1_800_000, 22_500_000, 90_000_000, 90_000_000),
        "flex+geo:us": a_rate(4_000_000, 400_000, 4_000_000, 20_000_000, 20_000_000),
    },
)
FREE = replace(price_row(0, 0, 0, 0, 0), cache_write_1h=0)
SPLIT = replace(DEAR, tiers={"geo:us:east": a_rate(7_000_000, 700_000, 7_000_000, 30_000_000, 30_000_000)})
NONE = Counted(0, 0, 0)
COUNTED = (
    Counted(200, 0, 500),
    Counted(201, 0, 500),
    Counted(0, 100, 500),
    Counted(0, 101, 500),
    Counted(101, 51, 1_000),
)
"""What is counted of calls that report a hundred tokens and fifty, about the floor."""
PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"service_tier": "auto"},
    {"service_tier": "default"},
    {"service_tier": "fast"},
    {"service_tier": "flex"},
    {"speed": "fast"},
    {"inference_geo": "us"},
    {"inference_geo": "eu"},
)


def plans() -> Iterator[SeatPlan]:
    """Seats of cheap and dear models, with and without a margin on our count."""
    cheap = a_plan("critic", "oak")
    yield cheap
    yield replace(cheap, safety_per_mille=1_001, overhead_tokens=7, allowance=333)
    for parameters in PARAMETERS:
        yield replace(cheap, price=DEAR, parameters=parameters)
    yield replace(cheap, price=SPLIT, parameters={"inference_geo": "us:east"})
    yield replace(cheap, price=SPLIT)
    yield replace(cheap, price=FREE)
    yield replace(cheap, price=replace(FREE, cache_write_1h=None))
    yield replace(cheap, price=replace(DEAR, tiers={}))
    yield replace(cheap, price=replace(DEAR, tiers={}, reasoning=1, long_input=None))


def cases(rules: Reckoning) -> Iterator[object]:
    """Usage read and charged, then what is held."""
    for line in (CASES / "usage.jsonl").read_bytes().splitlines():
        told = msgspec.json.decode(line, type=Told)
        for reasoning in ("inside", "outside"):
            usage = rules.normalise(told.wire, told.usage, reasoning)
            yield usage, rules.charge(usage, 5_000_000, told.price, NONE), rules.charge(usage, 10, told.price, NONE)
            for counted in COUNTED:
                yield counted, rules.charge(usage, 5_000_000, told.price, counted)
    for tokens in (-1, 0, USAGE_MAX, USAGE_MAX + 1):
        yield rules.normalise("offline", {"input_tokens": tokens, "output_tokens": 1}, "inside")
    for usage in (
        Usage(1, 1, tier="priority"),
        Usage(9_000, 1, tier="priority"),
        Usage(1, 1, cache_write_1h=1),
        Usage(-1, 1),
    ):
        for price in (DEAR, replace(DEAR, cache_write_1h=None), FREE):
            yield usage, rules.charge(usage, 777, price, NONE)
    yield from _counted(rules)
    for plan in plans():
        for tokens in (0, 1, 999, 1_000, 1_001, 2_000, 2_001, 50_000):
            yield tokens, rules.worst_case(tokens, plan)
    for said in (0, 1, 5, 9, 10, 500, 1_001):
        yield said, rules.shown_tokens(said)
    for labels in ((), ("Model A",), ("x" * 124, "x" * 128, "x" * 129), ("x" * 1_000,)):
        yield len(labels), rules.label_tokens(labels, "bytes/4")


def _counted(rules: Reckoning) -> Iterator[object]:
    """Usages about the floor, and the tokens of replies that it is compared with."""
    for counted in (Counted(1_000, 100, floor) for floor in (0, 1, 499, 500, 501, 1_000)):
        for usage in (Usage(499, 50), Usage(500, 49), Usage(100, 50, 300, 50, 0, 50), Usage(500, 49, reasoning=900)):
            for held in (1, 777_777):
                yield counted, usage, rules.charge(usage, held, DEAR, counted)
    for text in ("", "x", "two words and more of them " * 40):
        yield (
            rules.reply_tokens(None, text or None, "bytes/4"),
            rules.reply_tokens(Framing(text, "", (), ()), text, "bytes/4"),
        )
        yield rules.reply_tokens(Framing(text, "", (), ()), None, "bytes/4")


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "usage"): Golden(name, partial(_made, name, rules)) for name, rules in USAGES.items()}


def _made(name: str, rules: Reckoning) -> bytes:
    return lines(name, {1: cases(rules)})
