"""Places among the cases that are read, shared by the callers."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from service.errors import Overloaded
from service.web import admission
from service.web.admission import AdmissionSlots
from service.web.overload import IN_LINE, RETRY_S, SHED, Load


async def held(slots: AdmissionSlots, caller: str, order: list[str], most: int = admission.PLACES) -> None:
    async with slots.taken(caller, most):
        order.append(caller)
        await asyncio.sleep(0)


async def begun(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_caller_with_one_request_comes_before_the_many_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    slots, order = AdmissionSlots(), list[str]()

    async with slots.taken("first"):
        many = [asyncio.create_task(held(slots, "many", order)) for _ in range(10)]
        await begun()
        few = [asyncio.create_task(held(slots, name, order)) for name in ("b", "c")]
        await begun()
    await asyncio.gather(*many, *few)

    assert order == ["many", "b", "c", *["many"] * 9]


async def test_a_full_line_drops_the_latest_of_the_caller_that_has_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    monkeypatch.setattr(admission, "LINE", 4)
    slots, order = AdmissionSlots(), list[str]()

    many = [asyncio.create_task(held(slots, "many", order)) for _ in range(5)]
    async with slots.taken("first"):
        await begun()
        few = asyncio.create_task(held(slots, "few", order))
        await begun()
        assert slots.waiting == 4
    found = await asyncio.gather(*many, few, return_exceptions=True)

    assert sum(isinstance(one, Overloaded) for one in found) == 2, "the fifth, and the fourth for the other's one"
    assert "few" in order


async def test_a_caller_has_at_most_its_places_though_others_are_free() -> None:
    slots = AdmissionSlots()
    async with AsyncExitStack() as stack:
        for _ in range(admission.CALLER_PLACES):
            await stack.enter_async_context(slots.taken("slow", admission.CALLER_PLACES))
        order = list[str]()
        slow = asyncio.create_task(held(slots, "slow", order, admission.CALLER_PLACES))
        await begun()
        await held(slots, "other", order, admission.CALLER_PLACES)
        assert order == ["other"]
    await slow

    assert order == ["other", "slow"]


async def test_a_request_that_gives_up_leaves_no_place_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    slots, order = AdmissionSlots(), list[str]()

    async with slots.taken("a"):
        gone = [asyncio.create_task(held(slots, "b", order)) for _ in range(3)]
        await begun()
        gone[1].cancel()
        await begun()
        assert slots.waiting == 2
    gone[0].cancel()  # it has just got the place
    await asyncio.gather(*gone, return_exceptions=True)
    await held(slots, "c", order)

    assert order == ["b", "c"]
    assert slots.waiting == 0


async def test_a_wait_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PLACES", 1)
    monkeypatch.setattr(admission, "LINE_S", 0.01)
    slots = AdmissionSlots()

    async with slots.taken("a"):
        with pytest.raises(Overloaded, match="no place came free"):
            await held(slots, "a", [])

    assert slots.waiting == 0


@pytest.mark.parametrize(
    ("waiting", "queries", "refused"),
    [
        (0, 0, []),
        (IN_LINE[0], 0, ["check"]),
        (IN_LINE[1], 0, ["check", "read"]),
        (10_000, 0, ["check", "read"]),
        (0, 128, ["check"]),
        (0, 2_048, ["check", "read", "submit"]),
    ],
)
async def test_the_cheapest_requests_are_refused_first(waiting: int, queries: int, refused: list[str]) -> None:
    class Slots(AdmissionSlots):
        @property
        def waiting(self) -> int:
            return waiting

    load = Load(Slots(), lambda: queries)

    for kind in SHED:
        if kind in refused:
            with pytest.raises(Overloaded) as error:
                load.refuse_pressed(kind)
            assert error.value.retry_after == RETRY_S[kind]
        else:
            load.refuse_pressed(kind)
