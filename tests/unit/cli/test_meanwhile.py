"""Work in a thread while something else is waited for, and imports without the garbage collector."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from service.cli import serve, startup
from service.cli.meanwhile import meanwhile, uncollected
from service.errors import SettingsError
from service.store import startup as store_startup


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


SETTLED = """
import gc
from service.cli.meanwhile import THRESHOLDS, settle
settle()
print(gc.isenabled(), gc.get_threshold() == THRESHOLDS, gc.get_freeze_count() > 1_000)
"""


def test_a_process_that_stays_collects_less_often_and_nothing_that_was_imported() -> None:
    done = subprocess.run([sys.executable, "-c", SETTLED], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["True"] * 3


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_process_of_a_deployment_settles_once_its_parts_are_there(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Settled(Exception):
        """The process has come so far."""

    def settled() -> None:
        raise Settled

    @contextmanager
    def there(*_: object, first: Callable[[], object], **__: object) -> Iterator[None]:
        first()
        yield

    monkeypatch.setattr(startup, "close_memory", lambda: None)
    monkeypatch.setattr(startup, "log_from", lambda *_, **__: None)
    monkeypatch.setattr(store_startup, "addresses", there)
    monkeypatch.setattr(serve, "settle", settled)

    with pytest.raises(Settled):
        getattr(serve, command).main([], standalone_mode=False)
