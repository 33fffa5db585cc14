"""Every statistic answers as it is defined: the examples of the definition, and the sample beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.evaluation import statistics
from service.evaluation.statistics import STATISTICS, StatisticRefused, compute
from service.evaluation.statistics.registry import parameters

EXAMPLES = [json.loads(line) for line in (Path(__file__).parent / "examples.jsonl").read_text("utf-8").splitlines()]
ITERATED = {"cusum_run": 1e-6}
"""How near an answer must be where it is not 1e-9."""


def alike(found: Any, expected: Any, within: float = 1e-9) -> bool:
    """Whether two JSON values are the same, numbers up to a distance; 1 and true are not the same."""
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(alike(found[key], expected[key], within) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(alike(one, other, within) for one, other in zip(found, expected, strict=True))
        )
    if isinstance(expected, bool | str | None) or isinstance(found, bool | str | None):
        return type(found) is type(expected) and bool(found == expected)
    return bool(abs(found - expected) <= within)


@pytest.mark.parametrize("example", EXAMPLES, ids=[each["statistic"] for each in EXAMPLES])
def test_an_example_of_the_definition(example: dict[str, Any]) -> None:
    name = example["statistic"]

    assert alike(compute(name, example["input"]), example["output"], ITERATED.get(name, 1e-9))


def test_every_statistic_has_an_example_but_two() -> None:
    assert set(STATISTICS) - {example["statistic"] for example in EXAMPLES} == {"gate_proposal", "ewma"}
    assert len(STATISTICS) == 41


def test_the_sample_beside_the_checkout(shared: Path) -> None:
    sample = shared / "data" / "statistics" / "sample.jsonl"
    vectors = [json.loads(line) for line in sample.read_text("utf-8").splitlines()]

    wrong = [vector["id"] for vector in vectors if not _answers(vector)]

    assert len(vectors) == 101
    assert wrong == []


def _answers(vector: dict[str, Any]) -> bool:
    name = vector["statistic"]
    try:
        return alike(compute(name, vector["input"]), vector.get("output"), ITERATED.get(name, 1e-9))
    except StatisticRefused:
        return "error" in vector


def test_a_value_that_is_another_is_noticed() -> None:
    assert not alike({"a": 1.0}, {"a": 1.1})
    assert not alike({"a": 1}, {"a": True})
    assert not alike({"a": None}, {"a": 0.0})
    assert not alike([1.0], [1.0, 2.0])


@pytest.mark.parametrize("name", STATISTICS)
def test_a_statistic_is_a_function_of_the_package_with_words_and_the_same_parameters(name: str) -> None:
    function = getattr(statistics, name)

    assert function is STATISTICS[name]
    assert len((function.__doc__ or "").split()) > 5
    assert set(parameters(name)[0]) <= set(parameters(name)[1])
