"""Which tests a draw runs, and what an import alone does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.loops.collecting import cases_drawn, drawn, ranked

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


def test_of_many_cases_a_third_is_drawn_and_every_function_runs() -> None:
    tests = [f"a.py::test_{name}[{n}]" for name in "bcd" for n in range(10)] + ["a.py::test_alone", "a.py::test_two[1]"]

    kept = cases_drawn([*tests, "a.py::test_two[2]"], 3, "1")

    assert {test.partition("[")[0] for test in kept} == {test.partition("[")[0] for test in tests}
    assert len(kept) == 3 * 4 + 1 + 2
    assert kept == cases_drawn([*tests, "a.py::test_two[2]"], 3, "1")
    assert set().union(*(cases_drawn(tests, 3, str(seed)) for seed in range(40))) == {*tests}


def test_a_draw_of_files_takes_each_of_them_in_turn() -> None:
    files = [f"tests/faults/test_{n}.py" for n in range(20)]

    assert {file for seed in range(40) for file in ranked(files, str(seed))[:10]} == {*files}
    assert ranked(files, "1") == ranked(reversed(files), "1") != ranked(files, "2")


def test_what_is_left_out_is_counted_with_its_seed(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text("import pytest\npytestmark = pytest.mark.long\ndef test_it():\n    pass\n")
    many = "@pytest.mark.many\n@pytest.mark.parametrize('n', range(9))"
    (tmp_path / "test_many.py").write_text(f"import pytest\n{many}\ndef test_it(n):\n    pass\n")
    words = ["-c", "/dev/null", "--rootdir", str(tmp_path), "-p", "tests.loops.collecting", "--cases=3", "--long=2"]
    seed = {**os.environ, "GAINSAY_TEST_DRAW_SEED": "7"}

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)],
        cwd=ROOT,
        env=seed,
        check=True,
        capture_output=True,
        text=True,
    )

    assert "GAINSAY_TEST_DRAW_SEED=7 has drawn all but 6 tests and cases" in done.stdout
    assert "4 passed, 6 deselected" in done.stdout


def test_an_import_alone_keeps_the_rewritten_file_and_runs_no_test(tmp_path: Path) -> None:
    """A worker that comes later reads what is kept; a failing test would fail if it ran."""
    file = tmp_path / "test_it.py"
    file.write_text("def test_it():\n    assert False\n")
    words = ["-q", "-c", "/dev/null", "--rootdir", str(tmp_path), "-p", "tests.loops.collecting", "--only-import"]
    without = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    done = subprocess.run([sys.executable, "-m", "pytest", *words, str(file)], cwd=ROOT, env=without, check=False)

    assert done.returncode == 0
    assert [kept.name.partition(".")[0] for kept in (tmp_path / "__pycache__").glob("*pytest*")] == ["test_it"]
