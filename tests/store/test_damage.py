"""Damaged evidence of one debate is never served and never continued, and is one incident for each place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from service import telemetry
from service.cli.replay import replay_debate
from service.errors import EvidenceDamaged, GainsayError, NotFound
from service.reviews import DebateQuery
from service.reviews.abort import stop
from service.store.damage import open_damage
from service.store.stored_debate import read_debate
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, a_writer, bench
from tests.store.workers import a_worker, until

pytestmark = pytest.mark.no_replay
FLIP = "set_byte({0}, 40, get_byte({0}, 40) # 1)"
DAMAGE = {
    "a payload": (
        "UPDATE payload SET body = " + FLIP.format("body") + " WHERE debate = %(a)s AND n = 4",
        "record 4",
    ),
    "a payload's salt": (
        "UPDATE payload SET salt = decode(repeat('00', 32), 'hex') WHERE debate = %(a)s AND n = 4",
        "record 4",
    ),
    "a payload that is gone": ("DELETE FROM payload WHERE debate = %(a)s AND n = 4", "record 4"),
    "a leaf": ("UPDATE entry SET leaf = " + FLIP.format("leaf") + " WHERE debate = %(a)s AND n = 4", "record 4"),
    "a record that is gone": ("DELETE FROM entry WHERE debate = %(a)s AND n = 4", "record 4"),
    "the last record": (
        "DELETE FROM entry WHERE debate = %(a)s AND n = (SELECT max(n) FROM entry WHERE debate = %(a)s)",
        "record ",
    ),
    "the status": ("UPDATE debate_head SET state = 'failed' WHERE debate = %(a)s", "the head row"),
    "a status that runs again": ("UPDATE debate_head SET state = 'running' WHERE debate = %(a)s", "the head row"),
    "the task type": ("UPDATE debate_head SET task_type = 'security' WHERE debate = %(a)s", "the head row"),
    "the last hash": (
        "UPDATE debate_head SET last_hash = decode(repeat('00', 32), 'hex') WHERE debate = %(a)s",
        "record ",
    ),
    "the context": ("UPDATE context SET body = " + FLIP.format("body") + " WHERE debate = %(a)s", "the context"),
    "a context that is gone": ("DELETE FROM context WHERE debate = %(a)s", "the context"),
}


@pytest.fixture(scope="module")
def scene(cluster: Cluster, template: Database) -> Iterator[tuple[Database, str]]:
    """A database with one debate that has ended."""

    async def a_debate(database: Database) -> str:
        async with bench(database.service_url) as service:
            return await service.run()

    with cluster.lend(template.name) as database:
        yield database, asyncio.run(a_debate(database))


@contextmanager
def damaged(database: Database, statement: str, debate: str) -> Iterator[None]:
    """What a superuser does who has switched the triggers off; undone at the end, by a copy of the rows."""
    tables = ("entry", "payload", "document", "context", "debate_head")
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        for table in tables:
            admin.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            admin.execute(f"CREATE TEMP TABLE kept_{table} AS SELECT * FROM gainsay.{table}".encode())
        assert admin.execute(statement.encode(), {"a": debate}).rowcount == 1
        try:
            yield
        finally:
            for table in tables:
                admin.execute(f"DELETE FROM gainsay.{table}".encode())
                admin.execute(f"INSERT INTO gainsay.{table} SELECT * FROM kept_{table}".encode())


def incidents(database: Database) -> list[Any]:
    """The open ones."""
    with psycopg.connect(database.admin_url) as admin:
        query = (
            "SELECT subject, debate::text, place FROM gainsay.damage d WHERE closes IS NULL "
            "AND NOT EXISTS (SELECT FROM gainsay.damage WHERE closes = d.id) ORDER BY id"
        )
        return admin.execute(query).fetchall()


def close_all(database: Database) -> None:
    """What a person does when the rows are restored, in the words of the runbook."""
    with psycopg.connect(database.migrate_url) as owner:
        owner.execute("SET ROLE gainsay_owner")
        owner.execute(
            "INSERT INTO gainsay.damage (subject, tenant, log, debate, place, what, closes) "
            "SELECT subject, tenant, log, debate, place, 'restored by a test', id FROM gainsay.damage d "
            "WHERE closes IS NULL AND NOT EXISTS (SELECT FROM gainsay.damage WHERE closes = d.id)"
        )


@pytest.mark.parametrize("what", DAMAGE)
async def test_a_damaged_debate_is_refused_by_name_whatever_is_asked_of_it(
    scene: tuple[Database, str], what: str
) -> None:
    database, debate = scene
    statement, place = DAMAGE[what]
    async with bench(database.service_url) as service:
        counted = telemetry.DAMAGED.labels(subject="debate")._value.get()
        with damaged(database, statement, debate):
            for ask in _questions(service, debate):
                with pytest.raises(EvidenceDamaged, match=f"debate {debate} is damaged: {place}"):
                    await ask()

            ((subject, about, found),) = incidents(database)
            assert (subject, about) == ("debate", debate)
            assert found.startswith(place)
            assert (await open_damage(service.database))["debate"]["incidents"] == 1
        close_all(database)

        assert telemetry.DAMAGED.labels(subject="debate")._value.get() > counted
        assert await open_damage(service.database) == {}
        assert (await service.reviews.result(debate, CALLER)).debate_id == debate


def _questions(service: Bench, debate: str) -> Iterator[Callable[[], Any]]:
    """Everything that shows one debate, or continues it."""

    async def streamed() -> None:
        async for _ in service.reviews.follow(debate, CALLER):
            pass

    yield lambda: service.reviews.result(debate, CALLER)
    yield lambda: service.reviews.summary(debate, CALLER)
    yield lambda: service.reviews.lines(debate, CALLER)
    yield streamed
    yield lambda: service.reviews.state_of(debate, CALLER)
    yield lambda: replay_debate(service.database, debate, CALLER.tenant)
    yield lambda: stop(service.database, service.hub, debate, "default", a_writer("caller"), "enough")


async def test_documents_are_compared_where_they_are_shown_or_argued_about(scene: tuple[Database, str]) -> None:
    database, debate = scene
    statement = "UPDATE document SET body = " + FLIP.format("body") + " WHERE debate = %(a)s"
    async with bench(database.service_url) as service:
        with damaged(database, statement, debate):
            assert (await service.reviews.lines(debate, CALLER))[0].n == 0

            for show in (service.reviews.result, service.reviews.summary):
                with pytest.raises(EvidenceDamaged, match="document 1 of the case does not have the hash"):
                    await show(debate, CALLER)


async def test_a_debate_that_was_given_to_another_tenant_is_shown_to_neither(scene: tuple[Database, str]) -> None:
    database, debate = scene
    async with bench(database.service_url) as service:
        with damaged(database, "UPDATE debate_head SET tenant = 'other' WHERE debate = %(a)s", debate):
            with pytest.raises(NotFound):
                await service.reviews.result(debate, CALLER)
            with pytest.raises(EvidenceDamaged, match="the head row names another tenant than record 0"):
                await read_debate(service.database, debate, "other")


async def test_a_list_goes_on_without_the_decision_of_a_damaged_debate(scene: tuple[Database, str]) -> None:
    database, debate = scene
    async with bench(database.service_url) as service:
        with damaged(database, DAMAGE["a payload"][0], debate):
            with psycopg.connect(database.admin_url) as admin:
                admin.execute("DELETE FROM gainsay.decision")
            (summary,) = (await service.reviews.find(DebateQuery(), CALLER)).debates

    assert (summary.debate, summary.decision) == (debate, None)


async def test_a_worker_makes_no_call_in_a_damaged_debate_and_looks_again_later(database: Database) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debate = await service.submit()
        with damaged(database, "UPDATE document SET body = body || 'x' WHERE debate = %(a)s", debate):
            async with a_worker(service, on_trouble=told.append) as worker:

                async def left() -> bool:
                    return bool(told) and not worker.running

                await until(left)
                left_s = "extract(epoch FROM lease_until - clock_timestamp())"
                with psycopg.connect(database.admin_url) as admin:
                    query = f"SELECT state, next_n, worker, faults, {left_s} > 200 FROM gainsay.debate_head"
                    assert admin.execute(query.encode()).fetchall() == [("running", 3, None, 0, True)]

        assert [error.code for error in told] == ["evidence_damaged"]
        assert isinstance(service.provider, CannedProvider)
        assert not service.provider.calls
        assert incidents(database) == [("debate", debate, "document 1 of the case")]
