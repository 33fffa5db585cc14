"""Messages of webhooks on a real database, to real receivers: who is sent what, when, and how often."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import msgspec
import psycopg
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from service import telemetry
from service.audit.record import Actor, Writer
from service.debate.entries import EvaluationItem
from service.delivering import dispatcher as dispatching
from service.delivering.dispatcher import Dispatcher
from service.delivering.endpoints import Endpoints, Granted, InvalidWebhook, WebhookConflict, process_writer
from service.delivering.master_keys import MasterKeys
from service.delivering.sender import Sender
from service.errors import Forbidden, NotFound
from service.identity.caller import Caller
from service.intake.request import OptionsRequest
from service.policy.webhooks import Webhooks
from service.reviews import EvaluationCase
from service.store import webhooks
from service.store.current_log import CurrentLogs
from service.store.hub import EventHub
from service.store.webhooks import AttemptEnd, Delivery, DeliveryQueue
from tests.fixtures.postgres import Database
from tests.fixtures.receivers import (
    Behaviour,
    Received,
    Receiver,
    answering,
    babbling,
    bursting,
    dripping,
    endless,
    hanging,
    receiving,
    resetting,
)
from tests.fixtures.running import CALLER, Bench, a_request, bench
from tests.fixtures.sequencing import a_sequencer
from tests.store.workers import until

pytestmark = pytest.mark.no_replay
HERE = Webhooks(allow_networks=("127.0.0.0/8",), allow_http=True, ports=(), timeout_s=1)
MASTER = b64encode(bytes(range(32))).decode()
OWN = Caller(subject=f"sub_{'1' * 26}", roles=("requester",), role="requester", via="apiKey")
OTHER = Caller(subject=f"sub_{'2' * 26}", roles=("requester",), role="requester", via="apiKey")
BALLOT = OptionsRequest(format="ballot", votes=("yes", "no"))
RIVAL = Caller(tenant="rival", subject=f"sub_{'3' * 26}", roles=("operator",), via="apiKey")


@dataclass
class House:
    """A service's database with endpoints, a dispatcher that the test drives, and its policy."""

    database: Database
    bench: Bench
    endpoints: Endpoints
    keys: MasterKeys
    policies: dict[str, Webhooks] = field(default_factory=dict)

    @asynccontextmanager
    async def dispatcher(self, process: str = "webhooks-a", **more: Any) -> AsyncIterator[Dispatcher]:
        """A dispatcher; it does nothing by itself."""
        sender = Sender()
        queue = DeliveryQueue(self.bench.database, process)
        made = Dispatcher(queue, EventHub(), self.endpoints, self.keys, sender, chance=lambda: 0.0, **more)
        try:
            yield made
        finally:
            await made.settle()
            sender.close()

    async def end(self, caller: Caller = CALLER) -> str:
        """A case that the gate declines: its end is recorded with its beginning."""
        request = a_request(estimatedDownside=1, confidenceScore=0.99, materiality="low")
        recorded = await self.bench.reviews.submit(request, caller)
        return recorded.debate

    async def sign(self) -> None:
        """Have a checkpoint signed over all that is recorded."""
        async with a_sequencer(self.database) as sequencer:
            await sequencer.catch_up()

    async def look(self) -> int:
        """One look of a dispatcher, with every attempt that it begins made to its end."""
        async with self.dispatcher() as made:
            begun = await made.look()
            await made.settle()
            return begun

    async def log(self, granted: Granted, caller: Caller = CALLER) -> list[Delivery]:
        """The messages of an endpoint."""
        return await self.endpoints.deliveries(caller, granted.endpoint.id, None, 100)

    def ask(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """A statement as the owner."""
        with psycopg.connect(self.database.admin_url, options="-c search_path=gainsay", autocommit=True) as admin:
            cursor = admin.execute(sql.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def hurry(self) -> None:
        """Let the time of every wait pass."""
        self.ask("UPDATE webhook_delivery SET due = clock_timestamp() WHERE state = 'waiting'")


@pytest.fixture
async def house(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """A service with a master key, whose policy allows this machine."""
    monkeypatch.setenv("HOOKS", MASTER)
    keys = MasterKeys.at("env:HOOKS", {"HOOKS": MASTER})
    policies: dict[str, Webhooks] = {}
    async with bench(database.service_url) as service:
        endpoints = Endpoints(
            service.database,
            CurrentLogs(service.database, "localhost"),
            process_writer("process-1", "00" * 32),
            lambda tenant: policies.get(tenant, HERE),
            keys,
        )
        yield House(database, service, endpoints, keys, policies)
        endpoints.close()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that takes everything."""
    async with receiving() as found:
        yield found


async def test_a_stock_verifier_takes_a_real_message_and_refuses_a_changed_one(
    house: House, receiver: Receiver
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    debate = await house.end()
    await house.sign()

    await house.look()

    (got,) = receiver.got
    event = Webhook(granted.secret).verify(got.body, got.headers)
    assert (event["type"], event["data"]["debateId"], event["data"]["status"]) == ("debate.ended", debate, "declined")
    assert event["data"]["href"] == f"/v1/debates/{debate}"
    with pytest.raises(WebhookVerificationError):
        Webhook(granted.secret).verify(got.body.replace(b"declined", b"approved"), got.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(granted.secret).verify(got.body, got.headers | {"webhook-id": "msg_another"})


async def test_a_message_is_thin_and_has_the_place_of_the_end_in_the_log(house: House, receiver: Receiver) -> None:
    await house.endpoints.create(CALLER, receiver.url, None)
    debate = await house.end()
    await house.sign()

    await house.look()

    data = receiver.got[0].event["data"]
    ((index, leaf_hash, size, root),) = house.ask(
        "SELECT l.idx, l.hash, c.size, c.root FROM leaf l JOIN debate_head h USING (debate) "
        "JOIN checkpoint c ON c.log = l.log WHERE l.debate = %s AND l.n = h.next_n - 1",
        debate,
    )
    assert data == {
        "debateId": debate,
        "status": "declined",
        "href": f"/v1/debates/{debate}",
        "lastRecord": bytes(leaf_hash).hex(),
        "log": "localhost/default/1",
        "index": index,
        "size": size,
        "root": bytes(root).hex(),
    }
    assert b"liability" not in receiver.got[0].body
    assert b"contract" not in receiver.got[0].body


async def test_an_end_that_no_checkpoint_covers_is_not_sent_until_one_does(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.end()

    assert await house.look() == 0
    assert [delivery.state for delivery in await house.log(granted)] == ["recorded"]

    await house.sign()
    assert await house.look() == 1
    assert [delivery.state for delivery in await house.log(granted)] == ["delivered"]
    assert len(receiver.got) == 1


async def test_a_log_that_is_not_signed_keeps_no_other_message_waiting(
    house: House, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "RELEASED", 1)
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    house.ask(
        "INSERT INTO webhook_delivery (id, tenant, webhook, debate, n, status, state) "
        "SELECT new_opaque_id('msg_'), 'default', %s, gen_random_uuid(), 0, 'completed', 'recorded' "
        "FROM generate_series(1, 3)",
        granted.endpoint.id,
    )
    await house.end()
    await house.sign()

    await house.look()

    assert len(receiver.got) == 1


async def test_an_end_that_was_lost_with_its_log_waits_for_nothing(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    queue = DeliveryQueue(house.bench.database, "webhooks-a")
    await house.end()
    await house.sign()
    await house.end()
    house.ask("INSERT INTO incident (log, what) SELECT log, 'records are lost' FROM log_epoch")
    assert (await queue.backlog())["recorded"] == 2, "its tenant has no other log yet"

    house.ask(
        "INSERT INTO log_epoch (log, tenant, epoch, key) "
        "SELECT replace(log, '/1', '/2'), tenant, 2, key FROM log_epoch WHERE epoch = 1"
    )
    assert (await queue.backlog())["recorded"] == 1, "the first was proven before"
    assert await house.look() == 1
    assert sorted(delivery.state for delivery in await house.log(granted)) == ["delivered", "recorded"]
    assert (await queue.backlog()) == {"recorded": 0, "waiting": 0, "late_s": 0.0}

    ended = await house.end()
    house.ask("UPDATE debate_head SET log = replace(log, '/1', '/2') WHERE debate = %s", ended)
    assert (await queue.backlog())["recorded"] == 1, "one of the log that followed"


async def test_the_end_of_a_debate_is_sent_once_whatever_it_is(house: House, receiver: Receiver) -> None:
    await house.endpoints.create(CALLER, receiver.url, None)
    completed = await house.bench.run()
    aborted = await house.bench.submit()
    await house.bench.reviews.abort(aborted, CALLER, "not needed")
    await house.sign()

    await house.look()
    await house.look()

    ends = {request.event["data"]["debateId"]: request.event["data"]["status"] for request in receiver.got}
    assert ends == {completed: "completed", aborted: "aborted"}
    assert len(receiver.got) == 2


@pytest.mark.parametrize("ends", ["concluded", "aborted"])
async def test_an_item_of_an_evaluation_is_announced_to_nobody(house: House, receiver: Receiver, ends: str) -> None:
    await house.endpoints.create(CALLER, receiver.url, None)
    run = EvaluationItem("0199c0de-0000-7000-8000-00000000e7a1", "0e" * 32, "0f" * 32, "clause-12", "single", 1)
    item = EvaluationCase(evaluation=run, question="May we leave?", task_type="contract", options=BALLOT)
    opened = (await house.bench.reviews.open_item(item, CALLER)).debate
    if ends == "aborted":
        await house.bench.reviews.abort(opened, CALLER, "not needed")
    else:
        assert await house.bench.claim() == opened
        await (await house.bench.runner(opened)).run()
    usual = await house.end()
    await house.sign()

    await house.look()

    assert [request.event["data"]["debateId"] for request in receiver.got] == [usual]
    assert house.ask("SELECT count(*) FROM webhook_delivery") == [(1,)]


async def test_while_the_secret_is_rotated_each_of_the_two_verifies(house: House, receiver: Receiver) -> None:
    first = await house.endpoints.create(CALLER, receiver.url, None)
    second = await house.endpoints.rotate(CALLER, first.endpoint.id, 24)
    await house.endpoints.test(CALLER, first.endpoint.id)

    await house.look()
    house.ask("UPDATE webhook SET previous_until = clock_timestamp()")
    await house.endpoints.test(CALLER, first.endpoint.id)
    await house.look()

    both, after = receiver.got
    assert first.secret != second.secret
    assert len(both.headers["webhook-signature"].split(" ")) == 2
    for secret in (first.secret, second.secret):
        Webhook(secret).verify(both.body, both.headers)
    Webhook(second.secret).verify(after.body, after.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(first.secret).verify(after.body, after.headers)


def verified(secret: str, got: Received) -> bool:
    """Whether a receiver with this secret accepts a message."""
    try:
        Webhook(secret).verify(got.body, got.headers)
    except WebhookVerificationError:
        return False
    return True


async def test_a_rotation_whose_answer_was_lost_is_sent_again_without_a_loss(house: House, receiver: Receiver) -> None:
    known = await house.endpoints.create(CALLER, receiver.url, None)
    lost = await house.endpoints.rotate(CALLER, known.endpoint.id, 24)

    again = await house.endpoints.rotate(CALLER, known.endpoint.id, 24)

    await house.endpoints.test(CALLER, known.endpoint.id)
    await house.look()
    (got,) = receiver.got
    assert len(got.headers["webhook-signature"].split(" ")) == 3
    for secret in (known.secret, lost.secret, again.secret):
        Webhook(secret).verify(got.body, got.headers)


async def test_no_more_than_two_secrets_sign_beside_a_new_one_and_none_that_has_ended(
    house: House, receiver: Receiver
) -> None:
    granted = [await house.endpoints.create(CALLER, receiver.url, None)]
    endpoint = granted[0].endpoint.id
    for hours in (24, 24, 24, 0, 24):
        granted.append(await house.endpoints.rotate(CALLER, endpoint, hours))
        await house.endpoints.test(CALLER, endpoint)
        await house.look()

    verifying = [[n for n, each in enumerate(granted) if verified(each.secret, got)] for got in receiver.got]
    assert verifying == [[0, 1], [0, 1, 2], [2, 3], [4], [4, 5]]


@pytest.mark.parametrize("changed_at", [0, 1])
async def test_a_rotation_is_sent_again_without_a_loss_also_while_the_master_key_is_changed(
    house: House, receiver: Receiver, changed_at: int
) -> None:
    granted = [await house.endpoints.create(CALLER, receiver.url, None)]
    newer = MasterKeys.at("env:K", {"K": f"{b64encode(bytes(32)).decode()}\n{MASTER}\n"})
    for n in range(2):
        if n == changed_at:
            house.keys = house.endpoints.keys = newer
        granted.append(await house.endpoints.rotate(CALLER, granted[0].endpoint.id, 24))

    await house.endpoints.test(CALLER, granted[0].endpoint.id)
    await house.look()

    assert all(verified(each.secret, receiver.got[0]) for each in granted)


async def test_no_table_has_a_secret(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    await house.look()

    tables = [name for (name,) in house.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'gainsay'")]
    stored = "".join(str(house.ask(f"SELECT t::text FROM {name} t")) for name in tables)

    assert granted.endpoint.id in stored
    assert granted.secret.removeprefix("whsec_") not in stored
    assert MASTER not in stored
    assert granted.secret not in repr(granted)


async def test_a_message_that_was_not_taken_is_sent_again_with_its_id_and_a_new_signature(house: House) -> None:
    async with receiving(answering(500)) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.end()
        await house.sign()

        await house.look()
        receiver.behave = answering(200)
        await house.look()
        house.hurry()
        house.ask("SELECT pg_sleep(1.1)")  # the timestamp of a signature has whole seconds
        await house.look()

        first, second = receiver.got
        (delivery,) = await house.log(granted)
        assert (first.id, first.body) == (second.id, second.body)
        assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
        assert int(first.headers["webhook-timestamp"]) < int(second.headers["webhook-timestamp"])
        assert [(attempt.nth, attempt.outcome, attempt.http_status) for attempt in delivery.log] == [
            (2, "delivered", 200),
            (1, "failed", 500),
        ]
        assert delivery.log[1].reason == "the receiver answered 500"
        assert delivery.log[1].asked == "127.0.0.1"
        assert delivery.log[1].next_due is not None
        assert delivery.log[0].next_due is None


async def test_retry_after_is_heeded_within_bounds(house: House) -> None:
    async with receiving(answering(503, retry_after="1200")) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)

        await house.look()
        receiver.behave = answering(429, retry_after="999999")
        house.hurry()
        await house.look()

        (delivery,) = await house.log(granted)
        waits = [
            (attempt.next_due - attempt.at).total_seconds() for attempt in reversed(delivery.log) if attempt.next_due
        ]
        assert waits == pytest.approx([1_200, 3_600], abs=1)


async def test_after_three_days_a_message_expires_and_that_is_seen(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async with receiving(answering(500)) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)
        await house.look()
        house.hurry()
        house.ask("UPDATE webhook_delivery SET since = since - interval '71 hours 59 minutes'")
        await house.look()
        assert [delivery.state for delivery in await house.log(granted)] == ["waiting"]
        house.hurry()
        house.ask("UPDATE webhook_delivery SET since = since - interval '1 minute'")

        await house.look()

        (delivery,) = await house.log(granted)
        assert (delivery.state, delivery.attempts) == ("expired", 3)
        assert "has expired" in caplog.text
        house.hurry()
        assert await house.look() == 0


async def test_what_has_expired_is_sent_again_by_hand_with_the_same_id(house: House) -> None:
    async with receiving(answering(500)) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.end()
        await house.sign()
        await house.look()
        house.hurry()
        house.ask("UPDATE webhook_delivery SET since = since - interval '73 hours'")
        await house.look()
        (delivery,) = await house.log(granted)
        assert delivery.state == "expired"

        receiver.behave = answering(200)
        await house.endpoints.redeliver(CALLER, granted.endpoint.id, delivery.id)
        await house.look()

        assert len(set(receiver.ids)) == 1
        assert len(receiver.got) == 3
        assert [found.state for found in await house.log(granted)] == ["delivered"]


async def test_410_disables_the_endpoint_and_stops_what_it_was_to_be_sent(house: House) -> None:
    async with receiving(answering(410)) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        for _ in range(3):
            await house.endpoints.test(CALLER, granted.endpoint.id)
        house.ask("UPDATE webhook SET failures = 1")  # so that it is sent one at a time

        await house.look()
        await house.look()

        assert len(receiver.got) == 1
        assert {delivery.state for delivery in await house.log(granted)} == {"stopped"}
        endpoint = await house.endpoints.show(CALLER, granted.endpoint.id)
        assert (endpoint.active, endpoint.disabled_why) == (False, "gone")
        await house.end()
        await house.sign()
        assert await house.look() == 0
        with pytest.raises(WebhookConflict, match="disabled"):
            await house.endpoints.test(CALLER, granted.endpoint.id)
        assert (await house.endpoints.enable(CALLER, granted.endpoint.id)).active
        assert what_changed(house) == ["webhookCreated", "webhookDisabled", "webhookEnabled"]


async def _came(receiver: Receiver, most: int) -> bool:
    await asyncio.sleep(0.02)
    return len(receiver.got) >= most


def what_changed(house: House) -> list[str]:
    """The changes of access that are recorded, in order."""
    rows = house.ask("SELECT convert_from(body, 'UTF8')::jsonb ->> 'what' FROM payload ORDER BY debate, n")
    return [what for (what,) in rows if what is not None and what.startswith("webhook")]


async def test_a_requester_is_sent_its_own_ends_and_an_operator_those_of_its_tenant(house: House) -> None:
    async with receiving() as mine, receiving() as theirs, receiving() as all_, receiving() as rival:
        await house.endpoints.create(OWN, mine.url, None)
        await house.endpoints.create(OTHER, theirs.url, None)
        await house.endpoints.create(CALLER, all_.url, None)
        await house.endpoints.create(RIVAL, rival.url, None)
        first, second, elsewhere = await house.end(OWN), await house.end(OTHER), await house.end(RIVAL)
        await house.sign()

        await house.look()

        sent = {
            name: {request.event["data"]["debateId"] for request in found.got}
            for name, found in {"mine": mine, "theirs": theirs, "all": all_, "rival": rival}.items()
        }
        assert sent == {"mine": {first}, "theirs": {second}, "all": {first, second}, "rival": {elsewhere}}


async def test_nothing_of_another_tenant_or_subject_is_reached_by_its_id(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    made = await house.endpoints.test(CALLER, granted.endpoint.id)
    endpoint = granted.endpoint.id

    for caller in (RIVAL, OWN):
        assert await house.endpoints.list_endpoints(caller, "", 100) == []
        for ask in (
            house.endpoints.show(caller, endpoint),
            house.endpoints.rotate(caller, endpoint, 24),
            house.endpoints.disable(caller, endpoint),
            house.endpoints.enable(caller, endpoint),
            house.endpoints.test(caller, endpoint),
            house.endpoints.deliveries(caller, endpoint, None, 10),
            house.endpoints.redeliver(caller, endpoint, made.id),
        ):
            with pytest.raises(NotFound):
                await ask
    assert (await house.endpoints.show(CALLER, endpoint)).generation == 1


async def test_one_who_reads_all_and_manages_its_own_changes_no_others(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    both = Caller(subject=f"sub_{'4' * 26}", roles=("requester", "auditor"), role="auditor", via="apiKey")

    assert (await house.endpoints.show(both, granted.endpoint.id)).id == granted.endpoint.id
    with pytest.raises(NotFound):
        await house.endpoints.disable(both, granted.endpoint.id)


async def test_one_who_has_the_tenant_no_more_has_nothing_of_all_cases_sent(house: House, receiver: Receiver) -> None:
    before = Caller(subject=f"sub_{'5' * 26}", roles=("operator",), role="operator", via="apiKey")
    now = Caller(subject=before.subject, roles=("requester",), role="requester", via="apiKey")
    endpoint = (await house.endpoints.create(before, receiver.url, "tenant")).endpoint.id
    made = await house.endpoints.test(before, endpoint)

    async def refused() -> None:
        for ask in (
            house.endpoints.rotate(now, endpoint, 24),
            house.endpoints.enable(now, endpoint),
            house.endpoints.test(now, endpoint),
            house.endpoints.redeliver(now, endpoint, made.id),
        ):
            with pytest.raises(Forbidden, match="over the tenant"):
                await ask

    await refused()
    assert (await house.endpoints.show(now, endpoint)).generation == 1
    assert not (await house.endpoints.disable(now, endpoint)).active
    await refused()
    assert (await house.endpoints.enable(before, endpoint)).active


async def test_a_revoked_subject_is_sent_nothing_more(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(OWN, receiver.url, None)
    await house.endpoints.test(OWN, granted.endpoint.id)
    house.ask(
        "INSERT INTO subject (id, tenant, source, external, kind, revoked) "
        "VALUES (%s, 'default', 'key', %s, 'service', clock_timestamp())",
        OWN.subject,
        OWN.subject,
    )

    await house.end(OWN)
    await house.sign()

    assert await house.look() == 0
    assert receiver.got == []
    assert len(await house.log(granted)) == 1, "the end of its own case was put into its outbox"


async def test_what_waits_for_a_revoked_subject_is_stopped_and_late_no_more(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(OWN, receiver.url, None)
    await house.endpoints.test(OWN, granted.endpoint.id)
    house.ask(
        "INSERT INTO subject (id, tenant, source, external, kind, revoked) "
        "VALUES (%s, 'default', 'key', %s, 'service', clock_timestamp())",
        OWN.subject,
        OWN.subject,
    )

    await house.look()

    (delivery,) = await house.log(granted)
    assert (delivery.state, delivery.finished is None) == ("stopped", False), "it is never forgotten"
    backlog = await DeliveryQueue(house.bench.database, "webhooks-a").backlog()
    assert (backlog["waiting"], backlog["late_s"]) == (0, 0.0)
    assert receiver.got == []


async def test_what_was_under_way_when_its_endpoint_was_disabled_is_not_sent_after_it_is_enabled(
    house: House, receiver: Receiver
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    queue = DeliveryQueue(house.bench.database, "webhooks-a")
    (claimed,) = await queue.claim(1, 4, 32, 75.0)
    await house.endpoints.disable(CALLER, granted.endpoint.id)
    assert await queue.end(claimed, AttemptEnd("failed", "waiting"))

    await house.look()
    await house.endpoints.enable(CALLER, granted.endpoint.id)
    await house.look()

    assert receiver.got == []
    assert [delivery.state for delivery in await house.log(granted)] == ["stopped"]


async def test_two_processes_send_each_message_once(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    for _ in range(20):
        await house.endpoints.test(CALLER, granted.endpoint.id)

    async with house.dispatcher("webhooks-a") as one, house.dispatcher("webhooks-b") as two:
        while len(receiver.got) < 20:
            await asyncio.gather(one.look(), two.look())
            await asyncio.gather(one.settle(), two.settle())

    assert len(receiver.got) == len(set(receiver.ids)) == 20
    assert receiver.most <= dispatching.PER_ENDPOINT


async def test_a_process_that_dies_after_the_claim_loses_nothing(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    dead = DeliveryQueue(house.bench.database, "webhooks-dead")
    (claimed,) = await dead.claim(1, 4, 32, 75.0)

    assert await house.look() == 0
    house.ask("UPDATE webhook_delivery SET lease_until = clock_timestamp()")
    assert await house.look() == 1

    (delivery,) = await house.log(granted)
    assert receiver.ids == [claimed.id]
    assert delivery.state == "delivered"
    assert [(attempt.nth, attempt.outcome) for attempt in delivery.log] == [(2, "delivered"), (1, "lost")]
    assert "whether it arrived is not known" in delivery.log[1].reason


async def test_what_a_process_gives_back_as_it_stops_has_its_attempt_in_the_log(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatching, "STOP_S", 0.05)
    house.policies["default"] = msgspec.structs.replace(HERE, timeout_s=60)
    async with receiving(hanging) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)
        queue = DeliveryQueue(house.bench.database, "webhooks-a")
        made = Dispatcher(queue, EventHub(), house.endpoints, house.keys, Sender())
        task = asyncio.create_task(made.run())
        await until(lambda: _came(receiver, 1))
        made.stop()
        await task

        receiver.behave = answering(204)
        assert await house.look() == 1

    (delivery,) = await house.log(granted)
    assert [(attempt.nth, attempt.outcome) for attempt in delivery.log] == [(2, "delivered"), (1, "lost")]
    assert "was stopped" in delivery.log[1].reason
    assert delivery.log[1].next_due is not None


async def test_a_message_whose_attempts_are_always_lost_waits_longer_each_time_and_expires(
    house: House, receiver: Receiver
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    dying = DeliveryQueue(house.bench.database, "webhooks-dying")

    async def dies() -> int:
        claimed = len(await dying.claim(1, 4, 32, 75.0))
        house.ask("UPDATE webhook_delivery SET lease_until = clock_timestamp() WHERE state = 'sending'")
        return claimed

    assert [await dies(), await dies(), await dies()] == [1, 1, 0], "it is sent again at once, but not ever again"
    for _ in range(3):
        house.hurry()
        assert await dies() == 1
        assert await dies() == 0
    (delivery,) = await house.log(granted)
    waits = [(attempt.next_due - attempt.at).total_seconds() for attempt in delivery.log[::-1] if attempt.next_due]
    assert waits[0] == pytest.approx(0, abs=1)
    for wait, whole in zip(waits[1:], (10, 20, 40, 80), strict=True):
        assert whole / 2 - 1 <= wait <= whole
    house.hurry()
    house.ask("UPDATE webhook_delivery SET since = since - interval '71 hours 59 minutes'")
    await dies()
    assert await dies() == 0
    assert [delivery.state for delivery in await house.log(granted)] == ["waiting"]
    house.hurry()
    house.ask("UPDATE webhook_delivery SET since = since - interval '1 minute'")

    await house.look()

    (delivery,) = await house.log(granted)
    assert (delivery.state, delivery.log[0].outcome, receiver.got) == ("expired", "failed", [])
    assert "the last attempt was lost" in delivery.log[0].reason


async def test_one_whose_lease_is_over_changes_nothing_of_what_another_has(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    slow, other = (DeliveryQueue(house.bench.database, name) for name in ("webhooks-slow", "webhooks-other"))
    (late,) = await slow.claim(1, 4, 32, 75.0)
    house.ask("UPDATE webhook_delivery SET lease_until = clock_timestamp()")
    (taken,) = await other.claim(1, 4, 32, 75.0)

    assert not await slow.end(late, AttemptEnd("failed", "expired"))
    assert await other.end(taken, AttemptEnd("delivered", "delivered"))
    assert [delivery.state for delivery in await house.log(granted)] == ["delivered"]


HOSTILE: dict[str, Behaviour] = {
    "hanging": hanging,
    "dripping": dripping,
    "endless": endless,
    "bursting": bursting,
    "resetting": resetting,
    "babbling": babbling,
}


async def test_hostile_receivers_take_their_own_places_and_delay_no_other(house: House, receiver: Receiver) -> None:
    async with AsyncExitStack() as stack:
        hostile = {name: await stack.enter_async_context(receiving(behave)) for name, behave in HOSTILE.items()}
        loop = await stack.enter_async_context(receiving())
        loop.behave = answering(307, location=loop.url)
        hostile["looping"] = loop
        house.policies["default"] = Webhooks(
            allow_networks=HERE.allow_networks, allow_http=True, ports=(), timeout_s=60, endpoints=50
        )
        for found in hostile.values():
            granted = await house.endpoints.create(CALLER, found.url, None)
            for _ in range(10):
                await house.endpoints.test(CALLER, granted.endpoint.id)
        good = await house.endpoints.create(CALLER, receiver.url, None)
        stranger = await house.endpoints.create(RIVAL, receiver.url, None)
        for caller, granted in ((CALLER, good), (RIVAL, stranger)):
            for _ in range(10):
                await house.endpoints.test(caller, granted.endpoint.id)

        queue = DeliveryQueue(house.bench.database, "webhooks-a")
        made = Dispatcher(queue, EventHub(), house.endpoints, house.keys, Sender())
        task = asyncio.create_task(made.run())
        await until(lambda: _came(receiver, 20))  # the time-out of a hanging one is far beyond that of this test
        assert hostile["hanging"].open >= 1, "the hanging one still has what it was sent first"
        most = {name: found.most for name, found in hostile.items()}
        made.stop()
        await task

        assert len(set(receiver.ids)) == 20
        assert max(most.values()) <= dispatching.PER_ENDPOINT * 4, most
        states = {delivery.state for delivery in await house.log(good)}
        assert states == {"delivered"}
        assert house.ask("SELECT count(*) FROM webhook_delivery WHERE state = 'sending'") == [(0,)]


async def test_a_fault_of_a_look_is_logged_and_messages_are_sent_after_it(
    house: House, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    queue = DeliveryQueue(house.bench.database, "webhooks-a")
    release, faults, seen = queue.release, [RuntimeError("a fault")], list[float]()

    async def faulty() -> int:
        if faults:
            raise faults.pop()
        seen.append(telemetry.WEBHOOKS_LATE._value.get())
        return await release()

    monkeypatch.setattr(queue, "release", faulty)
    monkeypatch.setattr(dispatching, "FAULT_S", 0.05)
    made = Dispatcher(queue, EventHub(), house.endpoints, house.keys, Sender())
    task = asyncio.create_task(made.run())
    await until(lambda: _came(receiver, 1))
    made.stop()
    await task

    (said,) = [record for record in caplog.records if record.getMessage().startswith("no webhook can be sent")]
    assert said.exc_info is not None
    assert isnan(seen[0]), "what was measured before the fault is taken for current"


async def test_a_requester_leaves_half_of_the_places_to_others(house: House, receiver: Receiver) -> None:
    granted: dict[str, Caller] = {}
    for caller in (OWN, OWN, OTHER, CALLER):
        made = await house.endpoints.create(caller, receiver.url, None)
        granted[made.endpoint.id] = caller
    for endpoint, caller in granted.items():
        for _ in range(8):
            await house.endpoints.test(caller, endpoint)
    queue = DeliveryQueue(house.bench.database, "webhooks-a")

    async def claims(most: int, per_endpoint: int, per_tenant: int) -> Counter[str]:
        claimed = await queue.claim(most, per_endpoint, per_tenant, 75.0)
        return Counter(granted[each.webhook].subject for each in claimed)

    first = await claims(100, 3, 8)
    assert first.total() == 8, "places that one may not have are another's"
    assert first[OWN.subject] <= 4
    house.ask("UPDATE webhook_delivery SET state = 'stopped' WHERE state = 'sending'")
    assert await claims(2, 2, 4) == {OWN.subject: 2}, "its messages have waited longest"
    assert await claims(100, 8, 4) == {OTHER.subject: 1, CALLER.subject: 1}
    house.ask(
        "UPDATE webhook_delivery d SET state = 'stopped' FROM webhook w "
        "WHERE w.id = d.webhook AND (d.state = 'sending' OR w.subject <> %s)",
        OWN.subject,
    )
    assert await claims(100, 8, 8) == {OWN.subject: 4}


async def test_a_receiver_that_fails_is_asked_one_at_a_time(house: House) -> None:
    async with receiving(hanging) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        for _ in range(10):
            await house.endpoints.test(CALLER, granted.endpoint.id)

        assert await house.look() == dispatching.PER_ENDPOINT
        assert await house.look() == 1
        (attempt, *_) = (await house.log(granted))[-1].log
        assert (attempt.outcome, attempt.reason) == ("failed", "no answer within 1 s")


@pytest.mark.parametrize("behave", [endless, dripping, bursting, resetting, babbling])
async def test_whatever_a_receiver_answers_the_attempt_ends(house: House, behave: Behaviour) -> None:
    async with receiving(behave) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)

        await house.look()

        (delivery,) = await house.log(granted)
        assert delivery.state == ("delivered" if behave is endless else "waiting")
        assert delivery.log[0].took_ms is not None
        assert delivery.attempts == 1


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://10.0.0.1/hook", "none of the public internet"),
        ("http://169.254.169.254/latest/meta-data/", "never asked"),
        ("http://[::ffff:10.0.0.1]/hook", "none of the public internet"),
        ("http://2130706433/hook", "another form"),
        ("//evil.example/hook", "found another form"),
        ("ftp://127.0.0.1/hook", "found another form"),
    ],
)
async def test_no_redirect_leads_to_an_address_that_is_refused(house: House, location: str, why: str) -> None:
    async with receiving(answering(307, location=location)) as receiver:
        granted = await house.endpoints.create(CALLER, receiver.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)

        await house.look()

        (attempt, *_) = (await house.log(granted))[0].log
        assert attempt.outcome == "refused"
        assert why in attempt.reason or "not allowed" in attempt.reason


async def test_a_redirect_that_keeps_the_post_is_followed_and_an_endless_chain_is_not(house: House) -> None:
    async with receiving() as end, receiving() as start, receiving() as loop:
        start.behave = answering(308, location=end.url)
        loop.behave = answering(307, location="/again")
        redirected, granted = [await house.endpoints.create(CALLER, found.url, None) for found in (start, loop)]
        for each in (redirected, granted):
            await house.endpoints.test(CALLER, each.endpoint.id)

        await house.look()

        assert [request.body for request in end.got] == [request.body for request in start.got]
        assert [request.target for request in loop.got] == ["/hook", "/again", "/again", "/again"]
        (attempt, *_) = (await house.log(granted))[0].log
        assert "a redirect after 3 others" in attempt.reason


async def test_another_redirect_is_a_failure(house: House) -> None:
    async with receiving() as end, receiving() as start:
        start.behave = answering(302, location=end.url)
        granted = await house.endpoints.create(CALLER, start.url, None)
        await house.endpoints.test(CALLER, granted.endpoint.id)

        await house.look()

        assert end.got == []
        assert (await house.log(granted))[0].state == "waiting"


async def test_an_address_that_policy_allows_no_more_is_not_asked(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    house.policies["default"] = Webhooks(allow_http=True, ports=())

    await house.look()

    (attempt, *_) = (await house.log(granted))[0].log
    assert receiver.got == []
    assert attempt.outcome == "refused"
    assert attempt.asked is None
    with pytest.raises(InvalidWebhook, match="cannot be asked"):
        await house.endpoints.create(CALLER, receiver.url, None)


async def test_a_tenant_has_so_many_endpoints_and_no_more(house: House, receiver: Receiver) -> None:
    house.policies["default"] = Webhooks(allow_networks=HERE.allow_networks, allow_http=True, ports=(), endpoints=2)
    first = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.create(OWN, receiver.url, None)

    with pytest.raises(WebhookConflict, match="2 of the tenant"):
        await house.endpoints.create(OTHER, receiver.url, None)
    await house.endpoints.disable(CALLER, first.endpoint.id)
    await house.endpoints.create(OTHER, receiver.url, None)
    with pytest.raises(WebhookConflict, match="2 of the tenant"):
        await house.endpoints.enable(CALLER, first.endpoint.id)
    assert (await house.endpoints.create(RIVAL, receiver.url, None)).endpoint.tenant == "rival"


async def test_a_requester_leaves_half_of_the_endpoints_to_others(house: House, receiver: Receiver) -> None:
    house.policies["default"] = msgspec.structs.replace(HERE, endpoints=3)
    first, second = [await house.endpoints.create(OWN, receiver.url, None) for _ in range(2)]

    with pytest.raises(WebhookConflict, match="2 of one subject"):
        await house.endpoints.create(OWN, receiver.url, None)
    await house.endpoints.disable(OWN, first.endpoint.id)
    await house.endpoints.create(OWN, receiver.url, None)
    with pytest.raises(WebhookConflict, match="2 of one subject"):
        await house.endpoints.enable(OWN, first.endpoint.id)
    assert (await house.endpoints.enable(CALLER, first.endpoint.id)).active, "an operator says who has how many"
    await house.endpoints.disable(OWN, second.endpoint.id)
    assert (await house.endpoints.create(OTHER, receiver.url, None)).endpoint.active


async def test_an_endpoint_is_enabled_in_one_order_with_those_that_are_added(house: House, receiver: Receiver) -> None:
    house.policies["default"] = msgspec.structs.replace(HERE, endpoints=1)
    endpoint = (await house.endpoints.create(CALLER, receiver.url, None)).endpoint.id
    await house.endpoints.disable(CALLER, endpoint)
    with psycopg.connect(house.database.admin_url, options="-c search_path=gainsay") as other:
        other.execute(
            "SELECT add_webhook_if_room(new_opaque_id('whk_'), 'default', 's', 'tenant', 'https://a.test', 'm', 1, 1)"
        )
        enabling = asyncio.create_task(house.endpoints.enable(CALLER, endpoint))

        async def waits() -> bool:
            await asyncio.sleep(0.02)
            held = house.ask("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            return bool(held) or enabling.done()

        await until(waits)
        other.commit()

    with pytest.raises(WebhookConflict, match="1 of the tenant"):
        await enabling


async def test_without_a_master_key_or_where_policy_says_so_nothing_is_created(
    house: House, receiver: Receiver
) -> None:
    house.policies["rival"] = Webhooks(enabled=False)
    with pytest.raises(WebhookConflict, match="policy allows no webhooks"):
        await house.endpoints.create(RIVAL, receiver.url, None)

    house.endpoints.keys = None
    with pytest.raises(WebhookConflict, match="GAINSAY_WEBHOOK_KEY"):
        await house.endpoints.create(CALLER, receiver.url, None)


async def test_a_change_of_the_master_key_keeps_what_it_signed_with(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    newer = b64encode(bytes(32)).decode()
    both = MasterKeys.at("env:K", {"K": f"{newer}\n{MASTER}\n"})
    house.keys = house.endpoints.keys = both
    await house.endpoints.test(CALLER, granted.endpoint.id)
    await house.look()
    rotated = await house.endpoints.rotate(CALLER, granted.endpoint.id, 0)
    house.keys = house.endpoints.keys = MasterKeys.at("env:K", {"K": newer})
    await house.endpoints.test(CALLER, granted.endpoint.id)
    await house.look()

    Webhook(granted.secret).verify(receiver.got[0].body, receiver.got[0].headers)
    Webhook(rotated.secret).verify(receiver.got[1].body, receiver.got[1].headers)


async def test_a_master_key_that_was_taken_away_too_early_sends_nothing_and_says_so(
    house: House, receiver: Receiver
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    house.keys = MasterKeys.at("env:K", {"K": b64encode(bytes(32)).decode()})
    await house.endpoints.test(CALLER, granted.endpoint.id)

    await house.look()

    (attempt, *_) = (await house.log(granted))[0].log
    assert receiver.got == []
    assert attempt.outcome == "refused"
    assert "does not have any more" in attempt.reason


async def test_a_rotation_after_the_master_key_was_lost_sends_at_once(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    house.keys = house.endpoints.keys = MasterKeys.at("env:K", {"K": b64encode(bytes(32)).decode()})
    rotated = await house.endpoints.rotate(CALLER, granted.endpoint.id, 24)
    await house.endpoints.test(CALLER, granted.endpoint.id)

    await house.look()

    (got,) = receiver.got
    Webhook(rotated.secret).verify(got.body, got.headers)
    assert len(got.headers["webhook-signature"].split(" ")) == 1


async def test_more_old_messages_than_one_time_forgets_are_forgotten_soon(
    house: House, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    for _ in range(3):
        await house.endpoints.test(CALLER, granted.endpoint.id)
    await house.look()
    house.ask("UPDATE webhook_delivery SET finished = finished - interval '91 days'")
    monkeypatch.setattr(dispatching, "FORGET_MOST", 2)
    monkeypatch.setattr(dispatching, "MEASURE_S", -1.0)

    async with house.dispatcher() as made:
        made._forgot_at -= 2 * dispatching.FORGET_S
        await made.look()
        assert len(await house.log(granted)) == 1
        await made.look()

    assert await house.log(granted) == []


async def test_an_attempt_is_not_changed_and_old_messages_are_forgotten(house: House, receiver: Receiver) -> None:
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    await house.endpoints.test(CALLER, granted.endpoint.id)
    await house.look()
    queue = DeliveryQueue(house.bench.database, "webhooks-a")

    with pytest.raises(psycopg.errors.RestrictViolation):
        house.ask("UPDATE webhook_attempt SET outcome = 'failed'")
    assert await queue.forget(90, 100) == 0
    house.ask("UPDATE webhook_delivery SET finished = finished - interval '91 days'")
    assert await queue.forget(90, 100) == 1
    assert house.ask("SELECT count(*) FROM webhook_attempt") == [(0,)]


async def test_a_rebuilt_head_is_not_sent_to_endpoints_that_came_later(house: House, receiver: Receiver) -> None:
    debate = await house.end()
    granted = await house.endpoints.create(CALLER, receiver.url, None)
    with psycopg.connect(house.database.admin_url, options="-c search_path=gainsay") as admin:
        admin.execute("CREATE TEMP TABLE kept AS SELECT * FROM debate_head WHERE debate = %s", [debate])
        admin.execute("DELETE FROM debate_head WHERE debate = %s", [debate])
        admin.execute("INSERT INTO debate_head SELECT * FROM kept")

    assert await house.log(granted) == []


def test_who_writes_as_a_process_is_no_person() -> None:
    assert process_writer("process-1", "00") == Writer(Actor("process-1", "service", "worker", "databaseRole"), "00")
