"""What the holder of a login can do whose host is compromised, code, memory and password.

A worker's host has the service's own login, an API's host also the one that serves callers. The tests try each act with
one of them on a debate that waits, runs or is over. What they show is in docs/threat-model.md, *What a compromised host
can do*; an act that succeeds has a test as well.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from service.app import running_worker
from service.audit.log_events import ContentRead, Reading
from service.audit.note import SigningKey
from service.identity.api_keys import hash_key
from service.reviews.abort import stop
from service.store.hub import EventHub
from service.store.pool import ServingDatabase
from service.store.schema.protections import EVIDENCE, SEQUENCED
from service.store.sealing import write_event
from tests.fixtures.callers import Registers
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer
from tests.fixtures.serving import SIGNING_KEY, Served, a_case, served

DENIED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)


@pytest.fixture
async def site(database: Database) -> AsyncIterator[Served]:
    """A service that has one proven debate; its worker and its sequencer run."""
    async with served(database.service_url) as found:
        await found.finished()
        yield found


@contextmanager
def callers_login(database: Database, tenant: str = "default") -> Iterator[psycopg.Connection[Any]]:
    """A session of the login that serves callers, as it sets itself up: for a tenant of its choice."""
    with psycopg.connect(database.serving_url, autocommit=True) as login:
        login.execute("SET search_path = gainsay_tenant, gainsay")
        login.execute("SELECT set_config('gainsay.tenant', %s, false)", [tenant])
        yield login


def refused(url: str, *statements: sql.Composed | LiteralString) -> None:
    """The login may do none of this, for the tenant whose rows there are."""
    with psycopg.connect(url, autocommit=True) as login:
        login.execute("SET search_path = gainsay_tenant, gainsay")
        login.execute("SET gainsay.tenant = 'default'")
        for statement in statements:
            with pytest.raises(DENIED):
                login.execute(statement)


def added(table: str) -> sql.Composed:
    """A statement that adds a row."""
    return sql.SQL("INSERT INTO {} DEFAULT VALUES").format(sql.Identifier(table))


def changes_no_evidence(url: str, admin: str) -> None:
    """Every way to change or remove a row of evidence is refused to a login."""
    with psycopg.connect(admin) as reader:
        columns = reader.execute(
            "SELECT DISTINCT ON (table_name) table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'gainsay' AND table_name = ANY (%s) AND is_identity = 'NO'",
            [list(EVIDENCE)],
        ).fetchall()
    assert {table for table, _ in columns} == set(EVIDENCE)
    for table, column in columns:
        name, part = sql.Identifier("gainsay", table), sql.Identifier(column)
        refused(
            url,
            sql.SQL("UPDATE {} SET {} = {}").format(name, part, part),
            sql.SQL("DELETE FROM {}").format(name),
            sql.SQL("TRUNCATE {}").format(name),
            sql.SQL("ALTER TABLE {} DISABLE TRIGGER ALL").format(name),
            sql.SQL("DROP TABLE {}").format(name),
        )


def everything_read(url: str) -> str:
    """The text of every row that a login can read, for the tenant whose rows there are."""
    with psycopg.connect(url, options="-c gainsay.tenant=default") as login:
        tables = login.execute(
            "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
            "WHERE nspname IN ('gainsay', 'gainsay_tenant') AND relkind IN ('r', 'p', 'v') "
            "AND has_table_privilege(c.oid, 'SELECT')"
        ).fetchall()
        read = [
            str(login.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(*n))).fetchall())
            for n in tables
        ]
    assert len(tables) > 20
    return "".join(read)


async def test_a_worker_host_changes_no_evidence(site: Served, database: Database) -> None:
    changes_no_evidence(database.service_url, database.admin_url)


async def test_a_worker_host_adds_no_leaf_no_tile_and_no_signed_checkpoint(site: Served, database: Database) -> None:
    refused(database.service_url, *map(added, SEQUENCED))


async def test_a_worker_host_has_nothing_to_sign_with(site: Served, database: Database) -> None:
    """The log's key is in no row that the login reads; a checkpoint of another key is none of the log's."""
    read = everything_read(database.service_url)

    assert SIGNING_KEY.encode().rpartition("+")[2] not in read
    assert SigningKey.from_seed("localhost", os.urandom(32)).public.encode() not in read


async def test_a_worker_host_does_not_raise_the_ceiling_of_a_running_debate(database: Database) -> None:
    """The working row says any number; what a debate may spend is in its first record, which no login changes."""
    case = a_case(costCeilingUSD="0.22")
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
    assert raised["ceilingUSD"] == "0.22"


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


async def test_an_api_host_changes_no_evidence(site: Served, database: Database) -> None:
    changes_no_evidence(database.serving_url, database.admin_url)


async def test_an_api_host_adds_no_leaf_signs_no_checkpoint_and_opens_no_log(site: Served, database: Database) -> None:
    refused(database.serving_url, *map(added, (*SEQUENCED, "log_epoch", "incident")))
    assert SIGNING_KEY.encode().rpartition("+")[2] not in everything_read(database.serving_url)


async def test_an_api_host_moves_no_money_no_lease_and_no_epoch(database: Database) -> None:
    """Of a debate's working row it changes nothing by itself, nor the rows of limits and charges."""
    async with served(database.service_url, work=False) as site:
        await site.submit()
        with psycopg.connect(database.admin_url) as admin:
            columns = admin.execute(
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_schema = 'gainsay' AND table_name = 'debate_head'"
            ).fetchall()
        assert {"granted", "ceiling", "spent", "held", "lease_until", "epoch", "state"} <= {name for (name,) in columns}
        parts = [sql.Identifier(name) for (name,) in columns]
        refused(
            database.serving_url,
            *(sql.SQL("UPDATE debate_head SET {} = {}").format(part, part) for part in parts),
            "DELETE FROM debate_head",
            "UPDATE spend_limit SET drawn = 0",
            "INSERT INTO charge DEFAULT VALUES",
            "INSERT INTO draw DEFAULT VALUES",
            "SELECT draw_tranche(gen_random_uuid(), 1, 0, 1, 1, 'UTC', NULL, NULL)",
            "SELECT * FROM claim_debates('w', 1, '{}', '', NULL, '{}', 1, 1, 1, 1)",
        )


SEALED = "SELECT FROM leaf JOIN payload USING (debate, n) WHERE position(%s::bytea IN body) > 0"
STOP, END = b'{"kind":"debate.stopped"}', b'{"kind":"debate.concluded"}'
MOVED = (
    "SELECT next_n, state, granted, ceiling, spent, held, excess, epoch, worker, lease_s, lease_until FROM debate_head"
)


async def test_an_api_host_stops_a_debate_and_moves_its_row_by_nothing_else(database: Database) -> None:
    """The one function that moves a head row for it: with a call in flight, a worker's lease and money on the row."""
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
    with (
        psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin,
        callers_login(database) as login,
    ):
        admin.execute(
            "UPDATE debate_head SET granted = 100, state = 'running', epoch = 1, worker = 'w', lease_s = 60, "
            "spent = 10, held = 20, lease_until = now() + interval '1 minute'"
        )
        before = admin.execute(MOVED).fetchone()
        row = admin.execute("SELECT next_n, last_hash FROM debate_head").fetchone()
        assert before is not None
        assert row is not None
        n, known = row

        def asked(leaves: list[bytes], ends: str | None = None, tenant: str = "default", epoch: int = 1) -> int:
            login.execute("SELECT set_config('gainsay.tenant', %s, false)", [tenant])
            return login.execute(
                "SELECT FROM stop_debate(%s, %s, %s, %s, %s::bytea[], %s)", [debate, epoch, n, known, leaves, ends]
            ).rowcount

        assert not asked([b'{"kind":"turn.spoke"}'])
        assert not asked([STOP, b'{"kind":"turn.spoke"}'])
        assert not asked([STOP, STOP, STOP])
        assert not asked([])
        assert not asked([STOP], "queued")
        assert not asked([STOP], "completed")
        assert not asked([STOP, END], "aborted"), "a call is in flight, and a worker has the debate"
        assert not asked([STOP], tenant="other")
        assert not asked([STOP], tenant="")
        assert not asked([STOP], epoch=0)
        assert admin.execute(MOVED).fetchone() == before

        assert asked([STOP])
        assert admin.execute(MOVED).fetchone() == (n + 1, *before[1:])


async def test_an_api_host_issues_no_key_revives_none_and_reads_no_hash(site: Served, database: Database) -> None:
    known = await Registers(database).issue("operator")
    refused(
        database.serving_url,
        "SELECT hash FROM api_key",
        "SELECT FROM subject",
        "SELECT FROM tenant",
        "INSERT INTO api_key DEFAULT VALUES",
        "INSERT INTO subject DEFAULT VALUES",
        "INSERT INTO tenant (name, created_by) VALUES ('mine', 'me')",
        "INSERT INTO assignment DEFAULT VALUES",
        "UPDATE api_key SET revoked = NULL",
        "UPDATE api_key SET expires = 'infinity'",
        "UPDATE api_key SET roles = '{operator}'",
        "UPDATE subject SET revoked = NULL",
        "DELETE FROM assignment",
        "SELECT add_key('', '', '', '', '{}', '{}', '', '', '', now(), false, NULL, NULL)",
        "SELECT has_operator('default')",
    )
    hashed = hash_key(known.secret.encode())
    read = everything_read(database.serving_url)
    with callers_login(database) as login:
        found = login.execute("SELECT f::text FROM find_key(%s) f", [hashed]).fetchone()

    assert found is not None
    assert known.key in found[0]
    assert hashed.hex() not in read + found[0]
    assert known.key not in read


async def test_an_api_host_reads_every_tenant_by_naming_it(site: Served, database: Database) -> None:
    """Not defended: row security guards against a clause that a statement forgets, not against the login's holder."""
    counts = {}
    for tenant in ("default", "other"):
        with callers_login(database, tenant) as login:
            counts[tenant] = login.execute("SELECT count(*) FROM payload").fetchone()

    assert counts["other"] == (0,)
    assert counts["default"] != (0,)


async def test_an_api_host_records_what_is_not_so_and_it_is_sealed(site: Served, database: Database) -> None:
    """Not defended: a false record in the name of a tenant's subject, which the sequencer takes up like any other."""
    reading = Reading(
        subject=f"sub_{'0' * 26}",
        role="auditor",
        via="apiKey",
        credential=None,
        what="list",
        debate=None,
        times=1,
        first="2026-11-24T00:00:00.000Z",
        last="2026-11-24T00:00:00.000Z",
    )
    async with ServingDatabase.open(database.serving_url, size=1) as serving:
        ours = serving.of("default")
        await write_event(ours, ContentRead((reading,)), "localhost/default/1", "default", a_writer("forger"))

    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        async with asyncio.timeout(10):
            while not admin.execute(SEALED, [reading.subject.encode()]).fetchall():  # noqa: ASYNC110 - a process signs
                await asyncio.sleep(0.05)


async def test_an_api_host_submits_and_aborts_in_every_tenants_name(database: Database) -> None:
    """Not defended: it is whose word the service takes for who calls."""
    async with (
        served(database.service_url, work=False) as site,
        ServingDatabase.open(database.serving_url, size=1) as serving,
    ):
        debate = (await site.submit())["debateId"]
        await stop(serving.of("default"), EventHub(), debate, "default", a_writer("not the caller"), "not asked for")
        told = (await site.http.get(f"/v1/debates/{debate}", headers={"prefer": "wait=10"})).json()

    assert told["status"] == "aborted"


async def test_an_api_host_makes_subjects_that_no_key_is_of(site: Served, database: Database) -> None:
    """Not defended: a subject is made when it first comes. Neither a role nor a key comes with it."""
    with callers_login(database) as login:
        found = login.execute("SELECT id, good FROM find_subject('default', 'bank', 'somebody', 'person')").fetchone()
        unknown = login.execute("SELECT FROM find_subject('unknown', 'bank', 'somebody', 'person')").rowcount
    with psycopg.connect(database.admin_url) as admin:
        keys = admin.execute("SELECT count(*) FROM gainsay.api_key WHERE subject = %s", [found and found[0]]).fetchone()

    assert found is not None
    assert found[1]
    assert unknown == 0
    assert keys == (0,)
