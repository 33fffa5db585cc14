"""Files as they stood at one moment, for a process that reads its policy again while it runs.

A mounted file is swapped behind a link, an editor writes into it, another process is half done with it. So each file is
read once, everything is worked out from those bytes, and before they count all files are read again: what changed in
between is read anew from the beginning.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

BYTES_MAX = 8 << 20
"""No policy is larger, and no look may fill the memory."""


class FileSnapshot:
    """Calling it with a path gives that file's bytes, the same at each call; raises `OSError`, the same one too."""

    def __init__(self) -> None:
        self._found: dict[Path, bytes | OSError] = {}

    def __call__(self, path: Path) -> bytes:
        """The bytes of a file as they were when it was first asked for."""
        if path not in self._found:
            self._found[path] = _read(path)
        found = self._found[path]
        if isinstance(found, OSError):
            raise found
        return found

    def stands(self) -> bool:
        """Whether every file that was asked for is now as it was, those that cannot be read among them."""
        return all(_same(found, _read(path)) for path, found in self._found.items())


def _same(one: bytes | OSError, other: bytes | OSError) -> bool:
    if isinstance(one, OSError) or isinstance(other, OSError):
        return isinstance(one, OSError) and isinstance(other, OSError) and one.errno == other.errno
    return one == other


def _read(path: Path) -> bytes | OSError:
    """A regular file's bytes, or why there are none; a pipe without a writer does not stop the process."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return OSError(errno.EINVAL, "it is no regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(BYTES_MAX + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        return OSError(error.errno, error.strerror)
    return data if len(data) <= BYTES_MAX else OSError(errno.EFBIG, os.strerror(errno.EFBIG))
