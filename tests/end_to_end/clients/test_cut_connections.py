"""The clients on a real service, behind a proxy that cuts: one bill, every event once, whole files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from service.audit.record import Writer
from service.cli import main
from service.identity.caller import LOCAL
from service.policy.own_build import own_build
from service.store.rotation import next_log, open_next
from service.web.openapi import document
from tests.fixtures.client_drivers import Driver, Failed
from tests.fixtures.hostile_servers import Cutting, Fault, cutting
from tests.fixtures.serving import SIGNING_KEY, Served, a_case, a_declined_case

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]


@pytest_asyncio.fixture(loop_scope="module")
async def proxy(site: Served) -> AsyncIterator[Cutting]:
    async with cutting(site.url) as standing:
        yield standing


async def debates(site: Served) -> set[str]:
    """The ids of all debates, which is what is billed."""
    page = (await site.http.get("/v1/debates?limit=100")).json()
    assert "next" not in page
    return {each["debateId"] for each in page["debates"]}


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def streamed(site: Served, debate: str) -> list[dict[str, Any]]:
    """The events of a debate as an unbroken stream has them."""
    found, last = [], 0
    for each in reversed(await site.events(debate)):
        last = each.id or last
        found.append({"id": last, "name": each.name, "data": each.data})
    return found[::-1]


FAULTS = [
    Fault("refuse"),
    Fault("cutRequest"),
    Fault("cutBeforeAnswer"),
    Fault("cutAnswer", 9),
    Fault("busy", 0),
    Fault("cutAnswer", 200),
]


async def test_a_case_whose_answers_are_lost_again_and_again_is_recorded_and_billed_once(
    site: Served, proxy: Cutting, driver: Driver
) -> None:
    before = await debates(site)
    proxy.faults = list(FAULTS)

    async with driver.open(proxy.url, give_up_after=30.0) as client:
        submitted = await client.call("submit", a_case())
        result = await client.call("wait", submitted["debate_id"], timeout=30)

    posts = [asked for asked in proxy.seen if asked.method == "POST"]
    assert proxy.hit == [fault.kind for fault in FAULTS]
    assert len(posts) == len(FAULTS) + 1
    assert {asked.headers["idempotency-key"] for asked in posts} == {f'"{submitted["key"]}"'}
    assert await debates(site) - before == {submitted["debate_id"]}
    assert result["status"] == "completed"


async def test_a_review_survives_the_same_and_gives_the_result_that_a_read_gives(
    site: Served, proxy: Cutting, driver: Driver
) -> None:
    before, key = await debates(site), str(uuid4())
    proxy.faults = list(FAULTS)

    async with driver.open(proxy.url, give_up_after=30.0) as client:
        result = await client.call("review", a_case(), key=key, view="full")
        again = await client.call("review", a_case(), key=key, view="full")

    assert result == again == (await site.http.get(f"/v1/debates/{result['debateId']}?view=full")).json()
    assert await debates(site) - before == {result["debateId"]}


async def test_another_case_under_a_key_is_refused_and_what_came_before_is_told(site: Served, driver: Driver) -> None:
    key = str(uuid4())

    async with driver.open(site.url) as client:
        first = await client.call("submit", a_case(), key=key)
        again = await client.call("submit", a_case(), key=key)
        with pytest.raises(Failed) as refused:
            await client.call("submit", a_case(question="Another?"), key=key)

    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["debate_id"] == first["debate_id"]
    assert (refused.value.kind, refused.value.members["code"]) == ("KeyReused", "idempotency_key_reused")


async def test_a_declined_case_is_over_at_once(site: Served, driver: Driver) -> None:
    async with driver.open(site.url) as client:
        submitted = await client.call("submit", a_declined_case())
        result = await client.call("review", a_declined_case())
        events = await client.collect("follow", submitted["debate_id"])

    assert (submitted["status"], result["status"], result["view"]) == ("declined", "declined", "summary")
    assert [event["name"] for event in events] == ["gate", "final"]


async def test_every_event_comes_once_however_often_the_stream_is_cut(
    site: Served, proxy: Cutting, driver: Driver
) -> None:
    debate = (await site.finished())["debateId"]
    whole = await streamed(site, debate)
    length = len((await site.http.get(f"/v1/debates/{debate}/events")).content)
    proxy.faults = [Fault("cutAnswer", 450), Fault("cutAnswer", length // 3), Fault("stall", 2_500)]

    async with driver.open(proxy.url, silence=0.5) as client:
        events = await client.collect("follow", debate)
        later = await client.collect("follow", debate, after=whole[3]["id"])
        ended = await client.collect("follow", debate, after=whole[-1]["id"])

    assert events == whole
    assert len(proxy.hit) == 3
    assert later == [event for event in whole if event["id"] > whole[3]["id"]]
    assert ended == []


async def test_a_running_debate_is_followed_live_and_may_be_left(site: Served, proxy: Cutting, driver: Driver) -> None:
    proxy.faults = [Fault("cutAnswer", 5_000)]
    proxy.only = lambda asked: asked.path.endswith("/events")

    async with driver.open(proxy.url) as client:
        debate = (await client.call("submit", a_case()))["debate_id"]
        first = await client.collect("follow", debate, most=2)
        events = await client.collect("follow", debate, view="full")

    assert events[:2] == first
    assert [event["id"] for event in events] == sorted(event["id"] for event in events)
    assert events[-1]["name"] == "final"
    assert events[-1]["data"]["view"] == "full"


async def test_a_debate_that_goes_on_is_told_with_its_id(site: Served, driver: Driver) -> None:
    async with driver.open(site.url) as client:
        with pytest.raises(Failed) as late:
            await client.call("review", a_case(), timeout=0)

        assert late.value.kind == "TimedOut"
        assert (await client.call("wait", late.value.members["debateId"], timeout=30))["status"] == "completed"


async def test_a_bundle_that_is_cut_off_is_saved_whole_or_not_at_all(
    site: Served, proxy: Cutting, driver: Driver, tmp_path: Path
) -> None:
    debate = (await site.finished())["debateId"]
    file = tmp_path / "bundle.zip"
    file.write_bytes(b"an older one")

    async with driver.open(proxy.url) as client:
        proxy.faults = [Fault("cutAnswer", 9_000), Fault("busy", 0), Fault("cutAnswer", 400)]
        await client.call("bundle", debate, str(file))
        saved = file.read_bytes()
        proxy.faults = [Fault("cutAnswer", 9_000)] * 50
        with pytest.raises(Failed) as cut:
            async with driver.open(proxy.url, give_up_after=1.0) as hasty:
                await hasty.call("bundle", debate, str(file))

    assert cut.value.kind == "Unreachable"
    assert file.read_bytes() == saved
    assert names(tmp_path) == ["bundle.zip"]
    keys = (await site.http.get("/v1/audit/logs")).json()["logs"][-1]["key"]
    assert await asyncio.to_thread(main, ["audit", "verify", str(file), "--key", keys]) in (0, 4)


async def test_an_export_ends_with_its_count(site: Served, driver: Driver, tmp_path: Path) -> None:
    await site.finished()
    file, none = tmp_path / "records.jsonl", tmp_path / "none.jsonl"

    async with driver.open(site.url) as client:
        log = (await client.call("logs"))["logs"][-1]["log"]
        await client.call("export", log, str(file))
        await client.call("export", log, str(none), task_type="no-such-type")

    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[-1] == {"records": len(lines) - 2}
    assert lines[0]["log"] == log
    assert json.loads(none.read_text().splitlines()[-1]) == {"records": 0}


async def test_every_question_has_its_call(site: Served, driver: Driver) -> None:
    debate = (await site.finished())["debateId"]
    case = a_case()
    asked = {"taskType": case["taskType"], "estimatedDownside": case["estimatedDownside"]}
    cited = {"sources": [{"id": "D1", "text": "The cap is 12 months."}], "citations": []}

    async with driver.open(site.url) as client:
        assert (await client.call("gate", asked))["debate"] is True
        assert (await client.call("quote", case))["startable"] is True
        assert (await client.call("check_citations", cited))["verdicts"] == []
        assert (await client.call("abort", debate, reason="too late"))["status"] == "completed"
        assert (await client.call("report", debate)).startswith("#")
        assert (await client.call("report", debate, "pdf")).startswith("%PDF")
        assert "<html" in await client.call("report", debate, "html")
        assert (await client.call("models"))["models"]
        assert (await client.call("prompts"))["prompts"]
        assert (await client.call("policy"))["version"]
        assert "keys" in await client.call("keys")
        log, size, _root = (await client.call("checkpoint")).split("\n")[:3]
        assert (await client.call("checkpoint", log)).split("\n")[0] == log
        assert await client.call("consistency", log, int(size), int(size)) == []
        assert (await client.call("prove_record", log, f"{debate}.0")).startswith("c2sp.org/tlog-proof")
        assert (await client.call("recall", model="nobody"))["debates"] == []
        assert (await client.call("request", "GET", "/livez"))["status"] == 200


async def test_all_pages_of_a_list_are_read_and_each_item_comes_once(site: Served, driver: Driver) -> None:
    for _ in range(3):
        await site.submit(a_declined_case())
    there = await debates(site)

    async with driver.open(site.url) as client:
        found = [item["debateId"] for item in await client.collect("find", limit=2)]
        page = await client.call("find_page", limit=2)
        following = await client.call("find_page", limit=2, after=page["next"])

    assert sorted(found) == sorted(there)
    assert [item["debateId"] for item in (*page["debates"], *following["debates"])] == found[:4]


async def test_faults_of_a_case_come_with_their_fields(site: Served, driver: Driver) -> None:
    async with driver.open(site.url) as client:
        with pytest.raises(Failed) as refused:
            await client.call("submit", a_case(taskType="Contract", costCeilingUSD="0"))
        with pytest.raises(Failed) as missing:
            await client.call("result", str(uuid4()))

    told = refused.value
    assert (told.kind, told.members["code"], told.members["status"]) == ("Refused", "invalid_case", 422)
    assert {fault["pointer"] for fault in told.members["errors"]} == {"/taskType", "/costCeilingUSD"}
    assert told.members["requestId"] in told.members["text"]
    assert (missing.value.kind, missing.value.members["code"]) == ("NotFound", "not_found")


async def test_the_heads_of_a_growing_log_are_proved_one_after_the_other(site: Served, driver: Driver) -> None:
    async with driver.open(site.url) as client:
        sizes = []
        for _ in range(3):
            await client.call("review", a_case())
            (head,) = (await client.call("heads")).values()
            sizes.append(int(head.split(" ")[1]))
        unproved = await client.call("prove_heads")

        assert sizes == sorted(set(sizes))
        assert unproved == {}
        assert await client.notices() == []


async def test_a_log_that_is_really_rotated_is_followed(site: Served, driver: Driver) -> None:
    writer = Writer(LOCAL.actor, own_build())

    async with driver.open(site.url) as client:
        await client.call("review", a_case())
        (old,) = await client.call("heads")
        rotation = await next_log(site.app.database, LOCAL.tenant, "localhost")
        await open_next(site.app.database, rotation, SIGNING_KEY.public, writer)
        async with asyncio.timeout(30):
            while set(await client.call("heads")) != {old, rotation.log}:
                await client.call("review", a_case())

        assert await client.notices() == ["rotated"]
        assert await client.call("prove_heads") == {}
        assert (await client.call("checkpoint")).startswith(f"{rotation.log}\n")


async def test_documents_are_listed_and_read_as_they_were_sent(site: Served, driver: Driver) -> None:
    expect_operation("readDocument")
    case = a_case()
    debate = (await site.finished(case))["debateId"]

    async with driver.open(site.url) as client:
        listed = (await client.call("documents", debate))["documents"]
        texts = [await client.call("document", debate, each["id"]) for each in listed]

    assert texts == [each["text"] for each in case["documents"]]


async def test_debates_are_found_by_what_they_are(site: Served, driver: Driver) -> None:
    expect_parameter("listDebates", "taskType")
    desk = str(uuid4())
    wanted = (await site.finished(a_case(metadata={"desk": desk})))["debateId"]
    await site.finished(a_case(metadata={"desk": "another"}))
    filters = {"metadata": {"desk": desk}, "task_type": ["contract", "security"], "status": "completed"}

    async with driver.open(site.url) as client:
        found = await client.collect("find", **filters)
        page = await client.call("find_page", facets=["status", "taskType"], limit=1, **filters)
        with pytest.raises(Failed) as refused:
            await client.call("find_page", status="no such status")

    assert [each["debateId"] for each in found] == [wanted]
    assert [each["debateId"] for each in page["debates"]] == [wanted]
    assert {each["facet"] for each in page["facets"]} == {"status", "taskType"}
    assert refused.value.kind == "Refused"


def operations() -> dict[str, Any]:
    return {each["operationId"]: each for path in document()["paths"].values() for each in path.values()}


def expect_operation(name: str) -> None:
    if name not in operations():
        pytest.skip(f"this service has no operation {name} yet")


def expect_parameter(operation: str, name: str) -> None:
    if name not in {each["name"] for each in operations()[operation]["parameters"]}:
        pytest.skip(f"{operation} has no parameter {name} yet")
