"""A thousand debates at once on one worker process, whose calls take a second each: wall time, memory, latency.

The worker is `gainsay work` as it ships, a process of its own. The vendor is another, on loopback HTTP: it waits a
second and says the same few words to everybody, so that little of the machine goes into it. What it takes by itself is
measured beside it: as many calls as the debates make, as many at once, by a bare client.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import psycopg
import uvloop
from httpx_aiohttp import HttpxAiohttpClient

from bench.overspend import BODY
from bench.processes import ADDRESS, Process, started
from service.audit.record import open_leaf
from service.money import tokenizers
from service.policy import Policy
from service.policy.settings import read_policy
from service.prompts.request import Request, encode
from tests.faults.books import TOKENIZER, policy_of
from tests.fixtures.behaviours import Call, Reply, Say
from tests.fixtures.policies import WRITTEN
from tests.fixtures.running import CannedProvider, bench
from tests.fixtures.upstream import Upstream
from tests.fixtures.vendors import read

DEBATES, CALLS, LATENCY_S = 1_000, 5, 1.0
WITHIN_S = 300.0
UNLIMITED = {"day_usd": "unlimited", "month_usd": "unlimited"}
LAST = (
    "SELECT h.state, e.leaf FROM gainsay.debate_head h JOIN gainsay.entry e ON e.debate = h.debate "
    "AND e.n = h.next_n - 1 WHERE h.debate = ANY (%s::uuid[])"
)


class Crowd(NamedTuple):
    """What the debates came to, in seconds and bytes.

    ``alone_s`` is what the vendor takes for the same calls, ``at_once`` how many connections it had at most.
    """

    wall_s: float
    alone_s: float
    p50_s: float
    p99_s: float
    cpu_s: float
    memory: int
    idle_memory: int
    at_once: int


def measure(url: str) -> list[tuple[str, str, str, str]]:
    """The rows of the bench, on a database that nobody works on."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder, _vendor() as address:
        queue = {**WRITTEN["queue"], "running_per_worker": DEBATES}
        path = policy_of(Path(folder), address, UNLIMITED, call_timeout_s=120, queue=queue)
        told = uvloop.run(_crowd(url, path, address))
    each = (told.memory - told.idle_memory) / DEBATES
    what = f"crowd: {DEBATES:,} debates, {LATENCY_S:g} s a call, one worker"
    return [
        (
            what,
            f"{told.wall_s:.1f} s",
            f"limit 1.25 of the larger: the same calls alone {told.alone_s:.1f} s, its CPU {told.cpu_s:.1f} s",
            f"{told.wall_s / max(told.alone_s, told.cpu_s) / 1.25:.2f}",
        ),
        (
            f"{what}: latency",
            f"p50 {told.p50_s:.1f} s, p99 {told.p99_s:.1f} s",
            f"{CALLS} calls in a row take {CALLS * LATENCY_S:g} s, at most {told.at_once:,} open",
            f"{told.p99_s / (CALLS * LATENCY_S):.2f}",
        ),
        (
            f"{what}: memory",
            f"{told.memory >> 20} MB",
            f"idle {told.idle_memory >> 20} MB, {each / 1024:.0f} kB each",
            f"{told.memory / told.idle_memory:.2f}",
        ),
        (
            f"{what}: its CPU",
            f"{told.cpu_s:.1f} s",
            f"{told.cpu_s / DEBATES * 1_000:.1f} ms a debate",
            f"{told.cpu_s / told.wall_s:.2f}",
        ),
    ]


async def _crowd(url: str, policy: Path, address: str) -> Crowd:
    """Queue all debates while the worker is stopped, then let it go."""
    tokenizers.load([TOKENIZER])
    with _worker(url, policy) as worker:
        idle = worker.memory
        os.kill(worker.pid, signal.SIGSTOP)
        debates = await _queue(url, read_policy(policy))
        begun, cpu = time.time(), worker.cpu_s
        os.kill(worker.pid, signal.SIGCONT)
        ends = sorted(end - begun for end in await _ends(url, debates))
        cpu, memory = worker.cpu_s - cpu, worker.most_memory
    async with httpx.AsyncClient(base_url=address) as client:
        at_once = int((await client.get("/stats")).json()["mostOpen"])
    p50, p99, wall = ends[DEBATES // 2], ends[DEBATES * 99 // 100], ends[-1]
    return Crowd(wall, await _alone(address), p50, p99, cpu, memory, idle, at_once)


async def _queue(url: str, policy: Policy) -> list[str]:
    async with bench(url, policy=policy) as service:
        return [await service.submit() for _ in range(DEBATES)]


async def _ends(url: str, debates: list[str]) -> list[float]:
    """When each debate was concluded, once all are."""
    until = time.monotonic() + WITHIN_S
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while time.monotonic() < until:
            await asyncio.sleep(0.5)
            rows = await (await connection.execute(LAST, (debates,))).fetchall()
            if all(state == "completed" for state, _ in rows):
                return [datetime.fromisoformat(open_leaf(leaf).recorded).timestamp() for _, leaf in rows]
    raise AssertionError(f"not all debates were over after {WITHIN_S:g} s")


async def _alone(address: str) -> float:
    """Seconds that a bare client takes for as many calls."""
    async with HttpxAiohttpClient(
        base_url=address, timeout=120, limits=httpx.Limits(max_connections=DEBATES)
    ) as client:

        async def ask() -> None:
            for _ in range(CALLS):
                (await client.post("/v1/chat/completions", json=BODY)).raise_for_status()

        begun = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(DEBATES)))
        return time.perf_counter() - begun


@contextmanager
def _worker(url: str, policy: Path) -> Iterator[Process]:
    """A worker that has begun to look for debates."""
    variables = {
        "GAINSAY_DATABASE_URL": url,
        "GAINSAY_POLICY": str(policy),
        "GAINSAY_LOG_LEVEL": "WARNING",
        "VENDOR_KEY": "sk-fake-0123456789abcdef",
    }
    with started([sys.executable, "-m", "service", "work"], "taking debates", variables) as process:
        yield process


# -- the vendor, a process of its own


class Canned:
    """Says what a canned provider says: the same to every debate, but for the labels that a moderator is shown."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def __call__(self, call: Call) -> Reply:
        assert call.wire
        request = read(call.wire, call.body).request
        if request.seat == "moderator":
            return Say(_answer(request))(call)
        if request.seat not in self._said:
            self._said[request.seat] = _answer(request)
        return Say(self._said[request.seat])(call)


def _answer(request: Request) -> str:
    """A canned provider without latency waits once, for nothing, and then has its answer."""
    answering = CannedProvider().send(encode(request))
    try:
        while True:
            answering.send(None)
    except StopIteration as done:
        return str(done.value.text)


@contextmanager
def _vendor() -> Iterator[str]:
    with started([sys.executable, "-m", "bench.crowd"], ADDRESS) as process:
        yield process.said


async def _serve() -> None:
    up = Upstream(Canned(), LATENCY_S)
    server = await asyncio.start_server(up.serve, "127.0.0.1", 0, limit=1 << 20, backlog=2 * DEBATES)
    sys.stderr.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stderr.flush()
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone


if __name__ == "__main__":
    uvloop.run(_serve())
