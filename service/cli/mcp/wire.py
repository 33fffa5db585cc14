"""Standard input and output, kept for the protocol alone: one JSON message a line.

1. From the beginning both are private to the wire. Descriptor 0 is empty and 1 is standard error, so neither a stray
   print nor a child process, such as PostgreSQL, reads or writes a message.
2. A line that is no message is answered with an error of JSON-RPC, and the next line is read.
3. A client that does not read holds up its own answers alone. No thread of the wire outlives the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from service.cli.mcp.strictly import reading_fault

LINE_MAX = 32 << 20
"""Bytes of a message; the documents of a case are in it."""
AHEAD = 8
"""So many lines are read before the first of them is taken."""
_PIECE = 1 << 16


class Wire:
    """The wire of this process. Take it before anything else is started."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        self._answers: queue.SimpleQueue[tuple[bytes, Future[None]]] = queue.SimpleQueue()
        self._owed: set[str] = set()
        """The ids, as JSON, of requests whose answers are not written yet."""
        self._paid = asyncio.Event()
        self._paid.set()

    def note_request(self, line: bytes) -> None:
        """Note that an answer is owed to a request; none is any more to one that a notification cancels."""
        message = json.loads(line)
        if "method" in message and "id" in message:
            self._owed.add(json.dumps(message["id"]))
            self._paid.clear()
        elif message.get("method") == "notifications/cancelled":
            self._settle((message.get("params") or {}).get("requestId"))

    def note_answer(self, line: str) -> None:
        """Note that a message is written."""
        message = json.loads(line)
        if "method" not in message:
            self._settle(message.get("id"))

    def _settle(self, number: object) -> None:
        self._owed.discard(json.dumps(number))
        if not self._owed:
            self._paid.set()

    async def written(self, seconds: float) -> None:
        """Wait until each answer is written that is owed, or for so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._paid.wait()

    async def serve(self, server: Server[Any]) -> None:
        """Serve one session until its client has left: its end of input, or nothing takes the output."""
        lines: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        loop = asyncio.get_running_loop()
        for work in (lambda: self._read(loop, lines), self._write):
            threading.Thread(target=work, name="mcp", daemon=True).start()
        output = _Output(self)
        streams = stdio_server(
            cast("anyio.AsyncFile[str]", _Input(self, lines, output)), cast("anyio.AsyncFile[str]", output)
        )
        try:
            async with streams as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* (BrokenPipeError, ConnectionError):
            pass  # nothing takes the output any more: the client has left

    def send(self, line: bytes) -> Future[None]:
        """Have a line written after those before it."""
        done: Future[None] = Future()
        self._answers.put((line, done))
        return done

    def _read(self, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[bytes | None]) -> None:
        """Hand over each line, and then ``None``. Of a line that is too long as much as shows that is handed over."""
        with suppress(RuntimeError, OSError):  # the loop is closed, or the other end is gone
            with os.fdopen(self._in, "rb", buffering=_PIECE) as given:
                while line := given.readline(LINE_MAX + 1):
                    rest = line
                    while rest and not rest.endswith(b"\n"):
                        rest = given.readline(_PIECE)
                    asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()

    def _write(self) -> None:
        broken: OSError | None = None
        while True:
            line, done = self._answers.get()
            try:
                while line and broken is None:
                    line = line[os.write(self._out, line) :]
            except OSError as error:
                broken = error
            if done.set_running_or_notify_cancel():
                if broken is None:
                    done.set_result(None)
                else:
                    done.set_exception(broken)


class _Output:
    """Standard output, as the SDK writes to it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def write(self, line: str) -> None:
        """Write a message."""
        await asyncio.wrap_future(self._wire.send(line.encode()))
        self._wire.note_answer(line)

    async def flush(self) -> None:
        """Nothing: a line is written at once."""


class _Input:
    """Standard input, as the SDK reads it: messages alone."""

    def __init__(self, wire: Wire, lines: asyncio.Queue[bytes | None], output: _Output) -> None:
        self._wire, self._lines, self._output = wire, lines, output

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            if not line.strip():
                continue
            if (fault := fault_of(line)) is None:
                self._wire.note_request(line)
                yield line.decode()
            else:
                await self._output.write(json.dumps(fault) + "\n")


def fault_of(line: bytes) -> dict[str, Any] | None:
    """The error that answers a line that is no message; ``None`` for a message."""
    if len(line) > LINE_MAX:
        return _error(INVALID_REQUEST, f"expected a message of at most {LINE_MAX >> 20} MiB, found a longer line")
    fault = reading_fault(line)
    if fault is not None and fault[0] == PARSE_ERROR:
        return _error(*fault)
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _error(INVALID_REQUEST, "expected one request, notification or response of JSON-RPC 2.0")
    return None if fault is None else _error(*fault, getattr(message, "id", None))


def _error(code: int, message: str, number: str | int | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
