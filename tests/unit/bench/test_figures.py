"""Rows over several turns: medians, spread, ratios, and whether a limit holds."""

from __future__ import annotations

import pytest

from bench.figures import Figure, Measured, NotRun, Row, as_json, from_json, shown, summed

AT_MOST = Row("what it takes", "ms", 4.0)
AT_LEAST = Row("how many", "/s", 4.0, "least")
HALF_OF_PEER = Row("what it takes", "ms", 0.5, peer="the other")
SHOWN_BESIDE = Row("what it takes", "ms", peer="the other")


def figure(row: Row, *turns: Measured | NotRun) -> Figure:
    found = summed(row, turns)
    assert isinstance(found, Figure)
    return found


def test_a_row_is_the_median_of_its_turns_with_the_spread_and_the_note_of_the_one_in_the_middle() -> None:
    turns = [Measured(value, None, f"at {value:g}") for value in (9.0, 1.0, 3.0, 2.0, 8.0)]

    assert figure(AT_MOST, *turns) == Figure(3.0, 1.0, 9.0, 5, 0.75, True, "at 3")
    assert figure(AT_MOST, *turns[:2]).value == 5.0
    assert figure(AT_MOST, *turns[:2]).note == "at 1"


@pytest.mark.parametrize(
    ("row", "value", "ratio", "holds"),
    [
        (AT_MOST, 4.0, 1.0, True),
        (AT_MOST, 4.1, 1.025, False),
        (AT_LEAST, 4.0, 1.0, True),
        (AT_LEAST, 3.9, 0.975, False),
        (Row("nothing wrong", "", 0.0), 0.0, None, True),
        (Row("nothing wrong", "", 0.0), 1.0, None, False),
        (Row("only shown", "kB"), 7.0, None, None),
    ],
)
def test_a_limit_holds_at_the_limit_itself(row: Row, value: float, ratio: float | None, holds: bool | None) -> None:
    found = figure(row, Measured(value))

    assert found.ratio == (None if ratio is None else pytest.approx(ratio))
    assert found.holds is holds


def test_a_ratio_to_a_peer_is_the_median_of_the_turns_own_because_a_slow_turn_is_slow_for_both() -> None:
    found = figure(HALF_OF_PEER, Measured(1.0, 2.0), Measured(30.0, 100.0), Measured(4.0, 5.0))

    assert found.ratio == 0.5
    assert found.holds is True
    assert found.value == 4.0
    assert figure(HALF_OF_PEER, Measured(0.51, 1.0)).holds is False
    assert figure(SHOWN_BESIDE, Measured(6.0, 2.0)) == Figure(6.0, 6.0, 6.0, 1, 3.0, None, "")


def test_without_the_peer_in_a_turn_there_is_no_ratio_and_no_verdict() -> None:
    found = figure(HALF_OF_PEER, Measured(1.0, 2.0), Measured(1.0, None, "not run: no peers"))

    assert (found.ratio, found.holds) == (None, None)


def test_a_row_that_no_turn_could_measure_says_why() -> None:
    assert summed(AT_MOST, [NotRun("not run: nothing there")]) == NotRun("not run: nothing there")
    assert figure(AT_MOST, NotRun("not run"), Measured(2.0)).turns == 1


def test_figures_survive_the_file() -> None:
    for found in (figure(AT_MOST, Measured(2.5, None, "so")), NotRun("not run")):
        assert from_json(as_json(found)) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (12_345.6, "12,346"), (123.4, "123"), (12.34, "12.3"), (1.234, "1.23")),
        *((0.1234, "0.123"), (0.01234, "0.0123"), (0.00123, "0.0012"), (-12.34, "-12.3")),
    ],
)
def test_a_figure_is_shown_in_three_digits(value: float, text: str) -> None:
    assert shown(value) == text
