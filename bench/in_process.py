"""Debates in the bench's own process, on PostgreSQL and providers that answer without HTTP; and single pieces.

inside      CPU of 200 debates of five calls, ours and PostgreSQL's; 500 at once with 100 ms a call
limits      the CPU of a debate that draws on its tenant's day and month, beside one that need not
budget      calls made on a tenant's limit worth 20, beside a budget that is checked before and counted after
append      entries a second, one a statement, beside plain INSERTs
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import NamedTuple
from uuid import uuid4

import psycopg
import uvloop
from msgspec.structs import replace

from bench.cpu import Postgres
from bench.documents import document
from bench.figures import Measured, NotRun, Turn
from bench.overspend import TRIED, overspend
from bench.servers import server
from service.debate.entries import TurnAsked
from service.debate.turns import TurnId
from service.policy import Budget, Budgets
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request, WireTexts, encode, wire_texts
from service.running.provider_port import Answer, Provider
from service.running.worker import Worker, WorkerConfig
from tests.fixtures.running import CALLER, Bench, CannedProvider, bench, take_log

CALLS = 5
DEBATES, WARM, CROWD, LATENCY_S = 200, 20, 500, 0.1
LENGTH = 4_096
UNLIMITED = Budgets()
AMPLE = Budgets("UTC", Budget(day=10**9, month=10**10))


class Took(NamedTuple):
    """Wall seconds, our seconds of CPU, and PostgreSQL's."""

    wall_s: float
    cpu_s: float
    postgres_s: float


class Instant(Provider):
    """Answers with what a canned provider said the first time: next to no CPU of its own."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self._canned = CannedProvider()
        self._answers: dict[str, Answer] = {}
        self._latency_s = latency_s

    def encode(self, request: Request) -> bytes:
        return request.seat.encode() + b"\n" + encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body.partition(b"\n")[2])

    async def send(self, body: bytes) -> Answer:
        seat, _, wire = body.partition(b"\n")
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        if seat.decode() not in self._answers or seat == b"moderator":
            answer = await self._canned.send(wire)
            if seat == b"moderator":
                return answer
            self._answers[seat.decode()] = answer
        return self._answers[seat.decode()]


async def run(
    service: Bench, provider: Instant, debates: int, postgres: Postgres, budgets: Budgets = UNLIMITED
) -> Took:
    """What that many debates at once take, from the first claim to the last end.

    Each has another document of 4,096 characters. What waits for the ends is in it.
    """
    config = WorkerConfig(name="bench", lease_s=60.0, limit=debates, budgets=budgets)
    worker = Worker(service.database, service.hub, service.prompts, {"offline": provider}, config)
    ids = [await service.submit(documents=[{"text": document(LENGTH, nth)}]) for nth in range(debates)]
    used, wall, cpu = sum(postgres.cpu().values()), time.perf_counter(), time.process_time()
    task = asyncio.create_task(worker.work())
    await asyncio.gather(*(service.reviews.wait(debate, CALLER, 300) for debate in ids))
    took = Took(time.perf_counter() - wall, time.process_time() - cpu, sum(postgres.cpu().values()) - used)
    await worker.stop(10)
    await task
    return took


def cpu_ms() -> Mapping[str, float]:
    """Milliseconds of a debate: ours, and PostgreSQL's."""
    with server() as here, psycopg.connect(here.admin, autocommit=True) as connection:
        took = uvloop.run(_warmed(here.service, Postgres(connection)))
    return {"ours": 1_000 * took.cpu_s / DEBATES, "postgres": 1_000 * took.postgres_s / DEBATES}


async def _warmed(url: str, postgres: Postgres) -> Took:
    async with bench(url, Instant()) as service:
        await run(service, Instant(), WARM, postgres)
        return await run(service, Instant(), DEBATES, postgres)


def crowd() -> Turn:
    """500 debates at once, 100 ms a call: their wall time over that of the calls alone."""
    with server() as here, psycopg.connect(here.admin, autocommit=True) as connection:
        took = uvloop.run(_crowd(here.service, Postgres(connection)))
    each = 1_000 * took.cpu_s / CROWD
    note = f"the calls alone {CALLS * LATENCY_S:g} s, our CPU {each:.1f} ms a debate"
    return {"wall": Measured(took.wall_s, CALLS * LATENCY_S, note)}


async def _crowd(url: str, postgres: Postgres) -> Took:
    async with bench(url, Instant()) as service:
        await run(service, Instant(), WARM, postgres)
        return await run(service, Instant(LATENCY_S), CROWD, postgres)


def limits() -> Turn:
    """The same debates without and with limits to draw on."""
    with server() as here, psycopg.connect(here.admin, autocommit=True) as connection:
        without, ours = uvloop.run(_limits(here.service, Postgres(connection)))
    ours, without = (1_000 * took / DEBATES for took in (ours, without))
    return {"cpu": Measured(ours, without, f"without {without:.2f} ms")}


async def _limits(url: str, postgres: Postgres) -> tuple[float, float]:
    spent = []
    for budgets in (UNLIMITED, AMPLE):
        policy = replace(read_policy(SHIPPED_POLICY), budgets=budgets)
        async with bench(url, Instant(), policy=policy) as service:
            await run(service, Instant(), WARM, postgres, budgets)
            spent.append((await run(service, Instant(), DEBATES, postgres, budgets)).cpu_s)
    return spent[0], spent[1]


def budget() -> Turn:
    """Calls on a limit, for each number of debates at once; what the vendor billed beyond the limit is to be 0."""
    with server() as here:
        found: dict[str, Measured | NotRun] = {}
        for at_once, ours, theirs in overspend(here.service):
            note = f"{ours} of {TRIED} tried; checked before, counted after: {theirs}"
            found[f"{at_once} at once"] = Measured(max(0.0, ours.share - 1) * 100, None, note)
        return found


def appends(seconds: float = 3.0) -> Turn:
    """Entries a second from four writers, one entry a statement, and the same for plain INSERTs."""
    with server() as here:
        ours, plain = uvloop.run(_appends(here.service, seconds))
    return {"one": Measured(ours, plain, f"plain INSERT {plain:,.0f}/s")}


async def _appends(url: str, seconds: float) -> tuple[float, float]:
    entry = TurnAsked(TurnId("9.x.1"), 1, "m", "00" * 16, "00" * 32, 1, 0)

    async def write(service: Bench) -> int:
        log = await take_log(service.database, await service.submit(), 0, lease_s=60.0)
        await log.new_entries()
        count, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            await log.append([entry])
            count += 1
        return count

    async with bench(url) as service:
        ours = sum(await asyncio.gather(*(write(service) for _ in range(4)))) / seconds
    return ours, await _plain_inserts(url, seconds)


async def _plain_inserts(url: str, seconds: float) -> float:
    async def write() -> int:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute("SET search_path = gainsay")
            debate, count, until = uuid4(), 0, time.perf_counter() + seconds
            while time.perf_counter() < until:
                await connection.execute("INSERT INTO entry VALUES (%s, %s, %s)", (debate, count, b"x" * 500))
                count += 1
            return count

    return sum(await asyncio.gather(*(write() for _ in range(4)))) / seconds
