"""A debate of five calls over HTTP by the service as it is deployed, beside the peers; and how it grows.

http        CPU of the worker, of PostgreSQL, the API and the sequencer, WAL, transactions; the peers' CPU
statements  the statements of a debate, by PostgreSQL's own count
documents   a real contract, 1 MB, 5 MB, and the same 5 MB again
beside      small debates beside one over 5 MB on one worker
workers     one, two and four workers
crowd       a thousand debates at once on one worker, with a vendor that takes a second
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping
from itertools import count
from typing import Any

import httpx
import uvloop
from httpx_aiohttp import HttpxAiohttpClient

from bench import checks, in_process, peers
from bench.deployment import Deployment, Run, deployed
from bench.documents import contract, document
from bench.figures import Measured, NotRun, Turn
from bench.overspend import BODY
from bench.worker import WARM, WARM_SEED, a_case, cases, measure, told

SHARE = 4 / 5
"""Peers make four calls, our debate five."""
MEGABYTE = 1_000_000
LOADS = {"300 characters": 300, "1 MB": MEGABYTE, "5 MB": 5 * MEGABYTE}
COUNTS = {"300 characters": 60, "1 MB": 4, "5 MB": 2}
WARM_LENGTH = 100_000
"""Of a document for which a worker starts its process of checks, and has it compile what it needs."""
CONTRACT = "a real contract"
CROWD, LATENCY_S = 1_000, 1.0
CALLS = 5
BESIDE, BESIDE_MS, ALONE_S, DECIDED = 4, 20.0, 5.0, 200
WORKERS = (1, 2, 4)


def over_http() -> Turn:
    """One turn of the peers, and of us as two of them."""
    theirs = peers.measured()
    run = told(measure(debates=200))
    inside = in_process.cpu_ms()
    least = peers.leanest(theirs)
    against = least[1] if least else None
    note = f"{least[0]} {least[1]:.2f} ms" if least else peers.NOT_SET_UP
    sequencer = f"{run['looking']:.2f} ms of it without a record; PostgreSQL for it {run['postgresOfSequencer']:.2f} ms"
    return {
        "worker": Measured(run["worker"] * SHARE, against, note),
        "checks": Measured(run["checks"]),
        "postgres": Measured(run["postgres"]),
        "sequencer": Measured(run["sequencer"], None, f"{sequencer}, {run['postgresOfLooking']:.2f} without a record"),
        "api": Measured(run["api"], None, f"PostgreSQL for it {run['postgresOfApi']:.2f} ms"),
        "wal": Measured(run["wal"] / 1_000),
        "transactions": Measured(run["transactions"]),
        "inside": Measured(inside["ours"] * SHARE, against, note),
        "insidePostgres": Measured(inside["postgres"]),
        **{
            f"peer {name}": Measured(theirs[name], against) if name in theirs else NotRun(peers.NOT_SET_UP)
            for name in peers.PEERS
        },
    }


def statements() -> Turn:
    """How many statements the service's logins ask for one debate, in another turn: the count takes CPU."""
    debates = 60
    with deployed(counted=True) as here:
        here.run(cases(WARM, first=WARM_SEED))
        before = here.statements()
        here.run(cases(debates))
        return {"statements": Measured((here.statements() - before) / debates)}


def documents() -> Turn:
    """CPU of the worker and its process of checks, by the document, in one deployment.

    The scan is measured here, on the very documents of 5 MB: like the process of checks, this one has compiled what it
    needs, and keeps nothing of them.
    """
    with deployed() as here:
        here.run(cases(WARM, first=WARM_SEED))
        here.run(cases(1, WARM_LENGTH, WARM_SEED))
        runs = {what: here.run(cases(COUNTS[what], length)) for what, length in LOADS.items()}
        # Of two such documents the process for checks may keep what either gave; of one it keeps everything.
        last = cases(1, LOADS["5 MB"], COUNTS["5 MB"])
        here.run(last)
        runs["again"] = here.run(last)
        runs[CONTRACT] = here.run([a_case(contract(seed)) for seed in range(20)])
    found: dict[str, Measured | NotRun] = {what: _whole(run) for what, run in runs.items()}
    checks.scanned(document(WARM_LENGTH, WARM_SEED))
    scanned = [checks.scanned(document(LOADS["5 MB"], seed)) for seed in range(COUNTS["5 MB"])]
    scan = 1_000 * sum(scanned) / len(scanned)
    found["rest"] = Measured(_of(runs["5 MB"]) - scan, None, f"the scan alone {scan:.0f} ms")
    base = _of(runs["300 characters"])
    one, five = (_of(runs[what]) - base for what in ("1 MB", "5 MB"))
    return {**found, "linear": Measured(five / 5, one, f"a megabyte of 5 {five / 5:.0f} ms, of 1 {one:.0f} ms")}


def _of(run: Run) -> float:
    return run.ran.workers + run.ran.checks


def _whole(run: Run) -> Measured:
    """In milliseconds, with what is apart of it."""
    at_rest = run.ran.checks and f"{run.ran.checks:.0f} ms of it in the process of checks, "
    return Measured(_of(run), None, f"{at_rest or ''}PostgreSQL {run.ran.postgres:.1f} ms beside")


def beside() -> Turn:
    """How long small debates take, four at a time, alone and while the worker has one over 5 MB."""
    with deployed(latency_ms=BESIDE_MS) as here:
        here.run(cases(WARM, first=WARM_SEED))
        alone, meanwhile, large_s = uvloop.run(_beside(here))
    p99, before = _p99(meanwhile), _p99(alone)
    note = f"alone {before:.0f} ms; {len(meanwhile)} debates while the large one took {large_s:.1f} s"
    return {"p99": Measured(p99, before, note)}


async def _beside(here: Deployment) -> tuple[list[float], list[float], float]:
    """The milliseconds of each small debate, alone and beside the large one, and the large one's seconds."""
    headers = {"authorization": f"Bearer {here.key}", "prefer": "wait=300"}
    async with HttpxAiohttpClient(base_url=here.api.said, timeout=400, headers=headers) as client:
        seeds = count(10_000)

        async def decided(case: Mapping[str, Any]) -> float:
            begun = time.perf_counter()
            said = await client.post("/v1/debates", json=case)
            if said.status_code != DECIDED or said.json()["status"] != "completed":
                raise RuntimeError(f"expected a decision, found {said.status_code}: {said.text[:300]}")
            return time.perf_counter() - begun

        async def small(meanwhile: Awaitable[object]) -> list[float]:
            """Small debates, until something else has ended; at least one of each caller."""
            taken, ended = list[float](), asyncio.ensure_future(meanwhile)

            async def caller() -> None:
                while True:
                    taken.append(1_000 * await decided(a_case(document(300, next(seeds)))))
                    if ended.done():
                        return

            await asyncio.gather(ended, *(caller() for _ in range(BESIDE)))
            return taken

        alone = await small(asyncio.sleep(ALONE_S))
        large = asyncio.ensure_future(decided(a_case(document(LOADS["5 MB"], 7))))
        return alone, await small(large), await large


def _p99(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * 99 // 100)]


def workers() -> Turn:
    """The same debates by one, two and four workers."""
    found: dict[str, Measured | NotRun] = {}
    first: Run | None = None
    for number in WORKERS:
        with deployed(workers=number, latency_ms=100) as here:
            here.run(cases(WARM * number, first=WARM_SEED))
            run = here.run(cases(200))
        first = first or run
        wall = f"wall {run.wall_s:.1f} s"
        found[f"{number} cpu"] = Measured(_of(run), _of(first), wall)
        found[f"{number} postgres"] = Measured(run.ran.postgres, first.ran.postgres, f"WAL {run.ran.wal / 1e3:.0f} kB")
    return found


def crowd() -> Turn:
    """A thousand debates at once, each of five calls of a second, on one worker."""
    with deployed(latency_ms=1_000 * LATENCY_S, at_once=CROWD) as here:
        run = here.run(cases(CROWD, length=300))
        alone, opened = uvloop.run(_alone(here))
    ends, larger = sorted(run.ends_s), max(alone, run.cpu_s)
    each = (run.memory - run.idle_memory) / CROWD / 1_024
    note = f"the calls alone {alone:.1f} s, the worker's CPU {run.cpu_s:.1f} s"
    return {
        "wall": Measured(ends[-1], larger, note),
        "p99": Measured(_p99(ends), CALLS * LATENCY_S, f"p50 {ends[CROWD // 2]:.1f} s, at most {opened:,} calls open"),
        "cpu": Measured(_of(run)),
        "postgres": Measured(run.ran.postgres),
        "memory": Measured(run.memory / 2**20, None, f"{each:.0f} kB a debate, idle {run.idle_memory >> 20} MB"),
    }


async def _alone(here: Deployment) -> tuple[float, int]:
    """Seconds that a bare client takes for as many calls, and how many connections were open at most before."""
    limits = httpx.Limits(max_connections=CROWD)
    async with HttpxAiohttpClient(base_url=here.vendor, timeout=120, limits=limits) as client:

        async def ask() -> None:
            for _ in range(CALLS):
                (await client.post("/v1/chat/completions", json=BODY)).raise_for_status()

        opened = int((await client.get("/stats")).json()["mostOpen"])
        begun = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(CROWD)))
        return time.perf_counter() - begun, opened
