"""Every statistic of 10,000 cases with 2,000 resamples, by `gainsay evaluate statistic` in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import shake_128
from pathlib import Path
from typing import Any

from bench.figures import Measured, Turn
from service.evaluation.statistics import STATISTICS

CASES, RESAMPLES = 10_000, 2_000
_MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""
"""A small process between: Linux counts the memory of the one that starts another as that one's own."""


def statistics() -> Turn:
    """CPU seconds and megabytes of the process, from its start to its end."""
    asked = inputs()
    if asked.keys() != STATISTICS.keys():
        raise RuntimeError(f"expected an input for each statistic, found {sorted(asked.keys() ^ STATISTICS.keys())}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.jsonl"
        lines = [json.dumps({"id": name, "statistic": name, "input": given}) for name, given in asked.items()]
        file.write_text("\n".join(lines), "utf-8")
        answers, used = _run(file)
    refused = [line for line in answers.splitlines() if '"error"' in line]
    if refused or len(answers.splitlines()) != len(STATISTICS):
        raise RuntimeError(f"expected an output for each statistic, found {len(answers.splitlines())}: {refused}")
    return {"all": Measured(used[0]), "memory": Measured(used[1])}


def _run(file: Path) -> tuple[str, tuple[float, float]]:
    """What the command answers, and the CPU seconds and megabytes of its process."""
    command = [sys.executable, "-c", _MEASURED, sys.executable, "-m", "service", "evaluate", "statistic", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, kilobytes = ran.stderr.split()
    return ran.stdout, (float(seconds), int(kilobytes) / 1024)


def inputs() -> Mapping[str, dict[str, Any]]:
    """An input of so many cases for each statistic, the same at every call."""
    drawn = shake_128(b"statistics").digest(CASES)
    share = [byte / 256 for byte in drawn]
    happened = [int(byte % 7 < 3) for byte in drawn]
    mark, half = [byte % 4 for byte in drawn], CASES // 2
    declined = {"chance": 0.05, "wrong": 0, "downsideMicroUSD": 10**9}
    amounts = {"downsideMicroUSD": 10**9, "thresholdMicroUSD": 141_810, "costMicroUSD": 78_336}
    answers = [[each % 2, each // 2] for each in mark]
    return {
        "wilson": {"k": half, "n": CASES},
        "clopper_pearson": {"k": half, "n": CASES},
        "one_sided_bound": {"k": half, "n": CASES, "side": "low"},
        "rate_sequence": {"k": half, "n": CASES},
        "mean_t": {"values": share},
        "binomial": {"k": half - 90, "n": CASES},
        "mcnemar": {"b": half, "c": half - 90},
        "fisher": {"a": 2_000, "b": 2_500, "c": 2_600, "d": 2_900},
        "holm": {"p": share},
        "benjamini_hochberg": {"p": share},
        "sign_sequence": {"pairs": [one - other for one, other in answers]},
        "paired_difference": {"both": 4_000, "first": 2_000, "second": 1_900, "neither": 2_100},
        "difference": {"k1": 2_000, "n1": half, "k2": 2_100, "n2": half},
        "mcnemar_power": {"n": CASES, "gain": 0.1, "loss": 0.09},
        "mcnemar_pairs": {"gain": 0.1, "loss": 0.08},
        "binomial_power": {"n": CASES, "p": 0.51},
        "preference_power": {"favoured": 200, "other": 200, "p": 0.6},
        "rule_power": {"n": CASES, "p": 0.9, "least": 8_950},
        "signal_detection": {"hits": 4_000, "misses": 1_000, "false_alarms": 900, "correct_rejections": 4_100},
        "tilt": {"first": half, "second": half - 90},
        "order_swaps": {"pairs": [["first" if one else "none", "second"] for one, _ in answers]},
        "preference": {"favoured_right": [3_000, half], "other_right": [2_900, half]},
        "kappa": {"pairs": answers},
        "alpha": {"units": [[*pair, None] for pair in answers]},
        "brier": {"p": share, "y": happened},
        "reliability": {"p": share, "y": happened},
        "spiegelhalter": {"p": share, "y": happened},
        "auroc": {"p": share, "y": happened},
        "bootstrap_mean": {"values": share, "resamples": RESAMPLES},
        "ece_if_calibrated": {"p": share, "resamples": RESAMPLES},
        "conformal_quantile": {"scores": share, "alpha": 0.1},
        "safe_threshold": {"confidence": share, "wrong": happened, "candidates": share[:100], "most": 1.0},
        "mending": {"mended": 900, "broken": 500, "debated": CASES},
        "declined_loss": {"cases": [declined] * CASES},
        "gate_proposal": {
            "cases": [{"confidence": each, "hedged": False, **amounts} for each in share],
            "factor": 50,
            "floor": 0.8,
            "certain_micro_usd": 10**10,
        },
        "equal_spend": {"spent_micro_usd": {"debate": 100_000, "vote": 95_000}},
        "majority": {"votes": mark},
        "lift": {"items": answers, "groups": [at // 2 for at in range(CASES)], "resamples": RESAMPLES},
        "cusum": {"events": happened, "p0": 0.1, "p1": 0.2, "limit": 400},
        "cusum_run": {"p": 0.1, "p0": 0.1, "p1": 0.2, "limit": 400},
        "ewma": {"counts": [[byte // 8, 40] for byte in drawn], "p0": 0.3},
    }
