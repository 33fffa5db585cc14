"""Logs to vouch for, kept as lists of leaves and held against RFC 6962's own words, and servers that answer rubbish."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.witnessing import AddCheckpoint, Head
from tests.merkle import leaves, mth, proof

HOST = "host.example"
ORIGIN = f"{HOST}/default/1"
LOG = SigningKey.from_seed(HOST, bytes(range(32)))
NEXT = SigningKey.from_seed(HOST, bytes(range(1, 33)))
STRANGER = SigningKey.from_seed("stranger.example", bytes(range(3, 35)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(2, 34)), COSIGNATURE)
ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 60.0


class Tree:
    """The leaves of a log; ``fork`` names another log that has the first five in common."""

    def __init__(self, size: int = 40, *, fork: str = "", origin: str = ORIGIN) -> None:
        self.origin = origin
        self.leaves = leaves(size) if not fork else [*leaves(5), *leaves(size - 5, fork)]

    def head(self, size: int) -> Head:
        """The head when it had so many leaves."""
        return Head(size, mth(self.leaves[:size]))

    def checkpoint(self, size: int) -> Checkpoint:
        """The same, of this log."""
        return Checkpoint(self.origin, size, mth(self.leaves[:size]))

    def path(self, old: int, new: int) -> tuple[bytes, ...]:
        """The consistency proof; none is needed from nothing."""
        return tuple(proof(old, self.leaves[:new])) if 0 < old < new else ()

    def note(self, size: int, key: SigningKey = LOG) -> bytes:
        """The signed head."""
        return sign_checkpoint(self.checkpoint(size), key)

    def submission(self, old: int, new: int, key: SigningKey = LOG) -> bytes:
        """What an honest log sends to a witness."""
        return AddCheckpoint(old, self.path(old, new), self.note(new, key)).encode()


TREE, FORK = Tree(), Tree(fork="fork")


@asynccontextmanager
async def answering(answer: bytes, *, pause_s: float = 0.0) -> AsyncIterator[str]:
    """A server that gives every connection the same bytes, one after the other with pauses where there are any."""

    given: list[asyncio.Task[None]] = []

    async def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        given.append(asyncio.create_task(give(reader, writer)))

    async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            for piece in [answer] if not pause_s else [answer[i : i + 1] for i in range(len(answer))]:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause_s)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*given)


def http(status: str, body: bytes | str = b"", **headers: str) -> bytes:
    """An HTTP answer; header names are given with underscores."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def running(folder: Path, *arguments: str, module: str = "service", **environment: str) -> Iterator[Mapping[str, str]]:
    """A server process; gives its ``address``, which it tells on standard error, and its ``pid``.

    It is stopped by SIGTERM at the end if it still runs, and must then end by itself.
    """
    path = folder / f"stderr-{time.monotonic_ns()}"
    with path.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], env={**os.environ, **environment}, cwd=ROOT, stderr=stderr
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while not (told := re.search(r"http://[\d.]+:\d+", path.read_text())):
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"{arguments} did not begin: {path.read_text()}")
            time.sleep(0.02)
        yield {"address": told[0], "pid": str(process.pid)}
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        finally:
            process.kill()
