"""What counts where a request presents several things, and that a revoked or ended credential counts no more."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

import pytest

from service import telemetry
from service.errors import BadRequest, Forbidden, StoreUnavailable, Unauthenticated
from service.identity.authentication import Presented
from service.identity.caller import Caller
from service.identity.combination import CombinedAuthenticator
from service.identity.oidc_authenticator import OidcAuthenticator, Provider
from service.identity.provider_keys import ProviderKeys
from service.identity.proxy_authenticator import ProxyAuthenticator
from service.identity.proxy_settings import ProxySetting
from service.identity.subjects import Subjects
from tests.fixtures.identity_provider import NOW, SETTING, MemoryProvider, MemoryRegister, claims, signed

FIXED = ProxySetting(peers=("10.0.0.0/8",), header="gainsay-subject", tenant="risk", roles=("requester",))


def presented(peer: str = "10.1.2.3", *authorization: bytes, **headers: str) -> Presented:
    """What comes from a listed proxy unless told otherwise."""
    listed = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Presented(authorization, listed, peer)


class OneKey:
    """A source of API keys with one of them."""

    configured: ClassVar[bool] = True

    async def identify(self, presented: Presented) -> Caller:
        if presented.authorization[0].split()[1] != b"gainsay_k":
            raise Unauthenticated("no such key", presented=True)
        return Caller(subject="sub_key", via="apiKey")

    async def still(self, caller: Caller) -> bool:
        return caller.subject == "sub_key"


class Desk:
    def __init__(self) -> None:
        self.register = MemoryRegister()
        self.now, self.seconds = float(NOW), 1_000.0
        subjects = Subjects(self.register, lambda: self.seconds)
        provider = Provider(SETTING, ProviderKeys(SETTING, MemoryProvider(), lambda: 1_000.0))
        self.tokens = OidcAuthenticator([provider], subjects, lambda: self.now)
        self.proxy = ProxyAuthenticator(FIXED, subjects)
        self.all = CombinedAuthenticator(
            keys=OneKey(), tokens=self.tokens, proxy=self.proxy, proxy_headers=FIXED.headers
        )

    async def identify(self, request: Presented) -> Caller:
        return await self.all.identify(request)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_each_credential_finds_its_caller(desk: Desk) -> None:
    token = await desk.identify(presented("192.168.0.1", b"Bearer " + signed()))
    key = await desk.identify(presented("192.168.0.1", b"bearer gainsay_k"))
    proxied = await desk.identify(presented(gainsay_subject="ada"))

    assert (token.via, token.tenant, token.roles, token.kind) == ("oidc", "risk", ("requester",), "person")
    assert (key.via, key.subject) == ("apiKey", "sub_key")
    assert (proxied.via, proxied.tenant, proxied.role) == ("proxy", "risk", "requester")
    assert set(desk.register.known) == {("risk", "bank", "user-7"), ("risk", "proxy", "ada")}


async def test_each_way_is_counted_with_its_result(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted() -> dict[tuple[str, str], float]:
        pairs = product(("apiKey", "oidc", "proxy", "none"), ("accepted", "refused", "failed"))
        return {(w, r): telemetry.AUTHENTICATIONS.labels(way=w, result=r)._value.get() for w, r in pairs}

    async def away(_presented: Presented) -> Caller:
        raise StoreUnavailable("the registers do not answer")

    before = counted()
    await desk.identify(presented("192.168.0.1", b"Bearer " + signed()))
    await desk.identify(presented("192.168.0.1", b"Bearer gainsay_k"))
    await desk.identify(presented(gainsay_subject="ada"))
    for wrong in (presented("", b"Bearer x.y.z"), presented("10.0.0.1"), presented("", b"Bearer a b")):
        with pytest.raises(Unauthenticated):
            await desk.identify(wrong)
    monkeypatch.setattr(desk.tokens, "identify", away)
    with pytest.raises(StoreUnavailable):
        await desk.identify(presented("", b"Bearer " + signed()))

    assert {key: now - before[key] for key, now in counted().items() if now != before[key]} == {
        ("oidc", "accepted"): 1,
        ("apiKey", "accepted"): 1,
        ("proxy", "accepted"): 1,
        ("oidc", "refused"): 1,
        ("none", "refused"): 2,
        ("oidc", "failed"): 1,
    }


async def test_one_name_at_two_sources_is_two_subjects(desk: Desk) -> None:
    first = await desk.identify(presented("", b"Bearer " + signed(claims(sub="ada"))))
    second = await desk.identify(presented(gainsay_subject="ada"))

    assert first.subject != second.subject


async def test_a_token_and_a_proxys_header_are_two_statements(desk: Desk) -> None:
    for token in (b"Bearer " + signed(), b"Bearer gainsay_k", b"Bearer x"):
        with pytest.raises(BadRequest, match="two statements of who the caller is"):
            await desk.identify(presented("10.0.0.1", token, gainsay_subject="ada"))


async def test_a_proxy_may_pass_on_what_it_has_read_itself(desk: Desk) -> None:
    assert (await desk.identify(presented("10.0.0.1", b"Basic YTpi", gainsay_subject="ada"))).via == "proxy"


async def test_a_listed_proxy_without_a_header_is_no_caller_and_may_pass_on_a_token(desk: Desk) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        await desk.identify(presented("10.0.0.1"))

    assert not refusal.value.presented
    assert refusal.value.detail == (
        "expected the header gainsay-subject of a listed proxy, which names the caller, or a bearer token of a kind "
        "that this service accepts, found none"
    )
    assert (await desk.identify(presented("10.0.0.1", b"Bearer gainsay_k"))).via == "apiKey"


@pytest.mark.parametrize(
    "value", [b"Bearer", b"Bearer ", b"Bearer a b", b"bearer: x", b"Bearer \xff", b"Basic YTpi", b""]
)
async def test_an_authorization_that_cannot_be_read_lets_none_in(desk: Desk, value: bytes) -> None:
    with pytest.raises(Unauthenticated):
        await desk.identify(presented("192.168.0.1", value))


async def test_a_proxy_alone_takes_no_bearer_token_and_asks_for_its_own_header(desk: Desk) -> None:
    alone = CombinedAuthenticator(proxy=desk.proxy, proxy_headers=FIXED.headers)

    assert (await alone.identify(presented(gainsay_subject="ada"))).via == "proxy"
    with pytest.raises(Unauthenticated, match="but a proxy's subject, found another"):
        await alone.identify(presented("10.0.0.1", b"Bearer " + signed()))
    with pytest.raises(Unauthenticated, match="this service accepts, found none"):
        await alone.identify(presented("10.0.0.1"))


async def test_two_authorizations_are_refused(desk: Desk) -> None:
    with pytest.raises(Unauthenticated, match="found 2; send one credential"):
        await desk.identify(presented("192.168.0.1", b"Bearer gainsay_k", b"Bearer gainsay_k"))


async def test_a_kind_that_is_not_configured_lets_none_in(desk: Desk) -> None:
    keys = CombinedAuthenticator(keys=OneKey())
    tokens = CombinedAuthenticator(tokens=desk.tokens)

    for authenticator, token in ((keys, signed()), (tokens, b"gainsay_k")):
        with pytest.raises(Unauthenticated, match="this service accepts no such"):
            await authenticator.identify(presented("", b"Bearer " + token))
    with pytest.raises(Unauthenticated):  # without [proxy] its header is a header like any other
        await keys.identify(presented(gainsay_subject="ada"))


async def test_a_revoked_subject_is_refused_by_each_source_and_on_open_streams(desk: Desk) -> None:
    requests = (presented("", b"Bearer " + signed()), presented(gainsay_subject="ada"))
    callers = [await desk.identify(request) for request in requests]
    assert [await desk.all.still(caller) for caller in callers] == [True, True]

    desk.register.revoked = {caller.subject for caller in callers}
    desk.seconds += 2

    assert [await desk.all.still(caller) for caller in callers] == [False, False]
    for request in requests:
        with pytest.raises(Unauthenticated, match="subject was revoked"):
            await desk.identify(request)


async def test_a_stream_ends_with_its_token(desk: Desk) -> None:
    caller = await desk.identify(presented("", b"Bearer " + signed()))

    desk.now = NOW + 359.9
    assert await desk.all.still(caller)
    desk.now = NOW + 360
    assert not await desk.all.still(caller)


async def test_a_caller_of_no_configured_source_is_not_good_any_more(desk: Desk) -> None:
    caller = await desk.identify(presented("", b"Bearer " + signed()))

    assert not await CombinedAuthenticator(keys=OneKey()).still(caller)
    assert not await desk.all.still(Caller())


async def test_a_subject_of_a_tenant_that_does_not_exist_is_refused(desk: Desk) -> None:
    with pytest.raises(Forbidden, match="its tenant other is not; an administrator has to create it"):
        await desk.identify(presented("", b"Bearer " + signed(claims(gainsay_tenant="other"))))


async def test_a_token_of_an_issuer_that_is_not_configured_is_refused_unseen(desk: Desk) -> None:
    with pytest.raises(Unauthenticated, match="none of the configured identity providers"):
        await desk.identify(presented("", b"Bearer " + signed(claims(iss="https://evil.example"))))
