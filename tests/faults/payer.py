"""Worker processes that can be killed and replaced in a moment: a foreman that has everything loaded forks them.

    with workers(folder) as crew:
        crew.start(environment)       # the pid of a `gainsay work` of its own
        crew.kill(pid)                # SIGKILL, and no trace of it left
        crew.stop()                   # SIGTERM to all that are left; their exit statuses

The foreman and its workers end with the process that started them, however that ends: its standard input closes.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop

from service import ranks
from service.app import open_app, working
from service.databases import database_url
from service.settings import read_settings
from tests.faults.books import TOKENIZER
from tests.running import repository


class Crew:
    """The workers of one foreman."""

    def __init__(self, foreman: subprocess.Popen[str], log: Path) -> None:
        self._foreman = foreman
        self._log = log
        self.pids: list[int] = []

    def start(self, environment: Mapping[str, str]) -> int:
        """A new worker under these settings."""
        pid = int(self._order({"start": dict(environment)}))
        self.pids.append(pid)
        return pid

    def kill(self, pid: int) -> None:
        """End a worker as a power cut would."""
        assert self._order({"kill": pid}) == -signal.SIGKILL, "the worker was gone already"
        self.pids.remove(pid)

    def stop(self) -> list[int]:
        """Let the workers finish or hand back what they have; how each of them exited, 0 being well."""
        statuses = [int(self._order({"stop": pid})) for pid in self.pids]
        self.pids.clear()
        return statuses

    @property
    def log(self) -> str:
        """What the workers have written to their standard error."""
        return self._log.read_text("utf-8")

    def _order(self, order: dict[str, Any]) -> Any:
        assert self._foreman.stdin
        assert self._foreman.stdout
        self._foreman.stdin.write(json.dumps(order) + "\n")
        self._foreman.stdin.flush()
        answer = self._foreman.stdout.readline()
        assert answer, f"the foreman is gone: {self.log[-2_000:]}"
        return json.loads(answer)


@contextmanager
def workers(folder: Path) -> Iterator[Crew]:
    """A foreman without workers yet; whatever is left of them at the end is killed."""
    log = folder / "workers.log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.faults.payer"],
            cwd=repository(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as foreman,
    ):
        try:
            yield Crew(foreman, log)
        finally:
            os.killpg(foreman.pid, signal.SIGKILL)  # its workers are of its group


def _lead() -> None:
    """Do what is told, a line at a time; single-threaded, so that forking is safe."""
    pids: set[int] = set()
    ranks.load([TOKENIZER])
    try:
        while line := sys.stdin.readline():
            match json.loads(line):
                case {"start": environment}:
                    answer = _fork(environment)
                    pids.add(answer)
                case {"kill": pid}:
                    answer = _end(pid, signal.SIGKILL)
                    pids.remove(pid)
                case {"stop": pid}:
                    answer = _end(pid, signal.SIGTERM)
                    pids.remove(pid)
                case order:
                    raise ValueError(f"expected start, kill or stop, found {order!r}")
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def _end(pid: int, how: signal.Signals) -> int:
    """Its exit status, or the signal that ended it as a negative number. Nobody else has its number until then."""
    os.kill(pid, how)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _fork(environment: Mapping[str, str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.dup2(2, 1)  # the foreman's answers are its own
        os.environ.update(environment)
        _work()
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        sys.stderr.flush()
        os._exit(status)


def _work() -> None:
    """What `gainsay work` does."""
    settings = read_settings(os.environ)
    with database_url(settings) as url:
        uvloop.run(_until_told(url))


async def _until_told(url: str) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with open_app(read_settings(os.environ), url) as app, working(app):
        await told.wait()


if __name__ == "__main__":
    _lead()
