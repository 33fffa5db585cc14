"""Prices, worst cases, tokens and the ledger of one debate, in whole micro-dollars.

    usage    the usage that a vendor reports for a call, as kinds of tokens that do not overlap
    floor    the least that a usage can be, by our own count
    prices   the cost of a usage, the worst case of an attempt, the charge for it
    tokens   the number of tokens in a text under a tokenizer of the catalogue
    ledger   the money of one debate: reserved, spent, remaining
    reckoned how usage is read, held and charged, by version

`docs/money.md` describes how these work together.
"""

from service.money.floor import Counted, below_floor, reply_tokens
from service.money.ledger import Ledger, Refusal
from service.money.prices import (
    NoPrice,
    charge,
    charged,
    closing_cost,
    cost,
    fits,
    label_tokens,
    rates,
    servable,
    shown_tokens,
    tokens_at_most,
    worst_case,
)
from service.money.reckoning import RECKONING, USAGES, Reckoning
from service.money.tokens import TOKENIZERS, Known, bytes_over_four, count, count_tokens, tokenizer_id
from service.money.usage import USAGE_MAX, Usage, normalise, with_tier

__all__ = [
    "RECKONING",
    "TOKENIZERS",
    "USAGES",
    "USAGE_MAX",
    "Counted",
    "Known",
    "Ledger",
    "NoPrice",
    "Reckoning",
    "Refusal",
    "Usage",
    "below_floor",
    "bytes_over_four",
    "charge",
    "charged",
    "closing_cost",
    "cost",
    "count",
    "count_tokens",
    "fits",
    "label_tokens",
    "normalise",
    "rates",
    "reply_tokens",
    "servable",
    "shown_tokens",
    "tokenizer_id",
    "tokens_at_most",
    "with_tier",
    "worst_case",
]
