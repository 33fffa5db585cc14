"""Requests over long documents, laid out in a thread of their worker: the event loop goes on meanwhile.

What engines compile and read once is made ready in it too.

To lay out, encode, compare and count a request of 5 MB takes tenths of a second, in hundreds of steps of some
milliseconds. The interpreter's lock changes hands between two of them, so a thread is enough here; a check by regular
expressions can be one step of seconds, and has a process of its own (`service/running/apart.py`). A worker has one such
thread: several would take the lock from the loop one after the other.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from service.checks.readiness import make_ready

Made = TypeVar("Made")

LONG = 100_000
"""The code points of a debate's documents from which on its requests are laid out in the thread; below they take some
ten milliseconds."""


class Lane:
    """The thread of a worker for the requests of its debates over long documents. It starts with the first of them."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "long-requests")
        self._ready: asyncio.Future[None] | None = None

    async def ready(self) -> None:
        """Have the engines of checks read and compile what they need, once: a third of a second."""
        if self._ready is None or (self._ready.done() and (self._ready.cancelled() or self._ready.exception())):
            self._ready = asyncio.ensure_future(self.run(_made_ready))
        if not self._ready.done():
            await asyncio.shield(self._ready)

    async def run(self, function: Callable[..., Made], *given: object) -> Made:
        """What a function returns for these arguments; one after the other, in the order in which they were asked.

        It works for the same tenant as who asks.
        """
        run = copy_context().run
        return await asyncio.get_running_loop().run_in_executor(self._thread, run, function, *given)

    def close(self) -> None:
        """Begin nothing more; what runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _made_ready() -> None:
    make_ready()
    gc.freeze()  # to look for garbage in the tables of engines, which stay, takes a tenth of a second each time
