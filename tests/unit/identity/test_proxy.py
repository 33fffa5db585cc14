"""The subject that a proxy names, and what counts where a request presents several things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.errors import BadRequest, Forbidden
from service.identity.authentication import Presented
from service.identity.claims import Claimed
from service.identity.proxy import is_listed, read_proxy
from service.identity.proxy_settings import ProxySetting
from service.identity.tenants import SERVICE_TENANT

FIXED = ProxySetting(peers=("10.0.0.0/8", "fd00::/8"), header="gainsay-subject", tenant="risk", roles=("requester",))
SAID = ProxySetting(
    peers=("127.0.0.1/32", "unix"),
    header="gainsay-subject",
    tenant_header="gainsay-tenant",
    roles_header="gainsay-roles",
)
ALL: dict[str, str | bytes] = {"gainsay-subject": "ada", "gainsay-tenant": "risk", "gainsay-roles": "auditor"}


def presented(peer: str = "10.1.2.3", **headers: str | bytes) -> Presented:
    listed = [
        (name.replace("_", "-").encode(), v if isinstance(v, bytes) else v.encode()) for name, v in headers.items()
    ]
    return Presented((), listed, peer)


def named(others: Mapping[str, Any] | None = None, peer: str = "127.0.0.1") -> Claimed | None:
    sent = {name: value for name, value in {**ALL, **(others or {})}.items() if value is not None}
    return read_proxy(presented(peer, **sent), SAID)


def bad(request: Presented, setting: ProxySetting = FIXED) -> str:
    with pytest.raises(BadRequest) as refusal:
        read_proxy(request, setting)
    return refusal.value.detail


def test_a_listed_proxy_names_the_subject() -> None:
    assert read_proxy(presented(gainsay_subject="ada"), FIXED) == Claimed("risk", "ada", ("requester",))
    assert named() == Claimed("risk", "ada", ("auditor",))
    request = {"gainsay-subject": "zoë@bank", "gainsay-roles": "operator, unknown requester"}
    assert named(request, "unix") == Claimed("risk", "zoë@bank", ("requester", "operator"))


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
            named({header: value})


def test_a_tenant_without_a_subject_names_no_caller() -> None:
    with pytest.raises(BadRequest, match="expected the header gainsay-subject beside gainsay-tenant, found none"):
        named({"gainsay-subject": None})


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
        named(others)


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
