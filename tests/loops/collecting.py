"""What happens around the collection of tests: the garbage collector rests, and what waits is marked and put first.

Collection makes half a million objects that live for the whole run. The garbage collector would look through them again
and again, while they are made and in every test after that, so it rests during the collection, and what was collected
is put aside from it. What a test makes is collected as ever: a test that forgets to close something still fails.

Tests of a file that starts processes or waits get the mark `waits`, by the text of the file, so there is no list that
could be out of date. `pytest --longest-first` begins with them, and the short files at the end balance the workers.

`pytest --only-import` imports the test files and runs nothing: pytest rewrites each file and keeps it so, once for all
workers that come. Several that begin with a fresh clone would each rewrite every file.

`pytest --draw=3` runs one in three of them, and all others. `pytest --cases=3` runs every test function; of one with
three cases or more, in a file that waits or has the mark `many`, a third. `pytest --long=2` runs half of the
files with the mark `long`. GAINSAY_TEST_DRAW_SEED or else the commit draws which, so that a red run is red again and
another commit tries others; the summary says the seed.
"""

from __future__ import annotations

import gc
import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.change.tree import commit

WAITS = re.compile(
    r"\b(?:subprocess|multiprocessing|Popen|Process|processes|Deployment|deployed|a_deployment|PrivateServer|Blank"
    r"|racing|dying|dying_\w+|guardian|sleep|until|wait|wait_for|gather|served|bench|a_worker|at_work|on_trial|wire_to)\b"
)
"""What a file names that starts processes, or waits for what another task or process does."""
SEED = "GAINSAY_TEST_DRAW_SEED"
NOT_DRAWN = pytest.StashKey[tuple[str, int]]()
"""The seed of a draw, and how many tests it has left out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options to pytest's own general group."""
    group = parser.getgroup("general")
    group.addoption("--longest-first", action="store_true", help="begin with tests that wait")
    group.addoption("--only-import", action="store_true", help="import the test files, and run none of their tests")
    group.addoption("--draw", type=int, default=1, metavar="N", help="run one in N of the tests that wait")
    group.addoption("--cases", type=int, default=1, metavar="N", help="run one in N cases of what waits or is many")
    group.addoption("--long", type=int, default=1, metavar="N", help="run one in N of the files marked as long")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, and put aside what was collected."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> list[pytest.Item] | None:
    """Make no test of what an imported file has, where the import was all."""
    return [] if collector.config.getoption("only_import") else None


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Take it for a success that files were imported and no test ran."""
    if session.config.getoption("only_import") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(tryfirst=True)  # before `-m waits` looks for the mark
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what waits, and put it first if that is asked for."""
    for item in items:
        if waits(item.path):
            item.add_marker("waits")
    if config.getoption("longest_first"):
        items.sort(key=_turn)
    _draw(config, items)


def _turn(item: pytest.Item) -> tuple[bool, bool, bool]:
    """What waits comes first and unit tests last. The toy changes come after the deployments.

    Their mypy goes on from the cache that `make types` writes beside the first tests; before that it would read all
    modules itself.
    """
    rest = "end_to_end" not in item.path.parts
    return item.get_closest_marker("waits") is None, "unit" in item.path.parts, rest


def _draw(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = os.environ.get(SEED) or commit()
    left: set[pytest.Item] = set()
    if (one_in := config.getoption("draw")) > 1:
        left.update(item for item in items if waits(item.path) and not drawn(item.nodeid, one_in, seed))
    if (one_in := config.getoption("cases")) > 1:
        many = [item for item in items if waits(item.path) or item.get_closest_marker("many")]
        kept = cases_drawn([item.nodeid for item in many], one_in, seed)
        left.update(item for item in many if item.nodeid not in kept)
    if (one_in := config.getoption("long")) > 1:
        files = {item.nodeid.partition("::")[0] for item in items if item.get_closest_marker("long")}
        out = files.difference(ranked(files, seed)[: math.ceil(len(files) / one_in)])
        left.update(item for item in items if item.nodeid.partition("::")[0] in out)
    if left:
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=[*left])
        config.stash[NOT_DRAWN] = (seed, len(left))


def drawn(test: str, one_in: int, seed: str) -> bool:
    """Whether a seed draws a test, as it does one in so many."""
    return int.from_bytes(hashlib.sha256(f"{seed} {test}".encode()).digest()[:4]) % one_in == 0


def cases_drawn(tests: Sequence[str], one_in: int, seed: str) -> set[str]:
    """Of each function's cases that part which a seed draws; all where there are fewer than three."""
    cases: dict[str, list[str]] = {}
    for test in tests:
        cases.setdefault(test.partition("[")[0], []).append(test)
    kept: set[str] = set()
    for of in cases.values():
        kept.update(of if len(of) < 3 else ranked(of, seed)[: math.ceil(len(of) / one_in)])
    return kept


def ranked(names: Iterable[str], seed: str) -> list[str]:
    """The names in an order that a seed draws."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the seed of a draw."""
    if found := terminalreporter.config.stash.get(NOT_DRAWN, None):
        terminalreporter.write_line(f"{SEED}={found[0]} has drawn all but {found[1]} tests and cases")


@cache
def waits(path: Path) -> bool:
    """Whether the tests of a file start processes or wait. All tests of whole deployments do, and no unit test does."""
    if "unit" in path.parts:
        return False
    return not {"end_to_end", "faults"}.isdisjoint(path.parts) or WAITS.search(path.read_text("utf-8")) is not None
