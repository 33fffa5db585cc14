"""`gainsay serve` starts with no login that row security would not keep to one tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from service.cli.doctor.deployment import check_callers, check_sequencing
from service.errors import SettingsError
from service.store.schema.migrate import Unmigrated
from service.store.schema.preflight import check_serving
from service.store.schema.protections import ProtectionMissing
from service.store.schema.roles import RolesMissing, UnsafeRole
from service.store.startup import addresses
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database
from tests.fixtures.serving import settings_for

pytestmark = pytest.mark.no_replay


@contextmanager
def login(cluster: Cluster, database: Database, attributes: LiteralString) -> Iterator[str]:
    """The address of a login with these attributes and memberships."""
    name, password = f"gainsay_test_{token_hex(4)}", token_hex(8)
    made = sql.SQL(f"CREATE ROLE {{}} LOGIN PASSWORD {{}} {attributes}")
    cluster.admin.execute(made.format(sql.Identifier(name), sql.Literal(password)))
    cluster.admin.execute(
        sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(database.name), sql.Identifier(name))
    )
    try:
        yield make_conninfo(database.admin_url, user=name, password=password)
    finally:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def change(database: Database, *statements: str) -> None:
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        for statement in statements:
            admin.execute(statement.encode())


def test_the_login_that_the_migrations_know_is_accepted(module_database: Database) -> None:
    check_serving(module_database.serving_url, MIGRATIONS)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("SUPERUSER", "it is a superuser"),
        ("BYPASSRLS IN ROLE gainsay_api", "it may bypass row security"),
        ("CREATEROLE IN ROLE gainsay_api", "it may create roles"),
        (
            "IN ROLE gainsay_api, gainsay_writer",
            "role gainsay_writer, which it can act as, reads or writes what is not",
        ),
        ("IN ROLE gainsay_api, gainsay_sequencer", "role gainsay_sequencer, which it can act as"),
        ("IN ROLE gainsay_api, gainsay_auditor", "role gainsay_auditor, which it can act as"),
        ("IN ROLE gainsay_api, gainsay_reader", "role gainsay_reader, which it can act as"),
        ("IN ROLE gainsay_api, gainsay_owner", "role gainsay_owner, which it can act as"),
    ],
)
def test_a_login_that_could_see_more_than_one_tenant_is_refused(
    cluster: Cluster, module_database: Database, attributes: LiteralString, reason: str
) -> None:
    with login(cluster, module_database, attributes) as url, pytest.raises(UnsafeRole) as refusal:
        check_serving(url, MIGRATIONS)

    assert reason in refusal.value.detail
    assert "Give GAINSAY_API_URL a login of its own" in refusal.value.detail


def test_the_services_own_login_serves_no_callers_and_a_stranger_none_at_all(
    cluster: Cluster, module_database: Database, empty_database: Database
) -> None:
    with pytest.raises(UnsafeRole, match="gainsay_writer"):
        check_serving(module_database.service_url, MIGRATIONS)
    with login(cluster, module_database, "") as url, pytest.raises(RolesMissing, match="GRANT gainsay_api TO"):
        check_serving(url, MIGRATIONS)
    with pytest.raises(Unmigrated):
        check_serving(empty_database.serving_url, MIGRATIONS)


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (("ALTER TABLE decision DISABLE ROW LEVEL SECURITY",), "gainsay.decision"),
        (("DROP POLICY own_tenant ON leaf",), "gainsay.leaf"),
        (("ALTER POLICY own_tenant ON payload USING (true)",), "gainsay.payload"),
        (("CREATE POLICY more ON entry FOR SELECT TO gainsay_api USING (true)",), "gainsay.entry"),
        (("CREATE POLICY more ON entry FOR SELECT USING (true)",), "gainsay.entry"),
        (("ALTER POLICY every_tenant ON context TO gainsay_writer, gainsay_api",), "gainsay.context"),
        (("CREATE POLICY more ON pending FOR INSERT TO gainsay_api WITH CHECK (true)",), "gainsay.pending"),
        (("GRANT SELECT ON entry_2026 TO gainsay_api",), "gainsay.entry_2026"),
        (("GRANT SELECT (body) ON payload_2026 TO gainsay_api",), "gainsay.payload_2026"),
        (("GRANT SELECT ON found_by TO gainsay_api",), "gainsay.found_by"),
        (("GRANT SELECT ON tenant_record TO gainsay_api",), "gainsay.tenant_record"),
        (("CREATE TABLE notes (tenant text)", "GRANT SELECT ON notes TO gainsay_api"), "gainsay.notes"),
        (("CREATE TABLE notes (tenant text)", "GRANT SELECT ON notes TO PUBLIC"), "gainsay.notes"),
        (
            (
                "CREATE VIEW gainsay_tenant.notes AS SELECT * FROM gainsay.decision",
                "GRANT SELECT ON gainsay_tenant.notes TO gainsay_api",
            ),
            "gainsay_tenant.notes",
        ),
        (
            ("CREATE OR REPLACE VIEW gainsay_tenant.found_by AS SELECT * FROM gainsay.found_by",),
            "gainsay_tenant.found_by",
        ),
    ],
)
def test_rows_that_no_policy_keeps_to_a_tenant_are_refused(
    database: Database, statements: tuple[str, ...], named: str
) -> None:
    change(database, *statements)

    with pytest.raises(ProtectionMissing, match=f"found none at {named}\\. "):
        check_serving(database.serving_url, MIGRATIONS)


@pytest.mark.parametrize(
    "statement",
    [
        "GRANT UPDATE ON entry TO gainsay_api",
        "GRANT INSERT ON leaf TO gainsay_api",
        "GRANT INSERT ON content TO gainsay_api",
        "GRANT INSERT ON log_epoch TO gainsay_api",
        "GRANT INSERT ON draw TO gainsay_api",
    ],
)
def test_a_grant_too_many_is_refused(database: Database, statement: str) -> None:
    change(database, statement)

    with pytest.raises(UnsafeRole, match="with the grants of the migrations and no more"):
        check_serving(database.serving_url, MIGRATIONS)


def test_a_process_that_serves_needs_the_address_and_has_it_checked(database: Database) -> None:
    settings = settings_for(database.service_url)
    with (
        pytest.raises(SettingsError, match="expected GAINSAY_API_URL beside GAINSAY_DATABASE_URL"),
        addresses(settings, serving=True),
    ):
        pass
    with addresses(settings) as found:
        assert found.serving is None
    with addresses(settings_for(database.service_url, GAINSAY_API_URL=database.serving_url), serving=True) as found:
        assert found.serving == database.serving_url
    wrong = settings_for(database.service_url, GAINSAY_API_URL=database.service_url)
    with pytest.raises(UnsafeRole), addresses(wrong, serving=True):
        pass


def test_a_process_that_serves_is_refused_callers_whose_cases_would_be_in_another_database(
    database: Database, module_database: Database
) -> None:
    """Cases would be accepted there, and no worker, no queue's length and no alert of this one would know of them."""
    settings = settings_for(database.service_url, GAINSAY_API_URL=module_database.serving_url)
    found = f"to lead to one database, found two: '{database.name}' at .* and '{module_database.name}' at "
    with pytest.raises(SettingsError, match=found), addresses(settings, serving=True):
        pass

    sequencing = settings_for(
        database.service_url,
        GAINSAY_API_URL=database.serving_url,
        GAINSAY_SEQUENCER_URL=module_database.sequencer_url,
    )
    with pytest.raises(SettingsError, match=found), addresses(sequencing, serving=True):
        pass  # nothing of what is recorded would be proven

    service = database.service_url  # and `gainsay doctor` finds it, of the sequencer's address too
    for looks, there, url in (
        (check_callers, module_database.serving_url, database.serving_url),
        (check_sequencing, module_database.sequencer_url, database.sequencer_url),
    ):
        with pytest.raises(SettingsError, match=found):
            list(looks(there, service))
        assert [finding.status for finding in looks(url, service)] == ["OK"]
