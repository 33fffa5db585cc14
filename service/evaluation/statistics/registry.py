"""Every statistic by its name, from JSON to JSON: what ``gainsay evaluate statistic`` and a verifier call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any

from service.errors import did_you_mean
from service.evaluation.statistics import (
    arms,
    calibration,
    differences,
    drift,
    exact_tests,
    gate,
    judges,
    power,
    rates,
    resampling,
)
from service.evaluation.statistics.reading import StatisticRefused, shown

Statistic = Callable[..., Mapping[str, Any]]

_ALL: tuple[Statistic, ...] = (
    rates.wilson,
    rates.clopper_pearson,
    rates.one_sided_bound,
    rates.rate_sequence,
    rates.mean_t,
    exact_tests.binomial,
    exact_tests.mcnemar,
    exact_tests.fisher,
    exact_tests.holm,
    exact_tests.benjamini_hochberg,
    exact_tests.sign_sequence,
    differences.paired_difference,
    differences.difference,
    power.mcnemar_power,
    power.mcnemar_pairs,
    power.binomial_power,
    power.preference_power,
    power.rule_power,
    judges.signal_detection,
    judges.tilt,
    judges.order_swaps,
    differences.preference,
    judges.kappa,
    judges.alpha,
    calibration.brier,
    calibration.reliability,
    calibration.spiegelhalter,
    calibration.auroc,
    resampling.bootstrap_mean,
    calibration.ece_if_calibrated,
    gate.conformal_quantile,
    gate.safe_threshold,
    gate.mending,
    gate.declined_loss,
    gate.gate_proposal,
    arms.equal_spend,
    arms.majority,
    arms.lift,
    drift.cusum,
    drift.cusum_run,
    drift.ewma,
)
STATISTICS: Mapping[str, Statistic] = {each.__name__: each for each in _ALL}
"""Each statistic's function, in the order of docs/evaluation.md. A member of its input is a parameter of that name."""


def compute(name: str, given: object) -> dict[str, Any]:
    """The output of a statistic for an input, both as JSON values; undefined is ``None``.

    Raises `StatisticRefused`, and nothing else, for what is no input.
    """
    if (function := STATISTICS.get(name)) is None:
        meant = did_you_mean(name, STATISTICS) if len(name) <= 60 else ""
        raise StatisticRefused(f"there is no statistic {shown(name)}{meant}")
    if not isinstance(given, Mapping):
        raise StatisticRefused(f"the input of {name} must be an object, found {shown(given)}")
    required, known = parameters(name)
    missing = [each for each in required if each not in given]
    unknown = [each for each in given if each not in known]
    if missing or unknown:
        faults = [f"the input of {name} lacks {', '.join(missing)}"] if missing else []
        faults += [f"{name} takes no {', '.join(map(shown, unknown))}, only {', '.join(known)}"] if unknown else []
        raise StatisticRefused("; ".join(faults))
    return dict(function(**given))


@cache
def parameters(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members that an input of a statistic must have, and all that it may have."""
    found = signature(STATISTICS[name]).parameters.values()
    return tuple(each.name for each in found if each.default is each.empty), tuple(each.name for each in found)
