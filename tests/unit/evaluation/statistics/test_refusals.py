"""What is no input of a statistic is refused with a sentence that says what was expected and what was found."""

from __future__ import annotations

from typing import Any

import pytest

from service.evaluation.statistics import STATISTICS, StatisticRefused, compute
from service.evaluation.statistics.reading import shown
from service.evaluation.statistics.registry import parameters

NAN, INFINITE = float("nan"), float("inf")
CASE = {"chance": 0.5, "wrong": 0, "downsideMicroUSD": 1}
RECORDED = {"confidence": 0.5, "hedged": False, "downsideMicroUSD": 1, "thresholdMicroUSD": 1, "costMicroUSD": 1}
GATE: dict[str, Any] = {"cases": [], "factor": 1, "floor": 0.5, "certain_micro_usd": 1}
TRIED: dict[str, Any] = {"confidence": [], "wrong": [], "candidates": [], "most": 0.1}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("wilson", {"k": 5, "n": 4}, "5 of 4 is no rate"),
    ("wilson", {"k": -1, "n": 4}, "a count must be a whole number from 0, found -1"),
    ("wilson", {"k": 1.0, "n": 4}, "whole number from 0, found 1.0"),
    ("wilson", {"k": True, "n": 4}, "whole number from 0, found True"),
    ("wilson", {"k": "1", "n": 4}, "whole number from 0, found '1'"),
    ("wilson", {"k": None, "n": 4}, "whole number from 0, found None"),
    ("wilson", {"k": 1, "n": NAN}, "whole number from 0, found nan"),
    ("wilson", {"k": 1, "n": 10**9 + 1}, "at most 1,000,000,000, found 1000000001"),
    ("wilson", {"k": 1, "n": 10**5000}, "at most 1,000,000,000, found a number that is too long to show"),
    ("wilson", {"k": 1, "n": 4, "level": 1}, "level must lie between 0 and 1, found 1"),
    ("wilson", {"k": 1, "n": 4, "level": NAN}, "level must lie between 0 and 1, found nan"),
    ("wilson", {"k": 1, "n": 4, "level": True}, "level must lie between 0 and 1, found True"),
    ("wilson", {"k": 1}, "the input of wilson lacks n"),
    ("wilson", {"n": 1, "m": 1}, "the input of wilson lacks k; wilson takes no 'm', only k, n, level"),
    ("one_sided_bound", {"k": 1, "n": 4, "side": "left"}, "side must be low or high, found 'left'"),
    ("one_sided_bound", {"k": 1, "n": 4, "side": ["low"]}, "side must be low or high, found ['low']"),
    ("mean_t", {"values": 3}, "values must be a list, found 3"),
    ("mean_t", {"values": [1, "a"]}, "each of values must be a number from -1e100 to 1e100, found 'a'"),
    ("mean_t", {"values": [INFINITE]}, "found inf"),
    ("mean_t", {"values": [True]}, "found True"),
    ("mean_t", {"values": [10**400]}, "each of values must be a number"),
    ("binomial", {"k": 1, "n": 2, "p": -0.1}, "p must be from 0 to 1, found -0.1"),
    ("mcnemar", {"b": -1, "c": 3}, "found -1"),
    ("fisher", {"a": 1, "b": 1, "c": 1, "d": 0.5}, "found 0.5"),
    ("holm", {"p": [0.1, 1.2]}, "p must be from 0 to 1, found 1.2"),
    ("benjamini_hochberg", {"p": [NAN]}, "p must be from 0 to 1, found nan"),
    ("sign_sequence", {"pairs": [2]}, "a pair is -1, 0 or 1, found 2"),
    ("sign_sequence", {"pairs": [True]}, "a pair is -1, 0 or 1, found True"),
    ("paired_difference", {"both": 10**9, "first": 1, "second": 0, "neither": 0}, "at most 1,000,000,000"),
    ("difference", {"k1": 1, "n1": 1, "k2": 2, "n2": 1}, "2 of 1 is no rate"),
    ("preference", {"favoured_right": [1], "other_right": [0, 1]}, "favoured_right must be a list of two, found [1]"),
    ("mcnemar_power", {"n": 10, "gain": 0.7, "loss": 0.7}, "gain + loss must be from 0 to 1, found 1.4"),
    ("mcnemar_power", {"n": 20_001, "gain": 0.2, "loss": 0.1}, "n must be at most 20,000"),
    ("mcnemar_pairs", {"gain": 0.2, "loss": 0.1, "most": 5001}, "most must be at most 5,000"),
    ("mcnemar_pairs", {"gain": 0.2, "loss": 0.1, "power": 1.0}, "power must lie between 0 and 1, found 1.0"),
    ("binomial_power", {"n": 1, "p": 0.5, "alpha": 0}, "alpha must lie between 0 and 1, found 0"),
    ("preference_power", {"favoured": 1_001, "other": 1, "p": 0.5}, "favoured must be at most 1,000"),
    ("preference_power", {"favoured": 1, "other": 1, "p": 1.5}, "p must be from 0 to 1, found 1.5"),
    ("rule_power", {"n": 1, "p": 0.5, "least": -1}, "least must be a whole number from 0, found -1"),
    ("signal_detection", {"hits": 1, "misses": 0, "false_alarms": 0}, "lacks correct_rejections"),
    ("tilt", {"first": 1, "second": 1, "fewest": 0.5}, "fewest must be a whole number from 0, found 0.5"),
    ("order_swaps", {"pairs": [["left", "right"]]}, "a slot is first, second or none, found ['left', 'right']"),
    ("order_swaps", {"pairs": [["first"]]}, "a slot is first, second or none, found ['first']"),
    ("kappa", {"pairs": [["a"]]}, "a pair of marks must be a list of two, found ['a']"),
    ("kappa", {"pairs": [["a", None]]}, "a mark must be a text or a whole number, found None"),
    ("kappa", {"pairs": [["a", "\ud800"]]}, "lone surrogate"),
    ("alpha", {"units": ["ab"]}, "a unit must be a list, found 'ab'"),
    ("brier", {"p": [0.2], "y": [0, 1]}, "1 probabilities and 2 outcomes"),
    ("brier", {"p": [0.2], "y": [2]}, "y must hold 0 and 1 only, found 2"),
    ("brier", {"p": [0.2], "y": [True]}, "y must hold 0 and 1 only, found True"),
    ("reliability", {"p": [], "y": [], "bins": 0}, "bins must be a whole number from 1, found 0"),
    ("reliability", {"p": [], "y": [], "by": "size"}, "by must be width or count, found 'size'"),
    ("spiegelhalter", {"p": [1.2], "y": [1]}, "a probability must be from 0 to 1, found 1.2"),
    ("auroc", {"p": [0.5], "y": "1"}, "y must be a list, found '1'"),
    ("bootstrap_mean", {"values": [1.0], "groups": ["x", "y"]}, "1 values and 2 groups"),
    ("bootstrap_mean", {"values": [1.0], "groups": [0.5]}, "a group must be a text or a whole number, found 0.5"),
    ("bootstrap_mean", {"values": [1.0], "seed": 7}, "seed must be a text, found 7"),
    ("bootstrap_mean", {"values": [1.0], "resamples": 0}, "resamples must be a whole number from 1, found 0"),
    ("bootstrap_mean", {"values": [0] * 2000, "resamples": 100_000}, "more than 100,000,000 draws; ask for fewer"),
    ("ece_if_calibrated", {"p": [1.1]}, "a probability must be from 0 to 1, found 1.1"),
    ("conformal_quantile", {"scores": [0.5], "alpha": 0.0}, "alpha must lie between 0 and 1, found 0.0"),
    ("safe_threshold", TRIED | {"confidence": [0.5]}, "1 confidences and 0 outcomes"),
    ("safe_threshold", TRIED | {"candidates": [0.5] * 1001}, "candidates must have at most 1,000 items, found 1,001"),
    ("safe_threshold", TRIED | {"candidates": [2]}, "a candidate must be from 0 to 1"),
    ("mending", {"mended": 3, "broken": 0, "debated": 2}, "3 mended and 0 broken of 2"),
    ("declined_loss", {"cases": [CASE | {"chance": 0}]}, "could not be drawn cannot be in the sample"),
    ("declined_loss", {"cases": [CASE | {"chance": 1e-10}]}, "a chance must be at least 1e-09, found 1e-10"),
    ("declined_loss", {"cases": [CASE | {"wrong": None}]}, "wrong must hold 0 and 1 only, found None"),
    ("declined_loss", {"cases": [CASE | {"downsideMicroUSD": 10**19}]}, "downsideMicroUSD must be at most"),
    ("declined_loss", {"cases": [{"chance": 1, "why": 1}]}, "a case lacks wrong, downsideMicroUSD; a case has unknown"),
    ("declined_loss", {"cases": [3]}, "a case must be an object, found 3"),
    ("gate_proposal", GATE | {"factor": -1}, "factor must be a number from 0"),
    ("gate_proposal", GATE | {"cases": [RECORDED | {"hedged": 1}]}, "hedged must be true or false, found 1"),
    ("equal_spend", {"spent_micro_usd": {"vote": 1}}, "must be an object with debate, found {'vote': 1}"),
    ("equal_spend", {"spent_micro_usd": {"debate": 0.5}}, "the spend of 'debate' must be a whole number"),
    ("majority", {"votes": [["a"]]}, "a vote must be a text or a whole number, found ['a']"),
    ("lift", {"items": [[1, 2]]}, "an item is two of 0, 1 and null, found [1, 2]"),
    ("lift", {"items": [[1, True]]}, "an item is two of 0, 1 and null, found [1, True]"),
    ("lift", {"items": [[1, 1]], "groups": []}, "1 items and 0 groups"),
    ("lift", {"items": [], "margin": -0.1}, "margin must be from 0 to 1, found -0.1"),
    ("cusum", {"events": [1], "p0": 0.0, "p1": 0.2, "limit": 300}, "p0 must lie between 0 and 1, found 0.0"),
    ("cusum", {"events": [1], "p0": 0.2, "p1": 0.2, "limit": 300}, "choose rates further apart"),
    ("cusum_run", {"p": 0.5, "p0": 1e-6, "p1": 0.9, "limit": 10**6}, "choose a lower limit or nearer rates"),
    ("ewma", {"counts": [[30, 20]], "p0": 0.3}, "30 of 20 is no rate"),
    ("ewma", {"counts": [[1, 20]], "p0": 0.3, "weight": 0}, "weight and width must be above 0, found 0 and 3.0"),
    ("ewma", {"counts": [7], "p0": 0.3}, "a period must be a list of two, found 7"),
]


@pytest.mark.parametrize(("name", "given", "words"), REFUSED, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(REFUSED)])
def test_what_is_no_input_is_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(StatisticRefused) as refused:
        compute(name, given)

    assert words in refused.value.detail
    assert len(refused.value.detail) < 400


def test_each_statistic_refuses_something() -> None:
    assert {name for name, _, _ in REFUSED} | {"clopper_pearson", "rate_sequence"} == set(STATISTICS)


@pytest.mark.parametrize("name", STATISTICS)
def test_an_input_that_is_no_object_or_has_other_members_is_refused(name: str) -> None:
    given: Any
    for given in ([], "k", 3, None):
        with pytest.raises(StatisticRefused, match="must be an object"):
            compute(name, given)
    with pytest.raises(StatisticRefused, match="takes no 'unknown'") as refused:
        compute(name, {"unknown": 1})
    assert all(each in refused.value.detail for each in parameters(name)[0])


def test_a_name_that_there_is_not_is_answered_with_the_nearest() -> None:
    with pytest.raises(StatisticRefused, match="did you mean 'clopper_pearson'"):
        compute("clopper_person", {})
    with pytest.raises(StatisticRefused, match="there is no statistic"):
        compute("x" * 10_000, {})


def test_a_list_that_is_too_long_is_refused() -> None:
    with pytest.raises(StatisticRefused, match="at most 1,000,000 items, found 1,000,001"):
        compute("holm", {"p": [0] * 1_000_001})


def test_a_value_in_a_message_is_short() -> None:
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]

    assert all(len(shown(each)) < 200 for each in ("x" * 10**6, [1] * 10**6, deep, {"a" * 900: deep}, 10**4000))
