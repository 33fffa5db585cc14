"""Work in a thread while something else is waited for, and imports without the garbage collector."""

from __future__ import annotations

import gc
import threading

import pytest

from service.cli.meanwhile import meanwhile, uncollected
from service.errors import SettingsError


def test_the_work_is_done_beside_the_block_and_waited_for() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert may_end.wait(10)
        ended.set()

    with meanwhile(work) as done:
        assert begun.wait(10)
        assert not ended.is_set()
        may_end.set()
        done()
        assert ended.is_set()


def test_what_the_work_raises_is_raised_where_it_is_waited_for_and_nowhere_else() -> None:
    def work() -> None:
        raise SettingsError("no")

    with meanwhile(work) as done:
        for _ in range(2):
            with pytest.raises(SettingsError, match="no"):
                done()


def test_a_block_that_fails_ends_after_the_work_with_its_own_error() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait(10)
        ended.set()
        raise SettingsError("of the work")

    threading.Timer(0.05, may_end.set).start()
    with pytest.raises(ZeroDivisionError), meanwhile(work):
        raise ZeroDivisionError

    assert ended.is_set()


def test_no_collection_is_made_during_imports_and_all_are_made_after_them() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled(), "an inner block leaves what it found"
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()
