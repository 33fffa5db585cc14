"""Processes that start in a moment: a foreman that has everything loaded forks them.

    with foreman("tests.faults.hammered") as lead:
        process = lead.start("tests.faults.hammered", told, stderr, environment)
        process.kill(), process.terminate(), process.send_signal(...), process.poll(), process.wait()

What a process does is a module: its ``load`` imports and reads what takes time, in the foreman, and its ``live`` is
called with what the process is told and gives its exit code, or nothing where all went well. The foreman and its
processes end with the one that started them, however that ends: its standard input closes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from service.checks.patterns import LazyPattern
from service.policy.own_build import own_build
from service.prompts import Prompts
from service.prompts.layout_check import refuse_others
from tests.fixtures.running import repository

LOOK_S = 0.01


class Forked:
    """One process: what of `subprocess.Popen` a deployment needs. Its number is its own until its end is asked for."""

    def __init__(self, lead: Foreman, pid: int) -> None:
        self._lead, self.pid = lead, pid
        self._code: int | None = None
        self._polling = Lock()

    def poll(self) -> int | None:
        """Its exit code, or the signal that ended it as a negative number; nothing while it runs."""
        with self._polling:  # an end is told once: of two threads that ask, the second would ask for one that is gone
            if self._code is None:
                self._code = self._lead.order({"poll": self.pid})
            return self._code

    def wait(self, timeout: float = 120.0) -> int:
        """The same once it has ended."""
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"process {self.pid} did not end in {timeout:g} s")
            time.sleep(LOOK_S)
        return code

    def send_signal(self, which: signal.Signals) -> None:
        """Signal it, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, which)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Tell it to end."""
        self.send_signal(signal.SIGTERM)


class Foreman:
    """Starts processes, and knows how they ended."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._lock = process, Lock()

    def start(
        self, job: str, told: Mapping[str, Any], stderr: Path, environment: Mapping[str, str] | None = None
    ) -> Forked:
        """A process that does a job, and says in a file what it has to say; without an environment it has ours."""
        order = {"job": job, "told": dict(told), "stderr": str(stderr), "environment": dict(environment or os.environ)}
        return Forked(self, self.order({"start": order}))

    def order(self, order: Mapping[str, Any]) -> Any:
        """What the foreman answers."""
        with self._lock:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        assert answer, "the foreman is gone"
        return json.loads(answer)


@contextmanager
def foreman(*jobs: str) -> Iterator[Foreman]:
    """A foreman who knows these jobs, without processes yet; whatever is left of them at the end is killed."""
    command = [sys.executable, "-m", "tests.faults.foreman", *jobs]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=repository(), stdin=pipe, stdout=pipe, text=True, start_new_session=True
    ) as process:
        try:
            yield Foreman(process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # what it has forked is of its group


# -- inside


def _lead(jobs: Mapping[str, Any]) -> None:
    """Do what is told, a line at a time; single-threaded, so that forking is safe."""
    for job in jobs.values():
        job.load()
    _prepare()
    pids: set[int] = set()
    try:
        while line := sys.stdin.readline():
            match json.loads(line):
                case {"start": order}:
                    answer: int | None = _fork(jobs[order["job"]], order)
                    pids.add(answer or 0)
                case {"poll": pid}:
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    answer = os.waitstatus_to_exitcode(status) if ended else None
                    pids -= {ended}
                case order:
                    raise ValueError(f"expected start or poll, found {order!r}")
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def _prepare() -> None:
    """Do once what each process would do at its start, and compile what it would when it judges its first reply."""
    own_build()
    refuse_others(Prompts.load())
    for name, module in [*sys.modules.items()]:
        for value in vars(module).values() if name.startswith("service.checks.") else ():
            if isinstance(value, LazyPattern):
                _ = value.flags


def _fork(job: Any, order: Mapping[str, Any]) -> int:
    if pid := os.fork():
        return pid
    code = 1
    try:
        log = os.open(order["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for descriptor, what in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
            os.dup2(what, descriptor)
        os.environ.clear()
        os.environ.update(order["environment"])
        code = job.live(order["told"]) or 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise  # though it gets no further
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _lead({name: import_module(name) for name in sys.argv[1:]})
