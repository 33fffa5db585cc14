"""What the holder of the service's own login can do: the worker's host is compromised, code, memory and password.

The tests try each act with that login on a debate that waits or is over. What they show is in docs/threat-model.md,
*What a compromised host can do*.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from service.app import running_worker
from service.audit.note import SigningKey
from service.store.schema.protections import EVIDENCE, SEQUENCED
from tests.fixtures.postgres import Database
from tests.fixtures.serving import SIGNING_KEY, Served, a_case, served

DENIED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)


@pytest.fixture
async def site(database: Database) -> AsyncIterator[Served]:
    """A service that has one proven debate; its worker and its sequencer run."""
    async with served(database.service_url) as found:
        await found.finished()
        yield found


def refused(database: Database, statement: sql.Composed | LiteralString) -> None:
    """The worker's login may not do this."""
    with psycopg.connect(database.service_url, autocommit=True) as login:
        login.execute("SET search_path = gainsay")
        with pytest.raises(DENIED):
            login.execute(statement)


async def test_a_worker_host_changes_no_evidence(site: Served, database: Database) -> None:
    tried = 0
    with psycopg.connect(database.service_url) as reader:
        columns = reader.execute(
            "SELECT DISTINCT ON (table_name) table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'gainsay' AND is_identity = 'NO' AND table_name = ANY (%s)",
            [list(EVIDENCE)],
        ).fetchall()
    assert {table for table, _ in columns} == set(EVIDENCE)

    for table, column in columns:
        name, part = sql.Identifier(table), sql.Identifier(column)
        for act in (
            sql.SQL("UPDATE {} SET {} = {}").format(name, part, part),
            sql.SQL("DELETE FROM {}").format(name),
            sql.SQL("TRUNCATE {}").format(name),
            sql.SQL("ALTER TABLE {} DISABLE TRIGGER ALL").format(name),
            sql.SQL("DROP TABLE {}").format(name),
        ):
            refused(database, act)
        tried += 1
    assert tried == len(EVIDENCE)


async def test_a_worker_host_adds_no_leaf_no_tile_and_no_signed_checkpoint(site: Served, database: Database) -> None:
    for table in SEQUENCED:
        refused(database, sql.SQL("INSERT INTO {} DEFAULT VALUES").format(sql.Identifier(table)))


async def test_a_worker_host_has_nothing_to_sign_with(site: Served, database: Database) -> None:
    """The log's key is in no row that the login reads; a checkpoint of another key is none of the log's."""
    secret = SIGNING_KEY.encode().rpartition("+")[2]
    with psycopg.connect(database.service_url) as login:
        tables = login.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relkind IN ('r', 'p') "
            "AND has_table_privilege(oid, 'SELECT')"
        ).fetchall()
        read = [
            str(login.execute(sql.SQL("SELECT t::text FROM gainsay.{} t").format(sql.Identifier(table))).fetchall())
            for (table,) in tables
        ]

    assert len(tables) > 20
    assert not any(secret in text for text in read)
    assert SigningKey.from_seed("localhost", os.urandom(32)).public.encode() not in "".join(read)


async def test_a_worker_host_does_not_raise_the_ceiling_of_a_running_debate(database: Database) -> None:
    """The working row says any number; what a debate may spend is in its first record, which no login changes."""
    case = a_case(costCeilingUSD="0.19")
    async with served(database.service_url, work=False) as site:
        ids = [(await site.submit(case))["debateId"] for _ in range(2)]
        with psycopg.connect(database.service_url, autocommit=True) as login:
            login.execute(
                "UPDATE gainsay.debate_head SET ceiling = 900000000, granted = 900000000 WHERE debate = %s", ids[:1]
            )
        async with running_worker(site.app):
            for debate in ids:
                await site.events(debate)  # to their ends
        raised, honest = [(await site.http.get(f"/v1/debates/{debate}")).json()["decision"]["cost"] for debate in ids]

    assert raised == honest
    assert raised["ceilingUSD"] == "0.19"


async def test_a_worker_host_reads_every_tenant_and_records_what_it_likes(site: Served, database: Database) -> None:
    """Not defended: the login is the service. What it adds is sealed as if the service had written it."""
    with psycopg.connect(database.service_url, autocommit=True) as login:
        found = login.execute("SELECT count(*) FROM gainsay.payload").fetchone()
        login.execute(
            "INSERT INTO gainsay.payload (debate, n, salt, body) SELECT debate, 9999, salt, body FROM gainsay.payload "
            "WHERE n = 1"
        )

    assert found is not None
    assert found[0] > 0
