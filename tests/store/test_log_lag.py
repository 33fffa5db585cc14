"""How far the proof is behind is measured by a process that does not sequence, in the service's own role."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from service import telemetry
from service.audit.note import COSIGNATURE, SigningKey
from service.observing import labelled
from service.observing.labelled import REGISTRY
from service.policy import Audit, Witness
from service.store import log_lag
from service.store.log_lag import LogLag
from service.store.pool import Database
from service.store.pool_gauges import note_answer
from service.store.queries import queries
from service.store.queue import Backlog
from tests.fixtures.postgres import Cluster
from tests.fixtures.postgres import Database as Place
from tests.fixtures.sequencing import LOG, a_sequencer, stage
from tests.fixtures.waiting import until, within


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
    await asyncio.sleep(1.1)
    async with Database.open(database.service_url, size=1) as opened:
        late = LogLag(opened, Audit(late_s=1))
        await late.measure()
        await late.measure()
        before = measured()
        told = [record.getMessage() for record in caplog.records]
        async with a_sequencer(database) as sequencer:
            await sequencer.catch_up()
        await late.measure()

    assert (before[0], before[2]) == (3, 0)
    assert 1 < before[1] < 60
    assert len(told) == 1
    assert told[0].startswith("3 records are durable and not provable, the oldest for ")
    assert measured() == (0, 0, 0)
    assert [record.getMessage() for record in caplog.records][-1] == "recovered: records become provable in time"


async def test_the_latest_head_of_a_log_ages_only_while_records_wait(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def age() -> float:
        return REGISTRY.get_sample_value("gainsay_log_head_age_seconds") or 0.0

    monkeypatch.setattr(log_lag, "WAITING_S", 0.2)
    async with Database.open(database.service_url, size=1) as opened:
        gauges = log_lag.LogGauges(opened, ())
        stage(database, 1, range(3))
        await asyncio.sleep(0.3)
        await gauges.measure()
        never = age()
        async with a_sequencer(database) as sequencer:
            await sequencer.catch_up()
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("ALTER TABLE gainsay.checkpoint DISABLE TRIGGER USER")
            admin.execute("UPDATE gainsay.checkpoint SET at = at - interval '1 hour'")
        await gauges.measure()
        quiet = age()
        stage(database, 2, range(1))
        await gauges.measure()
        just_staged = age()
        await asyncio.sleep(0.3)
        await gauges.measure()

    assert 0.2 < never < 60, "a log without a head counts since its first record"
    assert (quiet, just_staged) == (0, 0)
    assert 3_600 < age() < 3_660


async def test_a_witness_is_behind_since_the_oldest_head_that_it_has_not_countersigned(
    database: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lag, "WITNESSES_S", 0.0)
    seeds = {"a.example": b"1", "b.example": b"2"}
    keys = [SigningKey.from_seed(name, seed * 32, COSIGNATURE) for name, seed in seeds.items()]
    witnesses = [Witness("http://127.0.0.1:9", key.public.encode()) for key in keys]

    def ages() -> list[float]:
        return [telemetry.WITNESS_AGE.labels(witness=key.public.name)._value.get() for key in keys]

    async with Database.open(database.service_url, size=1) as opened, a_sequencer(database) as sequencer:
        gauges = log_lag.LogGauges(opened, witnesses)
        await gauges.measure()
        nothing = ages()
        for chain in (1, 2):
            stage(database, chain, range(3))
            await sequencer.catch_up()
        with psycopg.connect(database.sequencer_url, autocommit=True) as login:
            row = (LOG, 3, "a.example", "line")
            login.execute("INSERT INTO gainsay.cosignature (log, size, witness, line) VALUES (%s, %s, %s, %s)", row)
        await asyncio.sleep(0.3)
        await gauges.measure()
        behind = ages()
        with psycopg.connect(database.sequencer_url, autocommit=True) as login:
            row = (LOG, 6, "a.example", "line")
            login.execute("INSERT INTO gainsay.cosignature (log, size, witness, line) VALUES (%s, %s, %s, %s)", row)
        await gauges.measure()
        later = ages()
        gauges.forget()

    assert nothing == [0, 0]
    assert 0.3 < behind[0] < behind[1] < 60, "the first head is older than the second"
    assert later[0] == 0 < behind[1] < later[1]
    assert all(map(math.isnan, ages()))


async def test_a_log_that_its_tenant_has_left_after_an_incident_has_no_age_and_is_late_no_more(
    database: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gainsay")
    monkeypatch.setattr(log_lag, "WAITING_S", 0.0)
    monkeypatch.setattr(log_lag, "WITNESSES_S", 0.0)
    key = SigningKey.from_seed("a.example", b"1" * 32, COSIGNATURE).public
    ages = []
    async with Database.open(database.service_url, size=1) as opened:
        late = log_lag.LogLag(opened, Audit(late_s=0, witnesses=(Witness("http://127.0.0.1:9", key.encode()),)))
        async with a_sequencer(database) as sequencer:
            stage(database, 1, range(3))
            await sequencer.catch_up()
        stage(database, 2, range(2))
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            for change in (
                "SELECT",
                f"INSERT INTO gainsay.incident (log, what) VALUES ('{LOG}', 'it was restored')",
                "INSERT INTO gainsay.log_epoch SELECT log || '0', tenant, epoch + 1, key FROM gainsay.log_epoch",
            ):
                admin.execute(change)
                await late.measure()
                gauges = (telemetry.LOG_UNPROVEN_SECONDS, telemetry.HEAD_AGE)
                witness = telemetry.WITNESS_AGE.labels(witness=key.name)
                ages.append([gauge._value.get() > 0 for gauge in (*gauges, witness)])
        left = measured()
        stage(database, 3, range(5), f"{LOG}0")
        await asyncio.sleep(0.01)
        await late.measure()

    assert ages == [[True, True, True], [True, True, True], [False, False, False]]
    assert [*left] == [2, 0, 1], "records of such a log are counted for good"
    assert telemetry.LOG_UNPROVEN._value.get() == 7
    late_first, recovered, late_again = [record.getMessage() for record in caplog.records]
    assert late_first.startswith("2 records are durable and not provable")
    assert recovered == "recovered: records become provable in time"
    assert late_again.startswith("5 records are durable and not provable")


async def test_the_database_is_up_while_it_answers_all_that_is_measured() -> None:
    def up() -> float | None:
        return REGISTRY.get_sample_value("gainsay_database_up")

    note_answer("GAINSAY_DATABASE_URL", answers=True)
    assert up() == 1
    note_answer("GAINSAY_SEQUENCER_URL", answers=False)
    assert up() == 0
    note_answer("GAINSAY_DATABASE_URL", answers=True)
    assert up() == 0
    note_answer("GAINSAY_SEQUENCER_URL", answers=True)
    assert up() == 1


async def test_the_connections_of_a_pool_are_shown_while_it_is_open(database: Place) -> None:
    def shown() -> dict[str, float]:
        (family,) = telemetry.CONNECTIONS.metric.collect()
        return {s.labels["state"]: s.value for s in family.samples if s.labels["pool"] == "service"}

    assert shown() == {}
    async with Database.open(database.service_url, size=2) as opened:
        await opened.query("alive")
        idle = shown()
        first, second = await opened._borrow(), await opened._borrow()
        third = asyncio.create_task(opened.query("alive"))
        await within(20, until(lambda: shown()["waiting"] == 1))
        busy = shown()
        await opened._release(first)
        await opened._release(second)
        await third

    assert (idle["used"], idle["waiting"]) == (0, 0)
    assert idle["idle"] >= 1
    assert busy == {"used": 2, "idle": 0, "waiting": 1}
    assert shown() == {}


async def test_what_cannot_be_measured_is_not_told_by_an_old_value(
    database: Place, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("log_lag", "queue"):
        monkeypatch.setattr(f"service.store.{module}.LOOK_S", 0.1)
    gauges = (telemetry.LOG_UNPROVEN, telemetry.LOG_UNPROVEN_SECONDS, telemetry.LOG_INCIDENTS)
    open_batches = [telemetry.BATCHES.labels(state=state) for state in ("running", "paused")]
    beside = (telemetry.MONEY_HELD, telemetry.HEAD_AGE)
    waiting = (*beside, telemetry.QUEUED, telemetry.QUEUED_SECONDS, telemetry.UNCLAIMED, *open_batches)

    async def come(unknown: bool) -> None:
        for _ in range(600):
            if {math.isnan(gauge._value.get()) for gauge in (*gauges, *waiting)} == {unknown}:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the gauges do not come to that")

    labelled.forget(*gauges, *waiting)
    async with Database.open(database.service_url, size=2) as opened:
        tasks = [
            asyncio.create_task(LogLag(opened, Audit(late_s=30)).run()),
            asyncio.create_task(Backlog(opened).run()),
        ]
        try:
            await come(unknown=False)
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            cluster.admin.execute(query, [database.name])
            await come(unknown=True)
            assert telemetry.DATABASE_UP._value.get() == 0
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')
            await come(unknown=False)
            assert telemetry.DATABASE_UP._value.get() == 1
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_open_incident_is_counted_where_no_sequencer_runs(database: Place) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("INSERT INTO gainsay.incident (log, what) VALUES (%s, 'something')", [LOG])
    async with Database.open(database.service_url, size=1) as opened:
        await LogLag(opened, Audit(late_s=30)).measure()
        assert measured()[2] == 1
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("INSERT INTO gainsay.incident (log, what, closes) VALUES (%s, 'dealt with', 1)", [LOG])
        await LogLag(opened, Audit(late_s=30)).measure()
        assert measured()[2] == 0


async def test_batches_below_the_latest_head_are_not_read_to_find_those_above(database: Place) -> None:
    query = b"EXPLAIN (ANALYZE, FORMAT JSON) " + queries()["unproven"].replace(b"%(late)s", b"2")
    batches = (
        "INSERT INTO gainsay.batch SELECT 'a', n, n + 1, sha256(''), '' FROM generate_series(0, 4999) n",
        "INSERT INTO gainsay.log_epoch (log, tenant, epoch, key) VALUES ('a', 'a', 1, 'key')",
        "INSERT INTO gainsay.checkpoint (log, size, root, note) VALUES ('a', 4990, sha256(''), '')",
        "ANALYZE gainsay.batch",
    )
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica")
        for statement in batches:
            admin.execute(statement)
        admin.execute("SET search_path = gainsay")
        (plan,) = admin.execute(query)
    scanned = [node for node in nodes(plan[0][0]["Plan"]) if node.get("Relation Name") == "batch"]

    assert [node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scanned] == [10]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan with all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)
