"""The adapters under test, joined to an upstream as settings join them, and how one call to them ends."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from service.debate.wires import Wire as WireName
from service.money import Usage, normalise
from service.money.usage import Reasoning
from service.policy import ProviderSetting
from service.prompts.request import Request
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from service.providers.vendor import Vendor
from service.running.provider_port import Answer, CallFailed, Provider
from tests.end_to_end.vendors.requests import a_request
from tests.fixtures import vendors
from tests.fixtures.vendors import Wire, of_every_wire
from tests.fixtures.waiting import within

ONLY = os.environ.get("GAINSAY_TEST_WIRES", " ".join(vendors.WIRES)).split()
WIRES: tuple[Wire, ...] = tuple(wire for wire in vendors.WIRES if wire in ONLY)
"""The wires on which the contract suites run: all, unless GAINSAY_TEST_WIRES names some."""


class Joined(NamedTuple):
    """How an adapter is joined to its vendor: the kind in the policy file, the class, the path before its own."""

    kind: WireName
    adapter: type[Vendor]
    before: str = ""


ADAPTERS: Mapping[Wire, Joined] = of_every_wire(
    {
        "openai": Joined("openai-compatible", OpenAICompatible, "/v1"),
        "anthropic": Joined("anthropic", Anthropic),
    }
)
ENVIRONMENT = {"FAKE_KEY": "sk-fake-0123456789abcdef"}
PATIENCE_S = 20
"""An adapter that takes longer than this hangs: no time limit of a test is above two seconds."""


def setting_for(wire: Wire, url: str, **changes: Any) -> ProviderSetting:
    """The setting of an adapter. It is never paused: what a breaker does is told apart from what a call does."""
    usual: dict[str, Any] = {"key": "env:FAKE_KEY", "connect_timeout_s": 2, "call_timeout_s": 15}
    usual |= {"kind": ADAPTERS[wire].kind, "base_url": f"{url}{ADAPTERS[wire].before}"}
    return ProviderSetting(**{"breaker_failures": 1_000_000, **usual, **changes})


def connect(wire: Wire, url: str, environment: Mapping[str, str] = ENVIRONMENT, **changes: Any) -> Vendor:
    """An adapter for an upstream at an address."""
    return ADAPTERS[wire].adapter.connect("fake", setting_for(wire, url, **changes), environment)


@asynccontextmanager
async def adapter(wire: Wire, url: str, **changes: Any) -> AsyncIterator[Provider]:
    """The same, closed at the end."""
    made = connect(wire, url, **changes)
    try:
        yield made
    finally:
        await made.close()


async def outcome(made: Provider, request: Request | None = None) -> Answer | CallFailed:
    """How one call ends. Whatever is no `CallFailed` is raised, and so is `TimeoutError` where an adapter hangs."""
    try:
        return await within(PATIENCE_S, made.send(made.encode(request or a_request())))
    except CallFailed as failed:
        return failed


async def failed(made: Provider, request: Request | None = None) -> CallFailed:
    """How one call fails."""
    ended = await outcome(made, request)
    assert isinstance(ended, CallFailed), ended
    return ended


def usage_of(wire: Wire, answer: Answer, reasoning: Reasoning = "inside") -> Usage | None:
    """The usage that an answer reports, as a charge reads it."""
    return normalise(ADAPTERS[wire].kind, answer.raw_usage, reasoning)


async def answered(made: Provider, request: Request | None = None) -> Answer:
    """What one call brings."""
    ended = await outcome(made, request)
    assert isinstance(ended, Answer), (ended.reason, ended.detail)
    return ended
