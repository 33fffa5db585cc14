"""Two versions on one database: the one before on a schema that has grown, this one on a schema of the next."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
import pytest

from service.debate.entries import DebateConcluded
from service.store.check import check_database, check_sequencer, refuse_incidents
from service.store.migrate import DatabaseNewer, DeletedMigration, MisplacedMigration, check_migrated, migrate, pending
from tests.postgres import MIGRATIONS, Database
from tests.running import bench

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
