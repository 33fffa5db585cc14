"""Whether a data folder's server runs, found out without a change to the folder and without PostgreSQL's driver."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Literal

from service.store.embedded import home_files

Presence = Literal["none", "stopped", "running"]
"""No cluster is made yet; one that no server runs on; one with a server, in use or warm."""


def presence(folder: Path) -> Presence:
    """What there is now; another process may start or stop the server at any moment."""
    try:
        home = _home_of(folder)
        if _is_supervised(home):
            return "running"
        return "stopped" if (home / "cluster").exists() else "none"
    except OSError:  # a folder that cannot be read is refused later, with the ways out
        return "none"


def _home_of(folder: Path) -> Path:
    """The place of the files: the folder, or root's shelter that it names (`data_dir`)."""
    pointer = folder / "moved-to.txt"
    return Path(pointer.read_text(encoding="utf-8").split("\n", 1)[0]) if pointer.exists() else folder


def _is_supervised(home: Path) -> bool:
    try:
        descriptor = os.open(home / "guard.lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not home_files.could_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)
