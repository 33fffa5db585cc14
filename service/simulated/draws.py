"""Draws of simulated models with known faults: words of SHA-256, and no chance.

A draw is made of what is drawn and of whom: the model's name and its seat, or neither where a draw is common to all
models; and of the hash of what is shown of the case. So the same request has the same answer everywhere and always. In
cases that scatter it is also made of the mark of the debate, which follows from its seed: another debate of the case
may have another answer, and a debate that goes on after a kill has the same.
"""

from __future__ import annotations

from hashlib import sha256

WHOLE = 1_000
"""Shares are in per mille."""


def draw(*parts: str) -> int:
    """A number from 0 to 999, each as likely; ``parts`` are what is drawn, of whom, and the hash of what is shown."""
    return int.from_bytes(sha256("\n".join(("gainsay.draw/1", *parts)).encode()).digest()[:8]) % WHOLE


def happens(share: int, *parts: str) -> bool:
    """Whether something happens that happens in this share of cases, in per mille."""
    return draw(*parts) < share
