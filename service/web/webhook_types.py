"""Endpoints of webhooks and their messages as HTTP shows them, and the bodies that ask for them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from service.delivering.addresses import URL_MAX
from service.delivering.endpoints import KEEP_HOURS, KEEP_HOURS_MAX, Granted
from service.store.webhooks import Attempt, Delivery, Endpoint
from service.web.identity_types import said


class WebhookRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An endpoint that is asked for."""

    url: Annotated[str, Meta(min_length=1, max_length=URL_MAX)]
    """Where messages are posted: https, a host and perhaps a path, without a user and a fragment."""
    cases: Literal["own", "tenant"] | None = None
    """Whose cases it is sent the ends of: the caller's own, or the tenant's. Absent: as far as the caller reaches."""


class WebhookRotationRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How long the earlier secrets sign beside the new one."""

    keep_hours: Annotated[int, Meta(ge=0, le=KEEP_HOURS_MAX)] = KEEP_HOURS
    """The hours for which the earlier secrets sign too, from 0 to 720; 0 ends them at once."""


class Webhook(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An endpoint: where messages are posted, whose it is, and whether it is sent anything."""

    webhook: str
    """The id of the endpoint."""
    url: str
    """Where messages are posted."""
    subject: str
    """The id of the subject that created it."""
    cases: Literal["own", "tenant"]
    """Whose cases it is sent the ends of: those that its subject submitted, or the tenant's."""
    state: Literal["active", "disabled", "revoked"]
    """Whether it is sent anything. `revoked`: its subject is."""
    disabled_why: Literal["asked", "gone"] | None = None
    """Why it is disabled: a caller asked for that, or its receiver answered 410. Absent unless it is."""
    created_at: str
    """The time at which it was created."""
    disabled_at: str | None = None
    """The time at which it was disabled. Absent unless it is."""
    both_until: str | None = None
    """The time until which the earlier secrets sign too. Absent where one secret signs."""
    failures: int
    """How many attempts have failed since the last that was taken, at least 0."""
    href: str
    """The path of the endpoint."""

    @classmethod
    def of(cls, row: Endpoint) -> Webhook:
        """A row of the endpoints."""
        return cls(
            webhook=row.id,
            url=row.url,
            subject=row.subject,
            cases=row.reach,
            state="disabled" if row.disabled else "revoked" if row.revoked else "active",
            disabled_why=row.disabled_why,  # type: ignore[arg-type] # only the service writes it
            created_at=said(row.created),
            disabled_at=None if row.disabled is None else said(row.disabled),
            both_until=said(row.previous_until) if row.both and row.previous_until else None,
            failures=row.failures,
            href=f"/v1/webhooks/{row.id}",
        )


class GrantedWebhook(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An endpoint with its new secret, which is in this answer and in no other."""

    secret: str
    """The secret, `whsec_` and base64. It is shown this once; give it to what verifies the messages."""
    webhook: Webhook
    """The endpoint."""

    @classmethod
    def of(cls, granted: Granted) -> GrantedWebhook:
        """An endpoint whose secret was made just now."""
        return cls(secret=granted.secret, webhook=Webhook.of(granted.endpoint))


class WebhookList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of endpoints."""

    always_sent: ClassVar = ("webhooks",)

    webhooks: tuple[Webhook, ...]
    """The endpoints, in the order of their ids, which is no order of time."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""


class WebhookAttempt(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One attempt to deliver a message, and how it went."""

    nth: int
    """The number of the attempt, at least 1. Attempts that were sent again by hand count on."""
    at: str
    """The time at which it ended."""
    outcome: Literal["delivered", "failed", "refused", "gone", "lost"]
    """`delivered`: a status of 2xx. `refused`: the rules of addresses, or a missing key, forbade it. `gone`: 410.
    `lost`: the process that sent it has gone, so whether it arrived is not known."""
    reason: str = ""
    """Why it was not delivered. Absent if it was."""
    address: str | None = None
    """The network address that was connected to last. Absent where there was none."""
    status: int | None = None
    """The status of the answer. Absent where none came."""
    took_ms: int | None = None
    """Milliseconds of the attempt, at least 0. Absent for one that was lost."""
    next_at: str | None = None
    """The time of the next attempt. Absent where there is none."""

    @classmethod
    def of(cls, row: Attempt) -> WebhookAttempt:
        """A row of the log of attempts."""
        return cls(
            nth=row.nth,
            at=said(row.at),
            outcome=row.outcome,
            reason=row.reason,
            address=row.asked,
            status=row.http_status,
            took_ms=row.took_ms,
            next_at=None if row.next_due is None else said(row.next_due),
        )


class WebhookDelivery(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A message of an endpoint, and what became of it."""

    always_sent: ClassVar = ("log",)

    delivery: str
    """The id of the message: its webhook-id in every attempt."""
    type: Literal["debate.ended", "webhook.test"]
    """The type of its event."""
    debate_id: str | None = None
    """The id of the debate. Absent for a test."""
    state: Literal["recorded", "waiting", "sending", "delivered", "expired", "stopped"]
    """`recorded`: no checkpoint covers the end yet. `waiting`: it is sent at `dueAt`. `expired`: it was not taken in
    the time that policy gives it. `stopped`: the endpoint was disabled, or its subject revoked, before."""
    happened_at: str
    """The time of the event."""
    due_at: str | None = None
    """The time of the next attempt. Absent where there is none."""
    finished_at: str | None = None
    """The time at which it was delivered or stopped, or expired. Absent before."""
    attempts: int
    """The number of attempts that were begun, at least 0."""
    log: tuple[WebhookAttempt, ...]
    """The last 20 attempts, the newest first."""

    @classmethod
    def of(cls, row: Delivery) -> WebhookDelivery:
        """A row of the messages."""
        return cls(
            delivery=row.id,
            type="webhook.test" if row.debate is None else "debate.ended",
            debate_id=row.debate,
            state=row.state,
            happened_at=said(row.happened),
            due_at=None if row.due is None else said(row.due),
            finished_at=None if row.finished is None else said(row.finished),
            attempts=row.attempts,
            log=tuple(WebhookAttempt.of(attempt) for attempt in row.log),
        )


class WebhookDeliveryList(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One page of the messages of an endpoint."""

    always_sent: ClassVar = ("deliveries",)

    deliveries: tuple[WebhookDelivery, ...]
    """The messages, the newest first."""
    next: str | None = None
    """The value of `after` for the next page. Absent on the last page."""
