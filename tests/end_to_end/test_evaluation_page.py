"""docs/evaluation.md, *Plans and runs*: its commands do what it says, and its tables have what there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from service.audit.evaluation_events import EvaluationEntry, StoppedBy
from service.evaluation.plan.model import Does
from service.evaluation.plan.reading import EFFECT, FILE, PLAN
from tests.end_to_end.processes import Deployment
from tests.fixtures.postgres import Database
from tests.fixtures.serving import SIGNING_KEY

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "evaluation.md").read_text("utf-8")
SECTION = PAGE.split("\n## Plans and runs\n")[1].split("\n## ")[0]
SETS = PAGE.split("\n## Golden sets\n")[1].split("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
RESULTS = PAGE.split("\n## Scores and results\n")[1].split("\n## ")[0]
REPORT, DISPUTE, CORRECTION, CHECK, APPROVAL = re.findall(r"```sh\n(.*?)```", RESULTS, re.DOTALL)
OVER_TIME = PAGE.split("\n## Moderators over time\n")[1].split("\n## ")[0]
(MODERATORS,) = re.findall(r"```sh\n(.*?)```", OVER_TIME, re.DOTALL)


@pytest.mark.long
def test_the_commands_of_the_page_plan_and_run_an_evaluation(database: Database, tmp_path: Path) -> None:
    variables = {**Deployment(database, tmp_path).variables, "LOG_KEY": SIGNING_KEY.public.encode()}
    kept = tmp_path / "data" / "keys" / "log.key"
    kept.parent.mkdir(parents=True, mode=0o700)
    kept.write_text(SIGNING_KEY.encode(), "utf-8")
    kept.chmod(0o600)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (imported,) = (block for block in re.findall(r"```sh\n(.*?)```", SETS, re.DOTALL) if "evaluate import" in block)
    printed = [
        subprocess.run(
            ["bash", "-euc", block],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            cwd=tmp_path,
            env={"PATH": path, "HOME": str(tmp_path), **variables},
        ).stdout
        for block in (imported, *BLOCKS, REPORT, DISPUTE, CORRECTION, CHECK, APPROVAL, MODERATORS)
    ]

    assert len(BLOCKS) == 4
    _, planned, ran, given, verified, reported, disputed, corrected, checked, approved, moderators = printed
    assert verified.splitlines()[-1].startswith("VERIFIED")
    assert "1 evaluations: 6 scores and 1 results computed again" in verified
    assert "half: gain 0.15, loss 0.05" in planned
    assert "concluded: inconclusive; 6 of 6 scored" in ran
    assert "  lease  ended" in ran
    assert f"OK       sets         {tmp_path}/lease-questions" in given
    assert "half: gain 0.15, loss 0.05" in given
    assert reported == "wrote lease.html\n"
    assert "no debate is decided, so nothing is said of a pull to the proposer or the critic" in moderators
    assert "wrote moderators.html" in moderators
    assert "no tilt is recorded" in moderators
    assert "Exploratory: inconclusive" in (tmp_path / "lease.html").read_text("utf-8")
    wrong = json.loads((tmp_path / "disputed.json").read_text("utf-8"))
    assert disputed.count("not as labelled: answered") == len(wrong) > 0
    assert all(f"debate {one['debate']}" in disputed and not one["score"]["right"] for one in wrong)
    assert "lease-questions v2" in corrected
    assert "1 evaluations: 6 scores and 1 results computed again" in checked
    assert approved.count("  prompts  ") == 2, "signed, and checked"
    assert "risk.example" in (tmp_path / "approval.txt").read_text("utf-8")


def test_every_key_of_a_plan_has_its_place_on_the_page() -> None:
    table = SECTION.split("| key of `[plan]` |")[1].split("\n\n")[0]
    named = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}

    assert named == set(PLAN)
    assert all(f"[{table}]" in SECTION for table in FILE)
    assert all(f"`{member}`" in SECTION for members in EFFECT.values() for member in members)


def test_every_arm_stop_and_record_has_a_row() -> None:
    rows = set(re.findall(r"^\| (?:stopped by )?`([\w.]+)` \|", SECTION, re.MULTILINE))

    kinds = {str(entry.__struct_config__.tag) for entry in get_args(EvaluationEntry)}
    assert rows >= {*get_args(Does), *kinds}
    assert set(get_args(StoppedBy)) <= rows
