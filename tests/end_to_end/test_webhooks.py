"""Webhooks over HTTP and with real processes: create, verify, rotate, test, see what became of it, and send again."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio
from standardwebhooks.webhooks import Webhook

from service.observing.span import trace_id
from service.policy.settings import SHIPPED_POLICY
from tests.end_to_end.processes import deployed
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.receivers import Receiver, answering, hanging, receiving
from tests.fixtures.serving import Served, a_declined_case, served, webhook_key
from tests.store.workers import until

TRACE = "0af7651916cd43dd8448eb211c80319c"
TABLE = """
[webhooks]
allow_networks = ["127.0.0.0/8"]
allow_http = true
ports = []
timeout_s = 5
"""


def here(folder: Path) -> str:
    """The shipped policy, which allows receivers on this machine."""
    path = folder / "policy.toml"
    path.write_text(SHIPPED_POLICY.read_text("utf-8") + TABLE, "utf-8")
    return str(path)


@pytest_asyncio.fixture
async def site(database: Database, tmp_path: Path) -> AsyncIterator[Served]:
    """A service that sends webhooks to this machine."""
    async with served(database.service_url, deliver=True, GAINSAY_POLICY=here(tmp_path)) as running:
        yield running


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that takes everything."""
    async with receiving() as found:
        yield found


async def came(receiver: Receiver, number: int) -> None:
    """Wait until so many messages have come."""

    async def enough() -> bool:
        await asyncio.sleep(0.02)
        return len(receiver.got) >= number

    await until(enough, 30.0)


async def made(http: httpx.AsyncClient, url: str, **more: Any) -> Any:
    answer = await http.post("/v1/webhooks", json={"url": url, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_the_end_of_a_case_is_posted_and_a_stock_verifier_takes_it(site: Served, receiver: Receiver) -> None:
    granted = await made(site.http, receiver.url)

    told = await site.finished()
    await came(receiver, 1)

    (got,) = receiver.got
    event = Webhook(granted["secret"]).verify(got.body, got.headers)
    result = (await site.http.get(event["data"]["href"], params={"view": "full"})).json()
    hashes = result["hashes"]
    assert event["type"] == "debate.ended"
    assert event["data"]["lastRecord"] == hashes["lastRecord"]
    assert event["data"]["debateId"] == result["debateId"] == told["debateId"]
    assert (event["data"]["log"], event["data"]["index"]) == (hashes["log"]["log"], hashes["log"]["index"])
    assert "Supplier" not in got.body.decode()


async def test_a_message_is_a_part_of_the_trace_of_its_case(site: Served, receiver: Receiver) -> None:
    """Its receiver is told the caller's trace, or the debate's own where its caller brought none."""
    await made(site.http, receiver.url)
    site.http.headers["traceparent"] = f"00-{TRACE}-b7ad6b7169203331-01"
    await site.finished()
    del site.http.headers["traceparent"]
    await site.finished()
    await came(receiver, 2)

    sent = {json.loads(got.body)["data"]["debateId"]: got.headers["traceparent"].split("-") for got in receiver.got}
    own = {debate: trace_id(debate) for debate in sent}
    assert sorted(sent[debate][1] == own[debate] for debate in sent) == [False, True]
    assert TRACE in {parts[1] for parts in sent.values()}
    assert {len(parts[2]) for parts in sent.values()} == {16}


async def test_an_endpoint_is_shown_without_its_secret_and_its_messages_with_their_attempts(
    site: Served, receiver: Receiver
) -> None:
    granted = await made(site.http, receiver.url)
    href = granted["webhook"]["href"]

    tested = await site.http.post(f"{href}/test")
    await came(receiver, 1)

    shown = await site.http.get(href)
    listed = (await site.http.get("/v1/webhooks")).json()
    assert tested.status_code == 202
    assert (shown.json(), listed["webhooks"]) == (granted["webhook"], [granted["webhook"]])
    assert granted["secret"].startswith("whsec_")
    assert granted["secret"] not in shown.text

    async def delivered() -> bool:
        deliveries = (await site.http.get(f"{href}/deliveries")).json()["deliveries"]
        return bool(deliveries[0]["state"] == "delivered")

    await until(delivered)
    (delivery,) = (await site.http.get(f"{href}/deliveries")).json()["deliveries"]
    assert delivery["delivery"] == receiver.got[0].id == tested.json()["delivery"]
    (attempt,) = delivery["log"]
    assert (attempt["outcome"], attempt["status"], attempt["address"]) == ("delivered", 204, "127.0.0.1")


async def test_messages_are_listed_by_pages_and_sent_again_with_the_same_id(site: Served, receiver: Receiver) -> None:
    href = (await made(site.http, receiver.url))["webhook"]["href"]
    sent = [(await site.http.post(f"{href}/test")).json()["delivery"] for _ in range(3)]
    await came(receiver, 3)

    first = await site.http.get(f"{href}/deliveries?limit=2")
    second = await site.http.get(f"{href}/deliveries?limit=2&after={first.json()['next']}")
    found = [each["delivery"] for page in (first, second) for each in page.json()["deliveries"]]
    assert found == sent[::-1]
    assert "next" not in second.json()

    async def again() -> bool:
        return (await site.http.post(f"{href}/deliveries/{sent[0]}/redeliver")).status_code == 202

    await until(again)
    await came(receiver, 4)
    assert receiver.ids[3] == sent[0]


async def test_a_secret_is_rotated_without_a_loss(site: Served, receiver: Receiver) -> None:
    first = await made(site.http, receiver.url)
    href = first["webhook"]["href"]

    second = (await site.http.post(f"{href}/rotate", json={"keepHours": 1})).json()
    await site.http.post(f"{href}/test")
    await came(receiver, 1)

    assert "bothUntil" in second["webhook"]
    for granted in (first, second):
        Webhook(granted["secret"]).verify(receiver.got[0].body, receiver.got[0].headers)


async def test_what_cannot_be_done_is_refused_with_its_reason(site: Served, receiver: Receiver) -> None:
    granted = await made(site.http, receiver.url)
    href = granted["webhook"]["href"]
    await site.http.post(f"{href}/disable")

    asked = {
        "inner": site.http.post("/v1/webhooks", json={"url": "https://10.0.0.1/"}),
        "metadata": site.http.post("/v1/webhooks", json={"url": "http://169.254.169.254/latest"}),
        "decimal": site.http.post("/v1/webhooks", json={"url": "https://2130706433/"}),
        "member": site.http.post("/v1/webhooks", json={"urll": "https://a.example/"}),
        "key": site.http.post("/v1/webhooks", json={"url": receiver.url}, headers={"idempotency-key": "k"}),
        "disabled": site.http.post(f"{href}/test"),
        "unknown": site.http.get(f"/v1/webhooks/whk_{'0' * 26}"),
        "no id": site.http.get("/v1/webhooks/whsec_hunter2"),
        "hours": site.http.post(f"{href}/rotate", json={"keepHours": 100_000}),
        "message": site.http.post(f"{href}/deliveries/msg_{'0' * 26}/redeliver"),
    }
    told = {name: await answer for name, answer in asked.items()}

    codes = {name: (answer.status_code, answer.json()["code"]) for name, answer in told.items()}
    assert codes == {
        "inner": (422, "invalid_webhook"),
        "metadata": (422, "invalid_webhook"),
        "decimal": (422, "invalid_webhook"),
        "member": (422, "wrong_shape"),
        "key": (400, "bad_request"),
        "disabled": (409, "webhook_conflict"),
        "unknown": (404, "not_found"),
        "no id": (404, "not_found"),
        "hours": (422, "wrong_shape"),
        "message": (404, "not_found"),
    }
    assert told["inner"].json()["errors"][0]["pointer"] == "/url"
    assert "did you mean 'url'" in told["member"].json()["detail"]
    assert "hunter2" not in told["no id"].json()["detail"]


async def test_an_endpoint_for_all_cases_needs_the_tenant(
    database: Database, tmp_path: Path, receiver: Receiver
) -> None:
    identity, policy = identity_file(tmp_path), here(tmp_path)
    async with served(database.service_url, deliver=True, GAINSAY_POLICY=policy, GAINSAY_IDENTITY=identity) as site:
        registers = Registers(database)
        requester, operator = await registers.issue("requester"), await registers.issue("operator")
        other = await registers.issue("requester")
        site.http.headers.update(requester.headers)

        refused = await site.http.post("/v1/webhooks", json={"url": receiver.url, "cases": "tenant"})
        own = await made(site.http, receiver.url)
        await site.http.post("/v1/debates", json=a_declined_case(), headers=other.headers)
        mine = (await site.http.post("/v1/debates", json=a_declined_case())).json()["debateId"]
        await came(receiver, 1)
        seen = (await site.http.get("/v1/webhooks", headers=operator.headers)).json()["webhooks"]
        hidden = await site.http.get(own["webhook"]["href"], headers=other.headers)

        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert own["webhook"]["cases"] == "own"
        assert [request.event["data"]["debateId"] for request in receiver.got] == [mine]
        assert [each["webhook"] for each in seen] == [own["webhook"]["webhook"]]
        assert hidden.status_code == 404


async def test_a_process_killed_between_sending_and_recording_loses_nothing(database: Database, tmp_path: Path) -> None:
    environment = {"GAINSAY_POLICY": here(tmp_path), "GAINSAY_WEBHOOK_KEY": webhook_key(tmp_path)}
    async with receiving(hanging) as receiver, deployed(database, tmp_path, **environment) as processes:
        api = processes.start("serve", "--port", "0", "--no-worker")
        address = await api.address()
        async with httpx.AsyncClient(base_url=address, timeout=30) as http:
            granted = await made(http, receiver.url)
            await http.post("/v1/debates", json=a_declined_case())
            await came(receiver, 1)
        api.send(signal.SIGKILL)
        await api.ends()

        receiver.behave = answering(204)
        worker = processes.start("work")
        await worker.says("taking debates from the queue")
        processes.tell("UPDATE gainsay.webhook_delivery SET lease_until = clock_timestamp() WHERE state = 'sending'")
        await came(receiver, 2)
        await processes.finds("SELECT 1 FROM gainsay.webhook_delivery WHERE state = 'delivered'")

        first, second = receiver.got
        assert (first.id, first.body) == (second.id, second.body)
        Webhook(granted["secret"]).verify(second.body, second.headers)
        assert processes.ask("SELECT nth, outcome FROM gainsay.webhook_attempt ORDER BY nth") == [
            (1, "lost"),
            (2, "delivered"),
        ]


async def test_without_a_key_creation_is_refused_with_what_to_do(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as processes:
        address = await processes.start("serve", "--port", "0", "--no-worker").address()
        async with httpx.AsyncClient(base_url=address, timeout=30) as http:
            answer = await http.post("/v1/webhooks", json={"url": "https://8.8.8.8/"})

    assert (answer.status_code, answer.json()["code"]) == (409, "webhook_conflict")
    assert "GAINSAY_WEBHOOK_KEY" in answer.json()["detail"]
    assert "openssl rand -base64 32" in answer.json()["detail"]
