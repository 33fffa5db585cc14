"""PromQL as the panels need it: every series is chosen by the variables of its dashboard.

Counters belong to a process and are summed. What each process reads from the database is the same in all: `most` takes
the largest, because a sum would count it once for each process.
"""

from __future__ import annotations

RATE = "$__rate_interval"
"""Grafana's own window of a rate: at least four scrapes of ``panels.SCRAPE``."""
RANGE = "$__range"
"""The time that the dashboard shows."""
WINDOW = "$window"
"""The window of the quality dashboard, which its variable chooses."""

NAMESPACE = 'namespace=~"$namespace"'
TASK = 'task_type=~"$task_type"'
FORMAT = 'format=~"$format"'
MODEL = 'model=~"$model"'
TENANT = 'tenant=~"$tenant"'
JOBS = 'job=~"gainsay-.+"'


def series(name: str, *matchers: str) -> str:
    """The series of a metric in the chosen namespace."""
    chosen = ",".join((NAMESPACE, *matchers))
    return f"{name}{{{chosen}}}"


def _by(labels: str) -> str:
    return f" by ({labels})" if labels else ""


def rate(name: str, *matchers: str, by: str = "") -> str:
    """Events a second."""
    return f"sum{_by(by)} (rate({series(name, *matchers)}[{RATE}]))"


def increase(name: str, *matchers: str, by: str = "", window: str = RANGE) -> str:
    """Events in a window."""
    return f"sum{_by(by)} (increase({series(name, *matchers)}[{window}]))"


def most(name: str, *matchers: str, by: str = "") -> str:
    """The largest of what all processes report of the same thing."""
    return f"max{_by(by)} ({series(name, *matchers)})"


def counted(name: str, *matchers: str, by: str = "") -> str:
    """How many there are of what all processes of an installation report alike, in all chosen installations."""
    labels = f"namespace, {by}" if by else "namespace"
    return f"sum{_by(by)} ({most(name, *matchers, by=labels)})"


def least(name: str, *matchers: str, by: str = "") -> str:
    """The smallest of what several report of the same thing."""
    return f"min{_by(by)} ({series(name, *matchers)})"


def total(name: str, *matchers: str, by: str = "") -> str:
    """The sum of what each process reports of itself."""
    return f"sum{_by(by)} ({series(name, *matchers)})"


def mean(name: str, *matchers: str, by: str = "", window: str = WINDOW) -> str:
    """The mean of a histogram's observations in a window."""
    return f"{increase(f'{name}_sum', *matchers, by=by, window=window)} / " + increase(
        f"{name}_count", *matchers, by=by, window=window
    )


def quantile(share: float, name: str, *matchers: str, by: str = "", window: str = RATE) -> str:
    """What a share of a histogram's observations stays below."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({series(f'{name}_bucket', *matchers)}[{window}])))"


def buckets(name: str, *matchers: str, window: str = RATE) -> str:
    """The buckets of a histogram, for a heat map."""
    return increase(f"{name}_bucket", *matchers, by="le", window=window)


def age(name: str, *matchers: str) -> str:
    """Seconds since the newest time that a process reports; nothing where none did yet."""
    return f"time() - max({series(name, *matchers)} > 0)"
