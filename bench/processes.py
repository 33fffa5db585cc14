"""Processes that are measured from outside: started by their command, waited for by what they say, read in /proc."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.fixtures.postgres import SERVINGS
from tests.fixtures.running import repository

ADDRESS = r"http://[\w.:]+(?=[\s\"])"
WITHIN_S = 60.0
_OF_ALL_THREADS = 2
"""Of the three clocks of a process: what its threads have run, in user and system together."""


class Process(NamedTuple):
    """A process, and what it said when it had begun."""

    pid: int
    said: str

    @property
    def memory(self) -> int:
        """The bytes that it has in memory now."""
        return self._status("VmRSS")

    @property
    def most_memory(self) -> int:
        """The bytes that it had in memory at most."""
        return self._status("VmHWM")

    @property
    def cpu_s(self) -> float:
        """The seconds of all cores that it has used, by the clock that Linux has for each process.

        What /proc says comes in hundredths of a second, which is as much as several requests take.
        """
        return time.clock_gettime((~self.pid << 3) | _OF_ALL_THREADS)

    def _status(self, which: str) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        (line,) = (line for line in status.splitlines() if line.startswith(which))
        return int(line.split()[1]) << 10


@contextmanager
def started(command: list[str], wanted: str, variables: Mapping[str, str] | None = None) -> Iterator[Process]:
    """A process that has said what is wanted (a pattern) on standard error, until the block ends.

    It has none of our settings but those that it is given. Its standard input ends when this process does.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
    with tempfile.NamedTemporaryFile() as said:  # a pipe that nobody reads would stop it
        process = subprocess.Popen(
            command, cwd=repository(), env={**inherited, **(variables or {})}, stdin=subprocess.PIPE, stderr=said
        )
        try:
            yield Process(process.pid, _said(process, Path(said.name), wanted))
        finally:
            process.kill()  # also one that was stopped
            process.communicate()


def _said(process: subprocess.Popen[bytes], log: Path, wanted: str) -> str:
    until = time.monotonic() + WITHIN_S
    while not (found := re.search(wanted, told := log.read_text("utf-8", "replace"))):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"expected {process.args!r} to say {wanted!r}, found: {told or 'nothing'}")
        time.sleep(0.02)
    return found[0]


@contextmanager
def api(url: str, **variables: str) -> Iterator[Process]:
    """`gainsay serve --no-worker --no-sequencer` as it ships, on a database."""
    command = [sys.executable, "-m", "service", "serve", "--no-worker", "--no-sequencer", "--port", "0"]
    own = {"GAINSAY_DATABASE_URL": url, "GAINSAY_API_URL": SERVINGS[url], "GAINSAY_DRAIN_S": "0"}
    with started(command, ADDRESS, {**own, **variables}) as process:
        yield process
