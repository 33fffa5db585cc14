"""Metrics whose labels are declared: what `service.telemetry` declares them with.

A metric is declared once, with its name, its help, and each label with its possible values; `initialise` creates all
series from these declarations. Label values come from closed sets only (task type, format, seat, model alias, reasons).
Counters for known label values exist from the start, so that a first event is an increase and no new series;
``begun=False`` marks those that would be too many, and a mapping those that begin for some values of a label alone. A
histogram begins with its first event, unless an alert counts its events.

A value that is not in a label's list is a mistake in the code: it is logged once and counted as ``other``, because a
metric never ends a debate. Where ``strict`` is set, as in every test, it raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import product
from typing import Any, Generic, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.samples import Sample

from service import log_lines

REGISTRY = CollectorRegistry()
"""What /metrics of a process shows, its memory, processor time and open files included."""
ProcessCollector(registry=REGISTRY)
PlatformCollector(REGISTRY)
GCCollector(REGISTRY)
disable_created_metrics()  # type: ignore[no-untyped-call]  # each would be a series more that no panel reads
OTHER = "other"
"""The value of a label whose list lacks the value that was to be counted."""
strict = False
_TRACE = re.compile(r"[0-9a-f]{32}")


class Given(Enum):
    """Values of a label that the service knows when it starts, by the argument of `initialise` that holds them."""

    TASK_TYPES = "task_types"
    FORMATS = "formats"
    MODELS = "models"
    SEATS = "seats"


TASK_TYPES, FORMATS, MODELS, SEATS = Given
UNLISTED: tuple[str, ...] = ()
"""Values that no list can hold: numbers, routes, names that settings give. A series begins with its first event."""
Values = tuple[str, ...] | Given
Begun = bool | Mapping[str, tuple[str, ...]]
"""Whether all series of known values exist from the start, or those of these values of these labels."""
BUILT_IN: dict[Given, set[str]] = {FORMATS: set()}
"""Given values that only a build can change, once known. The others are one policy's: an earlier one may name more."""
NAMED_TENANTS: set[str] = set()
"""The tenants that metrics name, as GAINSAY_METRICS_TENANTS has them; empty where no metric has tenants."""
M = TypeVar("M", Counter, Gauge, Histogram)
LABELLED: list[Labelled[Any]] = []


class Labelled(Generic[M]):
    """A metric with labels, and the possible values of each label."""

    def __init__(self, name: str, metric: M, known: Mapping[str, Values], *, begun: Begun = False) -> None:
        self.name, self.known, self.begun = name, known, begun
        self.metric: M = metric
        self._reported: set[str] = set()
        self._series: dict[tuple[tuple[str, str], ...], M] = {}
        LABELLED.append(self)

    def labels(self, **values: str) -> M:
        """The series with these values, found once; raises `ValueError` unless there is one for each declared label.
        A value that the label's list lacks becomes ``other``."""
        if found := self._series.get(named := (*values.items(),)):
            return found
        if values.keys() != self.known.keys():
            raise ValueError(
                f"expected the labels {', '.join(self.known)} of {self.name}, found {', '.join(values) or 'none'}; "
                "change the call, or the declaration in service/telemetry.py"
            )
        listed = {label: self._listed(label, value) for label, value in values.items()}
        series: M = self.metric.labels(**listed)
        return self._series.setdefault(named, series) if listed == values else series

    def every(self) -> list[M]:
        """Every series that there is."""
        return list(self._series.values())

    def alone(self, **values: str) -> M:
        """The series with these values, which is the only one from now on."""
        for named in [named for named in self._series if dict(named) != values]:
            self.drop(**dict(named))
        return self.labels(**values)

    def drop(self, **values: str) -> None:
        """Forget the series with these values, in whichever order they are named."""
        self.metric.remove(*(values[label] for label in self.known))
        for named in [named for named in self._series if dict(named) == values]:
            del self._series[named]

    def _listed(self, label: str, value: str) -> str:
        """The value, or ``other`` where the label's list lacks it; that is logged once for each label."""
        known = self.known[label]
        listed = BUILT_IN.get(known, ()) if isinstance(known, Given) else known
        if not listed or value in listed:
            return value
        if strict:
            raise ValueError(f"expected one of {', '.join(sorted(listed))} as {label} of {self.name}, found {value!r}")
        if label not in self._reported:
            self._reported.add(label)
            log_lines.LABEL_UNDECLARED(metric=self.name, label=label, value=value[:80])
        return OTHER


def words(text: str) -> tuple[str, ...]:
    """The values of a label, written in one text."""
    return tuple(text.split())


class Measured(Gauge):
    """A gauge without labels that has no sample before it was set: a process that does not measure it shows none."""

    _is_set = False

    def set(self, value: float) -> None:
        """Set the gauge to a value; from now on it has a sample."""
        self._is_set = True
        super().set(value)

    def _child_samples(self) -> Iterable[Sample]:
        return super()._child_samples() if self._is_set else ()


measured = partial(Measured, registry=REGISTRY)
"""A gauge of what is measured from time to time, in the database mostly."""
total, level = partial(Counter, registry=REGISTRY), partial(Gauge, registry=REGISTRY)
"""A counter and a gauge without labels."""


def counter(name: str, help_text: str, labels: Mapping[str, Values], *, begun: Begun = True) -> Labelled[Counter]:
    """A counter; its series start at zero if all values are known, unless they would be too many (``begun``)."""
    return Labelled(name, Counter(name, help_text, tuple(labels), registry=REGISTRY), labels, begun=begun)


def gauge(name: str, help_text: str, labels: Mapping[str, Values]) -> Labelled[Gauge]:
    """A gauge with labels."""
    return Labelled(name, Gauge(name, help_text, tuple(labels), registry=REGISTRY), labels)


def histogram(
    name: str, text: str, labels: Mapping[str, Values], buckets: Sequence[float], *, begun: Begun = False
) -> Labelled[Histogram]:
    """A histogram with labels; ``buckets`` are upper bounds in the metric's unit."""
    found = Histogram(name, text, tuple(labels), registry=REGISTRY, buckets=buckets)
    return Labelled(name, found, labels, begun=begun)


def named_tenant(tenant: str) -> str | None:
    """The label of a tenant: its name where metrics name it, or ``other``; ``None`` where no metric has tenants."""
    return None if not NAMED_TENANTS else tenant if tenant in NAMED_TENANTS else OTHER


def exemplar(trace: str | None) -> dict[str, str] | None:
    """The example that a count of a histogram keeps: the id of a trace, where there is one. It may have 128 characters
    with its name (OpenMetrics 1.0.0), and what is no id of a trace is left out."""
    return {"trace_id": trace} if trace and _TRACE.fullmatch(trace) else None


def forget(*gauges: Gauge) -> None:
    """Set gauges to NaN while they cannot be measured: an old value would be taken for a current one."""
    for gauge in gauges:
        gauge.set(math.nan)


def initialise(
    *, task_types: Sequence[str], formats: Sequence[str], models: Sequence[str], seats: Sequence[str]
) -> None:
    """Create the series whose label values are known, at zero."""
    given = {TASK_TYPES: task_types, FORMATS: formats, MODELS: models, SEATS: seats}
    for name, built_in in BUILT_IN.items():
        built_in.update(given[name])
    for metric in LABELLED:
        if metric.begun is False:
            continue
        known = {label: given[known] if isinstance(known, Given) else known for label, known in metric.known.items()}
        known |= {} if metric.begun is True else metric.begun
        for values in product(*known.values()):
            metric.labels(**dict(zip(known, values, strict=True)))
