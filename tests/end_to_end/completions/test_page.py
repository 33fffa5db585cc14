"""docs/completions.md: its program is run as it stands there, and its tables say what the code does."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from service.web.completions.errors import ModelNotFound, NoAnswer, StakeMissing, UnsupportedParameter
from service.web.completions.parameters import IGNORED, REFUSED
from service.web.completions.stake import ELSEWHERE, TAKEN
from tests.fixtures.calling_page import ADDRESS
from tests.fixtures.serving import Served

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "completions.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table of a part of the page, without its head."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def named(cell: str) -> set[str]:
    """The names in a cell that are set as code."""
    return set(re.findall(r"`(\w+)`", cell))


@pytest.mark.asyncio(loop_scope="module")
async def test_the_program_of_the_page_prints_what_the_page_says(site: Served) -> None:
    (_, program), (_, printed) = BLOCK.findall(PAGE)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program.replace(ADDRESS, site.url)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()

    assert (process.returncode, error.decode()) == (0, "")
    assert ID.sub("ID", out.decode()) == ID.sub("ID", printed)


def test_the_page_names_each_parameter_by_what_becomes_of_it() -> None:
    _, none, refused, _ = rows("Other parameters")

    assert named(none[0]) == set(IGNORED)
    assert named(refused[0]) == set(REFUSED)


def test_the_page_names_each_key_of_metadata() -> None:
    keys = set[str]().union(*(named(row[0]) for row in rows("metadata")))

    assert keys == set(TAKEN)
    for name in set(ELSEWHERE) - {"metadata"}:
        assert f"`{name}`" in PAGE.partition("\n## metadata\n")[2].partition("\n## ")[0]


def test_the_page_has_the_codes_that_only_chat_requests_have() -> None:
    for error in (ModelNotFound, UnsupportedParameter, StakeMissing, NoAnswer):
        assert any(f"`{error.code}`" in row[2] and row[0] == str(error.status) for row in rows("Errors")), error.code
