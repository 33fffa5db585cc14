"""An auditor's file of pinned keys: TOML with tables [[audit.keys]] alone, as the operator's register has them."""

from __future__ import annotations

import tomllib
from pathlib import Path as FilePath
from typing import Any

from service.errors import SettingsError
from service.policy import RegisteredKey
from service.policy.faults import WrongSetting
from service.policy.file.refusal import refusal
from service.policy.file.witnesses import check_register
from service.policy.keys import Key, list_of, members

BYTES_MAX = 1 << 20
_FILE = (Key("audit", Any, member="audit", needed=True),)
_AUDIT = (list_of(RegisteredKey)._replace(name="keys", member="keys", needed=True),)


def read_pins(path: FilePath) -> tuple[RegisteredKey, ...]:
    """The rows of a file, at least one; raises `SettingsError` naming the file, the line and the key."""
    try:
        data = path.read_bytes()[: BYTES_MAX + 1]
        text = data.decode("utf-8-sig")  # some editors begin a file with a mark of its encoding
        if len(data) > BYTES_MAX:
            raise SettingsError(f"expected a file of pinned keys at {path}, found one of more than {BYTES_MAX} bytes")
        written = tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"expected a file of pinned keys at {path}, found: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not TOML in UTF-8 (byte {error.start}); save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {error}"[:300]) from error
    try:
        rows: tuple[RegisteredKey, ...] = members(members(written, _FILE, ())["audit"], _AUDIT, ("audit",))["keys"]
        check_register(rows, ("audit", "keys"))
    except WrongSetting as wrong:
        raise SettingsError(refusal(path, text, written, written, wrong.faults)) from None
    if not rows:
        raise SettingsError(f"{path}: expected at least one table [[audit.keys]], found none")
    return rows
