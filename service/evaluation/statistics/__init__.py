"""Statistics of evaluations: JSON in, JSON out, the same for every figure of every report.

`compute(name, input)` gives the output of a statistic by its name. Each is a typed function too, whose parameters and
results are the members of its JSON. Undefined is ``None``, never 0; what is no input raises `StatisticRefused`. Counts
are exact; numbers agree with their definitions to 1e-9. docs/evaluation.md says what each is for.

    rates         rates and means with their intervals
    exact_tests   exact tests, adjustments, evidence after every pair
    differences   differences of two rates, paired or not
    power         the power of a plan beforehand
    judges        critics, moderators, raters
    calibration   probabilities against what happened
    resampling    means by resampling, of values or whole groups
    gate          thresholds of the gate
    arms          spend, votes, lift
    drift         charts over time
"""

from service.evaluation.statistics.arms import equal_spend, lift, majority
from service.evaluation.statistics.calibration import auroc, brier, ece_if_calibrated, reliability, spiegelhalter
from service.evaluation.statistics.differences import difference, paired_difference, preference
from service.evaluation.statistics.drift import cusum, cusum_run, ewma
from service.evaluation.statistics.exact_tests import benjamini_hochberg, binomial, fisher, holm, mcnemar, sign_sequence
from service.evaluation.statistics.gate import (
    conformal_quantile,
    declined_loss,
    gate_proposal,
    mending,
    safe_threshold,
)
from service.evaluation.statistics.judges import alpha, kappa, order_swaps, signal_detection, tilt
from service.evaluation.statistics.power import (
    binomial_power,
    mcnemar_pairs,
    mcnemar_power,
    preference_power,
    rule_power,
)
from service.evaluation.statistics.rates import clopper_pearson, mean_t, one_sided_bound, rate_sequence, wilson
from service.evaluation.statistics.reading import StatisticRefused
from service.evaluation.statistics.registry import STATISTICS, compute
from service.evaluation.statistics.resampling import bootstrap_mean

__all__ = [
    "STATISTICS",
    "StatisticRefused",
    "alpha",
    "auroc",
    "benjamini_hochberg",
    "binomial",
    "binomial_power",
    "bootstrap_mean",
    "brier",
    "clopper_pearson",
    "compute",
    "conformal_quantile",
    "cusum",
    "cusum_run",
    "declined_loss",
    "difference",
    "ece_if_calibrated",
    "equal_spend",
    "ewma",
    "fisher",
    "gate_proposal",
    "holm",
    "kappa",
    "lift",
    "majority",
    "mcnemar",
    "mcnemar_pairs",
    "mcnemar_power",
    "mean_t",
    "mending",
    "one_sided_bound",
    "order_swaps",
    "paired_difference",
    "preference",
    "preference_power",
    "rate_sequence",
    "reliability",
    "rule_power",
    "safe_threshold",
    "sign_sequence",
    "signal_detection",
    "spiegelhalter",
    "tilt",
    "wilson",
]
