"""Rates of callers over two servers on one database, shares of places and listeners, and what is refused under load."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from service.observing import labelled
from service.policy.settings import SHIPPED_POLICY
from service.web import admission, overload, rate_limits
from service.web.rate_limits import ahead
from tests.end_to_end.test_backpressure import SMALL
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served

WINDOW_S = 86_400 * 365
GATE = {name: SMALL[name] for name in ("taskType", "estimatedDownside")}


def rated(folder: Path, **rates: int) -> str:
    """The shipped policy with rates."""
    path = folder / "policy.toml"
    lines = "".join(f"{name} = {most}\n" for name, most in rates.items())
    path.write_text(f"{SHIPPED_POLICY.read_text('utf-8')}\n[rates]\n{lines}", "utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def a_long_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """No minute ends within a test."""
    monkeypatch.setattr(rate_limits, "WINDOW_S", WINDOW_S)


async def test_a_caller_beyond_its_rate_is_told_when_to_come_back_and_others_classes_go_on(
    database: Database, tmp_path: Path
) -> None:
    async with served(database.service_url, work=False, GAINSAY_POLICY=rated(tmp_path, check_per_minute=2)) as site:
        answers = [await site.http.post("/v1/gate", json=GATE) for _ in range(3)]
        submitted = await site.http.post("/v1/debates", json=SMALL)
        aborted = await site.http.post(f"{submitted.headers['location']}/abort")
        alive = await site.http.get("/livez")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["ratelimit-policy"] for answer in answers] == [f'"check";q=2;w={WINDOW_S}'] * 3
    states = [re.fullmatch(r'"check";r=(\d+);t=(\d+)', answer.headers["ratelimit"]) for answer in answers]
    assert [state and state[1] for state in states] == ["1", "0", "0"]
    refused = answers[-1]
    assert states[-1]
    assert int(refused.headers["retry-after"]) >= int(states[-1][2])
    assert (refused.json()["code"], refused.json()["status"]) == ("rate_limited", 429)
    assert (submitted.status_code, submitted.headers["ratelimit-policy"]) == (202, f'"submit";q=600;w={WINDOW_S}')
    assert (aborted.status_code, alive.status_code) == (200, 200)
    assert "ratelimit" not in aborted.headers


async def test_a_head_counts_as_the_get_that_it_is(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, work=False, GAINSAY_POLICY=rated(tmp_path, read_per_minute=1)) as site:
        answers = [await site.http.head("/v1/policy") for _ in range(2)]
        scraped = (await site.http.get("/metrics")).text

    assert [answer.status_code for answer in answers] == [200, 429]
    assert 'method="HttpMethod' not in scraped


async def test_a_search_for_the_cases_of_others_has_a_rate_too(database: Database, tmp_path: Path) -> None:
    caller = await Registers(database).issue("requester")
    policy, identity = rated(tmp_path, read_per_minute=2), identity_file(tmp_path)
    async with served(
        database.service_url, work=False, sequence=False, GAINSAY_POLICY=policy, GAINSAY_IDENTITY=identity
    ) as site:
        answers = [await site.http.get(f"/v1/debates/{uuid4()}", headers=caller.headers) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 404, 429]


async def test_head_is_limited_and_counted_as_get(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, work=False, GAINSAY_POLICY=rated(tmp_path, read_per_minute=2)) as site:
        answers = [await site.http.request(method, "/v1/policy") for method in ("HEAD", "GET", "HEAD", "GET")]
        counted = (await site.http.get("/metrics")).text

    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert [answer.headers["ratelimit"].partition(";t=")[0] for answer in answers[:2]] == ['"read";r=1', '"read";r=0']
    assert "HttpMethod" not in counted


async def test_two_servers_keep_one_rate_to_within_an_eighth_each(database: Database, tmp_path: Path) -> None:
    most, policy = 40, rated(tmp_path, read_per_minute=40)
    async with AsyncExitStack() as stack:
        sites = [
            await stack.enter_async_context(
                served(database.service_url, work=False, sequence=False, GAINSAY_POLICY=policy)
            )
            for _ in range(2)
        ]
        found = Counter[int]()
        for turn in range(12):
            batch = await asyncio.gather(*(site.http.get("/v1/policy") for site in sites for _ in range(1 + turn % 5)))
            found.update(answer.status_code for answer in batch)
        told = [(await site.http.get("/v1/policy")).status_code for site in sites]

    assert most <= found[200] <= most + 2 * ahead(most)
    assert found.keys() == {200, 429}
    assert told == [429, 429], "each has learnt that the rate is used up"


async def test_old_counts_are_deleted(database: Database) -> None:
    async with served(database.service_url, work=False, sequence=False) as site:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("INSERT INTO gainsay.rate VALUES ('old', 1, 'p', 1, now() - interval '1 hour')")
        assert (await site.http.get("/v1/policy")).status_code == 200
    with psycopg.connect(database.admin_url) as admin:
        ((old, new),) = admin.execute(
            "SELECT count(*) FILTER (WHERE bucket = 'old'), count(*) FILTER (WHERE bucket <> 'old') FROM gainsay.rate"
        )

    assert (old, new) == (0, 0), "the server had no second to tell its count in, and no other to tell"


async def test_a_caller_has_a_share_of_the_listeners_and_its_waits_count_too(
    database: Database, tmp_path: Path
) -> None:
    policy = rated(tmp_path, listeners=1)
    async with served(database.service_url, work=False, GAINSAY_POLICY=policy, heartbeat_s=0.2) as site:
        debate = await site.submit(SMALL)
        address = f"/v1/debates/{debate['debateId']}/events"
        async with site.http.stream("GET", address) as first:
            assert first.status_code == 200
            second = await site.http.get(address)
            assert (second.status_code, second.json()["code"]) == (429, "rate_limited")
            assert "listeners: 1 event streams and waits" in second.json()["detail"]
            waited = await site.http.post("/v1/debates", json=SMALL, headers={"prefer": "wait=30"})
            assert (waited.status_code, waited.headers.get("preference-applied")) == (202, None), "recorded, not waited"
        status = 0
        for _ in range(100):
            async with site.http.stream("GET", address) as third:
                status = third.status_code
            if status == 200:
                break
            await asyncio.sleep(0.05)
        assert status == 200


async def slow(site: Served, count: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """So many submissions of which the head has come and the body has not."""
    host, port = site.url.removeprefix("http://").split(":")
    held = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection(host, int(port))
        body = httpx.Request("POST", site.url, json=SMALL).content
        fields = f"host: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        head = f"POST /v1/debates HTTP/1.1\r\n{fields}"
        writer.write(f"{head}\r\nconnection: close\r\n\r\n".encode())
        held.append((reader, writer))
    return held


async def statuses(held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]) -> Counter[int]:
    """The statuses of those submissions, once their bodies are sent."""
    body = httpx.Request("POST", "http://a", json=SMALL).content
    for _, writer in held:
        writer.write(body)
    answers = await asyncio.gather(*(reader.read() for reader, _ in held))
    for _, writer in held:
        writer.close()
    return Counter(int(answer.split()[1]) for answer in answers)


async def test_under_pressure_checks_are_refused_first_and_cases_go_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "PLACES", 4)
    monkeypatch.setattr(admission, "LINE_S", 60.0)
    monkeypatch.setattr(overload, "IN_LINE", (3, 8))
    asked: dict[str, Any] = {"sources": [{"id": "A", "text": "a b c"}], "citations": [{"id": "1", "quote": "a b c"}]}
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit(SMALL))["debateId"]

        async def pressed(count: int) -> dict[str, int]:
            """What is answered while so many cases are in line."""
            while labelled.REGISTRY.get_sample_value("gainsay_submissions_in_line") != count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            answers = {
                "gate": await site.http.post("/v1/gate", json=GATE),
                "quote": await site.http.post("/v1/quotes", json=SMALL),
                "citations": await site.http.post("/v1/citations/check", json=asked),
                "list": await site.http.get("/v1/debates"),
                "read": await site.http.get(f"/v1/debates/{debate}"),
                "policy": await site.http.get("/v1/policy"),
                "abort": await site.http.post(f"/v1/debates/{debate}/abort"),
                "live": await site.http.get("/livez"),
                "ready": await site.http.get("/readyz"),
            }
            for answer in answers.values():
                if answer.status_code == 503:
                    assert answer.json()["code"] == "overloaded"
                    assert int(answer.headers["retry-after"]) >= 1
            return {name: answer.status_code for name, answer in answers.items()}

        checks = ("gate", "quote", "citations")
        held = await slow(site, 4 + 3)
        first = await pressed(3)
        held += await slow(site, 5)
        second = await pressed(8)
        recorded = await statuses(held)
        after = await site.http.post("/v1/gate", json=GATE)

    assert {name for name, status in first.items() if status == 503} == set(checks)
    assert {name for name, status in second.items() if status == 503} == {*checks, "list", "read", "policy"}
    assert recorded == {202: 12}, "every case is recorded, whatever else was refused"
    assert after.status_code == 200
