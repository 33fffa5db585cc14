"""Attacks on the server's connections, each with a real socket: what is too large, too slow or too much is cut off."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import pytest
from litestar.types import Receive, Scope, Send

from service.observing import labelled
from service.web.connection_bounds import ADDRESS_BYTES, HEAD_BYTES, HEADERS, ConnectionBounds
from service.web.server import serving
from tests.fixtures.waiting import within

GET = b"GET / HTTP/1.1\r\nhost: a\r\n"
POST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n"
QUICK = ConnectionBounds(head_s=0.3, message_s=0.5, idle_s=1, unread_s=0.3, most=4, per_peer=4)
LONG = ConnectionBounds(head_s=60, message_s=60, idle_s=60, unread_s=60, most=4, per_peer=3)
EMPTY: list[tuple[bytes, bytes]] = [(b"content-length", b"0")]


class Site(NamedTuple):
    """A server, and the sizes of the bodies that its application has read."""

    host: str
    port: int
    read: list[int]


@asynccontextmanager
async def a_site(bounds: ConnectionBounds, answer: bytes = b"ok") -> AsyncIterator[Site]:
    """An application that reads a body and answers, within bounds."""
    read: list[int] = []

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            size, more = size + len(message["body"]), message["more_body"]
        read.append(size)
        headers: list[tuple[bytes, bytes]] = [(b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at in range(0, len(answer), 1 << 16):
            part = answer[at : at + (1 << 16)]
            await send({"type": "http.response.body", "body": part, "more_body": at + (1 << 16) < len(answer)})

    async with serving(app, bounds=bounds) as url:
        host, port = url.removeprefix("http://").split(":")
        yield Site(host, int(port), read)


async def answered(site: Site, *parts: bytes, pause_s: float = 0.0) -> bytes:
    """What the server sends until it closes the connection, however long the client would go on."""
    reader, writer = await asyncio.open_connection(site.host, site.port)

    async def sending() -> None:
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause_s)
        except OSError:
            pass

    sender = asyncio.create_task(sending())
    try:
        return await within(10, reader.read())
    except ConnectionResetError:
        return b""
    finally:
        sender.cancel()
        writer.transport.abort()


def problem(answer: bytes) -> tuple[int, Any]:
    """The status of an answer, and its problem document."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    return int(head.split()[1]), json.loads(body)


def refused(reason: str) -> float:
    return labelled.REGISTRY.get_sample_value("gainsay_http_refused_total", {"reason": reason}) or 0.0


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (GET + b"x: " + b"a" * HEAD_BYTES + b"\r\n\r\n", 431, "headers_too_large"),
        (GET + b"x: " + b"a" * (4 << 20), 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\n" + b"n" * (4 << 20), 431, "headers_too_large"),
        (GET + b"x: y\r\n" * 10_000 + b"\r\n", 431, "headers_too_large"),
        (GET + b"x: y\r\n" * HEADERS + b"\r\n", 431, "headers_too_large"),
        (b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nhost: a\r\n\r\n", 414, "address_too_long"),
        (b"GET /?" + b"a" * ADDRESS_BYTES + b" HTTP/1.1\r\nhost: a\r\n\r\n", 414, "address_too_long"),
        (b"\x16\x03\x01 no HTTP\r\n\r\n", 400, "bad_request"),
    ],
    ids=["value", "endless value", "endless name", "10,000 headers", "one too many", "1 MB line", "query", "no HTTP"],
)
async def test_a_head_beyond_its_bounds_is_refused_and_reaches_no_application(
    sent: bytes, status: int, code: str
) -> None:
    async with a_site(LONG) as site:
        found, told = problem(await answered(site, sent))

        assert (found, told["code"], told["type"]) == (status, code, f"/problems/{code}")
        assert site.read == []


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01 no HTTP\r\n\r\n",
        GET + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n",
        GET + b"x: " + b"a" * HEAD_BYTES + b"\r\n\r\n",
    ],
    ids=["no HTTP", "upgrade", "large head"],
)
async def test_what_a_stranger_sends_leaves_no_line_in_the_log(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with a_site(QUICK) as site:
        await answered(site, sent)

    loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in loud] == []


async def test_what_is_no_http_is_counted() -> None:
    before = refused("noHTTP")
    async with a_site(LONG) as site:
        await answered(site, b"\x16\x03\x01 no HTTP\r\n\r\n")

    assert refused("noHTTP") == before + 1


async def test_a_head_within_its_bounds_is_taken() -> None:
    many = b"".join(b"x%d: y\r\n" % n for n in range(HEADERS - 3))
    async with a_site(LONG) as site:
        line = b"GET /?" + b"a" * (ADDRESS_BYTES - 2) + b" HTTP/1.1\r\nhost: a\r\nconnection: close\r\n"
        answer = await answered(site, line + b"y: " + b"b" * 40_000 + b"\r\n" + many + b"\r\n")

    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("first", "drip", "status", "reason"),
    [
        (GET, b"x: y\r\n", 408, "slowHead"),
        (b"GET /", b"a", 408, "slowHead"),
        (POST, b"x", 408, "slowBody"),
        (b"", b"\r\n", 0, ""),
        (GET + b"\r\n", b"\r\n", 200, ""),
        (GET.replace(b"GET", b"HEAD") + b"content-length: 100\r\n\r\n", b"x", 408, "slowBody"),
    ],
    ids=["headers", "line", "body", "empty lines", "empty lines after an answer", "body of a HEAD"],
)
async def test_a_slow_sender_is_cut_off_although_it_never_stops(
    first: bytes, drip: bytes, status: int, reason: str
) -> None:
    before = refused(reason)
    async with a_site(QUICK) as site:
        answer = await answered(site, first, *[drip] * 200, pause_s=0.05)

    assert int((answer.split() or [b"", b"0"])[1]) == status
    if reason:
        assert problem(answer)[1]["code"] == "request_timeout"
        assert refused(reason) == before + 1
    assert site.read == ([0] if status == 200 else [])


async def test_a_connection_that_sends_nothing_is_closed() -> None:
    async with a_site(QUICK) as site:
        assert await answered(site) == b""
        assert (await answered(site, GET + b"\r\n")).startswith(b"HTTP/1.1 200 "), "and one that rests after an answer"


async def test_a_body_that_goes_on_after_its_answer_ends_with_its_time() -> None:
    async def app(_: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": EMPTY})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async with serving(app, bounds=QUICK) as url:
        host, port = url.removeprefix("http://").split(":")
        answer = await answered(Site(host, int(port), []), POST, *[b"x"] * 90, pause_s=0.05)

    assert answer.startswith(b"HTTP/1.1 404 ")


async def test_a_client_that_does_not_read_its_answer_is_dropped() -> None:
    async with a_site(QUICK, b"x" * (32 << 20)) as site:
        reader, writer = await asyncio.open_connection(site.host, site.port, limit=1)
        writer.write(GET + b"\r\n")
        await asyncio.sleep(3 * QUICK.unread_s)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await within(10, reader.readexactly(32 << 20))
        writer.transport.abort()


async def test_connections_beyond_the_bounds_are_told_so_and_others_go_on() -> None:
    before = refused("peerConnections")
    async with a_site(LONG) as site, AsyncExitStack() as stack:
        held = []
        for _ in range(3):
            _, writer = await asyncio.open_connection(site.host, site.port)
            stack.callback(writer.transport.abort)
            held.append(writer)
        status, told = problem(await answered(site, GET + b"\r\n"))
        assert (status, told["code"]) == (503, "overloaded")
        assert "3 connections of this address are open" in told["detail"]
        assert refused("peerConnections") == before + 1

        held[0].transport.abort()
        answer = b""
        for _ in range(100):
            answer = await answered(site, GET + b"connection: close\r\n\r\n")
            if answer.startswith(b"HTTP/1.1 200 "):
                break
            await asyncio.sleep(0.05)  # the server has not seen the end of the other yet
        assert answer.startswith(b"HTTP/1.1 200 ")


async def test_the_whole_process_has_a_bound_too() -> None:
    async with a_site(ConnectionBounds(most=1, per_peer=9)) as site:
        _, writer = await asyncio.open_connection(site.host, site.port)
        status, told = problem(await answered(site, GET + b"\r\n"))
        writer.transport.abort()

    assert (status, told["code"]) == (503, "overloaded")
    assert "this process has 1 connections open" in told["detail"]
