"""What a worker leaves to others, and for how long."""

from __future__ import annotations

from service.running.quarantine import FIRST_S, LONGEST_S, MOST, Quarantine


def test_a_debate_is_left_to_others_for_twice_as_long_each_time_up_to_a_limit() -> None:
    aside, now = Quarantine(), 0.0
    for pause_s in (FIRST_S, 2 * FIRST_S, 4 * FIRST_S, LONGEST_S, LONGEST_S):
        aside.add("a", now)
        assert list(aside.excluded(now + pause_s - 1)) == ["a"]
        now += pause_s
        assert list(aside.excluded(now)) == []


def test_no_more_than_so_many_are_remembered_and_the_latest_of_them() -> None:
    aside = Quarantine()
    for n in range(MOST + 5):
        aside.add(str(n), 0.0)

    assert list(aside.excluded(1.0)) == [str(n) for n in range(5, MOST + 5)]
