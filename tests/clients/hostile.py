"""What stands between a client and its service, or in its place, and does not behave.

`Cutting` passes requests on and cuts them off; `Lying` answers by itself. Both handle one request a connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

Kind = Literal["pass", "refuse", "cutRequest", "cutBeforeAnswer", "cutAnswer", "stall", "busy"]


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    raw: bytes

    @property
    def path(self) -> str:
        """The path."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The parameters."""
        return dict(parse_qsl(urlsplit(self.target).query))


@dataclass(frozen=True)
class Fault:
    """What happens to one request. ``after`` bytes of the request or of the answer are passed on before."""

    kind: Kind
    after: int = 0


PASS = Fault("pass")


async def read_request(reader: asyncio.StreamReader) -> Asked | None:
    """A whole request, or ``None`` where the client leaves."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = first.split(" ")
        return Asked(method, target, headers, body, head + body)
    return None


@dataclass
class Cutting:
    """A proxy before a service: the faults of the next requests, one after the other, then all pass."""

    upstream: str
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    seen: list[Asked] = field(default_factory=list)
    hit: list[Kind] = field(default_factory=list)
    only: Callable[[Asked], bool] = lambda _: True
    """Which requests the faults are for; all others pass."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        try:
            if (asked := await read_request(reader)) is not None:
                self.seen.append(asked)
                fault = self.faults.pop(0) if self.faults and self.only(asked) else PASS
                if fault != PASS:
                    self.hit.append(fault.kind)
                await self._do(asked, fault, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _do(self, asked: Asked, fault: Fault, writer: asyncio.StreamWriter) -> None:
        if fault.kind == "refuse":
            return
        if fault.kind == "busy":
            writer.write(answer(503, {"code": "queue_full", "detail": "full"}, {"retry-after": str(fault.after)}))
            await _end(writer)
            return
        parts = urlsplit(self.upstream)
        there_reader, there = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            head, body = asked.raw[: len(asked.raw) - len(asked.body)], asked.body
            lines = [line for line in head.split(b"\r\n")[:-2] if not line.lower().startswith(b"connection:")]
            sent = b"\r\n".join([*lines, b"connection: close", b"", b""]) + body
            if fault.kind == "cutRequest":
                there.write(sent[: len(sent) - len(body) // 2])
                await there.drain()
                return
            there.write(sent)
            await there.drain()
            await self._answer(there_reader, writer, fault)
        finally:
            there.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Fault) -> None:
        passed = 0
        while chunk := await reader.read(1 << 16):
            if fault.kind == "cutBeforeAnswer":
                return
            if fault.kind in ("cutAnswer", "stall") and passed + len(chunk) >= fault.after:
                writer.write(chunk[: fault.after - passed])
                await writer.drain()
                if fault.kind == "stall":
                    await asyncio.sleep(3600)
                await asyncio.sleep(0.02)  # so that what was passed on is read before the end
                return
            writer.write(chunk)
            await writer.drain()
            passed += len(chunk)
        await _end(writer)


Say = Callable[[Asked], "bytes | AsyncIterator[bytes] | Awaitable[bytes]"]


@dataclass
class Lying:
    """A server that says what a function says."""

    say: Say
    url: str = ""
    seen: list[Asked] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        try:
            if (asked := await read_request(reader)) is not None:
                self.seen.append(asked)
                said = self.say(asked)
                if isinstance(said, bytes):
                    writer.write(said)
                elif isinstance(said, Awaitable):
                    writer.write(await said)
                else:
                    async for piece in said:
                        writer.write(piece)
                        await writer.drain()
                await _end(writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()


async def _end(writer: asyncio.StreamWriter) -> None:
    """End a connection so that all that was written is read."""
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    await asyncio.sleep(0.02)


def answer(status: int, body: object, headers: dict[str, str] | None = None) -> bytes:
    """An answer as bytes; what is not bytes is JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "application/problem+json" if status >= 400 else "application/json"
    named = {"content-type": kind, "content-length": str(len(sent)), "connection": "close", **(headers or {})}
    lines = [f"HTTP/1.1 {status} .", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + sent


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def event(number: int | None, name: str, data: Any) -> bytes:
    """An event of a stream."""
    told = f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
    return told if number is None else f"id: {number}\n".encode() + told


@asynccontextmanager
async def cutting(upstream: str) -> AsyncIterator[Cutting]:
    """A proxy before a service."""
    stand = Cutting(upstream)
    server = await asyncio.start_server(stand.handle, "127.0.0.1", 0, limit=1 << 24)
    stand.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with _listening(server):
        yield stand


@asynccontextmanager
async def lying(say: Say) -> AsyncIterator[Lying]:
    """A server that lies."""
    stand = Lying(say)
    server = await asyncio.start_server(stand.handle, "127.0.0.1", 0, limit=1 << 24)
    stand.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with _listening(server):
        yield stand


@asynccontextmanager
async def _listening(server: asyncio.Server) -> AsyncIterator[None]:
    try:
        yield
    finally:
        server.close()
