"""What docs/disaster.md says is done here, by its own commands: a backup, three ways to restore it, and the way on.

A log of one tenant grows under a signer who remembers. A restore to the last moment goes on; one to a point is refused,
until the tenant has its next log and a person has closed the incident.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
import pytest

from service.policy.settings import KNOWN
from service.proving.sequencer import LogIncident, Sequencer
from service.proving.signing.open import open_signer
from service.store.pool import Database as Pool
from service.store.schema.preflight import (
    NotDurable,
    OpenIncident,
    check_database,
    check_sequencer,
    check_serving,
    refuse_incidents,
)
from service.store.sequence import SequencerLeadership, Sequencing
from tests.drills.document import DOCUMENT, blocks
from tests.faults.servers import Blank, PrivateServer, ended
from tests.fixtures.postgres import MIGRATIONS, Database, passable_folder
from tests.fixtures.running import repository
from tests.fixtures.sequencing import LOG, stage
from tests.fixtures.serving import SIGNING_KEY
from tests.fixtures.waiting import until, within

pytestmark = pytest.mark.no_replay

NEXT = "localhost/default/2"
A_TIME = "2026-05-03 14:05:00+00"


class Site:
    """The folders that the document names, and what its commands find in the environment."""

    def __init__(self, blank: Blank, folder: Path, signing: Path) -> None:
        self.blank, self.folder, self.signing = blank, folder, signing
        for name in ("backup", "backup/wal", "restored"):
            blank.server.programs.own(folder / name)
        (signing / "log.key").touch(mode=0o600)
        (signing / "log.key").write_text(f"{SIGNING_KEY.encode()}\n", "ascii")

    def place(self, text: str) -> str:
        """A text of the document with the folders of this site."""
        return text.replace("/backup", f"{self.folder}/backup").replace("/restored", f"{self.folder}/restored")

    def settings(self) -> list[str]:
        """The settings of PostgreSQL that archive its WAL."""
        (text,) = blocks("ini", "Back up the database")
        return [re.sub(r" = '?(.*?)'?$", r"=\1", line, count=1) for line in self.place(text).splitlines()]

    def does(self, script: str, **environment: str) -> str:
        """Run commands of the document."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
        path = f"{self.blank.server.programs.folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.place(script)],
            env={**kept, **environment, "PATH": path, "GAINSAY_DATA_DIR": str(self.signing)},
            cwd=self.signing,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def started(self) -> Iterator[PrivateServer]:
        """PostgreSQL on the restored cluster, once it takes writes."""
        home, programs = self.folder / "restored", self.blank.server.programs
        if programs.account:
            for path in (home, *home.rglob("*")):
                os.chown(path, programs.account.uid, programs.account.gid)
        server = PrivateServer(home, programs, self.blank.server.passwords)
        with ended(server):
            server.start()
            while self.asked(server, "SELECT pg_is_in_recovery()"):
                time.sleep(0.02)
            yield server
        shutil.rmtree(home)
        programs.own(home)

    @staticmethod
    def asked(server: PrivateServer, query: str, database: str = "gainsay") -> object:
        """The one value of a query."""
        with psycopg.connect(server.url("postgres", database), options="-c search_path=gainsay") as admin:
            return next(iter(admin.execute(query.encode())))[0]

    def signs(self, server: PrivateServer, chain: int, log: str = LOG) -> None:
        """Stage a record of a new chain."""
        stage(server.url(), chain, [0], log)

    @asynccontextmanager
    async def sequencer(self, server: PrivateServer, database: str = "gainsay") -> AsyncIterator[Sequencer]:
        """A sequencer with the signer of this site, which remembers."""
        url = server.url("gainsay_sequencing", database)
        signer = open_signer(f"file:{self.signing}/log.key", self.signing / "heads", {})
        lead = SequencerLeadership(url)
        async with Sequencing.open(url, size=4) as store:
            try:
                yield Sequencer(store, lead, signer)
            finally:
                await lead.close()
                await signer.close()

    async def grows(self, server: PrivateServer, *chains: int, log: str = LOG) -> None:
        """Have records of new chains placed and signed."""
        for chain in chains:
            self.signs(server, chain, log)
        async with self.sequencer(server) as sequencer:
            await sequencer.examine()
            await sequencer.catch_up()

    def head(self, server: PrivateServer, log: str = LOG, database: str = "gainsay") -> object:
        """How many records the latest checkpoint of a log covers."""
        return self.asked(server, f"SELECT max(size) FROM checkpoint WHERE log = '{log}'", database)


@pytest.fixture(scope="module")
def blank() -> Iterator[Blank]:
    """A cluster that servers are copied from."""
    with passable_folder() as folder:
        yield Blank(folder)


@pytest.fixture
def site(blank: Blank, tmp_path: Path) -> Iterator[Site]:
    """A site with nothing in its folders."""
    with blank.home() as folder:
        yield Site(blank, folder, tmp_path)


def check(server: PrivateServer, database: str = "gainsay") -> None:
    """What every process asks of its database when it starts."""
    check_database(server.url("gainsay_service", database), MIGRATIONS)
    check_sequencer(server.url("gainsay_sequencing", database), MIGRATIONS)
    check_serving(server.url("gainsay_serving", database), MIGRATIONS)
    refuse_incidents(server.url("gainsay_service", database))


async def test_a_restore_goes_on_where_nothing_is_lost_and_by_the_recorded_way_where_records_are(site: Site) -> None:
    (back_up,) = blocks("sh", "Back up the database")
    with site.blank.copied(*site.settings()) as primary:
        await site.grows(primary, 1, 2)
        assert "backup successfully verified" in site.does(back_up, BACKUP_URL=primary.url("postgres", "postgres"))
        await site.grows(primary, 3)
        point = str(site.asked(primary, "SELECT clock_timestamp()"))
        await site.grows(primary, 4, 5)
        last = site.asked(primary, "SELECT pg_walfile_name(pg_switch_wal())")
        archived = f"SELECT coalesce(last_archived_wal >= '{last}', false) FROM pg_stat_archiver"
        await within(60, until(lambda: bool(site.asked(primary, archived))))
        primary.crash()

    (to_the_end,) = blocks("sh", "Restore to the last moment")
    site.does(to_the_end)
    with site.started() as server:
        check(server)
        await site.grows(server, 6)
        assert site.head(server) == 6

    (to_a_point,) = blocks("sh", "Restore to a point")
    assert A_TIME in to_a_point
    site.does(to_a_point.replace(A_TIME, point))
    with site.started() as server:
        assert site.head(server) == 3
        await is_refused_and_goes_on(site, server)


async def is_refused_and_goes_on(site: Site, server: PrivateServer) -> None:
    """The signer knows of six records and the database has three."""
    with pytest.raises(LogIncident, match="the signer has signed a head of 6 records, and the database has 3"):
        await site.grows(server, 7)
    assert site.head(server) == 3
    with pytest.raises(OpenIncident, match="incident 1 is open"):
        check(server)

    (way_on,) = blocks("sh", "Go on after a loss")
    said = site.does(
        way_on,
        GAINSAY_DATABASE_URL=server.url("gainsay_service"),
        GAINSAY_MIGRATE_URL=server.url("gainsay_migrator"),
        GAINSAY_SIGNING_KEY=f"file:{site.signing}/log.key",
        GAINSAY_HEADS_DIR=str(site.signing / "heads"),
    )
    assert f"{LOG}: 3 records" in said
    assert f"{NEXT}: opened" in said

    check(server)
    async with site.sequencer(server) as sequencer:
        await sequencer.examine()
        running = asyncio.create_task(sequencer.run())
        site.signs(server, 8, NEXT)
        await within(60, until(lambda: site.head(server, NEXT) == 2))
        sequencer.stop()
        await running
    assert site.head(server) == 3, "the old log is never signed again"
    staged = "SELECT string_agg(log, ' ') FROM pending"
    assert site.asked(server, staged) == LOG, "what was staged in it stays so"
    assert site.asked(server, "SELECT count(*) FROM incident") == 2


async def test_a_dump_is_restored_as_a_database_that_processes_start_on(site: Site) -> None:
    dump, restore, grant = blocks("sh", "A dump")
    with site.blank.copied() as server:
        await site.grows(server, 1, 2)
        site.does(dump, ADMIN_URL=server.url("postgres"))
        with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as admin:
            admin.execute("CREATE DATABASE restored OWNER gainsay_owner")
        for commands in (restore, grant):
            site.does(commands, RESTORED_URL=server.url("postgres", "restored"))

        check(server, "restored")
        async with site.sequencer(server, "restored") as sequencer:
            await sequencer.examine()
        assert site.head(server, database="restored") == 2


def test_commits_that_one_server_alone_confirms_are_refused_beside_a_standby(blank: Blank) -> None:
    with blank.copied("synchronous_commit=local") as server:
        check(server)
    following = ("synchronous_commit=local", "synchronous_standby_names=*")
    with blank.copied(*following) as server, pytest.raises(NotDurable, match="synchronous_commit = local"):
        check(server)


def test_what_the_document_names_is_there() -> None:
    files = {path.name for path in (repository() / "tests").rglob("test_*.py")}
    asked = set(re.findall(r"`(?:tests/\w+/)?(test_\w+\.py)`", DOCUMENT))

    assert len(asked) > 5
    assert asked - files == set()
    assert set(re.findall(r"\bGAINSAY_[A-Z_]+", DOCUMENT)) - KNOWN.keys() == set()


async def test_the_partitions_of_one_more_year_are_made_as_the_document_has_it(whole_database: Database) -> None:
    (statement,) = blocks("sql", "Partitions")
    with psycopg.connect(whole_database.migrate_url, autocommit=True) as owner:
        owner.execute("SET ROLE gainsay_owner")
        owner.execute(statement.encode())

    async with Pool.open(whole_database.service_url, size=1) as pool:
        (row,) = await pool.query("partitions_end")
    assert time.gmtime(row["until"])[:3] == (2042, 1, 1)
    check_database(whole_database.service_url, MIGRATIONS)
    refuse_incidents(whole_database.service_url)
    with psycopg.connect(whole_database.admin_url) as admin:
        late = "020cb875-f000-7000-8000-000000000000"
        admin.execute("INSERT INTO gainsay.entry (debate, n, leaf) VALUES (%s, 0, 'x')", [late])
        (place,) = admin.execute("SELECT tableoid::regclass::text FROM gainsay.entry").fetchone() or ("",)
        with pytest.raises(psycopg.DatabaseError, match="only ever added"):
            admin.execute("TRUNCATE gainsay.entry_2041")
    assert place == "gainsay.entry_2041"
