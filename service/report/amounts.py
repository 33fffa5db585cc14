"""Amounts within sentences as people write them: a decision of the gate has them as it compared them."""

from __future__ import annotations

import re

_AMOUNT = re.compile(r"(?<![\w.,+-])(\d{4,30})(\.\d+)?(?= USD\b)")


def grouped(words: str) -> str:
    """Every amount in US dollars with its thousands apart, and without a fraction of zeros: ``1,000,000 USD``."""
    return _AMOUNT.sub(_grouped, words)


def _grouped(found: re.Match[str]) -> str:
    fraction = found[2] or ""
    return f"{int(found[1]):,}{fraction if fraction.strip('.0') else ''}"
