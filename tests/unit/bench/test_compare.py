"""Two versions beside each other: what is printed of them, and which are refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import compare
from bench.worker import NAMES

SAME = dict.fromkeys(NAMES, 2.0)


def test_each_figure_gets_its_verdict() -> None:
    pairs = [({**SAME, "worker": 10.0 + n}, {**SAME, "worker": (10.0 + n) / 2}) for n in range(8)]
    told = dict(zip(NAMES, compare.lines(pairs), strict=True))

    assert (
        told["worker"].split()
        == "CPU of the worker and its process of checks 14.0 -> 7.00 50.0 % less (99 % interval 0.500 to 0.500)".split()
    )
    assert all("no difference" in line for name, line in told.items() if name != "worker")


def test_too_few_pairs_are_refused_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compare.main(["HEAD", "--pairs", "5"])

    assert "expected PAIRS of at least 6, found 5" in capsys.readouterr().err


def test_a_commit_that_git_does_not_know_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "ROOT", _repository(tmp_path))

    with pytest.raises(SystemExit, match="nowhere"), compare.checked_out("nowhere"):
        pass


def test_a_checkout_has_the_files_of_the_commit_and_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _repository(tmp_path)
    (root / "said").write_text("later")
    monkeypatch.setattr(compare, "ROOT", root)

    with compare.checked_out("HEAD") as place:
        assert (place / "said").read_text() == "first"
    assert not place.exists()
    assert _git(root, "worktree", "list").count("\n") == 1


def _repository(root: Path) -> Path:
    _git(root, "init", "--quiet")
    (root / "said").write_text("first")
    _git(root, "add", "said")
    _git(root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message=First")
    return root


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout
