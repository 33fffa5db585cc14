"""Group commit: appends to several debates as one statement, and so one transaction.

Appends that come while a statement is under way wait for it, and go together as the next one. Each debate keeps its
whole fence: one that is fenced writes nothing, and the others are written. Every caller waits until its append is
committed. A fault stays with the debate that has it: where PostgreSQL refuses a statement, or leaves a debate out, each
is asked for alone. Where no answer comes, each caller learns that, and asks for its own debate alone from then on.

An append that gives money back to the limits of a tenant or a batch waits for their rows, as other debates do. Such
appends wait in a lane of their own, so that no reply waits for them.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

from msgspec import Struct

from service import telemetry
from service.errors import StoreUnavailable
from service.store.array_parameters import BIGINTS, BYTEAS, FALSE, FLOATS, INTEGERS, TEXTS, TRUE, UUIDS, Elements
from service.store.pool import Database, Row, StatementRefused

MOST_DEBATES = 64
"""How many debates one statement writes to at most."""
MOST_RECORDS = 512
"""How many records one statement writes at most, but for those of a single debate."""
MOST_BYTES = 4 << 20
"""How many bytes of parameters one statement has at most, but for those of a single debate."""
DEBATE_COLUMNS: Mapping[str, tuple[Elements, Sequence[str]]] = {
    "debate": (UUIDS, ("debate",)),
    "lease": (FLOATS, ("lease",)),
    "numbers": (BIGINTS, ("epoch", "next_n", "count", "spent", "excess", "hold", "release")),
    "texts": (TEXTS, ("tenant", "state", "zone", "charges", "rests", "tracked", "found_by")),
    "bytes": (BYTEAS, ("prev", "last_hash", "decision")),
}
"""The parameters of `append` with elements for each debate: values of one type in one array, debate by debate, in this
order. Each array more is a set of rows of its own that PostgreSQL makes, which takes longer than to look into one."""
RECORD_COLUMNS: Mapping[str, Elements] = {"ns": INTEGERS, "leaves": BYTEAS, "salts": BYTEAS, "bodies": BYTEAS}
"""Those with an element for each record."""


class DebateAppend(Struct, frozen=True):
    """What is appended to one debate, encoded: a piece of each of `DEBATE_COLUMNS` and then of `RECORD_COLUMNS`.

    ``moves_limits`` says that it changes rows of limits from which other debates draw too.
    """

    debate: str
    records: int
    size: int
    moves_limits: bool
    pieces: Sequence[bytes]

    @classmethod
    def of(
        cls, debate: str, values: Mapping[str, Any], records: Mapping[str, Iterable[Any]], *, moves_limits: bool
    ) -> Self:
        """Encode an append; raises `StatementRefused` for a number that PostgreSQL has no room for."""
        try:
            pieces = [
                b"".join([column.one(values[name]) for name in names]) for column, names in DEBATE_COLUMNS.values()
            ]
            pieces += [column.piece(records[name]) for name, column in RECORD_COLUMNS.items()]
        except struct.error as error:
            raise StatementRefused(
                f"expected numbers of at most 64 bits in an append to debate {debate}, found a larger one; nothing is "
                "written"
            ) from error
        size = sum(map(len, pieces))
        return cls(debate, values["count"], size, moves_limits, pieces)


def parameters(appends: list[DebateAppend], *, alone: bool) -> dict[str, Any]:
    """The parameters of `append` for these debates, all different; ``alone``, one waits for its head row."""
    records = [each.records for each in appends]
    pieces = zip(*[each.pieces for each in appends], strict=True)
    found: dict[str, Any] = {
        name: column.whole(next(pieces), len(names) * len(appends)) for name, (column, names) in DEBATE_COLUMNS.items()
    }
    found |= {name: column.whole(next(pieces), sum(records)) for name, column in RECORD_COLUMNS.items()}
    nths = (INTEGERS.encode(nth) * count for nth, count in enumerate(records, 1))
    return {**found, "of": INTEGERS.whole(nths, sum(records)), "alone": TRUE if alone else FALSE}


class GroupCommit:
    """The appends of one database that wait, and the statements that are under way."""

    _known: ClassVar[WeakKeyDictionary[Database, GroupCommit]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._lanes = {moves_limits: _Lane() for moves_limits in (False, True)}

    @classmethod
    def of(cls, database: Database) -> GroupCommit:
        """That of a database, one for all tenants."""
        found = cls._known.get(database.pooled)
        return cls._known.setdefault(database.pooled, cls()) if found is None else found

    async def append(self, database: Database, asked: DebateAppend) -> Row | None:
        """Append with whatever else waits; the answer's row, or none when the head row is not as expected.

        Raises `StoreUnavailable` when the answer did not come: the append may have been committed then.
        """
        waiting = _Waiting(database, asked, asyncio.get_running_loop().create_future())
        lane = self._lanes[asked.moves_limits]
        lane.waiting.append(waiting)
        if not lane.is_moving:
            lane.is_moving = True
            database.pooled.start(_move(lane), name="group commit")
        return await waiting.answer


async def append_alone(database: Database, asked: DebateAppend) -> Row | None:
    """Append to one debate as one statement, which waits for its head row; answers as `GroupCommit.append` does."""
    rows = await database.query("append", parameters([asked], alone=True))
    return rows[0] if rows else None


class _Waiting(NamedTuple):
    database: Database
    asked: DebateAppend
    answer: asyncio.Future[Row | None]

    def answers(self, row: Row | None) -> None:
        if not self.answer.done():  # its caller may have gone
            self.answer.set_result(row)

    def fails(self, error: BaseException) -> None:
        if self.answer.done():
            return
        if isinstance(error, StoreUnavailable):  # several callers raise it
            again = error.anew()
            again.__cause__ = error.__cause__
            self.answer.set_exception(again)
        elif isinstance(error, Exception):
            self.answer.set_exception(error)
        else:
            self.answer.cancel()


class _Lane:
    """Appends that wait for the statement under way."""

    def __init__(self) -> None:
        self.waiting = deque[_Waiting]()
        self.is_moving = False

    def take(self) -> list[_Waiting]:
        """The next ones that go together, in the order in which they came; none of the same debate."""
        taken, left = list[_Waiting](), list[_Waiting]()
        debates, records, size = set[str](), 0, 0
        while self.waiting and len(taken) < MOST_DEBATES:
            each = self.waiting.popleft()
            if each.answer.done():  # its caller has gone before it was sent
                continue
            if each.asked.debate in debates:
                left.append(each)
                continue
            records, size = records + each.asked.records, size + each.asked.size
            if taken and (records > MOST_RECORDS or size > MOST_BYTES):
                left.append(each)
                break
            taken.append(each)
            debates.add(each.asked.debate)
        self.waiting.extendleft(reversed(left))
        return taken


async def _move(lane: _Lane) -> None:
    """Send what waits, one statement after the other, until nothing does."""
    try:
        await asyncio.sleep(0)  # whatever becomes ready in this turn of the loop goes along
        while taken := lane.take():
            await _send(taken[0].database, taken)
    except BaseException as error:
        for each in lane.waiting:
            each.fails(error)
        raise
    finally:
        lane.is_moving = False


async def _send(database: Database, taken: list[_Waiting]) -> None:
    """Send these as one statement and answer their callers; whatever it leaves open is asked for alone."""
    telemetry.APPEND_DEBATES.observe(len(taken))
    try:
        rows = await database.query("append", parameters([each.asked for each in taken], alone=False))
    except StatementRefused as error:
        if len(taken) == 1:
            taken[0].fails(error)
            return
        rows = []
    except BaseException as error:
        for each in taken:
            each.fails(error)
        if isinstance(error, Exception):
            return
        raise
    found = {row["nth"]: row for row in rows}
    for nth, each in enumerate(taken, 1):
        if (row := found.get(nth)) is not None:
            each.answers(row)
        else:
            database.pooled.start(_send_alone(each), name="append")


async def _send_alone(each: _Waiting) -> None:
    """Answer a caller whose append was left open; nothing of it is written so far."""
    try:
        each.answers(await append_alone(each.database, each.asked))
    except BaseException as error:
        each.fails(error)
        if not isinstance(error, Exception):
            raise
