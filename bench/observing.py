"""What it costs a worker to be observed: metrics and logs together, then traces at the shipped share, then of all.

Each is a deployment of its own with the same debates. One has a worker that counts and logs nothing
(`bench/unobserved.py`); the others are held against it.
"""

from __future__ import annotations

import sys

from bench.deployment import HERE, Other, Run, deployed
from bench.figures import Measured, Turn
from bench.processes import ADDRESS, started
from bench.worker import WARM, WARM_SEED, cases

DEBATES = 300
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SHARES = {"drawn": "0.05", "all": "1"}


def observing() -> Turn:
    """CPU of the worker for a debate, in milliseconds."""
    bare = _run(Other([sys.executable, str(HERE / "unobserved.py")]))
    shipped = _run()
    with started([sys.executable, str(HERE / "collector.py")], ADDRESS) as collector:
        traced = {
            what: _run(Other(variables={ENDPOINT: collector.said, "OTEL_TRACES_SAMPLER_ARG": share}))
            for what, share in SHARES.items()
        }
    against = _worker(bare)
    return {
        "bare": Measured(against),
        "shipped": Measured(_worker(shipped), against),
        **{what: Measured(_worker(run), against) for what, run in traced.items()},
    }


def _run(other: Other | None = None) -> Run:
    with deployed(other=other) as here:
        here.run(cases(WARM, first=WARM_SEED))
        return here.run(cases(DEBATES))


def _worker(run: Run) -> float:
    return run.ran.workers + run.ran.checks
