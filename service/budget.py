"""Prices, worst cases and the ledger of one debate, in whole micro-dollars."""

from __future__ import annotations

from msgspec import Struct


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens used by one call, normalised: the kinds do not overlap, and their sum is what was billed."""

    input: int
    output: int
    cached_input: int = 0
    cache_write: int = 0
    reasoning: int = 0
