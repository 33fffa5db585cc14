"""A process that is there before its database: what it waits for, what it does not, and what it says meanwhile."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from service.cli.serve import Place, _serve
from service.errors import GainsayError, StoreUnavailable
from service.policy.settings import read_settings
from service.store.schema import migrate as migrating
from service.store.schema import wait_for_database
from service.store.schema.migrate import DatabaseNewer, MigrationBusy, Unmigrated, migrate
from service.store.schema.preflight import check_database, check_sequencer
from service.store.schema.roles import RolesMissing, UnsafeRole
from service.store.schema.wait_for_database import Deadline, retry_until, wait_for
from service.store.startup import addresses
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database
from tests.fixtures.serving import settings_for

LONG_S = 60.0


def long() -> float:
    """Seconds that are always left."""
    return LONG_S


class Heard:
    """What was said while waiting; something may be done when a thing is said for the first time."""

    def __init__(self, **then: Callable[[], object]) -> None:
        self.codes: list[str] = []
        self.left: list[float] = []
        self._then = then

    def __call__(self, error: GainsayError, left_s: float) -> None:
        self.codes.append(error.code)
        self.left.append(left_s)
        if done := self._then.pop(error.code, None):
            done()


@contextmanager
def closed(cluster: Cluster, database: Database) -> Iterator[Callable[[], None]]:
    """A database that lets nobody in until it is told to."""

    def allow(word: str) -> None:
        cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS {word}')

    allow("false")
    yield lambda: allow("true")


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_for_database, "PAUSE_S", 0.02)


def test_a_database_that_comes_up_and_is_then_migrated_is_waited_for(
    cluster: Cluster, empty_database: Database
) -> None:
    def migrated() -> None:
        threading.Thread(target=migrate, args=(empty_database.migrate_url, MIGRATIONS)).start()

    with closed(cluster, empty_database) as opened:
        heard = Heard(store_unavailable=opened, unmigrated=migrated)
        wait_for(lambda: check_database(empty_database.service_url, MIGRATIONS), long, heard)
        wait_for(lambda: check_sequencer(empty_database.sequencer_url, MIGRATIONS), long, heard)

    assert heard.codes[0] == "store_unavailable"
    assert "unmigrated" in heard.codes
    assert all(0 < left <= LONG_S for left in heard.left)


def test_what_is_missing_is_said_once_and_then_every_few_seconds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tries, heard = iter(range(20)), Heard()

    def check() -> int:
        if (nth := next(tries)) < 10:
            raise StoreUnavailable("expected PostgreSQL, found nothing")
        return nth

    assert wait_for(check, long, heard) == 10
    assert heard.codes == ["store_unavailable"]
    monkeypatch.setattr(wait_for_database, "SAID_S", 0.0)
    tries = iter(range(20))
    wait_for(check, long, heard)
    assert len(heard.codes) == 1 + 10


@pytest.mark.parametrize("wait_s", [0.0, 0.2])
def test_after_the_time_is_up_the_last_error_is_the_answer(empty_database: Database, wait_s: float) -> None:
    with pytest.raises(Unmigrated):
        wait_for(lambda: check_database(empty_database.service_url, MIGRATIONS), Deadline(wait_s), Heard())
    with pytest.raises(StoreUnavailable, match="refused"):
        wait_for(
            lambda: check_database("postgresql://nobody@127.0.0.1:1/nowhere", MIGRATIONS), Deadline(wait_s), Heard()
        )


def test_who_comes_before_the_migrations_is_told_to_migrate_and_not_to_be_given_another_role(
    empty_database: Database,
) -> None:
    with psycopg.connect(empty_database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA gainsay AUTHORIZATION gainsay_owner")
        for url, check in (
            (empty_database.sequencer_url, check_sequencer),
            (empty_database.service_url, check_database),
        ):
            login = str(psycopg.conninfo.conninfo_to_dict(url)["user"])
            admin.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(*names(empty_database.name, login)))
            with pytest.raises(Unmigrated, match="found an empty database; run `gainsay migrate`"):
                check(url, MIGRATIONS)


def test_who_lacks_the_rights_of_its_own_role_is_told_that_role(database: Database) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("REVOKE SELECT ON gainsay.migration FROM gainsay_sequencer, gainsay_writer")
    with pytest.raises(RolesMissing, match="GRANT gainsay_sequencer TO"):
        check_sequencer(database.sequencer_url, MIGRATIONS)
    with pytest.raises(RolesMissing, match="GRANT gainsay_writer TO"):
        check_database(database.service_url, MIGRATIONS)


async def test_a_step_of_the_start_is_made_again_until_its_time_is_up() -> None:
    failures = [StoreUnavailable("away", retry_after=5)] * 3
    left = [LONG_S] * 3 + [0.0] * 2

    async def step() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert await retry_until(step, lambda: left.pop(0)) == "done"
    assert left == [0.0] * 2
    failures.append(StoreUnavailable("away", retry_after=5))
    with pytest.raises(StoreUnavailable):
        await retry_until(step, lambda: left.pop(0))


class Counted:
    """A clock that goes on by a second whenever it is read, and at some moment something is done."""

    def __init__(self, at: int, then: Callable[[], object]) -> None:
        self.reads, self._at, self._then = 0, at, then

    def __call__(self) -> float:
        self.reads += 1
        if self.reads == self._at:
            self._then()
        return float(self.reads)


def test_all_steps_of_a_start_share_one_deadline(
    cluster: Cluster, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL comes late, and something that a later step needs does not come at all."""
    monkeypatch.setattr(wait_for_database, "PAUSE_S", 0.0)
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("REVOKE INSERT ON gainsay.content FROM gainsay_writer")
    with closed(cluster, database) as opened:
        clock = Counted(30, opened)
        left_s, settings = Deadline(40.0, clock), settings_for(database.service_url)
        with addresses(settings, left_s) as where:
            assert 30 <= clock.reads < 40, "the first step used up most of it"
            serving = _serve(settings, where, Place("127.0.0.1", 0), left_s, with_worker=False, with_sequencer=False)
            with pytest.raises(StoreUnavailable):
                asyncio.run(serving)

    assert clock.reads == 42, "once at the start, and for each of 40 seconds"


def after_long(done: Callable[[], bool]) -> Callable[[], float]:
    """A clock by which a thing takes very long: it stands still but for that."""
    return lambda: 1_000.0 if done() else 0.0


def test_a_migration_that_takes_longer_than_is_waited_leaves_the_next_steps_all_their_time(
    empty_database: Database,
) -> None:
    def applied() -> bool:
        with psycopg.connect(empty_database.admin_url) as admin:
            row = admin.execute("SELECT to_regclass('gainsay.migration') IS NOT NULL").fetchone()
        return row == (True,)

    settings = settings_for(empty_database.service_url, GAINSAY_MIGRATE_URL=empty_database.migrate_url)
    left_s = Deadline(40.0, after_long(applied))
    with addresses(settings, left_s):
        assert left_s() == 40.0
    late = Deadline(40.0, iter((0.0, *[1_000.0] * 9)).__next__)
    with addresses(settings, late):
        assert late() == -960.0, "nothing was done, so nothing begins anew"


def test_an_embedded_server_that_takes_longer_than_is_waited_leaves_the_next_steps_all_their_time(
    data_folder: Path,
) -> None:
    left_s = Deadline(40.0, after_long((data_folder / "postgres").exists))
    with addresses(read_settings({"GAINSAY_DATA_DIR": str(data_folder), "GAINSAY_WARM_S": "60"}), left_s):
        assert left_s() == 40.0


def test_another_process_that_migrates_is_waited_for_no_longer_than_seconds_are_left(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "LOCK_SECONDS", 0.1)
    settings = settings_for(database.service_url, GAINSAY_MIGRATE_URL=database.migrate_url)
    with psycopg.connect(database.admin_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [migrating._LOCK_KEY])
        with (
            pytest.raises(MigrationBusy, match=r"found another process migrating for 0 s"),
            addresses(settings, Deadline(0.3)),
        ):
            pass


def names(*given: str) -> list[sql.Identifier]:
    """Names as identifiers."""
    return [sql.Identifier(name) for name in given]


def test_a_wrong_password_is_not_waited_for(database: Database) -> None:
    heard = Heard()
    for variable, check in (("GAINSAY_DATABASE_URL", check_database), ("GAINSAY_SEQUENCER_URL", check_sequencer)):
        wrong = make_conninfo(database.service_url, password="not-it")

        with pytest.raises(StoreUnavailable, match=variable):
            wait_for(lambda check=check, wrong=wrong: check(wrong, MIGRATIONS), long, heard)  # type: ignore[misc]
    wrong = make_conninfo(database.migrate_url, password="not-it")
    with pytest.raises(StoreUnavailable, match="GAINSAY_MIGRATE_URL"):
        wait_for(lambda: migrate(wrong, MIGRATIONS), long, heard)

    assert heard.codes == []


def test_an_owner_and_a_database_that_is_too_new_are_not_waited_for(database: Database, tmp_path: Path) -> None:
    heard = Heard()
    with pytest.raises(UnsafeRole):
        wait_for(lambda: check_database(database.migrate_url, MIGRATIONS), long, heard)

    later = tmp_path / "later"
    shutil.copytree(MIGRATIONS, later)
    (later / "0901_contract.sql").write_text("INSERT INTO gainsay.schema_floor (floor) VALUES ('0901_contract');")
    migrate(database.migrate_url, later)
    with pytest.raises(DatabaseNewer):
        wait_for(lambda: check_database(database.service_url, MIGRATIONS), long, heard)

    assert heard.codes == []


def test_a_file_that_takes_its_time_is_waited_for(empty_database: Database, tmp_path: Path) -> None:
    """The service asks while another process migrates: it never sees a schema that is half there."""
    slow = tmp_path / "slow"
    shutil.copytree(MIGRATIONS, slow)
    (slow / "0901_slow.sql").write_text("SELECT pg_sleep(0.5); CREATE TABLE gainsay.slow (n integer);")
    heard = Heard()
    migrating = threading.Thread(target=migrate, args=(empty_database.migrate_url, slow))
    migrating.start()

    wait_for(lambda: check_database(empty_database.service_url, slow), long, heard)

    migrating.join()
    with psycopg.connect(empty_database.admin_url) as admin:
        assert admin.execute("SELECT count(*) FROM gainsay.slow").fetchone() == (0,)
    assert set(heard.codes) <= {"store_unavailable", "unmigrated", "roles_missing"}
