"""Cases that 50 callers submit at once to one API process: its CPU, how many a second, and how long each waits.

The process is `gainsay serve --no-worker --no-sequencer` as it ships; the case is the shipped contract with its
documents.
A case is recorded, durably, before its submission is answered. The callers are this process, on the same machine.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

import httpx
import uvloop
from httpx_aiohttp import HttpxAiohttpClient

from bench.processes import Process, api
from tests.fixtures.serving import a_case

CALLERS, CASES, FIRST = 50, 1_000, 50
LIMIT_MS, LEAST_S, LATEST_MS = 3.0, 150, 500.0
"""The CPU of one submission, submissions a second, and the latency at p99."""


class Submitted(NamedTuple):
    """What all submissions came to: seconds of wall and of the API's CPU, and the wait of each in milliseconds."""

    wall_s: float
    cpu_s: float
    waits: list[float]


def measure(url: str) -> list[tuple[str, str, str, str]]:
    """The rows of the bench, on a database that nobody works on."""
    with api(url) as server:
        told = uvloop.run(_submitted(server))
    cpu, rate = 1_000 * told.cpu_s / CASES, CASES / told.wall_s
    p50, p99 = (sorted(told.waits)[int(CASES * share)] for share in (0.5, 0.99))
    what = f"submissions: {CALLERS} callers"
    return [
        (f"{what}: CPU of the API for one", f"{cpu:.2f} ms", f"limit {LIMIT_MS:g} ms", f"{cpu / LIMIT_MS:.2f}"),
        (f"{what}: a second", f"{rate:,.0f}", f"at least {LEAST_S}", f"{rate / LEAST_S:.2f}"),
        (f"{what}: p50 and p99", f"{p50:.0f} and {p99:.0f} ms", f"limit {LATEST_MS:g} ms", f"{p99 / LATEST_MS:.2f}"),
    ]


async def _submitted(server: Process) -> Submitted:
    limits = httpx.Limits(max_connections=CALLERS, max_keepalive_connections=CALLERS)
    async with HttpxAiohttpClient(base_url=server.said, timeout=60, limits=limits) as client:
        await _by_all(client, FIRST)
        begun, cpu = time.perf_counter(), server.cpu_s
        waits = await _by_all(client, CASES)
        return Submitted(time.perf_counter() - begun, server.cpu_s - cpu, waits)


async def _by_all(client: httpx.AsyncClient, cases: int) -> list[float]:
    """The wait of each of so many submissions, in milliseconds, a caller having one at a time."""
    left, waits = iter(range(cases)), list[float]()

    async def caller() -> None:
        for _ in left:
            begun = time.perf_counter()
            (await client.post("/v1/debates", json=a_case())).raise_for_status()
            waits.append(1_000 * (time.perf_counter() - begun))

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return waits
