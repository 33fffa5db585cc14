"""How long the event loop is held by what runs over a long document.

It is held by what runs between two ticks of a task that only sleeps, while a case with a long document is submitted,
and while its debate runs; measured by the CPU of the loop's thread, because a shared machine lets any thread wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import uvloop

from bench.documents import document
from bench.figures import Measured, NotRun, Turn
from bench.servers import server
from service.running.apart import CheckProcess
from tests.fixtures.running import Bench, CannedProvider, bench

MEGABYTE, SIZES = 1_000_000, (1, 5)
TICK_S = 0.002


def measure() -> Turn:
    """One turn of how long long documents hold the loop."""
    with server() as here:
        return uvloop.run(_held_by_all(here.service))


async def _held_by_all(url: str) -> Turn:
    found: dict[str, Measured | NotRun] = {}
    async with bench(url, CannedProvider()) as service:
        await _held(service, document(100_000, 5))
        for size in SIZES:
            submitted, ran = await _held(service, document(size * MEGABYTE, size))
            for what, held in (("submission", submitted), ("debate", ran)):
                found[f"{what} {size} MB"] = Measured(held.cpu_ms, None, f"{held.wall_ms:.0f} ms by the clock")
    return found


class Held(NamedTuple):
    """How long the loop was held at most: the CPU of its thread, and by the clock, each in milliseconds."""

    cpu_ms: float
    wall_ms: float


async def _held(service: Bench, text: str) -> tuple[Held, Held]:
    """How long a submission with a document holds the loop, and how long its debate does."""
    process = CheckProcess()
    async with _ticking() as ticks:
        debate = await service.submit(documents=[{"text": text}], costCeilingUSD=25.0)
    submitted = _most(ticks)
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    async with _ticking() as ticks:
        await (await service.runner(debate, apart=process)).run()
    await process.close()
    return submitted, _most(ticks)


def _most(ticks: list[Held]) -> Held:
    return Held(max(tick.cpu_ms for tick in ticks), max(tick.wall_ms for tick in ticks))


@asynccontextmanager
async def _ticking() -> AsyncIterator[list[Held]]:
    """What ran between two ticks each time, until the block ends."""
    ticks = list[Held]()

    async def tick() -> None:
        while True:
            cpu, begun = time.thread_time(), time.perf_counter()
            await asyncio.sleep(TICK_S)
            late = time.perf_counter() - begun - TICK_S
            ticks.append(Held(1_000 * (time.thread_time() - cpu), 1_000 * late))

    ticking = asyncio.get_running_loop().create_task(tick())
    await asyncio.sleep(0)  # it begins before what it measures
    try:
        yield ticks
        await asyncio.sleep(2 * TICK_S)  # what ran last lies before a tick too
    finally:
        ticking.cancel()
