"""How usage is read, what an attempt holds and what it is charged: every version, by its name.

A debate is reckoned by the version that is sealed in its `gate.decided`, from its first attempt to its last, whatever
build its workers have. What a new case needs is reckoned by `RECKONING`, the version that it will be given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from service.debate.amounts import MicroUSD
from service.debate.entries import Charge
from service.debate.model import PriceRow, SeatPlan
from service.debate.versions import newest
from service.money.prices import charge, label_tokens, shown_tokens, worst_case
from service.money.usage import Reasoning, Usage, normalise


class Reckoning(NamedTuple):
    """The rules of one version; `service.money` says of each function what it does."""

    normalise: Callable[[str, object, Reasoning], Usage | None]
    charge: Callable[[Usage | None, MicroUSD, PriceRow], Charge]
    worst_case: Callable[[int, SeatPlan], MicroUSD]
    shown_tokens: Callable[[int], int]
    label_tokens: Callable[[Iterable[str], str], int]


USAGES: Mapping[str, Reckoning] = {
    "usage/1": Reckoning(normalise, charge, worst_case, shown_tokens, label_tokens),
}
RECKONING = USAGES[newest(USAGES)]
