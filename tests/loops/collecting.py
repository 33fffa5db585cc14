"""What happens around the collection of tests: the garbage collector rests, and what waits is marked and put first.

Collection makes half a million objects that live for the whole run. The garbage collector would look through them again
and again, while they are made and in every test after that, so it rests during the collection, and what was collected
is put aside from it. What a test makes is collected as ever: a test that forgets to close something still fails.

Tests of a file that starts processes or waits get the mark `waits`, by the text of the file, so there is no list that
could be out of date. `pytest --longest-first` begins with them, and the short files at the end balance the workers.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

WAITS = re.compile(
    r"\b(?:subprocess|multiprocessing|Popen|Process|processes|Deployment|deployed|a_deployment|PrivateServer|Blank"
    r"|racing|dying|dying_\w+|guardian|sleep|until|wait|wait_for|gather|served|bench|a_worker|at_work|on_trial|wire_to)\b"
)
"""What a file names that starts processes, or waits for what another task or process does."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option to pytest's own general group."""
    parser.getgroup("general").addoption("--longest-first", action="store_true", help="begin with tests that wait")


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


@pytest.hookimpl(tryfirst=True)  # before `-m waits` looks for the mark
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what waits, and put it first if that is asked for."""
    for item in items:
        if waits(item.path):
            item.add_marker("waits")
    if config.getoption("longest_first"):
        items.sort(key=lambda item: (item.get_closest_marker("waits") is None, "unit" in item.path.parts))


@cache
def waits(path: Path) -> bool:
    """Whether the tests of a file start processes or wait. All tests of whole deployments do, and no unit test does."""
    if "unit" in path.parts:
        return False
    return not {"end_to_end", "faults"}.isdisjoint(path.parts) or WAITS.search(path.read_text("utf-8")) is not None
