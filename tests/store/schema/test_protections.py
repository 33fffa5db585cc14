"""Nothing begins on a database whose evidence is not guarded as the migrations made it."""

from __future__ import annotations

import psycopg
import pytest

from service.store.schema.preflight import check_database, check_sequencer, refuse_incidents
from service.store.schema.protections import EVIDENCE, ProtectionMissing
from service.store.schema.roles import UnsafeRole
from tests.fixtures.postgres import MIGRATIONS, Database

pytestmark = pytest.mark.no_replay


def change(database: Database, statement: str) -> None:
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as connection:
        connection.execute(statement.encode())


def check(database: Database) -> None:
    check_database(database.service_url, MIGRATIONS)
    check_sequencer(database.sequencer_url, MIGRATIONS)
    refuse_incidents(database.service_url)


def test_a_database_as_the_migrations_make_it_is_guarded(module_database: Database) -> None:
    check(module_database)


def test_every_table_whose_changes_are_refused_is_looked_at(module_database: Database) -> None:
    with psycopg.connect(module_database.admin_url) as connection:
        rows = connection.execute(
            "SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE t.tgname = 'refuse_change' AND NOT c.relispartition"
        ).fetchall()

    assert {name for (name,) in rows} == {*EVIDENCE, "migration", "schema_floor"}


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE entry DISABLE TRIGGER ALL",
        "ALTER TABLE entry_2030 DISABLE TRIGGER refuse_change",
        "ALTER TABLE leaf DISABLE TRIGGER refuse_truncate",
        "ALTER TABLE checkpoint ENABLE TRIGGER refuse_change",
        "DROP TRIGGER refuse_truncate ON payload_2026",
        "DROP TRIGGER refuse_change ON content",
    ],
)
def test_a_trigger_that_is_gone_or_switched_off_is_refused(database: Database, statement: str) -> None:
    change(database, statement)

    with pytest.raises(
        ProtectionMissing, match=rf"switched off at {statement.split()[-1 if ' ON ' in statement else 2]}"
    ):
        check(database)


@pytest.mark.parametrize(
    ("grant", "found"),
    [
        ("UPDATE ON entry TO gainsay_writer", "UPDATE on entry"),
        ("UPDATE (body) ON payload TO gainsay_writer", "UPDATE on payload"),
        ("TRIGGER, DELETE ON leaf TO gainsay_writer", "DELETE, TRIGGER on leaf"),
        ("TRUNCATE ON document_2031 TO gainsay_writer", "TRUNCATE on document"),
        ("INSERT ON checkpoint TO gainsay_writer", "INSERT on checkpoint"),
        ("INSERT (leaf) ON entry TO gainsay_sequencer", "INSERT on entry"),
        ("DELETE ON batch TO gainsay_sequencer", "DELETE on batch"),
    ],
)
def test_a_login_that_was_granted_more_is_refused(database: Database, grant: str, found: str) -> None:
    change(database, f"GRANT {grant}")

    with pytest.raises(UnsafeRole, match=found):
        check(database)
