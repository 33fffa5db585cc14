"""What happens around the collection of tests, which makes some hundred thousand objects that live for the whole run.

The garbage collector would look through them again and again, while they are made and in every test after that: it
rests during the collection, and what has been collected is then put aside from it. What a test makes is collected as
ever, so what it forgets to close is still told.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


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
