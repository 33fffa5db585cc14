"""Two versions on one database: the one before on a schema that has grown, this one on a schema of the next."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.app import running_worker
from service.debate.entries import DebateConcluded, TurnAsked, TurnSpoke
from service.reviews import DebateQuery
from service.store.log import DebateLog
from service.store.pool import Database as EveryDatabase
from service.store.schema.migrate import (
    DatabaseNewer,
    DeletedMigration,
    MisplacedMigration,
    check_migrated,
    migrate,
    pending,
)
from service.store.schema.preflight import check_database, check_sequencer, refuse_incidents
from service.store.spend import balance
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, bench
from tests.fixtures.serving import served
from tests.store.schema.earlier import LAST, EarlierWorker, cases, earlier

LISTED = {"tenant": "default", "below": None, "limit": 50}
EXPAND = """\
ALTER TABLE gainsay.debate_head ADD COLUMN mood text, ADD COLUMN seen timestamptz DEFAULT clock_timestamp();
CREATE TABLE gainsay.mood (debate uuid PRIMARY KEY, mood text NOT NULL);
GRANT SELECT, INSERT ON gainsay.mood TO gainsay_writer;
CREATE INDEX ON gainsay.debate_head (mood) WHERE mood IS NOT NULL;
"""
CONTRACT = "INSERT INTO gainsay.schema_floor (floor) VALUES ('0901_expand');\n"


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of the next version: ours, and one that only adds."""
    folder = tmp_path / "later"
    shutil.copytree(MIGRATIONS, folder)
    (folder / "0901_expand.sql").write_text(EXPAND)
    return folder


# ---- this version beside the next ------------------------------------------------------------------------------------


async def test_a_debate_runs_on_a_schema_that_the_next_version_has_only_added_to(
    database: Database, later: Path
) -> None:
    assert migrate(database.migrate_url, later) == ["0901_expand"]

    check_database(database.service_url, MIGRATIONS)
    check_sequencer(database.sequencer_url, MIGRATIONS)
    refuse_incidents(database.service_url)
    async with bench(database.service_url) as service:
        entries = await service.entries(await service.run())

    assert isinstance(entries[-1], DebateConcluded)
    assert entries[-1].outcome.status == "completed"


def test_the_version_before_has_nothing_to_migrate_where_the_next_one_has_been(database: Database, later: Path) -> None:
    migrate(database.migrate_url, later)

    assert pending(database.migrate_url, MIGRATIONS) == []
    assert migrate(database.migrate_url, MIGRATIONS) == []


def test_a_schema_that_takes_something_away_refuses_versions_that_still_use_it(database: Database, later: Path) -> None:
    migrate(database.migrate_url, later)
    contracted = later.parent / "contracted"
    shutil.copytree(later, contracted)
    (contracted / "0902_contract.sql").write_text(CONTRACT)
    migrate(database.migrate_url, contracted)

    with pytest.raises(DatabaseNewer) as refusal:
        check_database(database.service_url, MIGRATIONS)
    with pytest.raises(DatabaseNewer):
        migrate(database.migrate_url, MIGRATIONS)
    with pytest.raises(DatabaseNewer):
        check_sequencer(database.sequencer_url, MIGRATIONS)
    check_database(database.service_url, later)  # the version that the floor names

    assert "found 0901_expand applied too, and that 0901_expand has to be known" in refusal.value.detail


def test_the_latest_floor_counts_and_stays_what_it_was(database: Database, later: Path) -> None:
    (later / "0902_contract.sql").write_text(CONTRACT)
    migrate(database.migrate_url, later)

    for url in (database.migrate_url, database.admin_url):
        for change in ("UPDATE gainsay.schema_floor SET floor = '0001_schema'", "DELETE FROM gainsay.schema_floor"):
            with psycopg.connect(url) as mighty, pytest.raises(psycopg.DatabaseError, match="only ever added"):
                mighty.execute(change.encode())
    for url in (database.service_url, database.sequencer_url):
        lower = b"INSERT INTO gainsay.schema_floor (floor) VALUES ('0001_schema')"
        with psycopg.connect(url) as service, pytest.raises(psycopg.errors.InsufficientPrivilege):
            service.execute(lower)


def test_a_floor_is_no_excuse_for_a_file_that_is_gone_or_comes_too_late(database: Database, later: Path) -> None:
    migrate(database.migrate_url, later)
    missing = later.parent / "missing"
    shutil.copytree(MIGRATIONS, missing)
    (missing / "0004_provable.sql").unlink()
    late = later.parent / "late"
    shutil.copytree(MIGRATIONS, late)
    (late / "0900_late.sql").write_text("SELECT 1;")

    with psycopg.connect(database.service_url) as service:
        with pytest.raises(DeletedMigration, match="0004_provable"):
            check_migrated(service, missing)
        with pytest.raises(MisplacedMigration, match="0900_late"):
            check_migrated(service, late)


# ---- the version before on this schema -------------------------------------------------------------------------------


@pytest.fixture
def opening(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database beside the one that is tested, to make cases in."""
    with cluster.lend(template.name) as database:
        yield database


async def made(opening: Database, count: int) -> list[dict[str, Any]]:
    """What debates are opened with."""
    async with EveryDatabase.open(opening.service_url, size=1) as database:
        return await cases(database, count)


async def check_each_once(service: Bench, debates: Sequence[str], *, lost: int = 0) -> None:
    """Every debate ended by itself, every turn was asked once, but for attempts that went down with their worker."""
    found = 0
    for debate in debates:
        entries = await service.entries(debate)
        last = entries[-1]
        assert isinstance(last, DebateConcluded)
        assert last.outcome.status == "completed"
        asked = [(entry.turn, entry.attempt) for entry in entries if isinstance(entry, TurnAsked)]
        spoke = [entry.turn for entry in entries if isinstance(entry, TurnSpoke)]
        assert len(set(asked)) == len(asked)
        assert len(set(spoke)) == len(spoke)
        found += len(asked) - len(spoke)
    assert found == lost
    assert (await balance(service.database)).astray == ()


async def test_both_versions_finish_what_either_has_queued_each_debate_once(
    database: Database, opening: Database
) -> None:
    async with (
        earlier(database.service_url, CannedProvider(latency_s=0.02)) as before,
        served(database.service_url, work=False, sequence=False) as site,
        bench(database.service_url) as reader,
    ):
        for params in await made(opening, 4):
            await before.database.query("open_debate", params)
        debates = [str(row["debate"]) for row in await before.database.query("list_debates", LISTED)]
        debates += [(await site.submit())["debateId"] for _ in range(4)]
        over = asyncio.Event()
        worker = EarlierWorker(before, "before")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(worker.work(over))
            await worker.taken.wait()
            async with running_worker(site.app):
                await asyncio.gather(*(ended(reader, debate) for debate in debates))
            over.set()

        assert 0 < len(worker.ran) < 8, "both had their share"
        await check_each_once(reader, debates)


async def test_a_debate_that_the_version_before_left_is_gone_on_with_by_this_one(
    database: Database, opening: Database
) -> None:
    async with earlier(database.service_url, CannedProvider(latency_s=30.0)) as before:
        (params,) = await made(opening, 1)
        await before.database.query("open_debate", params)
        log = await EarlierWorker(before, "before").take(lease_s=0.5)
        assert log is not None
        await killed(before, log)
    with psycopg.connect(database.service_url) as connection:
        assert connection.execute("SELECT count(*) FROM gainsay.entry WHERE at IS NULL").fetchone() == (0,)
    async with served(database.service_url, sequence=False), bench(database.service_url) as reader:
        await ended(reader, str(params["debate"]))
        await check_each_once(reader, [str(params["debate"])], lost=1)


async def test_a_debate_that_this_version_left_is_gone_on_with_by_the_one_before(database: Database) -> None:
    async with bench(database.service_url, CannedProvider(latency_s=30.0)) as service:
        debate = await service.submit()
        assert await service.claim(0.5) == debate
        await killed(service, None)
    async with earlier(database.service_url) as before, bench(database.service_url) as reader:
        worker = EarlierWorker(before, "before")
        async with asyncio.timeout(60):
            await worker.run(await worker.taking())
        await check_each_once(reader, [debate], lost=1)


async def killed(service: Bench, log: DebateLog | None) -> None:
    """Run a debate until its first call is under way, and leave it there."""
    (found,) = (await service.reviews.find(DebateQuery(), CALLER)).debates
    task = asyncio.create_task((await service.runner(found.debate, log)).run())
    provider = service.provider
    assert isinstance(provider, CannedProvider)
    await provider.begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def ended(service: Bench, debate: str) -> None:
    """Wait until a debate is over."""
    for _ in range(1_000):
        if isinstance((await service.entries(debate))[-1], DebateConcluded):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"debate {debate} did not end")


async def test_a_database_is_migrated_under_the_traffic_of_the_version_before_and_nothing_is_lost(
    empty_database: Database, opening: Database, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for path in MIGRATIONS.glob("*.sql"):
        if path.stem <= LAST:
            shutil.copy(path, old)
    migrate(empty_database.migrate_url, old)
    opened = await made(opening, 12)
    over, applied = asyncio.Event(), list[str]()
    async with earlier(empty_database.service_url, CannedProvider(latency_s=0.02)) as before:
        workers = [EarlierWorker(before, f"before {n}") for n in range(2)]
        async with asyncio.TaskGroup() as tasks:
            for worker in workers:
                tasks.create_task(worker.work(over))
            for nth, params in enumerate(opened):
                await before.database.query("open_debate", params)
                if nth == 4:
                    await workers[0].taken.wait()
                    applied = await asyncio.to_thread(migrate, empty_database.migrate_url, MIGRATIONS)
            over.set()
    debates = [str(params["debate"]) for params in opened]
    async with bench(empty_database.service_url) as reader:
        debates.append(await reader.run())
        await check_each_once(reader, debates)

    assert len(applied) == len(list(MIGRATIONS.glob("*.sql"))) - len(list(old.iterdir()))
    assert sorted(one for worker in workers for one in worker.ran) == sorted(debates[:-1])
