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


def present_bytes(path: str, expected: bytes) -> bytes:
    """The bytes of a regular file now, `_FILE_MAX` of them at most; a pipe or device is refused and not waited for.

    Where they are the ``expected`` ones, the kind of file that has them makes no difference and is not looked at.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if (found := _begun(opened, len(expected))) == expected:
                return expected
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise PromptMismatch(f"{SINCE} {Path(path).name} is no file any more; restore it, {RESTART}")
            return _read_on(opened, found)
        finally:
            os.close(opened)
    except OSError as error:
        raise PromptMismatch(
            f"{SINCE} {Path(path).name} cannot be read any more ({error.strerror}); restore it, {RESTART}"
        ) from error


def _begun(opened: int, size: int) -> bytes:
    """What comes of a file at first. One byte more than the size is asked for: as many bytes are all that is there."""
    try:
        return os.read(opened, size + 1)
    except (BlockingIOError, IsADirectoryError):  # no regular file
        return b""


def _read_on(opened: int, found: bytes) -> bytes:
    """All that is there, from what has come at first."""
    while len(found) < _FILE_MAX and (more := os.read(opened, _CHUNK)):
        found += more
    return found[:_FILE_MAX]
