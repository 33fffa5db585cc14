"""Tokens of a text under the tokenizers of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.errors import SettingsError


def bytes_over_four(text: str) -> int:
    """Tokens of the simulated models: a quarter of the UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


TOKENIZERS: Mapping[str, Callable[[str], int]] = {"bytes/4": bytes_over_four}


def count_tokens(text: str, tokenizer: str) -> int:
    """Tokens of a text under a tokenizer of the catalogue; raises `SettingsError` for one that is not known."""
    if tokenizer not in TOKENIZERS:
        raise SettingsError(f"expected a tokenizer among {sorted(TOKENIZERS)}, found {tokenizer!r}")
    return TOKENIZERS[tokenizer](text)
