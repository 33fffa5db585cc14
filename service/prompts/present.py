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
_CHUNK = 65_536


def present_bytes(path: str) -> bytes:
    """The bytes of a regular file now, `_FILE_MAX` of them at most; a pipe or device is refused and not waited for."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            about = os.fstat(opened)
            if not stat.S_ISREG(about.st_mode):
                raise PromptMismatch(f"{SINCE} {Path(path).name} is no file any more; restore it, {RESTART}")
            return _read(opened, about.st_size)
        finally:
            os.close(opened)
    except OSError as error:
        raise PromptMismatch(
            f"{SINCE} {Path(path).name} cannot be read any more ({error.strerror}); restore it, {RESTART}"
        ) from error


def _read(opened: int, size: int) -> bytes:
    """All that is there. One byte more than the size is asked for: what comes then is the whole, or has grown."""
    found = os.read(opened, min(size + 1, _FILE_MAX))
    while len(found) != size and len(found) < _FILE_MAX and (more := os.read(opened, _CHUNK)):
        found += more
    return found[:_FILE_MAX]
