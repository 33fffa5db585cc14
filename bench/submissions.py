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
import psycopg
import uvloop
from httpx_aiohttp import HttpxAiohttpClient

from bench.cpu import Postgres
from bench.figures import Measured, Turn
from bench.processes import Process, api
from bench.servers import server
from tests.fixtures.serving import a_case

CALLERS, CASES, FIRST = 50, 1_000, 50


class Submitted(NamedTuple):
    """What all submissions came to: seconds of wall and of the API's CPU, and the wait of each in milliseconds."""

    wall_s: float
    cpu_s: float
    waits: list[float]


def measure() -> Turn:
    """One turn, on a server of its own on which nothing else works."""
    with server() as here, psycopg.connect(here.admin, autocommit=True) as connection, api(here.service) as asked:
        told, used = uvloop.run(_submitted(asked, Postgres(connection)))
    p50, p99 = (sorted(told.waits)[int(CASES * share)] for share in (0.5, 0.99))
    return {
        "cpu": Measured(1_000 * told.cpu_s / CASES, None, f"PostgreSQL {1_000 * used / CASES:.2f} ms"),
        "rate": Measured(CASES / told.wall_s),
        "p99": Measured(p99, None, f"p50 {p50:.0f} ms"),
    }


async def _submitted(server: Process, postgres: Postgres) -> tuple[Submitted, float]:
    """And PostgreSQL's seconds of CPU."""
    limits = httpx.Limits(max_connections=CALLERS, max_keepalive_connections=CALLERS)
    async with HttpxAiohttpClient(base_url=server.said, timeout=60, limits=limits) as client:
        await _by_all(client, FIRST)
        used, begun, cpu = sum(postgres.cpu().values()), time.perf_counter(), server.cpu_s
        waits = await _by_all(client, CASES)
        told = Submitted(time.perf_counter() - begun, server.cpu_s - cpu, waits)
        return told, sum(postgres.cpu().values()) - used


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
