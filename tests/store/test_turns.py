"""Tenants take turns in the queue: the promise of 0019_tenant_claims.sql, on drawn queues.

A tenant that has nothing running and a case that waits is among the next N cases taken, where N tenants wait in that
time. The play counts N as the tenants that had a case waiting at any moment since this one began to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.debate.kernel import FORMATS
from service.store.pool import Database as Pool
from service.store.queries import queries
from service.store.queue import ClaimRequest, claim
from tests.fixtures.postgres import Database
from tests.store.test_queue import Heads

pytestmark = pytest.mark.no_replay
TENANTS = ("crowd", "urgent", "small", "late-comer", "slow")
DUE = ("2020-01-01", "2026-11-24", "2999-01-01")
Taken = tuple[UUID, str]


class Queue:
    """A queue in one transaction of the service's login, which is rolled back; it watches that the promise holds."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._next = 0
        self.waiting: dict[str, set[UUID]] = {tenant: set() for tenant in TENANTS}
        self.running: dict[str, list[UUID]] = {tenant: [] for tenant in TENANTS}
        self.since: dict[str, tuple[set[str], int]] = {}
        """For each tenant that is promised a turn: the tenants that waited since, and how many cases were taken."""

    def add(self, tenant: str, due: str, number: int) -> None:
        """Cases of a tenant that come at this moment."""
        ids = [UUID(int=self._next + n) for n in range(number)]
        self._next += number
        self._connection.execute(
            "INSERT INTO debate_head "
            "(debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted, due)"
            " SELECT debate, %s, 'l', 'adversarial/1', 'contract', 'queued', 3, '', 1, 1, %s"
            " FROM unnest(%s::uuid[]) AS d (debate)",
            [tenant, due, ids],
        )
        self.waiting[tenant] |= set(ids)
        self._look()

    def end(self, tenant: str, at: int, how: str) -> None:
        """One of a tenant's running debates ends, or its worker gives it back."""
        if not self.running[tenant]:
            return
        debate = self.running[tenant].pop(at % len(self.running[tenant]))
        if how == "given back":
            self._connection.execute(
                "UPDATE debate_head SET worker = NULL, lease_until = '-infinity' WHERE debate = %s", [debate]
            )
            self.waiting[tenant].add(debate)
        else:
            self._connection.execute("UPDATE debate_head SET state = 'completed' WHERE debate = %s", [debate])
        self._look()

    def run(self, worker: str, number: int) -> None:
        """A worker takes cases one after another, and runs each to its end."""
        for _ in range(number):
            for tenant in self.claim(worker, 1, None):
                self.end(tenant, -1, "over")

    def claim(self, worker: str, most: int, each: int | None) -> list[str]:
        """A worker takes up to ``most`` cases, and each is in turn; returns the tenants of each."""
        params: dict[str, Any] = {"worker": worker, "lease": 3_600.0, "formats": list(FORMATS), "templates": None}
        params |= {"only": None, "leave": [], "most": most, "most_late": 0, "per_tenant": each}
        params |= {"shares": "{}", "patience": 86_400.0}
        rows = self._connection.execute(queries()["claim"], params).fetchall()
        for debate, tenant, *_ in rows:
            self._took(debate, tenant)
        promised = [tenant for tenant in self.since if len(rows) < most]
        assert not promised, f"{promised} waited, and places were left empty"
        return [tenant for _, tenant, *_ in rows]

    def _took(self, debate: UUID, tenant: str) -> None:
        self.waiting[tenant].remove(debate)
        self.running[tenant].append(debate)
        if (promised := self.since.pop(tenant, None)) is not None:
            others, count = promised
            assert count + 1 <= len(others | {tenant}), f"{tenant} was taken after {count} others, of {sorted(others)}"
        self.since = {name: (others, count + 1) for name, (others, count) in self.since.items()}
        for name, (others, count) in self.since.items():
            assert count < len(others), f"{name} waits behind {count} cases, and {sorted(others)} wait"
        self._look()

    def _look(self) -> None:
        """Who waits at this moment, and who begins to be promised a turn."""
        wait = {tenant for tenant, cases in self.waiting.items() if cases}
        for tenant in wait:
            if not self.running[tenant] and tenant not in self.since:
                self.since[tenant] = (set(), 0)
        for others, _ in self.since.values():
            others.update(wait)


ADDED = st.tuples(st.just("add"), st.sampled_from(TENANTS), st.sampled_from(DUE), st.integers(1, 6))
ENDED = st.tuples(st.just("end"), st.sampled_from(TENANTS), st.integers(0, 5), st.sampled_from(["over", "given back"]))
CLAIMED = st.tuples(
    st.just("claim"), st.sampled_from(["one", "two", "three"]), st.integers(1, 4), st.sampled_from([None, 1, 2])
)


RUN = st.tuples(st.just("run"), st.just("one"), st.integers(1, 6))


@pytest.fixture(scope="module")
def service(module_database: Database) -> Iterator[psycopg.Connection[Any]]:
    """The service's own login."""
    with psycopg.connect(module_database.service_url, options="-c search_path=gainsay") as connection:
        yield connection


@given(steps=st.lists(st.one_of(ADDED, ADDED, ENDED, CLAIMED, RUN), min_size=4, max_size=30))
@settings(max_examples=60, deadline=None)
def test_of_the_tenants_that_wait_each_without_a_running_debate_is_among_the_next_that_many_cases(
    service: psycopg.Connection[Any], steps: list[tuple[Any, ...]]
) -> None:
    queue = Queue(service)
    try:
        for step, *given_ in steps:
            getattr(queue, step)(*given_)
    finally:
        service.rollback()


def test_a_tenant_whose_cases_were_due_long_ago_takes_turns_with_one_whose_case_is_due_last(
    service: psycopg.Connection[Any],
) -> None:
    """One place, and each case runs to its end before the next is taken: by due times alone, the crowd always."""
    queue = Queue(service)
    try:
        queue.add("crowd", DUE[0], 20)
        queue.add("small", DUE[2], 2)
        order = []
        for _ in range(4):
            (tenant,) = queue.claim("one", 1, None)
            order.append(tenant)
            queue.end(tenant, 0, "over")
    finally:
        service.rollback()

    assert order == ["crowd", "small", "crowd", "small"]


async def test_several_workers_at_once_keep_to_the_turns(database: Database) -> None:
    """Each of ten tenants is among the first ten, though one has a hundred cases that were due before all others."""
    heads = Heads(database)
    heads.add("t0", 100, due=DUE[0])
    for n in range(1, 10):
        heads.add(f"t{n}", 2, due=DUE[2])
    async with Pool.open(database.service_url, size=5) as pool:
        found = await asyncio.gather(*(claim(pool, ClaimRequest(worker=f"w{n}", lease_s=60.0), 2) for n in range(5)))
    heads.close()

    assert sorted(claimed.tenant for each in found for claimed in each) == [f"t{n}" for n in range(10)]
