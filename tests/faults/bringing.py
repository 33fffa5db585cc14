"""A case is brought to its end by one process: posted until it is answered, run by a worker, and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from msgspec.structs import replace

from service.errors import AuditUnavailable, StoreUnavailable
from service.identity.caller import Caller
from service.policy import Budget, Budgets, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.running.worker import Worker, WorkerConfig
from tests.faults.counting import Counting
from tests.fixtures.running import PROMPTLY, Bench, a_request, bench
from tests.fixtures.small_cases import CASES
from tests.fixtures.waiting import within

LEASE_S = 30.0
POSTS = 5
UNLIMITED = "default"
LOOK_S, LOOKS = 0.25, 240
DAY = 450_000
"""Ten of the dearest reservations of a limited debate: enough for what it asks and for two attempts that are lost."""


@dataclass(frozen=True)
class Scenario:
    """A kind of debate: the members of its request that matter, and whether its tenant has limits to draw on.

    Where several turns are asked ``at_once``, it differs from run to run in how many appends their replies are
    recorded, and which of them are when a process dies.
    """

    name: str
    changes: Mapping[str, Any]
    limited: bool = False
    at_once: bool = False


SCENARIOS = {
    **{name: Scenario(name, changes, at_once=name in ("panel", "convergence")) for name, changes in CASES.items()},
    "limited": Scenario("limited", CASES["adversarial"], limited=True),
    "left alone": Scenario("left alone", {**CASES["panel"], "onDisconnect": "abort"}, at_once=True),
}
"""Every format; one whose tenant has limits; one whose caller wants it to end with its listeners, and never listens."""


@dataclass
class Post:
    """A case, and what its caller knows of it: the debate, once it was ``told``."""

    scenario: Scenario
    key: str
    debate: str | None = None
    told: Callable[[str], object] = lambda _debate: None

    @property
    def caller(self) -> Caller:
        """Who posts it: where there are limits a tenant of its own, so that they are those of this one debate."""
        return Caller(tenant=f"limited-{self.key}" if self.scenario.limited else UNLIMITED)


class Process:
    """One process of the service. ``admin`` looks at the database as nobody of the service does."""

    def __init__(self, desk: Bench, admin: psycopg.Connection[Any]) -> None:
        self.desk = desk
        self._admin = admin
        self._worker: Worker | None = None
        self._work: asyncio.Task[None] | None = None

    async def bring(self, post: Post) -> None:
        """Post a case and run its debate to its end."""
        answer = await self._answer(post)
        assert post.debate in (None, answer), "one key, two debates"
        post.debate = answer
        post.told(answer)
        self._begin()
        await self._end(post.debate)
        await self.stop(5.0)

    async def stop(self, grace_s: float) -> None:
        """Let the worker take nothing more, and hand back what it cannot finish in time."""
        if self._worker and self._work:
            await self._worker.stop(grace_s)
            await self._work
        self._worker = self._work = None

    async def _answer(self, post: Post) -> str:
        """Post a case until it is answered, as a caller does with a key."""
        request, caller = a_request(**post.scenario.changes), post.caller
        for _ in range(POSTS):
            with suppress(AuditUnavailable, StoreUnavailable):
                return (await self.desk.reviews.record(request, caller, post.key)).debate
        raise AssertionError("a case is refused again and again")

    def _begin(self) -> None:
        desk = self.desk
        config = WorkerConfig(
            name="worker",
            lease_s=LEASE_S,
            calls=desk.calls,
            budgets=desk.policy.budgets,
            build=desk.deployment.build_hash,
        )
        self._worker = Worker(desk.database, desk.hub, desk.prompts, desk.providers, config)
        self._work = asyncio.create_task(self._worker.work(), name="worker")

    async def _end(self, debate: str) -> None:
        """Wait for the end. Where the worker has nothing to do, time passes: a lease runs out that nobody knows of.

        However long a worker takes over a debate that it has, it keeps it: whoever takes it over appends anew.
        """
        end = self.desk.hub.end_event(debate)
        for _ in range(LOOKS):
            with suppress(TimeoutError):
                await within(LOOK_S, end.wait())
                return
            if self._state(debate) not in ("queued", "running"):
                return
            if self._is_idle:
                let_leases_run_out(self._admin)
                self.desk.hub.work_queued()
        raise AssertionError(f"debate {debate} does not end")

    @property
    def _is_idle(self) -> bool:
        """Whether the worker runs no debate, and has no answer to come that may give it one."""
        assert self._worker
        claim = self._worker._taking
        return not self._worker.running and (claim is None or claim.done())

    def _state(self, debate: str) -> str:
        row = self._admin.execute("SELECT state FROM gainsay.debate_head WHERE debate = %s", [UUID(debate)]).fetchone()
        assert row, f"debate {debate} was answered, and is not there"
        return str(row[0])


def let_leases_run_out(admin: psycopg.Connection[Any]) -> None:
    """What happens by itself some time after a worker has died."""
    admin.execute("UPDATE gainsay.debate_head SET lease_until = '-infinity' WHERE state = 'running'")


@asynccontextmanager
async def a_desk(url: str, vendor: Counting) -> AsyncIterator[Bench]:
    """What a process is made of."""
    async with bench(url, vendor, policy=a_policy(), calls=PROMPTLY) as desk:
        yield desk


def a_policy() -> Policy:
    """The shipped policy, with limits for all tenants but one: what is drawn as it should be is not refused."""
    limits = Budgets(others=Budget(day=DAY, month=DAY), tenants={UNLIMITED: Budget()})
    return replace(read_policy(SHIPPED_POLICY), budgets=limits)
