"""Has an authority stamp the latest heads with the time (RFC 3161), in a task that never delays the sequencer.

The process that leads asks for each log that has grown since its last stamp, when that is some time old by the clock of
the database. A head that nothing follows gets its stamp like any other. An authority that is away, or whose answer is
no stamp of this head by the pinned certificate, is reported and asked again later, each time after a longer pause.
Nothing waits for a stamp, and a refused one is no incident: the authority has no view of the log to contradict it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from service import log_lines, telemetry
from service.errors import GainsayError, StoreUnavailable
from service.observing import labelled
from service.proving.signing.stamps import Stamps
from service.store.sequence import Sequencing, Unstamped

LOOK_S = 5.0
"""How often the database is asked which heads should get a stamp."""
AGAIN_S = 10.0
"""When an authority is asked again after it gave no stamp; each further time takes twice as long."""
AGAIN_MAX_S = 600.0
AT_ONCE = 100
"""The most heads of one look, those that have waited longest; the next look finds the others."""
AUTHORITY = "the authority for time stamps"
CERTIFICATE = "the certificate of the authority for time stamps"

LogTrouble = Callable[[str, GainsayError | None], None]
"""(who, error): the present error of the authority; ``None`` when it works again."""


class Stamping:
    """The time stamps of a deployment's logs, each log's at intervals of ``every_s`` at least.

    ``leads`` says whether this process leads: the others do not ask.
    """

    def __init__(
        self, store: Sequencing, stamps: Stamps, every_s: int, log_trouble: LogTrouble, leads: Callable[[], bool]
    ) -> None:
        self._store = store
        self._stamps = stamps
        self._every_s = float(every_s)
        self._log_trouble = log_trouble
        self._leads = leads
        self._failures = 0

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            if self._leads():
                await self._look()
            else:
                labelled.forget(telemetry.TIME_STAMP_WAITING)
            await asyncio.sleep(pause_s(self._failures))

    async def _look(self) -> None:
        """Ask for the heads that are due, and report what prevents it."""
        self._log_trouble(CERTIFICATE, self._stamps.unusable())
        try:
            due = await self._store.unstamped(self._every_s, AT_ONCE)
            telemetry.TIME_STAMP_WAITING.set(max((head.waited_s for head in due), default=0.0))
            for head in due:
                await self._ask(head)
        except StoreUnavailable:
            labelled.forget(telemetry.TIME_STAMP_WAITING)  # the sequencer reports it
        except GainsayError as error:
            self._failed(error)
        except Exception as fault:  # noqa: BLE001 - a dead task would leave heads without time stamps
            log_lines.STAMP_FAULT.raised()
            self._failed(GainsayError(f"a fault of the service left a head unstamped ({type(fault).__name__})"))

    async def _ask(self, head: Unstamped) -> None:
        """Get and store the stamp of one head. The trouble of before is over then."""
        stamp = await self._stamps.stamp(head.note)
        await self._store.store_time_stamp(
            head.log,
            head.size,
            seconds=stamp.seconds,
            authority=stamp.authority,
            token=stamp.token,
            every_s=self._every_s,
        )
        self._failures = 0
        self._log_trouble(AUTHORITY, None)

    def _failed(self, error: GainsayError) -> None:
        telemetry.TIME_STAMP_FAILURES.inc()
        self._failures += 1
        self._log_trouble(AUTHORITY, error)


def pause_s(failures: int) -> float:
    """The seconds to the next look, after so many failures in a row."""
    if failures == 0:
        return LOOK_S
    return float(min(AGAIN_S * 2 ** min(failures - 1, 30), AGAIN_MAX_S))
