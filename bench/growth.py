"""How our own CPU for a debate grows with its rounds, debaters and documents, and what a long document costs others.

Linear is a ratio of at most 1: the CPU of a debate of twice the size, over twice the CPU of the smaller one. What does
not grow is in both, so a ratio below 1 is usual.

A long document costs a scan for injections, and the rest of the work, once; both are measured with the process that
makes them. The event loop is held by whatever runs between two calls of a timer (`service.running.loop_watch`), while a
worker runs a debate over the long document and short ones beside it. These are times of the wall: on a machine with
other work they say little, and so the CPU of the loop's own thread between two calls is printed too.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Awaitable, Mapping
from itertools import pairwise
from typing import Any

from service.checks import kept
from service.checks.injection import FieldText, check_injection
from service.running.apart import CheckProcess
from service.running.loop_watch import watched_loop
from service.running.provider_port import Provider
from service.running.worker import Worker, WorkerConfig
from tests.fixtures.running import CALLER, TEXT, Bench, bench

TURNS, TICK_S, HELD_MS = 3, 0.002, 50.0
LONGEST = 5_000_000
BESIDE_S = 1.2
"""What all work on a document of 5 MB but the scan may take."""
AT_ONCE, ALONE_S = 4, 5.0
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


async def measure(url: str, provider: Provider, paced: Provider, long: str) -> list[Told]:
    """The rows of the bench. ``provider`` answers at once, ``paced`` takes a while; ``long`` is a text."""
    text = long[:LONGEST]
    async with bench(url, provider) as service:
        rows = [await _grown(service, what, *sizes) for what, sizes in SIZES.items()]
    rows += await _worked(url, provider, text)
    return [*rows, *await _held(url, paced, text[: len(text) // 5]), *await _held(url, paced, text)]


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
    debate = await service.submit(costCeilingUSD=CEILING, **case)
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    await (await service.runner(debate, apart=apart)).run()


# -- long documents


async def _worked(url: str, provider: Provider, text: str) -> list[Told]:
    """Two debates over one long document, one after the other: our CPU, that of the process for checks included."""
    check_injection([FieldText("document", "D1", text[:100_000])])
    begun = time.process_time()
    check_injection([FieldText("document", "D1", text)])
    scan, spent = time.process_time() - begun, list[float]()
    kept.drop()
    async with bench(url, provider) as service:
        for debates in (0, 0, 1, 2):  # the first time there is what a process does once
            process, begun = CheckProcess(), time.process_time() + _children_s()
            for document in (
                text[:30_000],
                *[text] * debates,
            ):  # the first one starts and compiles what a process needs
                await _run(service, {"documents": [{"text": document}]}, process)
            await process.close()
            spent.append(time.process_time() + _children_s() - begun)
    first, again, size = spent[2] - spent[1], spent[3] - spent[2], f"{len(text):,} characters"
    once, speed, share = first - scan, f"{scan / len(text) * 1e6:.2f}", f"{again / first:.2f}"
    return [
        (f"long: scan of {size}", f"{scan:.2f} s", "limit 1 s a MB", speed),
        (f"long: all else on {size}", f"{once:.2f} s", f"limit {BESIDE_S:g} s", f"{once / BESIDE_S:.2f}"),
        (f"long: a second debate on {size}", f"{again:.2f} s", f"the first one {first:.2f} s", share),
    ]


def _children_s() -> float:
    """The CPU seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _held(url: str, provider: Provider, text: str) -> list[Told]:
    """A worker with short debates, alone and while it runs one over a long document: how long its loop is held."""
    holds, work, alone, beside = list[float](), [time.thread_time()], list[float](), list[float]()

    def note(held_s: float, _at: float) -> None:
        holds.append(1_000 * held_s)
        work.append(time.thread_time())

    async with bench(url, provider) as service:
        config = WorkerConfig(name="bench", lease_s=60.0, limit=100)
        worker = Worker(service.database, service.hub, service.prompts, {"offline": provider}, config)
        working = asyncio.create_task(worker.work())
        await _others(service, alone, asyncio.sleep(0))  # what a process does once in its life
        alone.clear()
        await _others(service, alone, asyncio.sleep(ALONE_S))
        async with watched_loop(note, TICK_S):
            long = await service.submit(costCeilingUSD=CEILING, documents=[{"text": text}])
            submitted = len(holds)
            await _others(service, beside, service.reviews.wait(long, CALLER, 600))
        await worker.stop(10)
        await working
    p99, before, size = _p99_ms(beside), _p99_ms(alone), f"{len(text):,} characters"
    own = [1_000 * (after - before) for before, after in pairwise(work)]
    spans = {"a submission": slice(1, submitted), "a worker": slice(submitted, None)}
    held = {whose: (max(holds[span]), max(own[span])) for whose, span in spans.items()}
    return [
        *(
            (
                f"loop: of {whose}, {size}",
                f"{most:.0f} ms, {cpu:.0f} CPU",
                f"limit {HELD_MS:g} ms",
                f"{most / HELD_MS:.2f}",
            )
            for whose, (most, cpu) in held.items()
        ),
        (f"loop: p99 of others, {size}", f"{p99:.0f} ms", f"alone {before:.0f} ms", f"{p99 / before:.2f}"),
    ]


async def _others(service: Bench, times: list[float], meanwhile: Awaitable[object]) -> None:
    """Run short debates, `AT_ONCE` at a time, until something else has ended; at least one each."""
    ended = asyncio.ensure_future(meanwhile)

    async def debates() -> None:
        while True:
            begun = time.perf_counter()
            debate = await service.submit(documents=[{"text": TEXT}])
            await service.reviews.wait(debate, CALLER, 600)
            times.append(time.perf_counter() - begun)
            if ended.done():
                return

    await asyncio.gather(ended, *(debates() for _ in range(AT_ONCE)))


def _p99_ms(times: list[float]) -> float:
    return 1_000 * sorted(times)[int(0.99 * (len(times) - 1))]
