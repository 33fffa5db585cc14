"""Statistics against plain readings of their definitions, published examples, and figures that a plan prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import comb, factorial, isqrt, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation import statistics as of
from service.evaluation.statistics.exact_tests import LARGEST


def words(seed: str, resample: int, count: int) -> list[int]:
    """The words of a resample, block by block."""
    found: list[int] = []
    for block in range(-(-count // 4)):
        digest = sha256(f"{seed}\n{resample}\n{block}".encode()).digest()
        found += [int.from_bytes(digest[at : at + 8]) for at in range(0, 32, 8)]
    return found[:count]


def test_a_resampled_mean_is_that_of_groups_drawn_by_words() -> None:
    values, groups = [1, 5, 2, 8, -3, 4], ["b", "a", "b", "c", "a", "b"]
    members = [[1, 2, 4], [5, -3], [8]]
    means = []
    for resample in range(200):
        drawn = [value for word in words("s", resample, 3) for value in members[word % 3]]
        means.append(sum(drawn) / len(drawn))
    means.sort()

    found = of.bootstrap_mean(values, groups, "s", 200, 0.9)

    assert found["low"] == pytest.approx(means[10], abs=1e-12)
    assert found["high"] == pytest.approx(means[189], abs=1e-12)
    assert found["mean"] == pytest.approx(17 / 6)
    assert found["groups"] == 3


def test_places_of_bounds_are_exact_in_decimals() -> None:
    """1 - 0.9 is less than a tenth in floating point: the place would be the one below."""
    values = list(range(50))
    by_place = sorted(sum(values[word % 50] for word in words("0", resample, 50)) / 50 for resample in range(20))

    found = of.bootstrap_mean(values, resamples=20, level=0.9)

    assert (found["low"], found["high"]) == (by_place[1], by_place[18])


@pytest.mark.parametrize("by", ["width", "count"])
def test_the_error_of_a_calibrated_forecaster_is_drawn_by_words(by: str) -> None:
    p = [0.05, 0.3, 0.31, 0.7, 0.7, 0.99, 1.0, 0.0]
    errors = []
    for resample in range(100):
        happened = [int(word < Fraction(each) * 2**64) for word, each in zip(words("c", resample, 8), p, strict=True)]
        errors.append(of.reliability(p, happened, 4, by)["ece"] or 0.0)
    errors.sort()

    found = of.ece_if_calibrated(p, 4, by, "c", 100, 0.9)

    assert found["mean"] == pytest.approx(sum(errors) / 100, abs=1e-12)
    assert found["high"] == pytest.approx(errors[89], abs=1e-12)


def test_a_bin_begins_at_its_border_in_decimals() -> None:
    found = of.reliability([0.29, 0.57, 0.58, 1.0], [0, 1, 1, 1], bins=100)["bins"]

    assert [each["bin"] for each in found] == [29, 57, 58, 99]  # 0.29 x 100 is 28.999... in floating point


def test_bins_of_equal_count_keep_ties_together() -> None:
    found = of.reliability([0.1, 0.2, 0.2, 0.2, 0.9], [0, 0, 1, 1, 1], bins=5, by="count")

    assert [(each["bin"], each["n"], each["rate"]) for each in found["bins"]] == [(0, 1, 0), (1, 3, 2 / 3), (4, 1, 1)]
    assert found["mce"] == pytest.approx(2 / 3 - 0.2)
    assert found["ece"] == pytest.approx((0.1 + 3 * (2 / 3 - 0.2) + 0.1) / 5)


@pytest.mark.parametrize(
    ("n", "alpha", "rank"), [(9, 0.1, 9), (19, 0.05, 19), (99, 0.1, 90), (18, 0.05, 19), (9, 0.7, 3)]
)
def test_a_conformal_rank_is_exact_in_decimals(n: int, alpha: float, rank: int) -> None:
    found = of.conformal_quantile([each / 100 for each in reversed(range(n))], alpha)

    assert found == {"rank": rank, "threshold": (rank - 1) / 100 if rank <= n else None}


@given(st.lists(st.sampled_from([1, 1, 1, 0, -1]), max_size=40), st.sampled_from([0.5, 0.75, 0.9, 0.95]))
def test_evidence_is_the_mixture_of_its_definition(pairs: list[int], level: float) -> None:
    b = c = 0
    highest, decided = Fraction(1), None
    for at, pair in enumerate(pairs, 1):
        b, c = b + (pair == 1), c + (pair == -1)
        highest = max(highest, Fraction(2 ** (b + c) * factorial(b) * factorial(c), factorial(b + c + 1)))
        if decided is None and 1 / highest <= 1 - Fraction(str(level)):
            decided = at

    evidence = Fraction(2 ** (b + c) * factorial(b) * factorial(c), factorial(b + c + 1))

    found = of.sign_sequence(pairs, level)

    assert found["e"] == pytest.approx(float(evidence))
    assert found["p"] == pytest.approx(float(1 / highest))
    assert (found["decidedAt"], found["b"], found["c"]) == (decided, b, c)


def test_evidence_beyond_every_number_is_the_largest() -> None:
    found = of.sign_sequence([1] * 5000)

    assert (found["e"], found["p"], found["decidedAt"]) == (LARGEST, 0.0, 8)
    back = of.sign_sequence([1] * 2000 + [-1] * 2000)
    assert back["e"] == pytest.approx(float(Fraction(2**4000, comb(4000, 2000) * 4001)))


@pytest.mark.parametrize(
    ("n", "gain", "loss", "alpha"), [(1, "0.5", "0.1", "0.05"), (7, "0.6", "0.2", "0.1"), (9, "0.9", "0.1", "0.125")]
)
def test_power_is_the_sum_over_all_tables(n: int, gain: str, loss: str, alpha: str) -> None:
    g, h = Fraction(gain), Fraction(loss)
    power = Fraction(0)
    for b, c in product(range(n + 1), repeat=2):
        m = b + c
        tail = Fraction(2 * sum(comb(m, x) for x in range(min(b, c) + 1)), 2**m)
        if 0 < m <= n and tail <= Fraction(alpha):
            ways = comb(n, m) * comb(m, b)
            power += ways * g**b * h**c * (1 - g - h) ** (n - m)

    assert of.mcnemar_power(n, float(g), float(h), float(alpha))["power"] == pytest.approx(float(power), abs=1e-12)


def test_figures_that_a_plan_prints() -> None:
    assert of.mcnemar_pairs(0.25, 0.05) == {"pairs": 61}
    assert of.mcnemar_pairs(0.2, 0.1) == {"pairs": 249}
    assert of.mcnemar_pairs(0.2, 0.1, most=248) == {"pairs": None}
    assert of.mcnemar_pairs(0.0, 0.0) == {"pairs": None}
    assert of.mcnemar_power(20, 0.25, 0.05)["power"] == pytest.approx(0.2, abs=0.005)
    for share, cases in ((0.6, 210), (0.65, 97), (0.7, 54), (0.75, 35), (0.8, 23)):
        assert of.binomial_power(cases, share)["power"] >= 0.8
    for held, pull in ((26, 0.85), (28, 0.83)):  # the shipped pairs with one feature, at the strictest of six steps
        half = held // 2
        seen, less = (of.preference_power(half, half, p, 0.05 / 6)["power"] for p in (pull, pull - 0.01))
        assert seen >= 0.8 > less
    assert of.one_sided_bound(17, 20, "low")["bound"] >= 0.6 > of.one_sided_bound(16, 20, "low")["bound"]
    assert of.one_sided_bound(3, 20, "high")["bound"] <= 0.4 < of.one_sided_bound(4, 20, "high")["bound"]
    good = of.rule_power(20, 0.9, 17)["passes"] * of.rule_power(20, 0.9, 17)["passes"]
    assert good == pytest.approx(0.75, abs=0.005)
    assert of.tilt(64, 90)["p"] == pytest.approx(0.044, abs=0.0005)


def test_a_test_at_a_border_that_floating_point_has_exactly() -> None:
    assert of.binomial_power(4, 1.0, 0.125) == {"power": 1.0}
    assert of.binomial_power(4, 1.0, 0.1249) == {"power": 0.0}


def test_newcombes_example_of_independent_rates() -> None:
    """56 of 70 against 48 of 80 (1998, table II)."""
    found = of.difference(56, 70, 48, 80)

    assert (round(found["low"], 4), round(found["high"], 4)) == (0.0524, 0.3339)


def delta_method(table: Sequence[Sequence[int]], measure: Callable[[list[list[float]]], float]) -> float:
    """The large-sample variance of a measure of a table of shares, by differences of it."""
    n = sum(map(sum, table))
    shares = [[count / n for count in row] for row in table]
    slopes = []
    for i, row in enumerate(shares):
        for j, share in enumerate(row):
            moved = [[*each] for each in shares]
            moved[i][j] = share + 1e-6
            up = measure(moved)
            moved[i][j] = share - 1e-6
            slopes.append((share, (up - measure(moved)) / 2e-6))
    mean = sum(share * slope for share, slope in slopes)
    return (sum(share * slope**2 for share, slope in slopes) - mean**2) / n


def test_the_interval_of_kappa_is_that_of_the_delta_method() -> None:
    def measure(shares: list[list[float]]) -> float:
        agreed = sum(shares[i][i] for i in range(3))
        chance = sum(sum(shares[i]) * sum(row[i] for row in shares) for i in range(3))
        return (agreed - chance) / (1 - chance)

    table = [[44, 5, 1], [7, 20, 3], [9, 5, 6]]
    pairs = [(i, j) for i in range(3) for j in range(3) for _ in range(table[i][j])]

    found = of.kappa(pairs)

    reach = 1.959963984540054 * sqrt(delta_method(table, measure))
    assert found["kappa"] == pytest.approx(measure([[count / 100 for count in row] for row in table]))
    assert found["high"] == pytest.approx((found["kappa"] or 0) + reach, abs=1e-6)
    assert found["low"] == pytest.approx((found["kappa"] or 0) - reach, abs=1e-6)


def test_krippendorffs_own_example() -> None:
    """Four coders of twelve units ("Computing Krippendorff's alpha-reliability", 2011, part C)."""
    coders = ["123321412...", "1233224125.3", ".33323422 51.".replace(" ", ""), "1233244125 1.".replace(" ", "")]
    units = [[None if coder[unit] == "." else coder[unit] for coder in coders] for unit in range(12)]

    found = of.alpha(units)

    assert found == {"alpha": pytest.approx(0.743, abs=0.0005), "units": 11}


def chain(limit: int, up: int, down: int, p: Fraction) -> Fraction:
    """The mean run by Gauss's elimination in fractions."""
    rows = [[Fraction(int(i == j)) for j in range(limit)] + [Fraction(1)] for i in range(limit)]
    for state, row in enumerate(rows):
        row[max(0, state - down)] -= 1 - p
        if state + up < limit:
            row[state + up] -= p
    for pivot in range(limit):
        best = next(i for i in range(pivot, limit) if rows[i][pivot])
        rows[pivot], rows[best] = rows[best], rows[pivot]
        rows[pivot] = [each / rows[pivot][pivot] for each in rows[pivot]]
        for i in range(limit):
            if i != pivot and rows[i][pivot]:
                rows[i] = [a - rows[i][pivot] * b for a, b in zip(rows[i], rows[pivot], strict=True)]
    return rows[0][-1]


@pytest.mark.parametrize(
    ("p", "p0", "p1", "limit"), [(0.4, 0.5, 0.6, 40), (0.5, 0.5, 0.6, 40), (0.5, 0.6, 0.5, 40), (1.0, 0.5, 0.6, 40)]
)
def test_a_mean_run_solves_the_equations_of_its_chain(p: float, p0: float, p1: float, limit: int) -> None:
    event, none = (18, -22) if p1 > p0 else (-18, 22)
    rises, up, down = (Fraction(p), event, -none) if event > 0 else (1 - Fraction(p), none, -event)

    found = of.cusum_run(p, p0, p1, limit)["cases"]

    assert found == pytest.approx(float(chain(limit, up, down, rises)), rel=1e-12)


def test_runs_that_a_plan_prints_and_runs_without_an_end() -> None:
    assert of.cusum_run(0.1, 0.1, 0.2, 400)["cases"] == pytest.approx(2154, abs=0.5)
    assert of.cusum_run(0.2, 0.1, 0.2, 400)["cases"] == pytest.approx(78, abs=0.5)
    assert of.cusum_run(0.0, 0.1, 0.2, 400) == {"cases": None}
    assert of.cusum_run(1.0, 0.1, 0.2, 70) == {"cases": 2.0}
    assert of.cusum_run(1e-200, 0.1, 0.2, 400) == {"cases": None}


def test_a_chart_that_looks_for_a_lower_rate() -> None:
    assert of.cusum([0] * 30, 0.9, 0.5, 300)["alarmAt"] == 20
    assert of.cusum([1] * 30, 0.9, 0.5, 300) == {"alarmAt": None, "last": 0, "highest": 0}


def test_a_period_without_a_case_moves_nothing() -> None:
    with_gap = of.ewma([[9, 30], [0, 0], [12, 30]], 0.3, fewest=0)
    without = of.ewma([[9, 30], [12, 30]], 0.3, fewest=0)

    assert with_gap["points"][1] is None
    assert [point for point in with_gap["points"] if point] == without["points"]


def test_majorities() -> None:
    assert of.majority(["a", "b", "a", None]) == {"answer": "a", "cast": 3, "seats": 4, "tied": False}
    assert of.majority(["a", "b", None]) == {"answer": None, "cast": 2, "seats": 3, "tied": True}
    assert of.majority(["a", "a", "b", "b", "c"]) == {"answer": None, "cast": 5, "seats": 5, "tied": True}


def lifted(first: int, second: int, both: int, **asked: Any) -> str:
    return of.lift([[1, 0]] * first + [[0, 1]] * second + [[1, 1]] * both, **asked)["finding"]


def test_a_lift_needs_its_test_its_interval_and_its_margin() -> None:
    assert lifted(12, 1, 20) == "better"
    assert lifted(1, 12, 20) == "worse"
    assert lifted(12, 6, 20) == "inconclusive"
    assert lifted(12, 1, 20, adjusted=0.06) == "inconclusive"
    assert lifted(12, 1, 20, margin=0.34) == "inconclusive"
    assert lifted(12, 1, 20, margin=0.33) == "better"
    assert lifted(12, 1, 20, alpha=0.003) == "inconclusive"


def test_a_missing_answer_is_wrong_and_too_many_decide_nothing() -> None:
    items: list[tuple[int | None, int | None]] = [*[(1, 0)] * 15, (1, None), *[(1, 1)] * 4]

    assert of.lift(items)["finding"] == "better"
    assert of.lift([*items[:-1], (1, None)])["finding"] == "inconclusive"
    found = of.lift([[1, None], [None, 1], [0, 0]])
    assert (found["firstAlone"], found["secondAlone"], found["missing"]) == (1, 1, [1, 1])
    assert found["range"] == pytest.approx([-1 / 3, 1 / 3])


def test_groups_that_all_say_the_same_are_one_word_each() -> None:
    items = [[1, 0]] * 40 + [[1, 1]] * 40

    alike = of.lift(items, groups=[each // 20 for each in range(80)])
    apart = of.lift(items, groups=[each % 20 for each in range(80)])

    assert (alike["finding"], alike["groups"] and alike["groups"]["firstAhead"]) == ("inconclusive", 2)
    assert (apart["finding"], apart["groups"] and apart["groups"]["n"]) == ("better", 20)
    assert of.lift(items, groups=list(range(80)))["groups"] is None


def test_what_the_gate_would_have_done() -> None:
    case = {"confidence": 0.9, "hedged": False, "downsideMicroUSD": 1000, "thresholdMicroUSD": 20, "costMicroUSD": 7}

    def debates(factor: float = 10, floor: float = 0.8, certain: int | None = 2000, **other: Any) -> int:
        return of.gate_proposal([{**case, **other}], factor, floor, certain)["debates"]

    assert debates() == 0
    assert debates(confidence=None) == debates(confidence=0.79) == debates(hedged=True) == debates(certain=999) == 1
    assert debates(confidence=0.8) == debates(certain=1000) == debates(certain=None) == 0
    assert debates(factor=50, hedged=True) == 0
    assert debates(factor=49.9, hedged=True) == 1
    assert of.gate_proposal([{**case, "hedged": True}] * 3, 1, 0.5, None) == {"debates": 3, "costMicroUSD": 21, "n": 3}


@pytest.mark.parametrize(
    ("mended", "broken", "debated", "finding", "factor"),
    [
        (6, 0, 49, "notEnough", None),
        (6, 0, 50, "proposed", pytest.approx(100 / 7)),
        (3, 0, 50, "notEnough", None),
        (3, 3, 50, "unproven", None),
        (0, 9, 80, "unproven", None),
        (49, 0, 50, "proposed", 10.0),
        (400, 300, 999_000, "proposed", 200.0),
    ],
)
def test_a_factor_is_proposed_from_what_debates_mend(
    mended: int, broken: int, debated: int, finding: str, factor: Any
) -> None:
    found = of.mending(mended, broken, debated)

    assert (found["finding"], found["factor"]) == (finding, factor)
    assert found["share"] == pytest.approx((mended - broken + 1) / (debated + 50))


def test_what_declined_cases_cost_by_their_chances() -> None:
    def case(chance: float, wrong: int, downside: int) -> dict[str, Any]:
        return {"chance": chance, "wrong": wrong, "downsideMicroUSD": downside}

    unlike = of.declined_loss([case(0.1, 1, 100), case(0.5, 0, 7), case(0.5, 1, 3)])
    assert unlike == {"rate": 12 / 14, "low": None, "high": None, "population": 14.0, "lossMicroUSD": 1006.0, "n": 3}
    alike = of.declined_loss([case(0.05, each % 5 == 0, 10) | {"wrong": int(each % 5 == 0)} for each in range(20)])
    exact = of.clopper_pearson(4, 20)
    assert (alike["rate"], alike["low"], alike["high"]) == (exact["rate"], exact["low"], exact["high"])
    assert (alike["population"], alike["lossMicroUSD"]) == (400.0, 800.0)


def test_the_lowest_safe_confidence_is_the_one_before_the_first_that_fails() -> None:
    confidence = [0.9] * 60 + [0.8] * 60 + [0.7] * 60
    wrong = [0] * 60 + [0] * 59 + [1] + [1] * 60

    found = of.safe_threshold(confidence, wrong, [0.7, 0.9, 0.8, 0.6, 0.9], 0.1)

    assert found["threshold"] == 0.8
    assert [each["threshold"] for each in found["tried"]] == [0.9, 0.8, 0.7]
    assert [(each["n"], each["wrong"]) for each in found["tried"]] == [(60, 0), (120, 1), (180, 61)]


def test_arms_that_spend_alike_do_so_in_decimals() -> None:
    assert of.equal_spend({"debate": 10, "vote": 11})["equal"] is True
    assert of.equal_spend({"debate": 10, "vote": 9})["equal"] is True
    assert of.equal_spend({"debate": 1000, "vote": 1101})["equal"] is False
    assert of.equal_spend({"debate": 1000, "vote": 899}) == {"ratios": {"debate": 1.0, "vote": 0.899}, "equal": False}


def test_slots_are_counted_by_what_stayed_the_same() -> None:
    pairs = [("first", "second"), ("none", "none"), ("first", "first"), ("second", "second"), ("none", "first")]
    found = of.order_swaps(pairs)

    assert (found["consistent"], found["firstTwice"], found["secondTwice"], found["oneUndecided"]) == (2, 1, 1, 1)
    assert of.order_swaps([("first", "first")] * 6)["p"] == pytest.approx(1 / 32)


def test_findings_of_a_tilt() -> None:
    assert [of.tilt(*each)["finding"] for each in ((22, 0), (23, 0), (12, 11), (12, 10, 5))] == [
        "notEnough",
        "tilt",
        "noneSeen",
        "notEnough",
    ]


def test_adjustments_of_a_known_family() -> None:
    p = [0.01, 0.04, 0.03, 0.005]

    assert of.holm(p)["adjusted"] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert of.benjamini_hochberg(p)["adjusted"] == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_a_thousand_million_cases_are_answered() -> None:
    """A sum over all their outcomes would take hours."""
    n = 10**9
    assert of.rate_sequence(isqrt(n), n)["high"] < 1e-4
    assert of.mcnemar(n // 2, n // 2)["p"] == 1.0
    assert of.fisher(n, n, n, n)["p"] == 1.0
