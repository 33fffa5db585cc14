"""Commands of make that a document or the Makefile shows: their targets exist, and their tests can be collected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
TEXTS = [
    MAKEFILE,
    *(path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md")),
    *(path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))),
]
SHOWN = re.compile(r"(?:^(?:\$ )?|`(?:[A-Z_]+=\S+ )*)make ([a-z]+(?:-[a-z]+)*)", re.MULTILINE)
REPEATED = re.compile(r"make repeat TEST=(?:\"([^\"\n]+)\"|([\w./:\[\]-]*\w))(?=[\s`)])")
SELECTIONS = sorted({quoted or plain for text in TEXTS for quoted, plain in REPEATED.findall(text)})


def targets(text: str) -> set[str]:
    """The targets of make that a text shows as commands."""
    return set(SHOWN.findall(text))


def collects(selection: str) -> bool:
    """Whether pytest collects a test for these words; of a file without further words, whether it is there."""
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", selection)]
    if len(words) == 1 and "::" not in selection:
        return (ROOT / selection).exists()
    command = [sys.executable, "-m", "pytest", "--quiet", "--no-header", "--collect-only", "-p", "no:cacheprovider"]
    return (
        subprocess.run([*command, *words], cwd=ROOT, capture_output=True, check=False).returncode == pytest.ExitCode.OK
    )


def test_every_target_that_is_shown_exists() -> None:
    shown = set().union(*map(targets, TEXTS))

    assert {"quick", "test", "repeat", "soak", "bench-compare"} <= shown
    assert shown - TARGETS == set()


def test_targets_are_found_in_code_and_in_blocks() -> None:
    assert targets("run `make quick`, or `SEED=7 make soak`\n$ make demo-all\nto make sure") == {
        "quick",
        "soak",
        "demo-all",
    }


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_repeated_selection_collects_a_test(selection: str) -> None:
    assert collects(selection), f'make repeat TEST="{selection}" collects nothing'


def test_a_selection_without_a_test_is_noticed() -> None:
    assert len(SELECTIONS) >= 3
    assert not collects("tests/unit/loops/test_of_nothing.py")
