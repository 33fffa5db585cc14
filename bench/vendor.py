"""A vendor on loopback HTTP, a process of its own: it waits, and says the same few words to every debate.

    python bench/vendor.py canned LATENCY_MS      prints its address on standard error
    python bench/vendor.py models LATENCY_MS      says what the offline models say, in every format

Next to nothing of the machine goes into canned words: a reply is made once for each seat, but for the labels that a
moderator is shown. GET /stats tells how many connections it had at most.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from service.prompts.request import Request, encode
from tests.fixtures.behaviours import Behaviour, Call, Model, Reply, Say
from tests.fixtures.running import CannedProvider
from tests.fixtures.upstream import Upstream
from tests.fixtures.vendors import read

BACKLOG = 2_000


class Canned:
    """Says what a canned provider says: the same to every debate, but for the labels that a moderator is shown."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def __call__(self, call: Call) -> Reply:
        assert call.wire
        request = read(call.wire, call.body).request
        if request.seat == "moderator":
            return Say(_answer(request))(call)
        if request.seat not in self._said:
            self._said[request.seat] = _answer(request)
        return Say(self._said[request.seat])(call)


def _answer(request: Request) -> str:
    """A canned provider without latency waits once, for nothing, and then has its answer."""
    answering = CannedProvider().send(encode(request))
    try:
        while True:
            answering.send(None)
    except StopIteration as done:
        return str(done.value.text)


async def serve(says: Behaviour, latency_s: float) -> None:
    """Serve until standard input ends, so until the process that started this one is gone."""
    up = Upstream(says, latency_s)
    server = await asyncio.start_server(up.serve, "127.0.0.1", 0, limit=1 << 20, backlog=BACKLOG)
    sys.stderr.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stderr.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve({"canned": Canned, "models": Model}[sys.argv[1]](), float(sys.argv[2]) / 1_000))
