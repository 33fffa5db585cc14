"""How our own CPU for a debate grows with its rounds, debaters and documents, and how long it holds the event loop.

Linear is a ratio of at most 1: the CPU of a debate of twice the size, over twice the CPU of the smaller one. What does
not grow is in both, so a ratio below 1 is usual. The loop is held by whatever runs between two ticks of a task that
only sleeps, while a debate over a long document is submitted and run beside it; and by a check, from one wait of it to
the next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from service.running.apart import CheckProcess
from service.running.checker import Checker
from service.running.provider_port import Provider
from tests.fixtures.running import TEXT, Bench, bench

TURNS, TICK_S, HELD_MS = 3, 0.002, 50.0
CEILING = 25.0
"""Enough for a long document, in US dollars."""
Told = tuple[str, str, str, str]
SIZES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "rounds, 1 and 2": (
        {"options": {"format": "adversarial", "maxRounds": 1}},
        {"options": {"format": "adversarial", "maxRounds": 2}},
    ),
    "debaters, 3 and 6": (
        {"options": {"format": "convergence", "debaters": 3, "maxRounds": 1}},
        {"options": {"format": "convergence", "debaters": 6, "maxRounds": 1}},
    ),
    "documents, 8 and 16": (
        {"documents": [{"text": f"{n}. {TEXT} " * 8} for n in range(8)]},
        {"documents": [{"text": f"{n}. {TEXT} " * 8} for n in range(16)]},
    ),
}
"""What is doubled, with the case of the first size and that of twice it."""


async def measure(url: str, provider: Provider, large: str) -> list[Told]:
    """The rows of the bench; the provider answers at once, and ``large`` is a long document."""
    async with bench(url, provider) as service:
        rows = [await _grown(service, what, *sizes) for what, sizes in SIZES.items()]
        return [*rows, *[row for text in (large, large * 5) for row in await _held(service, text)]]


async def _grown(service: Bench, what: str, one: Mapping[str, Any], double: Mapping[str, Any]) -> Told:
    await _cpu_ms(service, one)
    once = min([await _cpu_ms(service, one) for _ in range(TURNS)])
    twice = min([await _cpu_ms(service, double) for _ in range(TURNS)])
    return f"growth: our CPU by {what}", f"{twice:.1f} ms", f"twice {once:.1f} ms", f"{twice / (2 * once):.2f}"


async def _cpu_ms(service: Bench, case: Mapping[str, Any]) -> float:
    """Our CPU for one debate, from its submission to its end, in milliseconds."""
    cpu = time.process_time()
    await _run(service, case)
    return 1_000 * (time.process_time() - cpu)


async def _run(service: Bench, case: Mapping[str, Any], apart: CheckProcess | None = None) -> None:
    debate = await service.submit(**{"costCeilingUSD": CEILING, **case})
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    await (await service.runner(debate, apart=apart)).run()


async def _held(service: Bench, text: str) -> list[Told]:
    """How long a debate over a long document holds the loop at most, and how long one of its checks does."""
    process, checks = CheckProcess(), list[float]()
    with _timed(checks), _ticking() as ticks:
        await _run(service, {"documents": [{"text": text}]}, process)
    await process.close()
    rows = (("a debate", max(ticks)), ("a check", max(checks)))
    return [
        (
            f"loop: held at most by {what} over {len(text):,} characters",
            f"{held:.0f} ms",
            f"limit {HELD_MS:g} ms",
            f"{held / HELD_MS:.2f}",
        )
        for what, held in rows
    ]


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
