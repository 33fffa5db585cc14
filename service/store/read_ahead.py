"""Reads a long thing in parts, each of them while the one before is worked on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")


class ReadAhead(Generic[T]):
    """The parts that ``read`` gives by the number of their first item; no more than one is read ahead.

    At the end of the block a part that is not wanted any more is waited for, so that no statement is cut off.
    """

    def __init__(self, read: Callable[[int], Coroutine[Any, Any, T]]) -> None:
        self._read = read
        self._ahead: tuple[int, asyncio.Task[T]] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._drop()

    async def take(self, first: int, then: int | None = None) -> T:
        """The part from ``first`` on; the part from ``then`` on is read from now on, if there is to be one."""
        if self._ahead is None or self._ahead[0] != first:
            await self._drop()
            self._ahead = first, asyncio.create_task(self._read(first))
        found = await asyncio.shield(self._ahead[1])
        self._ahead = None if then is None else (then, asyncio.create_task(self._read(then)))
        return found

    async def _drop(self) -> None:
        if self._ahead is not None:
            _, reading = self._ahead
            self._ahead = None
            await asyncio.gather(reading, return_exceptions=True)
