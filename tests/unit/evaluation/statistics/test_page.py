"""docs/evaluation.md lists every statistic with its parameters, and its commands answer as it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

from service.evaluation.statistics import STATISTICS
from service.evaluation.statistics.registry import parameters
from tests.unit.evaluation.statistics.test_vectors import alike

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "evaluation.md").read_text("utf-8")
SECTION = PAGE.split("\n## Statistics\n")[1].split("\n## ")[0]


def test_the_commands_of_the_section_answer_as_it_shows(tmp_path: Path) -> None:
    commands, answers = (re.findall(rf"```{kind}\n(.*?)```", SECTION, re.DOTALL) for kind in ("sh", "json"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    for asked, shown in zip(commands, answers, strict=True):
        ran = subprocess.run(
            ["bash", "-euc", asked], capture_output=True, text=True, check=True, cwd=tmp_path, env={"PATH": path}
        )
        found, expected = ([json.loads(line) for line in text.splitlines()] for text in (ran.stdout, shown))
        assert alike(found, expected)
    assert len(commands) >= 1


def test_the_table_has_each_statistic_with_its_parameters() -> None:
    rows = re.findall(r"^\| `(\w+)\(([\w, ]+)\)` \|", SECTION, re.MULTILINE)

    assert [name for name, _ in rows] == list(STATISTICS)
    assert {name: tuple(given.split(", ")) for name, given in rows} == {
        name: parameters(name)[1] for name in STATISTICS
    }
    defaults = {
        (each.name, json.dumps(each.default))
        for function in STATISTICS.values()
        for each in signature(function).parameters.values()
        if each.default is not each.empty
    }
    assert set(re.findall(r'`(\w+)=([\w."]+)`', SECTION)) == defaults
    assert f"the {len(STATISTICS)} statistics" in SECTION
