"""A file that a command writes: whole or not at all, and not over another one.

Nothing here needs more than Python: an examiner's machine, which may be one with Windows, writes certificates with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click

from service.errors import GainsayError


class CannotWrite(GainsayError):
    """A file cannot be written."""

    code = "cannot_write"
    title = "The file cannot be written"


def refuse_present(path: Path, force: bool | None) -> None:
    """Raise `click.UsageError` for a file that is there, unless ``force`` overwrites it; `CannotWrite` for a device.

    ``None`` is that of a command without an option to overwrite, or whose ``--force`` means something else.
    """
    if not force and os.path.lexists(path):
        otherwise = "remove it first" if force is None else "overwrite it with --force"
        raise click.UsageError(f"{path} exists; choose another name, or {otherwise}")
    _refuse_special(path)


def _refuse_special(path: Path) -> None:
    """Raise `CannotWrite` for what a new file would take away: a device, a pipe, or a name for an open file.

    A place that cannot be looked at passes: to write there fails, and says why.
    """
    try:
        opened = path.is_symlink() and str(path.readlink()).startswith("/proc/")  # such as /dev/stdout
        special = opened or (path.exists() and not path.is_file())
    except OSError:
        return
    if special:
        raise CannotWrite(f"expected the name of a file, found {path}, a device, a pipe or a folder; choose another")


@contextmanager
def written(path: Path, force: bool) -> Iterator[IO[bytes]]:
    """A file that is complete after the block, and absent if the block fails.

    Raises `CannotWrite`, for a device or a pipe in its place, and for a file created meanwhile unless ``force`` allows
    to overwrite it.
    """
    _refuse_special(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force or not _linked(path, beside):
            beside.replace(path)
    except OSError as error:
        raise CannotWrite(f"expected to write {path}, found: {error.strerror}; choose another place") from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _linked(path: Path, beside: Path) -> bool:
    """Rename a file if its new name is free; whether the file system supports it. Raises `FileExistsError`."""
    try:
        path.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True
