"""Reads the file of GAINSAY_IDENTITY, and refuses it with every line that is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from service.errors import SettingsError
from service.identity.settings import Identities
from service.policy.faults import WrongSetting
from service.policy.file.refusal import refusal
from service.policy.keys import keys_of, read

MOST_BYTES = 1 << 20


def read_identities(path: Path) -> Identities:
    """The identities of a file; raises `SettingsError` with every fault, each with its line and its key."""
    text, written = _toml(path)
    try:
        found = read(written, Identities, ())
    except WrongSetting as wrong:
        raise SettingsError(refusal(path, text, written, written, wrong.faults)) from None
    if found == Identities():
        sections = ", ".join(f"[{key.name}]" for key in keys_of(Identities))
        raise SettingsError(
            f"expected a section in {path} ({sections}), found none, so every request would be refused; add one, or "
            "unset GAINSAY_IDENTITY to serve this machine alone without identities"
        )
    return found


def _toml(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"expected the identities of GAINSAY_IDENTITY in {path}, found no file that can be read: {error.strerror}"
        ) from error
    if len(data) > MOST_BYTES:
        raise SettingsError(f"expected at most {MOST_BYTES} bytes in {path}, found more; name the right file")
    try:
        text = data.decode("utf-8-sig")  # some editors begin a file with a mark of its encoding
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise SettingsError(f"expected {path} in UTF-8, found other bytes at {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
