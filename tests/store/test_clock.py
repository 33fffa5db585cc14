"""Records are dated by the database's clock, and none is before the one before it in its debate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import pytest

from service import intake
from service.audit.record import Envelope, open_leaf
from service.debate.entries import DebateStopped
from service.errors import StoreUnavailable
from service.intake import Deployment, Prepared
from service.intake.request import CaseRequest
from service.store import clock
from service.store.clock import FRESH_S, database_time
from service.store.pool import Database, Row
from service.store.stored_debate import read_records
from tests.fixtures.postgres import Database as Stored
from tests.fixtures.running import Bench, CannedProvider, bench, take_log


class Clocked(Database):
    """A database whose clock is ahead by ``ahead_s``, whose answer takes ``slow_s``, or that gives none."""

    ahead_s = 0.0
    slow_s = 0.0
    away = False
    asked = 0

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query, its clock as it is set here."""
        if name != "clock":
            return await super().query(name, params)
        self.asked += 1
        if self.away:
            raise StoreUnavailable("the database is away")
        rows = [{"now": row["now"] + self.ahead_s} for row in await super().query(name, params)]
        await asyncio.sleep(self.slow_s)
        return rows


@pytest.fixture(autouse=True)
def _always_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is dated by a new reading, so that no test has to wait."""
    monkeypatch.setattr(clock, "FRESH_S", 0.0)


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


async def envelopes(service: Bench, debate: str) -> list[Envelope]:
    return [open_leaf(record.leaf) for record in await read_records(service.database, debate, "default")]


def id_time(debate: str) -> float:
    return (UUID(debate).int >> 80) / 1_000


async def test_a_machines_own_clock_dates_neither_records_nor_ids(
    database: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    async with bench(database.service_url, CannedProvider()) as service:
        monkeypatch.setattr(time, "time", lambda: real() - 86_400 * 400)
        debate = await service.run()
        monkeypatch.undo()

        found = await envelopes(service, debate)

    with psycopg.connect(database.service_url, autocommit=True) as plain:
        ((now,),) = plain.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchall()
    assert len(found) > 10
    assert all(0 <= now - seconds(at) < 600 for one in found for at in (one.occurred, one.recorded))
    assert id_time(debate) == seconds(found[0].recorded)
    assert all(one.occurred <= one.recorded for one in found)


async def test_a_clock_that_runs_back_repeats_the_last_time_and_loses_no_record(database: Stored) -> None:
    async with Clocked.open(database.service_url) as store, bench(database.service_url, CannedProvider()) as service:
        mine = Bench(store, {"offline": CannedProvider()})
        store.ahead_s = 3_600
        debate = await mine.submit()
        assert await mine.claim() == debate
        runner = await mine.runner(debate)
        store.ahead_s = -3_600
        await runner.run()

        found = await envelopes(service, debate)

    assert found[-1].kind == "debate.concluded"
    assert [one.recorded for one in found] == [found[0].recorded] * len(found)
    assert all(one.occurred <= one.recorded for one in found)


async def test_the_next_writer_of_a_debate_goes_on_from_the_last_ones_time(database: Stored) -> None:
    """A worker takes over on a server whose clock is behind the one that the debate began on."""
    async with Clocked.open(database.service_url) as ahead, Clocked.open(database.service_url) as behind:
        ahead.ahead_s, behind.ahead_s = 30.0, -30.0
        first = Bench(ahead, {"offline": CannedProvider()})
        debate = await first.submit()
        await first.claim()
        log = await take_log(behind, debate, 1)
        await log.new_entries()
        await log.append([DebateStopped("abort", "the caller asked for it")])
        found = await envelopes(first, debate)

    assert all(one.recorded <= other.recorded for one, other in pairwise(found))
    assert found[-1].recorded == found[-2].recorded


async def test_a_record_says_how_long_before_it_was_written_it_happened(database: Stored) -> None:
    async with bench(database.service_url, CannedProvider()) as service:
        debate = await service.submit()
        await service.claim()
        log = await take_log(service.database, debate, 1)
        await log.new_entries()

        await log.append([DebateStopped("abort", "the caller asked for it")], [time.monotonic() - 7.5])

        last = (await envelopes(service, debate))[-1]
    assert 7.499 <= seconds(last.recorded) - seconds(last.occurred) < 8.5


async def test_a_database_that_is_away_is_dated_on_from_the_last_reading(database: Stored) -> None:
    async with Clocked.open(database.service_url) as store:
        store.away = True
        with pytest.raises(StoreUnavailable):
            await database_time(store)
        store.away = False
        before = await database_time(store)
        store.away = True

        after = await database_time(store)

    assert after == before
    assert 0 <= after.now() - before.seconds < 60


async def test_an_answer_that_took_long_does_not_set_the_time_back(database: Stored) -> None:
    async with Clocked.open(database.service_url) as store:
        before = await database_time(store)
        store.slow_s = 0.2

        after = await database_time(store)
        was = before.now()

        assert store.asked == 2
        assert was <= after.now()


async def test_an_answer_that_is_nearer_to_the_databases_time_replaces_a_slow_one(database: Stored) -> None:
    async with Clocked.open(database.service_url) as store:
        store.slow_s = 0.5
        slow = await database_time(store)
        store.slow_s = 0.0

        after = await database_time(store)

    assert after.seconds - after.read > slow.seconds - slow.read


@pytest.mark.parametrize("by_s", [-1.0, 1.0])
async def test_a_clock_that_was_set_is_followed(database: Stored, by_s: float) -> None:
    async with Clocked.open(database.service_url) as store:
        before = await database_time(store)
        store.ahead_s = by_s * 60

        after = await database_time(store)

    assert (after.now() - before.now()) * by_s > 0


async def test_one_reading_serves_a_second(database: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "FRESH_S", FRESH_S * 600)
    async with Clocked.open(database.service_url) as store:
        for _ in range(5):
            await database_time(store)

        assert store.asked == 1


async def test_prices_are_those_of_the_records_day(database: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verifier has no other day than that of the first record."""
    days: list[str] = []
    prepare = intake.prepare

    def noted(request: CaseRequest, deployment: Deployment, *others: Any) -> Prepared:
        days.append(deployment.day)
        return prepare(request, deployment, *others)

    monkeypatch.setattr(intake, "prepare", noted)
    async with Clocked.open(database.service_url) as store:
        store.ahead_s = 86_400.0 * 3
        mine = Bench(store, {"offline": CannedProvider()})
        found = await envelopes(mine, await mine.submit())

    assert days == [found[0].recorded[:10]]
    assert (datetime.fromisoformat(days[0]).date() - datetime.now(UTC).date()).days in (2, 3)
