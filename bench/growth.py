"""How our own CPU for a debate grows with its rounds and debaters, and how long it holds the event loop.

Debates run in this process; the offline models answer in another, over HTTP, so their thinking is not in the figures.
What a debate has said grows with its rounds, so even a debate whose every call costs the same is read longer. The loop
is held by whatever runs between two ticks of a task that only sleeps, while a debate over a long document is submitted
and run beside it; and by a check, from one wait of it to the next.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
from service.running.checker import Checker
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
    """One turn of how long debates over long documents hold the loop, and each step of a check does."""
    with server() as here:
        return uvloop.run(_held_by_all(here.service))


async def _held_by_all(url: str) -> Turn:
    found: dict[str, Measured | NotRun] = {}
    async with bench(url, CannedProvider()) as service:
        await _held(service, document(100_000, 5))
        for size in SIZES:
            debate, check = await _held(service, document(size * MEGABYTE, size))
            found[f"debate {size} MB"] = Measured(debate)
            found[f"check {size} MB"] = Measured(check)
    return found


async def _held(service: Bench, text: str) -> tuple[float, float]:
    """How long a debate over a document holds the loop at most, and how long a step of its checks; milliseconds."""
    process, checks = CheckProcess(), [0.0]
    with _timed(checks), _ticking() as ticks:
        debate = await service.submit(documents=[{"text": text}], costCeilingUSD=25.0)
        if await service.claim() != debate:
            raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
        await (await service.runner(debate, apart=process)).run()
    await process.close()
    return max(ticks), max(checks)


@contextmanager
def _ticking() -> Iterator[list[float]]:
    """The times between two ticks, beyond the tick, in milliseconds."""
    ticks = [0.0]

    async def tick() -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(TICK_S)
            ticks.append(1_000 * (time.perf_counter() - begun - TICK_S))

    ticking = asyncio.get_running_loop().create_task(tick())
    try:
        yield ticks
    finally:
        ticking.cancel()


@contextmanager
def _timed(checks: list[float]) -> Iterator[None]:
    """Note how long each step of a check runs between two waits, in milliseconds."""
    find = Checker.find

    def timed(*given: Any) -> Any:
        return _Stepped(find(*given), checks)

    setattr(Checker, "find", timed)  # noqa: B010 - in the place of a method
    try:
        yield
    finally:
        setattr(Checker, "find", find)  # noqa: B010


class _Stepped:
    """A coroutine of which each step is timed."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], steps: list[float]) -> None:
        self._coroutine = coroutine
        self._steps = steps

    def __await__(self) -> Generator[Any, Any, Any]:
        sent: Any = None
        while True:
            begun = time.perf_counter()
            try:
                waited = self._coroutine.send(sent)
            except StopIteration as done:
                return done.value
            finally:
                self._steps.append(1_000 * (time.perf_counter() - begun))
            sent = yield waited
