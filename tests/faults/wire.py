"""The way to PostgreSQL, as a proxy that fails at the n-th statement; nothing in the service knows of it.

    async with a_wire(url) as wire:
        wire.fail(Fault(7, "lost"))     # the 7th statement from now on is done, and its answer never arrives
        Database.open(wire.url)

    cut       the connection is gone before the statement arrives: it is not done
    lost      the statement is done, and the connection is gone before its answer arrives
    refused   PostgreSQL answers that it cannot do it (its disk is full), and the connection stays

With ``dies`` nothing comes through afterwards, either way: so it is for whoever had been there when a process died.
A statement is a simple Query of the wire protocol, or what is executed up to a Sync: what PostgreSQL does whole or not
at all, but for a transaction of several. What only prepares a statement is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from struct import pack, unpack
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from service.store.queries import queries

Kind = Literal["cut", "lost", "refused"]
CANCEL = 80877102
"""The code that a request to cancel has in the place of a protocol version (PostgreSQL's documentation, 54.7)."""
FULL = b"SERROR\0VERROR\0C53100\0Mno space left on device\0\0"


@dataclass(frozen=True)
class Fault:
    """What happens to which statement, counted from 1."""

    at: int
    kind: Kind
    dies: bool = False


@dataclass(frozen=True)
class Hit:
    """What was struck, and how: it may have been in another way than was meant."""

    what: str
    how: str


@dataclass(eq=False)
class Link:
    """One connection: how many statements have gone up and have been answered, and which answer gets lost."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    asked: int = 0
    answered: int = -1
    status: bytes = b"I"
    losing: int | None = None
    dies: bool = False
    sql: dict[bytes, str] = field(default_factory=dict)
    named: str = ""

    def cut(self) -> None:
        """End it on both sides."""
        for writer in (self.client, self.server):
            writer.transport.abort()


class Wire:
    """A proxy in front of one PostgreSQL server."""

    def __init__(self, url: str) -> None:
        where = conninfo_to_dict(url)
        self._to = str(where["host"]), int(where["port"] or 5432)
        self._from = url
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: Fault | None = None
        self._dead = False
        self.url = url
        self.count = 0
        self.hit: Hit | None = None
        self.names: list[str] = []
        self.died = asyncio.Event()

    def fail(self, fault: Fault | None) -> None:
        """Count from 1 again, and fail as is said; ``hit`` is which statement that was, and how, once it happened."""
        self._fault, self.count, self.hit = fault, 0, None
        self.names = []

    async def open(self) -> asyncio.Server:
        """Listen; ``url`` leads here from now on."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()[:2]
        self.url = make_conninfo(self._from, host=host, port=port, sslmode="disable", gssencmode="disable")
        return server

    async def close(self) -> None:
        """Cut what is open."""
        self.die()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what is aborted closes its socket in the next turn of the loop

    def die(self) -> None:
        """Let nothing through any more."""
        self._dead = True
        self.died.set()
        for link in self._links:
            link.cut()

    # -- one connection

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            if not self._dead:
                await self._join(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # one of both has gone, and the other is told
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, server = await asyncio.open_connection(*self._to)
        link = Link(writer, server)
        self._links.add(link)
        down = asyncio.create_task(self._down(there, link))
        try:
            await self._up(reader, link)
        finally:
            if not link.dies:
                server.transport.abort()
                down.cancel()
            await asyncio.gather(down, return_exceptions=True)
            link.cut()
            self._links.discard(link)

    async def _up(self, reader: asyncio.StreamReader, link: Link) -> None:
        """Carry statements up, whole or not at all."""
        (size,) = unpack("!i", await reader.readexactly(4))
        first = await reader.readexactly(size - 4)
        link.server.write(pack("!i", size) + first)
        if unpack("!i", first[:4]) == (CANCEL,):
            return
        unit, executes = b"", False
        while True:
            kind, message = await _message(reader)
            unit += message
            executes = executes or kind in b"QE"
            self._note(link, kind, message)
            if kind not in b"QSHXp":
                continue
            if kind not in b"QS" or self._passes(link, executes):  # a password, a flush and a farewell always pass
                link.server.write(unit)
            unit, executes = b"", executes and kind == b"H"

    async def _down(self, reader: asyncio.StreamReader, link: Link) -> None:
        """Carry answers down, up to the one that gets lost."""
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                kind, message = await _message(reader)
                losing = link.losing is not None and link.answered == link.losing - 1
                if not losing:
                    link.client.write(message)
                if kind == b"Z":
                    link.answered += 1
                    link.status = message[-1:]
                    if losing:
                        break
        if link.dies:
            self.die()
        link.cut()

    # -- statements

    def _note(self, link: Link, kind: bytes, message: bytes) -> None:
        """Which statement this is: by its text when it is parsed, and by what it was prepared as later."""
        if kind == b"P":
            name, text, _ = message[5:].split(b"\0", 2)
            link.named = link.sql[name] = _name(text)
        elif kind == b"B":
            link.named = link.sql.get(message[5:].split(b"\0", 2)[1], link.named)
        elif kind == b"Q":
            link.named = _name(message[5:].rstrip(b"\0"))

    def _passes(self, link: Link, executes: bool) -> bool:
        """Count a statement, and let its fault happen; whether it goes on to the server."""
        if executes:
            self.count += 1
            self.names.append(link.named)
        fault = self._fault
        if not executes or fault is None or self.count != fault.at:
            link.asked += 1
            return True
        kind = fault.kind
        if kind == "refused" and link.answered != link.asked:
            kind = "cut"  # a refusal would come before the answers that are due
        self.hit = Hit(link.named, f"{kind} and death" if fault.dies else kind)
        if kind == "lost":
            link.asked += 1
            link.losing, link.dies = link.asked, fault.dies
            return True
        if kind == "refused":
            status = b"E" if link.status in b"TE" else b"I"
            link.client.write(b"E" + pack("!i", 4 + len(FULL)) + FULL + b"Z" + pack("!i", 5) + status)
            return False
        if fault.dies:
            self.die()
        link.cut()
        return False


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    (size,) = unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(size - 4)


def _name(text: bytes) -> str:
    """The name of one of our queries by its first line, which is what it is for; otherwise its first words."""
    line = text.split(b"\n", 1)[0]
    named = {sql.split(b"\n", 1)[0]: name for name, sql in queries().items()}
    return named.get(line) or " ".join(line.decode(errors="replace").split()[:2])


@asynccontextmanager
async def a_wire(url: str) -> AsyncIterator[Wire]:
    """A wire in front of the server at this address."""
    wire = Wire(url)
    server = await wire.open()
    try:
        yield wire
    finally:
        server.close()
        await wire.close()
        await server.wait_closed()
