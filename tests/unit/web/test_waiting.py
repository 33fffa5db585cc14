"""A wait for the end of a debate loses no error."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.errors import AuditUnavailable, Unauthenticated
from service.web import waiting


class Registers:
    """The credential is not good any more, or the look at it fails in a way that no register names."""

    configured = True

    def __init__(self, failure: Exception | None = None) -> None:
        self._failure = failure

    async def still(self, caller: object) -> bool:
        if self._failure is not None:
            raise self._failure
        return False


class StillConnected:
    """A request whose caller stays connected."""

    async def receive(self) -> dict[str, str]:
        await asyncio.Event().wait()
        raise AssertionError


async def _waited(monkeypatch: pytest.MonkeyPatch, registers: Registers, failure: Exception | None) -> bool:
    async def wait(debate: str, caller: object, seconds: float) -> bool:
        if failure is None:
            await asyncio.Event().wait()
        raise failure or AssertionError

    monkeypatch.setattr(waiting, "caller", lambda _request: None)
    site = SimpleNamespace(reviews=SimpleNamespace(wait=wait), closing=asyncio.Event(), authenticator=registers)
    return await waiting.ended_in_time(cast(Any, StillConnected()), cast(Any, site), "d1", 1.0, leaving=False)


async def test_a_revocation_names_the_wait_that_failed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = AuditUnavailable("the database is away")
    with pytest.raises(Unauthenticated) as refused:
        await _waited(monkeypatch, Registers(), failure)
    assert refused.value.__cause__ is failure


async def test_a_revocation_ends_a_wait_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await _waited(monkeypatch, Registers(), None)
    assert refused.value.__cause__ is None


async def test_a_look_that_fails_is_no_revocation(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no register names it"):
        await _waited(monkeypatch, Registers(ValueError("no register names it")), None)
