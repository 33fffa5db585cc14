"""How our own CPU for a debate grows with its rounds, debaters and documents, and how long it holds the event loop.

Linear is a ratio of at most 1: the CPU of a debate of twice the size, over twice the CPU of the smaller one. What does
not grow is in both, so a ratio below 1 is usual. The loop is held by whatever runs between two ticks of a task that
only sleeps, while a debate over a long document is submitted and run beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

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
        held = await _held(service, large)
    what = f"loop: held at most, a document of {len(large):,} characters"
    return [*rows, (what, f"{held:.0f} ms", f"limit {HELD_MS:g} ms", f"{held / HELD_MS:.2f}")]


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


async def _run(service: Bench, case: Mapping[str, Any]) -> None:
    debate = await service.submit(**{"costCeilingUSD": CEILING, **case})
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    await (await service.runner(debate)).run()


async def _held(service: Bench, large: str) -> float:
    """The longest time between two ticks, beyond the tick, in milliseconds."""
    longest, over = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal longest
        while not over.is_set():
            begun = time.perf_counter()
            await asyncio.sleep(TICK_S)
            longest = max(longest, time.perf_counter() - begun - TICK_S)

    ticking = asyncio.create_task(tick())
    await _run(service, {"documents": [{"text": large}]})
    over.set()
    await ticking
    return 1_000 * longest
