"""A worker advances so many debates at the same time: those that wait for calls keep no other one from its place."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from service.prompts.request import Request
from service.running.checker import LONG
from service.running.places import Place
from service.running.provider_port import Answer
from service.running.runner import Runner
from tests.fixtures.postgres import Database as Stored
from tests.fixtures.running import TEXT, Bench, CannedProvider, bench
from tests.fixtures.waiting import until, within

SOON_S = 60.0
DEBATES = 3


class Together(CannedProvider):
    """Answers the first calls of the critics once all debates have made theirs, and no reply comes before another."""

    def __init__(self, debates: int) -> None:
        super().__init__()
        self._left, self._all = debates, asyncio.Event()
        self.of_rebuttals = list[str]()

    def encode(self, request: Request) -> bytes:
        """The request's own bytes are the wire."""
        if request.seat == "rebuttal":
            self.of_rebuttals.append("prepared")
        return super().encode(request)

    async def send(self, body: bytes) -> Answer:
        """One answer."""
        match msgspec.json.decode(body, type=Request).seat:
            case "critic":
                self._left -= 1
                if self._left == 0:
                    self._all.set()
                await self._all.wait()
            case "rebuttal":
                self.of_rebuttals.append("sent")
        return await super().send(body)


async def begun(service: Bench, debates: int, **members: Any) -> list[Runner]:
    """Runners of debates that were submitted and claimed."""
    for n in range(debates):
        await service.submit(question=f"Does agreement {n} leave us with uncapped liability?")
    return [await service.runner(await service.claim(lease_s=SOON_S), **members) for _ in range(debates)]


async def test_debates_that_wait_for_calls_hold_no_place(database: Stored) -> None:
    places = asyncio.Semaphore(1)
    async with bench(database.service_url, Together(DEBATES)) as service:
        runners = await begun(service, DEBATES, places=places)
        outcomes = await within(SOON_S, asyncio.gather(*(runner.run() for runner in runners)))

    assert [outcome.status for outcome in outcomes if outcome] == ["completed"] * DEBATES
    assert places._value == 1


async def test_a_debate_makes_its_next_call_before_the_next_debate_is_advanced(database: Stored) -> None:
    provider = Together(DEBATES)
    async with bench(database.service_url, provider) as service:
        runners = await begun(service, DEBATES, places=asyncio.Semaphore(1))
        await within(SOON_S, asyncio.gather(*(runner.run() for runner in runners)))

    assert provider.of_rebuttals == ["prepared", "sent"] * DEBATES


@pytest.mark.parametrize("ends", ["cancelled", "with a fault"])
async def test_a_run_that_ends_otherwise_gives_its_place_back(database: Stored, ends: str) -> None:
    places = asyncio.Semaphore(1)
    async with bench(database.service_url, Together(2)) as service:  # there is one: its critic is never answered
        (runner,) = await begun(service, 1, places=places)
        if ends == "with a fault":
            service.providers["offline"].send = None  # type: ignore[method-assign, assignment]
        run = asyncio.create_task(runner.run())
        if ends == "cancelled":
            await within(SOON_S, until(lambda: runner.facts.said))
            run.cancel()
        with suppress(asyncio.CancelledError, TypeError):
            await within(SOON_S, run)

    assert places._value == 1


async def test_a_debate_over_long_texts_takes_no_place(database: Stored) -> None:
    """It waits for the process of checks, and short ones must not wait for that."""
    taken = asyncio.Semaphore(0)
    async with bench(database.service_url) as service:
        await service.submit(documents=[{"id": "D1", "title": "Agreement", "text": TEXT + " It holds." * (LONG // 10)}])
        runner = await service.runner(await service.claim(), places=taken)

        outcome = await within(SOON_S, runner.run())

    assert outcome is not None
    assert outcome.status == "completed"


async def test_a_place_is_held_once_and_given_back_once() -> None:
    places = asyncio.Semaphore(1)
    place, other = Place(places), Place(places)

    place.release()
    await place.take()
    await place.take()
    waiting = asyncio.create_task(other.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    other.release()
    assert places.locked()
    place.release()
    place.release()

    assert places._value == 1
