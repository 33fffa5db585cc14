"""``gainsay evaluate key``: what it writes, what it refuses, and that labels of held have to be asked for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from service.cli import main
from service.simulated.known_cases import parse
from tests.fixtures.golden_sets import CRITIC, FOLDER, QUESTIONS

Output = pytest.CaptureFixture[str]
SETS = [str(FOLDER / QUESTIONS), str(FOLDER / CRITIC)]


def test_a_key_has_a_line_for_each_open_item(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "key.jsonl"

    assert main(["evaluate", "key", *SETS, "--to", str(path)]) == 0

    lines = parse(path.read_bytes(), "key.jsonl")
    assert [line.kind for line in lines] == ["questions"] * 2 + ["critic"] * 2
    captured = capsys.readouterr()
    assert captured.out == f"wrote {path}: 4 cases, with their labels; give it to simulated models alone\n"
    assert "held" not in captured.err


def test_labels_of_held_are_in_it_where_that_is_stated_and_the_look_is_named(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "key.jsonl"

    assert main(["evaluate", "key", *SETS, "--held", "--to", str(path)]) == 0

    assert len(parse(path.read_bytes(), "key.jsonl")) == 8
    assert "This was a look at held labels" in capsys.readouterr().err


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key.jsonl"
    path.write_text("mine")

    assert main(["evaluate", "key", *SETS, "--to", str(path)]) == 2
    assert path.read_text() == "mine"


def test_a_set_with_faults_has_no_key(tmp_path: Path, capsys: Output) -> None:
    shutil.copytree(FOLDER / CRITIC, tmp_path / "bad")
    (tmp_path / "bad" / "labels.jsonl").write_text("{}\n")
    path = tmp_path / "key.jsonl"

    assert main(["evaluate", "key", str(tmp_path / "bad"), "--to", str(path)]) == 2
    assert "bad_set" in capsys.readouterr().err
    assert not path.exists()


def test_a_set_that_is_not_there_is_said(tmp_path: Path, capsys: Output) -> None:
    assert main(["evaluate", "key", "no-such-set", "--to", str(tmp_path / "key.jsonl")]) == 2
    assert "expected the id of a shipped set or a folder" in capsys.readouterr().err
