"""Processes that are measured from outside: started by their command, waited for by what they say, read in /proc."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.fixtures.running import repository

ADDRESS = r"http://[\w.:]+(?=\s)"
WITHIN_S = 60.0
TICKS = os.sysconf("SC_CLK_TCK")


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
        """The seconds of all cores that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

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
        time.sleep(0.1)
    return found[0]
