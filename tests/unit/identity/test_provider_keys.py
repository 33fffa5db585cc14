"""The keys of an identity provider: how old they get, how often they are fetched, what happens while it is away."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from service.errors import IdentityUnavailable, Unauthenticated
from service.identity.jwks_fetch import ProviderUnreachable
from service.identity.key_sets import VerificationKey
from service.identity.provider_keys import PAUSE_S, ProviderKeys
from tests.fixtures.identity_provider import ISSUER, SETTING, MemoryProvider, discovery, key, public
from tests.fixtures.waiting import within


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """A provider, its keys as the service has them, and a clock."""

    def __init__(self, provider: MemoryProvider | None = None) -> None:
        self.provider = provider or MemoryProvider()
        self.clock = Clock()
        self.keys = ProviderKeys(SETTING, self.provider, self.clock)

    async def find(self, kid: str = "one") -> tuple[VerificationKey, ...]:
        return await self.keys.find(kid, "ES256")

    async def refused(self, kid: str) -> str:
        with pytest.raises(Unauthenticated) as refusal:
            await self.find(kid)
        return refusal.value.detail

    async def unavailable(self, kid: str = "one") -> IdentityUnavailable:
        with pytest.raises(IdentityUnavailable) as refusal:
            await self.find(kid)
        return refusal.value


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_keys_are_fetched_once_by_all_who_need_them(desk: Desk) -> None:
    found = await asyncio.gather(*[desk.find() for _ in range(50)])

    assert {one[0].kid for one in found} == {"one"}
    assert desk.provider.fetched == [f"{ISSUER}/.well-known/openid-configuration", f"{ISSUER}/jwks"]


async def test_keys_at_a_named_place_need_no_discovery() -> None:
    provider = MemoryProvider()
    keys = ProviderKeys(replace(SETTING, jwks=f"{ISSUER}/jwks"), provider, Clock())

    assert await keys.find("one", "ES256")
    assert provider.fetched == [f"{ISSUER}/jwks"]


async def test_a_new_key_is_found_by_its_first_token(desk: Desk) -> None:
    await desk.find()
    desk.provider.publish(public(key("one")), public(key("two")))
    desk.clock.now += PAUSE_S

    assert (await desk.find("two"))[0].kid == "two"


async def test_a_removed_key_ends_with_the_refresh(desk: Desk) -> None:
    await desk.find()
    desk.provider.publish(public(key("two")))

    desk.clock.now += SETTING.refresh_s - 0.1
    assert await desk.find("one")
    desk.clock.now += 0.1
    assert "has no key of this name" in await desk.refused("one")


async def test_a_thousand_unknown_keys_cost_one_fetch_in_ten_seconds(desk: Desk) -> None:
    await desk.find()

    for second in range(100):
        await asyncio.gather(*[desk.refused(f"random-{second}-{i}") for i in range(10)])
        desk.clock.now += 1

    assert desk.provider.times == 1 + 9


async def test_keys_outlive_their_provider_for_an_hour_and_then_none_is_let_in(desk: Desk) -> None:
    await desk.find()
    desk.provider.away = True

    desk.clock.now += SETTING.keep_s - 0.1
    assert await desk.find()
    desk.clock.now += PAUSE_S
    refusal = await desk.unavailable()

    assert refusal.status == 503
    assert refusal.retry_after == 10
    assert "does not say its keys (it is away)" in refusal.detail

    desk.provider.away = False
    desk.clock.now += PAUSE_S
    assert await desk.find()


async def test_a_provider_that_never_answered_lets_none_in_and_is_asked_again(desk: Desk) -> None:
    desk.provider.away = True

    for _ in range(20):
        await desk.unavailable()
        desk.clock.now += 1
    asked = len(desk.provider.fetched)
    desk.provider.away = False
    desk.clock.now += PAUSE_S

    assert await desk.find()
    assert asked == 2


async def test_an_unknown_key_of_a_provider_that_is_away_may_be_a_new_one(desk: Desk) -> None:
    await desk.find()
    desk.provider.away = True
    desk.clock.now += PAUSE_S

    await desk.unavailable("two")
    assert await desk.find("one")


@pytest.mark.parametrize("bad", [b"<html>", discovery("https://evil.example"), discovery(jwks_uri="http://x.example")])
async def test_a_document_that_cannot_be_used_changes_nothing(desk: Desk, bad: bytes) -> None:
    await desk.find()
    desk.provider.documents[f"{ISSUER}/.well-known/openid-configuration"] = bad
    desk.clock.now += SETTING.refresh_s

    assert await desk.find()
    assert "its discovery document cannot be used" in (await desk.unavailable("two")).detail


async def test_an_empty_set_is_a_fault_and_no_rotation(desk: Desk) -> None:
    await desk.find()
    desk.provider.publish()
    desk.clock.now += SETTING.refresh_s

    assert await desk.find()


class Hanging:
    """A provider that answers when it is told to."""

    def __init__(self) -> None:
        self.inner = MemoryProvider()
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, address: str) -> bytes:
        await self.open.wait()
        return await self.inner(address)


async def test_a_provider_that_hangs_is_waited_for_by_one_fetch_and_a_cancelled_waiter_ends_it_for_no_other() -> None:
    provider, clock = Hanging(), Clock()
    keys = ProviderKeys(SETTING, provider, clock)
    provider.open.clear()

    waiters = [asyncio.create_task(keys.find("one", "ES256")) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    await asyncio.sleep(0)
    provider.open.set()
    found = await within(5, asyncio.gather(*waiters[1:]))

    assert len(found) == 2
    assert provider.inner.times == 1


async def test_after_a_failure_old_keys_are_used_without_waiting() -> None:
    provider, clock = Hanging(), Clock()
    keys = ProviderKeys(SETTING, provider, clock)
    await keys.find("one", "ES256")
    provider.inner.away = True
    clock.now += SETTING.refresh_s
    await keys.find("one", "ES256")

    provider.open.clear()
    clock.now += PAUSE_S

    assert await within(5, keys.find("one", "ES256"))
    await keys.close()


async def test_a_fetch_that_is_under_way_ends_with_the_service() -> None:
    provider = Hanging()
    provider.open.clear()
    keys = ProviderKeys(SETTING, provider, Clock())
    waiter = asyncio.create_task(keys.find("one", "ES256"))
    await asyncio.sleep(0)

    await keys.close()
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_the_memory_provider_is_away_where_it_has_no_document() -> None:
    with pytest.raises(ProviderUnreachable):
        await MemoryProvider()("https://elsewhere.example")
