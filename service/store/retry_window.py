"""A database that goes away is asked again, for as long as whoever asks can wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from service.errors import StoreUnavailable
from service.store.pool import StatementRefused

T = TypeVar("T")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
"""How long it is left alone before it is asked again, at first and at most."""


async def patiently(ask: Callable[[bool], Awaitable[T]], seconds: float) -> T:
    """What the database answers, asked again while it is away and these seconds have not passed.

    ``ask`` is told whether it asks again: what it asked before may have been done. Raises `StoreUnavailable`.
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
