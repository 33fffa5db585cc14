"""Imports of the service's large parts: without the garbage collector, and in a thread where something is waited for.

The collector would look through all that imports make again and again, and find nothing, for a seventh of their time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

THRESHOLDS = 10_000, 10, 10
"""How many objects more than before begin a collection (Python: 700), and how many of these the next older ones."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Make no collection during the block."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def settle() -> None:
    """Leave what was imported out of all later collections, and collect less often. For a process that stays.

    A collection of everything holds the loop, and with Python's own numbers a worker makes one each ninety debates.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[Callable[[], None]]:
    """Do some work in a thread during the block, which may wait for something else and imports nothing large itself.

    The function waits for the end of the work and raises what it raised; the end of the block waits too.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with uncollected():
                work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            raised.append(error)

    def done() -> None:
        thread.join()
        if raised:
            raise raised[0]

    thread = Thread(target=run, name="meanwhile")
    thread.start()
    try:
        yield done
    finally:
        thread.join()
