"""The endpoints of webhooks, each change of one with its record, and the queue of what they are sent.

An endpoint is added, rotated, disabled and enabled in one statement with the record that says who did it, as
`service.store.identity_changes` does with keys. The queue is working state (migrations/0022_webhooks.sql).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.audit.log_events import AccessChanged
from service.audit.record import Writer
from service.store.identity_changes import Place, recorded
from service.store.pool import Database
from service.store.sealing import write

Reach = Literal["own", "tenant"]
State = Literal["recorded", "waiting", "sending", "delivered", "expired", "stopped"]
Outcome = Literal["delivered", "failed", "refused", "gone", "lost"]
RELEASED = 500
"""Messages that one look releases."""
ATTEMPTS_SHOWN = 20
"""The most attempts that a message is shown with, the last ones."""


class Endpoint(Struct, frozen=True):
    """An endpoint: where it is, whose, and of which generations of which master keys its secrets are.

    ``both`` says that the secrets from ``previous_generation`` on sign too. ``revoked`` says that its subject is.
    """

    id: str
    tenant: str
    subject: str
    reach: Reach
    url: str
    created: datetime
    generation: int
    master: str
    previous_generation: int | None
    previous_master: str | None
    previous_until: datetime | None
    disabled: datetime | None
    disabled_why: str | None
    failures: int
    both: bool
    revoked: bool
    now: float = 0.0

    @property
    def active(self) -> bool:
        """Whether anything is sent to it."""
        return self.disabled is None and not self.revoked


class Most(Struct, frozen=True):
    """The most active endpoints of a tenant, and of one subject of it."""

    all: int
    own: int


class NewEndpoint(Struct, frozen=True):
    """An endpoint as it is added; ``master`` names the key that its first secret is derived from."""

    id: str
    reach: Reach
    url: str
    master: str


class Attempt(Struct, frozen=True):
    """One attempt: when, which address was asked, what was answered, and when the next one is."""

    nth: int
    at: datetime
    asked: str | None
    http_status: int | None
    took_ms: int | None
    outcome: Outcome
    reason: str
    next_due: datetime | None


class Delivery(Struct, frozen=True):
    """A message as its log shows it; ``id`` is its webhook-id, ``log`` its last attempts, the newest first."""

    id: str
    debate: str | None
    status: str | None
    happened: datetime
    state: State
    attempts: int
    finished: datetime | None
    due: datetime | None
    log: tuple[Attempt, ...]


class Claimed(Struct, frozen=True):
    """A message that this process sends. ``age_s`` is how long ago the present round of attempts began.

    ``lost`` says that it is not known how the last attempt went, unless that was the first. ``arrival`` is how the case
    came, as its record has it.
    """

    seq: int
    id: str
    tenant: str
    webhook: str
    debate: str | None
    status: str | None
    last_record: bytes | None
    happened: datetime
    log: str | None
    idx: int | None
    size: int | None
    root: bytes | None
    attempts: int
    age_s: float
    lost: bool = False
    arrival: dict[str, Any] | None = None


class AttemptEnd(Struct, frozen=True):
    """How an attempt went, and what follows for its message; ``wait_s`` is until the next attempt."""

    outcome: Outcome
    state: Literal["waiting", "delivered", "expired", "stopped"]
    reason: str = ""
    asked: str | None = None
    http_status: int | None = None
    took_ms: int | None = None
    wait_s: float = 0.0


async def add_endpoint(database: Database, new: NewEndpoint, most: Most, place: Place, writer: Writer) -> bool:
    """Add an endpoint of the writer's subject; false if there are as many as may be. Raises `AuditUnavailable`."""
    given = {
        "webhook": new.id,
        "tenant": place.tenant,
        "subject": writer.actor.id,
        "reach": new.reach,
        "url": new.url,
        "master": new.master,
        "most": most.all,
        "most_own": most.own,
        **await recorded(database, _changed("webhookCreated", new.id, place), place, writer),
    }
    (row,) = await write(database, "add_webhook", given)
    return str(row["outcome"]) == "added"


async def rotate_endpoint(
    database: Database, endpoint: Endpoint, master: str, keep_s: float, place: Place, writer: Writer
) -> bool:
    """Give an endpoint its next secret; false if another request has done so meanwhile. Raises `AuditUnavailable`."""
    given = {"webhook": endpoint.id, "master": master, "keep_s": keep_s, "generation": endpoint.generation}
    changed = _changed("webhookRotated", endpoint.id, place)
    return await _change(database, "rotate_webhook", given, changed, place, writer)


async def disable_endpoint(database: Database, endpoint: str, why: str, place: Place, writer: Writer) -> bool:
    """Disable an endpoint; false if it is disabled already. Raises `AuditUnavailable`."""
    changed = _changed("webhookDisabled", endpoint, place)
    return await _change(database, "disable_webhook", {"webhook": endpoint, "why": why}, changed, place, writer)


async def enable_endpoint(database: Database, endpoint: str, most: Most, place: Place, writer: Writer) -> bool:
    """Enable an endpoint again; false if it is enabled, or there are as many as may be."""
    changed = _changed("webhookEnabled", endpoint, place)
    given = {"webhook": endpoint, "most": most.all, "most_own": most.own}
    return await _change(database, "enable_webhook", given, changed, place, writer)


async def list_endpoints(
    database: Database, tenant: str, subject: str | None, after: str, limit: int, *, only: str | None = None
) -> list[Endpoint]:
    """A page of a tenant's endpoints, or of one subject's, in the order of their ids after one."""
    given = {"tenant": tenant, "subject": subject, "after": after, "limit": limit, "only": only}
    return [msgspec.convert(row, Endpoint) for row in await database.query("webhooks_of", given)]


async def sending_endpoint(database: Database, tenant: str, endpoint: str) -> Endpoint | None:
    """The endpoint of a message, as it is now; ``None`` if nothing is sent to it any more."""
    rows = await database.query("webhook_sent", {"tenant": tenant, "webhook": endpoint})
    return msgspec.convert(rows[0], Endpoint) if rows else None


async def add_test(database: Database, tenant: str, endpoint: str) -> str | None:
    """Have a test message sent, and return its id; ``None`` for an endpoint that is disabled."""
    rows = await database.query("test_webhook", {"tenant": tenant, "webhook": endpoint})
    return str(rows[0]["id"]) if rows else None


async def redeliver(database: Database, tenant: str, endpoint: str, delivery: str) -> bool:
    """Send a message again at once; false if there is none, if it is being sent, or if its endpoint is disabled."""
    given = {"tenant": tenant, "webhook": endpoint, "delivery": delivery}
    return bool(await database.query("redeliver", given))


async def list_deliveries(
    database: Database, tenant: str, endpoint: str, before: str | None, limit: int, *, only: str | None = None
) -> list[Delivery]:
    """A page of an endpoint's messages, the newest first, before one."""
    given = {"tenant": tenant, "webhook": endpoint, "before": before, "limit": limit, "only": only}
    rows = await database.query("deliveries_of", {**given, "shown": ATTEMPTS_SHOWN})
    return [msgspec.convert(row, Delivery) for row in rows]


class DeliveryQueue:
    """The messages of all tenants, as one process serves them. Every function raises `StoreUnavailable`."""

    def __init__(self, database: Database, process: str) -> None:
        self._database, self._process = database, process

    async def release(self) -> int:
        """Let what a checkpoint covers by now be sent; how many messages that were."""
        return len(await self._database.query("release_proven", {"most": RELEASED}))

    async def claim(self, most: int, per_endpoint: int, per_tenant: int, lease_s: float) -> list[Claimed]:
        """Messages that are due, which no other process sends for ``lease_s``."""
        given = {"most": most, "per_endpoint": per_endpoint, "per_tenant": per_tenant, "lease_s": lease_s}
        rows = await self._database.query("claim_deliveries", {"process": self._process, **given})
        return [msgspec.convert(row, Claimed) for row in rows]

    async def end(self, claimed: Claimed, end: AttemptEnd) -> bool:
        """Record how an attempt went; false if another process has the message by now, which records its own."""
        given = {
            "seq": claimed.seq,
            "tenant": claimed.tenant,
            "process": self._process,
            "nth": claimed.attempts,
            **msgspec.structs.asdict(end),
        }
        return bool(await self._database.query("end_attempt", given))

    async def release_claimed(self) -> int:
        """Let other processes send what this one has claimed, at once."""
        return len(await self._database.query("release_claimed", {"process": self._process}))

    async def backlog(self) -> dict[str, float]:
        """How many messages are ``recorded`` and ``waiting``, and for how long (``late_s``) one of them is due.

        Those of an end that was lost with its log stay ``recorded``, and do not count.
        """
        (row,) = await self._database.query("webhook_backlog")
        return dict(row)

    async def forget(self, days: int, most: int) -> int:
        """Forget messages that ended so many days ago; how many there were."""
        (row,) = await self._database.query("forget_deliveries", {"days": days, "most": most})
        return int(row["gone"])


async def _change(
    database: Database, statement: str, given: dict[str, Any], changed: AccessChanged, place: Place, writer: Writer
) -> bool:
    params = {"tenant": place.tenant, **given, **await recorded(database, changed, place, writer)}
    return bool(await write(database, statement, params))


def _changed(what: Any, endpoint: str, place: Place) -> AccessChanged:
    return AccessChanged(what, tenant=place.tenant, webhook=endpoint)
