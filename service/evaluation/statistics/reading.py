"""What is an input of a statistic and what is none: every fault is a `StatisticRefused` with a sentence.

A number is a number of JSON: ``true`` is none, and neither is NaN. A count is a whole number; 5.0 is not one. Borders
are read in decimals, as they are written, so that 0.3 is where it looks to be (`exact`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from reprlib import Repr
from typing import Any

from service.errors import InvalidCase

MOST_COUNT = 10**9
"""The largest count: up to here every statistic is accurate to 1e-9, and takes a fraction of a second."""
MOST_ITEMS = 10**6
MOST_NUMBER = 1e100
"""The largest number in a list: its square is still a number."""
MOST_MONEY = 10**18
"""The largest amount, a million million dollars."""
MOST_DRAWS = 10**8
"""The most draws of a resampling: items times resamples."""

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 60


class StatisticRefused(InvalidCase):
    """What a statistic was given is no input of it. The message says what was expected, and what was found."""


def shown(value: object) -> str:
    """A value for a message, shortened."""
    try:
        return _REPR.repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number that is too long to show"


def whole(value: object, what: str, least: int = 0, most: int = MOST_COUNT) -> int:
    """A whole number of a range."""
    if type(value) is not int or value < least:
        raise StatisticRefused(f"{what} must be a whole number from {least}, found {shown(value)}")
    if value > most:
        raise StatisticRefused(f"{what} must be at most {most:,}, found {shown(value)}")
    return value


def counts(*values: object) -> None:
    """Check that all are counts."""
    for value in values:
        whole(value, "a count")


def part(k: int, n: int) -> None:
    """Check that ``k`` of ``n`` is a rate."""
    counts(k, n)
    if k > n:
        raise StatisticRefused(f"{k} of {n} is no rate")


def number(value: object, what: str) -> float:
    """A finite number."""
    if type(value) is int:
        if abs(value) <= MOST_NUMBER:
            return float(value)
    elif isinstance(value, float) and isfinite(value) and abs(value) <= MOST_NUMBER:
        return value
    raise StatisticRefused(f"{what} must be a number from -1e100 to 1e100, found {shown(value)}")


def share(value: object, what: str) -> float:
    """A number from 0 to 1."""
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise StatisticRefused(f"{what} must be from 0 to 1, found {shown(value)}")
    return float(value)  # type: ignore[arg-type]


def between(value: object, what: str) -> float:
    """A number between 0 and 1, and neither."""
    if type(value) not in (int, float) or not 0 < value < 1:  # type: ignore[operator]
        raise StatisticRefused(f"{what} must lie between 0 and 1, found {shown(value)}")
    return float(value)  # type: ignore[arg-type]


def items(value: object, what: str, most: int = MOST_ITEMS) -> Sequence[Any]:
    """A list of any values, not too long."""
    if not isinstance(value, list | tuple):
        raise StatisticRefused(f"{what} must be a list, found {shown(value)}")
    if len(value) > most:
        raise StatisticRefused(f"{what} must have at most {most:,} items, found {len(value):,}")
    return value


def numbers(value: object, what: str) -> list[float]:
    """A list of finite numbers."""
    return [number(each, f"each of {what}") for each in items(value, what)]


def probabilities(value: object) -> list[float]:
    """A list of numbers from 0 to 1."""
    return [share(each, "a probability") for each in items(value, "p")]


def marks(value: object, what: str) -> list[int]:
    """A list of 0 and 1."""
    for each in items(value, what):
        if type(each) is not int or each not in (0, 1):
            raise StatisticRefused(f"{what} must hold 0 and 1 only, found {shown(each)}")
    return list(items(value, what))


def forecasts(p: object, y: object) -> tuple[list[float], list[int]]:
    """Probabilities with what happened."""
    probable, happened = probabilities(p), marks(y, "y")
    alike(len(probable), len(happened), "probabilities", "outcomes")
    return probable, happened


def alike(first: int, second: int, firsts: str, seconds: str) -> None:
    """Check that two lists are of one length."""
    if first != second:
        raise StatisticRefused(f"{first} {firsts} and {second} {seconds}")


def pair(value: object, what: str) -> tuple[Any, Any]:
    """A list of two."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise StatisticRefused(f"{what} must be a list of two, found {shown(value)}")
    return value[0], value[1]


def text(value: object, what: str, expected: str = "a text") -> str:
    """A text that UTF-8 can hold."""
    if not isinstance(value, str):
        raise StatisticRefused(f"{what} must be {expected}, found {shown(value)}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise StatisticRefused(f"{what} must be a text of whole characters, found half of one (a lone surrogate)")
    return value


def mark(value: object, what: str) -> str | int:
    """A name of a group or an answer: a text or a whole number."""
    """A name of a group or an answer: a text or a whole number."""
    return value if type(value) is int else text(value, what, "a text or a whole number")


def choice(value: object, what: str, *known: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in known:
        raise StatisticRefused(f"{what} must be {' or '.join(known)}, found {shown(value)}")
    return value


def money(value: object, what: str) -> int:
    """Micro-dollars, whole and not negative."""
    return whole(value, what, most=MOST_MONEY)


def members(value: object, what: str, *known: str) -> Mapping[str, Any]:
    """An object with exactly these members."""
    if not isinstance(value, Mapping):
        raise StatisticRefused(f"{what} must be an object, found {shown(value)}")
    missing = [name for name in known if name not in value]
    unknown = [name for name in value if name not in known]
    if missing or unknown:
        raise StatisticRefused("; ".join(_faults(what, missing, unknown)))
    return value


def _faults(what: str, missing: Sequence[str], unknown: Sequence[str]) -> list[str]:
    found = [f"{what} lacks {', '.join(missing)}"] if missing else []
    return found + ([f"{what} has unknown members: {', '.join(map(shown, unknown))}"] if unknown else [])


def draws(cases: int, resamples: object) -> int:
    """The number of resamples, where all of them together are not too many draws."""
    count = whole(resamples, "resamples", 1, 100_000)
    if count * cases > MOST_DRAWS:
        raise StatisticRefused(
            f"{cases:,} items with {count:,} resamples are more than {MOST_DRAWS:,} draws; ask for fewer resamples"
        )
    return count


def exact(value: float) -> Fraction:
    """A number as it is written in decimals: 0.1 is a tenth."""
    return Fraction(repr(value))
