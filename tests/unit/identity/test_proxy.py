"""The subject that a proxy names, and what counts where a request presents several things."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.errors import BadRequest, Forbidden, Unauthenticated
from service.identity.authentication import Presented
from service.identity.caller import Caller
from service.identity.claims import Claimed
from service.identity.credentials import CredentialAuthenticator, ProxySource
from service.identity.oidc import OidcTokens, Provider
from service.identity.provider_keys import ProviderKeys
from service.identity.proxy import is_listed, read_proxy
from service.identity.proxy_settings import ProxySetting
from service.identity.tenants import SERVICE_TENANT
from tests.fixtures.identity_provider import NOW, SETTING, MemoryProvider, MemorySubjects, claims, signed

FIXED = ProxySetting(peers=("10.0.0.0/8", "fd00::/8"), header="gainsay-subject", tenant="risk", roles=("requester",))
SAID = ProxySetting(
    peers=("127.0.0.1/32", "unix"),
    header="gainsay-subject",
    tenant_header="gainsay-tenant",
    roles_header="gainsay-roles",
)
ALL: dict[str, str | bytes] = {"gainsay-subject": "ada", "gainsay-tenant": "risk", "gainsay-roles": "auditor"}


def presented(peer: str = "10.1.2.3", *authorization: bytes, **headers: str | bytes) -> Presented:
    listed = [
        (name.replace("_", "-").encode(), v if isinstance(v, bytes) else v.encode()) for name, v in headers.items()
    ]
    return Presented(authorization, listed, peer)


def named(peer: str = "127.0.0.1", **others: Any) -> Claimed | None:
    return read_proxy(presented(peer, **{n: v for n, v in {**ALL, **others}.items() if v is not None}), SAID)


def bad(request: Presented, setting: ProxySetting = FIXED) -> str:
    with pytest.raises(BadRequest) as refusal:
        read_proxy(request, setting)
    return refusal.value.detail


def test_a_listed_proxy_names_the_subject() -> None:
    assert read_proxy(presented(gainsay_subject="ada"), FIXED) == Claimed("risk", "ada", ("requester",))
    assert named() == Claimed("risk", "ada", ("auditor",))
    request = {"gainsay-subject": "zoë@bank", "gainsay-roles": "operator, unknown requester"}
    assert named("unix", **request) == Claimed("risk", "zoë@bank", ("requester", "operator"))


@pytest.mark.parametrize(
    "peer", ["11.0.0.1", "192.168.0.1", "::1", "unix", "", "10.0.0.256", "10.0.0.1, 11.0.0.1", "ten"]
)
def test_the_header_from_elsewhere_is_refused_and_not_passed_over(peer: str) -> None:
    assert "from a listed proxy alone, found it in a request from elsewhere" in bad(
        presented(peer, gainsay_subject="admin", x_forwarded_for="10.0.0.1", forwarded="for=10.0.0.1")
    )


def test_every_header_of_the_proxys_is_its_own() -> None:
    for header in ALL:
        assert header in bad(presented("192.168.0.1", **{header: "x"}), SAID)


@pytest.mark.parametrize("peer", ["10.255.0.1", "::ffff:10.0.0.1", "fd00::1", "fdab::1%eth0"])
def test_an_address_of_a_listed_network_is_listed(peer: str) -> None:
    assert is_listed(peer, FIXED)


def test_a_socket_file_is_listed_only_by_its_word() -> None:
    assert is_listed("unix", SAID)
    assert not is_listed("unix", FIXED)


def test_a_header_that_stands_twice_is_refused() -> None:
    for header in ALL:
        twice = [(name.encode(), str(value).encode()) for name, value in ALL.items()] + [(header.encode(), b"auditor")]
        assert f"expected the header {header} once, found it 2 times" in bad(Presented((), twice, "127.0.0.1"), SAID)


@pytest.mark.parametrize("value", ["", " ", "x" * 257, "a\tb", "a\x7f", b"\xff", "a ", "\u202ea", b"\xed\xa0\x80"])
def test_a_subject_that_cannot_be_kept_is_refused(value: str | bytes) -> None:
    for header in ("gainsay-subject", "gainsay-tenant", "gainsay-roles"):
        with pytest.raises(BadRequest, match=f"characters of UTF-8 that can be shown in {header}"):
            named(**{header: value})


def test_a_tenant_without_a_subject_names_no_caller() -> None:
    with pytest.raises(BadRequest, match="expected the header gainsay-subject beside gainsay-tenant, found none"):
        named(**{"gainsay-subject": None})


@pytest.mark.parametrize(
    "others",
    [
        {"gainsay-tenant": None},
        {"gainsay-tenant": "RISK"},
        {"gainsay-tenant": SERVICE_TENANT},
        {"gainsay-roles": None},
        {"gainsay-roles": "Auditor"},
        {"gainsay-roles": "administrator"},
    ],
    ids=str,
)
def test_a_subject_without_a_tenant_or_a_role_is_refused(others: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        named(**others)


def test_a_proxy_gives_roles_of_the_service_by_its_sections_word_alone() -> None:
    wide = replace(SAID, service_roles=True)
    request = presented("unix", **{**ALL, "gainsay-roles": "scrape"})

    found = read_proxy(request, wide)

    assert found is not None
    assert found.tenant == SERVICE_TENANT


@given(
    st.lists(st.tuples(st.sampled_from([*map(str.encode, ALL), b"x"]), st.binary(max_size=12)), max_size=6), st.text()
)
def test_no_headers_are_anything_but_read_or_refused(headers: list[tuple[bytes, bytes]], peer: str) -> None:
    for where in ("127.0.0.1", peer):
        try:
            found = read_proxy(Presented((), headers, where), SAID)
        except (BadRequest, Forbidden) as refusal:
            assert refusal.detail  # noqa: PT017 - either is right
        else:
            assert found is None or (where in ("127.0.0.1", "unix") and found.external)


# -- several credentials


class OneKey:
    """A source of API keys with one of them."""

    async def identify(self, token: bytes) -> Caller:
        if token != b"gainsay_k":
            raise Unauthenticated("no such key", presented=True)
        return Caller(subject="sub_key", via="apiKey")

    async def still(self, caller: Caller) -> bool:
        return caller.subject == "sub_key"


class Desk:
    def __init__(self) -> None:
        self.subjects = MemorySubjects()
        self.now = float(NOW)
        provider = Provider(SETTING, ProviderKeys(SETTING, MemoryProvider(), lambda: 1_000.0))
        self.tokens = OidcTokens([provider], self.subjects, lambda: self.now)
        self.proxy = ProxySource(FIXED, self.subjects)
        self.all = CredentialAuthenticator(OneKey(), self.tokens, self.proxy)

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
    assert set(desk.subjects.known) == {("risk", "bank", "user-7"), ("risk", "proxy", "ada")}


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
        "expected an API key as Authorization: Bearer or an access token of an identity provider as Authorization: "
        "Bearer or a proxy that names the caller, found none"
    )
    assert (await desk.identify(presented("10.0.0.1", b"Bearer gainsay_k"))).via == "apiKey"


@pytest.mark.parametrize(
    "value", [b"Bearer", b"Bearer ", b"Bearer a b", b"bearer: x", b"Bearer \xff", b"Basic YTpi", b""]
)
async def test_an_authorization_that_cannot_be_read_lets_none_in(desk: Desk, value: bytes) -> None:
    with pytest.raises(Unauthenticated):
        await desk.identify(presented("192.168.0.1", value))


async def test_two_authorizations_are_refused(desk: Desk) -> None:
    with pytest.raises(BadRequest, match="expected one Authorization header, found 2"):
        await desk.identify(presented("192.168.0.1", b"Bearer gainsay_k", b"Bearer gainsay_k"))


async def test_a_kind_that_is_not_configured_lets_none_in(desk: Desk) -> None:
    keys = CredentialAuthenticator(keys=OneKey())
    tokens = CredentialAuthenticator(tokens=desk.tokens)

    for authenticator, token in ((keys, signed()), (tokens, b"gainsay_k")):
        with pytest.raises(Unauthenticated, match="found a bearer token of another kind"):
            await authenticator.identify(presented("", b"Bearer " + token))
    with pytest.raises(Unauthenticated):  # without [proxy] its header is a header like any other
        await keys.identify(presented(gainsay_subject="ada"))


async def test_a_revoked_subject_is_refused_by_each_source_and_on_open_streams(desk: Desk) -> None:
    requests = (presented("", b"Bearer " + signed()), presented(gainsay_subject="ada"))
    callers = [await desk.identify(request) for request in requests]
    assert [await desk.all.still(caller) for caller in callers] == [True, True]

    desk.subjects.revoked = {caller.subject for caller in callers}

    assert [await desk.all.still(caller) for caller in callers] == [False, False]
    for request in requests:
        with pytest.raises(Unauthenticated, match="its subject is revoked"):
            await desk.identify(request)


async def test_a_stream_ends_with_its_token(desk: Desk) -> None:
    caller = await desk.identify(presented("", b"Bearer " + signed()))

    desk.now = NOW + 359.9
    assert await desk.all.still(caller)
    desk.now = NOW + 360
    assert not await desk.all.still(caller)


async def test_a_caller_of_no_configured_source_is_not_good_any_more(desk: Desk) -> None:
    caller = await desk.identify(presented("", b"Bearer " + signed()))

    assert not await CredentialAuthenticator(keys=OneKey()).still(caller)
    assert not await desk.all.still(Caller())


async def test_a_token_of_an_issuer_that_is_not_configured_is_refused_unseen(desk: Desk) -> None:
    with pytest.raises(Unauthenticated, match="none of the configured identity providers"):
        await desk.identify(presented("", b"Bearer " + signed(claims(iss="https://evil.example"))))
