"""The rank files of the tokenizers, read once at the start; `README.md` beside them says where they are from."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

from service.errors import SettingsError
from service.money import tokens

FOLDER = Path(__file__).parent


def load(names: Iterable[str]) -> None:
    """Load these tokenizers of the catalogue: 0.2 to 0.4 seconds each, once in a process. The simulated one needs no
    file. Raises `SettingsError` for an unknown tokenizer, and for a file that is missing or has another hash.
    """
    for name in sorted(set(names)):
        if name not in tokens.TOKENIZERS:
            raise SettingsError(f"expected a tokenizer among {sorted(tokens.TOKENIZERS)}, found {name!r}")
        if not tokens.is_loaded(name):
            tokens.add(name, _read(name))


def _read(name: str) -> bytes:
    path = FOLDER / f"{name}.tiktoken.gz"
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise SettingsError(
            f"expected the rank file of tokenizer {name!r} in the package's folder ranks, found that it cannot be read "
            f"({type(error).__name__}); install the package again"
        ) from error
