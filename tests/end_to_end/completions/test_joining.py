"""A chat request that is sent again joins its debate: one debate, and one bill."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import openai
import psycopg
import pytest

from service.web.completions import endpoint
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.chatting import QUESTION, SOURCE, asked, bills, chat, cutter, official, user
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served
from tests.fixtures.waiting import until


def aged(database: Database, interval: str) -> None:
    """Let what is recorded be older by this, as the database took it up."""
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("ALTER TABLE gainsay.entry DISABLE TRIGGER USER")
        admin.execute("UPDATE gainsay.entry SET at = at - %s::interval", [interval])


@pytest.mark.parametrize("stream", [False, True])
async def test_a_connection_cut_in_mid_wait_costs_nothing_more(database: Database, stream: bool) -> None:
    """The stock client sends the request again by itself; of a stream that has begun its program does."""
    async with (
        served(database.service_url, work=False) as site,
        cutter(site.url) as (proxy, url),
        official(url, max_retries=2) as client,
    ):

        async def ask() -> Any:
            if not stream:
                return await client.chat.completions.create(**chat())
            while True:
                try:
                    chunks = [c async for c in await client.chat.completions.create(**chat(), stream=True)]
                except openai.APIConnectionError:
                    continue
                return chunks[-1]

        answer = asyncio.create_task(ask())
        await until(lambda: bills(database)[0])
        for cuts in (1, 2):
            await until(lambda cuts=cuts: proxy.connections >= cuts and waited(site))  # type: ignore[misc]
            await proxy.cut()
        async with served(database.service_url):
            found = await answer

    assert proxy.connections >= 3
    assert bills(database) == (1, 0)
    ((debate,),) = asked(database, "SELECT debate::text FROM debate_head")
    assert found.id == f"chatcmpl-{debate}"
    assert found.model_extra["gainsay"]["decision"]["cost"]["spentUSD"] == _spent(database)


def _spent(database: Database) -> str:
    """All that vendors were ever paid, in US dollars."""
    ((spent,),) = asked(database, "SELECT to_char(sum(spent + excess) / 1e6, 'FM0.000000') FROM debate_head")
    return str(spent)


@pytest.mark.parametrize("count", [2, 50])
async def test_requests_that_come_together_are_one_debate(database: Database, count: int) -> None:
    async with served(database.service_url) as site:
        answers = await asyncio.gather(*(site.http.post("/v1/chat/completions", json=chat()) for _ in range(count)))
        aged(database, "10 minutes")
        anew = await asyncio.gather(*(site.http.post("/v1/chat/completions", json=chat()) for _ in range(count)))

    assert {answer.status_code for answer in (*answers, *anew)} == {200}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len({answer.json()["id"] for answer in anew}) == 1
    assert len({answer.json()["id"] for answer in (*answers, *anew)}) == 2
    assert ["idempotency-replayed" in answer.headers for answer in answers].count(False) == 1
    assert bills(database)[0] == 2


async def test_a_body_is_the_same_in_another_order_and_as_a_stream(database: Database) -> None:
    body = chat()
    other = json.dumps(dict(reversed(body.items())), indent=2)
    async with served(database.service_url) as site:
        first = await site.http.post("/v1/chat/completions", json=body)
        form = {"content-type": "application/json"}
        second = await site.http.post("/v1/chat/completions", content=other, headers=form)
        third = await site.http.post("/v1/chat/completions", json={**body, "stream": True})
        fourth = await site.http.post("/v1/chat/completions", json={**body, "seed": 7})
        fifth = await site.http.post("/v1/chat/completions", json=chat(messages=[user(SOURCE, f"{QUESTION} ")]))

    assert second.json()["id"] == first.json()["id"]
    assert first.json()["id"] in third.text
    assert len({first.json()["id"], fourth.json()["id"], fifth.json()["id"]}) == 3


async def test_another_caller_with_the_same_body_has_a_debate_of_its_own(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, GAINSAY_IDENTITY=identity_file(tmp_path)) as site:
        registers = Registers(database)
        one, other = await registers.issue("requester"), await registers.issue("requester")
        rotated = await registers.issue("requester", of=one)
        found = []
        for known in (one, other, rotated):
            async with official(site.url, known.secret) as client:
                found.append(await client.chat.completions.create(**chat()))

    assert found[0].id == found[2].id != found[1].id, "a second key of one subject is the same caller"


async def test_a_key_that_the_caller_sends_keeps_its_own_debate(database: Database) -> None:
    async with served(database.service_url) as site, official(site.url) as client:
        plain = await client.chat.completions.create(**chat())
        keyed = await client.chat.completions.create(**chat(), extra_headers={"Idempotency-Key": "k1"})
        aged(database, "1 year")
        again = await client.chat.completions.create(**chat(), extra_headers={"Idempotency-Key": "k1"})

    assert keyed.id == again.id != plain.id


async def test_a_wait_that_is_over_is_an_error_that_joins_the_same_debate(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "WAIT_S", 0.05)
    async with served(database.service_url, work=False) as site:
        async with official(site.url, max_retries=0) as client:
            with pytest.raises(openai.ConflictError) as over:
                await client.chat.completions.create(**chat())
        monkeypatch.setattr(endpoint, "WAIT_S", 30.0)
        async with served(database.service_url), official(site.url) as client:
            found = await client.chat.completions.create(**chat())

    assert (over.value.code, over.value.type) == ("idempotency_in_progress", "conflict_error")
    assert over.value.response.headers["retry-after"] == "1"
    assert over.value.response.headers["location"] == f"/v1/debates/{found.id.removeprefix('chatcmpl-')}"
    assert bills(database) == (1, 0)


async def test_a_process_that_stops_ends_waits_and_streams_and_another_one_goes_on(database: Database) -> None:
    async with AsyncExitStack() as clients:
        async with served(database.service_url, work=False) as site:
            client = await clients.enter_async_context(official(site.url, max_retries=0))
            stream = await client.chat.completions.create(**chat(), stream=True)
            first = await anext(aiter(stream))
            rest = asyncio.create_task(_rest(stream))
            waiting = asyncio.create_task(client.chat.completions.create(**chat()))
            await until(lambda: waited(site) == 2)
        with pytest.raises(openai.APIError) as cut:
            await rest
        with pytest.raises(openai.ConflictError):
            await waiting
    async with served(database.service_url) as other, official(other.url) as client:
        found = await client.chat.completions.create(**chat())

    assert cut.value.code == "overloaded"
    assert found.id == first.id
    assert bills(database) == (1, 0)


def waited(site: Served) -> int:
    """How many streams and waits a process holds, as its poll counts them."""
    watch = vars(vars(site.app.reviews)["_listening"])["_watch"]
    return sum(counts.total() for counts in vars(watch)["_waiting"].values())


async def _rest(stream: Any) -> list[Any]:
    return [chunk async for chunk in stream]


async def test_heartbeats_keep_a_stream_open_and_the_client_passes_over_them(database: Database) -> None:
    async with served(database.service_url, work=False, heartbeat_s=0.02) as site, official(site.url) as client:
        async with site.http.stream("POST", "/v1/chat/completions", json=chat(stream=True)) as plain:
            assert plain.headers["content-type"].startswith("text/event-stream")
            assert plain.headers["x-accel-buffering"] == "no"
            beats = 0
            async for line in plain.aiter_lines():
                beats += line == ": still here"
                if beats == 3:
                    break
        answer = asyncio.create_task(_rest(await client.chat.completions.create(**chat(), stream=True)))
        async with served(database.service_url):
            chunks = await answer

    assert chunks[-1].choices[0].finish_reason == "stop"
    assert bills(database) == (1, 0)
