"""Two thousand event streams on one API process: memory, CPU while nothing happens, and how soon an entry is heard.

The process is `gainsay serve --no-worker --no-sequencer` as it ships. The entry is recorded by another process, this
one, so the time has everything in it: the append, the news of it through PostgreSQL, the reading, two thousand sends,
and the reading of two thousand sockets here. Beside it stands a server of a few lines that knows nothing and writes the
same bytes to as many sockets.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import uvloop

from bench.figures import Measured, Turn
from bench.processes import ADDRESS, Process, api, started
from bench.servers import server
from service.store.notifications import listening
from service.web.stream_listeners import raise_limit
from tests.fixtures.running import CALLER, Bench, bench

STREAMS, DEBATES = 2_000, 200
IDLE_S = 20.0
"""Long enough for a sign of life on every stream."""
AT_ONCE = 100
HEARD = b"event: notice"


class Stream:
    """One who listens, and when he heard what he waits for."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def heard(self, wanted: bytes) -> float:
        """When it had come."""
        last = b""
        while wanted not in last:
            got = await self.reader.read(1 << 16)
            if not got or got.startswith(b"HTTP/1.1 5"):
                raise AssertionError(f"a stream ended: {got!r}")
            last = last[-len(wanted) :] + got
        return time.perf_counter()


class Streamed(NamedTuple):
    """Bytes, seconds of CPU, and seconds from the recording to the hearing, of all listeners."""

    memory: int
    idle_memory: int
    cpu_s: float
    latencies: list[float]


def measure() -> Turn:
    """One turn, on a server of its own on which nothing else works."""
    raise_limit()
    with server() as here, api(here.service) as ours:
        told = uvloop.run(_measured(here.service, ours))
    with _bare() as theirs:
        bare = uvloop.run(_broadcast(theirs))
    each, bare_each = ((m.memory - m.idle_memory) / STREAMS / 1024 for m in (told, bare))
    p50, p99 = (sorted(told.latencies)[int(STREAMS * share)] * 1_000 for share in (0.5, 0.99))
    bare_p99 = sorted(bare.latencies)[int(STREAMS * 0.99)] * 1_000
    idle = f"{told.memory >> 20} MB, idle {told.idle_memory >> 20} MB; bare sockets {bare_each:.0f} kB each"
    return {
        "memory": Measured(each, bare_each, idle),
        "cpu": Measured(told.cpu_s / IDLE_S * 100),
        "p99": Measured(p99, bare_p99, f"p50 {p50:.0f} ms; bare sockets p99 {bare_p99:.0f} ms"),
    }


async def _measured(url: str, server: Process) -> Streamed:
    async with bench(url) as service, listening(url, service.hub):
        debates = [await service.submit() for _ in range(DEBATES)]
        await _close(await _listen(server, [f"/v1/debates/{debate}/events" for debate in debates[:20]], b"started"))
        idle = server.memory
        paths = [f"/v1/debates/{debates[n % DEBATES]}/events" for n in range(STREAMS)]
        streams = await _listen(server, paths, b"event: started")
        memory, cpu = server.memory, server.cpu_s
        await asyncio.sleep(IDLE_S)
        cpu = server.cpu_s - cpu
        await _close(streams)
        streams = await _listen(server, [f"/v1/debates/{debates[0]}/events"] * STREAMS, b"event: started")
        latencies = await _heard(streams, _recorded(service, debates[0]), HEARD)
        await _close(streams)
    return Streamed(memory, idle, cpu, latencies)


async def _recorded(service: Bench, debate: str) -> float:
    """When an entry began to be recorded."""
    begun = time.perf_counter()
    await service.reviews.abort(debate, CALLER, "for the bench")
    return begun


async def _broadcast(server: Process) -> Streamed:
    idle = server.memory
    streams = await _listen(server, ["/"] * STREAMS, b"event: started")
    memory = server.memory

    async def said() -> float:
        begun = time.perf_counter()
        await _listen(server, ["/say"], b"said")
        return begun

    latencies = await _heard(streams, said(), HEARD)
    await _close(streams)
    return Streamed(memory, idle, 0.0, latencies)


async def _heard(streams: list[Stream], saying: object, wanted: bytes) -> list[float]:
    hearing_ = [asyncio.create_task(stream.heard(wanted)) for stream in streams]
    await asyncio.sleep(1.0)
    assert asyncio.iscoroutine(saying)
    begun: float = await saying
    async with asyncio.timeout(60):
        return [at - begun for at in await asyncio.gather(*hearing_)]


async def _listen(server: Process, paths: list[str], wanted: bytes) -> list[Stream]:
    """A stream for each path, once it has begun; so many are opened at once as a loopback takes."""
    room, where = asyncio.Semaphore(AT_ONCE), urlsplit(server.said)
    host = str(where.hostname)

    async def begun(path: str) -> Stream:
        async with room:
            reader, writer = await asyncio.open_connection(host, where.port)
            writer.write(f"GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
            stream = Stream(reader, writer)
            await stream.heard(wanted)
            return stream

    return await asyncio.gather(*(begun(path) for path in paths))


async def _close(streams: list[Stream]) -> None:
    for stream in streams:
        stream.writer.close()
    await asyncio.sleep(1.0)


@contextmanager
def _bare() -> Iterator[Process]:
    with started([sys.executable, "-m", "bench.streams"], ADDRESS) as process:
        yield process


async def _bare_server() -> None:
    """Knows nothing but its sockets."""
    raise_limit()
    here: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if request.startswith(b"GET /say"):
            for listener in here:
                listener.write(HEARD + b"\ndata: " + b"x" * 300 + b"\n\n")
            writer.write(b"said")
            return
        here.append(writer)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nevent: started\n\n")

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2_048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_bare_server())
