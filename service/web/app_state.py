"""The state that the endpoints share: the service behind them, and whether it is stopping."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from litestar import Request
from msgspec import Struct, field

from service.delivering.endpoints import Endpoints
from service.identity.authentication import Authenticator
from service.identity.caller import LOCAL, Caller
from service.identity.management import Management
from service.intake import Deployment
from service.intake.configuration import CurrentConfiguration
from service.intake.decoding import most_bytes
from service.policy.settings import Settings
from service.prompts import Prompts
from service.reviews import Reviews
from service.reviews.evaluation_follow import EvaluationFeeds
from service.reviews.evaluations import EvaluationDesk
from service.reviews.evidence.reading_log import ReadingLog
from service.reviews.on_disconnect import DisconnectWatch
from service.store.checkpoints import CurrentCheckpoint, CurrentCheckpoints
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.web.admission import FILES, AdmissionSlots
from service.web.overload import Load
from service.web.rate_limits import RateLimiter
from service.web.stream_listeners import Listeners

HttpRequest = Request[Any, Any, Any]


class Service(Protocol):
    """The process behind the endpoints."""

    @property
    def settings(self) -> Settings:
        """Its configuration."""
        ...

    @property
    def reviews(self) -> Reviews:
        """Its operations."""
        ...

    @property
    def prompts(self) -> Prompts:
        """The pinned prompts."""
        ...

    @property
    def heads(self) -> CurrentCheckpoints:
        """The checkpoints that answers name."""
        ...

    @property
    def serving(self) -> Database:
        """Where everything is, by the login that serves callers."""
        ...

    @property
    def database(self) -> Database:
        """Where everything is, by the service's own login."""
        ...

    @property
    def logs(self) -> CurrentLogs:
        """The tenants' current logs."""
        ...

    @property
    def leaving(self) -> DisconnectWatch:
        """The listeners to debates that end with them."""
        ...

    @property
    def authenticator(self) -> Authenticator:
        """Finds out who sent a request."""
        ...

    @property
    def readings(self) -> ReadingLog:
        """Who reads content of cases."""
        ...

    @property
    def management(self) -> Management | None:
        """Manages the registers; ``None`` in a service without identities."""
        ...

    @property
    def endpoints(self) -> Endpoints:
        """What callers do with their endpoints of webhooks."""
        ...

    @property
    def evaluations(self) -> EvaluationDesk:
        """What callers do with evaluations."""
        ...

    @property
    def evaluation_feeds(self) -> EvaluationFeeds:
        """The evaluations that listeners follow."""
        ...

    @property
    def current(self) -> CurrentConfiguration:
        """The configuration in force."""
        ...

    async def troubles(self) -> list[str]:
        """The troubles that keep it from taking work."""
        ...


class AppState(Struct, frozen=True):
    """One server: its service, and the event that is set when it stops.

    ``heartbeat_s`` is the longest silence of an event stream. ``slow_s`` is how long a listener may leave it unread. A
    listener that is still sent events after ``noted_s`` is noted as a reader again.
    """

    service: Service
    closing: asyncio.Event
    listeners: Listeners
    heartbeat_s: float = 15.0
    slow_s: float = 30.0
    noted_s: float = 60.0
    places: AdmissionSlots = field(default_factory=AdmissionSlots)
    files: AdmissionSlots = field(default_factory=lambda: AdmissionSlots(FILES))
    rates: RateLimiter = field(default_factory=RateLimiter)
    load: Load = field(default_factory=lambda: Load(AdmissionSlots()))

    @property
    def reviews(self) -> Reviews:
        """The service's operations."""
        return self.service.reviews

    @property
    def deployment(self) -> Deployment:
        """The deployment of tenants that policy does not name."""
        return self.service.reviews.deployment

    def body_max_of(self, tenant: str) -> int:
        """The most bytes of a case's body of a tenant, whose own policy may take more."""
        own, usual = self.reviews.deployment_of(tenant).policy.limits, self.deployment.policy.limits
        return most_bytes(max(own.total_characters, usual.total_characters))

    @property
    def database(self) -> Database:
        """Where everything is; `service.web.callers.database` is the part of it that a caller's tenant sees."""
        return self.service.serving

    @property
    def logs(self) -> CurrentLogs:
        """The tenants' current logs."""
        return self.service.logs

    @property
    def leaving(self) -> DisconnectWatch:
        """The listeners to debates that end with them."""
        return self.service.leaving

    @property
    def authenticator(self) -> Authenticator:
        """Finds out who sent a request."""
        return self.service.authenticator

    @property
    def readings(self) -> ReadingLog:
        """Who reads content of cases."""
        return self.service.readings

    @property
    def management(self) -> Management | None:
        """Manages the registers; ``None`` in a service without identities."""
        return self.service.management

    @property
    def evaluations(self) -> EvaluationDesk:
        """What callers do with evaluations."""
        return self.service.evaluations

    @property
    def evaluation_feeds(self) -> EvaluationFeeds:
        """The evaluations that listeners follow."""
        return self.service.evaluation_feeds

    def head(self, caller: Caller | None) -> CurrentCheckpoint | None:
        """The latest checkpoint of the caller's log that this process knows, for a caller that may read the log.

        A service without identities names it in every answer; a service with them in no answer to an unknown caller.
        """
        if caller is None:
            caller = None if self.authenticator.configured else LOCAL
        known = caller is not None and caller.may("log.read")
        return self.service.heads.latest(caller.tenant) if caller is not None and known else None


def app_state(request: HttpRequest) -> AppState:
    """The site that a request came to."""
    site: AppState = request.app.state.site
    return site
