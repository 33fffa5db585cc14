"""Every statement of a sequencer fails once, or it dies there: the log stays one tree, and all of it gets signed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from service.proving import sequencer as sequencing
from service.proving.sequencer import Sequencer
from service.store.sequence import SequencerLeadership, Sequencing
from tests.faults.afterwards import expect_bundles_verify
from tests.faults.bringing import a_desk
from tests.faults.counting import Counting
from tests.faults.failing import ALL, points, tried
from tests.faults.wire import Fault, Hit, Kind, Wire, a_wire
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, a_request
from tests.fixtures.sequencing import MemorySigner, a_sequencer, leaves, signed_size

pytestmark = pytest.mark.timeout(1_800 if ALL else 120)

KINDS: tuple[Kind, ...] = ("cut", "lost", "refused")
LOOK_S, LOOKS = 0.02, 1_500
SPARE = 4
"""So many looks for new records fewer than the one before a sequencer may take."""
MOST = 2
TRIES = 5
UNDISTURBED = 3
"""So many cases that nobody disturbs say how many statements one takes at least."""
RECORDS = "SELECT count(*) FROM gainsay.entry"


@pytest.fixture(autouse=True)
def promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong is tried again soon."""
    for pause in ("AGAIN_S", "FOLLOW_S", "SWEEP_S"):
        monkeypatch.setattr(sequencing, pause, 0.05)


class House:
    """A database whose records are sequenced by processes that fail, under a signer that never forgets a head."""

    def __init__(self, server: Database, desk: Bench) -> None:
        self.server, self.desk = server, desk
        self.signer = MemorySigner()
        self.debates: list[str] = []
        self._admin = psycopg.connect(server.admin_url, autocommit=True)

    def close(self) -> None:
        """Nobody looks any more."""
        self._admin.close()

    @property
    def records(self) -> int:
        """How many records there are."""
        row = self._admin.execute(RECORDS).fetchone()
        assert row
        return int(row[0])

    async def run(self, fault: Fault | None) -> tuple[Hit | None, int]:
        """What a fault has struck while a case was sequenced, and how many statements that took."""
        self.debates.append((await self.desk.reviews.record(a_request(taskType="other"), CALLER)).debate)
        async with self._sequencer() as (wire, sequencer):
            wire.fail(fault)
            work = asyncio.create_task(sequencer.run())
            signed = await self._signed(wire)
            hit, count = wire.hit, wire.count
            if wire.died.is_set():
                work.cancel()
            sequencer.stop()
            with suppress(asyncio.CancelledError):
                await work
        if not signed:
            async with a_sequencer(self.server, self.signer) as next_one:
                await next_one.catch_up()
        assert signed_size(self.server) == len(leaves(self.server)) == self.records
        return hit, count

    async def _signed(self, wire: Wire) -> bool:
        """Whether everything is signed before the sequencer has died."""
        for _ in range(LOOKS):
            if wire.died.is_set():
                return False
            if signed_size(self.server) == self.records:
                return True
            await asyncio.sleep(LOOK_S)
        raise AssertionError("the log does not become provable")

    @asynccontextmanager
    async def _sequencer(self) -> AsyncIterator[tuple[Wire, Sequencer]]:
        async with a_wire(self.server.sequencer_url) as wire, Sequencing.open(wire.url, size=2) as store:
            yield wire, Sequencer(store, SequencerLeadership(wire.url), self.signer)


@pytest.mark.parametrize("dies", [False, True], ids=["it goes on", "it dies"])
async def test_a_sequencer_that_fails_at_any_statement_leaves_one_tree_that_is_signed_whole(
    database: Database, tmp_path: Path, *, dies: bool
) -> None:
    async with a_desk(database.service_url, Counting()) as desk:
        house = House(database, desk)
        try:
            await house.run(None)
            total = await undisturbed(house)
            for kind in KINDS[:2] if dies else KINDS:
                await everywhere(house, kind, total, dies=dies)
        finally:
            house.close()
        debates = dict.fromkeys(house.debates, "default")
        await expect_bundles_verify(database, desk.database, debates, tmp_path, house.signer)


async def undisturbed(house: House) -> int:
    """How many statements a case takes at least while nobody disturbs it."""
    return min([(await house.run(None))[1] for _ in range(UNDISTURBED)]) - SPARE


async def everywhere(house: House, kind: Kind, total: int, *, dies: bool) -> None:
    """A case for each chosen point of the statements by which it becomes provable; with all, until none is met."""
    met = list[str]()
    for at in points(f"sequencer {kind} {dies}", total, MOST):
        hit = await struck(house, Fault(at, kind, dies))
        if hit is None:
            total = min(total, await undisturbed(house))  # the machine has less to do: a sequencer looks less often
            break
        met.append(hit.how)
        tried("sequencer", f"statement {hit.how}")
    assert len(met) >= (total if ALL else MOST), f"{kind}: {len(met)} points of {total} were met"
    assert any(how.startswith(kind) for how in met) or not ALL, f"{kind}: nothing but {set(met)}"


async def struck(house: House, fault: Fault) -> Hit | None:
    """What a fault has struck. A sequencer may have looked less often by then, so it is tried several times."""
    for _ in range(TRIES):
        hit, _ = await house.run(fault)
        if hit:
            return hit
    return None
