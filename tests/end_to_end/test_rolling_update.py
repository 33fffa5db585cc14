"""A deployment is updated while callers post: replicas are replaced one by one, and nobody notices but by waiting.

The callers do what the API's description tells them: a case has an idempotency key, and is posted again under it where
the answer is 503, or 409 because it is under way. Between them and the replicas is the smallest balancer: it asks every
replica for its readiness and sends requests to those alone that are ready.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest

from service.debate.entries import AttemptFailed, DebateConcluded, TurnAsked, TurnSpoke
from service.store.spend import balance
from tests.end_to_end.processes import Deployment, Process, deployed
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.serving import a_case, slow_policy

pytestmark = pytest.mark.long

API = ("serve", "--port", "0", "--no-worker", "--no-sequencer")
LATENCY_MS = 150
CALLERS = 3
ASKED_EVERY_S = 0.2
JUST_TAKEN = """SELECT FROM gainsay.debate_head WHERE state = 'running' AND worker = '{worker}'
    AND created > clock_timestamp() - interval '{most} ms'"""


class Balancer:
    """Which replicas are ready, as they say so themselves."""

    def __init__(self) -> None:
        self._replicas: dict[str, bool] = {}
        self._turns = count()
        self._http = httpx.AsyncClient(timeout=5)

    def add(self, address: str) -> None:
        """Send requests to one more replica as soon as it is ready."""
        self._replicas[address] = False

    async def has(self, address: str) -> None:
        """Wait until a replica is sent requests."""
        async with asyncio.timeout(60):
            while not self._replicas[address]:  # noqa: ASYNC110 - what is waited for is another process
                await asyncio.sleep(0.05)

    def pick(self) -> str:
        """A replica that is ready."""
        ready = [address for address, is_ready in self._replicas.items() if is_ready]
        assert ready, "no replica was ready: that is no rolling update"
        return ready[next(self._turns) % len(ready)]

    async def watch(self) -> None:
        """Ask them again and again."""
        while True:
            for address in tuple(self._replicas):
                try:
                    answer = await self._http.get(f"{address}/readyz", headers={"connection": "close"})
                    self._replicas[address] = answer.status_code == 200
                except httpx.HTTPError:
                    self._replicas[address] = False
            await asyncio.sleep(ASKED_EVERY_S)

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._http.aclose()


class Callers:
    """Whoever posts cases, and what came of it: each key's debate, every answer's status, and what broke."""

    def __init__(self, balancer: Balancer) -> None:
        self.debates: dict[str, str] = {}
        self.statuses: list[int] = []
        self.broken: list[str] = []
        self.over = asyncio.Event()
        self._balancer = balancer
        self._keys = count()

    async def post(self, http: httpx.AsyncClient, key: str) -> httpx.Response:
        """The answer to a case, which is posted again under its key until it is accepted."""
        headers = {"idempotency-key": f'"{key}"', "prefer": "wait=5"}
        while True:
            try:
                answer = await http.post(f"{self._balancer.pick()}/v1/debates", json=a_case(), headers=headers)
            except httpx.HTTPError as error:
                self.broken.append(f"{type(error).__name__} for {key}: {error}")
                await asyncio.sleep(0.1)
                continue
            self.statuses.append(answer.status_code)
            if answer.status_code not in {409, 503}:
                return answer
            assert int(answer.headers["retry-after"]) >= 1
            await asyncio.sleep(0.2)

    async def call(self) -> None:
        """Post one case after the other until the update is over."""
        async with httpx.AsyncClient(timeout=60) as http:
            while not self.over.is_set():
                key = f"case-{next(self._keys)}"
                answer = await self.post(http, key)
                assert answer.status_code in {200, 202}, answer.text
                self.debates[key] = answer.json()["debateId"]


@asynccontextmanager
async def balancing() -> AsyncIterator[Balancer]:
    """A balancer that asks its replicas meanwhile."""
    balancer = Balancer()
    task = asyncio.create_task(balancer.watch())
    try:
        yield balancer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await balancer.close()


async def working(deployment: Deployment, balancer: Balancer, apis: int) -> list[Process]:
    """So many more replicas of the API and one more worker, all at work."""
    processes = [*(deployment.start(*API) for _ in range(apis)), deployment.start("work")]
    for api in processes[:-1]:
        address = await api.address()
        balancer.add(address)
        await balancer.has(address)
    await processes[-1].says("taking debates")
    return processes


@pytest.mark.timeout(300)
async def test_a_rolling_update_loses_no_request_and_pays_no_turn_twice(database: Database, tmp_path: Path) -> None:
    policy = str(slow_policy(tmp_path, LATENCY_MS))
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S="2", GAINSAY_POLICY=policy) as deployment:
        deployment.start("sequence")
        async with balancing() as balancer:
            *apis, worker = await working(deployment, balancer, apis=2)
            callers = Callers(balancer)
            async with asyncio.TaskGroup() as tasks:
                for _ in range(CALLERS):
                    tasks.create_task(callers.call())
                for api in apis:
                    _, newer = await working(deployment, balancer, apis=1)
                    name = await worker.says(r"claiming debates .*worker=(\S+)")
                    await deployment.finds(JUST_TAKEN.format(worker=name, most=2 * LATENCY_MS))
                    for process in (api, worker):
                        process.send(signal.SIGTERM)
                    assert [await process.ends() for process in (api, worker)] == [0, 0]
                    worker = newer
                callers.over.set()
            async with httpx.AsyncClient(timeout=60) as http:
                again = await callers.post(http, "case-0")
        heads = deployment.ask("SELECT debate::text, epoch FROM gainsay.debate_head")
        await deployment.finds("SELECT WHERE NOT EXISTS (SELECT FROM gainsay.debate_head WHERE state <> 'completed')")

    assert callers.broken == []
    assert set(callers.statuses) <= {200, 202, 409, 503}
    assert sorted(callers.debates.values()) == sorted(str(debate) for debate, _ in heads), "each key has its debate"
    assert (again.headers["idempotency-replayed"], again.json()["debateId"]) == ("true", callers.debates["case-0"])
    assert max(int(str(epoch)) for _, epoch in heads) > 1, "debates were handed from one worker to another"
    async with bench(database.service_url) as reader:
        for debate, _ in heads:
            entries = await reader.entries(str(debate))
            asked = [entry.turn for entry in entries if isinstance(entry, TurnAsked)]
            assert sorted(asked) == sorted(entry.turn for entry in entries if isinstance(entry, TurnSpoke))
            assert len(set(asked)) == len(asked), "no turn was asked twice"
            assert not any(isinstance(entry, AttemptFailed) for entry in entries), "no call was lost"
            assert isinstance(entries[-1], DebateConcluded)
        books = await balance(reader.database)
        assert books.exact
