"""A case that comes again under its idempotency key is the same debate, and the same bill."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psycopg
import pytest
from psycopg import sql

from service import reviews
from service.errors import QueueFull
from service.identity.caller import Caller
from service.intake.request import CaseRequest
from service.observing import labelled
from service.policy import Queue
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.reviews import DebateQuery
from service.store import spend
from service.store.queue_limits import QueueLimits
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, a_request, bench
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, served, slow_policy

KEY = {"idempotency-key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"'}


async def send(site: Served, case: JSON | None = None, prefer: str | None = None) -> httpx.Response:
    """A case under the key."""
    headers = KEY if prefer is None else {**KEY, "prefer": prefer}
    return await site.http.post("/v1/debates", json=case or a_case(), headers=headers)


def rows(database: Database, table: str) -> int:
    with psycopg.connect(database.admin_url) as admin:
        query = sql.SQL("SELECT count(*) FROM gainsay.{}").format(sql.Identifier(table))
        (found,) = admin.execute(query).fetchone() or (0,)
        return int(found)


def replays(result: str) -> float:
    return labelled.REGISTRY.get_sample_value("gainsay_idempotent_requests_total", {"result": result}) or 0.0


async def test_a_case_that_is_under_way_is_a_conflict_that_says_where_its_debate_is(database: Database) -> None:
    before = replays("inProgress")
    async with served(database.service_url, work=False) as site:
        first = await send(site)
        again = await send(site)
        waited = await send(site, prefer="wait=1")

    debate = first.json()["debateId"]
    assert (first.status_code, again.status_code, waited.status_code) == (202, 409, 409)
    assert "idempotency-replayed" not in first.headers
    for answer in (again, waited):
        assert answer.headers["location"] == first.headers["location"] == f"/v1/debates/{debate}"
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.json()["code"], answer.json()["debateId"]) == ("idempotency_in_progress", debate)
    assert waited.headers["preference-applied"] == "wait=1"
    assert rows(database, "debate_head") == rows(database, "idempotency_key") == 1
    assert replays("inProgress") == before + 2


async def test_a_case_whose_debate_is_over_is_answered_with_its_result_marked_as_a_replay(database: Database) -> None:
    before = replays("replayed")
    async with served(database.service_url) as site:
        first = await send(site, prefer="wait=30")
        again = await send(site)
        waited = await send(site, prefer="wait=30")
        read = await site.http.get(first.headers["location"])

    assert {answer.status_code for answer in (first, again, waited)} == {200}
    assert first.json()["status"] == "completed"
    assert again.json() == waited.json() == first.json() == read.json()
    assert "idempotency-replayed" not in first.headers
    for answer in (again, waited):
        assert answer.headers["idempotency-replayed"] == "true"
        assert answer.headers["location"] == answer.headers["content-location"] == first.headers["location"]
    assert "preference-applied" not in again.headers
    assert replays("replayed") == before + 2


async def test_a_caller_that_comes_again_and_waits_is_answered_when_the_debate_is_over(
    database: Database, tmp_path: Path
) -> None:
    async with served(database.service_url, GAINSAY_POLICY=str(slow_policy(tmp_path, latency_ms=60))) as site:
        first = await send(site)
        again = await send(site, prefer="wait=30")

    assert (first.status_code, again.status_code) == (202, 200)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["debateId"] == first.json()["debateId"]
    assert again.json()["status"] == "completed"


async def test_a_case_whose_end_is_not_provable_yet_is_a_conflict_and_waited_for_as_by_the_first_caller(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "HOLD_S", 0.1)
    async with served(database.service_url, sequence=False) as site:
        first = await send(site, prefer="wait=1")
        again = await send(site)
        waited = await send(site, prefer="wait=1")
        (summary,) = (await site.app.reviews.find(DebateQuery(limit=1), Caller())).debates
        head = await read_head(site.app.database, summary.debate, "default")
        held = [asyncio.create_task(send(site, prefer="wait=30")) for _ in range(2)]
        async with served(database.service_url, work=False):
            in_time = await asyncio.gather(*held)

    assert head["state"] == "completed"
    assert (first.status_code, first.headers["preference-applied"]) == (202, "wait=1")
    for answer in (again, waited):
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
        assert answer.json()["debateId"] == first.json()["debateId"]
    assert waited.headers["preference-applied"] == "wait=1"
    for answer in in_time:
        assert (answer.status_code, answer.json()["status"]) == (200, "completed")
        assert answer.headers["idempotency-replayed"] == "true"


async def test_a_declined_case_is_declined_again_in_the_same_words(database: Database) -> None:
    async with served(database.service_url) as site:
        first = await send(site, a_declined_case())
        again = await send(site, a_declined_case())
        waited = await send(site, a_declined_case(), prefer="wait=5")

    assert {answer.status_code for answer in (first, again, waited)} == {200}
    assert again.json() == first.json()
    assert (again.json()["status"], waited.json()["status"]) == ("declined", "declined")
    assert again.headers["idempotency-replayed"] == waited.headers["idempotency-replayed"] == "true"
    assert rows(database, "debate_head") == 1


async def test_how_the_case_and_its_key_are_written_does_not_matter(database: Database) -> None:
    case = a_declined_case()
    body = json.dumps(dict(reversed(case.items())), indent=3).replace(
        '"estimatedDownside": 1', '"estimatedDownside": "1.00"'
    )
    async with served(database.service_url) as site:
        await send(site, case)
        again = await site.http.post(
            "/v1/debates",
            content=body,
            headers={"content-type": "application/json", "idempotency-key": KEY["idempotency-key"].strip('"')},
        )

    assert '"1.00"' in body
    assert again.headers["idempotency-replayed"] == "true"


async def test_another_case_under_the_key_is_refused_whatever_became_of_the_first_one(database: Database) -> None:
    before = replays("otherCase")
    async with served(database.service_url, work=False) as site:
        first = await send(site)
        other = await send(site, a_case(estimatedDownside=1_000_000), prefer="wait=30")
        invalid = await send(site, a_case(taskType="Contract"))

    for answer in (other, invalid):
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
        assert first.json()["debateId"] in answer.json()["detail"]
    assert rows(database, "debate_head") == 1
    assert replays("otherCase") == before + 2


async def test_a_case_that_was_refused_leaves_no_key_behind(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        refused = await send(site, a_case(taskType="Contract"))
        unread = await site.http.post("/v1/debates", json={"question": 1}, headers=KEY)
        taken = await send(site)

    assert (refused.status_code, unread.status_code, taken.status_code) == (422, 422, 202)


@pytest.mark.parametrize("levels", [30, 600])
async def test_a_case_that_is_nested_too_deeply_is_refused_alike_with_and_without_a_key(
    database: Database, levels: int
) -> None:
    schema: JSON = {}
    for _ in range(levels):
        schema = {"not": schema}
    debaters = [{"name": "for", "stance": "It is."}, {"name": "against", "stance": "It is not."}]
    case = a_case(options={"format": "stances", "debaters": debaters, "outputSchema": schema})
    async with served(database.service_url, work=False) as site:
        answers = [await send(site, case), await site.http.post("/v1/debates", json=case)]

    keyed, plain = [{**answer.json(), "requestId": "", "traceId": ""} for answer in answers]
    assert keyed == plain
    assert (keyed["status"], keyed["code"]) == (422, "invalid_case")
    assert "at most 24 levels" in keyed["detail"]


async def test_a_key_is_one_tenant_s_own(database: Database) -> None:
    async with bench(database.service_url) as service:
        one, other, again = [
            await service.reviews.record(a_request(), Caller(tenant=tenant), "k") for tenant in ("a", "b", "a")
        ]

    assert one.debate != other.debate
    assert (again.debate, again.replayed) == (one.debate, True)


async def test_neither_key_nor_case_can_be_read_from_where_keys_are_kept(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        await send(site)
    with psycopg.connect(database.admin_url) as admin:
        (key, body) = admin.execute("SELECT key, body FROM gainsay.idempotency_key").fetchone() or (b"", b"")

    assert (len(key), len(body)) == (32, 32)


@pytest.mark.parametrize("prefer", [None, "wait=30"])
async def test_many_posts_at_once_to_two_servers_make_one_debate_and_one_bill(
    database: Database, prefer: str | None
) -> None:
    """Those that come second wait for the first one's transaction, and find its key."""
    async with (
        served(database.service_url) as one,
        served(database.service_url, work=False, sequence=False) as other,
    ):
        answers = await asyncio.gather(*(send(site, prefer=prefer) for _ in range(10) for site in (one, other)))
        replayed = await send(other, prefer="wait=30")
        held = await spend.balance(one.app.database)

    told = [answer.json() for answer in answers]
    new = [answer for answer in answers if answer.status_code < 300 and "idempotency-replayed" not in answer.headers]
    assert len(new) == 1
    assert {answer.status_code for answer in answers} <= {200, 202, 409}
    assert len({each["debateId"] for each in told} | {replayed.json()["debateId"]}) == 1
    assert rows(database, "debate_head") == rows(database, "idempotency_key") == 1
    assert held.exact
    with psycopg.connect(database.admin_url) as admin:
        calls = admin.execute("SELECT count(*), count(DISTINCT turn) FROM gainsay.charge").fetchone()
    assert calls is not None
    assert calls[0] == calls[1] > 3, "every turn was paid once"
    if prefer:
        assert {answer.status_code for answer in answers} == {200}, "everybody waited for the one debate"


@pytest.mark.parametrize(
    ("short", "status"), [({"waiting": "1"}, 503), ({"waiting_per_tenant": "1"}, 503), ({"day_usd": '"0.001"'}, 402)]
)
async def test_a_replay_is_answered_though_nothing_new_would_be_taken(
    database: Database, tmp_path: Path, short: dict[str, str], status: int
) -> None:
    """No place in the queue, or no money left: the case was taken before all that."""
    policy = slow_policy(tmp_path, latency_ms=0)
    async with served(database.service_url, GAINSAY_POLICY=str(policy)) as site:
        first = await send(site, prefer="wait=30")
    async with served(database.service_url, work=False) as site:
        await site.submit()
    policy.write_text("\n".join(line_of(line, short) for line in policy.read_text("utf-8").splitlines()), "utf-8")
    async with served(database.service_url, work=False, GAINSAY_POLICY=str(policy)) as site:
        again = await send(site)
        new = await site.http.post("/v1/debates", json=a_case())

    assert (first.status_code, again.status_code, new.status_code) == (200, 200, status)
    assert again.json() == first.json()


def line_of(line: str, changed: dict[str, str]) -> str:
    """A line of a policy, with another value where one is changed."""
    name = line.partition("=")[0].strip()
    return f"{name} = {changed[name]}" if name in changed and "=" in line else line


@pytest.mark.parametrize("short", [{"waiting": "1"}, {"waiting_per_tenant": "1"}])
async def test_of_posts_at_once_under_one_key_one_takes_the_last_place_and_none_is_told_that_the_queue_is_full(
    database: Database, tmp_path: Path, short: dict[str, str]
) -> None:
    policy = slow_policy(tmp_path, latency_ms=0)
    policy.write_text("\n".join(line_of(line, short) for line in policy.read_text("utf-8").splitlines()), "utf-8")
    async with served(database.service_url, work=False, GAINSAY_POLICY=str(policy)) as site:
        answers = await asyncio.gather(*(send(site) for _ in range(6)))
        other = await site.http.post("/v1/debates", json=a_case(), headers={"idempotency-key": "another"})

    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409, 409, 409]
    assert len({answer.json()["debateId"] for answer in answers}) == 1
    assert (other.status_code, other.json()["code"]) == (503, "queue_full")


@pytest.mark.parametrize("short", [{"waiting": 1}, {"waiting_per_tenant": 1}])
async def test_a_post_that_loses_the_last_place_to_a_later_one_under_its_key_waits_for_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, short: dict[str, int]
) -> None:
    posts = asyncio.Queue[asyncio.Event]()
    refused, placed, recorded = asyncio.Event(), asyncio.Event(), asyncio.Event()
    place = QueueLimits.reserve_slot

    @asynccontextmanager
    async def held(waiting: QueueLimits, tenant: str, limits: Queue, *, item: bool = False) -> AsyncIterator[None]:
        turn = asyncio.Event()
        posts.put_nowait(turn)
        await turn.wait()
        try:
            async with place(waiting, tenant, limits, item=item):
                placed.set()
                await recorded.wait()
                yield
        except QueueFull:
            refused.set()
            raise

    monkeypatch.setattr(QueueLimits, "reserve_slot", held)
    policy = read_policy(SHIPPED_POLICY)
    queue = msgspec.structs.replace(policy.queue, **short)
    async with bench(database.service_url, policy=msgspec.structs.replace(policy, queue=queue)) as service:
        first = asyncio.create_task(service.reviews.record(a_request(), CALLER, "k"))
        turn_of_first = await posts.get()
        later = asyncio.create_task(service.reviews.record(a_request(), CALLER, "k"))
        (await posts.get()).set()
        await placed.wait()
        turn_of_first.set()
        await refused.wait()
        await asyncio.wait([first], timeout=0.3)
        recorded.set()

        told = await asyncio.gather(first, later)

    assert [each.replayed for each in told] == [True, False]
    assert told[0].debate == told[1].debate


async def test_a_case_that_is_known_by_its_key_is_not_prepared_again(database: Database) -> None:
    """What would be refused now, for its deadline has passed, say, is not looked at."""
    async with bench(database.service_url) as service:
        soon = a_request(deadline="2999-01-01T00:00:00Z")
        first = await service.reviews.record(soon, Caller(), "k")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("service.intake.prepare", refuse)
            again = await service.reviews.record(soon, Caller(), "k")

    assert (again.debate, again.replayed) == (first.debate, True)


def refuse(_request: CaseRequest, *_: Any) -> None:
    raise AssertionError("a case that is known is not prepared again")
