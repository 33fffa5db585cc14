"""Sampled stacks as folded text."""

from __future__ import annotations

from collections import Counter
from types import CodeType

from bench.sampler import folded


def code(text: str, path: str) -> CodeType:
    """The code object of a function in a file of this path."""
    (inside,) = (each for each in compile(f"def {text}(): pass", path, "exec").co_consts if isinstance(each, CodeType))
    return inside


def test_stacks_begin_with_the_outermost_frame_and_name_modules_as_they_are_imported() -> None:
    inner = code("append", "/opt/gainsay/service/store/log.py")
    outer = code("run", "/usr/lib/python3.11/asyncio/runners.py")
    library = code("execute", "/x/.venv/lib/python3.11/site-packages/psycopg/cursor.py")
    seen = Counter({(inner, outer): 2, (library, inner, outer): 1})

    assert folded(seen) == (
        "asyncio.runners:run;service.store.log:append 2\n"
        "asyncio.runners:run;service.store.log:append;psycopg.cursor:execute 1\n"
    )
