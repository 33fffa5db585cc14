"""A server that stops answers every request that had reached this machine: no connection is reset."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import aiohttp
import pytest
import uvloop
from litestar.types import Receive, Scope, Send

from service.web import server
from tests.fixtures.waiting import within

REQUEST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
EACH = 8


async def app(_scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a body, takes its time, and answers."""
    await receive()
    await asyncio.sleep(0.05)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok", "more_body": False})


def connected(url: str) -> socket.socket:
    """A connection that this machine has taken, whether or not the server has seen it."""
    to = urlsplit(url)
    return socket.create_connection((to.hostname, to.port), timeout=10)


def answer_on(connection: socket.socket) -> bytes:
    """All that comes until the connection ends; raises `ConnectionResetError`."""
    with connection:
        return b"".join(iter(lambda: connection.recv(4_096), b""))


def test_what_is_on_its_way_when_a_server_closes_its_socket_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some requests come on connections that the server has; some connections it has not seen yet."""
    uvloop.run(_stopping_as_requests_arrive(monkeypatch))  # the loop of `gainsay serve`


async def _stopping_as_requests_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    shutdown, open_ = server._Server.shutdown, list[socket.socket]()

    async def shut_down(self: server._Server, sockets: list[socket.socket] | None = None) -> None:
        open_.extend(connected(url) for _ in range(EACH))  # the loop does not run in between
        for connection in open_:
            connection.sendall(REQUEST)
        await shutdown(self, sockets)

    monkeypatch.setattr(server._Server, "shutdown", shut_down)
    async with server.serving(app) as url:
        open_.extend(connected(url) for _ in range(EACH))
        await asyncio.sleep(0.1)  # these are seen

    answers = await within(20, asyncio.gather(*(asyncio.to_thread(answer_on, connection) for connection in open_)))

    assert len(answers) == 2 * EACH
    for found in answers:
        assert found.startswith(b"HTTP/1.1 200")
        assert found.endswith(b"\r\n\r\nok")
        assert b"connection: close" in found.lower()


@pytest.mark.parametrize("kept", [True, False], ids=["kept alive", "one a request"])
@pytest.mark.parametrize("callers", [50, 200])
def test_callers_of_a_server_that_stops_are_answered_or_find_no_server(kept: bool, callers: int) -> None:
    uvloop.run(_stopping_under(callers, kept=kept))


async def _stopping_under(callers: int, *, kept: bool) -> None:
    answered, gone = list[int](), list[int]()

    async def call(session: aiohttp.ClientSession, url: str) -> None:
        while True:
            try:
                async with session.post(url, data=b"{}") as found:
                    assert (found.status, await found.read()) == (200, b"ok")
            except aiohttp.ClientConnectorError:
                gone.append(1)
                return
            answered.append(1)

    connector = aiohttp.TCPConnector(limit=0, force_close=not kept)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=20)) as session:
        async with server.serving(app) as url:
            calling = asyncio.gather(*(call(session, url) for _ in range(callers)))
            while len(answered) < 2 * callers:
                await asyncio.sleep(0.01)
                assert not calling.done()
        await within(20, calling)

    assert len(gone) == callers
