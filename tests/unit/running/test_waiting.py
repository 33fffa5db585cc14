"""A worker waits for what others record in its debates, and is not woken by what it records itself."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from service.debate.entries import DebateStopped
from service.prompts import Prompts
from service.running.leases import HeldDebate
from service.running.log_port import AuditLog
from service.running.runner import Runner, Surroundings
from service.store.hub import EventHub, HubNotice
from service.store.queue import ClaimedDebate
from tests.fixtures.waiting import within

DEBATE = "00000000-0000-0000-0000-00000000000d"
NEWS = HubNotice(debates=(DEBATE,))


@pytest.fixture
def hub() -> EventHub:
    return EventHub()


@pytest.fixture
def held(hub: EventHub) -> HeldDebate:
    return HeldDebate(ClaimedDebate(DEBATE, "default", 1), hub)


async def goes_on(waiting: asyncio.Task[Any]) -> bool:
    """Whether something still waits once every task has had its turn, and those that this one woke theirs."""
    for _ in range(10):
        await asyncio.sleep(0)
    return not waiting.done()


async def test_a_worker_s_own_entries_end_no_wait_for_those_of_others(hub: EventHub, held: HeldDebate) -> None:
    waiting = asyncio.create_task(held.wait())
    assert await goes_on(waiting)

    for _ in range(2):
        held.entries_recorded([DebateStopped("fault", "for the test")])
        assert await goes_on(waiting)

    hub.receive(NEWS)
    await within(10, waiting)
    assert held.poll()


async def test_a_notification_ends_one_wait_of_a_runner_and_not_the_next(hub: EventHub, held: HeldDebate) -> None:
    log = cast(AuditLog, None)  # nothing is asked of it
    runner = Runner(log, {}, Prompts.load(), {}, worker=Surroundings(entries=held))
    answered = asyncio.Event()
    call = asyncio.create_task(answered.wait())

    for _ in range(2):
        waiting = asyncio.create_task(runner._first_of((call,), None))
        assert await goes_on(waiting)
        hub.receive(NEWS)
        assert await within(10, waiting) == set()
        assert held.poll()

    waiting = asyncio.create_task(runner._first_of((call,), None))
    assert await goes_on(waiting)
    answered.set()
    assert await within(10, waiting) == {call}
    await runner._cancel_calls()
