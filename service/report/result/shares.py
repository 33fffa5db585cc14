"""Shares: numbers from 0 to 1, where a record has whole per mille or per cent. No decision compares them."""

from __future__ import annotations

import re

_RANGE = re.compile(r"\b(\d{1,3}) to (\d{1,3}) %")
_PERCENT = re.compile(r"\b(\d{1,3}) %")
_POINTS = re.compile(r"(?<=span more than )(\d{1,3}) points\b")


def share(value: int, *, of: int = 1_000) -> float:
    """A whole number as a share of ``of``."""
    return value / of


def share_or_none(value: int | None, *, of: int = 1_000) -> float | None:
    """The same of a number that may be undefined."""
    return None if value is None else share(value, of=of)


def per_mille(value: float) -> int:
    """The whole per mille of a share that was made of one."""
    return round(value * 1_000)


def per_mille_or_none(value: float | None) -> int | None:
    """The same of a share that may be undefined."""
    return None if value is None else per_mille(value)


def shown(value: float | None) -> str:
    """A share in words, at most three places, or ``undefined``: ``0.85``, ``0.701``, ``1``."""
    return "undefined" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def in_shares(words: str) -> str:
    """Words of a recorded finding with shares in the place of its per cent: ``80 %`` becomes ``0.8``.

    For words of code alone, whose forms are known (`service.checks.consensus.explanation`): what a model or a document
    says is never rewritten.
    """
    words = _RANGE.sub(lambda found: f"{_part(found[1])} to {_part(found[2])}", words)
    return _POINTS.sub(lambda found: _part(found[1]), _PERCENT.sub(lambda found: _part(found[1]), words))


def _part(percent: str) -> str:
    return shown(share(int(percent), of=100))
