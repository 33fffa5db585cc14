"""What is looked for without news: what this process records itself is none, what others record is heard of at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from service.debate.entries import DebateConcluded, DebateStopped, Entry, TurnAsked
from service.reviews.abort import stop
from service.running.leases import HeldDebate
from service.store import entry_poll
from service.store.entry_poll import EntryPoll
from service.store.hub import EventHub
from service.store.log import DebateLog
from service.store.pool import Database as Pool
from service.store.pool import Row
from service.store.queue import ClaimRequest, claim
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, a_writer, bench, take_log, visit_log
from tests.fixtures.waiting import within
from tests.store.workers import a_worker

STOPPED = DebateStopped("abort", "asked for elsewhere")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look so often that a test can wait for it."""
    monkeypatch.setattr(entry_poll, "POLL_S", 0.03)


def counted(monkeypatch: pytest.MonkeyPatch, database: Pool) -> Counter[str]:
    """How often each statement is asked of a database from now on."""
    asked: Counter[str] = Counter()
    query = database.query

    async def counting(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        rows = await query(name, params)
        asked[name] += 1
        return rows

    monkeypatch.setattr(database, "query", counting)
    return asked


async def until(found: Callable[[], object]) -> None:
    """Wait for something to become true; the whole test has ten seconds for it."""
    for _ in range(1_000):
        if found():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


async def looked(asked: Counter[str]) -> None:
    """Wait for a look that begins from now on, and for what it tells."""
    before = asked["moved"]
    await until(lambda: asked["moved"] >= before + 2)


@asynccontextmanager
async def taken(service: Bench) -> AsyncIterator[tuple[HeldDebate, DebateLog]]:
    """A debate that a worker has, while somebody here waits for news of it."""
    debate = await service.submit()
    (claimed,) = await claim(service.database, ClaimRequest(worker="w", lease_s=60.0))
    held = HeldDebate(claimed, service.hub)
    held.log = await take_log(service.database, debate, claimed.epoch, "w", 60.0)
    await held.log.new_entries()
    with EntryPoll(service.database, service.hub).watching(debate, "default"):
        yield held, held.log


async def test_a_worker_asks_for_a_debate_once_and_then_only_records(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else records anything in it, and news of that would arrive: nothing is looked for."""
    monkeypatch.setattr(entry_poll, "SELDOM", 1_000_000)
    async with bench(database.service_url, CannedProvider(latency_s=0.05)) as service:
        service.hub.linked = True
        debate = await service.submit()
        asked = counted(monkeypatch, service.database)
        with EntryPoll(service.database, service.hub).watching(debate, "default"):
            ended = service.hub.end_event(debate)
            async with a_worker(service, lease_s=60.0):
                await within(20.0, ended.wait())
        asked = asked.copy()

        entries = await service.entries(debate)
        assert isinstance(entries[-1], DebateConcluded)
        calls = sum(isinstance(entry, TurnAsked) for entry in entries)
        assert asked.pop("claim") >= 1
        assert asked.pop("append") <= calls + 1
        assert asked.pop("clock", 0) <= 2  # it is read again in a debate that takes longer than a reading is fresh
        assert asked == {"records": 1}


async def test_what_a_worker_records_itself_is_no_news_to_it_when_it_is_looked_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(database.service_url) as service, taken(service) as (held, log):
        asked = counted(monkeypatch, service.database)
        await looked(asked)
        held.poll()

        said: list[Entry] = [DebateStopped("fault", "for the test")]
        await log.append(said)
        held.entries_recorded(said)
        await looked(asked)

        assert not held.poll()


@pytest.mark.no_replay  # two stops say who recorded what, and no debate has them
async def test_what_others_record_right_after_a_worker_is_news_to_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        bench(database.service_url) as service,
        Pool.open(database.service_url) as elsewhere,
        taken(service) as (held, log),
    ):
        asked = counted(monkeypatch, service.database)
        await looked(asked)
        held.poll()

        said: list[Entry] = [DebateStopped("fault", "for the test")]
        await log.append(said)
        other = await visit_log(elsewhere, log.debate)
        await other.new_entries()
        await other.append([STOPPED])  # before the worker has told of its own
        held.entries_recorded(said)
        await looked(asked)

        assert held.poll()


async def test_everybody_else_here_hears_of_what_a_worker_records(database: Database) -> None:
    async with bench(database.service_url) as service, taken(service) as (held, log):
        news = service.hub.entries_event(log.debate)
        said: list[Entry] = [DebateStopped("fault", "for the test")]
        await log.append(said)
        held.entries_recorded(said)

        assert news.is_set()


@pytest.mark.parametrize("first", ["the stop", "the append"])
@pytest.mark.parametrize("nth", [1, 2])
async def test_an_abort_beside_an_append_of_the_worker_ends_the_debate(
    database: Database, monkeypatch: pytest.MonkeyPatch, first: str, nth: int
) -> None:
    """By another connection, of which no news come, in a debate whose lease is kept long after it should be over."""
    provider = CannedProvider(latency_s=0.3)
    async with bench(database.service_url, provider) as service, Pool.open(database.service_url) as elsewhere:
        debate = await service.submit()
        query, appends = service.database.query, Counter[str]()

        async def beside(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
            appends[name] += 1
            if name != "append" or appends[name] != nth:
                return await query(name, params)
            if first == "the append":
                rows = await query(name, params)
                await stop(elsewhere, EventHub(), debate, "default", a_writer("elsewhere"), "asked for elsewhere")
                return rows
            await stop(elsewhere, EventHub(), debate, "default", a_writer("elsewhere"), "asked for elsewhere")
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", beside)
        async with a_worker(service, lease_s=60.0):
            assert await service.reviews.wait(debate, CALLER, 20.0)

        entries = await service.entries(debate)
        stopped = next(n for n, entry in enumerate(entries) if isinstance(entry, DebateStopped))
        assert not any(isinstance(entry, TurnAsked) for entry in entries[stopped:])
        assert isinstance(entries[-1], DebateConcluded)
        assert entries[-1].outcome.status == "aborted"


async def test_what_is_told_here_while_it_is_looked_for_is_not_told_again(database: Database) -> None:
    """The look finds an entry whose recorder has not said so yet, and says nothing when he does meanwhile."""
    async with bench(database.service_url) as service:
        debate, hub = await service.submit(), EventHub()
        query = service.database.query

        async def telling(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
            rows = await query(name, params)
            hub.mark_read(debate, 3)
            return rows

        service.database.query = telling  # type: ignore[method-assign]
        looking, news = EntryPoll(service.database, hub), hub.entries_event(debate)
        with looking.watching(debate, "default"):
            await until(lambda: hub.known[debate] == 3)
            await asyncio.sleep(0.05)
        assert not news.is_set()
