"""Work that ends although its caller is cancelled meanwhile, such as the release of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Generator, Iterator
from types import coroutine
from typing import Any


class Unbroken:
    """Runs work to its end, also where the caller is cancelled meanwhile.

    Work begins at once, and has a task only if it has to wait: a connection is usually released without.
    """

    def __init__(self) -> None:
        self._tasks = set[asyncio.Task[None]]()

    def run(self, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Begin the work; what is returned is its end, and need not be awaited."""
        try:
            awaited = work.send(None)
        except StopIteration:
            return _done()
        task = asyncio.get_running_loop().create_task(_going_on(work, awaited))
        self._tasks.add(task)  # the loop has but a weak reference
        task.add_done_callback(self._tasks.discard)
        return asyncio.shield(task)

    async def ended(self) -> None:
        """Wait until no work is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)


@coroutine
def _done() -> Iterator[None]:
    """An end that is there already."""
    yield from ()


@coroutine
def _going_on(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """The rest of a coroutine that has begun and awaits a future."""
    while True:
        try:
            try:
                found = yield awaited
            except BaseException as error:  # noqa: BLE001 - the work gets it
                awaited = work.throw(error)
            else:
                awaited = work.send(found)
        except StopIteration:
            return
