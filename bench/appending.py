"""One process of writers, as `bench.audit` starts two of them: several debates at once append what a real one appends.

    python -m bench.appending ours URL DEBATES AT_ONCE     through the log, charges and all
    python -m bench.appending plain URL DEBATES AT_ONCE    the same bytes by plain INSERTs, a connection to each writer

It prints a line when everything is made ready, waits for a line, and prints what it has done as a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import psycopg
import uvloop

from service.debate.entries import Entry
from service.running.runner import Runner
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.queue import ClaimedDebate, ClaimRequest, claim
from service.store.sealing import uuid7
from service.store.stored_debate import read_records
from tests.fixtures.running import Bench, CannedProvider, a_writer, take_log

WORDS = " The clause is plain, and the schedule that it names was never given to anybody who was asked." * 16
WARM = 24
"""Debates that are written before anything is counted: every connection has prepared its statements then."""
PLAIN = (
    "INSERT INTO gainsay.bench_plain (debate, n, leaf, salt, body) SELECT %s, %s + r.nth, r.leaf, r.salt, r.body "
    "FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[]) WITH ORDINALITY AS r (leaf, salt, body, nth)"
)

Done = tuple[str, int, int, float, float]
"""A debate, the number of the last entry that was appended, how many were, when that began, and when it was durable."""


class Recorder(DebateLog):
    """A log that remembers what was appended at once."""

    appended: list[list[Entry]]

    async def append(self, entries: Any, occurred: Any = ()) -> None:
        """Append, and remember."""
        await super().append(entries, occurred)
        self.appended = [*getattr(self, "appended", []), list(entries)]


async def observed(service: Bench) -> tuple[str, list[list[Entry]]]:
    """A debate that was really run, with replies of some 2 kB, and what its worker appended at once each time."""
    debate = await service.submit()
    await claim(service.database, ClaimRequest(worker="bench", lease_s=60.0, only=debate))
    log, _ = await Recorder.open_claimed(
        service.database, ClaimedDebate(debate, "default", 1), a_writer("bench"), 60.0, service.policy.budgets
    )
    runner: Runner = await service.runner(debate, log)
    await runner.run()
    return debate, log.appended


def lengthened(_seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as long as those of models are."""
    named = "synthesis" if "synthesis" in reply else "thesis"
    return {**reply, named: reply[named] + WORDS}


async def ours(service: Bench, appends: list[list[Entry]], debates: int) -> Callable[[], Iterator[Awaitable[Done]]]:
    """Debates that are recorded, and nothing appended to yet; each append of each one, in their order."""

    async def opened() -> DebateLog:
        log = await take_log(service.database, await service.submit(), 0, lease_s=60.0)
        await log.new_entries()
        return log

    ready = [await opened() for _ in range(debates)]

    async def append(log: DebateLog, last: int, entries: list[Entry]) -> Done:
        begun = time.monotonic()
        await log.append(entries, [time.time()] * len(entries))
        return log.debate, last, len(entries), begun, time.monotonic()

    def take() -> Iterator[Awaitable[Done]]:
        log, last = ready.pop(), 2
        for entries in appends:
            last += len(entries)
            yield append(log, last, entries)

    return take


async def plain(
    url: str, database: Database, debate: str, appends: list[list[Entry]], stack: AsyncExitStack, at_once: int
) -> Callable[[], Iterator[Awaitable[Done]]]:
    """The bytes of one debate under ids of their own, a row an entry and a statement an append."""
    stored = (await read_records(database, debate, "default"))[3:]
    free = [
        await stack.enter_async_context(
            await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=1)
        )
        for _ in range(at_once)
    ]

    async def insert(id_: UUID, first: int, count: int) -> Done:
        some = stored[first : first + count]
        columns = [[getattr(each, name) for each in some] for name in ("leaf", "salt", "payload")]
        begun, connection = time.monotonic(), free.pop()
        await connection.execute(PLAIN, (id_, first, *columns))
        free.append(connection)
        return str(id_), 2 + first + count, count, begun, time.monotonic()

    def take() -> Iterator[Awaitable[Done]]:
        id_, first = UUID(uuid7(time.time())), 0
        for entries in appends:
            yield insert(id_, first, len(entries))
            first += len(entries)

    return take


async def write(take: Callable[[], Iterator[Awaitable[Done]]], debates: int, at_once: int) -> list[Done]:
    """Write so many debates, so many at once."""
    left, done = iter(range(debates)), list[Done]()

    async def writer() -> None:
        for _ in left:
            for append in take():
                done.append(await append)

    await asyncio.gather(*(writer() for _ in range(at_once)))
    return done


async def main(which: str, url: str, debates: int, at_once: int) -> None:
    """Make ready, say so, wait, write, tell."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database.open(url, size=8))
        service = Bench(database, {"offline": CannedProvider(lengthened)})
        debate, appends = await observed(service)
        if which == "ours":
            take = await ours(service, appends, debates + WARM)
        else:
            take = await plain(url, database, debate, appends, stack, at_once)
        await write(take, WARM, at_once)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps(await write(take, debates, at_once)), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
