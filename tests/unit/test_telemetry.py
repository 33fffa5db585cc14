"""Each metric is declared once: what counts it names the declared labels, and what begins it knows their values."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from prometheus_client.metrics import MetricWrapperBase

from service import gate, telemetry
from service.debate import findings, results
from service.debate.entries import Entry
from service.debate.model import Status, StopReason
from service.debate.replies.panel import QuestionType
from service.debate.replies.parts import ConfidenceLevel
from service.identity import combination
from service.observing import labelled
from service.observing.labelled import LABELLED, REGISTRY, Given, Labelled
from service.policy import GatePolicy, task_types
from service.policy.settings import read_settings
from service.prompts import Prompts
from service.report.labels import FLAG
from service.running import checker
from service.running.metrics_begun import begin_metrics
from service.running.provider_port import FailureReason
from service.running.versions import CURRENT
from service.store.evaluation_room import ITEM_LIMITS
from service.store.spend import BATCH, LIMITS

RULES_ON_THE_MERITS = gate._Weighed(GatePolicy("1", ""), 1).merits(
    gate._Said("contract", None, Decimal(0), None, None, None, None)
)
CLOSED_SETS = {
    ("GATE_DECISIONS", "decided_by"): {"forced", "policy", *RULES_ON_THE_MERITS, "merits"},
    ("UNKNOWN_TASK_TYPES", "outcome"): {*get_args(task_types.Outcome)} - {"known"},
    ("DEBATES_CONCLUDED", "status"): {*get_args(Status)} - {"declined", "queued", "running"},
    ("DEBATES_CONCLUDED", "stop_reason"): {*get_args(StopReason)} - {"declined", "untilCritic"},  # not counted
    ("CONFIDENCE", "level"): {*get_args(ConfidenceLevel)},
    ("MODERATOR_CONFIDENCE", "level"): {*get_args(ConfidenceLevel)},
    ("CONSENSUS_LAGGING", "question_type"): {*get_args(QuestionType)},
    ("CONSENSUS_LAGGING", "dimension"): {*findings.DIMENSIONS},
    ("CONSENSUS_LAGGING", "by"): {*get_args(get_type_hints(results.ConsensusRound)["by"])},
    ("FLAGS", "flag"): {*FLAG},
    ("AUTHENTICATIONS", "way"): {*get_args(combination.Way)},
    ("CITATIONS", "verdict"): {*get_args(findings.Verdict)},
    ("STRIKES", "reason"): {*get_args(findings.StrikeReason)},
    ("REFUSALS", "limit"): {"debateCeiling", "providerOverrun", BATCH, *LIMITS.values(), *ITEM_LIMITS},
    ("ATTEMPTS_FAILED", "reason"): {*get_args(FailureReason)},
    ("ENTRIES", "kind"): {entry.__struct_config__.tag for entry in get_args(Entry)},
}
"""What a label's list repeats from another module: the metrics stand below all of them and import none."""
GIVEN = {"task_types": ("contract",), "formats": ("panel/1", "ballot/1"), "models": ("small",), "seats": ("critic",)}


@pytest.fixture(autouse=True)
def no_built_in_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """No formats from the start of a service in an earlier test, and none for a later one."""
    monkeypatch.setattr(labelled, "BUILT_IN", {labelled.FORMATS: set()})


def wrong_calls(code: str, where: str) -> Iterator[str]:
    """Each place that counts a metric with other labels, or with another value, than its declaration has."""
    for call in ast.walk(ast.parse(code)) if "telemetry" in code else ():
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="telemetry"), attr=name), attr="labels")
            ):
                declared = getattr(telemetry, name)
                if not isinstance(declared, Labelled):
                    yield f"{where}:{call.lineno}: telemetry.{name} has no labels"
                    continue
                said = {str(keyword.arg): keyword.value for keyword in call.keywords}
                if call.args or said.keys() != declared.known.keys():
                    wanted = ", ".join(f"{label}=..." for label in declared.known)
                    yield f"{where}:{call.lineno}: expected telemetry.{name}.labels({wanted})"
                for label, known in declared.known.items():
                    if not isinstance(known, Given) and known and label in said:
                        for value in sorted(written(said[label]) - {*known}):
                            yield f"{where}:{call.lineno}: telemetry.{name} does not declare {label}={value!r}"


def written(value: ast.expr) -> set[str]:
    """The texts that an expression can come to, as far as they are written in it."""
    match value:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.IfExp(body=body, orelse=other):
            return written(body) | written(other)
    return set()


def test_every_place_that_counts_a_metric_names_its_declared_labels(root: Path) -> None:
    found = [
        wrong
        for path in sorted((root / "service").rglob("*.py"))
        for wrong in wrong_calls(path.read_text("utf-8"), str(path.relative_to(root)))
    ]

    assert found == [], "these calls and the declarations in service/telemetry.py differ:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("telemetry.TAKEN.labels(how=h)", None),
        ("telemetry.TAKEN.labels(h)", "x.py:1: expected telemetry.TAKEN.labels(how=...)"),
        ("telemetry.TAKEN.labels(how=h, seat=s)", "x.py:1: expected telemetry.TAKEN.labels(how=...)"),
        ("telemetry.TAKEN.labels(**all)", "x.py:1: expected telemetry.TAKEN.labels(how=...)"),
        ("telemetry.STREAMS.labels(a=b)", "x.py:1: telemetry.STREAMS has no labels"),
        ("telemetry.TAKEN.labels(how='new' if a else 'old')", "x.py:1: telemetry.TAKEN does not declare how='old'"),
    ],
)
def test_a_call_that_a_declaration_does_not_fit_is_named(call: str, expected: str | None) -> None:
    assert next(wrong_calls(call, "x.py"), None) == expected


def test_metrics_are_reached_by_their_module_so_that_every_place_that_counts_is_found(root: Path) -> None:
    metrics = {name for name, found in vars(telemetry).items() if isinstance(found, MetricWrapperBase | Labelled)}

    named = [
        f"{path.relative_to(root)}: {alias.name}"
        for path in sorted((root / "service").rglob("*.py"))
        if "service.telemetry" in (code := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and node.module == "service.telemetry"
        for alias in node.names
        if alias.name in metrics
    ]

    assert named == [], "import the module, and count telemetry.NAME"


def test_no_metric_has_labels_without_their_values() -> None:
    bare = [n for n, found in vars(telemetry).items() if isinstance(found, MetricWrapperBase) and found._labelnames]

    assert bare == [], "declare these with _counter, _gauge or _histogram"


@pytest.mark.parametrize("metric", LABELLED, ids=lambda metric: metric.name)
def test_a_metric_whose_values_are_known_begins_at_zero_with_each_of_them(metric: Labelled[Any]) -> None:
    labelled.initialise(**GIVEN)

    known = {label: GIVEN[v.value] if isinstance(v, Given) else v for label, v in metric.known.items()}
    known |= metric.begun if isinstance(metric.begun, Mapping) else {}
    expected = [dict(zip(known, values, strict=True)) for values in product(*known.values())] if metric.begun else []
    (family,) = metric.metric.collect()
    name = f"{family.name}_count" if family.type == "histogram" else metric.name

    for labels in expected:
        assert REGISTRY.get_sample_value(name, labels) is not None, labels


def test_a_counter_may_begin_with_some_of_the_values_of_a_label_alone() -> None:
    labels: dict[str, labelled.Values] = {"seat": labelled.SEATS, "reason": ("a", "b")}
    added = labelled.counter("test_some_total", "Added.", labels, begun={"reason": ("b",)})
    try:
        labelled.initialise(**GIVEN)

        (found,) = added.metric.collect()
        assert [s.labels for s in found.samples if s.name == "test_some_total"] == [{"seat": "critic", "reason": "b"}]
        added.labels(seat="critic", reason="a").inc()
    finally:
        REGISTRY.unregister(added.metric)
        labelled.LABELLED.remove(added)


def test_a_label_that_is_added_to_a_declaration_is_begun_with_the_values_that_are_given() -> None:
    added = labelled.counter("test_added_total", "Added.", {"reason": ("a", "b"), "seat": labelled.SEATS})
    try:
        labelled.initialise(**GIVEN)

        (found,) = added.metric.collect()
        assert [s.labels for s in found.samples if s.name == "test_added_total"] == [
            {"reason": "a", "seat": "critic"},
            {"reason": "b", "seat": "critic"},
        ]
    finally:
        REGISTRY.unregister(added.metric)
        labelled.LABELLED.remove(added)


@pytest.mark.parametrize("labels", [{}, {"how": "new", "seat": "critic"}, {"seat": "critic"}])
def test_a_label_that_is_not_declared_or_missing_is_refused_with_the_declared_ones(labels: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="expected the labels how of gainsay_debates_taken_total, found "):
        telemetry.TAKEN.labels(**labels)


def test_every_engine_is_shown_with_its_version() -> None:
    policy = read_settings({"GAINSAY_DATA_DIR": "/nonexistent"}).policy

    begin_metrics([policy], Prompts.load())

    (found,) = telemetry.ENGINES.metric.collect()
    shown = {sample.labels["engine"]: sample.labels["version"] for sample in found.samples if sample.value == 1}
    assert sorted(shown.items()) == sorted([*CURRENT.items(), *checker.ENGINES.items()])
    assert {"gate", "usage", "citations", "injection"} <= shown.keys()


@pytest.mark.parametrize(("name", "label"), CLOSED_SETS, ids=".".join)
def test_the_list_of_a_label_is_the_closed_set_that_it_repeats(name: str, label: str) -> None:
    assert {*getattr(telemetry, name).known[label]} == CLOSED_SETS[name, label]


def test_a_value_outside_the_list_of_its_label_is_refused_in_tests() -> None:
    with pytest.raises(ValueError, match=r"expected one of .* as limit of gainsay_budget_refusals_total, found 'ban"):
        telemetry.REFUSALS.labels(limit="banana")


def test_a_value_outside_the_list_of_its_label_is_counted_as_other_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(labelled, "strict", False)
    declared = labelled.counter("test_listed_total", "Listed.", {"limit": ("debateCeiling", "tenantDay")})
    try:
        with caplog.at_level(logging.ERROR, "gainsay"):
            for limit in ("banana", "tenantDay", "cherry"):
                declared.labels(limit=limit).inc()

        (found,) = declared.metric.collect()
        counted = {sample.labels["limit"]: sample.value for sample in found.samples if sample.name.endswith("_total")}
        assert counted == {"other": 2, "tenantDay": 1}
        logged = [(r.message, vars(r)["metric"], vars(r)["label"], vars(r)["value"]) for r in caplog.records]
        assert logged == [("undeclared label value", "test_listed_total", "limit", "banana")]
    finally:
        REGISTRY.unregister(declared.metric)
        labelled.LABELLED.remove(declared)


def test_a_series_is_found_once_and_one_of_other_values_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "strict", False)
    declared = labelled.counter("test_found_total", "Found.", {"a": ("x", "y"), "b": ("x", "y")})
    try:
        first = declared.labels(a="x", b="y")
        assert declared.labels(a="x", b="y") is first is declared.labels(b="y", a="x")
        assert declared.labels(a="y", b="x") is not first
        assert declared.labels(a="x", b="banana") is declared.labels(a="x", b="cherry"), "both are other"
        assert len(declared._series) == 3, "no value that a caller makes up is kept"
    finally:
        REGISTRY.unregister(declared.metric)
        labelled.LABELLED.remove(declared)


def test_a_format_that_this_build_does_not_have_is_refused_once_the_service_has_started() -> None:
    of = {"task_type": "contract", "format": "nope/1"}
    labelled.initialise(**GIVEN)

    with pytest.raises(ValueError, match="expected one of ballot/1, panel/1 as format of gainsay_debates_started"):
        telemetry.DEBATES_STARTED.labels(**of)
    assert REGISTRY.get_sample_value("gainsay_debates_started_total", of) is None


def test_a_model_of_an_earlier_policy_is_counted_by_its_name() -> None:
    labelled.initialise(**GIVEN)

    telemetry.OVERRUNS.labels(model="of-an-earlier-policy").inc()

    assert REGISTRY.get_sample_value("gainsay_provider_overruns_total", {"model": "of-an-earlier-policy"}) == 1


def test_a_gauge_that_is_measured_has_no_sample_before_that() -> None:
    gauge = labelled.measured("test_measured_seconds", "Measured.")
    try:
        assert REGISTRY.get_sample_value("test_measured_seconds") is None
        labelled.forget(gauge)
        assert str(REGISTRY.get_sample_value("test_measured_seconds")) == "nan"
        gauge.set(0)
        assert REGISTRY.get_sample_value("test_measured_seconds") == 0
    finally:
        REGISTRY.unregister(gauge)


def test_a_series_that_is_dropped_is_gone_and_begins_anew() -> None:
    declared = labelled.gauge("test_dropped", "Dropped.", {"a": ("x", "y"), "b": ("x", "y")})
    try:
        declared.labels(a="x", b="y").set(1)
        declared.labels(b="y", a="x").set(2)
        declared.labels(a="y", b="x").set(3)
        declared.drop(b="y", a="x")
        declared.drop(b="y", a="x")

        assert [series._value.get() for series in declared.every()] == [3]
        assert REGISTRY.get_sample_value("test_dropped", {"a": "x", "b": "y"}) is None
        assert declared.labels(a="x", b="y")._value.get() == 0
    finally:
        REGISTRY.unregister(declared.metric)
        labelled.LABELLED.remove(declared)
