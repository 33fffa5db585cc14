"""What each process of the service does beside its work: watch its event loop, and drop what it needs no more."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.checks import kept
from service.running.loop_watch import watched_loop

SWEEP_S = 60.0
"""How long what was worked out of a document is kept at least, and twice that at most, after it was asked for."""


@asynccontextmanager
async def upkeep() -> AsyncIterator[None]:
    """Watch the loop during the block, and sweep what engines keep of documents.

    What is there at its beginning is looked at by no later search for garbage.
    """
    gc.freeze()  # modules live as long as the process
    sweeping = asyncio.create_task(_sweep(), name="sweep")
    try:
        async with watched_loop():
            yield
    finally:
        sweeping.cancel()


async def _sweep() -> None:
    while True:
        await asyncio.sleep(SWEEP_S)
        kept.sweep()
