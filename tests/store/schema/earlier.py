"""The version before this one, as far as the database can tell: its statements, as they were released.

``tests/vectors/queries-0005.sql`` is the service's queries.sql of the version whose last migration is 0005. Whoever
speaks only these is what still runs while a deployment is brought to this version.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from service.debate.kernel import FORMATS
from service.running.provider_port import Provider
from service.store import contents
from service.store.array_parameters import UUIDS, ByteaArray, TextArray
from service.store.group_commit import DEBATE_COLUMNS, RECORD_COLUMNS
from service.store.log import DebateLog
from service.store.pool import Database, Row, translated
from service.store.stored_debate import read_documents, read_head
from tests.fixtures.arrays import read_array
from tests.fixtures.running import Bench, CannedProvider, a_writer, repository

LAST = "0005_track_record"
"""The last migration that it knows."""
_TEXT = (repository() / "tests/vectors/queries-0005.sql").read_text("utf-8")
_PARTS = re.split(r"^-- (\w+) --$", _TEXT, flags=re.MULTILINE)
STATEMENTS = {name: sql.strip().encode() for name, sql in zip(_PARTS[1::2], _PARTS[2::2], strict=True)}


class Earlier(Database):
    """A database that is spoken to in the statements of the version before, and in no others."""

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a statement of the version before; `KeyError` for one that it did not have.

        It dated records by its machine's own clock.
        """
        if name == "clock":
            return [{"now": time.time()}]
        if name == "append":
            each = [await self._append(nth, one) for nth, one in enumerate(_of_each(params or {}), 1)]
            return [row for rows in each for row in rows]
        with translated(name):
            async with self._pool.connection() as connection:
                if name == "records":
                    return await _debate(connection, params or {})
                rows: list[Row] = await (await connection.execute(STATEMENTS[name], params)).fetchall()
        return rows

    async def _append(self, nth: int, params: Mapping[str, Any]) -> list[Row]:
        """Append to one debate, as that version did for each by itself."""
        with translated("append"):
            async with self._pool.connection() as connection:
                cursor = await connection.execute(STATEMENTS["append"], params)
                return [{"nth": nth, **row} for row in await cursor.fetchall()]


async def _debate(connection: psycopg.AsyncConnection[Row], params: Mapping[str, Any]) -> list[Row]:
    """A debate as this version reads it, in one snapshot, from the statements in which that version asked for parts."""
    key = {"debate": params["debate"], "tenant": None}
    async with connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        asked = ["head", "records", *([] if params["from_n"] else ["bundle_context"])]
        asked += ["documents"] if params["documents"] else []
        found = {
            name: await (await connection.execute(STATEMENTS[name], {**key, **params})).fetchall() for name in asked
        }
    parts = {"records": "record", "bundle_context": "context", "documents": "document"}
    empty: Row = {"n": None, "leaf": None, "id": None, "salt": None, "body": None, "logged": None, "age_s": 0.0}
    head = {"part": "head", **empty, **(found.pop("head") or [{"tenant": None}])[0]}
    return [head, *({**empty, **row, "part": parts[name]} for name, rows in found.items() for row in rows)]


def _of_each(params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parameters of each debate's append as that version had them: no arrays but those of its records."""
    found = {name: read_array(params[name], column) for name, column in RECORD_COLUMNS.items()}
    each = {name: iter(read_array(params[name], column)) for name, (column, _) in DEBATE_COLUMNS.items()}
    first = 0
    for _ in read_array(params["debate"], UUIDS):
        values = {name: next(each[array]) for array, (_, names) in DEBATE_COLUMNS.items() for name in names}
        after = first + values["count"]
        records = {name: ByteaArray(found[name][first:after]) for name in ("leaves", "salts", "bodies")}
        empty = {name: values[name] or "[]" for name in ("charges", "tracked")}
        rests = json.loads(values["rests"] or "[]")
        grounds = {f"rests_{which}": TextArray(each[which] for each in rests) for which in ("what", "value")}
        yield {**values, **empty, **grounds, **records}
        first = after


class Overheard(Database):
    """A database that keeps what debates were opened with, so that the version before can open them elsewhere."""

    opened: list[dict[str, Any]]

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == "open_debate":
            vars(self).setdefault("opened", []).append(dict(params or {}))
        return await super().query(name, params)


@asynccontextmanager
async def earlier(url: str, provider: Provider | None = None) -> AsyncIterator[Bench]:
    """A service of the version before on a database."""
    async with Earlier.open(url, size=4) as database:
        made = Bench(database, {"offline": provider or CannedProvider()})
        await contents.store_deployment(database, made.deployment)
        yield made


async def cases(database: Database, count: int) -> list[dict[str, Any]]:
    """What the version before opens debates with, made in a database of its own."""
    overheard = Overheard(database._pool)
    made = Bench(overheard, {"offline": CannedProvider()})
    await contents.store_deployment(overheard, made.deployment)
    for _ in range(count):
        await made.submit()
    return overheard.opened


class EarlierWorker:
    """Takes debates and runs them as the version before did: oldest first, a lease for each, one at a time."""

    def __init__(self, service: Bench, name: str) -> None:
        self.ran: list[str] = []
        self.taken = asyncio.Event()
        self._service = service
        self._name = name

    async def take(self, lease_s: float = 30.0) -> DebateLog | None:
        """The log of the oldest debate that nobody works on."""
        params = {"worker": self._name, "lease": lease_s, "formats": list(FORMATS), "only": None}
        rows = await self._service.database.query("claim", params)
        if not rows:
            return None
        self.taken.set()
        database, debate, budgets = self._service.database, str(rows[0]["debate"]), self._service.policy.budgets
        head = {
            **await read_head(database, debate, "default"),
            "epoch": rows[0]["epoch"],
        }  # it asked for each part by itself
        return DebateLog(database, debate, head, a_writer(self._name), lease_s, budgets)

    async def taking(self) -> DebateLog:
        """The same, once there is one."""
        while True:
            if (log := await self.take()) is not None:
                return log
            await asyncio.sleep(0.05)

    async def run(self, log: DebateLog) -> None:
        """Run a debate that was taken to its end."""
        assert await read_documents(self._service.database, log.debate, "default")
        assert await (await self._service.runner(log.debate, log)).run() is not None
        self.ran.append(log.debate)

    async def work(self, until: asyncio.Event) -> None:
        """Take and run debates until the event is set and the queue is empty."""
        while True:
            last = until.is_set()
            if (log := await self.take()) is not None:
                await self.run(log)
            elif last:
                return
            else:
                await asyncio.sleep(0.05)
