"""When two versions are said to differ: made-up pairs that differ, that are equal, and that only jump about."""

from __future__ import annotations

import random

import pytest

from bench.verdict import FEWEST, MISSED, judge, order


def pairs(draw: random.Random, count: int, factor: float, noise: float) -> list[tuple[float, float]]:
    """Pairs whose second figure is this many times the first, on a machine whose speed changes from pair to pair."""
    found = []
    for _ in range(count):
        speed = draw.uniform(1, 3)
        found.append(
            (10 * speed * draw.uniform(1 - noise, 1 + noise), 10 * factor * speed * draw.uniform(1 - noise, 1))
        )
    return found


def test_a_difference_is_told_although_the_machine_changes_more_than_the_versions_differ() -> None:
    verdict = judge(pairs(random.Random(1), 8, 0.8, 0.05))

    assert verdict.differs
    assert verdict.ratio == pytest.approx(0.8, abs=0.05)
    assert str(verdict).startswith(f"{(1 - verdict.ratio) * 100:.1f} % less")
    assert "more" in str(judge(pairs(random.Random(1), 8, 1.3, 0.05)))


def test_equal_figures_are_no_difference() -> None:
    assert str(judge([(5.0, 5.0)] * 6)).startswith("no difference")
    assert str(judge([(0.0, 0.0)] * 6)).startswith("no difference")


def test_noise_is_no_difference_but_in_one_run_of_twenty() -> None:
    draw, told = random.Random(2), 0
    for _ in range(2_000):
        found = [(draw.lognormvariate(0, 0.3), draw.lognormvariate(0, 0.3)) for _ in range(9)]
        told += judge(found).differs

    assert 0 < told / 2_000 <= MISSED * 1.2


def test_six_pairs_have_to_agree_and_nine_allow_one_that_does_not() -> None:
    slower = (1.0, 1.5)

    assert judge([slower] * 6).differs
    assert not judge([*[slower] * 5, (1.0, 0.9)]).differs
    assert not judge([*[slower] * 7, (1.0, 0.9)]).differs
    assert judge([*[slower] * 8, (1.0, 0.9)]).differs
    assert not judge([*[slower] * 7, *[(1.0, 0.9)] * 2]).differs


def test_the_interval_is_as_sure_as_it_says() -> None:
    assert judge([(1.0, 2.0)] * 6).sure == pytest.approx(1 - 2 / 2**6)
    assert judge([(1.0, 2.0)] * 9).sure == pytest.approx(1 - 2 * (1 + 9) / 2**9)


def test_what_was_nothing_and_is_something_has_become_more() -> None:
    assert judge([(0.0, 1.0)] * 6).differs


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 6 pairs, found 5"):
        judge([(1.0, 2.0)] * (FEWEST - 1))


def test_each_version_goes_first_as_often_as_the_other() -> None:
    assert order(3) == [("first", "second"), ("second", "first"), ("first", "second")]
