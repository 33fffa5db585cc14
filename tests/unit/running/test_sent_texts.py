"""Long texts go to the process for checks once, and parent and child know the same ones at any time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.running import apart, check_child, sent_texts
from service.running.apart import CheckProcess
from service.running.check_child import Returned
from service.running.sent_texts import SENT_ONCE, SentTexts
from tests.fixtures import checked_apart
from tests.fixtures.waiting import until

LONG = "The Supplier's liability shall not exceed the Fees paid. " * 100
OTHER = LONG.replace("Fees", "Charges")
TEXTS = ("short", LONG, OTHER, LONG * 2, "\ud83d\u4f60" * SENT_ONCE)
ONE = "one"


class Child:
    """A child without a process: what it was sent, and what it has."""

    def __init__(self) -> None:
        self.sent = SentTexts()
        self.texts: dict[int, str] = {}
        self.bytes = 0

    def call(self, tenant: str, *texts: str, sweeps: bool = False) -> Any:
        """What the child is given for these texts."""
        call = self.sent.call(sweeps, tenant, (_as_given, (texts, {"by name": list(texts)})))
        self.bytes = len(call.pickled)
        returned = check_child._called(call.pickled, self.texts)
        assert isinstance(returned, Returned), returned
        return returned.value


def _as_given(*given: Any) -> Any:
    return given


CALLS = st.lists(
    st.tuples(st.sampled_from(("one", "other")), st.lists(st.sampled_from(TEXTS), max_size=3), st.booleans()),
    max_size=12,
)


@given(calls=CALLS, most=st.sampled_from((0, 2 * len(LONG), 10**9)))
def test_any_calls_are_given_what_was_asked_and_both_ends_know_the_same_texts(calls: Any, most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sent_texts, "MOST_CHARACTERS", most)
        child = Child()
        for tenant, texts, sweeps in calls:
            assert child.call(tenant, *texts, sweeps=sweeps) == (tuple(texts), {"by name": texts})

            known = {number: text for (_, text), number in child.sent._numbers.items()}
            assert child.texts == known
            assert child.sent._characters == sum(map(len, known.values()))
            assert sum(map(len, known.values())) <= max(most, sum(map(len, set(texts)))), "but for those of this call"


def test_a_long_text_is_sent_once_and_the_child_has_one_of_it() -> None:
    child = Child()

    (first, _), _ = child.call(ONE, LONG, OTHER)
    assert child.bytes > len(LONG) + len(OTHER)
    (again, _), _ = child.call(ONE, "".join([LONG[:9], LONG[9:]]), OTHER)

    assert child.bytes < SENT_ONCE
    assert again is first


def test_a_text_of_another_tenant_is_sent_again() -> None:
    child = Child()
    child.call(ONE, LONG)

    child.call("other", LONG)

    assert child.bytes > len(LONG)


def test_a_text_that_no_call_names_between_two_sweeps_is_dropped_at_both_ends() -> None:
    child = Child()
    child.call(ONE, LONG, OTHER)
    child.call(ONE, OTHER, sweeps=True)
    assert len(child.texts) == 2, "both were named since the sweep before"

    child.call(ONE, OTHER, sweeps=True)

    assert [*child.texts.values()] == [OTHER]


def test_the_size_of_a_call_counts_the_texts_that_the_child_has() -> None:
    sent = SentTexts()
    sizes = [sent.call(False, ONE, (LONG, LONG)).size for _ in range(2)]

    assert sizes[0] == sizes[1]
    assert len(LONG) < sizes[0] < len(LONG) + SENT_ONCE


async def test_a_call_that_cannot_be_pickled_does_not_leave_the_process_without_its_texts() -> None:
    process = CheckProcess()
    with pytest.raises((AttributeError, TypeError)):
        await process.call(ONE, len, LONG, lambda: None)

    assert await process.call(ONE, len, LONG) == len(LONG)
    await process.close()


async def test_a_process_that_takes_the_place_of_another_one_is_sent_the_texts_again(tmp_path: Path) -> None:
    process, times = CheckProcess(), tmp_path / "times"
    times.write_text("once more\n", encoding="ascii")
    assert await process.call(ONE, len, LONG) == len(LONG)

    await process.call(ONE, checked_apart.die, str(times))

    assert await process.call(ONE, len, LONG) == len(LONG)
    await process.close()


async def test_a_process_that_sweeps_with_each_call_gets_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SWEEP_S", 0.0)
    process = CheckProcess()
    for text in (LONG, OTHER, LONG, LONG):
        assert await process.call(ONE, len, text) == len(text)
    await process.close()


async def test_a_process_that_ends_because_it_has_nothing_to_do_leaves_no_text_behind() -> None:
    process, text = CheckProcess(idle_s=0.01), "".join(["of this debate "] * SENT_ONCE)
    before = sys.getrefcount(text)
    await process.call(ONE, len, text)
    await until(lambda: process.pid is None)

    assert sys.getrefcount(text) == before
    await process.close()
