"""The listeners of a process: many callers' credentials are looked at in time."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any, cast

import pytest

from service.identity.authentication import Presented
from service.identity.caller import LOCAL, Caller
from service.web import stream_listeners
from service.web.stream_listeners import LOOKED_AT_ONCE, Listeners

SLOW_S = 0.05


class SlowRegisters:
    """No credential is good any more, and each answer takes a while."""

    configured = True

    async def identify(self, presented: Presented) -> Caller:
        return LOCAL

    async def still(self, caller: Caller) -> bool:
        await asyncio.sleep(SLOW_S)
        return False


async def test_the_streams_of_many_callers_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_listeners, "LOOK_S", 0.0)
    listeners = Listeners(asyncio.Event(), SlowRegisters())
    with ExitStack() as held:
        scope = cast(Any, {"state": {}})
        here = [held.enter_context(listeners.one(scope, Caller(subject=f"sub_{n}"))) for n in range(LOOKED_AT_ONCE)]
        async with asyncio.timeout(SLOW_S * LOOKED_AT_ONCE / 2):
            while not all(listener.revoked for listener in here):  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(SLOW_S / 5)
