"""docs/metrics.md names every series that the service has, and every series that the service has is used."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase

from service import telemetry
from service.observing.labelled import REGISTRY, Labelled

METRICS = {
    name: found.metric if isinstance(found, Labelled) else found
    for name, found in vars(telemetry).items()
    if isinstance(found, MetricWrapperBase | Labelled)
}


def test_the_page_has_a_line_for_each_series_with_its_labels_and_its_words(root: Path) -> None:
    page = (root / "docs/metrics.md").read_text("utf-8")

    lines = dict(re.findall(r"^\| `(\w+)` \|(.*)$", page, re.MULTILINE))
    stale = []
    for name, metric in METRICS.items():
        (described,) = metric.describe()
        series = described.name + ("_total" if described.type == "counter" else "")
        line = lines.pop(series, "")
        if described.documentation not in line or re.findall(r"`(\w+)`", line) != list(metric._labelnames):
            labels = ", ".join(f"`{label}`" for label in metric._labelnames) or "none"
            stale.append(f"{name}: expected | `{series}` | {described.type} | {labels} | {described.documentation} |")

    lines = {name: line for name, line in lines.items() if name not in of_the_process()}
    assert stale == [], f"docs/metrics.md: {'; '.join(stale)}"
    assert lines == {}, f"docs/metrics.md has series that telemetry.py does not declare: {', '.join(lines)}"
    assert len(METRICS) > 20


def of_the_process() -> dict[str, str]:
    """What the library says of the process itself: the rest of a line, by series."""
    return {
        found.name + ("_total" if found.type == "counter" else ""): f"{found.type} | {found.documentation} |"
        for found in REGISTRY.collect()
        if found.name.startswith(("process_", "python_"))
    }


def test_the_page_has_a_line_for_each_series_of_the_process(root: Path) -> None:
    page = (root / "docs/metrics.md").read_text("utf-8")
    rows = re.findall(r"^\| `((?:process|python)_\w+)` \| (\w+) \|.*\| (.*) \|$", page, re.MULTILINE)

    found = {name: f"{kind} | {text} |" for name, kind, text in rows}
    assert found == of_the_process()


def test_no_series_is_there_that_nothing_counts(root: Path) -> None:
    code = "".join(path.read_text("utf-8") for path in (root / "service").rglob("*.py"))

    assert [name for name in METRICS if f"telemetry.{name}" not in code] == []
