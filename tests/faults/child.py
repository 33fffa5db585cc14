"""A worker process that empties the queue of one database, or dies by SIGKILL right after its n-th append."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from service import app as application
from service.debate.entries import Entry
from service.settings import read_settings
from service.store.log import DebateLog

OVER = ("completed", "truncated", "failed", "aborted", "declined")


def die_at(append: int) -> None:
    """Let this process die the hard way once its n-th append has been written."""
    written = DebateLog.append
    count = 0

    async def append_then_die(self: DebateLog, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        nonlocal count
        await written(self, entries, occurred)
        count += 1
        if count == append:
            os.kill(os.getpid(), signal.SIGKILL)

    DebateLog.append = append_then_die  # type: ignore[method-assign]


async def empty_the_queue(url: str) -> None:
    """Work until no debate is left."""
    settings = read_settings({**os.environ, "GAINSAY_DATABASE_URL": url})
    async with application.open_app(settings, url) as app, application.working(app):
        for _ in range(600):
            rows = await app.database.query("list_debates", {"tenant": "default", "below": None, "limit": 100})
            if all(row["state"] in OVER for row in rows):
                return
            await asyncio.sleep(0.1)
        raise TimeoutError("the queue did not empty")


if __name__ == "__main__":
    if int(sys.argv[2]):
        die_at(int(sys.argv[2]))
    asyncio.run(empty_the_queue(sys.argv[1]))
