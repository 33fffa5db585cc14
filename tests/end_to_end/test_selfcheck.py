"""A log is recomputed in the background: what was found is a record of the log, and a metric."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from msgspec.structs import replace

from service import telemetry
from service.audit.log_events import AuditChecked
from service.policy import Audit
from service.proving.self_check import SelfCheck
from service.store.current_log import CurrentLogs
from service.store.damage import open_damage
from service.verify.earlier_logs import EVENTS
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer
from tests.fixtures.serving import served
from tests.fixtures.waiting import within

LOG = "localhost/default/1"
CHECKED = "SELECT body FROM gainsay.payload WHERE convert_from(body, 'UTF8') LIKE '%audit.checked%'"
RENAMED = (
    "UPDATE gainsay.checkpoint SET note = convert_to("
    "replace(convert_from(note, 'UTF8'), 'localhost/default', 'localhost/somebody'), 'UTF8')"
)
GUARDED = "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'refuse_change' AND tgparentid = 0"


@contextmanager
def evidence_unlocked(database: Database) -> Iterator[psycopg.Connection]:
    """A superuser whom no trigger stops."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        names = [name for (name,) in admin.execute(GUARDED)]
        for name in names:
            admin.execute(f"ALTER TABLE {name} DISABLE TRIGGER refuse_change")
        try:
            yield admin
        finally:
            for name in names:
                admin.execute(f"ALTER TABLE {name} ENABLE ALWAYS TRIGGER refuse_change")


def checks(database: Database) -> list[AuditChecked]:
    with psycopg.connect(database.admin_url) as admin:
        bodies = admin.execute(
            "SELECT body FROM gainsay.payload WHERE convert_from(body, 'UTF8') LIKE '%audit.checked%'"
        )
        found = [EVENTS.decode(body, 1) for (body,) in bodies]
    return [each for each in found if isinstance(each, AuditChecked)]


async def test_a_sound_log_is_recomputed_and_the_result_is_recorded(database: Database) -> None:
    async with served(database.service_url) as site:
        told = await site.finished()
        (found,) = await site.app.selfcheck.check_due()

        assert (found.log, found.findings) == (LOG, ())
        assert found.size > told["hashes"]["log"]["index"]
        assert checks(database) == [found]
        again = await site.app.selfcheck.check_due()  # the result of the first is a record of the log by now
        assert again[0].size >= found.size


@pytest.mark.no_replay
@pytest.mark.parametrize(
    ("tampering", "finding", "subjects"),
    [
        (
            "UPDATE gainsay.payload SET body = body || ' '::bytea WHERE n = 4",
            "is not the one that the record commits to",
            {"debate"},
        ),
        ("DELETE FROM gainsay.payload WHERE n = 4", "the payload of record 4 of .* is not stored", {"debate"}),
        ("DELETE FROM gainsay.entry WHERE n = 4", "record 4 of .* is not stored", {"debate"}),
        (
            "UPDATE gainsay.entry SET leaf = convert_to(replace(convert_from(leaf, 'UTF8'), 'work', 'wOrk'), 'UTF8')",
            "is not the one that was logged",
            {"debate"},
        ),
        ("DELETE FROM gainsay.leaf WHERE idx = 4", "expected leaf 4, found leaf 5", {"log", "debate"}),
        ("DELETE FROM gainsay.leaf WHERE idx = 24", "record 24 of .* is in no tree and not staged", {"log", "debate"}),
        (
            "UPDATE gainsay.batch SET root = sha256('x') WHERE first = 0",
            "has another root than the leaves come to",
            {"log"},
        ),
        (RENAMED, "is not signed by the log's key", {"log"}),
        ("UPDATE gainsay.log_epoch SET key = 'nonsense'", "is not signed by the log's key", {"log"}),
    ],
)
async def test_what_was_tampered_with_is_found_recorded_and_counted(
    database: Database, tampering: str, finding: str, subjects: set[str]
) -> None:
    async with served(database.service_url) as site:
        await site.finished()
        with evidence_unlocked(database) as admin:
            admin.execute(tampering)
        before = telemetry.LOG_FINDINGS._value.get()

        (found,) = await site.app.selfcheck.check_due()

        assert any(re.search(finding, each) for each in found.findings), found
        assert telemetry.LOG_FINDINGS._value.get() == before + len(found.findings)
        assert found in checks(database)
        assert set(await open_damage(site.app.database)) == subjects
        assert bool(await site.app.troubles()) == ("log" in subjects)
        policy = replace(site.app.settings.policy, audit=Audit(damage_unready=True))
        strict = replace(site.app, settings=replace(site.app.settings, policy=policy))
        assert len(await strict.troubles()) == len(subjects)


async def test_one_process_at_a_time_recomputes_a_log(database: Database) -> None:
    async with served(database.service_url) as site:
        await site.finished()
        found = await asyncio.gather(*(site.app.selfcheck.check_due(every_s=3600) for _ in range(4)))

        assert sorted(map(len, found)) == [0, 0, 0, 1]


async def test_it_runs_by_itself_until_it_is_stopped(database: Database) -> None:
    async with served(database.service_url) as site:
        await site.finished()
        logs = CurrentLogs(site.app.database, "localhost")
        check = SelfCheck(site.app.database, logs, a_writer("check"), every_s=0.05)
        task = asyncio.create_task(check.run())
        for _ in range(200):
            if checks(database):
                break
            await asyncio.sleep(0.05)
        check.stop()
        await within(10, task)

        assert checks(database)
