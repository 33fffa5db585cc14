"""When a message is sent again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.delivering.schedule import LONGEST_S, RETRY_AFTER_MAX_S, next_wait, read_retry_after, wait_s

WINDOW_S = 72 * 3_600.0


def test_the_wait_doubles_from_five_seconds_to_an_hour() -> None:
    assert [wait_s(attempts, 1.0) for attempts in range(1, 13)] == [
        *(5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600)
    ]


@given(st.integers(0, 10_000), st.floats(0, 1), st.none() | st.floats(0, 1e12))
def test_a_wait_is_at_least_half_and_never_beyond_its_bounds(attempts: int, chance: float, after: float | None) -> None:
    wait = wait_s(attempts, chance, after)

    assert wait_s(attempts, 0.0) <= wait <= max(LONGEST_S, RETRY_AFTER_MAX_S)
    assert after is None or wait >= min(after, RETRY_AFTER_MAX_S)


@given(st.floats(0, 1), st.none() | st.floats(0, 1e9))
def test_the_last_attempt_is_at_the_end_of_the_window_and_then_it_expires(chance: float, after: float | None) -> None:
    age, attempts = 0.0, 1
    while (wait := next_wait(age, WINDOW_S, attempts, chance, after)) is not None:
        age, attempts = age + wait, attempts + 1

    assert age == pytest.approx(WINDOW_S)
    assert 70 < attempts < 200


@pytest.mark.parametrize(
    ("status", "text", "seconds"),
    [
        (429, "12", 12.0),
        (503, "0", 0.0),
        (500, "12", None),
        (200, "12", None),
        (503, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (503, "-1", None),
        (503, "1e9", None),
        (503, "٣", None),
        (503, "9" * 5_000, None),
        (503, None, None),
    ],
)
def test_seconds_of_429_and_503_are_heeded_and_nothing_else(
    status: int, text: str | None, seconds: float | None
) -> None:
    assert read_retry_after(status, text) == seconds
