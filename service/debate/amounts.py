"""Money: whole micro-dollars inside, decimal strings of US dollars in JSON. No float ever holds an amount."""

from __future__ import annotations

from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow

MICRO = 1_000_000
MicroUSD = int

_EXACT = Context(prec=40, Emin=-40, Emax=40, traps=[Inexact, InvalidOperation, Overflow])
"""The default context would silently round an amount to 28 digits and report the result as exact."""


def usd(amount: MicroUSD) -> str:
    """Micro-dollars as a decimal string of US dollars: ``500000`` is ``0.50``; at least two places, never rounded."""
    whole, micro = divmod(abs(amount), MICRO)
    places = f"{micro:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}{whole}.{places}"


def is_plain(number: str) -> bool:
    """Whether the text of a number has digits of ASCII, and none that are divided: to Python ``1_0`` is ten."""
    return number.isascii() and "_" not in number


def micro(amount: str | int | Decimal) -> MicroUSD:
    """A decimal amount of US dollars as micro-dollars.

    Raises `ValueError` when it is not finite, finer than a micro-dollar or has more than 40 digits: an amount is never
    rounded silently.
    """
    try:
        exact = _EXACT.multiply(Decimal(amount), MICRO)
    except DecimalException as error:
        raise ValueError(f"expected a decimal amount of US dollars, found {amount!r}") from error
    if not exact.is_finite() or exact != exact.to_integral_value(context=_EXACT):
        raise ValueError(f"expected US dollars with at most six decimal places, found {amount!r}")
    return int(exact)
