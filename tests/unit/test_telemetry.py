"""Each metric is declared once: what counts it names the declared labels, and what begins it knows their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.metrics import MetricWrapperBase

from service import telemetry
from service.telemetry import LABELLED, REGISTRY, Given, Labelled

GIVEN = {"task_types": ("contract",), "formats": ("panel/1", "ballot/1"), "models": ("small",), "seats": ("critic",)}


def wrong_calls(code: str, where: str) -> Iterator[str]:
    """Each place that counts a metric with other labels, or with another value, than its declaration has."""
    for call in ast.walk(ast.parse(code)):
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
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "service.telemetry"
        for alias in node.names
        if alias.name in metrics
    ]

    assert named == [], "import the module, and count telemetry.NAME"


def test_no_metric_has_labels_without_their_values() -> None:
    bare = [n for n, found in vars(telemetry).items() if isinstance(found, MetricWrapperBase) and found._labelnames]

    assert bare == [], "declare these with _counter, _gauge or _histogram"


@pytest.mark.parametrize("metric", LABELLED, ids=lambda metric: metric.name)
def test_a_counter_whose_values_are_known_begins_at_zero_with_each_of_them(metric: Labelled[Any]) -> None:
    telemetry.initialise(**GIVEN)

    known = [GIVEN[values.value] if isinstance(values, Given) else values for values in metric.known.values()]
    expected = [dict(zip(metric.known, values, strict=True)) for values in product(*known)] if metric.begun else []

    for labels in expected:
        assert REGISTRY.get_sample_value(metric.name, labels) is not None, labels


def test_a_label_that_is_added_to_a_declaration_is_begun_with_the_values_that_are_given() -> None:
    added = telemetry._counter("test_added_total", "Added.", {"reason": ("a", "b"), "seat": telemetry.SEATS})
    try:
        telemetry.initialise(**GIVEN)

        (found,) = added.metric.collect()
        assert [s.labels for s in found.samples if s.name == "test_added_total"] == [
            {"reason": "a", "seat": "critic"},
            {"reason": "b", "seat": "critic"},
        ]
    finally:
        REGISTRY.unregister(added.metric)
        telemetry.LABELLED.remove(added)


@pytest.mark.parametrize("labels", [{}, {"how": "new", "seat": "critic"}, {"seat": "critic"}])
def test_a_label_that_is_not_declared_or_missing_is_refused_with_the_declared_ones(labels: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="expected the labels how of gainsay_debates_taken_total, found "):
        telemetry.TAKEN.labels(**labels)
