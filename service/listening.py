"""What listeners wait for: the next entries of a debate, its end, and the signed head that proves a record."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from service import telemetry
from service.board import Board, ends
from service.errors import NotProvable
from service.report import Line
from service.report.shape import LogPosition
from service.store.log import read_head, read_records
from service.store.pool import Database
from service.store.proofs import proven

POLL_S = 0.5
"""How long a listener trusts that nothing happened in another process."""
PATIENCE_S = 4.0
"""How long a caller that waits for the end does at most, once it has waited for a while."""
LOOK_S = 0.02
"""How soon a proof is looked for again at first, for signatures of another process."""


class Listening:
    """Waits for what is recorded, in this process or in another one.

    What was decided is given when a signed head of the log covers it, and not before, unless ``held`` is False.
    ``show`` hears of the head (log, size, root) that an answer rests on.
    """

    def __init__(
        self, database: Database, board: Board, *, held: bool, show: Callable[[str, int, bytes], None]
    ) -> None:
        self._database = database
        self._board = board
        self._held = held
        self._show = show

    async def follow(
        self, debate: str, tenant: str, from_n: int = 0, *, patience_s: float = math.inf
    ) -> AsyncGenerator[Line, None]:
        """Every entry from a number on, once and in order, until the debate is over; raises `NotFound`.

        The last one comes when it is provable; raises `NotProvable` when that takes longer than ``patience_s``.
        """
        await read_head(self._database, debate, tenant)
        while True:
            news = self._board.news(debate)
            lines = await self.lines(debate, from_n)
            for line in lines:
                if ends(line.entry):
                    await self.proved(debate, line.n, patience_s)
                    yield line
                    return
                yield line
            from_n += len(lines)
            if not lines:
                await _set(news, POLL_S)

    async def wait(self, debate: str, tenant: str, seconds: float) -> bool:
        """Whether the debate was over, and its end provable, within these seconds."""
        until, patience = time.monotonic() + seconds, POLL_S
        while True:
            end = self._board.end(debate)
            head = await read_head(self._database, debate, tenant)
            if head["state"] not in ("queued", "running"):
                return await self._is_proved(debate, head["next_n"] - 1, until - time.monotonic())
            left = until - time.monotonic()
            if left <= 0:
                return False
            await _set(end, min(left, patience))
            patience = min(2 * patience, PATIENCE_S)

    async def _is_proved(self, debate: str, n: int, seconds: float) -> bool:
        try:
            await self.proved(debate, n, seconds)
        except NotProvable:
            return False
        return True

    async def proved(self, debate: str, n: int, seconds: float) -> LogPosition | None:
        """Where a record stands in the log, once a signed head covers it; raises `NotProvable` after these seconds."""
        until, pause = time.monotonic() + seconds, LOOK_S
        while True:
            signed = self._board.signed
            if found := await proven(self._database, debate, n):
                self._show(found.log, found.size, found.root)
                return LogPosition(log=found.log, index=found.index, size=found.size, root=found.root.hex())
            if not self._held:
                return None
            left = until - time.monotonic()
            if left <= 0:
                telemetry.ANSWERS_HELD.inc()
                raise NotProvable(
                    f"debate {debate} is decided and recorded, but no signed head of the log covers it yet, so the "
                    f"answer is held; ask for /v1/debates/{debate} again, and if this stays, look after the sequencer",
                    retry_after=1,
                )
            await _set(signed, min(left, pause))
            pause = min(2 * pause, POLL_S)

    async def lines(self, debate: str, from_n: int = 0) -> list[Line]:
        """The recorded entries of a debate from a number on."""
        stored = await read_records(self._database, debate, from_n)
        return [Line(record.n, record.at, record.entry) for record in stored]


async def _set(event: asyncio.Event, within_s: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), within_s)
