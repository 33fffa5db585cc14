"""A vendor on 127.0.0.1 that speaks both wires over real HTTP, and can be told to misbehave at any byte.

    async with upstream() as up:
        up.play(Status(429, headers={"retry-after": "2"}), Cut("body"))   # the next two calls
        up.otherwise = Model(usage=cached)                                # and all that follow

Left alone it is a model: it takes the wire body apart and lets the offline models answer, so that a whole debate runs
through the real adapters. It records every request and what a vendor would bill for it (`tests.behaviours`).

As a process of its own: ``python -m tests.upstream --port 0 --latency-ms 20 --fault-rate 0.1 --seed 1`` prints its
address, and GET /stats tells calls and tokens. Faults depend on the seed and the number of the call, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from urllib.parse import urlsplit

from tests.behaviours import RULES, Behaviour, Bill, Call, Cut, Faults, Model, Reply, Status
from tests.vendors import JSON, NotUnderstood, Tokens

TLS = b"\x16"
"""What a connection begins with that is not for a server without a certificate."""


class Upstream:
    """The server. ``calls`` are all requests in their order, ``bills`` what they cost; `billed` adds that up.

    ``asked`` is set once there was a call.
    """

    def __init__(self, otherwise: Behaviour | None = None, latency_s: float = 0.0) -> None:
        self.otherwise: Behaviour = otherwise or Model()
        self.latency_s = latency_s
        self.calls: list[Call] = []
        self.bills: list[Bill] = []
        self.asked = asyncio.Event()
        self.most_open = 0
        self.port = 0
        self._queue: deque[Behaviour] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def play(self, *behaviours: Behaviour) -> None:
        """What to do with the next calls, one each."""
        self._queue.extend(behaviours)

    def forget(self) -> None:
        """Begin anew, on the same port."""
        self.calls.clear()
        self.bills.clear()
        self._queue.clear()
        self.otherwise = Model()

    @property
    def billed(self) -> Tokens:
        """Everything billed so far."""
        return sum((bill.tokens for bill in self.bills), Tokens())

    @property
    def stats(self) -> JSON:
        """Calls and billed tokens, by model."""
        by_model: dict[str, Tokens] = {}
        for bill in self.bills:
            by_model[bill.model] = by_model.get(bill.model, Tokens()) + bill.tokens
        return {
            "calls": len(self.calls),
            "billedCalls": len(self.bills),
            "untoldCalls": sum(not bill.told for bill in self.bills),
            "mostOpen": self.most_open,
            "billed": {model: asdict(tokens) for model, tokens in by_model.items()},
            "callsByPath": Counter(urlsplit(call.target).path for call in self.calls),
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, call after call."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.most_open = max(self.most_open, len(self._tasks))
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def close(self) -> None:
        """End every connection."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; whether the connection goes on."""
        begun = await reader.readexactly(1)
        if begun == TLS:
            return False
        head = (begun + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if (method, target) == ("GET", "/stats"):
            return await self._send(writer, Reply(json.dumps(self.stats).encode()))
        behaviour = self._queue.popleft() if self._queue else self.otherwise
        if isinstance(behaviour, Cut) and behaviour.after == "request":
            self.calls.append(Call(len(self.calls) + 1, method, target, headers, b""))
            return False
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        call = Call(len(self.calls) + 1, method, target, headers, body)
        self.calls.append(call)
        self.asked.set()
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        try:
            reply = behaviour(call)
        except NotUnderstood as error:
            reply = Status(400 if call.wire else 404, message=str(error))(call)
        if reply.bill:
            self.bills.append(reply.bill)
        return await self._send(writer, reply)

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        line = reply.line if reply.cut is None else reply.line[: reply.cut]
        size = -(-len(line) // reply.slices) or 1
        for at in range(0, len(line), size) if line else (0,):
            if reply.pause_s:
                await asyncio.sleep(reply.pause_s)
            writer.write(line[at : at + size])
            await writer.drain()
        return not reply.closes


@asynccontextmanager
async def upstream(
    otherwise: Behaviour | None = None, *, latency_s: float = 0.0, port: int = 0
) -> AsyncIterator[Upstream]:
    """A served `Upstream`; without a port the machine gives one."""
    up = Upstream(otherwise, latency_s)
    server = await asyncio.start_server(up.serve, "127.0.0.1", port, limit=1 << 20)
    up.port = server.sockets[0].getsockname()[1]
    try:
        yield up
    finally:
        server.close()
        await up.close()
        await server.wait_closed()


async def _main(options: argparse.Namespace) -> None:
    model = Model(usage=RULES[options.usage])
    behaviour = Faults(options.fault_rate, options.seed, model) if options.fault_rate else model
    async with upstream(behaviour, latency_s=options.latency_ms / 1_000, port=options.port) as up:
        sys.stdout.write(f"{up.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description="A vendor for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=int, default=0)
    parser.add_argument("--fault-rate", type=float, default=0.0, help="share of calls that fail, 0 to 1")
    parser.add_argument("--seed", type=int, default=0, help="which calls fail, and how")
    parser.add_argument("--usage", choices=sorted(RULES), default="plain", help="what is billed and told")
    return parser.parse_args()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_main(_options()))
