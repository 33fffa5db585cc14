"""What debates rest on: found by each of its kinds, and made anew from the records, whatever was done to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import pytest

from service.debate.entries import CheckFound, DebateStarted
from service.errors import BadRequest
from service.prompts import Prompts
from service.reviews import DebateQuery
from service.store import contents
from service.store.derived import ASKED, Asked, check, prompts
from service.store.impact import RecallQuery, affected_by
from service.store.pool import Database
from service.store.rebuild import rebuild
from tests.fixtures.postgres import Database as Place
from tests.fixtures.running import CALLER, TEXT, Bench, bench

ELSEWHERE = UUID("01930000-0000-7000-8000-000000000001")


@pytest.fixture
async def running(database: Place) -> AsyncIterator[Bench]:
    """A service with what it runs by kept, as when it starts."""
    async with bench(database.service_url) as running:
        await contents.store_deployment(running.database, running.reviews.deployment)
        yield running


@pytest.fixture
def owner(database: Place) -> Iterator[psycopg.Connection[Any]]:
    """A superuser, whom nothing stops."""
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as connection:
        yield connection


def projected(owner: psycopg.Connection[Any]) -> tuple[bytes, bytes]:
    """Both tables, byte by byte."""

    def dumped(what: str) -> bytes:
        with owner.cursor().copy(f"COPY ({what}) TO STDOUT".encode()) as copy:
            return b"".join(bytes(block) for block in copy)

    return (
        dumped("SELECT * FROM rests_on ORDER BY tenant, what, value, debate"),
        dumped("SELECT * FROM manifest_prompt ORDER BY manifest, prompt"),
    )


async def test_a_debate_is_found_by_everything_that_it_rests_on_and_by_nothing_else(running: Bench) -> None:
    debate = await running.run()
    other = await running.submit(documents=[{"id": "D1", "text": "Another text."}])
    entries = await running.entries(debate)
    (started,) = [entry for entry in entries if isinstance(entry, DebateStarted)]
    engine = next(entry.engine for entry in entries if isinstance(entry, CheckFound))
    price = started.seats[0].price

    async def found(asked: Asked, value: str) -> list[str]:
        return [row.debate for row in await affected_by(running.database, "default", RecallQuery(asked, value, 9))]

    both = [other, debate]
    assert await found("manifest", started.pin) == both
    assert await found("configuration", started.configuration_hash) == both
    assert await found("model", started.seats[0].model) == both
    assert await found("model", started.seats[0].model_name) == both
    assert await found("price", f"{price.model}@{price.effective}") == both
    for pinned in running.prompts.entries:
        assert await found("prompt", pinned.sha256) == (both if pinned.current else [])
    assert await found("document", sha256(TEXT.encode()).hexdigest()) == [debate]
    assert await found("engine", engine) == [debate]
    assert await found("document", sha256(b"unread").hexdigest()) == []
    assert await affected_by(running.database, "another", RecallQuery("manifest", started.pin, 9)) == []


async def test_what_was_found_comes_in_pages_the_newest_first(running: Bench) -> None:
    debates = [await running.submit() for _ in range(3)]
    asked: tuple[tuple[Asked, str], ...] = (
        ("manifest", running.prompts.pin),
        ("prompt", running.prompts.entry("critic").sha256),
    )
    for what, value in asked:
        first = await affected_by(running.database, "default", RecallQuery(what, value, 2))
        rest = await affected_by(running.database, "default", RecallQuery(what, value, 2, UUID(first[-1].debate)))

        assert [row.debate for row in (*first, *rest)] == debates[::-1]
        assert {(row.task_type, row.status, row.index) for row in first} == {("contract", "queued", None)}


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("prompt", "critic"),
        ("manifest", "A" * 64),
        ("document", "0" * 63),
        ("configuration", ""),
        ("price", "model"),
        ("price", "model@yesterday"),
        ("model", " "),
        ("model", "a\0b"),
        ("engine", "c" * 201),
    ],
)
def test_a_value_by_which_nothing_can_be_found_is_refused(asked: Asked, value: str) -> None:
    with pytest.raises(BadRequest):
        check(asked, value)


def test_everything_that_can_be_asked_for_has_a_value_that_may_be_asked_for() -> None:
    values: dict[Asked, str] = {"model": "m-1", "engine": "citations/2", "price": "m-1@2026-01-31"}
    for asked in ASKED:
        check(asked, values.get(asked, "0" * 64))


def test_a_manifest_gives_out_its_current_prompts() -> None:
    loaded = Prompts.load()

    given = prompts(loaded.manifest)

    assert given == {entry.id: entry.sha256 for entry in loaded.entries if entry.current}
    for other in (b"", b"[]", b'{"format":"gainsay-prompts/2","entries":[]}'):
        with pytest.raises(ValueError):
            prompts(other)


LOSSES = {
    "nothing": (),
    "every row": ("DELETE FROM rests_on", "DELETE FROM manifest_prompt"),
    "some rows": (
        "DELETE FROM rests_on WHERE what IN ('model', 'document')",
        "DELETE FROM manifest_prompt WHERE prompt LIKE 'c%'",
    ),
    "forged rows": (
        "INSERT INTO rests_on SELECT tenant, 'model', 'never-asked', debate FROM rests_on ON CONFLICT DO NOTHING",
        "INSERT INTO rests_on SELECT 'another', what, value, debate FROM rests_on",
        "UPDATE rests_on SET value = value || '.9' WHERE what = 'engine'",
        "UPDATE manifest_prompt SET sha256 = repeat('0', 64) WHERE prompt = 'critic'",
        "INSERT INTO manifest_prompt SELECT manifest, 'invented', repeat('1', 64) FROM manifest_prompt LIMIT 1",
    ),
    "rows of nobody": (
        f"INSERT INTO rests_on VALUES ('default', 'model', 'm', '{ELSEWHERE}')",
        "INSERT INTO manifest_prompt VALUES (repeat('2', 64), 'critic', repeat('3', 64))",
    ),
}


@pytest.mark.parametrize("step", [1, 500])
@pytest.mark.parametrize("name", LOSSES)
async def test_what_is_searched_by_is_made_anew_byte_by_byte(
    running: Bench, owner: psycopg.Connection[Any], name: str, step: int
) -> None:
    await running.run()
    await running.run(documents=[{"id": "A", "text": "One."}, {"id": "B", "text": "Two."}])
    await running.submit(estimatedDownside=1, confidenceScore=0.99, materiality="low")
    before = projected(owner)
    for statement in LOSSES[name]:
        owner.execute(statement.encode())
    changed = projected(owner)

    told = await rebuild(running.database, step=step)

    assert (changed != before) == bool(LOSSES[name])
    assert projected(owner) == before
    assert (told.debates, told.manifests, told.troubles) == (3, 1, [])
    assert bool(told.added or told.removed) == bool(LOSSES[name])


TAMPERED = {
    "a payload that is gone": ("DELETE FROM payload WHERE n = 4", "payload of record 4 is not stored"),
    "another payload": ("UPDATE payload SET body = '{}' WHERE n = 4", "not the one that the record commits to"),
    "a record that is gone": ("DELETE FROM entry WHERE n = 4", "expected record 4"),
    "the last record": ("DELETE FROM entry WHERE n = (SELECT max(n) FROM entry)", "records, found"),
    "no envelope": ("UPDATE entry SET leaf = '{}' WHERE n = 4", "missing required field"),
    "another document": ("UPDATE document SET body = 'other'", "document 'D1'"),
}


@pytest.mark.parametrize("name", TAMPERED)
@pytest.mark.no_replay
async def test_a_debate_whose_records_cannot_be_read_loses_nothing_and_is_told_of(
    running: Bench, owner: psycopg.Connection[Any], name: str
) -> None:
    statement, words = TAMPERED[name]
    debate = await running.run()
    before = projected(owner)
    owner.execute("SET session_replication_role = replica")
    for table in ("entry", "payload", "document"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
    owner.execute(statement.encode())
    owner.execute("DELETE FROM rests_on WHERE what = 'manifest'")

    told = await rebuild(running.database)

    (trouble,) = told.troubles
    assert debate in trouble
    assert words in trouble
    assert projected(owner) == before


async def test_a_manifest_whose_text_is_gone_keeps_what_is_known_of_it(
    running: Bench, owner: psycopg.Connection[Any]
) -> None:
    await running.submit()
    before = projected(owner)
    owner.execute("ALTER TABLE content DISABLE TRIGGER USER")
    owner.execute("DELETE FROM content")

    told = await rebuild(running.database)

    assert len(told.troubles) == 1
    assert running.prompts.pin in told.troubles[0]
    assert projected(owner) == before


async def test_a_rebuild_among_running_writers_loses_nothing(
    running: Bench, owner: psycopg.Connection[Any], database: Place
) -> None:
    """What the writers added is what a rebuild makes of nothing when all is over."""
    over = asyncio.Event()

    async def rebuild_on() -> int:
        times = 0
        async with Database.open(database.service_url, size=1) as own:
            while not over.is_set():
                await rebuild(own, step=2)
                times += 1
        return times

    async def claimed() -> str:
        """A claim passes over a head that the rebuild has locked just then: a worker, too, comes again."""
        while True:
            with suppress(LookupError):
                return await running.claim(lease_s=30)
            await asyncio.sleep(0.01)

    async def debates() -> None:
        for _ in range(4):
            await asyncio.gather(*(running.submit() for _ in range(3)))
            for _ in range(3):
                await (await running.runner(await claimed())).run()
        over.set()

    times, _ = await asyncio.gather(rebuild_on(), debates())
    written = projected(owner)
    owner.execute("DELETE FROM rests_on")
    await rebuild(running.database)

    assert times > 1
    assert written == projected(owner)
    assert written[0].count(b"citations") >= 12


async def test_a_head_that_moves_between_reading_and_writing_is_read_again(
    running: Bench, owner: psycopg.Connection[Any]
) -> None:
    """The statement that puts right does nothing for a head that has moved."""
    debate = await running.submit()
    before = projected(owner)
    params: dict[str, Any] = {"debate": UUID(debate), "tenant": "default", "tracked": "[]", "decision": None}
    params |= {"rests_what": [], "rests_value": [], "found_by": None, "words": None, "metadata": []}

    moved = await running.database.query("project", {**params, "next_n": 2, "whole": True})
    unchanged = projected(owner)
    still = await running.database.query("project", {**params, "next_n": 3, "whole": True})

    assert moved == []
    assert unchanged == before
    assert still[0]["removed"] == before[0].count(b"\n") + 2  # what the list finds it by, and its words
    assert msgspec.json.encode(still[0]["added"]) == b"0"


def decisions(owner: psycopg.Connection[Any]) -> list[Any]:
    return owner.execute("SELECT * FROM decision ORDER BY debate").fetchall()


MEDDLED = {
    "nothing": None,
    "every row": "DELETE FROM decision",
    "another decision": "UPDATE decision SET body = replace(encode(body, 'escape'), 'HIGH', 'LOW')::bytea || ' '",
    "another tenant's": "UPDATE decision SET tenant = 'another'",
    "a debate that is not there": f"INSERT INTO decision VALUES ('{ELSEWHERE}', 'default', '{{}}')",
}


async def test_decisions_are_made_anew_from_the_records(running: Bench, owner: psycopg.Connection[Any]) -> None:
    await running.run()
    await running.submit(estimatedDownside="0.01")  # declined
    await running.submit()  # still running, so it has none
    before = decisions(owner)

    assert [msgspec.json.decode(row[2])["outcome"] for row in before] == ["upheld", "declined"]
    for name, statement in MEDDLED.items():
        if statement:
            owner.execute(statement.encode())
        changed = decisions(owner)

        found = await rebuild(running.database)

        assert (changed != before, decisions(owner)) == (bool(statement), before), name
        assert bool(found.added or found.removed) == bool(statement), name
        assert found.troubles == [], name


async def test_a_list_has_each_decision_as_its_result_does_even_one_that_another_version_concluded(
    running: Bench, owner: psycopg.Connection[Any]
) -> None:
    ended, declined = await running.run(), await running.submit(estimatedDownside="0.01")
    waiting = await running.submit()

    async def listed() -> dict[str, tuple[Any, str]]:
        page = await running.reviews.find(DebateQuery(), CALLER)
        return {one.debate: (one.decision, one.created) for one in page.debates}

    first = await listed()
    owner.execute("DELETE FROM decision")
    again = await listed()

    assert first == again
    for debate in (ended, declined, waiting):
        result = await running.reviews.result(debate, CALLER)
        assert first[debate] == (result.decision, result.created_at)
    assert first[waiting][0] is None
    assert first[ended][0] is not None
