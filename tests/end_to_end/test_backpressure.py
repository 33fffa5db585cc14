"""A full queue and a crowd at the door: 503 with Retry-After, and nothing that was answered otherwise is lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from service.errors import QueueFull
from service.identity.caller import Caller
from service.observing import labelled
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.store import pool, queue_limits
from service.store.pool import Database as Pool
from service.store.pool import Row, StatementUnanswered
from service.web import admission
from tests.fixtures.postgres import Database
from tests.fixtures.running import TEXT, a_request
from tests.fixtures.serving import JSON, Served, a_case, served
from tests.fixtures.waiting import within

SMALL: JSON = {
    "question": "Is our liability capped?",
    "taskType": "contract",
    "estimatedDownside": 250_000,
    "documents": [{"text": TEXT}],
}
JSON_BODY = {"content-type": "application/json"}


def policy(folder: Path, **limits: int) -> str:
    """The shipped policy with other places in the queue."""
    text = SHIPPED_POLICY.read_text("utf-8")
    for name, limit in limits.items():
        text, count = re.subn(rf"(?m)^{name} = \d+", f"{name} = {limit}", text)
        assert count == 1, name
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return str(path)


def refused(limit: str) -> float:
    return labelled.REGISTRY.get_sample_value("gainsay_submissions_refused_total", {"limit": limit}) or 0.0


def recorded(database: Database) -> set[str]:
    with psycopg.connect(database.admin_url) as admin:
        return {str(debate) for (debate,) in admin.execute("SELECT debate FROM gainsay.debate_head")}


async def posted(site: Served, **headers: str) -> httpx.Response:
    return await site.http.post("/v1/debates", json=SMALL, headers=headers)


# -- the queue


async def test_a_case_beyond_the_queue_is_turned_away_until_a_place_is_free(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = refused("queue")
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy(tmp_path, waiting=2)) as site:
        first, second, third, keyed = [await posted(site, **key) for key in ({}, {}, {}, {"idempotency-key": "k"})]
        assert [answer.status_code for answer in (first, second)] == [202, 202]
        for answer in (third, keyed):
            assert (answer.status_code, answer.json()["code"]) == (503, "queue_full")
            assert answer.headers["retry-after"] == "1"
            assert answer.headers["content-type"] == "application/problem+json"
            assert "expected fewer than 2 queued debates, found 2" in answer.json()["detail"]
        assert len(recorded(database)) == 2
        assert refused("queue") == before + 2

        await site.http.post(f"{first.headers['location']}/abort")
        monkeypatch.setattr(queue_limits, "COUNTED_S", 0.0)
        assert (await posted(site)).status_code == 202
        asked = {name: SMALL[name] for name in ("taskType", "estimatedDownside")}
        assert (await site.http.post("/v1/gate", json=asked)).status_code == 200


async def test_a_tenant_that_fills_its_places_leaves_those_of_others(database: Database, tmp_path: Path) -> None:
    before = refused("tenantQueue")
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy(tmp_path, waiting_per_tenant=1)) as site:
        answers = [await posted(site) for _ in range(2)]
        other = await site.app.reviews.record(a_request(), Caller(tenant="other"))
        with pytest.raises(QueueFull, match="fewer than 1 queued debates of this tenant, found 1"):
            await site.app.reviews.record(a_request(), Caller(tenant="other"))

    assert [answer.status_code for answer in answers] == [202, 503]
    assert other.status == "queued"
    assert refused("tenantQueue") == before + 2


@pytest.mark.parametrize(("waited_s", "told"), [(0, 1), (95, 10), (86_400, 60)])
async def test_whoever_is_turned_away_is_told_to_come_back_the_later_the_longer_the_queue_takes(
    database: Database, tmp_path: Path, waited_s: int, told: int
) -> None:
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy(tmp_path, waiting=1)) as site:
        await posted(site)
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("UPDATE gainsay.debate_head SET created = created - make_interval(secs => %s)", [waited_s])
        await asyncio.sleep(2 * queue_limits.COUNTED_S)
        answer = await posted(site)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, str(told))


async def test_of_many_that_come_at_once_no_more_are_taken_than_there_are_places_and_they_are_all_filled(
    database: Database, tmp_path: Path
) -> None:
    answers: list[httpx.Response] = []
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy(tmp_path, waiting=10)) as site:
        for _ in range(4):  # in the moment in which they are counted, some are counted twice
            answers += await asyncio.gather(*(posted(site) for _ in range(30)))
            await asyncio.sleep(2 * queue_limits.COUNTED_S)

    assert Counter(answer.status_code for answer in answers) == {202: 10, 503: 110}
    assert {a.json()["debateId"] for a in answers if a.status_code == 202} == recorded(database)


class Counted(Pool):
    """A database that knows how often it was asked how many debates wait."""

    counts = 0

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        self.counts += name == "waiting"
        return await super().query(name, params)


async def test_those_who_come_while_nobody_can_count_the_queue_are_told_so_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "STATEMENT_S", 0.3)
    limits = read_policy(SHIPPED_POLICY).queue
    async with Counted.open(database.service_url, size=4) as counted:
        queue = queue_limits.QueueLimits(counted)
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("LOCK gainsay.debate_head IN ACCESS EXCLUSIVE MODE")
            asked = [asyncio.create_task(queue.refuse_full("default", limits)) for _ in range(20)]
            await asyncio.sleep(0.1)
            asked[0].cancel()
            told = await asyncio.gather(*asked, return_exceptions=True)
        await queue.refuse_full("default", limits)

    assert isinstance(told[0], asyncio.CancelledError), "one that goes away takes the answer from nobody"
    assert {type(error) for error in told[1:]} == {StatementUnanswered}
    assert counted.counts == 2, "once for all of them, and once when the lock was gone"


# -- the door


async def slowly(body: bytes, go_on: asyncio.Event) -> AsyncIterator[bytes]:
    """A body whose second half keeps others waiting."""
    yield body[: len(body) // 2]
    await go_on.wait()
    yield body[len(body) // 2 :]


async def test_a_process_that_reads_as_many_cases_as_it_can_lets_some_stand_in_line_and_sends_the_rest_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    monkeypatch.setattr(admission, "LINE", 2)
    before = refused("requests")
    body = httpx.Request("POST", "http://x", json=a_case()).content
    go_on = asyncio.Event()
    async with served(database.service_url, work=False) as site:
        reading = asyncio.create_task(site.http.post("/v1/debates", content=slowly(body, go_on), headers=JSON_BODY))
        await asyncio.sleep(0.2)
        line = [asyncio.create_task(posted(site)) for _ in range(2)]
        await asyncio.sleep(0.2)
        beyond = await posted(site)
        quoted = await site.http.post("/v1/quotes", json=SMALL)
        other = await site.http.get("/v1/debates")
        go_on.set()
        taken = await asyncio.gather(reading, *line)

    for answer in (beyond, quoted):
        assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
        assert answer.headers["retry-after"] == "1"
    assert other.status_code == 200
    assert [answer.status_code for answer in taken] == [202, 202, 202]
    assert refused("requests") == before + 2


async def test_nobody_stands_in_line_for_long(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    monkeypatch.setattr(admission, "LINE_S", 0.2)
    body = httpx.Request("POST", "http://x", json=a_case()).content
    go_on = asyncio.Event()
    async with served(database.service_url, work=False) as site:
        reading = asyncio.create_task(site.http.post("/v1/debates", content=slowly(body, go_on), headers=JSON_BODY))
        await asyncio.sleep(0.2)
        beyond = await posted(site)
        go_on.set()
        taken = await reading
        after = await posted(site)

    assert (beyond.status_code, beyond.json()["code"]) == (503, "overloaded")
    assert [taken.status_code, after.status_code] == [202, 202]


async def test_a_body_that_trickles_in_does_not_keep_its_place(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    monkeypatch.setattr(admission, "BODY_S", 0.2)
    async with served(database.service_url, work=False) as site:
        url = httpx.URL(site.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = (
            "POST /v1/debates HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            "Content-Length: 99",
            "",
            "{",
        )
        writer.write("\r\n".join(head).encode())
        after = await posted(site)
        answer = await within(10, reader.read())  # to the end: what comes later would be read as a request
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close\r\n" in answer
    assert b'"code":"request_timeout"' in answer
    assert b"did not arrive within 0.2 s" in answer
    assert after.status_code == 202


async def sent(url: httpx.URL, request: bytes) -> tuple[int, str, str]:
    """The status, Retry-After and debate of a request on a connection of its own."""
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    later = re.search(rb"(?m)^retry-after: (\d+)", head)
    return int(head.split()[1]), later[1].decode() if later else "", json.loads(body).get("debateId", "")


async def test_a_thousand_posts_at_once_are_each_taken_for_good_or_told_to_come_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LINE_S", 1.0)
    body = json.dumps(SMALL).encode()
    head = (
        "POST /v1/debates HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    request = "\r\n".join((*head, "Connection: close", "", "")).encode() + body
    async with served(database.service_url, work=False) as site:
        answers = await asyncio.gather(*(sent(httpx.URL(site.url), request) for _ in range(1_000)))
        after = await posted(site)

    taken = [debate for status, _, debate in answers if status == 202]
    assert {(status, later) for status, later, _ in answers} == {(202, "1"), (503, "1")}
    assert len(set(taken)) == len(taken) > 0
    assert set(taken) | {after.json()["debateId"]} == recorded(database)
