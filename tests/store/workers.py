"""Workers that a test runs beside itself, and what is looked at afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from service.debate.entries import DebateConcluded, DebateStopped
from service.debate.kernel import replay
from service.debate.model import Outcome
from service.errors import StoreUnavailable
from service.money import Ledger
from service.running.provider_port import Provider
from service.running.worker import Worker, WorkerConfig
from service.store.pool import Database as Pool
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, PROMPTLY, Bench, visit_log


@asynccontextmanager
async def a_worker(service: Bench, name: str = "w", lease_s: float = 5.0, **more: Any) -> AsyncIterator[Worker]:
    """A worker that works meanwhile, and is stopped with a second of grace; ``more`` is its configuration's."""
    provider: Provider = more.pop("provider", service.provider)
    providers = more.pop("providers", {"offline": provider})
    beside = {name: more.pop(name) for name in ("on_trouble", "apart") if name in more}
    config = WorkerConfig(name=name, lease_s=lease_s, calls=PROMPTLY, **more)
    worker = Worker(service.database, service.hub, service.prompts, providers, config, **beside)
    task = asyncio.create_task(worker.work())
    try:
        yield worker
    finally:
        await worker.stop(1.0)
        await task


async def over(service: Bench, debate: str, within_s: float = 20.0) -> Outcome:
    """The outcome, once it is recorded, after what every debate must satisfy has been checked."""
    assert await service.reviews.wait(debate, CALLER, within_s), "the debate did not end in time"
    entries = await service.entries(debate)
    replay(await service.case(debate), entries)
    ledger, head = Ledger.of(entries), await read_head(service.database, debate, "default")
    assert (head["spent"], head["excess"], head["held"]) == (ledger.spent, ledger.excess, 0)
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


async def until(condition: Any, within_s: float = 10.0) -> None:
    """Wait until an awaitable condition holds."""
    end = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < end, "it did not come to that in time"
        await asyncio.sleep(0.02)


def do(database: Database, statement: Any, *params: Any) -> list[Any]:
    """What a statement of the superuser gives."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        cursor = admin.execute(statement, params)
        return cursor.fetchall() if cursor.description else []


LEFT = "SELECT state, epoch, worker, faults, lease_until > clock_timestamp() FROM gainsay.debate_head"
"""How a worker has left the only debate that there is."""


async def stop_elsewhere(database: Pool, debate: str) -> None:
    """Record a stop as another process does, of which this one hears nothing."""
    log = await visit_log(database, debate)
    await log.new_entries()
    await log.append([DebateStopped("abort", "asked for elsewhere")])


def without_prompts(service: Bench) -> Any:
    """The prompts of an image that has none of those that the debate was started with."""
    return replace(service.prompts, entries=())


def taken_over(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int, str]]:
    """What was logged of debates whose worker was lost: the debate, the calls, and what they are charged."""
    words = "debate claimed from a worker that was lost"
    found = [vars(record) for record in caplog.records if record.getMessage() == words]
    return [(fields["debate"], fields["calls_lost"], fields["charged_usd"]) for fields in found]


class Flaky:
    """A database whose answers to some statements are lost, before or after they were done."""

    def __init__(self, database: Any, lost: int, *, done: bool, also: Any = None) -> None:
        self._database, self._left, self._done, self._also = database, lost, done, also

    @property
    def pooled(self) -> Any:
        """The database of the connections."""
        return self._database.pooled

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
        """The rows of a named query, unless they are lost."""
        if name != "append" or self._left == 0:
            rows: list[Any] = await self._database.query(name, params)
            return rows
        self._left -= 1
        if self._done:
            await self._database.query(name, params)
            if self._also:
                await self._also()
        raise StoreUnavailable("the connection is lost")
