"""Migrations against a real PostgreSQL: what is applied, by whom, once, and what is refused."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import InsufficientPrivilege

from service.errors import StoreUnavailable
from service.store.schema import migrate as migrating
from service.store.schema import preflight, roles
from service.store.schema.migrate import (
    BadMigrationFile,
    DatabaseNewer,
    DeletedMigration,
    EditedMigration,
    MigrationBusy,
    MigrationFailed,
    MisplacedMigration,
    Unmigrated,
    check_migrated,
    migrate,
    pending,
    read_files,
    schema_version,
)
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database

FIRST = "0001_schema"
SUMS = Path(__file__).with_name("migrations.sha256")
EVIDENCE = """\
CREATE TABLE note (n integer PRIMARY KEY, said text);
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON note FOR EACH ROW EXECUTE FUNCTION gainsay.refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON note FOR EACH STATEMENT EXECUTE FUNCTION gainsay.refuse_change();
ALTER TABLE note ENABLE ALWAYS TRIGGER refuse_change;
ALTER TABLE note ENABLE ALWAYS TRIGGER refuse_truncate;
GRANT SELECT, INSERT ON note TO gainsay_writer;
INSERT INTO note VALUES (1, 'semicolons; in text; and 100 % of it');
"""

# What yoyo 9 leaves in a database (decision 0042), with the lock of a process that was killed.
YOYO = """\
CREATE TABLE yoyo_lock (locked integer DEFAULT 1 PRIMARY KEY, ctime timestamp, pid integer NOT NULL);
CREATE TABLE _yoyo_migration (
    migration_hash varchar(64) PRIMARY KEY, migration_id varchar(255), applied_at_utc timestamp
);
INSERT INTO yoyo_lock (ctime, pid) VALUES (now(), 4711);
INSERT INTO _yoyo_migration SELECT md5(name), name, now() FROM migration;
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the real first migration and one table of evidence after it."""
    (tmp_path / f"{FIRST}.sql").write_bytes((MIGRATIONS / f"{FIRST}.sql").read_bytes())
    (tmp_path / "0002_evidence.sql").write_text(EVIDENCE)
    return tmp_path


def start_migrating(database: Database, files: Path) -> subprocess.Popen[str]:
    """Start a process of its own that migrates, and prints how many files it has applied."""
    code = (
        "import sys; from pathlib import Path; from service.store.schema.migrate import migrate;"
        "print(len(migrate(sys.argv[1], Path(sys.argv[2]))))"
    )
    command = [sys.executable, "-c", code, database.migrate_url, str(files)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=MIGRATIONS.parent)


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


# ---- applying --------------------------------------------------------------------------------------------------------


def test_all_files_are_applied_in_order_and_only_once(empty_database: Database, files: Path) -> None:
    assert pending(empty_database.migrate_url, files) == [FIRST, "0002_evidence"]

    first, second = (migrate(empty_database.migrate_url, files) for _ in range(2))

    assert (first, second) == ([FIRST, "0002_evidence"], [])
    assert pending(empty_database.migrate_url, files) == []


def test_an_applied_file_is_recorded_with_the_hash_of_its_bytes_and_who_applied_it(
    empty_database: Database, files: Path
) -> None:
    migrate(empty_database.migrate_url, files)

    rows = ask(empty_database.service_url, "SELECT name, sha256, applied_by FROM gainsay.migration ORDER BY name")

    migrator = conninfo_to_dict(empty_database.migrate_url)["user"]
    assert rows == [
        (path.stem, hashlib.sha256(path.read_bytes()).digest(), migrator) for path in sorted(files.iterdir())
    ]


def test_everything_belongs_to_the_owner_whoever_migrates(empty_database: Database, files: Path) -> None:
    migrate(empty_database.admin_url, files)

    owners = ask(
        empty_database.admin_url,
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace",
    )

    assert owners == [(roles.OWNER,)]


def test_a_file_is_applied_whole_or_not_at_all(empty_database: Database, files: Path) -> None:
    (files / "0003_breaks.sql").write_text("CREATE TABLE half (n integer);\n\nINSERT INTO nowhere VALUES (1);\n")

    with pytest.raises(MigrationFailed) as failure:
        migrate(empty_database.migrate_url, files)

    assert "0003_breaks.sql, line 3" in failure.value.detail
    assert "nowhere" in failure.value.detail
    assert pending(empty_database.migrate_url, files) == ["0003_breaks"]
    assert ask(empty_database.migrate_url, "SELECT to_regclass('gainsay.half')") == [(None,)]


def test_a_file_is_not_applied_without_its_bookkeeping(empty_database: Database, files: Path) -> None:
    (files / "0003_no_record.sql").write_text("ALTER TABLE gainsay.migration RENAME TO elsewhere;")

    with pytest.raises(MigrationFailed, match=r'"gainsay\.migration" does not exist'):
        migrate(empty_database.migrate_url, files)

    assert ask(empty_database.migrate_url, "SELECT count(*) FROM gainsay.migration") == [(2,)]
    assert pending(empty_database.migrate_url, files) == ["0003_no_record"]


def test_every_file_starts_as_the_owner_whatever_the_one_before_left(empty_database: Database, files: Path) -> None:
    (files / "0003_leaves.sql").write_text("RESET ROLE; SET search_path = pg_temp; SET lock_timeout = 0;")
    (files / "0004_starts.sql").write_text(
        "CREATE TABLE found AS SELECT current_role::text, current_setting('lock_timeout');"
    )

    migrate(empty_database.migrate_url, files)

    assert ask(empty_database.migrate_url, "SELECT * FROM gainsay.found") == [(roles.OWNER, "2s")]


def test_a_database_that_yoyo_migrated_is_migrated_further_and_a_new_one_has_no_tables_of_yoyo(
    empty_database: Database, files: Path
) -> None:
    migrate(empty_database.migrate_url, files)
    yoyos = "SELECT count(*) FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relname LIKE '%yoyo%'"
    assert ask(empty_database.migrate_url, yoyos) == [(0,)]
    with psycopg.connect(empty_database.migrate_url) as migrator:
        migrator.execute(sql.SQL("SET ROLE {}; SET search_path = gainsay").format(sql.Identifier(roles.OWNER)))
        migrator.execute(YOYO)
    (files / "0003_more.sql").write_text("CREATE TABLE more (n integer);")

    assert migrate(empty_database.migrate_url, files) == ["0003_more"]

    lock = ask(empty_database.migrate_url, "SELECT pid FROM gainsay.yoyo_lock")
    marked = ask(empty_database.migrate_url, "SELECT migration_id FROM gainsay._yoyo_migration ORDER BY 1")
    assert (lock, marked) == ([(4711,)], [(FIRST,), ("0002_evidence",)])


def test_a_file_that_failed_is_applied_once_it_is_mended(empty_database: Database, files: Path) -> None:
    (files / "0003_breaks.sql").write_text("SELECT 1/0;")
    with pytest.raises(MigrationFailed):
        migrate(empty_database.migrate_url, files)

    (files / "0003_breaks.sql").write_text("SELECT 1/1;")

    assert migrate(empty_database.migrate_url, files) == ["0003_breaks"]


def test_rows_that_a_file_selects_are_not_printed(
    empty_database: Database, files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (files / "0003_selects.sql").write_text("SELECT 'surprise';")

    migrate(empty_database.migrate_url, files)

    assert capfd.readouterr() == ("", "")


def test_two_processes_that_migrate_at_once_apply_each_file_once(empty_database: Database, files: Path) -> None:
    (files / "0003_slow.sql").write_text("SELECT pg_sleep(0.5); CREATE TABLE slow (n integer);")

    racers = [start_migrating(empty_database, files) for _ in range(2)]
    counts = [int(racer.communicate(timeout=60)[0]) for racer in racers]

    assert sorted(counts) == [0, 3]


def test_a_migrator_killed_in_the_middle_does_not_lock_out_the_next(empty_database: Database, files: Path) -> None:
    (files / "0003_slow.sql").write_text("SELECT pg_sleep(600);")
    victim = start_migrating(empty_database, files)
    asleep = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while not (sleepers := ask(empty_database.admin_url, asleep)):
        assert victim.poll() is None

    victim.kill()
    victim.communicate()
    ask(empty_database.admin_url, f"SELECT pg_terminate_backend({sleepers[0][0]})")  # its client is gone, it is not
    (files / "0003_slow.sql").write_text("CREATE TABLE quick (n integer);")

    assert migrate(empty_database.migrate_url, files) == ["0003_slow"]


# ---- beside others ---------------------------------------------------------------------------------------------------

ALTERS = "ALTER TABLE gainsay.note ADD COLUMN at timestamptz;"
BLOCKED = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND query LIKE 'ALTER TABLE%'"
)


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock is waited for half a second, and every other half second."""
    monkeypatch.setattr(migrating, "LOCK_SECONDS", 0.5)
    monkeypatch.setattr(migrating, "PAUSE_SECONDS", 0.5)


@pytest.mark.usefixtures("briefly")
def test_a_file_lets_others_pass_while_somebody_reads_its_table_for_long_and_is_applied_in_the_end(
    empty_database: Database, files: Path, caplog: pytest.LogCaptureFixture
) -> None:
    migrate(empty_database.migrate_url, files)
    (files / "0003_alters.sql").write_text(ALTERS)
    applied: list[str] = []
    thread = threading.Thread(target=lambda: applied.extend(migrate(empty_database.migrate_url, files)))
    with psycopg.connect(empty_database.admin_url) as reader:
        reader.execute("SELECT FROM gainsay.note")
        thread.start()
        with psycopg.connect(empty_database.service_url, autocommit=True) as service:
            for n in (2, 3):
                while ask(empty_database.admin_url, BLOCKED) == [(0,)]:
                    assert thread.is_alive()
                service.execute("INSERT INTO gainsay.note VALUES (%s, 'meanwhile')", [n])
        assert thread.is_alive()
    thread.join(60)

    assert applied == ["0003_alters"]
    assert "migration_busy: expected 0003_alters.sql to lock its tables for a moment" in caplog.text


@pytest.mark.usefixtures("briefly")
@pytest.mark.parametrize("wait_s", [0.0, 1.2])
def test_a_file_that_never_gets_its_table_is_somebody_elses_doing_and_says_where_to_look(
    empty_database: Database, files: Path, wait_s: float
) -> None:
    migrate(empty_database.migrate_url, files)
    (files / "0003_alters.sql").write_text(ALTERS)
    with psycopg.connect(empty_database.admin_url) as reader:
        reader.execute("SELECT FROM gainsay.note")
        with pytest.raises(MigrationBusy, match=r"0003_alters\.sql .*, 55P03\).* a dump .* pg_stat_activity"):
            migrate(empty_database.migrate_url, files, wait_s)

    assert pending(empty_database.migrate_url, files) == ["0003_alters"]
    assert migrate(empty_database.migrate_url, files) == ["0003_alters"]


@pytest.mark.usefixtures("briefly")
def test_a_deadlock_is_no_fault_of_the_file(empty_database: Database, files: Path) -> None:
    (files / "0003_deadlock.sql").write_text("DO $$ BEGIN RAISE deadlock_detected; END $$;")
    with pytest.raises(MigrationBusy, match="40P01"):
        migrate(empty_database.migrate_url, files, 0.0)

    assert pending(empty_database.migrate_url, files) == ["0003_deadlock"]


# ---- refusing --------------------------------------------------------------------------------------------------------


def test_an_edited_applied_file_is_refused_with_both_hashes(empty_database: Database, files: Path) -> None:
    migrate(empty_database.migrate_url, files)
    edited = EVIDENCE + "-- a remark\n"
    (files / "0002_evidence.sql").write_text(edited)

    with pytest.raises(EditedMigration) as refusal:
        migrate(empty_database.migrate_url, files)

    assert "0002_evidence.sql" in refusal.value.detail
    assert hashlib.sha256(EVIDENCE.encode()).hexdigest() in refusal.value.detail
    assert hashlib.sha256(edited.encode()).hexdigest() in refusal.value.detail


def test_a_deleted_applied_file_is_refused(empty_database: Database, files: Path) -> None:
    (files / "0003_more.sql").write_text("SELECT 1;")
    migrate(empty_database.migrate_url, files)
    (files / "0002_evidence.sql").unlink()

    with pytest.raises(DeletedMigration, match=r"0002_evidence\.sql"):
        migrate(empty_database.migrate_url, files)


def test_a_new_file_before_an_applied_one_is_refused(empty_database: Database, files: Path) -> None:
    (files / "0004_later.sql").write_text("SELECT 1;")
    migrate(empty_database.migrate_url, files)
    (files / "0003_earlier.sql").write_text("SELECT 1;")

    with pytest.raises(MisplacedMigration, match=r"after 0004_later, found 0003_earlier\.sql"):
        migrate(empty_database.migrate_url, files)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("0003_own_transaction.sql", "BEGIN;\nSELECT 1;\nCOMMIT;\n"),
        ("0003_commits.sql", "SELECT 1;\n  commit work ;\n"),
        ("0003_outside.sql", "-- transactional: false\nSELECT 1;\n"),
        ("0003_evidence.rollback.sql", "SELECT 1;"),
        ("3_short_number.sql", "SELECT 1;"),
        ("0003_code.py", "step('SELECT 1')"),
        ("0002_same_number.sql", "SELECT 1;"),
    ],
)
def test_a_file_that_breaks_the_rules_is_refused_before_the_database_is_touched(
    files: Path, name: str, text: str
) -> None:
    (files / name).write_text(text)

    with pytest.raises(BadMigrationFile, match=name.removesuffix(".sql").replace(".", r"\.")):
        migrate("postgresql://nobody@127.0.0.1:1/nowhere", files)


def test_plpgsql_blocks_are_not_taken_for_transactions(files: Path) -> None:
    (files / "0003_block.sql").write_text("DO $$\nBEGIN\n    PERFORM 1;\nEND;\n$$;\n")

    assert [file.name for file in read_files(files)][-1] == "0003_block"


def test_no_files_at_all_is_an_error_and_not_an_up_to_date_database(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadMigrationFile, match="found none"):
            read_files(folder)


def test_an_unreachable_database_is_reported_without_its_password() -> None:
    with pytest.raises(StoreUnavailable) as refusal:
        migrate("postgresql://someone:secret-word@127.0.0.1:1/nowhere", MIGRATIONS)

    assert "GAINSAY_MIGRATE_URL" in refusal.value.detail
    assert "Connection refused" in refusal.value.detail
    assert "secret-word" not in refusal.value.detail


# ---- the start-up check ----------------------------------------------------------------------------------------------


def test_the_service_starts_on_the_database_that_it_knows(database: Database) -> None:
    with psycopg.connect(database.service_url) as service:
        check_migrated(service, MIGRATIONS)

        assert schema_version(service) == read_files(MIGRATIONS)[-1].name


def test_the_service_refuses_a_database_that_lacks_migrations(empty_database: Database, files: Path) -> None:
    migrate(empty_database.migrate_url, files)
    (files / "0003_more.sql").write_text("SELECT 1;")

    with psycopg.connect(empty_database.service_url) as service, pytest.raises(Unmigrated) as refusal:
        check_migrated(service, files)

    assert refusal.value.detail == "expected migration 0003_more, found 0002_evidence; run `gainsay migrate`"


def test_the_service_refuses_an_empty_database(empty_database: Database, files: Path) -> None:
    with psycopg.connect(empty_database.service_url) as service, pytest.raises(Unmigrated) as refusal:
        check_migrated(service, files)

    assert refusal.value.detail == "expected migration 0002_evidence, found an empty database; run `gainsay migrate`"


def test_the_service_refuses_a_database_that_is_newer_than_it_knows(empty_database: Database, files: Path) -> None:
    (files / "0003_more.sql").write_text("SELECT 1;")
    migrate(empty_database.migrate_url, files)
    (files / "0003_more.sql").unlink()

    with psycopg.connect(empty_database.service_url) as service, pytest.raises(DatabaseNewer, match="0003_more"):
        check_migrated(service, files)


def test_the_service_refuses_a_database_made_from_other_files(empty_database: Database, files: Path) -> None:
    migrate(empty_database.migrate_url, files)
    (files / "0002_evidence.sql").write_text("SELECT 1;")

    with psycopg.connect(empty_database.service_url) as service, pytest.raises(EditedMigration):
        check_migrated(service, files)


# ---- what the service may do -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", ["UPDATE gainsay.note SET n = 2", "DELETE FROM gainsay.note", "TRUNCATE gainsay.note"]
)
def test_evidence_refuses_change_by_the_service_by_grant_and_by_the_owner_and_superuser_by_trigger(
    empty_database: Database, files: Path, change: str
) -> None:
    migrate(empty_database.migrate_url, files)

    with psycopg.connect(empty_database.service_url) as service, pytest.raises(InsufficientPrivilege):
        service.execute(change.encode())
    for url, role in ((empty_database.migrate_url, "origin"), (empty_database.admin_url, "replica")):
        with psycopg.connect(url, autocommit=True) as mighty:
            if role == "replica":  # where ordinary triggers keep silent
                mighty.execute("SET session_replication_role = replica")
            with pytest.raises(psycopg.DatabaseError, match="evidence is only ever added") as refusal:
                mighty.execute(change.encode())
            assert refusal.value.sqlstate == "GA001"


def test_no_file_that_a_database_may_have_applied_is_changed() -> None:
    """`migrations.sha256` is read by `sha256sum -c` too. A new migration brings its line, and no other line changes."""
    listed = {name: sha256 for sha256, name in (line.split("  ") for line in SUMS.read_text("utf-8").splitlines())}

    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(MIGRATIONS.glob("*.sql"))}

    assert found == listed, "a database that applied the earlier file refuses this one: write a new migration"


def test_every_table_of_the_real_migrations_is_closed_to_removal_by_the_service(database: Database) -> None:
    allowed = ask(
        database.service_url,
        "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relkind IN ('r', 'p') AND ("
        " has_table_privilege(oid, 'TRUNCATE') OR has_table_privilege(oid, 'TRIGGER')"
        " OR has_table_privilege(oid, 'REFERENCES') OR has_table_privilege(oid, 'MAINTAIN'))",
    )

    assert allowed == []


def test_no_guard_of_the_real_migrations_can_be_silenced_by_a_session_setting(database: Database) -> None:
    guards = ask(
        database.admin_url,
        "SELECT tgrelid::regclass::text, tgenabled FROM pg_trigger WHERE tgfoid = 'gainsay.refuse_change'::regproc",
    )

    assert ("gainsay.migration", "A") in guards
    assert {enabled for _, enabled in guards} == {"A"}  # A: always, also under session_replication_role = replica


def test_nothing_is_open_to_the_service_unless_a_migration_grants_it(empty_database: Database, files: Path) -> None:
    (files / "0003_closed.sql").write_text(
        "CREATE TABLE closed (n integer);\n"
        "CREATE FUNCTION gainsay.shut() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';"
    )
    migrate(empty_database.migrate_url, files)

    attempts = [
        "SELECT * FROM gainsay.closed",
        "SELECT gainsay.shut()",
        "CREATE TABLE gainsay.mine (n integer)",
        "CREATE TABLE public.mine (n integer)",
        "CREATE TEMPORARY TABLE mine (n integer)",
        "INSERT INTO gainsay.migration (name, sha256) VALUES ('0009_mine', sha256(''))",
        "SET ROLE gainsay_owner",
    ]
    with psycopg.connect(empty_database.service_url, autocommit=True) as service:
        for attempt in attempts:
            with pytest.raises(InsufficientPrivilege):
                service.execute(attempt.encode())


def test_a_login_that_is_no_member_cannot_even_connect(cluster: Cluster, database: Database) -> None:
    refused = pytest.raises(psycopg.OperationalError, match="permission denied for database")

    with own_login(cluster, database, "NOCREATEDB") as url, refused:
        psycopg.connect(url)


# ---- who the service may be ------------------------------------------------------------------------------------------


@contextmanager
def own_login(
    cluster: Cluster, database: Database, attributes: LiteralString, *statements: LiteralString
) -> Iterator[str]:
    """Lend the address of a login with these attributes; the statements are run when it has been made."""
    login, target = sql.Identifier(f"{database.name}_login"), sql.Identifier(database.name)
    between = sql.Identifier(f"{database.name}_between")
    for statement in (f"CREATE ROLE {{login}} LOGIN PASSWORD 'x' {attributes}", *statements):
        cluster.admin.execute(sql.SQL(statement).format(login=login, database=target, between=between))
    try:
        yield make_conninfo(database.admin_url, user=f"{database.name}_login", password="x")
    finally:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            for statement in ("REASSIGN OWNED BY {} TO CURRENT_USER", "DROP OWNED BY {}", "DROP ROLE {}"):
                admin.execute(sql.SQL(statement).format(login))


CONNECT = "GRANT CONNECT ON DATABASE {database} TO {login}"


def test_the_services_own_login_is_accepted(module_database: Database) -> None:
    with psycopg.connect(module_database.service_url) as service:
        roles.check_not_owner(service)
        roles.check_writer(service)


@pytest.mark.parametrize(
    ("attributes", "statement", "reason"),
    [
        ("SUPERUSER", "", "it is a superuser"),
        ("BYPASSRLS IN ROLE gainsay_writer", "", "it may bypass row security"),
        ("CREATEROLE IN ROLE gainsay_writer", "", "it may create roles"),
        ("IN ROLE gainsay_writer", "GRANT gainsay_owner TO {login} WITH INHERIT FALSE, SET TRUE", "gainsay_owner"),
        ("IN ROLE gainsay_writer", "GRANT pg_write_all_data TO {login}", "pg_write_all_data"),
    ],
)
def test_a_login_that_could_change_evidence_is_refused_with_the_reason(
    cluster: Cluster, module_database: Database, attributes: str, statement: str, reason: str
) -> None:
    statements = [statement] if statement else []

    with (
        own_login(cluster, module_database, attributes, *statements) as url,
        psycopg.connect(url) as service,
        pytest.raises(roles.UnsafeRole) as refusal,
    ):
        roles.check_not_owner(service)

    assert reason in refusal.value.detail
    assert "GAINSAY_DATABASE_URL" in refusal.value.detail


def test_a_login_that_is_the_owner_through_another_role_is_refused(cluster: Cluster, module_database: Database) -> None:
    between: tuple[LiteralString, ...] = (
        "CREATE ROLE {between} IN ROLE gainsay_owner",
        "GRANT {between} TO {login}",
    )
    try:
        with (
            own_login(cluster, module_database, "IN ROLE gainsay_writer", *between) as url,
            psycopg.connect(url) as service,
            pytest.raises(roles.UnsafeRole) as refusal,
        ):
            roles.check_not_owner(service)
    finally:
        cluster.admin.execute(f"DROP ROLE {module_database.name}_between".encode())

    assert "role gainsay_owner, which it can act as, writes without regard to grants" in refusal.value.detail


def test_a_login_that_owns_a_table_of_the_schema_is_refused(cluster: Cluster, module_database: Database) -> None:
    with own_login(cluster, module_database, "IN ROLE gainsay_writer") as url:
        with psycopg.connect(module_database.admin_url) as admin:
            admin.execute("CREATE TABLE gainsay.stray (n integer)")
            admin.execute(
                sql.SQL("ALTER TABLE gainsay.stray OWNER TO {}").format(sql.Identifier(f"{module_database.name}_login"))
            )
        with (
            psycopg.connect(url) as service,
            pytest.raises(roles.UnsafeRole, match=r"it owns tables of schema gainsay"),
        ):
            roles.check_not_owner(service)


def test_set_role_does_not_hide_who_logged_in(module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url) as service:
        service.execute("SET ROLE gainsay_writer")

        with pytest.raises(roles.UnsafeRole, match="it is a superuser"):
            roles.check_not_owner(service)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_is_refused_before_anything_is_applied(
    cluster: Cluster, database: Database, encoding: LiteralString
) -> None:
    name = f"{database.name}_odd"
    make = f"CREATE DATABASE {{}} OWNER {{}} TEMPLATE template0 ENCODING '{encoding}' LOCALE_PROVIDER libc LOCALE 'C'"
    cluster.admin.execute(sql.SQL(make).format(sql.Identifier(name), sql.Identifier(roles.OWNER)))
    url = make_conninfo(database.migrate_url, dbname=name)
    try:
        for asked in (migrate, pending):
            with pytest.raises(roles.OtherEncoding, match=f"found '{name}' in {encoding}, which cannot be changed"):
                asked(url, MIGRATIONS)
        with psycopg.connect(make_conninfo(database.admin_url, dbname=name)) as admin:
            assert schema_version(admin) is None
    finally:
        cluster.admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_a_login_without_the_writers_rights_is_told_the_grant(cluster: Cluster, module_database: Database) -> None:
    with own_login(cluster, module_database, "NOINHERIT", CONNECT) as url, psycopg.connect(url) as service:
        with pytest.raises(roles.RolesMissing, match="GRANT gainsay_writer TO"):
            roles.check_writer(service)
        with pytest.raises(roles.RolesMissing, match="GRANT gainsay_writer TO"):
            check_migrated(service, MIGRATIONS)


def test_the_grant_can_be_run_as_it_stands_whatever_the_login_is_called(cluster: Cluster, database: Database) -> None:
    login = sql.Identifier(f'{database.name}-Desk "7"@bank')
    cluster.admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(login))
    try:
        cluster.admin.execute(sql.SQL(CONNECT).format(database=sql.Identifier(database.name), login=login))
        user = login.as_string().strip('"').replace('""', '"')
        url = make_conninfo(database.admin_url, user=user, password="x")
        with psycopg.connect(url, autocommit=True) as stranger:
            with pytest.raises(roles.RolesMissing) as refusal:
                roles.check_writer(stranger)
            cluster.admin.execute(refusal.value.detail.partition("administrator: ")[2].encode())
            roles.check_writer(stranger)
    finally:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP OWNED BY {}").format(login))
            admin.execute(sql.SQL("DROP ROLE {}").format(login))


def test_a_login_of_another_process_is_told_to_name_the_right_one_and_never_to_be_granted_more(
    cluster: Cluster, database: Database, files: Path
) -> None:
    """Addresses that are swapped by mistake: a grant would make the login one that is refused as unsafe."""
    with own_login(cluster, database, "IN ROLE gainsay_auditor", CONNECT) as auditor:
        for url, check, role, own in (
            (database.serving_url, preflight.check_database, "writer", "api"),
            (auditor, preflight.check_database, "writer", "auditor"),
            (auditor, preflight.check_sequencer, "sequencer", "auditor"),
            (database.service_url, migrate, "owner", "writer"),
        ):
            words = f"name the login of gainsay_{role} in its place: .* is one of gainsay_{own}"
            with pytest.raises(roles.RolesMissing, match=words) as refusal:
                check(url, files if check is migrate else MIGRATIONS)
            assert "GRANT" not in refusal.value.detail


# ---- setting up a database that others administer --------------------------------------------------------------------


def test_a_migrator_who_may_make_nothing_is_told_what_an_administrator_is_to_run(
    cluster: Cluster, empty_database: Database, files: Path
) -> None:
    with own_login(cluster, empty_database, "", CONNECT) as url:
        with pytest.raises(roles.RolesMissing) as refusal:
            migrate(url, files)

        for statement in roles.SET_UP.format(migrator=f"{empty_database.name}_login").splitlines():
            assert statement in refusal.value.detail


def test_a_migrator_without_rights_of_its_own_migrates_what_an_administrator_has_set_up(
    cluster: Cluster, empty_database: Database, files: Path
) -> None:
    grants: tuple[LiteralString, ...] = (
        "ALTER DATABASE {database} OWNER TO CURRENT_USER",
        "GRANT gainsay_owner TO {login}",
        CONNECT,
    )
    with psycopg.connect(empty_database.admin_url) as admin:
        for schema in ("gainsay", "gainsay_tenant"):
            admin.execute(f"CREATE SCHEMA {schema} AUTHORIZATION gainsay_owner".encode())

    with own_login(cluster, empty_database, "", *grants) as url:
        applied = migrate(url, files)

    assert applied == [FIRST, "0002_evidence"]


def test_a_schema_of_somebody_elses_is_left_alone(empty_database: Database, files: Path) -> None:
    with psycopg.connect(empty_database.admin_url) as admin:
        admin.execute("CREATE SCHEMA gainsay")

    with pytest.raises(roles.RolesMissing, match=r"expected schema gainsay to belong to gainsay_owner"):
        migrate(empty_database.migrate_url, files)


def test_a_shared_databases_own_grants_are_left_as_they_are(
    cluster: Cluster, empty_database: Database, files: Path
) -> None:
    cluster.admin.execute(
        sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(sql.Identifier(empty_database.name))
    )
    before = ask(empty_database.admin_url, "SELECT nspacl::text FROM pg_namespace WHERE nspname = 'public'")

    migrate(empty_database.admin_url, files)

    assert ask(empty_database.admin_url, "SELECT nspacl::text FROM pg_namespace WHERE nspname = 'public'") == before
