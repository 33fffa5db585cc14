"""What the transport does on the line: the bytes of a request, one request for an attempt, and connections that end."""

from __future__ import annotations

import asyncio
import functools
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp.connector import AddrInfoType
from aiohttp.http import StreamWriter

import service
from service.observing.trace_context import OUTGOING
from service.providers import transport
from service.running.provider_port import Answer, CallFailed
from tests.end_to_end.vendors.answering import (
    ANTHROPIC,
    KEY,
    OPENAI,
    OTHER_KEY,
    REPLY,
    a_request,
    completion,
    connected,
    ended,
    failure,
    http,
    said,
    serving,
)
from tests.fixtures.waiting import within

GOOD = http(200, completion())
LONG = "x" * 3_000_000


@dataclass
class Line:
    """A server that keeps each request as its bytes; ``speak`` answers it and says whether the connection stays."""

    speak: Callable[[asyncio.StreamWriter, bytes], Awaitable[bool]]
    port: int = 0
    heads: list[list[str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head.split("\r\n")[:-2])
                length = next((line for line in self.heads[-1] if line.lower().startswith("content-length:")), ":0")
                self.bodies.append(await reader.readexactly(int(length.partition(":")[2])))
                if not await self.speak(writer, self.bodies[-1]):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.gone.set()
            writer.close()


@asynccontextmanager
async def line(
    speak: Callable[[asyncio.StreamWriter, bytes], Awaitable[bool]], host: str = "127.0.0.1"
) -> AsyncIterator[Line]:
    made = Line(speak)
    listening = await asyncio.start_server(made.serve, host, 0, limit=1 << 24, backlog=1_000)
    made.port = listening.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        listening.close()
        await asyncio.sleep(0)


def answering(*answers: bytes) -> Callable[[asyncio.StreamWriter, bytes], Awaitable[bool]]:
    """Answers in their order, the last one again and again; empty bytes end the connection."""
    left = list(answers)

    async def speak(writer: asyncio.StreamWriter, _: bytes) -> bool:
        answer = left.pop(0) if len(left) > 1 else left[0]
        writer.write(answer)
        await writer.drain()
        return bool(answer)

    return speak


# -- the bytes of a request


@pytest.mark.parametrize("about", ["case", LONG], ids=["short", "in pieces"])
async def test_a_request_has_these_headers_and_no_others_and_the_bytes_that_were_compared(about: str) -> None:
    headers = {"X-Team": "risk"}
    async with line(answering(GOOD)) as server, connected(OPENAI, server.port, headers=headers) as made:
        body = made.encode(a_request(about))
        await made.send(body)

    ((first, *named),) = server.heads
    assert first == "POST /chat/completions?api-version=planted-in-the-query HTTP/1.1"
    found = sorted((name.lower(), value) for name, _, value in (header.partition(": ") for header in named))
    assert found == [
        ("accept", "application/json"),
        ("accept-encoding", "identity"),
        ("authorization", f"Bearer {KEY}"),
        ("connection", "keep-alive"),
        ("content-length", str(len(body))),
        ("content-type", "application/json"),
        ("host", f"127.0.0.1:{server.port}"),
        ("user-agent", f"gainsay/{service.__version__}"),
        ("x-gateway", OTHER_KEY),
        ("x-team", "risk"),
    ]
    assert server.bodies == [body]


async def test_no_header_goes_out_twice_and_a_secret_one_stands_for_what_is_sent_otherwise() -> None:
    plain = {"X-Gateway": "clear", "Accept": "text/json", "Traceparent": "of-the-policy"}
    secret = {"X-Gateway": "env:G", "User-Agent": "env:G"}
    async with (
        line(answering(GOOD)) as server,
        connected(OPENAI, server.port, headers=plain, secret_headers=secret) as made,
    ):
        await made.send(made.encode(a_request()))
        known = OUTGOING.set("of-the-call")
        await made.send(made.encode(a_request()))
        OUTGOING.reset(known)

    for head, trace in zip(server.heads, ("of-the-policy", "of-the-call"), strict=True):
        named = [(name.lower(), value) for name, _, value in (header.partition(": ") for header in head[1:])]
        assert len(dict(named)) == len(named)
        wanted = {"x-gateway": OTHER_KEY, "user-agent": OTHER_KEY, "accept": "text/json", "traceparent": trace}
        assert wanted.items() <= dict(named).items()


@pytest.mark.parametrize(
    ("base", "query", "target"),
    [
        ("/v1", {}, "/v1/chat/completions"),
        ("/v1//", {"a": "b c", "d": "&=+#?/", "e": "%41"}, "/v1/chat/completions?a=b+c&d=%26%3D%2B%23?/&e=%2541"),
        ("/a%20b/%2Fc", {"x": ""}, "/a%20b/%2Fc/chat/completions?x="),
        ("/a/../b", {}, "/b/chat/completions"),
    ],
)
async def test_an_address_is_asked_as_it_is_written(base: str, query: dict[str, str], target: str) -> None:
    async with line(answering(GOOD)) as server:
        url = f"http://127.0.0.1:{server.port}{base}"
        async with connected(OPENAI, server.port, base_url=url, query=query) as made:
            await made.send(made.encode(a_request()))

    assert server.heads[0][0] == f"POST {target} HTTP/1.1"


async def test_a_name_with_an_address_of_version_6_alone_is_reached() -> None:
    async with (
        line(answering(GOOD), "::1") as server,
        connected(OPENAI, server.port, base_url=f"http://[::1]:{server.port}") as made,
    ):
        assert said(await made.send(made.encode(a_request()))) == ("answer", REPLY)


async def test_a_proxy_is_given_neither_the_key_nor_a_header_of_the_vendor() -> None:
    async with line(answering(b"HTTP/1.1 502 no\r\ncontent-length: 0\r\n\r\n")) as proxy:
        through = f"http://127.0.0.1:{proxy.port}"
        async with connected(ANTHROPIC, 9, "https", proxy=through, headers={"x-team": "risk"}) as made:
            assert said(await failure(made)) == ("connectionCut", True, False, None)

    ((first, *named),) = proxy.heads
    assert first == "CONNECT 127.0.0.1:9 HTTP/1.1"
    assert {header.partition(":")[0].lower() for header in named} == {"host", "accept", "accept-encoding", "user-agent"}
    assert not any(secret in "".join(proxy.heads[0]) for secret in (KEY, OTHER_KEY, "planted-in-the-query", "risk"))


# -- one request for an attempt


@pytest.mark.parametrize("about", ["case", LONG], ids=["short", "in pieces"])
async def test_a_kept_connection_that_ends_at_the_next_request_is_not_asked_again(about: str) -> None:
    async with line(answering(GOOD, b"", GOOD)) as server, connected(OPENAI, server.port) as made:
        await made.send(made.encode(a_request()))
        cut = await failure(made, about)
        requests = len(server.bodies)
        after = await made.send(made.encode(a_request()))

    assert said(cut) == ("connectionCut", True, True, None)
    assert requests == 2, "a call that was sent again was neither reserved nor recorded"
    assert said(after) == ("answer", REPLY)
    assert (len(server.bodies), server.connections) == (3, 2)


async def test_a_kept_connection_that_the_vendor_has_ended_is_not_used_for_the_next_call() -> None:
    async def answer_and_end(writer: asyncio.StreamWriter, _: bytes) -> bool:
        writer.write(GOOD)
        await writer.drain()
        return False

    async with line(answer_and_end) as server, connected(OPENAI, server.port) as made:
        for _ in range(3):
            assert said(await made.send(made.encode(a_request()))) == ("answer", REPLY)
            await within(10, server.gone.wait())
            await asyncio.sleep(0.02)  # the end of the connection has come by then

    assert (len(server.bodies), server.connections) == (3, 3)


async def test_bytes_after_an_answer_are_not_taken_for_the_next_one() -> None:
    other = http(200, completion('{"thesis":"smuggled"}'))
    async with line(answering(GOOD + other, GOOD)) as server, connected(OPENAI, server.port) as made:
        first = await made.send(made.encode(a_request()))
        second = await made.send(made.encode(a_request()))

    assert said(first) == said(second) == ("answer", REPLY)
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "late",
    [http(200, completion('{"thesis":"of another call"}')), http(408, {}), b"HTTP/1.1 200 OK\r\n", b"no HTTP\r\n\r\n"],
    ids=["an answer", "an error", "a part of one", "no HTTP"],
)
async def test_what_comes_on_a_kept_connection_answers_no_later_call(late: bytes) -> None:
    left = asyncio.Queue[None]()

    async def answer_twice(writer: asyncio.StreamWriter, _: bytes) -> bool:
        writer.write(GOOD)
        await writer.drain()
        await left.get()
        writer.write(late)
        await writer.drain()
        return True

    async with line(answer_twice) as server, connected(OPENAI, server.port) as made:
        for _ in range(3):
            assert said(await made.send(made.encode(a_request()))) == ("answer", REPLY)
            left.put_nowait(None)
            await asyncio.sleep(0.05)  # what is late has come by then

    assert len(server.bodies) == 3


async def test_calls_at_once_have_a_connection_each_and_keep_them() -> None:
    calls = 120
    together = asyncio.Barrier(calls)

    async def all_at_once(writer: asyncio.StreamWriter, _: bytes) -> bool:
        await together.wait()
        writer.write(GOOD)
        await writer.drain()
        return True

    async with line(all_at_once) as server, connected(OPENAI, server.port, call_timeout_s=30) as made:
        for _ in range(2):
            answers = await asyncio.gather(*(made.send(made.encode(a_request())) for _ in range(calls)))
            assert [said(answer) for answer in answers] == [("answer", REPLY)] * calls

    assert (len(server.bodies), server.connections) == (2 * calls, calls)


# -- answers that are told apart


@pytest.mark.parametrize("status", [100, 102, 103, 199])
async def test_answers_on_the_way_are_no_answers(status: int) -> None:
    on_the_way = f"HTTP/1.1 {status} wait\r\nlink: </a>\r\n\r\n".encode()

    assert said(await ended(OPENAI, on_the_way * 3 + GOOD)) == ("answer", REPLY)
    async with serving(lambda _: on_the_way, last=True) as server, connected(OPENAI, server.port) as made:
        assert said(await failure(made)) == ("connectionCut", True, True, None)


async def test_a_vendor_that_changes_the_protocol_has_given_no_answer() -> None:
    upgraded = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n"
    outcome = await ended(OPENAI, upgraded + b"\x00\x01", call_timeout_s=1)

    assert said(outcome)[1:3] == (True, True)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ("content-type: application/json\r\ncontent-type: text/html", ("providerFault", True, True, REPLY)),
        (
            "content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-encoding: br",
            ("providerFault", True, True, None),
        ),
        ("content-type: application/json\r\nx-request-id: a\r\nx-request-id: b", ("answer", REPLY)),
        ("content-type: application/json\r\nX-Request-Id: \xff\xfe", ("answer", REPLY)),
    ],
)
async def test_headers_that_come_twice_are_not_chosen_from(headers: str, expected: tuple[object, ...]) -> None:
    raw = json.dumps(completion()).encode()
    answer = f"HTTP/1.1 200 x\r\n{headers}\r\ncontent-length: {len(raw)}\r\n\r\n".encode("latin-1") + raw

    outcome = await ended(OPENAI, answer)

    assert said(outcome) == expected
    if isinstance(outcome, Answer):
        assert outcome.request_id == "chatcmpl-1", "an id that comes twice, or is no text, is no id"


async def test_two_waits_are_no_wait() -> None:
    raw = b"HTTP/1.1 429 x\r\nretry-after: 7\r\nretry-after: 9\r\ncontent-length: 2\r\n\r\n{}"

    outcome = await ended(OPENAI, raw)

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.retry, outcome.billable) == ("rateLimit", True, False)
    assert outcome.retry_after_s is None


@pytest.mark.parametrize("size", [1, 7, 5_000])
async def test_a_body_in_chunks_is_read_to_its_end_and_the_connection_is_kept(size: int) -> None:
    raw = json.dumps(completion(REPLY if size == 1 else "y" * 40_000)).encode()
    pieces = (raw[at : at + size] for at in range(0, len(raw), size))
    chunked = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    head = b"HTTP/1.1 200 x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    async with (
        line(answering(head + chunked + b"0\r\nx-trailer: 1\r\n\r\n")) as server,
        connected(OPENAI, server.port) as made,
    ):
        for _ in range(2):
            assert said(await made.send(made.encode(a_request())))[0] == "answer"

    assert server.connections == 1


# -- calls that end early


async def test_a_call_that_is_called_off_in_the_middle_of_a_body_ends_its_connection() -> None:
    begun = asyncio.Event()

    async def halfway(writer: asyncio.StreamWriter, _: bytes) -> bool:
        writer.write(GOOD[:-40])
        await writer.drain()
        begun.set()
        return True

    async with line(halfway) as server, connected(OPENAI, server.port, call_timeout_s=30) as made:
        call = asyncio.create_task(made.send(made.encode(a_request())))
        await within(10, begun.wait())
        await asyncio.sleep(0.02)

        call.cancel()

        with pytest.raises(asyncio.CancelledError):
            await call
        await within(10, server.gone.wait())
    assert len(server.bodies) == 1


async def test_a_vendor_that_answers_before_it_has_read_the_request_is_heard() -> None:
    async def refuse_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(413, {"error": {"message": "request too large"}}))
        await writer.drain()
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    listening = await asyncio.start_server(refuse_at_once, "127.0.0.1", 0, limit=1 << 16)
    port = listening.sockets[0].getsockname()[1]
    async with listening, connected(OPENAI, port, call_timeout_s=5) as made:
        try:
            outcome = await failure(made, "x" * 30_000_000)
        finally:
            gone.set()

    assert said(outcome) == ("contextTooLong", False, False, None)


@pytest.mark.parametrize("size", [30_000, 200_000, 300_000])
async def test_a_connection_on_which_a_request_has_not_gone_out_whole_is_not_kept(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(address: AddrInfoType) -> socket.socket:
        made = socket.socket(*address[:3])
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        return made

    async def refuse_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(413, {"error": {"message": "request too large"}}))

    connections = list[asyncio.StreamWriter]()
    connector = functools.partial(aiohttp.TCPConnector, socket_factory=narrow)
    monkeypatch.setattr(aiohttp, "TCPConnector", connector)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    listening.bind(("127.0.0.1", 0))
    served = await asyncio.start_server(refuse_at_once, sock=listening, limit=1_000)
    async with served, connected(OPENAI, listening.getsockname()[1], call_timeout_s=2) as made:
        try:
            outcomes = [said(await failure(made, "x" * size)) for _ in range(2)]
        finally:
            for writer in connections:
                writer.transport.abort()

    assert outcomes == [("contextTooLong", False, False, None)] * 2
    assert len(connections) == 2


async def test_a_connection_on_which_the_next_piece_of_a_request_is_due_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that was given to it has gone out, but the upload had no turn yet to give it the rest."""

    class Held(StreamWriter):
        async def drain(self) -> None:
            await asyncio.Event().wait()

    async def refuse_a_piece(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(transport.PIECE)
        writer.write(http(413, {"error": {"message": "request too large"}}))

    connections = list[asyncio.StreamWriter]()
    monkeypatch.setattr(transport, "StreamWriter", Held)
    served = await asyncio.start_server(refuse_a_piece, "127.0.0.1", 0)
    port = served.sockets[0].getsockname()[1]
    async with served, connected(OPENAI, port, call_timeout_s=5) as made:
        try:
            outcomes = [said(await failure(made, "x" * 300_000)) for _ in range(2)]
        finally:
            for writer in connections:
                writer.transport.abort()

    assert outcomes == [("contextTooLong", False, False, None)] * 2
    assert len(connections) == 2


async def test_the_limit_of_a_call_holds_through_a_proxy_that_never_connects() -> None:
    async def silent(writer: asyncio.StreamWriter, _: bytes) -> bool:
        await asyncio.sleep(30)
        return False

    async with line(silent) as proxy:
        through = f"http://127.0.0.1:{proxy.port}"
        async with connected(OPENAI, 9, "https", proxy=through, call_timeout_s=1) as made:
            outcome = await failure(made)

    assert said(outcome) == ("timeout", True, True, None)


async def test_the_end_of_a_provider_ends_a_call_that_is_under_way() -> None:
    async with (
        serving(lambda _: asyncio.sleep(60, b"")) as server,
        connected(OPENAI, server.port, call_timeout_s=30) as made,
    ):
        call = asyncio.create_task(failure(made))
        await within(10, server.came.wait())
        await made.close()

        assert said(await within(10, call)) == ("connectionCut", True, True, None)
