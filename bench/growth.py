"""How our own CPU for a debate grows with its rounds and debaters, and how long it holds the event loop.

Debates run in this process; the offline models answer in another, over HTTP, so their thinking is not in the figures.
What a debate has said grows with its rounds, so even a debate whose every call costs the same is read longer. The loop
is held by what runs between two ticks of a task that only sleeps, while a debate over a long document is submitted and
run beside it, measured by the CPU of the loop's thread, because a shared machine lets any thread wait.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import uvloop
from msgspec.structs import replace

from bench.deployment import HERE, policy_at
from bench.documents import document
from bench.figures import Measured, NotRun, Turn
from bench.processes import ADDRESS, started
from bench.servers import server
from service.app import connected
from service.money import tokenizers
from service.policy.settings import read_policy
from service.running.apart import CheckProcess
from tests.faults.books import TOKENIZER
from tests.fixtures.running import Bench, CannedProvider, bench, repository

ROUNDS, OF_ROUNDS = (1, 2, 5, 10, 20), 3
DEBATERS, OF_DEBATERS = (2, 5, 10), 2
LONGEST = max(ROUNDS)
MEGABYTE, SIZES = 1_000_000, (1, 5)
TICK_S = 0.002
CEILING = 900.0
"""Enough for every debate here, in US dollars."""


def measure() -> Turn:
    """One turn of rounds and debaters."""
    vendor = [sys.executable, str(HERE / "vendor.py"), "models", "0"]
    at = started(vendor, ADDRESS, {"PYTHONPATH": str(repository())})
    with tempfile.TemporaryDirectory() as folder, server() as here, at as process:
        os.environ["VENDOR_KEY"] = "sk-fake-0123456789abcdef"
        tokenizers.load([TOKENIZER])
        return uvloop.run(_grown(here.service, policy_at(Path(folder), process.said, 1)))


async def _grown(url: str, path: Path) -> Turn:
    read = read_policy(path)
    longer = replace(read.formats.convergence, rounds_max=LONGEST)
    policy = replace(read, formats=replace(read.formats, convergence=longer))
    async with connected(policy) as providers, bench(url, policy=policy, providers=providers) as service:
        await _cpu_ms(service, 1, OF_ROUNDS)
        by_rounds = {n: await _cpu_ms(service, n, OF_ROUNDS) for n in ROUNDS}
        by_debaters = {n: await _cpu_ms(service, OF_DEBATERS, n) for n in DEBATERS}
    found: dict[str, Measured | NotRun] = {}
    for n, cpu in by_rounds.items():
        calls = OF_ROUNDS * (n + 1) + 1
        found[f"{n} rounds"] = Measured(cpu, None, f"{calls} calls, {cpu / calls:.2f} ms each")
    for n, cpu in by_debaters.items():
        calls = n * (OF_DEBATERS + 1) + 1
        found[f"{n} debaters"] = Measured(cpu, None, f"{calls} calls, {cpu / calls:.2f} ms each")
    later, first = by_rounds[20] - by_rounds[10], by_rounds[10]
    found["rounds linear"] = Measured(later, first, f"the first ten {first:.0f} ms")
    later, first = by_debaters[10] - by_debaters[5], by_debaters[5]
    found["debaters linear"] = Measured(later, first, f"the first five {first:.0f} ms")
    return found


async def _cpu_ms(service: Bench, rounds: int, debaters: int) -> float:
    """Our CPU for one debate of convergence, from its claim to its end, in milliseconds."""
    options = {"format": "convergence", "debaters": debaters, "maxRounds": rounds}
    debate = await service.submit(costCeilingUSD=CEILING, options=options)
    cpu = time.process_time()
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    await (await service.runner(debate)).run()
    return 1_000 * (time.process_time() - cpu)


def loop() -> Turn:
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
