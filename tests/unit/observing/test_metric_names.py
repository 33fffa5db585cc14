"""Names of metrics: each says its unit or what it counts, and Prometheus' own tool finds no fault with any."""

from __future__ import annotations

import subprocess

import pytest

from service.debate.kernel import FORMATS
from service.observing import exposition, labelled
from service.observing.labelled import LABELLED, REGISTRY, Given, Values
from service.policy.settings import read_settings
from service.prompts import Prompts
from service.running.metrics_begun import begin_metrics
from tests.fixtures.prometheus import program

UNITS = ("_seconds", "_usd", "_ratio", "_bytes")
COUNTED = (
    *("_records", "_connections", "_incidents", "_points", "_uncertainties", "_rounds", "_fds", "_debates"),
    *("_queued", "_left", "_running", "_open", "_waiting", "_worn", "_in_line", "_streams", "_uncertainties_baseline"),
)
"""Gauges and histograms of how many there are: the last word is the thing, or the state in which it is."""
SCORES = ("_strength", "_score", "_share")
"""Values on a scale of their own, which the help names."""
STATES = ("_up", "_down", "_success", "_refused")
"""1 or 0."""


def test_every_name_ends_in_its_unit_or_in_what_it_counts() -> None:
    wrong = []
    for family in REGISTRY.collect():
        if not family.name.startswith("gainsay_"):
            continue
        info = family.name.endswith("_info")
        ends = family.name.endswith((*UNITS, *COUNTED, *SCORES, *STATES))
        if family.type != "counter" and not info and not ends:
            wrong.append(family.name)
        if family.type == "counter" and family.name.endswith("_info"):
            wrong.append(family.name)

    assert wrong == [], "end it in a unit (_seconds, _usd, _ratio, _bytes), in what is counted, or _info"


def test_times_of_day_say_so_and_scales_stand_in_the_help() -> None:
    for family in REGISTRY.collect():
        if family.name.startswith("gainsay_") and "since 1970" in family.documentation:
            assert family.name.endswith("_timestamp_seconds"), family.name
        if family.name.startswith("gainsay_") and family.name.endswith(SCORES):
            assert " 1" in family.documentation, f"{family.name}: which is the highest value?"


def test_the_tool_of_prometheus_finds_no_fault_with_any_series(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = program("promtool")
    for metric in LABELLED:  # of each one series, those too that begin with their first event
        monkeypatch.setattr(metric.metric, "_metrics", {})
        monkeypatch.setattr(metric, "_series", {})
    begin_metrics([read_settings({"GAINSAY_DATA_DIR": "/nonexistent"}).policy], Prompts.load())
    for metric in LABELLED:
        if not metric.every():
            metric.labels(**{label: a_value(values) for label, values in metric.known.items()})
    text, _ = exposition.exposed(exposition.PLAIN)

    found = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, check=False, timeout=60)

    assert (found.returncode, found.stderr.decode(), found.stdout.decode()) == (0, "", "")
    assert text.count(b"# TYPE gainsay_") > 90


def a_value(values: Values) -> str:
    """A value that a label may have."""
    if isinstance(values, Given):
        return next(iter(FORMATS)) if values is labelled.FORMATS else "one"
    return values[0] if values else "one"
