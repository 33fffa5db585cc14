"""A statement of a tenant is a transaction of its own: what goes wrong in it leaves nothing and no tenant behind."""

from __future__ import annotations

import asyncio
from typing import LiteralString

import psycopg
import pytest

from service.errors import StoreUnavailable
from service.store import pool
from service.store.pool import ServingDatabase, StatementRefused
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.no_replay
SAID = "SELECT current_setting('gainsay.tenant', true) AS tenant, pg_backend_pid() AS pid"


def asking(monkeypatch: pytest.MonkeyPatch, **statements: LiteralString) -> None:
    """Let statements of the test be named queries."""
    monkeypatch.setattr(pool, "queries", lambda: {name: sql.encode() for name, sql in statements.items()})


def ruled(database: Database, *statements: LiteralString) -> None:
    """Run statements as superuser."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for statement in statements:
            admin.execute(statement)


async def test_many_tenants_share_the_connections_and_none_sees_anothers_name(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(monkeypatch, said=SAID)
    async with ServingDatabase.open(database.serving_url, size=3) as serving:
        names = [f"tenant-{nth % 7}" for nth in range(200)]
        rows = await asyncio.gather(*(serving.of(name).query("said") for name in names))
        (nobody,) = await serving.query("said")

    assert [row["tenant"] for (row,) in rows] == names
    assert len({row["pid"] for (row,) in rows}) <= 3
    assert not nobody["tenant"]


async def test_a_commit_that_is_refused_is_told_and_its_connection_not_used_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No table of ours refuses anything at the commit; a later one may."""
    ruled(
        database,
        "CREATE TABLE gainsay.noted (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
        "GRANT SELECT, INSERT ON gainsay.noted TO gainsay_api",
    )
    asking(monkeypatch, said=SAID, noted="INSERT INTO noted VALUES (1), (1) RETURNING n")
    async with ServingDatabase.open(database.serving_url, size=1) as serving:
        ours = serving.of("default")
        (before,) = await ours.query("said")
        with pytest.raises(StoreUnavailable):
            await ours.query("noted")
        (after,) = await ours.query("said")
    with psycopg.connect(database.admin_url) as admin:
        assert admin.execute("SELECT count(*) FROM gainsay.noted").fetchone() == (0,)

    assert after["tenant"] == "default"
    assert after["pid"] != before["pid"]


async def test_a_refused_statement_leaves_the_connection_in_use(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(
        monkeypatch, said=SAID, wrong="SELECT 1 / (length(current_user) - length(current_user)) AS n", odd="SELECT nix"
    )
    async with ServingDatabase.open(database.serving_url, size=1) as serving:
        ours = serving.of("default")
        (before,) = await ours.query("said")
        for name in ("wrong", "odd") * 3:
            with pytest.raises(StatementRefused):
                await ours.query(name)
            (after,) = await ours.query("said")
            assert after == before


async def test_a_caller_who_goes_away_leaves_no_connection_of_its_tenant(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruled(database, "CREATE TABLE gainsay.noted (n int)", "GRANT INSERT ON gainsay.noted TO gainsay_api")
    asking(monkeypatch, noted="INSERT INTO noted SELECT 1 FROM pg_sleep(2) RETURNING 1 AS n", said=SAID)
    async with ServingDatabase.open(database.serving_url, size=1) as serving:
        ours = serving.of("default")
        (before,) = await ours.query("said")
        asked = asyncio.create_task(ours.query("noted"))
        await asyncio.sleep(0.2)
        asked.cancel()
        await asyncio.wait([asked], timeout=10)
        assert asked.cancelled()
        (after,) = await ours.query("said")

    assert after["tenant"] == "default"
    assert after["pid"] != before["pid"]


async def test_the_services_own_login_is_the_same_for_every_tenant(database: Database) -> None:
    async with pool.Database.open(database.service_url, size=1) as service:
        assert service.of("default") is service
