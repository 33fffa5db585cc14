"""What is measured from time to time, for as long as a process runs.

A metric whose measuring has ended would show its last value for ever. So what a meter does not expect, it logs, and it
begins again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

from service import log_lines

AGAIN_S = 30.0
"""When a meter begins again after a fault."""


class Meter(Protocol):
    """It measures until it is cancelled."""

    async def run(self) -> None:
        """Measure; the database's absence is no fault and is waited out here."""


@asynccontextmanager
async def measuring(meters: Iterable[Meter]) -> AsyncIterator[None]:
    """Let the meters run during the block."""
    tasks = [asyncio.create_task(_again(meter), name=type(meter).__name__) for meter in meters]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _again(meter: Meter) -> None:
    while True:
        try:
            await meter.run()
        except Exception:  # noqa: BLE001 - an end of it would not be seen
            log_lines.METER_FAULT.raised(meter=type(meter).__name__)
        await asyncio.sleep(AGAIN_S)
