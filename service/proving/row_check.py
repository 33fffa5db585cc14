"""The row check: compares every row that is computed from records with the records, all of them within some hours.

A round goes over the debates by their ids in small steps, one process at a time, with pauses so that it takes half of
these hours; the next one begins when half of them have passed since the last one began. So between two comparisons of a
row lie these hours at most. A difference is an incident with the subject `row`, or `debate`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from service import log_lines, telemetry
from service.errors import GainsayError
from service.store.pool import Database
from service.store.row_comparison import compare_debate, compare_shared

STEP = 64
"""Debates of one step: some milliseconds of work each."""
LEASE_S = 300.0
"""After so long another process does the step of one that did not end it."""
LOOK_S = 30.0
"""The longest wait before this process asks again whether a step is due."""
PAUSE_S = 0.005


class RowCheck:
    """Compares rows until it is stopped; with ``hours`` 0 it never does. ``build`` is this build's hash."""

    def __init__(self, database: Database, hours: int, build: str) -> None:
        self._database = database
        self._half_s = hours * 1_800.0
        self._build = build
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Do the steps that are due until `stop`. Errors are logged and never end the loop."""
        wait_s = LOOK_S
        while self._half_s and not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stopping.wait()
            if not self._stopping.is_set():
                wait_s = await self._look()

    def stop(self) -> None:
        """Start no further debate."""
        self._stopping.set()

    async def _look(self) -> float:
        """Do the next step if it is due; return the seconds to wait after it."""
        try:
            pause_s = await self.step()
            return LOOK_S if pause_s is None else min(LOOK_S, pause_s)
        except GainsayError as error:
            log_lines.ROWS_UNCHECKED(code=error.code)
        except Exception:  # noqa: BLE001 - a dead loop would leave rows unchecked
            log_lines.ROWS_FAULT.raised()
        return LOOK_S

    async def step(self) -> float | None:
        """Do the next step if it is due; return the seconds to the one after it, or ``None`` where none is soon due.

        Raises `StoreUnavailable`.
        """
        claimed = await self._database.query("claim_rows", {"lease": LEASE_S})
        if not claimed:
            return None
        after, pause_s = claimed[0]["after"], claimed[0]["pause_s"]
        if after is None:
            (begun,) = await self._database.query("begin_round", {"within": self._half_s, "limit": STEP})
            pause_s = begun["pause_s"]
            await compare_shared(self._database)
        rows = await self._database.query("rows_from", {"after": after, "limit": STEP})
        for row in rows:
            if self._stopping.is_set():
                break
            await compare_debate(self._database, row, self._build)
            after = row["debate"]
            await asyncio.sleep(PAUSE_S)
        over = len(rows) < STEP and not self._stopping.is_set()
        await self._database.query("end_step", {"after": None if over else after, "within": self._half_s})
        if over:
            telemetry.ROWS_COMPARED.set_to_current_time()
            return None
        return float(pause_s)

    async def round(self) -> int:
        """Compare everything at once, whatever is due; return how many differences there are.

        Raises `StoreUnavailable`.
        """
        differences, after = await compare_shared(self._database), None
        while rows := await self._database.query("rows_from", {"after": after, "limit": STEP}):
            for row in rows:
                differences += await compare_debate(self._database, row, self._build)
            after = rows[-1]["debate"]
        return differences
