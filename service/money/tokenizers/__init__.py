"""The rank files of the tokenizers, read once at the start; `README.md` beside them says where they are from."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

from service.errors import SettingsError
from service.money import tokens

FOLDER = Path(__file__).parent


def load(names: Iterable[str]) -> None:
    """Make these tokenizers of the catalogue ready: 0.2 to 0.4 seconds each, once in a process; the simulated one needs
    nothing. Raises `SettingsError` where one is not known, or where its file is missing or not the one it should be.
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
