"""What callers do with their endpoints: create, look, rotate, disable, enable, test, and send a message again.

A requester has its own endpoints, which are sent the ends of the cases that its subject submitted. An operator manages
all of its tenant; its own are sent the ends of every case. A secret is in the answer to what made it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from secrets import token_bytes
from typing import TYPE_CHECKING

from msgspec import Struct

from service.audit.record import Actor, Writer
from service.delivering.addresses import AddressRefused, AddressRules, read_networks
from service.delivering.master_keys import SETTING, MasterKeys, MasterMissing
from service.delivering.signing import shown
from service.errors import Forbidden, GainsayError, NotFound
from service.identity.caller import Caller
from service.identity.ids import RANDOM_BYTES, is_id, write_id
from service.identity.roles import Scope
from service.policy.webhooks import Webhooks
from service.store import webhooks as store
from service.store.current_log import CurrentLogs
from service.store.identity_changes import Place
from service.store.pool import Database
from service.store.webhooks import Delivery, Endpoint, Most, NewEndpoint, Reach

if TYPE_CHECKING:
    from service.delivering.sender import Sender

KEEP_HOURS, KEEP_HOURS_MAX = 24, 720
"""How long the secrets before a rotation sign beside the new one, unless another time is given, and at most."""
CHECK_S = 5.0
"""How long a name is looked up when an endpoint is created."""


class InvalidWebhook(GainsayError):
    """No endpoint can have what is asked for."""

    code = "invalid_webhook"
    status = 422
    title = "No endpoint can have what is asked for"


class WebhookConflict(GainsayError):
    """The endpoints, or the deployment, are in a state that does not admit the change; nothing was changed."""

    code = "webhook_conflict"
    status = 409
    title = "The state of webhooks does not admit the change"


class Granted(Struct, frozen=True):
    """An endpoint with a secret that was made just now, and is shown this once."""

    endpoint: Endpoint
    secret: str

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Granted({self.endpoint.id!r})"


class Endpoints:
    """Changes and shows the endpoints of callers' tenants. Every function raises what the store does.

    An endpoint that a caller does not reach is answered like one that is not there: `NotFound`.
    """

    def __init__(
        self,
        database: Database,
        logs: CurrentLogs,
        process: Writer,
        policy_of: Callable[[str], Webhooks],
        keys: MasterKeys | None,
        sender: Sender | None = None,
    ) -> None:
        self.database, self.policy_of, self.keys = database, policy_of, keys
        self._given = sender
        self._logs, self._process = logs, process

    def close(self) -> None:
        """End; call this when no request is under way."""
        if self._given is not None:
            self._given.close()

    @property
    def sender(self) -> Sender:
        """The rules' reader of addresses; a process that sends has imported its library for HTTP by then."""
        if self._given is None:
            from service.delivering.sender import Sender

            self._given = Sender()
        return self._given

    async def create(self, caller: Caller, url: str, cases: Reach | None) -> Granted:
        """A new endpoint; raises `InvalidWebhook`, `WebhookConflict` and `Forbidden`."""
        policy, keys = self._able(caller.tenant)
        widest = _widest(caller)
        if cases == "tenant" and widest == "own":
            raise _beyond('ask for "own", or ask the operator of the tenant')
        rules = AddressRules(read_networks(policy.allow_networks), policy.allow_http, policy.ports)
        try:
            await self.sender.check(url, rules, caller.tenant, CHECK_S)
        except AddressRefused as refused:
            raise InvalidWebhook(f"the URL cannot be asked: {refused}", pointers=("/url",)) from None
        made, master = write_id("whk_", token_bytes(RANDOM_BYTES)), keys.newest()
        place, writer = await self._recording(caller)
        new = NewEndpoint(made, cases or widest, url, master)
        most = most_of(policy, caller)
        if not await store.add_endpoint(self.database, new, most, place, writer):
            raise _too_many(most)
        return self._granted(await self.show(caller, made, "webhook.manage"), keys)

    async def list_endpoints(self, caller: Caller, after: str, limit: int) -> list[Endpoint]:
        """A page of the endpoints that a caller reaches, in the order of their ids after one."""
        return await store.list_endpoints(self.database, caller.tenant, _subject(caller, "webhook.read"), after, limit)

    async def show(self, caller: Caller, endpoint: str, scope: Scope = "webhook.read") -> Endpoint:
        """An endpoint that a caller reaches with a scope; raises `NotFound`."""
        found = (
            await store.list_endpoints(self.database, caller.tenant, _subject(caller, scope), "", 1, only=endpoint)
            if is_id(endpoint, "whk_")
            else []
        )
        if not found:
            raise NotFound("there is no endpoint of this id; GET /v1/webhooks lists those that there are")
        return found[0]

    async def rotate(self, caller: Caller, endpoint: str, keep_hours: int) -> Granted:
        """The next secret of an endpoint; those that signed so far sign beside it for so many hours, two at most.

        Raises `NotFound` and `WebhookConflict`.
        """
        _, keys = self._able(caller.tenant)
        row = await self._sent_on(caller, endpoint)
        place, writer = await self._recording(caller)
        if not await store.rotate_endpoint(self.database, row, keys.newest(), keep_hours * 3_600.0, place, writer):
            raise WebhookConflict("another request has rotated the secret at the same time; rotate once more")
        return self._granted(await self.show(caller, endpoint, "webhook.manage"), keys)

    async def disable(self, caller: Caller, endpoint: str) -> Endpoint:
        """Disable an endpoint: what it was still to be sent is stopped. To do so again changes nothing."""
        row = await self.show(caller, endpoint, "webhook.manage")
        if row.disabled is None:
            place, writer = await self._recording(caller)
            await store.disable_endpoint(self.database, row.id, "asked", place, writer)
        return await self.show(caller, endpoint, "webhook.manage")

    async def disable_gone(self, endpoint: Endpoint) -> None:
        """Disable an endpoint whose receiver says that it is gone; this process is recorded as who did it."""
        place = Place(await self._logs.current(endpoint.tenant), endpoint.tenant)
        await store.disable_endpoint(self.database, endpoint.id, "gone", place, self._process)

    async def enable(self, caller: Caller, endpoint: str) -> Endpoint:
        """Enable an endpoint again; raises `WebhookConflict` where there are as many as may be."""
        policy, _ = self._able(caller.tenant)
        row = await self._sent_on(caller, endpoint)
        if row.disabled is not None:
            place, writer = await self._recording(caller)
            most = most_of(policy, caller)
            if not await store.enable_endpoint(self.database, row.id, most, place, writer):
                raise _too_many(most)
        return await self.show(caller, endpoint, "webhook.manage")

    async def test(self, caller: Caller, endpoint: str) -> Delivery:
        """A test message; raises `WebhookConflict` for an endpoint that is disabled."""
        self._able(caller.tenant)
        row = await self._sent_on(caller, endpoint)
        made = await store.add_test(self.database, caller.tenant, row.id)
        if made is None:
            raise WebhookConflict("the endpoint is disabled, so nothing is sent to it; enable it first")
        return await self._delivery(caller, row.id, made)

    async def deliveries(self, caller: Caller, endpoint: str, before: str | None, limit: int) -> list[Delivery]:
        """A page of the messages of an endpoint, the newest first, before one."""
        row = await self.show(caller, endpoint)
        return await store.list_deliveries(self.database, caller.tenant, row.id, before, limit)

    async def redeliver(self, caller: Caller, endpoint: str, delivery: str) -> Delivery:
        """Send a message again at once, with the same id; raises `NotFound` and `WebhookConflict`."""
        self._able(caller.tenant)
        row = await self._sent_on(caller, endpoint)
        await self._delivery(caller, row.id, delivery)
        if not await store.redeliver(self.database, caller.tenant, row.id, delivery):
            raise WebhookConflict(
                "the endpoint is disabled; enable it first"
                if row.disabled is not None
                else "the message is being sent just now, or its end is not provable yet; look at it again in a while"
            )
        return await self._delivery(caller, row.id, delivery)

    async def _sent_on(self, caller: Caller, endpoint: str) -> Endpoint:
        """An endpoint that a caller may have something sent to; raises `NotFound`, and `Forbidden` as `create` does.

        An endpoint for all cases of the tenant stays when its subject has the tenant no more: it may disable it then.
        """
        row = await self.show(caller, endpoint, "webhook.manage")
        if row.reach == "tenant" and _widest(caller) == "own":
            raise _beyond("disable it, or ask the operator of the tenant")
        return row

    def secrets(self, endpoint: Endpoint, keys: MasterKeys) -> list[bytes]:
        """The secrets that sign for an endpoint now, the newest first; raises `MasterMissing` for the newest.

        One before it whose master key was lost, or taken away because it leaked, holds no message up.
        """
        secrets = [keys.secret(endpoint.master, endpoint.tenant, endpoint.id, endpoint.generation)]
        for master, generation in _before(endpoint):
            with suppress(MasterMissing):
                secrets.append(keys.secret(master, endpoint.tenant, endpoint.id, generation))
        return secrets

    async def _delivery(self, caller: Caller, endpoint: str, delivery: str) -> Delivery:
        found = (
            await store.list_deliveries(self.database, caller.tenant, endpoint, None, 1, only=delivery)
            if is_id(delivery, "msg_")
            else []
        )
        if not found:
            raise NotFound("there is no message of this id; the deliveries of the endpoint list those that there are")
        return found[0]

    def _granted(self, row: Endpoint, keys: MasterKeys) -> Granted:
        return Granted(row, shown(keys.secret(row.master, row.tenant, row.id, row.generation)))

    def _able(self, tenant: str) -> tuple[Webhooks, MasterKeys]:
        """Policy and keys; raises `WebhookConflict` where one of them allows nothing."""
        policy = self.policy_of(tenant)
        if not policy.enabled:
            raise WebhookConflict("policy allows no webhooks (webhooks.enabled); the operator of the service may")
        if self.keys is None:
            raise WebhookConflict(
                f"this service has no {SETTING}, from which the secrets of webhooks are derived, so it signs nothing; "
                "make one with `openssl rand -base64 32`, set it in each process, and start them again"
            )
        return policy, self.keys

    async def _recording(self, caller: Caller) -> tuple[Place, Writer]:
        return Place(await self._logs.current(caller.tenant), caller.tenant), Writer(caller.actor, self._process.build)


def _before(endpoint: Endpoint) -> list[tuple[str, int]]:
    """The secrets before the present one that sign too, each by its master key and generation, the newest first.

    Of which master key one between the two is, no row says. It is of one of theirs; a secret of the other was never
    given out, so its signature says nothing.
    """
    first, master = endpoint.previous_generation, endpoint.previous_master
    if not endpoint.both or not first or not master:
        return []
    between = range(endpoint.generation - 1, first, -1)
    return [*((each, n) for n in between for each in dict.fromkeys((endpoint.master, master))), (master, first)]


def _subject(caller: Caller, scope: Scope) -> str | None:
    """Whose endpoints a caller reaches with a scope: its own, or ``None`` for all of the tenant."""
    return None if "tenant" in caller.reach(scope) else caller.subject


def _widest(caller: Caller) -> Reach:
    """Whose cases a caller may have sent."""
    return "tenant" if "tenant" in caller.reach("webhook.manage") else "own"


def most_of(policy: Webhooks, caller: Caller) -> Most:
    """The most active endpoints as a caller may add to them: one without the tenant leaves half of them to others."""
    return Most(policy.endpoints, policy.endpoints if _widest(caller) == "tenant" else (policy.endpoints + 1) // 2)


def _too_many(most: Most) -> WebhookConflict:
    own = f", and {most.own} of one subject without the scope over the tenant" if most.own < most.all else ""
    return WebhookConflict(
        f"as many endpoints are active as policy allows (webhooks.endpoints): {most.all} of the tenant{own}; disable "
        "one that is not needed"
    )


def _beyond(help_: str) -> Forbidden:
    return Forbidden(
        "an endpoint for all cases of the tenant needs the scope webhook.manage over the tenant, which this caller "
        f"does not have; {help_}",
        scope="webhook.manage",
    )


def process_writer(name: str, build: str) -> Writer:
    """A process as the author of what it does to an endpoint by itself."""
    return Writer(Actor(name, "service", "worker", "databaseRole"), build)
