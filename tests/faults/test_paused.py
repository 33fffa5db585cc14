"""A sequencer that is stopped, or cut off without a word, within a batch: its hold on the records runs out."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from service.errors import StoreUnavailable
from service.store import sequence
from tests.fixtures.postgres import Database
from tests.fixtures.sequencing import MemorySigner, a_sequencer, leaves, signed_size, stage
from tests.fixtures.waiting import within

pytestmark = pytest.mark.no_replay


@pytest.mark.parametrize("where", ["when records are taken", "when leaves are on their way"])
async def test_a_batch_that_is_left_open_keeps_no_other_sequencer_from_its_records(
    database: Database, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "when leaves are on their way" and not has_transaction_timeout(database):
        pytest.skip("PostgreSQL before 17 takes a session for busy in the middle of a pipeline")
    signer, begun, woken = MemorySigner(), asyncio.Event(), asyncio.Event()
    extend = sequence._extend

    async def stopped_within(connection: Any, *given: Any, **options: Any) -> int:
        monkeypatch.setattr(sequence, "_extend", extend)
        count = await extend(connection, *given, **options) if where == "when leaves are on their way" else None
        begun.set()
        await woken.wait()
        return await extend(connection, *given, **options) if count is None else count

    monkeypatch.setattr(sequence, "_extend", stopped_within)
    monkeypatch.setattr(sequence, "SILENT_S", 1)
    stage(database, 1, range(3))
    async with a_sequencer(database, signer) as paused:
        first = asyncio.create_task(paused.catch_up())
        await begun.wait()

        monkeypatch.undo()  # with the same patience the other one, a moment behind, could give up just as well
        async with a_sequencer(database, signer) as other:
            await within(60, other.catch_up())

        assert signed_size(database) == 3
        woken.set()
        with pytest.raises(StoreUnavailable):
            await first
        stage(database, 1, [3])
        await paused.catch_up()
    assert leaves(database) == [(1, n) for n in range(4)]


def has_transaction_timeout(database: Database) -> bool:
    with psycopg.connect(database.admin_url) as admin:
        return bool(admin.execute("SELECT FROM pg_settings WHERE name = 'transaction_timeout'").rowcount)
