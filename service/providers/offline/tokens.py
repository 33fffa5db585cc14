"""How the offline models count: a published rule, so that anyone can recompute what a turn was charged."""

from __future__ import annotations

TOKENIZER = "bytes/4"


def count_tokens(text: str) -> int:
    """Tokens of a text under the rule ``bytes/4``: its UTF-8 bytes divided by four, rounded up."""
    return tokens_of(len(text.encode("utf-8", "surrogatepass")))


def tokens_of(size: int) -> int:
    """Tokens of ``size`` bytes under the same rule."""
    return -(-size // 4)
