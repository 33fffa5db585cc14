"""docs/metrics.md names every series that the service has, and every series that the service has is used."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase

from service import telemetry

METRICS = {name: m for name, m in vars(telemetry).items() if isinstance(m, MetricWrapperBase)}


def test_the_page_has_a_line_for_each_series_with_its_labels_and_its_words(root: Path) -> None:
    page = (root / "docs/metrics.md").read_text("utf-8")

    lines = dict(re.findall(r"^\| `(\w+)` \|(.*)$", page, re.MULTILINE))

    assert len(lines) == len(METRICS) > 20
    for metric in METRICS.values():
        (described,) = metric.describe()
        line = lines[described.name + ("_total" if described.type == "counter" else "")]
        assert described.documentation in line
        assert re.findall(r"`(\w+)`", line) == list(metric._labelnames)


def test_no_series_is_there_that_nothing_counts(root: Path) -> None:
    code = "".join(path.read_text("utf-8") for path in (root / "service").rglob("*.py"))

    assert [name for name in METRICS if f"telemetry.{name}" not in code] == []
