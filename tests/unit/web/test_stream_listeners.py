"""Listeners are told of a revocation and of the service's stop, also one that comes as the last one leaves."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from service.identity.authentication import LocalAuthenticator, Presented
from service.identity.caller import Caller
from service.web import stream_listeners
from service.web.stream_listeners import Listener, Listeners
from tests.fixtures.waiting import within

LONG_S = 10
STARTED: Any = {"state": {}}
"""The scope of a request, as far as listeners read it."""


class Revoked:
    """Registers in which every credential was revoked after it was let in."""

    configured: ClassVar[bool] = True

    async def identify(self, presented: Presented) -> Caller:
        """A caller with a key."""
        return Caller(credential="key_1")

    async def still(self, caller: Caller) -> bool:
        """Never so."""
        return False


class Woken(Listener):
    """A listener that tells when it is woken."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.told = asyncio.Event()

    def wake(self) -> None:
        """It is woken."""
        self.told.set()


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_listeners, "LOOK_S", 0.01)
    monkeypatch.setattr(stream_listeners, "Listener", Woken)


async def test_a_listener_that_comes_as_the_last_one_leaves_is_told_of_a_revocation() -> None:
    listeners = Listeners(asyncio.Event(), Revoked())
    with listeners.one(STARTED, Caller()):
        await asyncio.sleep(0)  # the tasks that look have begun
    with listeners.one(STARTED, Caller()) as late:
        assert isinstance(late, Woken)
        await within(LONG_S, late.told.wait())

    assert late.revoked


async def test_a_listener_that_comes_as_the_last_one_leaves_is_told_of_the_stop() -> None:
    closing = asyncio.Event()
    listeners = Listeners(closing, LocalAuthenticator())
    with listeners.one(STARTED, Caller()):
        await asyncio.sleep(0)
    with listeners.one(STARTED, Caller()) as late:
        closing.set()
        assert isinstance(late, Woken)
        await within(LONG_S, late.told.wait())
