"""Where the time of a run goes: `pytest --time-by-file=25` lists the files that took longest, and what they took.

`pytest --stop-after=40` skips tests that have not begun after 40 seconds; the summary counts them.

The time of a test is that of its set-up, call and teardown. Processor time includes child processes that have ended; it
does not include PostgreSQL, which lasts for the session. A file whose wall time is far above its processor time waits.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

import pytest

from tests.fixtures.keeping import cache

LAST = pytest.StashKey[float]()
CPU_S = "cpu_s"
BEGUN = time.monotonic()
OVER = "not begun within"
KEPT = "gainsay/time-by-file"
"""Where pytest's cache keeps the wall time and the number of tests of each file; `tests/loops/changed.py` reads it."""


class Spent(NamedTuple):
    """What one file took."""

    file: str
    tests: int
    wall_s: float
    cpu_s: float


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options to pytest's own group of reporting options."""
    group = parser.getgroup("terminal reporting")
    group.addoption("--time-by-file", type=int, default=0, metavar="N", help="list the N longest test files")
    group.addoption(
        "--stop-after", type=float, default=0.0, metavar="S", help="skip what has not begun after S seconds"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test, before any of its fixtures, when the time is over."""
    within_s = item.config.getoption("stop_after")
    if within_s and time.monotonic() - BEGUN > within_s:
        pytest.skip(f"{OVER} {within_s:g} s")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Begin to count."""
    item.stash[LAST] = _cpu_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down the processor time of each phase; xdist hands it over with the report."""
    report = yield
    now = _cpu_s()
    report.user_properties.append((CPU_S, now - item.stash[LAST]))
    item.stash[LAST] = now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Keep the times for the next run, and print what had no time and where the time went."""
    reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
    files = by_file(reports)
    late = {r.nodeid.partition("::")[0] for r in reports if r.skipped and OVER in str(r.longrepr)}
    if late:
        terminalreporter.write_line(f"Tests of these files have not begun: {' '.join(sorted(late))}")
    _keep(terminalreporter.config, [spent for spent in files if spent.file not in late])
    most = terminalreporter.config.getoption("time_by_file")
    if most and files:
        terminalreporter.write_sep("=", f"time by file: the {min(most, len(files))} longest of {len(files)}")
        for line in lines(files, most):
            terminalreporter.write_line(line)


def _keep(config: pytest.Config, files: list[Spent]) -> None:
    """Keep the time of each file, unless a former run had more tests of it."""
    if (kept_by := cache(config)) is None:
        return
    kept = kept_by.get(KEPT, {})
    for spent in files:
        if spent.tests >= kept.get(spent.file, (0, 0.0))[0]:
            kept[spent.file] = (spent.tests, round(spent.wall_s, 3))
    kept_by.set(KEPT, kept)


def by_file(reports: Iterable[pytest.TestReport]) -> list[Spent]:
    """What each file took, the longest first."""
    wall: dict[str, float] = defaultdict(float)
    cpu: dict[str, float] = defaultdict(float)
    tests: dict[str, set[str]] = defaultdict(set)
    for report in reports:
        file, _, test = report.nodeid.partition("::")
        wall[file] += report.duration
        cpu[file] += sum(float(str(took)) for name, took in report.user_properties if name == CPU_S)
        tests[file].add(test)
    found = (Spent(file, len(tests[file]), wall[file], cpu[file]) for file in wall)
    return sorted(found, key=lambda spent: (-spent.wall_s, spent.file))


def lines(files: list[Spent], most: int) -> Iterator[str]:
    """The table: a line for each of the longest files, one for all the others and one for all."""
    yield f"{'wall':>9} {'cpu':>9} {'tests':>6}  file"
    rest = files[most:]
    for spent in files[:most]:
        yield _line(spent)
    if rest:
        yield _line(_sum(f"{len(rest)} others", rest))
    yield _line(_sum("all", files))


def _sum(name: str, files: list[Spent]) -> Spent:
    return Spent(name, sum(f.tests for f in files), sum(f.wall_s for f in files), sum(f.cpu_s for f in files))


def _line(spent: Spent) -> str:
    return f"{spent.wall_s:8.1f}s {spent.cpu_s:8.1f}s {spent.tests:6}  {spent.file}"


def _cpu_s() -> float:
    """Processor seconds of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
