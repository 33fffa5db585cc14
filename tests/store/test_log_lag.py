"""How far the proof is behind is measured by a process that does not sequence, in the service's own role."""

from __future__ import annotations

import asyncio
import logging
import math

import psycopg
import pytest

from service import telemetry
from service.observing import labelled
from service.store.log_lag import LogLag
from service.store.pool import Database
from service.store.queue import Backlog
from tests.fixtures.postgres import Cluster
from tests.fixtures.postgres import Database as Place
from tests.fixtures.sequencing import LOG, a_sequencer, stage


def measured() -> tuple[float, float, float]:
    """Records and seconds that are not provable, and incidents that are open."""
    gauges = (telemetry.LOG_UNPROVEN, telemetry.LOG_UNPROVEN_SECONDS, telemetry.LOG_INCIDENTS)
    records, seconds, incidents = (gauge._value.get() for gauge in gauges)
    return records, seconds, incidents


async def test_what_no_sequencer_takes_is_measured_and_told_once_until_it_is_well(
    database: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gainsay")
    stage(database, 1, range(3))
    await asyncio.sleep(0.3)
    async with Database.open(database.service_url, size=1) as opened:
        late = LogLag(opened, 0.2)
        await late.measure()
        await late.measure()
        before = measured()
        told = [record.getMessage() for record in caplog.records]
        async with a_sequencer(database) as sequencer:
            await sequencer.catch_up()
        await late.measure()

    assert (before[0], before[2]) == (3, 0)
    assert 0.2 < before[1] < 60
    assert len(told) == 1
    assert told[0].startswith("3 records are durable and not provable, the oldest for ")
    assert measured() == (0, 0, 0)
    assert [record.getMessage() for record in caplog.records][-1] == "recovered: records become provable in time"


async def test_what_cannot_be_measured_is_not_told_by_an_old_value(
    database: Place, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("log_lag", "queue"):
        monkeypatch.setattr(f"service.store.{module}.LOOK_S", 0.1)
    gauges = (telemetry.LOG_UNPROVEN, telemetry.LOG_UNPROVEN_SECONDS, telemetry.LOG_INCIDENTS)
    open_batches = [telemetry.BATCHES.labels(state=state) for state in ("running", "paused")]
    waiting = (telemetry.QUEUED, telemetry.QUEUED_SECONDS, telemetry.UNCLAIMED, *open_batches)

    async def until(unknown: bool) -> None:
        for _ in range(600):
            if {math.isnan(gauge._value.get()) for gauge in (*gauges, *waiting)} == {unknown}:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the gauges do not come to that")

    labelled.forget(*gauges, *waiting)
    async with Database.open(database.service_url, size=2) as opened:
        tasks = [asyncio.create_task(LogLag(opened, 30).run()), asyncio.create_task(Backlog(opened).run())]
        try:
            await until(unknown=False)
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            cluster.admin.execute(query, [database.name])
            await until(unknown=True)
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')
            await until(unknown=False)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_open_incident_is_counted_where_no_sequencer_runs(database: Place) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("INSERT INTO gainsay.incident (log, what) VALUES (%s, 'something')", [LOG])
    async with Database.open(database.service_url, size=1) as opened:
        await LogLag(opened, 30).measure()
        assert measured()[2] == 1
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("INSERT INTO gainsay.incident (log, what, closes) VALUES (%s, 'dealt with', 1)", [LOG])
        await LogLag(opened, 30).measure()
        assert measured()[2] == 0
