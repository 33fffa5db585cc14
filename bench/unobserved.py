"""Runs the service as its command does, but counts nothing and logs nothing: what observing costs is the difference.

python bench/unobserved.py work --port 0
"""

from __future__ import annotations

import logging
import runpy
import sys
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

from service.observing import labelled
from service.running import metrics


class _Nothing:
    """A series that forgets."""

    def inc(self, *_: object, **__: object) -> None:
        """Nothing."""

    set = observe = dec = set_function = inc


def main() -> None:
    """Take away what counts and what logs, then run the command."""

    def nothing(*_: object, **__: object) -> Any:
        return None

    print("taking debates", file=sys.stderr, flush=True)  # soon, and its log will not say so
    logging.disable(logging.CRITICAL)
    for kind in (Counter, Gauge, Histogram):
        for name in ("inc", "dec", "set", "observe"):
            if hasattr(kind, name):
                setattr(kind, name, nothing)
    series = _Nothing()
    labelled.Labelled.labels = lambda *_, **__: series  # type: ignore[assignment,method-assign]
    metrics.count_entries = nothing
    sys.argv = ["gainsay", *sys.argv[1:]]
    runpy.run_module("service", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
