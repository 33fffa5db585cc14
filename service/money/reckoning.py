"""The rules for counting tokens, reading usage, reserving, charging and adding up: every version, by its name.

All attempts of a debate use the version that its `gate.decided` seals, whatever build its workers have. The amount
that a new case needs is computed by `RECKONING`, the version that the case will seal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from service.debate.amounts import MicroUSD
from service.debate.entries import Charge
from service.debate.model import PriceRow, SeatPlan
from service.debate.replies import Reply
from service.debate.versions import newest
from service.money.floor import Counted, reply_tokens
from service.money.ledger import Ledger
from service.money.prices import charge, closing_cost, label_tokens, shown_tokens, worst_case
from service.money.tokens import Known, count
from service.money.usage import Reasoning, Usage, normalise


class RequestTokens(Protocol):
    """Counts the tokens of a request."""

    def __call__(self, texts: Iterable[str], tokenizer: str, known: Known | None = None, /) -> int:
        """The tokens of these texts; counts that are ``known`` are not counted again, and new ones are added."""
        ...


class Reckoning(NamedTuple):
    """The rules of one version. The functions are documented where `service.money` defines them."""

    request_tokens: RequestTokens
    normalise: Callable[[str, object, Reasoning], Usage | None]
    reply_tokens: Callable[[Reply | None, str | None, str], int]
    charge: Callable[[Usage | None, MicroUSD, PriceRow, Counted], Charge]
    worst_case: Callable[[int, SeatPlan], MicroUSD]
    shown_tokens: Callable[[int], int]
    label_tokens: Callable[[Iterable[str], str], int]
    closing_cost: Callable[[int, Iterable[int], Iterable[str], SeatPlan], MicroUSD]
    ledger: type[Ledger]


USAGES: Mapping[str, Reckoning] = {
    "usage/1": Reckoning(
        count, normalise, reply_tokens, charge, worst_case, shown_tokens, label_tokens, closing_cost, Ledger
    ),
}
RECKONING = USAGES[newest(USAGES)]
