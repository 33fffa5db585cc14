"""The CPU of processes, and of a PostgreSQL server by who is connected to it, read from outside in /proc.

Linux has a clock for each process in nanoseconds; what has ended is known in hundredths of a second by its parent.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

BACKGROUND = "background"
"""What PostgreSQL does for no one connection: writing the WAL, checkpoints, vacuum; and connections that have ended."""
_OF_ALL_THREADS = 2
"""Of the three clocks of a process: what its threads have run, in user and system together."""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_BACKENDS = (
    "SELECT pid, usename FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


def cpu_s(pid: int) -> float:
    """The seconds of all cores that a process has used; what its children used is not in it."""
    return time.clock_gettime((~pid << 3) | _OF_ALL_THREADS)


class Stat(NamedTuple):
    """Of a process: its parent, and the seconds of its children that have ended and were waited for."""

    parent: int
    ended_s: float


def stat(pid: int) -> Stat:
    """Read it; `FileNotFoundError` or `ProcessLookupError` where the process has ended."""
    # The name of the program comes second, in brackets, and may hold anything.
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return Stat(int(fields[1]), (int(fields[13]) + int(fields[14])) * _TICK_S)


def children(pid: int) -> list[int]:
    """The processes below one, of all generations."""
    parents = dict(_parents())
    found, left = list[int](), [pid]
    while left:
        above = left.pop()
        below = [child for child, parent in parents.items() if parent == above]
        found += below
        left += below
    return found


def children_s(pid: int) -> float:
    """The seconds that the processes below one have used, those that have ended among them."""
    total = stat(pid).ended_s
    for child in children(pid):
        try:
            total += cpu_s(child) + stat(child).ended_s
        except (OSError, ProcessLookupError):  # it has ended meanwhile
            continue
    return total


def _parents() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                yield int(path.name), stat(int(path.name)).parent
            except (OSError, ProcessLookupError):
                continue


class Postgres:
    """A server on this machine, asked through a connection of a superuser, which is not counted."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._own = connection.info.backend_pid
        self._postmaster = stat(self._own).parent

    def cpu(self) -> Mapping[str, float]:
        """The seconds used so far, by the login whose connections are open, and `BACKGROUND`."""
        users = dict(self._connection.execute(_BACKENDS).fetchall())
        used = defaultdict[str, float](float, {BACKGROUND: cpu_s(self._postmaster) + stat(self._postmaster).ended_s})
        for child in children(self._postmaster):
            if child != self._own:
                try:
                    used[users.get(child) or BACKGROUND] += cpu_s(child)
                except OSError:
                    continue
        return used

    def wal(self) -> int:
        """The bytes of WAL written so far."""
        ((lsn,),) = self._connection.execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchall()
        return int(lsn)
