"""Numbers and amounts of the policy file within their bounds."""

from __future__ import annotations

from decimal import Decimal

from service.debate.amounts import MicroUSD, micro, usd
from service.policy.faults import Path, WrongSetting

COUNT_MAX = 1_000_000_000
"""Characters, tokens, factors: a greater number is a slip of the pen."""
MONEY_MAX: MicroUSD = 10**15
"""A thousand million US dollars in micro-dollars: far more than a debate costs, far less than a column holds."""


def number(path: Path, written: str, low: int, high: int) -> Decimal:
    """A decimal within its bounds; NaN, which every comparison passes over, is in none."""
    try:
        found = Decimal(written)
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or not low <= found <= high:
        raise WrongSetting(path, f"expected a decimal from {low} to {high}, found {written!r}")
    return found


def share_per_mille(path: Path, written: str) -> int:
    """A share with at most three decimals, as whole per mille."""
    found = number(path, written, 0, 1) * 1_000
    if found != int(found):
        raise WrongSetting(path, f"expected a share with at most three decimals, found {written!r}")
    return int(found)


def money(path: Path, written: str, most: MicroUSD = MONEY_MAX) -> MicroUSD:
    """An amount of US dollars in micro-dollars, from nothing to ``most``."""
    try:
        amount = micro(written)
    except ValueError as error:
        raise WrongSetting(path, str(error)) from None
    if not 0 <= amount <= most:
        raise WrongSetting(path, f"expected from 0 to {usd(most)} US dollars, found {written!r}")
    return amount


def within(path: Path, value: int, low: int, high: int) -> None:
    """Raise `WrongSetting` for an integer out of bounds."""
    if not low <= value <= high:
        raise WrongSetting(path, f"expected from {low} to {high}, found {value}")
