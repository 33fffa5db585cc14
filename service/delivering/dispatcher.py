"""The dispatcher: claims messages that are due, has each sent, and records how it went.

    1. What a signed checkpoint covers by now is released; nothing is sent of an end that is not provable.
    2. Due messages are claimed for a lease, in the time of the database, so that two processes send none twice at once.
       Each endpoint has `PER_ENDPOINT` places over all processes, and one while its last attempt has failed; a tenant
       has `PER_TENANT`. A receiver that always hangs so takes its own place and no other.
    3. Each is sent by itself; how it went is recorded in one statement that also plans the next attempt.

A process that dies between sending and recording leaves its lease, and the message is sent again with the same id: at
least once. Receivers drop what they have had, by webhook-id.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC
from typing import TYPE_CHECKING

from service import log_lines, telemetry
from service.delivering import traces
from service.delivering.addresses import AddressRules, read_networks
from service.delivering.endpoints import Endpoints
from service.delivering.master_keys import MasterKeys, MasterMissing
from service.delivering.payload import EndedData, EndedEvent, ProbeData, ProbeEvent, encode
from service.delivering.schedule import next_wait, read_retry_after
from service.delivering.sent import GONE, Sent
from service.delivering.signing import signed_headers
from service.errors import GainsayError, StoreUnavailable
from service.observing import labelled
from service.policy.webhooks import Webhooks
from service.store.hub import EventHub
from service.store.retry_window import retry
from service.store.webhooks import AttemptEnd, Claimed, DeliveryQueue, Endpoint, Outcome, sending_endpoint

if TYPE_CHECKING:
    from service.delivering.sender import Sender

PLACES, PER_TENANT, PER_ENDPOINT = 256, 32, 4
"""The most attempts under way: in this process, of one tenant, and of one endpoint whose last attempt was taken."""
LEASE_S = 75.0
"""Longer than the longest time-out of policy, and the look before and the record after it."""
LOOK_S = 1.0
"""How often the queue is looked at when nothing wakes the dispatcher."""
MEASURE_S = 2.0
"""How often the waiting messages are counted."""
STOP_S = 3.0
"""How long attempts under way may still take when the process stops; what is left is sent by others at once."""
RECORDED_S = 10.0
"""How long recording an attempt is tried while the database is away; after that its message is sent again."""
FAULT_S = 5.0
"""How long nothing is begun after a fault."""
FORGET_DAYS, FORGET_MOST, FORGET_S = 90, 1_000, 600.0
"""Messages that ended so long ago are forgotten with their attempts, so many at a time, so often; where there are more,
again after `MEASURE_S`."""


class Dispatcher:
    """Sends messages until it is stopped."""

    def __init__(
        self,
        queue: DeliveryQueue,
        hub: EventHub,
        endpoints: Endpoints,
        keys: MasterKeys,
        sender: Sender,
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._queue, self._hub, self._endpoints, self._keys, self._sender = queue, hub, endpoints, keys, sender
        self._chance = chance
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping, self._room = asyncio.Event(), asyncio.Event()
        self._unwell = False
        self._forgot_at, self._measured_at = time.monotonic(), -math.inf

    async def run(self) -> None:
        """Look for messages periodically, and at once when a checkpoint is signed or a place is free.

        Errors are logged and never end the loop.
        """
        while not self._stopping.is_set():
            signed = self._hub.signed
            self._room.clear()
            try:
                await self.look()
                self._unwell = False
            except StoreUnavailable as error:
                labelled.forget(telemetry.WEBHOOKS_WAITING, telemetry.WEBHOOKS_LATE)
                if not self._unwell:
                    log_lines.WEBHOOKS_WAIT(code=error.code)
                self._unwell = True
            except Exception:  # noqa: BLE001 - a dead loop would leave messages that nothing sends until a restart
                labelled.forget(telemetry.WEBHOOKS_WAITING, telemetry.WEBHOOKS_LATE)
                log_lines.WEBHOOKS_FAULT.raised()
                with suppress(TimeoutError):
                    async with asyncio.timeout(FAULT_S):
                        await self._stopping.wait()
            await self._wait(signed)
        await self._end()

    def stop(self) -> None:
        """Begin no more attempts."""
        self._stopping.set()

    async def look(self) -> int:
        """Release what is provable, and begin the attempts that are due; how many. Raises `StoreUnavailable`."""
        await self._queue.release()
        free, begun = PLACES - len(self._tasks), 0
        if free > 0:
            for claimed in await self._queue.claim(free, PER_ENDPOINT, PER_TENANT, LEASE_S):
                task = asyncio.create_task(self._deliver(claimed), name=f"webhook {claimed.id}")
                self._tasks.add(task)
                task.add_done_callback(self._ended)
                begun += 1
        if time.monotonic() - self._measured_at > MEASURE_S:
            self._measured_at = time.monotonic()
            backlog = await self._queue.backlog()
            telemetry.WEBHOOKS_WAITING.set(backlog["waiting"] + backlog["recorded"])
            telemetry.WEBHOOKS_LATE.set(backlog["late_s"])
        if time.monotonic() - self._forgot_at > FORGET_S:
            gone = await self._queue.forget(FORGET_DAYS, FORGET_MOST)
            self._forgot_at = time.monotonic() - (FORGET_S - MEASURE_S if gone == FORGET_MOST else 0.0)
        return begun

    async def settle(self) -> None:
        """Wait until no attempt is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log_lines.WEBHOOK_ATTEMPT_FAULT.of(error)

    async def _wait(self, signed: asyncio.Event) -> None:
        """Until there may be something to do; a busy queue is looked at ten times a second at most."""
        await asyncio.sleep(LOOK_S / 10)
        waits: list[Awaitable[object]] = [signed.wait(), self._room.wait(), self._stopping.wait()]
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait(tasks, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _end(self) -> None:
        """Let attempts end for a little, and give the others back."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_S)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        with suppress(StoreUnavailable):  # their leases run out
            if left:
                await self._queue.release_claimed()
        self._sender.close()

    async def _deliver(self, claimed: Claimed) -> None:
        """One attempt and its record; an attempt that cannot be recorded is made again when its lease is over."""
        try:
            end = await self._attempt(claimed)
            await retry(lambda _again: self._queue.end(claimed, end), RECORDED_S)
        except StoreUnavailable as error:
            log_lines.WEBHOOK_UNRECORDED(webhook=claimed.webhook, delivery=claimed.id, code=error.code)

    async def _attempt(self, claimed: Claimed) -> AttemptEnd:
        endpoint = await sending_endpoint(self._endpoints.database, claimed.tenant, claimed.webhook)
        if endpoint is None:
            return AttemptEnd("refused", "stopped", "the endpoint is disabled, or its subject revoked")
        rules = self._endpoints.policy_of(claimed.tenant)
        begun = time.monotonic()
        sent = await self._send(claimed, endpoint, rules)
        took_ms = round((time.monotonic() - begun) * 1_000)
        traces.attempted(claimed, sent, took_ms)
        end = await self._conclude(claimed, endpoint, sent, rules)
        telemetry.WEBHOOK_ATTEMPTS.labels(result="expired" if end.state == "expired" else end.outcome).inc()
        return AttemptEnd(end.outcome, end.state, end.reason, sent.asked, sent.status, took_ms, end.wait_s)

    async def _send(self, claimed: Claimed, endpoint: Endpoint, policy: Webhooks) -> Sent:
        if claimed.lost and claimed.age_s >= policy.retry_hours * 3_600.0:
            # Others end with their last attempt. Where no attempt has an end, this is it.
            return Sent(reason="its time is over, and the last attempt was lost, so none was made after it")
        if not policy.enabled:
            return Sent(reason="policy does not allow webhooks (webhooks.enabled)", refused=True)
        try:
            secrets = self._endpoints.secrets(endpoint, self._keys)
        except MasterMissing as missing:
            return Sent(reason=str(missing), refused=True)
        body = body_of(claimed)
        headers = {**signed_headers(secrets, claimed.id, int(endpoint.now), body), **traces.headers_of(claimed)}
        return await self._sender.send(
            endpoint.url,
            headers,
            body,
            rules=rules_of(policy),
            timeout_s=policy.timeout_s,
            tenant=claimed.tenant,
        )

    async def _conclude(self, claimed: Claimed, endpoint: Endpoint, sent: Sent, policy: Webhooks) -> AttemptEnd:
        """What follows from an attempt."""
        about = {"webhook": claimed.webhook, "delivery": claimed.id, "attempts": claimed.attempts}
        if sent.taken:
            return AttemptEnd("delivered", "delivered")
        if sent.status == GONE:
            log_lines.WEBHOOK_GONE(**about)
            await self._disable(endpoint)
            return AttemptEnd("gone", "stopped", "the receiver answered 410 Gone, so the endpoint is disabled")
        after = None if sent.status is None else read_retry_after(sent.status, sent.retry_after)
        window_s = policy.retry_hours * 3_600.0
        wait_s = next_wait(claimed.age_s, window_s, claimed.attempts, self._chance(), after)
        outcome: Outcome = "refused" if sent.refused else "failed"
        if wait_s is None:
            log_lines.WEBHOOK_EXPIRED(**about, reason=sent.reason)
            return AttemptEnd(outcome, "expired", sent.reason)
        if endpoint.failures == 0:
            log_lines.WEBHOOK_REFUSED(**about, reason=sent.reason)
        return AttemptEnd(outcome, "waiting", sent.reason, wait_s=wait_s)

    async def _disable(self, endpoint: Endpoint) -> None:
        try:
            await self._endpoints.disable_gone(endpoint)
        except GainsayError as error:  # the next message finds 410 again
            log_lines.WEBHOOK_NOT_DISABLED(webhook=endpoint.id, code=error.code)


def body_of(claimed: Claimed) -> bytes:
    """The body of a message, the same in each attempt."""
    at = claimed.happened.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if claimed.debate is None:
        return encode(ProbeEvent(timestamp=at, data=ProbeData(webhook=claimed.webhook)))
    data = EndedData(
        debate_id=claimed.debate,
        status=claimed.status,  # type: ignore[arg-type] # debate_head has a check
        href=f"/v1/debates/{claimed.debate}",
        last_record=(claimed.last_record or b"").hex(),
        log=claimed.log or "",
        index=claimed.idx or 0,
        size=claimed.size or 0,
        root=(claimed.root or b"").hex(),
    )
    return encode(EndedEvent(timestamp=at, data=data))


def rules_of(policy: Webhooks) -> AddressRules:
    """The rules of addresses that a policy has."""
    return AddressRules(read_networks(policy.allow_networks), policy.allow_http, policy.ports)
