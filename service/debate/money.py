"""Money: whole micro-dollars inside, decimal strings of US dollars in JSON. No float ever holds an amount."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

MICRO = 1_000_000
MicroUSD = int


def usd(amount: MicroUSD) -> str:
    """Micro-dollars as a decimal string of US dollars: ``500000`` is ``0.50``; at least two places, never rounded."""
    whole, micro = divmod(abs(amount), MICRO)
    places = f"{micro:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}{whole}.{places}"


def micro(amount: str | int | Decimal) -> MicroUSD:
    """A decimal amount of US dollars as micro-dollars.

    Raises `ValueError` when it is not finite or finer than a micro-dollar: an amount is never rounded silently.
    """
    try:
        exact = Decimal(amount) * MICRO
    except InvalidOperation as error:
        raise ValueError(f"expected a decimal amount of US dollars, found {amount!r}") from error
    if not exact.is_finite() or exact != exact.to_integral_value():
        raise ValueError(f"expected US dollars with at most six decimal places, found {amount!r}")
    return int(exact)
