"""A statement that appends to several debates fails at each point: each is written once, and a fenced one never."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.debate.entries import TurnAsked
from service.debate.turns import TurnId
from service.errors import AuditUnavailable, Fenced
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.stored_debate import read_records
from tests.faults.wire import Fault, Kind, a_wire
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import bench, take_log

pytestmark = pytest.mark.no_replay


def _asked(turn: str) -> TurnAsked:
    return TurnAsked(TurnId(turn), 1, "alder-large", "00" * 16, "00" * 32, 10, 1_000)


async def _append(log: DebateLog, turn: str) -> None:
    """Record; after a refusal once more, as whoever claims the debate next does."""
    try:
        await log.append([_asked(turn)])
    except AuditUnavailable:
        await log.append([_asked(turn)])


@pytest.mark.parametrize("kind", ["cut", "lost", "refused"])
async def test_a_group_that_fails_at_any_statement_is_written_once(database: Server, kind: Kind) -> None:
    struck = set[str]()
    async with bench(database.service_url) as service, a_wire(database.service_url) as wire:
        for at in range(1, 7):
            debates = [await service.submit() for _ in range(5)]
            async with Database.open(wire.url, size=3) as away:
                logs = [await take_log(away, debate, 0, lease_s=20.0) for debate in debates]
                for log in logs:
                    await log.new_entries()
                await asyncio.gather(*(_append(log, "0.framing.1") for log in logs))
                with psycopg.connect(database.admin_url, autocommit=True) as admin:
                    admin.execute("UPDATE gainsay.debate_head SET epoch = 7 WHERE debate = %s", [debates[2]])
                wire.fail(Fault(at, kind))
                told = await asyncio.gather(*(_append(log, "1.proposer.1") for log in logs), return_exceptions=True)
                struck |= {wire.hit.what} if wire.hit else set()
                wire.fail(None)
            assert [type(each) for each in told] == [type(None), type(None), Fenced, type(None), type(None)]
            counts = [len(await read_records(service.database, debate, "default")) for debate in debates]
            assert counts == [5, 5, 4, 5, 5]
    assert "append" in struck
