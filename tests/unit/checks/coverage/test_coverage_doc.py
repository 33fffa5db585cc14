"""docs/coverage.md shows what is so: its example, its members, its tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from service.checks.coverage import DocumentCoverage
from service.checks.coverage.sentences import MOST_RANGES, sentence
from service.debate.turns import TurnId
from tests.unit.checks.coverage.cited import at, citing, told

FOUND = told(citing(at("capped at the fees")), citing(at("fraud"), turn=TurnId("1.critic.1")))


def page(root: Path) -> str:
    return (root / "docs" / "coverage.md").read_text("utf-8")


def test_the_example_is_what_is_told(root: Path) -> None:
    (shown,) = re.findall(r"begin -->\n```json\n(.*?)^```$", page(root), re.MULTILINE | re.DOTALL)

    real = msgspec.json.decode(msgspec.json.encode(FOUND), type=dict[str, Any])

    for member, value in json.loads(shown).items():
        assert real[member][: len(value)] == value if isinstance(value, list) else real[member] == value
    assert f"*{sentence(FOUND)}*" in page(root)
    assert MOST_RANGES == 12, "the page says twelve"


def test_every_member_is_told(root: Path) -> None:
    told_of = set(re.findall(r"`(\w+)`", page(root).split("| member |")[1].split("\n\n")[0]))

    assert set(DocumentCoverage.__struct_encode_fields__) <= told_of


def test_every_test_that_the_page_names_is_there(root: Path) -> None:
    code = "".join(path.read_text("utf-8") for path in (root / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page(root)))

    assert len(named) > 5
    assert {name for name in named if f"def {name}(" not in code} == set()
