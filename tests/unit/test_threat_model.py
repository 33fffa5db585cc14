"""The tables of the threat model by process: each row has a test that is there, or says what is not defended."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w./-]+\.py)::(test_\w+)`")
PROCESSES = {
    "API",
    "API key",
    "worker",
    "sequencer",
    "signer",
    "witness",
    "database",
    "policy and deployer",
    "vendor",
    "identity provider",
    "proxy",
    "caller's browser",
    "receiver",
}


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows of the first table below a heading."""
    section = PAGE.partition(f"{heading}\n")[2].partition("\n#")[0]
    lines = re.findall(r"^\|.*\|$", section, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


BY_PROCESS = rows("## By process")
TAKEN_OVER = rows("### What a compromised host can do")


@cache
def _names(path: Path) -> set[str]:
    """The names of the tests of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_tables_are_there() -> None:
    assert len(BY_PROCESS) > 90
    assert len(TAKEN_OVER) > 15


@pytest.mark.parametrize("row", [*BY_PROCESS, *TAKEN_OVER], ids=lambda row: f"{row[0]}: {row[-3][:40]}")
def test_a_row_names_tests_that_are_there_or_says_what_is_not_defended(row: list[str]) -> None:
    named = NAMED.findall(row[-1])

    assert named or row[-1].startswith("**not defended**")
    assert [f"{file}::{test}" for file, test in named if test not in _names(ROOT / file)] == []


@pytest.mark.parametrize("process", sorted(PROCESSES))
def test_each_process_has_a_row_for_each_letter(process: str) -> None:
    found = {letter for name, letters, *_ in BY_PROCESS if name == process for letter in letters.split(", ")}

    assert found == set("STRIDE")


def test_no_row_is_of_a_process_that_is_not_there() -> None:
    assert {row[0] for row in BY_PROCESS} == PROCESSES
