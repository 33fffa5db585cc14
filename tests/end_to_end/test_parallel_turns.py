"""Turns that are due together are asked together, recorded as they arrive, and their order decides nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from service.debate.entries import Entry, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import decide, replay
from service.debate.model import Conclude
from service.debate.turns import round_of, seat_of
from service.prompts.request import Request
from service.running.provider_port import Answer
from service.simulated import OfflineProvider
from tests.fixtures.debates import outcome
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.small_cases import CASES

FIRST = {"panel": "1", "convergence": "0"}
"""The round that begins a debate whose debaters speak all at once."""


class Gathering(OfflineProvider):
    """Every debater waits until ``together`` of them have been asked; nobody answers before."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self.met = 0
        self._together = together
        self._waiting: list[asyncio.Future[None]] = []

    async def send(self, body: bytes) -> Answer:
        if msgspec.json.decode(body, type=Request).seat.startswith("debater-"):
            await self._gather()
        return await super().send(body)

    async def _gather(self) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        if len(self._waiting) == self._together:
            self.met += 1
            for waiting in self._waiting:
                waiting.set_result(None)
            self._waiting = []
        await mine


class Turned(OfflineProvider):
    """Answers the first time in the order of ``seats``: each once the replies of those before it are recorded.

    ``recorded`` gives the seats whose replies are recorded. From the second time on no seat waits for another.
    """

    def __init__(self, seats: list[str]) -> None:
        super().__init__()
        self.recorded: Callable[[], Awaitable[list[str]]]
        self._seats = seats
        self._asked: set[str] = set()

    async def send(self, body: bytes) -> Answer:
        answer = await super().send(body)
        seat = msgspec.json.decode(body, type=Request).seat
        if seat in self._seats and seat not in self._asked:
            self._asked.add(seat)
            before = self._seats[: self._seats.index(seat)]
            while not set(before) <= set(await self.recorded()):  # noqa: ASYNC110 - the records are in a database
                await asyncio.sleep(0.01)
        return answer


def spoke(entries: list[Entry], round_: str) -> list[str]:
    return [seat_of(e.turn) for e in entries if isinstance(e, TurnSpoke) and e.turn.startswith(f"{round_}.debater")]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("format_", list(FIRST))
async def test_debaters_of_a_round_are_all_asked_before_any_has_answered(database: Database, format_: str) -> None:
    provider = Gathering(together=3)
    async with bench(database.service_url, provider) as service:
        entries = await service.entries(await service.run(**CASES[format_]))

    debaters = Counter(round_of(e.turn) for e in entries if isinstance(e, TurnSpoke) and ".debater-" in e.turn)
    assert provider.met == len(debaters) >= 2
    assert set(debaters.values()) == {3}
    kinds = [type(e) for e in entries if isinstance(e, TurnAsked | TurnSpoke) and e.turn.startswith(FIRST[format_])]
    assert kinds[:6] == [TurnAsked] * 3 + [TurnSpoke] * 3


@pytest.mark.parametrize("format_", list(FIRST))
async def test_replies_are_recorded_as_they_arrive(database: Database, format_: str) -> None:
    seats = ["debater-3", "debater-2", "debater-1"]
    provider = Turned(seats)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit(**CASES[format_])
        assert await service.claim() == debate

        async def recorded() -> list[str]:
            return spoke(await service.entries(debate), FIRST[format_])

        provider.recorded = recorded
        await (await service.runner(debate)).run()
        entries = await service.entries(debate)
        replay(await service.case(debate), entries)

    assert spoke(entries, FIRST[format_]) == seats


@pytest.mark.no_replay
@pytest.mark.parametrize("format_", list(FIRST))
async def test_the_order_of_arrival_changes_neither_moves_nor_outcome(database: Database, format_: str) -> None:
    """The entries of one debate in another order of arrival: legal, and concluded with the same outcome."""
    async with bench(database.service_url, OfflineProvider()) as service:
        debate = await service.run(**CASES[format_])
        entries, case = await service.entries(debate), await service.case(debate)

    turned = reordered(entries, FIRST[format_])

    assert spoke(turned, FIRST[format_]) == spoke(entries, FIRST[format_])[::-1]
    replay(case, turned)
    assert decide(Facts.of(turned[:-1])) == decide(Facts.of(entries[:-1])) == Conclude(outcome(entries))


def reordered(entries: list[Entry], round_: str) -> list[Entry]:
    """The same entries, but that the debaters of a round have answered in the reverse order."""
    places = [i for i, e in enumerate(entries) if isinstance(e, TurnSpoke) and e.turn.startswith(f"{round_}.debater")]
    found = list(entries)
    for place, other in zip(places, reversed(places), strict=True):
        found[place] = entries[other]
    return found
