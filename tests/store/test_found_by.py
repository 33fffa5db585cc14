"""What a debate is found by: the same from its writers as from a rebuild, and gone with the payload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from service.identity.caller import Caller
from service.policy import Policy, decode_policy, encode_policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.proving.row_check import RowCheck
from service.report.result.decision_types import ERASED
from service.reviews import Page
from service.reviews.query_parameters import read_query
from service.simulated.provider import OfflineProvider
from service.store.rebuild import rebuild
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import CALLER, Bench, bench
from tests.fixtures.small_cases import CASES

BUILD = "00" * 32
TABLES = ("found_by", "case_words")
ODD = "\x07\N{REPLACEMENT CHARACTER}'\\\"{},\n\t%_ \N{ZERO WIDTH JOINER}"


@pytest.fixture(scope="module")
def every(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database with a debate of each format, a declined case, an aborted one, and one that waits."""

    async def debates(database: Database) -> None:
        async with bench(database.service_url, OfflineProvider()) as service:
            for case in CASES.values():
                await service.run(**case, metadata={"format": case["options"]["format"], "odd": ODD}, useCase=ODD)
            await service.submit(estimatedDownside="0.01", materiality="low")
            await service.reviews.abort(await service.submit(), CALLER, "enough")
            await service.submit(question="zirconium")

    with cluster.lend(template.name) as database:
        asyncio.run(debates(database))
        yield database


@pytest.fixture
def database(cluster: Cluster, every: Database) -> Iterator[Database]:
    """A copy of it."""
    with cluster.lend(every.name) as database:
        yield database


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Bench]:
    async with bench(database.service_url) as running:
        yield running


@pytest.fixture
def owner(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A superuser, whom nothing stops."""
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as connection:
        yield connection


def rows(owner: psycopg.Connection[Any]) -> list[Any]:
    return [owner.execute(f"SELECT * FROM {table} ORDER BY tenant, debate".encode()).fetchall() for table in TABLES]


async def find(service: Bench, **asked: str) -> Page:
    return await service.reviews.find(read_query({name: [value] for name, value in asked.items()}), CALLER)


MEDDLED = {
    "nothing": (),
    "no row of an end": ("DELETE FROM found_by WHERE status IS NOT NULL",),
    "no row at all": ("DELETE FROM found_by", "DELETE FROM case_words"),
    "another outcome": ("UPDATE found_by SET outcome = 'upheld', human_review = NOT human_review",),
    "no flags": ("UPDATE found_by SET flags = '{}' WHERE flags IS NOT NULL",),
    "an end too early": ("UPDATE found_by SET status = 'completed', outcome = 'agreed' WHERE status IS NULL",),
    "an end taken away": ("UPDATE found_by SET status = NULL, outcome = NULL, spent = NULL",),
    "another amount": ("UPDATE found_by SET downside = downside + 0.01, spent = spent + 1",),
    "another tenant's": ("UPDATE found_by SET tenant = 'other'", "UPDATE case_words SET tenant = 'other'"),
    "other words": ("UPDATE case_words SET words = to_tsvector('simple', 'zirconium'), metadata = '{}'",),
    "a debate that is not there": (
        """INSERT INTO found_by (tenant, debate, task_type, downside, models)
        VALUES ('default', '01930000-0000-7000-8000-000000000001', 'contract', 1, '{}')""",
    ),
}


@pytest.mark.parametrize("what", MEDDLED)
async def test_a_rebuild_makes_the_rows_that_the_writers_wrote(
    service: Bench, owner: psycopg.Connection[Any], what: str
) -> None:
    before = rows(owner)
    for statement in MEDDLED[what]:
        owner.execute(statement.encode())
    changed = rows(owner)

    found = await rebuild(service.database)

    assert (changed != before, rows(owner)) == (bool(MEDDLED[what]), before)
    assert bool(found.added or found.removed) == bool(MEDDLED[what])
    assert found.troubles == []


async def test_the_rows_say_what_the_results_say(service: Bench, owner: psycopg.Connection[Any]) -> None:
    found = {str(row[1]): row for row in rows(owner)[0]}
    assert len(found) == len(CASES) + 3
    for debate, row in found.items():
        result = await service.reviews.result(debate, CALLER)
        decision = result.decision
        _, _, task_type, format_, _, _, downside, models, status, outcome, *_ = row
        named = None if result.status == "declined" else str(result.format).partition("/")[0]
        assert (task_type, format_) == (result.task_type, named)
        assert downside > 0
        assert set(models) >= {seat.alias for seat in result.seats}
        if decision is None:
            assert (result.status, status, outcome) == ("queued", None, None)
            continue
        assert (status, outcome) == (result.status, decision.outcome)
        assert row[10:14] == (
            decision.confidence,
            decision.human_review.required,
            list(result.flags),
            round(float(decision.cost.spent_usd) * 1_000_000),
        )
    assert {row[8] for row in found.values()} >= {"completed", "declined", "aborted", None}


async def test_the_rows_are_compared_with_the_records(service: Bench) -> None:
    assert await RowCheck(service.database, 24, BUILD).round() == 0


async def test_what_another_build_recorded_need_not_be_there(service: Bench, owner: psycopg.Connection[Any]) -> None:
    owner.execute("DELETE FROM found_by")
    owner.execute("DELETE FROM case_words")

    assert await RowCheck(service.database, 24, "11" * 32).round() == 0
    assert await RowCheck(service.database, 24, BUILD).round() > 0


async def test_a_debate_of_the_version_before_is_listed_and_found_once_it_is_rebuilt(
    service: Bench, owner: psycopg.Connection[Any]
) -> None:
    """One that it recorded has no row; one that it brought to its end has a row without an end."""
    whole = [one.debate for one in (await find(service)).debates]
    completed = [one.debate for one in (await find(service, status="completed")).debates]
    owner.execute("DELETE FROM found_by WHERE debate = %s", [completed[0]])
    owner.execute("DELETE FROM case_words WHERE debate = %s", [completed[0]])
    owner.execute(
        "UPDATE found_by SET status = NULL, outcome = NULL, confidence = NULL, human_review = NULL, flags = NULL, "
        "spent = NULL WHERE debate = %s",
        [completed[1]],
    )

    listed = (await find(service)).debates
    assert [one.debate for one in listed] == whole
    assert all(one.question and one.decision for one in listed if one.debate in completed[:2])
    assert [one.debate for one in (await find(service, status="completed")).debates] == completed[2:]
    assert completed[0] not in {one.debate for one in (await find(service, taskType="contract")).debates}
    assert completed[1] in {one.debate for one in (await find(service, taskType="contract")).debates}
    counted = await find(service, facets="status")
    assert counted.total is not None
    assert counted.total.debates == len(whole)
    assert {c.value: c.found.debates for c in counted.counts}["completed"] == len(completed) - 1

    await rebuild(service.database)
    assert [one.debate for one in (await find(service, status="completed")).debates] == completed


async def test_the_words_go_with_the_payload(service: Bench, owner: psycopg.Connection[Any]) -> None:
    (one,) = (await find(service, q="zirconium")).debates
    owner.execute("ALTER TABLE payload DISABLE TRIGGER refuse_change")
    owner.execute("DELETE FROM payload WHERE debate = %s AND n = 0", [one.debate])

    assert (await find(service, q="zirconium")).debates == ()
    assert owner.execute("SELECT count(*) FROM case_words WHERE debate = %s", [one.debate]).fetchone() == (0,)
    (left,) = (await find(service, status="queued")).debates
    assert (left.debate, left.question, left.metadata, left.estimated_downside) == (one.debate, None, {}, None)
    troubles = (await rebuild(service.database)).troubles
    assert [trouble for trouble in troubles if one.debate in trouble]
    assert owner.execute("SELECT count(*) FROM case_words WHERE debate = %s", [one.debate]).fetchone() == (0,)
    assert [found.debate for found in (await find(service, status="queued")).debates] == [one.debate]


async def test_the_words_of_a_decision_go_with_the_payload(service: Bench, owner: psycopg.Connection[Any]) -> None:
    """The sentence and the dissent are words of the debate; outcome and cost are not, and a month still adds up."""
    whole = (await find(service, status="completed")).debates
    (one, *_) = [found for found in whole if found.decision and found.decision.dissent]
    owner.execute("ALTER TABLE payload DISABLE TRIGGER refuse_change")
    owner.execute("DELETE FROM payload WHERE debate = %s", [one.debate])

    (left,) = [found for found in (await find(service, status="completed")).debates if found.debate == one.debate]
    assert one.decision is not None
    assert (left.question, left.flags) == (None, one.flags)
    assert left.decision == replace(one.decision, answer=ERASED, dissent=None)


async def test_a_question_that_is_not_the_recorded_one_is_an_incident_and_not_shown(
    service: Bench, owner: psycopg.Connection[Any]
) -> None:
    (one,) = (await find(service, q="zirconium")).debates
    owner.execute("ALTER TABLE payload DISABLE TRIGGER refuse_change")
    owner.execute(
        """UPDATE payload SET body = convert_to(replace(convert_from(body, 'UTF8'), 'zirconium', 'palladium'), 'UTF8')
        WHERE debate = %s AND n = 0""",
        [one.debate],
    )

    (found,) = (await find(service, q="zirconium")).debates

    assert (found.question, found.metadata) == (None, {})
    assert owner.execute("SELECT count(*) FROM damage WHERE debate = %s", [one.debate]).fetchone() == (1,)


@pytest.mark.parametrize("body", ["garbage", "{}", ""])
async def test_a_damaged_decision_is_read_from_the_records(
    service: Bench, owner: psycopg.Connection[Any], body: str
) -> None:
    before = (await find(service)).debates
    owner.execute("UPDATE decision SET body = %s", [body.encode()])

    assert (await find(service)).debates == before


@pytest.mark.parametrize("damage", ["UPDATE entry SET leaf = 'garbage'", "DELETE FROM entry"])
async def test_a_damaged_first_record_is_an_incident_and_hides_no_other_debate(
    service: Bench, owner: psycopg.Connection[Any], damage: str
) -> None:
    first, *others = (await find(service, limit="2")).debates
    following = (await find(service, limit="2")).next
    owner.execute("SET session_replication_role = replica")
    owner.execute("ALTER TABLE entry DISABLE TRIGGER USER")
    owner.execute(f"{damage} WHERE debate = %s AND n = 0".encode(), [first.debate])

    page = await find(service, limit="2")

    assert (list(page.debates), page.next) == (others, following)
    assert owner.execute("SELECT count(*) FROM damage WHERE debate = %s", [first.debate]).fetchone() == (1,)


async def test_nobody_finds_the_debates_of_another_tenant(service: Bench) -> None:
    stranger = Caller(tenant="other")
    for asked in ({}, {"q": "zirconium"}, {"status": "completed"}, {"metadata": "odd"}, {"sort": "-spentUSD"}):
        own = await find(service, **asked)
        query = read_query({**{name: [value] for name, value in asked.items()}, "facets": ["status"]})
        others = await service.reviews.find(query, stranger)
        assert own.debates
        assert (others.debates, others.counts) == ((), ())
        assert others.total is not None
        assert others.total.debates == 0


async def test_counts_are_exact_up_to_a_number_of_debates_and_a_lower_bound_from_there_on(
    service: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def counted(**asked: str) -> tuple[Any, dict[str, tuple[int, bool]]]:
        page = await find(service, facets="status", limit="1", **asked)
        return page.total, {each.value: tuple(each.found) for each in page.counts}  # type: ignore[misc]

    whole = len(CASES) + 3
    monkeypatch.setattr("service.store.finding.COUNTED", whole)
    total, exact = await counted()
    monkeypatch.setattr("service.store.finding.COUNTED", whole - 1)
    more, bounds = await counted()
    declined, of_declined = await counted(materiality="low")

    assert tuple(total) == (whole, False)
    assert sum(count for count, _ in exact.values()) == whole
    assert not any(at_least for _, at_least in exact.values())
    assert tuple(more) == (whole - 1, True)
    assert sum(count for count, _ in bounds.values()) == whole - 1
    assert all(at_least and count <= exact[value][0] for value, (count, at_least) in bounds.items())
    assert (tuple(declined), of_declined) == ((1, False), {"declined": (1, False)})


async def test_odd_texts_are_found_as_they_were_given(service: Bench) -> None:
    debate = await service.submit(
        question="word " * 500 + ODD + "".join(f" {n:x}" for n in range(200)),
        useCase="u" * 2_000,
        metadata={"k" * 900: "v" * 900, ODD: ODD, "odd": ODD},
    )

    for asked in (
        {"useCase": "u" * 2_000},
        {"metadata": f"{'k' * 900}={'v' * 900}"},
        {"metadata": f"{ODD}={ODD}"},
        {"q": "c7"},
    ):
        assert debate in {one.debate for one in (await find(service, **asked)).debates}, asked
    assert not (await find(service, useCase="u" * 1_999)).debates
    (listed,) = (await find(service, useCase="u" * 2_000)).debates
    assert listed.metadata["odd"] == ODD


async def test_a_question_beyond_the_words_that_postgresql_keeps_is_still_recorded(database: Database) -> None:
    shipped = read_policy(SHIPPED_POLICY)
    wide: Policy = decode_policy(
        encode_policy(replace(shipped, limits=replace(shipped.limits, question_characters=2_000_000)))
    )
    async with bench(database.service_url, policy=wide) as service:
        question = " ".join(f"w{n:07x}" for n in range(200_000))
        debate = await service.submit(question=question, estimatedDownside="0.01")

        assert [one.debate for one in (await find(service, q="w0000009")).debates] == [debate]
        assert (await rebuild(service.database)).added == 0
