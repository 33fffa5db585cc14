"""A period in months and weeks: every time of it is in one window, and the first and the last may be cut."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BadRequest
from service.evaluation.moderators.windows import MOST, Windows, began, milliseconds
from service.store.sealing import uuid7

BEGINNING = datetime.fromtimestamp(0, UTC)
TIMES = st.integers(1_600_000_000_000_000, 1_900_000_000_000_000).map(lambda us: BEGINNING + timedelta(microseconds=us))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_months_and_weeks_have_their_names_and_are_cut_where_the_period_is() -> None:
    months = Windows(at("2026-01-15"), at("2026-03-02"), "month").all
    weeks = Windows(at("2026-12-30"), at("2027-01-12"), "week").all

    assert [(w.name, w.since.isoformat()[:10], w.until.isoformat()[:10]) for w in months] == [
        ("2026-01", "2026-01-15", "2026-02-01"),
        ("2026-02", "2026-02-01", "2026-03-01"),
        ("2026-03", "2026-03-01", "2026-03-02"),
    ]
    assert [(w.name, w.since.isoformat()[:10]) for w in weeks] == [
        ("2026-W53", "2026-12-30"),
        ("2027-W01", "2027-01-04"),
        ("2027-W02", "2027-01-11"),
    ]


@given(TIMES, st.timedeltas(timedelta(milliseconds=1), timedelta(days=700)), st.sampled_from(["month", "week"]))
def test_windows_follow_each_other_without_a_gap_from_the_beginning_to_the_end(
    since: datetime, length: timedelta, every: str
) -> None:
    windows = Windows(since, since + length, every)  # type: ignore[arg-type]

    found = windows.all
    assert (found[0].since, found[-1].until) == (since, since + length)
    assert all(one.until == after.since for one, after in pairwise(found))
    assert len({one.name for one in found}) == len(found)
    for one in found:
        last = one.until - timedelta(microseconds=1)
        assert (windows.of(one.since), windows.of(last)) == (one.name, one.name)
    for outside in (since - timedelta(microseconds=1), since + length):
        with pytest.raises(ValueError, match="expected a time of the period"):
            windows.of(outside)


def test_a_period_without_an_end_after_its_beginning_and_one_of_too_many_windows_are_refused() -> None:
    for until in ("2026-01-01", "2025-12-31"):
        with pytest.raises(BadRequest, match="ends after it begins"):
            Windows(at("2026-01-01"), at(until), "month")
    assert len(Windows(at("2016-01-01"), at("2026-01-01"), "month").all) == MOST
    for since, until, every in (("2016-01-01", "2026-01-02", "month"), ("2020-01-01", "9999-12-31", "week")):
        with pytest.raises(BadRequest, match="at most 120 windows"):
            Windows(at(since), at(until), every)  # type: ignore[arg-type]
    assert Windows(at("9999-12-20"), at("9999-12-31"), "month").all[-1].name == "9999-12"


@given(TIMES)
def test_a_debate_s_id_says_when_it_began_to_the_millisecond(time: datetime) -> None:
    debate = uuid7(time.timestamp())

    begun = began(debate)

    assert abs(begun - time) <= timedelta(milliseconds=1)
    first = milliseconds(begun)
    assert first << 80 < UUID(debate).int < first + 1 << 80
