"""What docs/formats.md names is there: tests, paths, series, flags, caps and options."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from service import telemetry
from service.debate.model import StopReason
from service.intake.request import OPTIONS_OF
from service.report.wording import FLAG, REASON

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+)`", TEXT)))
PATHS = sorted(set(re.findall(r"`((?:service|tests|docs|migrations)/[^`]*)`", TEXT)))
ROWS = [
    line
    for part in ("## Where each demand is met", "## What holds for every debate")
    for line in TEXT.split(part)[1].split("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith(("| demand |", "| failure |", "| rule |"))
]


def names_of_tests() -> set[str]:
    """The names of all tests."""
    return {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def table(heading: str, header: str) -> set[str]:
    """The first cells of a table, as they stand in code marks."""
    rows = TEXT.split(heading)[1].split(header)[1].split("\n\n")[0].splitlines()
    return {found[1] for row in rows if (found := re.match(r"\| `(\w+)`", row))}


def test_every_test_that_is_named_exists() -> None:
    assert len(NAMED) > 80
    assert sorted(set(NAMED) - names_of_tests()) == []


def test_every_path_that_is_named_exists() -> None:
    assert len(PATHS) > 30
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:42])
def test_every_demand_has_a_place_and_a_test_or_says_that_it_has_none(row: str) -> None:
    placed, tested = re.search(r"`(?:service|tests|migrations)/", row), "`test_" in row

    assert (placed and tested) or "*Not here*" in row


def test_every_series_that_is_named_is_one_of_ours() -> None:
    ours = {metric.name for metric in telemetry.REGISTRY.collect()}
    named = set(re.findall(r"gainsay_[a-z_]+", TEXT))

    assert len(named) > 8
    assert {name for name in named if re.sub(r"_(?:total|sum|count)$", "", name) not in ours} == set()


def test_every_flag_cap_and_option_is_told() -> None:
    beside = {"orderSensitive", "confidenceLow", "policy"}  # of other formats, or reasons for review that are no caps

    assert table("### Outcome", "| flag | when |") == set(FLAG)
    assert table("### Outcome", "| cap | at most |") == set(REASON) - beside
    assert table("### Options", "| option |") == {*OPTIONS_OF["adversarial"], "costCeilingUSD"}


def test_every_reason_for_which_a_debate_stops_is_told() -> None:
    told = TEXT.split("## adversarial")[1].split("### Options")[0]
    elsewhere = {"consensus", "declined"}  # of other formats; of the gate

    assert {r for r in get_args(StopReason) if f"`{r}`" not in told} == elsewhere
