"""Worker processes that can be killed and replaced in a moment.

with workers(folder) as crew:
    crew.start(environment)       # a `gainsay work` of its own
    crew.kill(worker)             # SIGKILL, and no trace of it left
    crew.stop()                   # SIGTERM to all that are left; their exit statuses
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import uvloop

from service.app import open_app, running_worker
from service.money import tokenizers
from service.policy.settings import read_settings
from service.store.startup import database_url
from tests.faults.books import TOKENIZER
from tests.faults.foreman import Foreman, Forked, foreman


class Crew:
    """The workers of one foreman."""

    def __init__(self, lead: Foreman, log: Path) -> None:
        self._foreman = lead
        self._log = log
        self.workers: list[Forked] = []

    def start(self, environment: Mapping[str, str]) -> None:
        """A new worker under these settings."""
        settings = {**os.environ, **environment}
        self.workers.append(self._foreman.start(__name__, {}, self._log, settings))

    def kill(self, worker: Forked) -> None:
        """End a worker as a power cut would."""
        worker.kill()
        assert worker.wait() == -signal.SIGKILL, "the worker was gone already"
        self.workers.remove(worker)

    def stop(self) -> list[int]:
        """Let the workers finish or hand back what they have; how each of them exited, 0 being well."""
        for worker in self.workers:
            worker.terminate()
        statuses = [worker.wait() for worker in self.workers]
        self.workers.clear()
        return statuses

    def end(self) -> None:
        """Kill whatever is left, also what has ended by itself."""
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.workers.clear()

    @property
    def log(self) -> str:
        """What the workers have written to their standard error."""
        return self._log.read_text("utf-8")


@contextmanager
def workers(folder: Path) -> Iterator[Crew]:
    """A foreman without workers yet; whatever is left of them at the end is killed."""
    log = folder / "workers.log"
    log.touch()
    with foreman(__name__) as lead:
        yield Crew(lead, log)


# -- inside


def load() -> None:
    """What takes time; all else is imported by now. Who is told to end before he listens for it hears it later."""
    import_module("service.providers.transport")
    tokenizers.load([TOKENIZER])
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])


def live(_told: Mapping[str, Any]) -> None:
    """What `gainsay work` does."""
    settings = read_settings(os.environ)
    with database_url(settings) as url:
        uvloop.run(_until_told(url))


async def _until_told(url: str) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    async with open_app(read_settings(os.environ), url) as app, running_worker(app):
        await told.wait()
