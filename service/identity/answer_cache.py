"""Answers of the registers, kept for so short a time that a revocation holds everywhere within 5 s.

An answer is used for `TRUSTED_S` from when it was asked for, and a question that is not answered within `ANSWER_S` is
refused. So no answer is used that was true longer ago than both together. Without an answer no caller is let in: no old
one takes the place of one that the database does not give.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from service.errors import GainsayError, Overloaded, StoreUnavailable

TRUSTED_S = 2.0
ANSWER_S = 2.5
KEPT = 10_000
"""Answers of each kind, good and bad, that are kept."""
AT_ONCE = 4
"""Questions about what was never good here that the database is asked at the same time."""
WAITING = 256
"""Such questions that wait for their turn; more are refused at once."""

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")


class AnswerCache(Generic[Q, A]):
    """Answers to questions, each asked once at a time for all who wait; ``None`` is the bad answer.

    Strangers can ask without end about what was never good. Their questions wait for one another, and neither their
    waiting nor their answers take a place from what was good a moment ago.
    """

    def __init__(
        self, ask: Callable[[Q], Awaitable[A | None]], *, clock: Callable[[], float] = time.monotonic, kept: int = KEPT
    ) -> None:
        self._ask, self._clock, self._kept = ask, clock, kept
        self._good: OrderedDict[Q, tuple[A, float]] = OrderedDict()
        self._bad: OrderedDict[Q, float] = OrderedDict()
        self._asked: dict[Q, asyncio.Task[A | GainsayError | None]] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def answer(self, question: Q) -> A | None:
        """The answer, at most `TRUSTED_S` and `ANSWER_S` old.

        Raises `StoreUnavailable` where there is none, and `Overloaded` where too many wait for theirs.
        """
        now = self._clock()
        if (good := self._good.get(question)) and now < good[1]:
            return good[0]
        if now < self._bad.get(question, 0.0):
            return None
        task = self._asked.get(question)
        if task is None:
            task = asyncio.create_task(self._asking(question), name="identity")
            self._asked[question] = task
            task.add_done_callback(lambda _: self._asked.pop(question, None))
        found = await asyncio.shield(task)  # one who leaves takes no answer from the others
        if isinstance(found, GainsayError):
            raise found.anew()
        return found

    async def _asking(self, question: Q) -> A | GainsayError | None:
        """The answer or the error, for a task that may have lost all who waited for it."""
        try:
            if question in self._good:
                return await self._answered(question)
            await self._turn()
            try:
                return await self._answered(question)
            finally:
                self._turns.release()
        except GainsayError as error:
            return error

    async def _turn(self) -> None:
        """Wait for a turn of what was never good here; raises `Overloaded` after a while, and at once behind many."""
        if self._waiting >= WAITING:
            raise _overloaded()
        self._waiting += 1
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._turns.acquire()
        except TimeoutError:
            raise _overloaded() from None
        finally:
            self._waiting -= 1

    async def _answered(self, question: Q) -> A | None:
        begun = self._clock()
        try:
            async with asyncio.timeout(ANSWER_S):
                found = await self._ask(question)
        except TimeoutError:
            raise StoreUnavailable(
                f"the registers did not answer within {ANSWER_S:g} s, so no caller is let in; try again", retry_after=5
            ) from None
        self._keep(question, found, begun + TRUSTED_S)
        return found

    def _keep(self, question: Q, found: A | None, until: float) -> None:
        self._good.pop(question, None)
        self._bad.pop(question, None)
        if found is None:
            self._bad[question] = until
            if len(self._bad) > self._kept:
                self._bad.popitem(last=False)
        else:
            self._good[question] = (found, until)
            if len(self._good) > self._kept:
                self._good.popitem(last=False)


def _overloaded() -> Overloaded:
    return Overloaded("too many credentials come at once that were not seen before; try again", retry_after=2)
