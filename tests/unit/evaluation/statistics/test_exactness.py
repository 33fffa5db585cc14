"""Tails, bounds and tests against sums of exact fractions, which share no code with them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log1p, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.statistics import (
    binomial,
    clopper_pearson,
    fisher,
    mcnemar,
    mean_t,
    one_sided_bound,
    preference_power,
    rate_sequence,
    rule_power,
)
from service.evaluation.statistics.distributions import beta_tails, log_point, quantile, student, z_of

NEAR = Fraction(1, 10**10)
LEVELS = ["0.5", "0.9", "0.95", "0.99", "0.999999"]


def chance(k: int, n: int, p: Fraction) -> Fraction:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def at_least(k: int, n: int, p: Fraction) -> Fraction:
    return sum((chance(x, n, p) for x in range(k, n + 1)), Fraction(0))


def no_likelier(chances: list[Fraction], seen: int) -> Fraction:
    """The sum of all chances that are at most that of the one seen, with the slack of the definition."""
    return sum((each for each in chances if each <= chances[seen] * Fraction(10_000_001, 10_000_000)), Fraction(0))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("k", "n"), [(1, 1), (1, 2), (3, 10), (17, 20), (1, 40), (39, 40), (20, 40)])
def test_the_bounds_of_clopper_and_pearson_cut_off_their_tails(k: int, n: int, level: str) -> None:
    tail = (1 - Fraction(level)) / 2
    found = clopper_pearson(k, n, float(level))
    low, high = Fraction(found["low"]), Fraction(found["high"])

    assert at_least(k, n, low - NEAR) < tail < at_least(k, n, low + NEAR)
    if k < n:
        above = 1 - at_least(k + 1, n, high + NEAR), 1 - at_least(k + 1, n, high - NEAR)
        assert above[0] < tail < above[1]


@pytest.mark.parametrize("level", ["0.0001", *LEVELS])
@pytest.mark.parametrize(("k", "n"), [(1, 3), (3, 10), (33, 40)])
def test_a_one_sided_bound_cuts_off_one_tail(k: int, n: int, level: str) -> None:
    tail = 1 - Fraction(level)
    low = Fraction(one_sided_bound(k, n, "low", float(level))["bound"])
    high = Fraction(one_sided_bound(k, n, "high", float(level))["bound"])

    assert at_least(k, n, low - NEAR) < tail < at_least(k, n, low + NEAR)
    assert 1 - at_least(k + 1, n, high + NEAR) < tail < 1 - at_least(k + 1, n, high - NEAR)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 1), (3, 10), (40, 40), (20, 40)])
def test_the_sequence_of_a_rate_ends_where_its_evidence_is_reached(k: int, n: int, level: str) -> None:
    def excluded(p: Fraction) -> bool:
        mixture = Fraction(1, (n + 1) * comb(n, k))
        return mixture >= p**k * (1 - p) ** (n - k) / (1 - Fraction(level))

    found = rate_sequence(k, n, float(level))
    low, high = Fraction(found["low"]), Fraction(found["high"])

    assert low == 0 if k == 0 else excluded(low - NEAR) and not excluded(low + NEAR)
    assert high == 1 if k == n else excluded(high + NEAR) and not excluded(high - NEAR)


@pytest.mark.parametrize("p", ["0.5", "0.1", "0.3", "0.77", "0", "1"])
def test_the_test_of_a_rate_sums_what_is_no_likelier(p: str) -> None:
    for n in range(13):
        chances = [chance(k, n, Fraction(p)) for k in range(n + 1)]
        for k in range(n + 1):
            assert binomial(k, n, float(p))["p"] == pytest.approx(float(no_likelier(chances, k)), abs=1e-12)


def test_fishers_test_sums_the_tables_that_are_no_likelier() -> None:
    for a, b, c, d in product(range(6), repeat=4):
        first, second, chosen = a + b, c + d, a + c
        low, high = max(0, chosen - second), min(chosen, first)
        tables = [
            Fraction(comb(first, x) * comb(second, chosen - x), comb(first + second, chosen))
            for x in range(low, high + 1)
        ]

        assert fisher(a, b, c, d)["p"] == pytest.approx(float(no_likelier(tables, a - low)), abs=1e-12)


def test_mcnemars_test_doubles_the_smaller_tail_and_its_middle_counts_the_outcome_half() -> None:
    for b, c in product(range(12), repeat=2):
        n, fewer = b + c, min(b, c)
        tail = sum(comb(n, x) for x in range(fewer + 1))
        found = mcnemar(b, c)

        assert found["p"] == pytest.approx(min(1, 2 * tail / 2**n), abs=1e-12)
        assert found["midP"] == pytest.approx(min(1, (2 * tail - comb(n, fewer)) / 2**n), abs=1e-12)


@pytest.mark.parametrize("alpha", ["0.05", "0.3", "0.5"])
@pytest.mark.parametrize("p", ["0", "0.5", "0.85", "1"])
def test_a_pull_is_seen_as_often_as_fishers_test_rejects(p: str, alpha: str) -> None:
    for first, second in product(range(7), repeat=2):
        rejected = (
            chance(k, first, Fraction(p)) * chance(j, second, 1 - Fraction(p))
            for k, j in product(range(first + 1), range(second + 1))
            if fisher(k, first - k, j, second - j)["p"] <= float(alpha) + 1e-12
        )

        found = preference_power(first, second, float(p), float(alpha))["power"]
        assert found == pytest.approx(float(sum(rejected)), abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), st.fractions(0, 1))
def test_a_rule_passes_as_often_as_its_outcomes_come(n: int, least: int, p: Fraction) -> None:
    rate = float(p)

    assert rule_power(n, rate, least)["passes"] == pytest.approx(float(at_least(least, n, Fraction(rate))), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [  # the quantiles of another library
        (500_000, 10**6, 0.49901951919531184, 0.5009804808046882),
        (3, 10**6, 6.186725501906401e-07, 8.767247788067677e-06),
        (999_000, 10**6, 0.9989360818926848, 0.9990609987920499),
    ],
)
def test_bounds_of_a_million_cases(k: int, n: int, low: float, high: float) -> None:
    found = clopper_pearson(k, n)

    assert found["low"] == pytest.approx(low, abs=1e-14)
    assert found["high"] == pytest.approx(high, abs=1e-14)


def test_tests_of_millions_of_cases() -> None:
    """Against sums with forty digits."""
    assert binomial(500_500, 10**6)["p"] == pytest.approx(0.317794691363305537, abs=1e-13)
    assert fisher(500_000, 499_000, 498_500, 500_100)["p"] == pytest.approx(0.06582986599656993844, abs=1e-13)


def test_a_thousand_million_cases_are_the_limit_of_their_normal_shape() -> None:
    k, n = 500_000_000, 10**9
    reach = 1.959963984540054 * sqrt(0.25 / n)

    found = clopper_pearson(k, n)

    assert found["low"] == pytest.approx(0.5 - reach, abs=2e-9)
    assert found["high"] == pytest.approx(0.5 + reach, abs=2e-9)


@pytest.mark.parametrize(
    ("freedom", "level", "expected"),
    [  # from forty digits, and closed forms of one and two degrees of freedom
        (1, 0.5, 1.0),
        (1, 0.95, 12.706204736174694),
        (2, 0.95, 0.95 * sqrt(2 / (1 - 0.95**2))),
        (2, 0.001, 0.001 * sqrt(2 / (1 - 0.001**2))),
        (2, 1e-9, 1e-9 * sqrt(2 / (1 - 1e-18))),
        (4, 0.95, 2.7764451051977987),
        (9, 0.95, 2.26215716279820),
        (30, 0.95, 2.0422724563012373),
        (30, 0.99, 2.7499956535672264),
    ],
)
def test_quantiles_of_student(freedom: int, level: float, expected: float) -> None:
    assert student(level, freedom) == pytest.approx(expected, rel=1e-11)


def test_students_quantile_tends_to_the_normal_one() -> None:
    assert z_of(0.95) == pytest.approx(1.959963984540054, abs=1e-15)
    assert student(0.95, 10**6) == pytest.approx(z_of(0.95) * (1 + (z_of(0.95) ** 2 + 1) / 4e6), abs=1e-9)
    assert quantile(1e-300) == pytest.approx(-37.0471, abs=1e-4)


def test_a_mean_of_ten_values() -> None:
    """Student's own data (1908): ten differences of sleep."""
    found = mean_t([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])

    assert found["mean"] == pytest.approx(1.58)
    assert found["low"] == pytest.approx(0.7001142, abs=1e-7)
    assert found["high"] == pytest.approx(2.4598858, abs=1e-7)


@given(st.integers(1, 400), st.integers(1, 400), st.floats(0, 1))
def test_both_tails_are_one_and_mirror_each_other(a: int, b: int, x: float) -> None:
    tails, mirrored = beta_tails(a, b, x), beta_tails(b, a, 1 - x, x)

    assert tails.below + tails.above == pytest.approx(1, abs=1e-15)
    assert tails.below == pytest.approx(mirrored.above, rel=1e-9, abs=1e-15)
    assert 0 <= tails.below <= 1


@given(st.integers(0, 80), st.integers(0, 80), st.fractions(0, 1))
def test_a_point_is_that_of_fractions(k: int, more: int, p: Fraction) -> None:
    n, rate = k + more, float(p)
    expected = float(chance(k, n, Fraction(rate)))

    assert exp(log_point(k, n, rate)) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    if expected == 0 and rate in (0, 1):
        assert log_point(k, n, rate) == -inf


def test_a_complement_that_is_known_better_is_used() -> None:
    assert log_point(1.5, 2.0, 1.0, 1e-40) == pytest.approx(log_point(0.5, 2.0, 1e-40), rel=1e-12)
    assert log_point(4, 4, 1.0, 1e-20) == pytest.approx(4 * log1p(-1e-20))
