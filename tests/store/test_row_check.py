"""Rows that are computed from records are compared with them, and each difference is one incident."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from uuid import UUID

import psycopg
import pytest

from service.audit.log_events import ReportIssued
from service.proving.row_check import RowCheck
from service.store.damage import open_damage
from service.store.issued import ROW, record_issued
from service.store.pool import Database as Store
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import a_writer, bench

pytestmark = pytest.mark.no_replay
BUILD = "00" * 32
EVIDENCE = ("entry", "payload", "document", "context", "content", "charge")
CHANGES = {
    "what a debate rests on is less": ("DELETE FROM rests_on WHERE what = 'model'", "what recall reads"),
    "what a debate rests on is more": (
        "INSERT INTO rests_on SELECT tenant, 'model', 'invented', debate FROM debate_head",
        "what recall reads",
    ),
    "what a debate rests on is another tenant's": ("UPDATE rests_on SET tenant = 'other'", "what recall reads"),
    "a track record": (
        "INSERT INTO track_record SELECT tenant, debate, 'm', 'factual', 1, 1, 1, 1 FROM debate_head",
        "the models' track records",
    ),
    "a charge": ("UPDATE charge SET amount = amount + 1 WHERE n = (SELECT min(n) FROM charge)", "the charges"),
    "the money": ("UPDATE debate_head SET spent = spent + 1", "the money in the head row"),
    "the format": ("UPDATE debate_head SET format = 'panel/1'", "the format in the head row"),
    "a decision": ("UPDATE decision SET body = convert_to('{}', 'UTF8')", "the decision in lists"),
    "a decision of another tenant": ("UPDATE decision SET tenant = 'other'", "the decision in lists"),
    "what it is found by, at its opening": (
        "UPDATE found_by SET use_case = 'another' WHERE status IS NOT NULL",
        "what lists find it by",
    ),
    "what it is found by, at its end": (
        "UPDATE found_by SET outcome = 'rejected' WHERE status IS NOT NULL",
        "what lists find it by",
    ),
    "an end before there is one": (
        "UPDATE found_by SET status = 'completed' WHERE status IS NULL",
        "what lists find it by",
    ),
    "what it is found by is another tenant's": (
        "UPDATE found_by SET tenant = 'other' WHERE status IS NOT NULL",
        "what lists find it by",
    ),
    "found twice": (
        """INSERT INTO found_by (tenant, debate, task_type, downside, models)
        SELECT 'other', debate, task_type, downside, models FROM found_by WHERE status IS NOT NULL""",
        "what lists find it by",
    ),
    "its words": (
        """UPDATE case_words SET words = to_tsvector('english', 'another')
        WHERE debate = (SELECT debate FROM found_by WHERE status IS NOT NULL)""",
        "the words that lists find it by",
    ),
    "the hashes of its metadata": (
        "UPDATE case_words SET metadata = '{x}' WHERE debate = (SELECT debate FROM found_by WHERE status IS NOT NULL)",
        "the words that lists find it by",
    ),
    "the prompts of a manifest": (
        "DELETE FROM manifest_prompt WHERE prompt = (SELECT min(prompt) FROM manifest_prompt)",
        "the prompts of manifest",
    ),
    "the texts": ("DELETE FROM content", "the policy"),
    "no head row": ("DELETE FROM debate_head", "the head row"),
}
OF_DEBATE = {
    "a document": ("UPDATE document SET body = body || 'x'", "document 1 of the case"),
    "the context": ("DELETE FROM context", "the context"),
    "the status": ("UPDATE debate_head SET state = 'failed'", "the head row"),
    "the tenant": ("UPDATE debate_head SET tenant = 'other'", "the head row"),
    "the task type": ("UPDATE debate_head SET task_type = 'security'", "the head row"),
    "all records": ("DELETE FROM entry", "record 0"),
}
ISSUED = {
    "a row is gone": ("DELETE FROM issued_report WHERE paper = 'a4'", "the record "),
    "a row without a record": (
        "INSERT INTO issued_report SELECT debate, 'pdf', 'a3', 'report/1', 'ff', gen_random_uuid() FROM debate_head",
        ROW,
    ),
    "a row that names a debate's record": (
        "INSERT INTO issued_report SELECT debate, 'pdf', 'a3', 'report/1', 'ff', debate FROM debate_head",
        ROW,
    ),
    "another file": ("UPDATE issued_report SET sha256 = repeat('0', 64) WHERE paper = 'a4'", ROW),
    "another debate": ("UPDATE issued_report SET debate = gen_random_uuid() WHERE paper = 'a4'", ROW),
    "another record": ("UPDATE issued_report SET record = gen_random_uuid() WHERE paper = 'a4'", ROW),
    "the record's payload is gone": (
        "DELETE FROM payload WHERE debate = (SELECT record FROM issued_report WHERE paper = 'a4')",
        "the record ",
    ),
    "a second record in its chain": (
        "INSERT INTO entry SELECT record, 1, 'x' FROM issued_report WHERE paper = 'a4'",
        "the record ",
    ),
}


@pytest.fixture(scope="module")
def scene(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database with a debate that has ended and one that has not begun."""

    async def debates(database: Database) -> None:
        async with bench(database.service_url) as service:
            await service.run()
            await service.submit()
            assert await RowCheck(service.database, 24, BUILD).round() == 0

    with cluster.lend(template.name) as database:
        asyncio.run(debates(database))
        yield database


def change(database: Database, statement: str) -> None:
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        for table in EVIDENCE:
            admin.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
        assert admin.execute(statement.encode()).rowcount


async def differences(database: Database) -> list[Any]:
    """What a round notes: each subject with its place."""
    async with Store.open(database.service_url, size=1) as store:
        assert await RowCheck(store, 24, BUILD).round()
        await RowCheck(store, 24, BUILD).round()  # notes nothing for the second time
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute("SELECT subject, place, debate FROM gainsay.damage").fetchall()


@pytest.mark.parametrize("what", [*CHANGES, *OF_DEBATE])
async def test_a_row_that_is_not_what_the_records_say_is_an_incident(
    cluster: Cluster, scene: Database, what: str
) -> None:
    subject = "row" if what in CHANGES else "debate"
    statement, place = {**CHANGES, **OF_DEBATE}[what]
    with cluster.lend(scene.name) as database:
        change(database, statement)

        found = await differences(database)

        assert {each for each, *_ in found} == {subject}
        assert len(found) == len(set(found))  # one incident for each place
        assert any(where.startswith(place) for _, where, _ in found), found


@pytest.fixture(scope="module")
def issued(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database with a declined case of which two reports were handed out."""

    async def reports(database: Database) -> None:
        async with bench(database.service_url) as service:
            debate = await service.submit(taskType="other")
            (head,) = await service.database.query("head", {"debate": UUID(debate), "tenant": "default"})
            for paper in ("a4", "letter"):
                event = ReportIssued(debate, "0" * 64, "pdf", paper, "report/1", sha256(paper.encode()).hexdigest())
                await record_issued(service.database, event, head, "localhost/default/1", a_writer("reader"))
            assert await RowCheck(service.database, 24, BUILD).round() == 0

    with cluster.lend(template.name) as database:
        asyncio.run(reports(database))
        yield database


@pytest.mark.parametrize(("statement", "place"), ISSUED.values(), ids=ISSUED)
async def test_a_row_of_an_issued_report_and_its_record_are_compared_both_ways(
    cluster: Cluster, issued: Database, statement: str, place: str
) -> None:
    with cluster.lend(issued.name) as database:
        change(database, statement)

        found = await differences(database)

        assert {subject for subject, *_ in found} == {"row"}
        assert len(found) == len(set(found))
        assert any(where.startswith(place) for _, where, _ in found), found


async def test_steps_go_over_all_debates_by_turns_and_the_next_round_waits(database: Database) -> None:
    async with bench(database.service_url) as service:
        await service.submit()
        one, other = RowCheck(service.database, 24, BUILD), RowCheck(service.database, 24, BUILD)
        change(database, "DELETE FROM rests_on")

        assert await one.step() is None
        assert (await open_damage(service.database))["row"]["incidents"] == 1
        with psycopg.connect(database.admin_url) as admin:
            query = "SELECT after, due - begun BETWEEN '11.9 hours' AND '12.1 hours' FROM gainsay.row_check"
            assert admin.execute(query).fetchall() == [(None, True)]
        assert await other.step() is None
        assert (await open_damage(service.database))["row"]["incidents"] == 1


async def test_a_long_round_pauses_so_that_it_takes_half_of_its_hours(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.proving.row_check.STEP", 2)
    async with bench(database.service_url) as service:
        for _ in range(3):
            await service.submit()
        check = RowCheck(service.database, 2, BUILD)

        assert await check.step() == 1_800.0  # two steps in an hour
        assert await check.step() is None  # not due
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("UPDATE gainsay.row_check SET due = clock_timestamp()")
        assert await check.step() is None
        with psycopg.connect(database.admin_url) as admin:
            assert admin.execute("SELECT after FROM gainsay.row_check").fetchall() == [(None,)]
