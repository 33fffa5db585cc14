"""What a deployment is hit with, drawn from a seed: kills, pauses, orders to stop, broken connections.

The seed decides what is hit, in which order and when; what the processes were doing just then is the machine's, so the
same seed hits alike and not the same.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from random import Random

from tests.faults.deployment import LEASE_S, Deployment

ONCE = (
    *("kill work-1", "pause work-2", "kill api-1", "leader", "postgres"),
    *("retire work-3", "kill write-1", "pause api-2"),
)
"""What the short form hits, in an order that the seed gives."""
WORKERS = ("work-1", "work-2", "work-3", "work-4")
APIS = ("api-1", "api-2")
OFTEN = (
    *(f"kill {name}" for name in (*WORKERS, *APIS, "write-1", "write-2", "sequence-1", "sequence-2", "witness")),
    *(f"pause {name}" for name in (*WORKERS, *APIS, "write-1", "witness", "vendor")),
    *(f"retire {name}" for name in (*WORKERS, *APIS)),
    *(f"cut {name}" for name in (*WORKERS, *APIS)),
    *("leader", "leader cut", "leader paused", "postgres", "postgres", "postgres stopped"),
)
"""What the long form draws from."""
APART_S = 12.0
"""PostgreSQL is left alone for so long after it was hit: its guardian gives up a server that dies again at once."""


class Hammer:
    """Hits a deployment while everybody works, for ``seconds`` or, without, each of `ONCE`."""

    def __init__(self, house: Deployment, random: Random, seconds: float) -> None:
        self.house = house
        self._random, self._seconds = random, seconds
        self._postgres_at = 0.0
        self._busy: set[str] = set()

    async def run(self) -> None:
        """Hit again and again; between two hits there is time for something to happen.

        What takes a while goes on beside the hits that follow, on other processes.
        """
        async with asyncio.TaskGroup() as group:
            for hit in self._plan():
                await asyncio.sleep(self._random.uniform(0.2, 3.0 if self._seconds else 1.2))
                self.house.keep(self._busy)
                what, _, name = hit.partition(" ")
                if what in ("pause", "retire"):
                    if name not in self._busy:
                        self._busy.add(name)
                        group.create_task(self._beside(what, name))
                elif name not in self._busy:
                    await self._hit(what, name)

    def _plan(self) -> Iterator[str]:
        if not self._seconds:
            yield from self._random.sample(ONCE, len(ONCE))
        until = time.monotonic() + self._seconds
        while time.monotonic() < until:
            yield self._random.choice(OFTEN)

    async def _beside(self, what: str, name: str) -> None:
        """Stop a process for longer than its leases last, or have it end and start again."""
        try:
            if what == "pause":
                await self.house.pause(name, self._random.uniform(1.5, 3.0) * LEASE_S)
            else:
                await self.house.retire(name)
        finally:
            self._busy.discard(name)

    async def _hit(self, what: str, name: str) -> None:
        house = self.house
        match what:
            case "leader" if name:
                await house.pause_leader(cut=name == "cut")
            case "leader":
                await house.kill_leader()
            case "postgres":
                await asyncio.sleep(max(0.0, self._postgres_at + APART_S - time.monotonic()))
                await house.hit_postgres(signal.SIGQUIT if name else signal.SIGKILL)
                self._postgres_at = time.monotonic()
            case "cut":
                house.cut(name)
            case _:
                await house.kill(name)
