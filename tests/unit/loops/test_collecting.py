"""Which tests a draw runs, and what an import alone does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.loops.collecting import drawn

ROOT = Path(__file__).resolve().parents[3]
TESTS = [f"tests/end_to_end/test_debates.py::test_one[{n}]" for n in range(3_000)]


def test_a_seed_draws_one_in_so_many_and_the_same_again() -> None:
    first = [test for test in TESTS if drawn(test, 3, "1")]

    assert 900 < len(first) < 1_100
    assert first == [test for test in TESTS if drawn(test, 3, "1")]
    assert first != [test for test in TESTS if drawn(test, 3, "2")]


def test_every_test_is_drawn_by_some_seed() -> None:
    assert all(any(drawn(test, 3, str(seed)) for seed in range(40)) for test in TESTS[:200])


def test_one_in_one_is_all() -> None:
    assert all(drawn(test, 1, "1") for test in TESTS)


def test_an_import_alone_keeps_the_rewritten_file_and_runs_no_test(tmp_path: Path) -> None:
    """A worker that comes later reads what is kept; a failing test would fail if it ran."""
    file = tmp_path / "test_it.py"
    file.write_text("def test_it():\n    assert False\n")
    words = ["-q", "-c", "/dev/null", "--rootdir", str(tmp_path), "-p", "tests.loops.collecting", "--only-import"]
    without = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    done = subprocess.run([sys.executable, "-m", "pytest", *words, str(file)], cwd=ROOT, env=without, check=False)

    assert done.returncode == 0
    assert [kept.name.partition(".")[0] for kept in (tmp_path / "__pycache__").glob("*pytest*")] == ["test_it"]
