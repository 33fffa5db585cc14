"""The breaker as lists of events and what is told at which second; no clock runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.providers.circuit_breaker import GRANT_S, LONGEST, SHORT_S, CircuitBreaker


def breaker() -> CircuitBreaker:
    return CircuitBreaker(failures=3, pause_s=30.0, probe_s=180.0)


def fail(made: CircuitBreaker, now: float) -> None:
    made.failed(now, made.begin(now))


def opened(now: float = 0.0) -> CircuitBreaker:
    made = breaker()
    for _ in range(3):
        fail(made, now)
    return made


def test_it_opens_after_failures_in_a_row_and_not_before() -> None:
    made = breaker()
    for _ in range(2):
        fail(made, 0.0)
    before = made.open_s(0.0), made.is_open

    fail(made, 1.0)

    assert before == (0.0, False)
    assert made.is_open
    assert made.open_s(1.0) == 30.0
    assert made.open_s(30.5) == 0.5


def test_a_success_between_begins_the_count_anew() -> None:
    made = breaker()
    for _ in range(5):
        fail(made, 0.0)
        fail(made, 0.0)
        made.succeeded()

    assert not made.is_open


def test_after_the_pause_one_caller_at_a_time_is_let_through() -> None:
    made = opened()

    first, others = made.open_s(30.0), [made.open_s(30.0) for _ in range(3)]
    made.begin(30.5)
    later = made.open_s(200.0)

    assert first == 0.0
    assert others == [GRANT_S] * 3
    assert later == SHORT_S


def test_a_caller_is_told_the_same_for_each_of_the_calls_that_it_makes_together() -> None:
    made = opened()

    asked = [made.open_s(30.0, who) for who in (1, 1, 2, 1, 0)]
    made.begin(30.5)

    assert asked == [0.0, 0.0, GRANT_S, 0.0, GRANT_S]
    assert [made.open_s(30.5, who) for who in (1, 2)] == [SHORT_S] * 2
    assert made.open_s(400.0, 2) == 0.0
    assert made.open_s(400.0, 1) > 0.0


def test_a_permission_that_is_not_used_lapses() -> None:
    made = opened()

    assert made.open_s(30.0) == 0.0
    assert made.open_s(30.0 + GRANT_S) == 0.0


def test_a_probe_that_succeeds_closes_it_at_once() -> None:
    made = opened()
    made.begin(30.0)

    made.succeeded()

    assert not made.is_open
    assert [made.open_s(31.0) for _ in range(3)] == [0.0, 0.0, 0.0]


def test_a_probe_that_is_called_off_leaves_room_for_another() -> None:
    made = opened()
    era = made.begin(30.0)
    during = made.open_s(31.0)

    made.ended(era)

    assert during > 0
    assert made.open_s(31.0) == 0.0
    assert made.is_open


def test_pauses_double_up_to_ten_times_the_first() -> None:
    made, now, pauses = opened(), 0.0, []

    for _ in range(7):
        pauses.append(made.open_s(now))
        now += pauses[-1]
        fail(made, now)

    assert pauses == [30.0, 60.0, 120.0, 240.0, 300.0, 300.0, 300.0]


def test_the_failures_of_calls_that_were_under_way_lengthen_nothing() -> None:
    made = breaker()
    under_way = [made.begin(0.0) for _ in range(100)]

    for era in under_way:
        made.failed(10.0, era)
    for era in under_way:
        made.failed(50.0, era)

    assert made.open_s(10.0) == 30.0
    assert made.open_s(40.0) == 0.0


def test_two_probes_at_once_lengthen_the_pause_once() -> None:
    made = opened()
    first, second = made.begin(30.0), made.begin(30.0)

    made.failed(31.0, first)
    made.failed(100.0, second)

    assert made.open_s(31.0) == 60.0


def test_what_a_vendor_asks_for_is_kept_whatever_the_state() -> None:
    made = breaker()

    made.open_for(20.0)
    made.open_for(5.0)
    made.succeeded()

    assert made.open_s(8.0) == 12.0
    assert made.open_s(20.0) == 0.0
    assert not made.is_open


def test_a_held_vendor_gives_no_permission_to_probe() -> None:
    made = opened()
    made.open_for(100.0)

    assert made.open_s(40.0) == 60.0
    assert made.open_s(100.0) == 0.0


STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "begin", "fail", "succeed", "off", "hold"]), st.floats(0, 400)), max_size=60
)


@given(steps=STEPS, last=st.booleans())
def test_no_history_pauses_for_ever_or_lets_two_through(steps: list[tuple[str, float]], last: bool) -> None:
    made, now, eras = breaker(), 0.0, [0]
    for step, wait in steps:
        now += wait
        match step:
            case "ask":
                made.open_s(now)
            case "begin":
                eras.append(made.begin(now))
            case "fail":
                made.failed(now, eras[-1])
            case "succeed":
                made.succeeded()
            case "off":
                made.ended(eras[-1])
            case "hold":
                made.open_for(now + wait)
        assert 0.0 <= made.open_s(now) <= max(30.0 * LONGEST, 400.0)

    now += 1_000.0
    assert made.open_s(now) == 0.0
    if made.is_open:
        assert made.open_s(now) > 0.0, "the permission was given a moment ago"
    made.succeeded()
    assert made.open_s(now) == pytest.approx(0.0)
