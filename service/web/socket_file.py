"""A socket file to listen on, for a proxy on the same machine: who may open it reaches the service."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from service.errors import GainsayError

OWNER, GROUP = 0o600, 0o660
"""The modes of the file: for its owner alone, and for a group as well."""


class CannotListen(GainsayError):
    """The address is in use, belongs to another machine, or is not an address."""

    code = "cannot_listen"
    title = "The service cannot listen on the address"


class SocketFile(NamedTuple):
    """Where the file is, and the group that may open it beside its owner."""

    path: Path
    group: str | None = None


@contextmanager
def bound_file(file: SocketFile, backlog: int) -> Iterator[socket.socket]:
    """A socket bound to a file, which is removed at the end.

    Only its owner may open the file, and where a group is named, that group. A file that a process left behind is
    replaced; one that a process listens on, or that is no socket, is not. Raises `CannotListen`.
    """
    path, group = file
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            _remove_stale(path)
            before = os.umask(0o777 & ~OWNER)  # no moment in which others may open it
            try:
                listening.bind(str(path))
            finally:
                os.umask(before)
        except (OSError, ValueError) as error:
            raise _refusal(path, error) from error
        own = path.lstat().st_ino
        try:
            _give_to(group, path)
            listening.listen(backlog)
            yield listening
        finally:
            with suppress(OSError):
                if path.lstat().st_ino == own:  # another process may have put its own there
                    path.unlink()


def _give_to(group: str | None, path: Path) -> None:
    if group is None:
        return
    try:
        shutil.chown(path, group=group)
        path.chmod(GROUP)
    except (LookupError, PermissionError) as error:
        raise CannotListen(
            f"expected to give {path} to the group {group}, found: {error}; name a group that this user is in"
        ) from error


def _remove_stale(path: Path) -> None:
    """Remove a socket file on which no process listens; raises `OSError` for anything else that is there."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError("there is a file that is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise FileExistsError("another process listens on it")


def _refusal(path: Path, error: Exception) -> CannotListen:
    found = getattr(error, "strerror", None) or error
    return CannotListen(f"expected to listen on the socket file {path}, found: {found}; choose another --unix")
