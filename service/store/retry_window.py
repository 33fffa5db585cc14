"""The retry window: a statement is repeated while the database is away, for a limited time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from service.errors import StoreUnavailable
from service.store.pool import StatementRefused

T = TypeVar("T")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
"""The first and the longest wait before a statement is repeated."""


async def retry(ask: Callable[[bool], Awaitable[T]], seconds: float) -> T:
    """Run ``ask``, and repeat it while the database is away and these seconds have not passed.

    ``ask`` gets whether it is a repetition: an earlier try may have committed. Raises `StoreUnavailable`.
    """
    until, pause, again = time.monotonic() + seconds, FIRST_PAUSE_S, False
    while True:
        try:
            return await ask(again)
        except StoreUnavailable as error:
            if isinstance(error, StatementRefused) or time.monotonic() + pause > until:
                raise
        await asyncio.sleep(pause)
        pause, again = min(2 * pause, LONGEST_PAUSE_S), True
