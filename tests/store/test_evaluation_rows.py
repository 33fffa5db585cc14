"""Rows of evaluations that are not what their records say are found, and made anew from the records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from service.proving.row_check import RowCheck
from service.simulated.provider import OfflineProvider
from service.store.pool import Database as Store
from service.store.rebuild import rebuild
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, a_plan, concluded, evaluating
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import bench
from tests.fixtures.sequencing import a_sequencer
from tests.store.test_row_check import change
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
BUILD = "00" * 32
ROWS = (
    "SELECT evaluation, tenant, name, held, scored, ended IS NOT NULL FROM evaluation ORDER BY evaluation",
    "SELECT tenant, evaluation, n, record FROM evaluation_entry ORDER BY evaluation, n",
)
ONE = "(SELECT evaluation FROM evaluation ORDER BY evaluation LIMIT 1)"
"""The evaluation that is concluded; the other one was registered, and nothing more."""
DAMAGED = {
    "an entry has no row": ("DELETE FROM evaluation_entry WHERE n = 2", "the record "),
    "the last entry has no row": (f"DELETE FROM evaluation_entry WHERE evaluation = {ONE} AND n = 6", "the record "),
    "a row of another number": ("UPDATE evaluation_entry SET n = 99 WHERE n = 3", "entry 3 of evaluation"),
    "a row of another tenant": ("UPDATE evaluation_entry SET tenant = 'other' WHERE n = 1", "entry 1 of evaluation"),
    "a row of no record": (
        f"INSERT INTO evaluation_entry SELECT 'default', {ONE}, 7, gen_random_uuid()",
        "entry 7 of evaluation",
    ),
    "an evaluation of no record": (
        """INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, credential, held)
        VALUES (gen_random_uuid(), 'default', 'n', 's', 'r', 'k', 'v', '{}', '', '{}')""",
        "the row of evaluation",
    ),
    "no row of an evaluation": ("DELETE FROM evaluation", "the row of evaluation"),
    "another tenant": ("UPDATE evaluation SET tenant = 'other'", "the row of evaluation"),
    "another name": ("UPDATE evaluation SET name = 'another'", "the row of evaluation"),
    "a look at held labels that is not counted": ("UPDATE evaluation SET held = '{set-a}'", "the row of evaluation"),
    "no score": (f"UPDATE evaluation SET scored = false WHERE evaluation = {ONE}", "the row of evaluation"),
    "an end before there is one": ("UPDATE evaluation SET ended = now() WHERE ended IS NULL", "the row of evaluation"),
    "no end": ("UPDATE evaluation SET ended = NULL WHERE ended IS NOT NULL", "the row of evaluation"),
}


@pytest.fixture(scope="module")
def scene(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database with an evaluation that is concluded, and one that is registered."""

    async def evaluations(database: Database) -> None:
        async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
            desk = a_desk(service)
            planned = await desk.plan(a_plan("critic"), CALLER)
            first = await desk.register(planned, CALLER)
            await sequencer.catch_up()
            async with a_worker(service, build=BUILD), evaluating(a_feeder(service, desk, only=first)):
                await concluded(desk, first, sequencer)
            await desk.register(planned, CALLER)
            assert await RowCheck(service.database, 24, BUILD).round() == 0
            again = await rebuild(service.database)
            assert (again.added, again.removed, again.troubles) == (0, 0, [])

    with cluster.lend(template.name) as database:
        asyncio.run(evaluations(database))
        yield database


def rows(database: Database) -> list[Any]:
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        return [admin.execute(statement.encode()).fetchall() for statement in ROWS]


def places(database: Database) -> list[tuple[str, str]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute("SELECT subject, place FROM gainsay.damage").fetchall()


@pytest.mark.parametrize("what", DAMAGED)
async def test_a_row_that_is_not_what_the_records_say_is_found_and_made_anew(
    cluster: Cluster, scene: Database, what: str
) -> None:
    statement, place = DAMAGED[what]
    with cluster.lend(scene.name) as database:
        before = rows(database)
        change(database, statement)
        async with Store.open(database.service_url, size=1) as store:
            assert await RowCheck(store, 24, BUILD).round()
            await RowCheck(store, 24, BUILD).round()  # notes nothing for the second time
            found = places(database)
            assert {subject for subject, _ in found} == {"row"}
            assert len(found) == len(set(found))
            assert any(where.startswith(place) for _, where in found), found

            made = await rebuild(store)
            assert made.added + made.removed > 0
            assert rows(database) == before
            lost = what == "no row of an evaluation"  # its result is in no record
            assert bool(made.troubles) == lost, made.troubles
            again = await rebuild(store)
            assert (again.added, again.removed) == (0, 0)
            assert await RowCheck(store, 24, BUILD).round() == lost


async def test_a_result_that_is_not_the_recorded_one_is_named_and_stays(cluster: Cluster, scene: Database) -> None:
    with cluster.lend(scene.name) as database:
        change(database, "UPDATE evaluation SET result = convert_to('{}', 'UTF8') WHERE result IS NOT NULL")
        async with Store.open(database.service_url, size=1) as store:
            assert await RowCheck(store, 24, BUILD).round() == 1
            made = await rebuild(store)
        assert (made.added, made.removed) == (0, 0)
        assert len(made.troubles) == 1
        assert "its result is not the one that was recorded" in made.troubles[0]


async def test_a_record_that_was_damaged_keeps_its_rows(cluster: Cluster, scene: Database) -> None:
    with cluster.lend(scene.name) as database:
        before = rows(database)
        change(
            database,
            "UPDATE payload SET salt = sha256(salt) WHERE debate = (SELECT record FROM evaluation_entry WHERE n = 3)",
        )
        async with Store.open(database.service_url, size=1) as store:
            assert await RowCheck(store, 24, BUILD).round()
            made = await rebuild(store)
        assert made.troubles
        assert rows(database) == before
