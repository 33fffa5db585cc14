"""A metric, a field and a rule, as a newcomer adds them by their how-tos.

Applied half, one run of ``python -m tests.change.check`` names every place that is missing. Applied whole, they work
together in a deployment that goes on from the unchanged code. Each step that is left out alone is named too: `make
test` draws two of these, from GAINSAY_TEST_CHANGES_SEED, and `make changes` runs all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.change import field, metric, rule, tree
from tests.change.check import KINDS

TOYS: Mapping[str, ModuleType] = {"metric": metric, "field": field, "rule": rule}
WHOLE = tuple(step for toy in TOYS.values() for step in toy.CHANGE)
HALF = (
    *(step for step in metric.CHANGE if step.step == metric.DECLARED),
    *(step for step in field.CHANGE if step.step in field.BEGUN),
    *rule.IN_PLACE,
)
LEFT_OUT = [(kind, step) for kind, toy in TOYS.items() for step in toy.NAMED]
SEED = os.environ.get("GAINSAY_TEST_CHANGES_SEED", "0")
if os.environ.get("GAINSAY_TEST_CHANGES") != "all":
    LEFT_OUT = random.Random(SEED).sample(LEFT_OUT, 2)

Called = dict[str, Any]
pytestmark = pytest.mark.timeout(300)  # other processes do the work, and a machine may be busy


@pytest.fixture(scope="module")
def whole() -> Iterator[tree.Tree]:
    """A copy to which nothing has been done yet."""
    with tree.lend() as found:
        yield found


def said(result: tree.Result) -> list[Called]:
    """The steps that `tests.change.upgrade` has printed."""
    assert result.code == 0, result.output
    return [json.loads(line) for line in result.output.splitlines() if line.startswith('{"words"')]


def missing(places: tuple[str, ...], output: str) -> list[str]:
    return [place for place in places if place not in output]


def test_applied_half_one_run_names_every_place_that_is_missing() -> None:
    begun = {metric.DECLARED, *field.BEGUN}
    steps = {step: places for toy in (metric, field) for step, places in toy.NAMED.items() if step not in begun}
    steps[field.COLUMNS_KEPT] = ("of the columns in tests/unit/audit/test_export.py",)
    steps[field.TABLE] = ("of the table in docs/audit.md",)
    steps[field.GOLDENS] = ("python -m tests.vectors.goldens",)
    steps["in place"] = ("these are recorded under judgement/1: give it a new version (docs/how-to/change-a-rule.md)",)

    with tree.lend() as half:
        half.apply(HALF)
        result = half.python("-m", "tests.change.check", *TOYS)

    assert result.code == 1, result.output
    assert {step: left for step, places in steps.items() if (left := missing(places, result.output))} == {}


@pytest.mark.parametrize(("kind", "step"), LEFT_OUT, ids=lambda value: value.replace(" ", "-"))
def test_a_step_that_is_left_out_is_named(kind: str, step: str) -> None:
    toy = TOYS[kind]
    with tree.lend() as changed:
        output = changed.apply(tree.without(toy.CHANGE, step), all_run=False)
        result = changed.python("-m", "tests.change.check", kind)

    assert result.code == 1, result.output
    assert missing(toy.NAMED[step], output + result.output) == [], result.output


def test_a_deployment_goes_on_with_all_of_them(whole: tree.Tree, data_folder: Path, tmp_path: Path) -> None:
    env = {"GAINSAY_DATA_DIR": str(data_folder)}
    old, *_ = said(whole.python("-m", "tests.change.upgrade", "old", str(tmp_path), env=env))
    whole.apply(WHOLE)
    said(whole.python("-m", "tests.change.upgrade", "later", str(tmp_path), env=env))

    reviewed, _, report, export, _, *verified, metrics = said(
        whole.python("-m", "tests.change.upgrade", "new", str(tmp_path), env=env)
    )

    assert [called["code"] for called in (old, reviewed, report, export, *verified)] == [0, 0, 0, 0, 0, 4, 0]
    assert engines(old) == {"judgement/1"}
    assert engines(reviewed) == {"judgement/2"}
    ends = ["VERIFIED, UNSIGNED", "NOT ALL CHECKABLE: 17 checks", "VERIFIED, UNSIGNED"]
    for called, end in zip(verified, ends, strict=True):
        assert called["out"].splitlines()[-1].startswith(end), called["out"]
    assert "checks by judgement/3, and this build has" in verified[1]["out"]
    assert verified_by_the_unchanged_code(tmp_path / "new.zip") == ["records", "context", "gate", "checks", "report"]
    assert verified_by_the_unchanged_code(tmp_path / "new.jsonl") == ["records", "payloads", "moves", "sources"]
    assert "Business unit" in report["out"]
    assert "Treasury" in report["out"]
    debates = {row["debate"]: row["businessUnit"] for row in csv.DictReader(io.StringIO(export["out"], newline=""))}
    assert debates[json.loads(reviewed["out"])["debateId"]] == "Treasury"
    assert debates[json.loads(old["out"])["debateId"]] == ""
    series = [line for line in metrics["out"].splitlines() if line.startswith("gainsay_arguments_struck_total{")]
    assert {label for line in series for label in ('seat="critic"', 'seat="proposer"') if label in line} == {
        'seat="critic"',
        'seat="proposer"',
    }


def verified_by_the_unchanged_code(file: Path) -> list[str]:
    """What an earlier build cannot check of an honest record; it finds no failure."""
    words = ("audit", "verify", str(file), "--json", "--allow-unsigned", "--allow-unwitnessed")
    report = json.loads(tree.Tree(tree.ROOT).python("-m", "service", *words).output)
    states = {step["name"]: step["state"] for step in report["steps"] if not step.get("allowed")}
    assert report["exit"] == 4, states
    return [name for name, state in states.items() if state != "OK"]


def engines(reviewed: Called) -> set[str]:
    """The versions by which the critiques of a debate were judged."""
    return {check["engine"] for check in json.loads(reviewed["out"])["checks"] if check["kind"] == "critique"}


def test_applied_whole_nothing_is_missing_and_no_golden_of_the_first_version_has_changed(whole: tree.Tree) -> None:
    if not (whole.folder / rule.SECOND).exists():
        whole.apply(WHOLE)  # this test runs alone

    result = whole.python("-m", "tests.change.check", *TOYS)

    assert result.code == 0, result.output
    name = "tests/vectors/goldens/judgement-1.critique.jsonl"
    assert (whole.folder / name).read_bytes() == (tree.ROOT / name).read_bytes()


def test_a_step_that_no_longer_fits_says_which(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("twice twice\n")
    here = tree.Tree(tmp_path)

    for step, told in (
        (tree.Edit("2 count", "a.py", "twice", "x"), "expected this text once in a.py, found it 2 times:\ntwice"),
        (tree.Edit("2 count", "b.py", "x", "y"), "expected the file b.py, found none"),
        (tree.Write("2 count", "a.py", ""), "expected no a.py before it is written, found one"),
        (tree.Run("2 count", ("-c", "raise SystemExit(3)")), "expected exit code 0 of python -c"),
    ):
        with pytest.raises(tree.NoLongerFitsError) as raised:
            here.apply([step])

        assert "change 1 of 1 (step '2 count')" in str(raised.value)
        assert told in str(raised.value)
    assert (tmp_path / "a.py").read_text() == "twice twice\n"


def test_every_file_of_a_check_is_there(root: Path) -> None:
    files = {name.partition("::")[0] for kind in KINDS.values() for name in kind.tests}

    assert [name for name in sorted(files) if not (root / name).exists()] == []
