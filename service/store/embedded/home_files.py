"""The files by which a server's supervisor and its users speak: locks, status, wish for warmth, PostgreSQL's pid.

The supervisor is a program of the standard library alone, and so is this.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypedDict

WARM_MOST = 3_600.0  # seconds without a user: a longer wish, or one that cannot be read, is none

State = Literal["starting", "ready", "stopping", "stopped", "failed"]


class Status(TypedDict):
    """What HOME/status.json holds. ``port`` and ``pid`` are the server's, 0 while there is none."""

    state: State
    port: int
    pid: int
    reason: str


def until(happened: Callable[[], bool], seconds: float, *, every: float = 0.01) -> bool:
    """Test a condition periodically until it holds, for ``seconds`` at most; say whether it holds."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def open_owned(path: Path, flags: int) -> int:
    """Open a private file of HOME, creating it; when root works in another's HOME, the file becomes that owner's."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.geteuid() == 0:
        home = path.parent.stat()
        os.fchown(descriptor, home.st_uid, home.st_gid)
    return descriptor


def wait_for_lock(path: Path, how: int) -> int:
    """Take the flock ``how`` (LOCK_SH, LOCK_EX) on a file, without a time limit; closing the result drops it."""
    descriptor = open_owned(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:  # Ctrl-C, say
        os.close(descriptor)
        raise
    return descriptor


def try_lock(path: Path, how: int) -> int | None:
    """Take the flock ``how`` if it is free; None otherwise."""
    try:
        return wait_for_lock(path, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def is_free(path: Path, how: int) -> bool:
    """Say whether the lock ``how`` on a file could be had at this moment."""
    descriptor = open_owned(path, os.O_RDWR)
    try:
        return could_lock(descriptor, how)
    finally:
        os.close(descriptor)


def could_lock(descriptor: int, how: int) -> bool:
    """Say whether the lock ``how`` on an open file, which holds none, could be had at this moment."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def read_status(home: Path) -> Status | None:
    """Read the supervisor's last status; None before the first."""
    try:
        status: Status = json.loads((home / "status.json").read_bytes())
    except FileNotFoundError:
        return None
    return status


def write_status(home: Path, state: State, *, port: int = 0, pid: int = 0, reason: str = "") -> None:
    """Replace the status in one step, so that a reader never reads half of it."""
    status: Status = {"state": state, "port": port, "pid": pid, "reason": reason}
    fresh = home / "status.json.new"
    with suppress(FileNotFoundError):  # HOME was removed: no reader is left, but the server must still be stopped
        with os.fdopen(open_owned(fresh, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
            json.dump(status, file)
        fresh.replace(home / "status.json")


def write_warmth(home: Path, seconds: float) -> None:
    """Write a user's wish in one step; raises `OSError`. The file is another one each time, and so a sign of use."""
    fresh = home / f"warm.json.{os.getpid()}.{threading.get_ident()}"
    with os.fdopen(open_owned(fresh, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds}, file)
    fresh.replace(home / "warm.json")


def read_warmth(home: Path) -> float:
    """The seconds of the last wish, 0 without one."""
    try:
        seconds = float(json.loads((home / "warm.json").read_bytes())["seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0
    return seconds if 0.0 < seconds <= WARM_MOST else 0.0


def last_use(home: Path) -> tuple[int, int]:
    """What changes with each user that comes or leaves; ``(0, 0)`` before the first."""
    try:
        found = (home / "warm.json").stat()
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)


def leads_to(path: Path, descriptor: int) -> bool:
    """Say whether a path still names this open file: otherwise it was removed, also where another has its name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def read_pid_file(cluster: Path) -> list[str]:
    """Return the lines of postmaster.pid: pid, folder, start, port, sockets, address, memory, state; empty if none."""
    try:
        return (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
