"""Processes tell each other of news through PostgreSQL; what they tell are hints, and may be lost."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from service import telemetry
from service.app import open_app, running_worker
from service.debate.entries import DebateConcluded, Entry, TurnAsked
from service.debate.model import Outcome
from service.debate.turns import TurnId
from service.policy import Budgets
from service.running.runner import Runner
from service.store import entry_poll, notifications
from service.store.hub import UNTOLD_MAX, EventHub, HubNotice
from service.store.log import DebateLog
from service.store.notifications import Payload, listening, payloads
from service.store.pool import Row
from service.store.queries import queries
from service.store.queue import ClaimedDebate
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, a_writer, bench
from tests.fixtures.serving import settings_for, slow_policy
from tests.fixtures.waiting import within

ASKED = TurnAsked(TurnId("1.x.1"), 1, "m", "00" * 16, "00" * 32, 1, 0)
FIRST, SECOND = "01930000-0000-7000-8000-000000000001", "01930000-0000-7000-8000-000000000002"


def ended() -> Entry:
    return DebateConcluded(Outcome("failed", "fault", "nobody answers"))


async def until(found: Callable[[], object]) -> None:
    """Wait for something to become true; the whole test has ten seconds for it."""
    for _ in range(500):
        if found():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")


@asynccontextmanager
async def linked(database: Database) -> AsyncIterator[EventHub]:
    """The event hub of one more process, once notifications arrive there."""
    hub = EventHub()
    async with listening(database.service_url, hub):
        await until(lambda: hub.linked)
        yield hub


def listeners(database: Database) -> list[int]:
    """The server's processes behind the connections that listen."""
    query = (
        "SELECT pid FROM pg_stat_activity WHERE datname = %s AND query ~ 'LISTEN|pg_notify' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        return [pid for (pid,) in admin.execute(query, [database.name])]


def cut(database: Database) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for pid in listeners(database):
            admin.execute("SELECT pg_terminate_backend(%s)", [pid])


class Overheard:
    """What goes over the channel."""

    def __init__(self, spy: psycopg.Connection[Any]) -> None:
        self._spy = spy
        self.payloads: list[Payload] = []

    def has(self, wanted: Callable[[Payload], object]) -> bool:
        """Whether such a thing has been told by now."""
        told = self._spy.notifies(timeout=0.05)
        self.payloads += [msgspec.json.decode(notice.payload, type=Payload) for notice in told]
        return any(wanted(payload) for payload in self.payloads)


@contextmanager
def overhearing(database: Database) -> Iterator[Overheard]:
    """One who listens without a word."""
    with psycopg.connect(database.admin_url, autocommit=True) as spy:
        spy.execute("LISTEN gainsay")
        yield Overheard(spy)


async def test_what_one_process_tells_wakes_whoever_waits_in_another(database: Database) -> None:
    async with linked(database) as here, linked(database) as there:
        news, end, other, signed = (
            there.entries_event(FIRST),
            there.end_event(FIRST),
            there.entries_event(SECOND),
            there.signed,
        )
        there.queued.clear()

        here.entries_recorded(FIRST, [ASKED])
        await within(10, news.wait())
        assert not end.is_set()
        here.entries_recorded(FIRST, [ended()])
        await within(10, end.wait())
        here.work_queued()
        await within(10, there.queued.wait())
        here.checkpoint_signed()
        await within(10, signed.wait())
        assert not other.is_set()


async def test_what_comes_together_is_told_together_and_is_no_news_to_oneself(database: Database) -> None:
    async with linked(database) as here:
        with overhearing(database) as overheard:
            here.entries_recorded(SECOND, [ASKED])
            await until(lambda: overheard.has(lambda payload: SECOND in payload.debates))
            before = telemetry.NOTICES.labels(direction="heard")._value.get()
            for _ in range(1_000):
                here.entries_recorded(FIRST, [ASKED])
            here.entries_recorded(FIRST, [ended()])
            here.work_queued()
            here.checkpoint_signed()
            await until(lambda: overheard.has(lambda payload: payload.ended))
            await until(lambda: not here.outgoing.is_set())
            assert not overheard.has(lambda payload: FIRST in payload.debates)

    (told,) = [payload for payload in overheard.payloads if payload.ended]
    assert (told.debates, told.ended, told.queued, told.signed) == ((), (FIRST,), True, True)
    assert telemetry.NOTICES.labels(direction="heard")._value.get() == before


async def test_any_number_of_debates_fits_in_what_postgresql_takes(database: Database) -> None:
    ids = [f"01930000-0000-7000-8000-{n:012x}" for n in range(2_000)]
    parts = payloads("a" * 16, HubNotice(tuple(ids[:1_000]), tuple(ids[1_000:]), queued=True, signed=True))
    async with linked(database) as here, linked(database) as there:
        waits = [there.entries_event(debate) for debate in ids]
        for debate in ids:
            here.entries_recorded(debate, [ASKED])
        await until(lambda: all(wait.is_set() for wait in waits))

    read = [msgspec.json.decode(part, type=Payload) for part in parts]
    assert max(map(len, parts)) < 7_900
    assert [debate for payload in read for debate in payload.debates] == ids[:1_000]
    assert [debate for payload in read for debate in payload.ended] == ids[1_000:]
    assert [(payload.queued, payload.signed) for payload in read][:2] == [(True, True), (False, False)]
    assert payloads("a", HubNotice()) == ['{"by":"a"}']


async def test_what_another_version_tells_does_no_harm(database: Database) -> None:
    async with linked(database) as here:
        news, other = here.entries_event(FIRST), here.entries_event(SECOND)
        with psycopg.connect(database.service_url, autocommit=True) as admin:
            for payload in (
                "",
                "null",
                "[]",
                '{"by":7}',
                "\u2603" * 2_000,
                '{"debates":["x"]}',
                '{"by":"b","ended":["?"]}',
            ):
                admin.execute("SELECT pg_notify('gainsay', %s)", [payload])
            admin.execute(
                "SELECT pg_notify('gainsay', %s)",
                [f'{{"by":"later","kind":"more","debates":["{FIRST}"],"weather":{{"fine":true}}}}'],
            )
        await within(10, news.wait())

        assert here.linked
        assert not other.is_set()


async def test_a_lost_connection_is_made_again_and_everybody_looks_for_himself(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gainsay")
    async with linked(database) as here:
        news, end, signed = here.entries_event(FIRST), here.end_event(SECOND), here.signed
        here.queued.clear()
        cut(database)

        for waited in (news, end, signed, here.queued):
            await within(10, waited.wait())
        await until(lambda: here.linked)
        async with linked(database) as there:
            again = here.entries_event(FIRST)
            there.entries_recorded(FIRST, [ASKED])
            await within(10, again.wait())

    told = [record.getMessage() for record in caplog.records]
    assert [message.startswith("no notifications of other processes arrive") for message in told] == [True, False]
    assert told[1] == "recovered: notifications of other processes arrive"


async def test_a_pooler_that_takes_listen_and_delivers_nothing_is_noticed(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gainsay")
    monkeypatch.setattr(notifications, "ECHO_S", 0.2)
    monkeypatch.setattr(notifications, "queries", lambda: {**queries(), "subscribe": b"SELECT 1"})
    hub = EventHub()
    async with listening(database.service_url, hub):
        await until(lambda: caplog.records)
        with overhearing(database) as overheard:
            hub.entries_recorded(FIRST, [ASKED])
            await until(lambda: overheard.has(lambda payload: FIRST in payload.debates))

        assert not hub.linked
    assert "session pooler" in caplog.text


@pytest.mark.parametrize("cuts", [0, 1])
async def test_what_is_told_last_is_told_before_the_end(database: Database, cuts: int) -> None:
    with ExitStack() as stack:
        async with linked(database) as here:
            for _ in range(cuts):
                news = here.entries_event(FIRST)
                cut(database)
                await within(10, news.wait())
                await until(lambda: here.linked)
            overheard = stack.enter_context(overhearing(database))
            here.entries_recorded(FIRST, [ended()])
            here.work_queued()
            here.checkpoint_signed()

        assert not here.outgoing.is_set()
        await until(lambda: overheard.has(lambda payload: payload.ended))
    (told,) = [payload for payload in overheard.payloads if payload.ended]
    assert (told.ended, told.queued, told.signed) == ((FIRST,), True, True)


async def test_a_worker_that_stops_tells_of_what_it_hands_back(database: Database, tmp_path: Path) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=60_000))
    settings = settings_for(database.service_url, GAINSAY_POLICY=policy, GAINSAY_GRACE_S="0")
    async with bench(database.service_url) as service:
        debate = await service.submit()
        with overhearing(database) as overheard:
            async with open_app(settings, database.service_url, pool=4) as app, running_worker(app):
                await until(lambda: overheard.has(lambda payload: debate in payload.debates))
                assert not overheard.has(lambda payload: payload.queued)
            await until(lambda: overheard.has(lambda payload: payload.queued))


async def test_a_process_whose_server_is_silent_is_not_linked_until_it_has_another_connection(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "ECHO_S", 0.2)
    async with linked(database) as here:
        (frozen,) = listeners(database)
        os.kill(frozen, signal.SIGSTOP)
        try:
            here.entries_recorded(FIRST, [ASKED])
            await until(lambda: not here.linked)
            await until(lambda: here.linked)
        finally:
            os.kill(frozen, signal.SIGCONT)


async def test_a_process_that_stops_does_not_wait_for_servers_that_do_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        host = f"127.0.0.1:{server.getsockname()[1]}"
        async with asyncio.timeout(4):  # each host would be waited for for five seconds
            async with listening(f"postgresql://nobody@{host},{host}/none?sslmode=disable", EventHub()):
                reached, _ = await asyncio.get_running_loop().sock_accept(server)
    reached.close()


async def test_a_database_that_is_away_is_tried_again_and_ends_nothing() -> None:
    hub = EventHub()
    async with listening("postgresql://nobody@127.0.0.1:1/none", hub):
        hub.entries_recorded(FIRST, [ASKED])
        await asyncio.sleep(0.3)
        assert not hub.linked
        assert hub.drain_outgoing().debates == (FIRST,), "it is told when somebody can hear it"


def test_what_nobody_takes_does_not_grow_for_ever() -> None:
    hub = EventHub()
    for n in range(3 * UNTOLD_MAX):
        hub.entries_recorded(str(n), [ASKED])

    assert len(hub.drain_outgoing().debates) <= UNTOLD_MAX


# -- what is looked for by itself


async def test_whoever_waits_hears_of_another_process_also_where_no_news_arrive(database: Database) -> None:
    async with bench(database.service_url) as here, bench(database.service_url) as there:
        debate = await here.submit()
        waiting = asyncio.create_task(there.reviews.wait(debate, CALLER, 20))
        following = asyncio.create_task(followed(there, debate))
        await asyncio.sleep(0.1)
        await here.claim()
        await (await here.runner(debate)).run()

        assert await waiting
        assert await following == list(range(len(await here.entries(debate))))


async def followed(service: Bench, debate: str) -> list[int]:
    return [line.n async for line in service.reviews.follow(debate, CALLER)]


async def test_all_who_wait_cost_one_look_and_one_reading_of_each_debate(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_poll, "POLL_S", 0.1)
    asked: list[str] = []

    async def counted(name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        asked.append(name)
        return await query(name, params)

    async with bench(database.service_url) as service:
        debates = [await service.submit() for _ in range(5)]
        query = service.database.query
        monkeypatch.setattr(service.database, "query", counted)
        listeners = [asyncio.create_task(followed(service, debate)) for debate in debates for _ in range(20)]
        waiters = [asyncio.create_task(service.reviews.wait(debate, CALLER, 30)) for debate in debates]
        await until(lambda: asked.count("moved") >= 3)
        begun = len(asked)
        await until(lambda: asked[begun:].count("moved") >= 3)
        assert set(asked[begun:]) == {"moved"}
        assert asked.count("records") <= 2 * len(debates), "at first, and once more when the first look tells of it"
        for task in (*listeners, *waiters):
            task.cancel()
        await asyncio.gather(*listeners, *waiters, return_exceptions=True)
        await asyncio.sleep(0.3)
        looks = asked.count("moved")
        await asyncio.sleep(0.3)
        assert asked.count("moved") == looks, "nobody waits, so nobody looks"


async def test_news_are_enough_while_they_arrive(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_poll, "SELDOM", 1_000_000)
    async with (
        bench(database.service_url) as here,
        bench(database.service_url) as there,
        listening(database.service_url, here.hub),
        listening(database.service_url, there.hub),
    ):
        await until(lambda: here.hub.linked and there.hub.linked)
        debate = await here.submit()
        following = asyncio.create_task(followed(there, debate))
        waiting = asyncio.create_task(there.reviews.wait(debate, CALLER, 20))
        await asyncio.sleep(0.1)
        await here.claim()
        log, sources = await DebateLog.open_claimed(
            here.database, ClaimedDebate(debate, CALLER.tenant, 1), a_writer("test"), 0.0, Budgets()
        )
        told = here.hub.entries_recorded
        await Runner(log, sources, here.prompts, here.providers, calls=here.calls, on_recorded=told).run()

        assert await within(10, following) == list(range(len(await here.entries(debate))))
        assert await waiting
