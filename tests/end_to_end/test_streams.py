"""Many listen to event streams, some do not read, some go: each hears every entry once, and nothing is left of them."""

from __future__ import annotations

import asyncio
import gc
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from service import samples
from service.app import open_app, running_worker
from service.debate.entries import DebateStopped
from service.identity.caller import LOCAL, Caller
from service.observing import labelled
from service.reviews import on_disconnect
from service.reviews.feed import Feed
from service.store import entry_poll
from service.web import stream_listeners
from service.web.app_state import AppState
from service.web.debate_stream import FollowingDebate
from service.web.stream import events
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Event, Served, a_case, events_of, served, settings_for, slow_policy
from tests.fixtures.waiting import within


class Raw:
    """A listener on a plain socket, who reads as he likes."""

    def __init__(self, site: Served, debate: str, after: int | None = None, room: int | None = None) -> None:
        url = httpx.URL(site.url)
        self.socket = socket.socket()
        if room is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.setblocking(False)
        self._to = (url.host, url.port or 80)
        resume = "" if after is None else f"last-event-id: {after}\r\n"
        self._request = f"GET /v1/debates/{debate}/events HTTP/1.1\r\nhost: {url.host}\r\n{resume}\r\n".encode()
        self.got = b""

    async def begin(self) -> Raw:
        """Connect and ask."""
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self.socket, self._to)
        await loop.sock_sendall(self.socket, self._request)
        return self

    async def until(self, wanted: bytes) -> bytes:
        """Everything up to what is wanted, or up to the end."""
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while wanted not in self.got:
                got = await within(20, loop.sock_recv(self.socket, 1 << 16))
                if not got:
                    break
                self.got += got
        return self.got

    @property
    def events(self) -> list[Event]:
        """The events that have come whole."""
        _, _, body = self.got.partition(b"\r\n\r\n")
        return list(events_of(dechunked(body).decode(errors="replace").rpartition("\n\n")[0]))


def dechunked(body: bytes) -> bytes:
    """The bytes in chunks, as far as they have come."""
    found = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        if not size or len(body) < int(size, 16):
            break
        found, body = found + body[: int(size, 16)], body[int(size, 16) + 2 :]
    return found


@asynccontextmanager
async def listening(site: Served, debate: str, count: int, room: int | None = None) -> AsyncIterator[list[Raw]]:
    """So many listeners that have heard the beginning."""
    raws = [Raw(site, debate, room=room) for _ in range(count)]
    try:
        for raw in raws:
            await raw.begin()
        for raw in raws:
            await raw.until(b"event: started")
        yield raws
    finally:
        for raw in raws:
            raw.socket.close()


def cut(reason: str) -> float:
    value = labelled.REGISTRY.get_sample_value("gainsay_http_event_streams_cut_total", {"reason": reason})
    assert value is not None
    return value


def open_streams() -> float | None:
    return labelled.REGISTRY.get_sample_value("gainsay_http_event_streams")


async def test_all_listeners_hear_every_entry_once_and_in_order_wherever_the_debate_runs(
    database: Database, tmp_path: Path
) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=30))
    settings = settings_for(database.service_url, GAINSAY_POLICY=policy)
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        async with listening(site, debate, 40) as here:
            late = asyncio.create_task(site.events(debate, after=2))
            async with open_app(settings, database.service_url, pool=4) as elsewhere, running_worker(elsewhere):
                for listener in here:
                    assert b"event: final" in await listener.until(b"0\r\n\r\n")
            heard = [listener.events for listener in here]
            later = await late

    ids = [event.id for event in heard[0]]
    assert ids == sorted(set(ids))
    assert all(events == heard[0] for events in heard), "byte for byte the same"
    assert later == [event for event in heard[0] if event.id > 2]


async def test_a_long_finished_debate_is_told_again_from_any_entry(database: Database) -> None:
    async with served(database.service_url) as site:
        debate = (await site.finished())["debateId"]
    async with served(database.service_url) as site:
        whole = await site.events(debate)
        for after in range(whole[-1].id):
            assert await site.events(debate, after) == [event for event in whole if event.id > after]
        done = await site.http.get(f"/v1/debates/{debate}/events", headers={"last-event-id": str(whole[-1].id)})

    assert done.status_code == 204


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes hardly anything from a server for those who do not read."""
    made = stream_listeners.StreamConnection.connection_made

    def narrow(self: stream_listeners.StreamConnection, transport: asyncio.Transport) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2_048)
        made(self, transport)

    monkeypatch.setattr(stream_listeners.StreamConnection, "connection_made", narrow)


@pytest.mark.usefixtures("little_room")
async def test_whoever_does_not_read_is_dropped_and_comes_back_without_a_gap(database: Database) -> None:
    async with served(database.service_url, slow_s=1.0) as site:
        debate = (await site.finished(samples.load("contract", "panel").case))["debateId"]
        whole = await site.events(debate)
        assert sum(len(event.text) for event in whole) > 2 * stream_listeners.UNSENT
        before = cut("slow")
        async with listening(site, debate, 5, room=2_048) as slow, listening(site, debate, 3) as reading:
            async with asyncio.TaskGroup() as group:  # one after the other, the last would not read for as long
                for listener in reading:
                    group.create_task(listener.until(b"0\r\n\r\n"))
            await until(lambda: cut("slow") == before + len(slow))
            await until(lambda: not open_streams())
            for listener in slow:
                await listener.until(b"0\r\n\r\n")
            resumed = [await site.events(debate, after=max(e.id for e in listener.events)) for listener in slow]

    assert [listener.events for listener in reading] == [whole] * 3, "whoever reads is not kept waiting by others"
    for listener, rest in zip(slow, resumed, strict=True):
        seen = [event for event in listener.events if event.id or event is not listener.events[-1]]
        assert 0 < len(seen) < len(whole)
        assert [e.id for e in seen if e.id] + [e.id for e in rest if e.id] == [e.id for e in whole if e.id]


async def stopped(site: Served, debate: str) -> bool:
    lines = await site.app.reviews.lines(debate, Caller())
    return any(isinstance(line.entry, DebateStopped) for line in lines)


async def aborted(site: Served, debate: str) -> None:
    for _ in range(400):
        if await stopped(site, debate):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the debate goes on")


@pytest.mark.usefixtures("little_room")
async def test_whoever_is_dropped_has_left_unless_he_comes_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disconnect, "LEAVE_S", 0.4)
    monkeypatch.setattr(stream_listeners, "UNSENT", 256)
    async with served(database.service_url, work=False, heartbeat_s=0.01, slow_s=0.2) as site:
        left, kept = [(await site.submit(a_case(onDisconnect="abort")))["debateId"] for _ in range(2)]
        before = cut("slow")
        slow = [await Raw(site, debate, room=2_048).begin() for debate in (left, kept)]
        async with reading(site, kept):
            await until(lambda: cut("slow") == before + 2)
            await aborted(site, left)
            assert not await stopped(site, kept)
        for listener in slow:
            listener.socket.close()


@asynccontextmanager
async def reading(site: Served, debate: str) -> AsyncIterator[None]:
    """One who reads everything meanwhile."""
    listener = await Raw(site, debate).begin()
    task = asyncio.create_task(listener.until(b"event: final"))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        listener.socket.close()


@pytest.fixture
def looks(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Says whether it can be looked what has happened in the database."""
    monkeypatch.setattr(entry_poll, "POLL_S", 0.05)
    with psycopg.connect(database.admin_url, autocommit=True) as admin:

        def may(can: bool) -> None:
            what = "GRANT SELECT ON gainsay.debate_head TO" if can else "REVOKE SELECT ON gainsay.debate_head FROM"
            admin.execute(f"{what} gainsay_writer")

        yield may


async def test_whoever_is_cut_off_because_the_database_fails_has_left_unless_he_comes_back(
    database: Database, looks: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disconnect, "LEAVE_S", 0.6)
    async with served(database.service_url, work=False) as site:
        debates = [(await site.submit(a_case(onDisconnect="abort")))["debateId"] for _ in range(2)]
        streams = [await Raw(site, debate).begin() for debate in debates]
        for stream in streams:
            await stream.until(b"event: started")
        looks(False)
        for stream in streams:
            assert b": interrupted" in await stream.until(b"0\r\n\r\n")
            stream.socket.close()
        looks(True)
        left, kept = debates
        async with reading(site, kept):
            await aborted(site, left)
            assert not await stopped(site, kept)


async def test_a_stream_says_that_it_is_there_also_while_it_passes_over_what_was_heard(
    database: Database, tmp_path: Path
) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=150))
    async with served(database.service_url, GAINSAY_POLICY=policy) as site:
        closing = asyncio.Event()
        here = AppState(site.app, closing, stream_listeners.Listeners(closing, site.app.authenticator), heartbeat_s=0.3)
        debate = (await site.submit())["debateId"]
        asked = FollowingDebate(here, LOCAL, debate, 1_000)
        told = [chunk async for chunk in events(asked, stream_listeners.Listener(None))]

    assert told.count(b": still here\n\n") >= 2
    assert len(told) == 1 + told.count(b": still here\n\n")


async def test_listeners_that_are_cut_off_leave_nothing_behind(
    database: Database, looks: Callable[[bool], None]
) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        held = counted()
        for _ in range(2):
            async with listening(site, debate, 50) as raws:
                assert open_streams() == len(raws)
                looks(False)
                for raw in raws:
                    assert b": interrupted" in await raw.until(b"0\r\n\r\n")
            looks(True)
            await until(lambda: not open_streams())
        await until(lambda: counted() == held)


async def test_listeners_that_go_leave_nothing_behind(database: Database) -> None:
    async with served(database.service_url, work=False, heartbeat_s=0.5) as site:
        debates = [(await site.submit())["debateId"] for _ in range(5)]
        await site.http.get("/livez")
        before = len(asyncio.all_tasks())
        held = counted()
        for _ in range(2):
            async with AsyncExitStack() as stack:
                for debate in debates:
                    await stack.enter_async_context(listening(site, debate, 50))
                assert open_streams() == 50 * len(debates)
            await until(lambda: not open_streams())
        await until(lambda: len(asyncio.all_tasks()) <= before + 1)

        assert counted() == held
        await until(
            lambda: not {t.get_name().split(" ")[0] for t in asyncio.all_tasks()} & {"tail", "watch", "closing"}
        )


def counted() -> tuple[int, int]:
    """How many listeners and tails there are in memory."""
    gc.collect()
    kinds = [type(found) for found in gc.get_objects()]
    return kinds.count(stream_listeners.Listener), kinds.count(Feed)


async def test_a_stream_is_refused_while_few_descriptors_are_left_and_everything_else_is_answered(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        monkeypatch.setattr(stream_listeners, "RESERVED", int(stream_listeners.remaining()) + 1)
        monkeypatch.setattr(stream_listeners, "COUNT_S", 0.0)
        refused = await site.http.get(f"/v1/debates/{debate}/events")
        read = await site.http.get(f"/v1/debates/{debate}")
        monkeypatch.setattr(stream_listeners, "RESERVED", 128)
        async with listening(site, debate, 1) as (listener,):
            assert b" 200 OK" in listener.got

    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert int(refused.headers["retry-after"]) > 0
    assert read.status_code == 200


def test_a_server_takes_as_many_descriptors_as_it_may() -> None:
    program = (
        "import resource; from service.web.stream_listeners import remaining, raise_limit\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, 900)); before = remaining(); raise_limit()\n"
        "opened = open('/dev/null'); print(before, remaining(), resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    before, after, soft, hard = (int(word.strip("(),")) for word in told.split())
    assert (soft, hard) == (900, 900)
    assert 0 < before < 200 < after < 900


async def until(found: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    for _ in range(3_000):
        if found():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")
