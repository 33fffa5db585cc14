"""The thread for requests over long documents: the loop goes on, and what engines need is made ready once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from service.debate.whose import WHOSE
from service.running import lane as lanes
from service.running.lane import Lane


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    made = Lane()
    yield made
    made.close()


async def test_the_thread_works_for_the_tenant_of_who_asks(lane: Lane) -> None:
    async def asked(tenant: str) -> str:
        WHOSE.set(tenant)
        return await lane.run(WHOSE.get)

    one, other = await asyncio.gather(asked("one"), asked("other"))

    assert (one, other) == ("one", "other")


async def test_the_loop_goes_on_and_calls_are_made_one_after_the_other(lane: Lane) -> None:
    gate, order = threading.Event(), list[str]()

    def held() -> int:
        gate.wait(20)
        order.append("held")
        return threading.get_ident()

    def short() -> int:
        order.append("short")
        return threading.get_ident()

    first, second = asyncio.create_task(lane.run(held)), asyncio.create_task(lane.run(short))
    await asyncio.sleep(0.01)
    assert order == []
    gate.set()

    assert await first == await second != threading.get_ident()
    assert order == ["held", "short"]


async def test_a_fault_is_that_of_the_call(lane: Lane) -> None:
    with pytest.raises(ZeroDivisionError):
        await lane.run(divmod, 1, 0)

    assert await lane.run(divmod, 7, 2) == (3, 1)


async def test_engines_are_made_ready_once_for_all_who_wait(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()
    monkeypatch.setattr(lanes, "make_ready", lambda: made.append(threading.get_ident()))

    await asyncio.gather(*(lane.ready() for _ in range(5)))
    await lane.ready()

    assert len(made) == 1
    assert made != [threading.get_ident()]


async def test_one_that_is_cancelled_does_not_keep_the_others_from_it(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    monkeypatch.setattr(lanes, "make_ready", lambda: gate.wait(20))
    one, other = asyncio.create_task(lane.ready()), asyncio.create_task(lane.ready())
    await asyncio.sleep(0.01)

    one.cancel()
    await asyncio.sleep(0.01)
    gate.set()

    await other
    assert one.cancelled()


async def test_what_could_not_be_made_ready_is_tried_again(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = list[int]()

    def fail_once() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise FileNotFoundError("weights.txt")

    monkeypatch.setattr(lanes, "make_ready", fail_once)
    with pytest.raises(FileNotFoundError):
        await lane.ready()
    await lane.ready()

    assert len(tries) == 2
