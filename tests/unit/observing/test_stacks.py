"""A dump says where tasks and threads stand, as places alone, within bounds."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from types import FrameType

import pytest

from service.observing import stacks
from service.observing.stacks import NAME_CHARACTERS, NAMES_MAX, PLACES_MAX, STACKS_MAX, Stack, task_stacks, write

CANARY = "canary-7f3a-of-a-case"


async def innermost(secret: str) -> None:
    kept = [secret, {"argument": secret}]
    await asyncio.sleep(60)
    assert kept


async def middle(secret: str) -> None:
    await innermost(f"{secret}, once more")


def by_generator(secret: str) -> Generator[object, None, None]:
    yield from asyncio.sleep(60, secret).__await__()


class Awaited:
    """Something that waits by a generator."""

    def __await__(self) -> Generator[object, None, None]:
        return by_generator(CANARY)


@pytest.fixture
async def waiting() -> AsyncIterator[list[asyncio.Task[None]]]:
    """Five tasks that wait in the same place, and one that waits elsewhere."""

    async def elsewhere() -> None:
        await Awaited()

    tasks = [asyncio.create_task(middle(CANARY), name=f"debate {nth}") for nth in range(5)]
    tasks.append(asyncio.create_task(elsewhere(), name="elsewhere"))
    await asyncio.sleep(0)
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_tasks_in_one_place_are_one_stack_down_to_what_they_wait_for(waiting: list[asyncio.Task[None]]) -> None:
    common, other = task_stacks(waiting)

    assert sorted(common.names) == [f"debate {nth}" for nth in range(5)]
    assert [place.rsplit(" ", 1)[1] for place in common.places] == ["middle", "innermost", "sleep"]
    assert all(__file__ in place for place in common.places[:2])
    assert [place.rsplit(" ", 1)[1] for place in other.places][1:] == ["by_generator"]
    assert CANARY not in str((common, other))


def test_what_is_written_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    many = [Stack((f"{nth} " * 99,) * 50, (f"file.py:{nth} f",)) for nth in range(STACKS_MAX + 7)]
    with caplog.at_level(logging.WARNING, "gainsay"):
        write(many, [])

    first, *others = caplog.records
    assert (vars(first)["tasks"], vars(first)["left_out"]) == (50 * (STACKS_MAX + 7), 7)
    assert len(others) == STACKS_MAX
    for record in others:
        assert vars(record)["count"] == 50
        assert len(vars(record)["names"]) == NAMES_MAX
        assert all(len(name) <= NAME_CHARACTERS for name in vars(record)["names"])


async def test_a_deep_stack_keeps_what_is_next_to_where_it_stands() -> None:
    async def down(depth: int) -> None:
        await (down(depth - 1) if depth else innermost(CANARY))

    task = asyncio.create_task(down(PLACES_MAX * 2))
    await asyncio.sleep(0)
    (found,) = task_stacks([task])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert len(found.places) == PLACES_MAX
    assert [place.rsplit(" ", 1)[1] for place in found.places[-2:]] == ["innermost", "sleep"]


@pytest.fixture
def hears() -> Iterator[None]:
    """SIGUSR1 as a process that stays has it."""
    before = signal.getsignal(signal.SIGUSR1)
    stacks.listen()
    yield
    signal.signal(signal.SIGUSR1, before)


def dumped(caplog: pytest.LogCaptureFixture) -> dict[str, list[dict[str, object]]]:
    """The lines of a dump, by their names, once its thread has written them."""
    for thread in threading.enumerate():
        if thread.name == "stacks":
            thread.join()
    found: dict[str, list[dict[str, object]]] = {}
    for record in caplog.records:
        found.setdefault(vars(record)["event"], []).append(vars(record))
    return found


def test_a_signal_shows_code_that_holds_the_event_loop(caplog: pytest.LogCaptureFixture, hears: None) -> None:
    def holding(secret: str) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            assert secret

    async def run() -> None:
        other = asyncio.create_task(middle(CANARY), name="other")
        await asyncio.sleep(0)
        holding(CANARY)
        other.cancel()

    with caplog.at_level(logging.WARNING, "gainsay"):
        asyncio.run(run())
        found = dumped(caplog)

    (begun,) = found["process.stacks"]
    assert begun["left_out"] == 0
    main = next(line for line in found["process.thread_stack"] if line["names"] == ["MainThread"])
    assert str(main["at"]).count(".holding") == 1, "it stands in the function that holds the loop"
    assert "_heard" not in str(main["at"])
    assert ["other"] in [line["names"] for line in found["process.task_stack"]]
    assert CANARY not in json.dumps(found, default=str)


def test_a_signal_is_heard_without_an_event_loop(caplog: pytest.LogCaptureFixture, hears: None) -> None:
    with caplog.at_level(logging.WARNING, "gainsay"):
        os.kill(os.getpid(), signal.SIGUSR1)
        found = dumped(caplog)

    assert "process.task_stack" not in found
    assert ["MainThread"] in [line["names"] for line in found["process.thread_stack"]]


def test_an_error_of_a_dump_reaches_nothing_that_the_process_does(monkeypatch: pytest.MonkeyPatch, hears: None) -> None:
    def failing(_frames: dict[int, FrameType]) -> list[Stack]:
        raise MemoryError

    monkeypatch.setattr(stacks, "thread_stacks", failing)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert sys.exc_info() == (None, None, None)
