"""What holds for any input: swapping arms changes signs alone, intervals hold their rate, evidence moves one way."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.statistics import (
    STATISTICS,
    StatisticRefused,
    alpha,
    auroc,
    benjamini_hochberg,
    binomial,
    bootstrap_mean,
    brier,
    clopper_pearson,
    compute,
    difference,
    fisher,
    holm,
    kappa,
    lift,
    mcnemar,
    mean_t,
    one_sided_bound,
    paired_difference,
    rate_sequence,
    reliability,
    rule_power,
    sign_sequence,
    signal_detection,
    spiegelhalter,
    tilt,
    wilson,
)
from service.evaluation.statistics.registry import parameters

COUNT = st.integers(0, 400) | st.integers(0, 10**9)
RATE = st.tuples(COUNT, COUNT).map(sorted).map(tuple)
LEVEL = st.floats(1e-6, 1 - 1e-9)
SHARE = st.floats(0, 1)
TABLE = st.tuples(*4 * [st.integers(0, 300)])
ITEM = st.tuples(*2 * [st.sampled_from([0, 1, None])])
FORECASTS = st.lists(st.tuples(SHARE | st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.integers(0, 1)), max_size=40)
ROUNDING = 1e-12


@given(RATE, LEVEL)
def test_every_interval_of_a_rate_holds_it_and_lies_between_0_and_1(rate: tuple[int, int], level: float) -> None:
    k, n = rate
    for interval in (wilson, clopper_pearson, rate_sequence):
        found = interval(k, n, level)
        seen = found["rate"] if found["rate"] is not None else 0.5

        assert 0 <= found["low"] <= seen + ROUNDING
        assert seen - ROUNDING <= found["high"] <= 1
        assert (found["rate"] is None) is (n == 0)


@given(RATE, LEVEL)
def test_a_rate_and_its_complement_have_mirrored_intervals(rate: tuple[int, int], level: float) -> None:
    k, n = rate
    for interval in (wilson, clopper_pearson, rate_sequence):
        one, other = interval(k, n, level), interval(n - k, n, level)

        assert abs(one["low"] - (1 - other["high"])) < 1e-9


@given(RATE, st.floats(0.01, 0.98), st.floats(0.001, 0.0199))
def test_a_higher_level_has_a_wider_interval(rate: tuple[int, int], level: float, more: float) -> None:
    for interval in (wilson, clopper_pearson, rate_sequence):
        narrow, wide = interval(*rate, level), interval(*rate, level + more)

        assert wide["low"] <= narrow["low"] + ROUNDING
        assert wide["high"] >= narrow["high"] - ROUNDING


@given(st.integers(1, 10**6), st.data(), st.floats(0.5, 0.999))
def test_one_more_success_moves_each_bound_up(n: int, data: st.DataObject, level: float) -> None:
    k = data.draw(st.integers(0, n - 1))

    for side in ("low", "high"):
        assert one_sided_bound(k, n, side, level)["bound"] <= one_sided_bound(k + 1, n, side, level)["bound"]


@given(RATE, LEVEL)
def test_a_two_sided_interval_has_the_bounds_of_two_one_sided_ones(rate: tuple[int, int], level: float) -> None:
    both = clopper_pearson(*rate, level)
    single = (1 + level) / 2

    assert abs(both["low"] - one_sided_bound(*rate, "low", single)["bound"]) < 1e-7
    assert abs(both["high"] - one_sided_bound(*rate, "high", single)["bound"]) < 1e-7


@given(TABLE, st.floats(0.5, 0.99))
def test_swapping_paired_arms_changes_signs_alone(table: tuple[int, int, int, int], level: float) -> None:
    both, first, second, neither = table
    one = paired_difference(both, first, second, neither, level)
    other = paired_difference(both, second, first, neither, level)

    assert (one["difference"] or 0) == -(other["difference"] or 0)
    assert abs(one["low"] + other["high"]) < ROUNDING
    assert one["low"] <= (one["difference"] or 0) <= one["high"]


@given(RATE, RATE)
def test_swapping_independent_arms_changes_signs_alone(first: tuple[int, int], second: tuple[int, int]) -> None:
    one, other = difference(*first, *second), difference(*second, *first)

    assert (one["difference"] or 0) == -(other["difference"] or 0)
    assert abs(one["low"] + other["high"]) < ROUNDING
    assert abs(one["p"] - other["p"]) < 1e-9
    assert one["n"] == other["n"][::-1]


@given(st.lists(ITEM, max_size=40), st.lists(st.integers(0, 6), min_size=40, max_size=40), st.floats(0.01, 0.3))
def test_swapping_the_arms_of_a_lift_changes_signs_alone(items: list[Any], groups: list[int], alpha: float) -> None:
    mirrored = {"better": "worse", "worse": "better", "inconclusive": "inconclusive"}
    given_: dict[str, Any] = {"groups": groups[: len(items)], "alpha": alpha, "missing_limit": 0.4, "resamples": 40}
    one, other = lift(items, **given_), lift([pair[::-1] for pair in items], **given_)

    assert other["finding"] == mirrored[one["finding"]]
    assert (one["p"], one["firstAlone"]) == (other["p"], other["secondAlone"])
    assert one["missing"] == other["missing"][::-1]
    assert abs(one["low"] + other["high"]) < ROUNDING
    if one["range"] and other["range"]:
        assert one["range"] == [-each for each in reversed(other["range"])]
        assert one["range"][0] <= (one["difference"] or 0) <= one["range"][1]


@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=60))
def test_swapping_the_arms_of_a_sequence_changes_nothing_but_counts(pairs: list[int]) -> None:
    one, other = sign_sequence(pairs), sign_sequence([-pair for pair in pairs])

    assert (one["e"], one["p"], one["decidedAt"]) == (other["e"], other["p"], other["decidedAt"])
    assert (one["b"], one["c"]) == (other["c"], other["b"])


@given(TABLE)
def test_tests_do_not_care_for_the_order_of_their_arms(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table

    assert mcnemar(a, b) == mcnemar(b, a)
    assert mcnemar(a, b)["midP"] <= mcnemar(a, b)["p"]
    for other in ((c, d, a, b), (b, a, d, c), (a, c, b, d)):
        assert abs(fisher(a, b, c, d)["p"] - fisher(*other)["p"]) < 1e-9
    assert tilt(a, b)["p"] == tilt(b, a)["p"]
    assert tilt(a, b)["finding"] == tilt(b, a)["finding"]


@given(RATE, SHARE)
def test_a_p_value_is_a_chance_and_the_likeliest_outcome_has_1(rate: tuple[int, int], p: float) -> None:
    k, n = rate
    mode = min(n, int((n + 1) * p))

    assert 0 <= binomial(k, n, p)["p"] <= 1
    assert binomial(mode, n, p)["p"] > 0.999 or n > 400


@given(TABLE)
def test_more_hits_raise_d_and_more_alarms_lower_it(table: tuple[int, int, int, int]) -> None:
    hits, misses, alarms, quiet = table
    base = signal_detection(hits, misses + 1, alarms, quiet + 1)["dPrime"]
    better = signal_detection(hits + 1, misses, alarms, quiet + 1)["dPrime"]
    worse = signal_detection(hits, misses + 1, alarms + 1, quiet)["dPrime"]

    assert base is not None
    assert better is not None
    assert worse is not None
    assert worse < base < better


@given(st.lists(SHARE, max_size=40))
def test_adjusted_values_keep_their_order_and_only_grow(p: list[float]) -> None:
    any_false, share_false = holm(p)["adjusted"], benjamini_hochberg(p)["adjusted"]

    for raw, strict, mild in zip(p, any_false, share_false, strict=True):
        assert raw - ROUNDING <= mild <= strict + ROUNDING
        assert strict <= 1
    for adjusted in (any_false, share_false):
        ordered = [each for _, each in sorted(zip(p, adjusted, strict=True))]
        assert ordered == sorted(ordered)


@given(FORECASTS)
def test_the_parts_of_a_score_add_up(forecasts: list[tuple[float, int]]) -> None:
    found = brier([p for p, _ in forecasts], [y for _, y in forecasts])
    if found["score"] is None:
        assert forecasts == []
        return
    assert found["reliability"] is not None
    assert found["resolution"] is not None
    assert found["uncertainty"] is not None
    assert abs(found["score"] - (found["reliability"] - found["resolution"] + found["uncertainty"])) < 1e-9


@given(FORECASTS, st.integers(1, 20), st.sampled_from(["width", "count"]))
def test_bins_hold_every_case_once_in_the_order_of_probability(
    forecasts: list[tuple[float, int]], bins: int, by: str
) -> None:
    p, y = [p for p, _ in forecasts], [y for _, y in forecasts]
    found = reliability(p, y, bins, by)["bins"]

    assert sum(each["n"] for each in found) == len(p)
    assert [each["bin"] for each in found] == sorted({each["bin"] for each in found})
    assert all(0 <= each["bin"] < bins and each["low"] <= each["rate"] <= each["high"] for each in found)
    means = [each["p"] for each in found]
    assert means == sorted(means)


@given(FORECASTS)
def test_the_other_outcome_mirrors_what_separates_them(forecasts: list[tuple[float, int]]) -> None:
    p, y = [p for p, _ in forecasts], [y for _, y in forecasts]
    one, other = auroc(p, y)["auroc"], auroc(p, [1 - each for each in y])["auroc"]

    if one is None or other is None:
        assert one is other is None
        assert len(set(y)) < 2
    else:
        assert abs(one + other - 1) < ROUNDING
    z = spiegelhalter(p, y)
    assert (z["z"] is None) is (z["p"] is None) is all(each in (0, 0.5, 1) for each in p)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=30), st.integers(-1000, 1000), st.floats(0.5, 0.99))
def test_a_mean_moves_with_its_values(values: list[int], shift: int, level: float) -> None:
    one, other = mean_t(values, level), mean_t([value + shift for value in values], level)
    for key in ("mean", "low", "high"):
        assert abs((other[key] or 0) - (one[key] or 0) - shift) < 1e-6
    again = bootstrap_mean(values, seed="s", resamples=50)
    moved = bootstrap_mean([value + shift for value in values], seed="s", resamples=50)
    assert abs((moved["low"] or 0) - (again["low"] or 0) - shift) < 1e-6


@given(st.lists(st.tuples(*2 * [st.sampled_from("abc")]), max_size=40))
def test_agreement_does_not_care_who_is_first_nor_how_marks_are_called(pairs: list[tuple[str, str]]) -> None:
    one, other = kappa(pairs), kappa([pair[::-1] for pair in pairs])
    names: dict[str, str | int] = {"a": 7, "b": "x", "c": "y"}
    renamed = alpha([[names[each] for each in pair] for pair in pairs])

    assert (one["kappa"], one["agreement"]) == (other["kappa"], other["agreement"])
    assert renamed == alpha(pairs)
    assert -1 <= (one["kappa"] or 0) <= 1


@given(st.integers(0, 300), SHARE, st.integers(0, 300))
def test_a_rule_that_asks_for_more_passes_less_often(n: int, p: float, least: int) -> None:
    assert rule_power(n, p, least + 1)["passes"] <= rule_power(n, p, least)["passes"] <= 1


ANY_NUMBER = st.integers() | st.floats() | st.sampled_from([0, 1, 0.0, 1.0, 5e-324, 1e308, -1, 10**30, 10**400, True])
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | ANY_NUMBER | st.text(max_size=5) | st.sampled_from(["first", "width", "debate"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["debate", "chance", ""]), inner),
    max_leaves=8,
)
LIKELY = st.sampled_from(
    [
        0,
        1,
        2,
        5,
        0.0,
        0.5,
        0.95,
        1.0,
        None,
        [],
        [0, 1],
        [0.5, 0.25],
        [[0, 1]],
        [["a", "b"]],
        "low",
        "count",
        {"debate": 1},
    ]
)


@given(st.sampled_from(sorted(STATISTICS)), st.data())
def test_any_input_is_answered_in_json_or_refused_with_a_sentence(name: str, data: st.DataObject) -> None:
    required, known = parameters(name)
    optional = data.draw(st.sets(st.sampled_from(known)))
    given_ = {each: data.draw(LIKELY | ANY_VALUE) for each in known if each in required or each in optional}
    found, sentence = answered(name, given_)

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found is None) is (len(sentence.split()) > 2)
    assert len(sentence) < 400


def answered(name: str, given_: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    try:
        return compute(name, given_), ""
    except StatisticRefused as refused:
        return None, refused.detail
