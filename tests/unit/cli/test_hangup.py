"""SIGHUP asks for a look at the configuration, unless a terminal sends it because it is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from service import app
from service.cli import startup


class Watch:
    """Counts how often it is asked."""

    asked = 0

    def ask(self) -> None:
        self.asked += 1


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()

    @asynccontextmanager
    async def watching(_: Any) -> AsyncIterator[Watch]:
        yield made

    monkeypatch.setattr(app, "watching_configuration", watching)
    return made


@pytest.fixture(autouse=True)
def _hangup() -> Iterator[None]:
    before = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


async def test_away_from_a_terminal_it_never_ends_the_process_and_asks_while_one_watches(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)

    startup.log_of_process({})
    os.kill(os.getpid(), signal.SIGHUP)
    async with startup.watching(None):  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while not watch.asked:  # noqa: ASYNC110 - the loop hears of a signal by a pipe
                await asyncio.sleep(0.001)
    os.kill(os.getpid(), signal.SIGHUP)
    await asyncio.sleep(0.01)

    assert watch.asked == 1


async def test_at_a_terminal_it_means_what_it_always_meant(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    startup.log_of_process({})
    async with startup.watching(None):  # type: ignore[arg-type]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL

    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
