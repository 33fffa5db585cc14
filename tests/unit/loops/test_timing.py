"""The table of where a run's time went, the mark of tests that wait, and the end of a run whose time is over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.loops.collecting import waits
from tests.loops.timing import Spent, by_file, lines

ROOT = Path(__file__).resolve().parents[3]


def report(nodeid: str, wall_s: float, cpu_s: float) -> pytest.TestReport:
    """What one phase of a test took."""
    took = [("cpu_s", cpu_s)]
    return pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, "call", duration=wall_s, user_properties=took)


def test_a_file_takes_what_all_phases_of_all_its_tests_take() -> None:
    reports = [report("a.py::x", 1.0, 0.5), report("a.py::x", 2.0, 0.5), report("a.py::y[1]", 1.0, 0.0)]

    found = by_file([*reports, report("b.py::x", 9.0, 1.0)])

    assert found == [Spent("b.py", 1, 9.0, 1.0), Spent("a.py", 2, 4.0, 1.0)]


def test_the_table_names_the_longest_files_and_sums_up_the_others() -> None:
    files = [Spent("a.py", 2, 4.0, 1.0), Spent("b.py", 1, 2.0, 2.0), Spent("c.py", 3, 1.0, 1.0)]

    assert [line.split() for line in lines(files, 1)] == [
        ["wall", "cpu", "tests", "file"],
        ["4.0s", "1.0s", "2", "a.py"],
        ["3.0s", "3.0s", "4", "2", "others"],
        ["7.0s", "4.0s", "6", "all"],
    ]


@pytest.mark.parametrize(
    "file", ["faults/test_soak.py", "end_to_end/signing/test_witness.py", "store/test_sequencer.py"]
)
def test_files_that_start_processes_or_wait_are_marked(file: str) -> None:
    assert waits(ROOT / "tests" / file)


def test_unit_tests_wait_for_nothing() -> None:
    assert not waits(Path(__file__))


def test_what_has_not_begun_in_time_is_skipped_and_counted() -> None:
    words = ["-q", "-p", "no:cacheprovider", "--stop-after=0.000001", "tests/unit/debate/test_ids.py"]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "not begun within 1e-06 s" in done.stdout
    assert "have not begun: tests/unit/debate/test_ids.py" in done.stdout
    assert " passed" not in done.stdout
