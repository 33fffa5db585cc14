"""The bytes of a prompt file as they are now, read before a call."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from service.errors import PromptMismatch

SINCE = "since this process started,"
RESTART = "and restart this process"
_FILE_MAX = 4_000_000
"""Bytes of a file that are read before a call: more than any prompt has, so that no file keeps a process busy."""


def present_bytes(path: Path) -> bytes:
    """The bytes of a regular file now, `_FILE_MAX` of them at most; a pipe or device is refused and not waited for."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise PromptMismatch(f"{SINCE} {path.name} is no file any more; restore it, {RESTART}")
            with os.fdopen(opened, "rb", closefd=False) as file:
                return file.read(_FILE_MAX)
        finally:
            os.close(opened)
    except OSError as error:
        raise PromptMismatch(
            f"{SINCE} {path.name} cannot be read any more ({error.strerror}); restore it, {RESTART}"
        ) from error
