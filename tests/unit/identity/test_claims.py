"""The claims of a verified token: each rule of the table, at its edge, and nothing but refusals for what is strange."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.errors import Forbidden, Unauthenticated
from service.identity.claims import Claimed, read_claims
from service.identity.provider_settings import OidcSetting
from service.identity.roles import ROLES
from service.identity.tenants import SERVICE_TENANT
from tests.fixtures.identity_provider import NOW, SETTING, claims


def read(setting: OidcSetting = SETTING, now: float = NOW, header_type: str = "at+jwt", **others: Any) -> Claimed:
    return read_claims(claims(**others), header_type, setting, now)


def unauthenticated(
    setting: OidcSetting = SETTING, now: float = NOW, header_type: str = "at+jwt", **others: Any
) -> str:
    with pytest.raises(Unauthenticated) as refusal:
        read(setting, now, header_type, **others)
    return refusal.value.detail


def forbidden(setting: OidcSetting = SETTING, **others: Any) -> str:
    with pytest.raises(Forbidden) as refusal:
        read(setting, **others)
    return refusal.value.detail


def test_a_good_token_says_who_that_is() -> None:
    assert read() == Claimed("risk", "user-7", ("requester",), NOW + 300 + 60)


@pytest.mark.parametrize("issuer", ["https://id.bank.example/", "https://ID.bank.example", "", None, ["x"], ...])
def test_another_issuer_is_refused(issuer: Any) -> None:
    assert "expected iss" in unauthenticated(iss=issuer)


@pytest.mark.parametrize("audience", ["other", "gainsay2", ["other"], [], [["gainsay"]], {"gainsay": 1}, None, ...])
def test_another_audience_is_refused(audience: Any) -> None:
    assert "expected aud to contain gainsay" in unauthenticated(aud=audience)


def test_one_of_several_audiences_is_enough() -> None:
    assert read(aud=["other", "gainsay"]).external == "user-7"


@pytest.mark.parametrize(
    "others",
    [
        {"at_hash": "x"},
        {"c_hash": "x"},
        {"nonce": "n", "header_type": "jwt"},
        {"typ": "ID"},
        {"typ": "Refresh"},
        {"typ": "Offline"},
        {"token_use": "id"},
        {"events": {}},
    ],
    ids=str,
)
def test_what_is_no_access_token_is_refused(others: dict[str, Any]) -> None:
    assert "expected an access token" in unauthenticated(**others)


def test_an_access_token_of_keycloak_may_have_a_nonce() -> None:
    assert read(header_type="jwt", typ="Bearer", nonce="n").external == "user-7"


def test_the_clocks_may_differ_by_the_skew_and_not_by_more() -> None:
    assert read(now=NOW + 359.9).until == NOW + 360
    assert "has expired" in unauthenticated(now=NOW + 360)
    assert read(now=NOW - 60).external
    assert "not good yet" in unauthenticated(now=NOW - 60.1)
    assert read(nbf=NOW + 60).external
    assert "not good yet" in unauthenticated(nbf=NOW + 61)
    assert "not good yet" in unauthenticated(nbf=NOW - 999, iat=NOW + 61)

    strict = replace(SETTING, skew_s=0)
    assert read(strict, now=NOW + 299.9).until == NOW + 300
    assert "has expired" in unauthenticated(strict, now=NOW + 300)
    assert "not good yet" in unauthenticated(strict, now=NOW - 1)


def test_no_token_lives_longer_than_a_day_by_its_own_times() -> None:
    assert read(exp=NOW + 86_400).external
    assert "lives longer than 86400 s" in unauthenticated(exp=NOW + 86_401)
    assert "lives longer than 86400 s" in unauthenticated(iat=NOW - 86_400, exp=NOW + 1)
    assert "lives longer than 60 s" in unauthenticated(replace(SETTING, longest_s=60))


@pytest.mark.parametrize("name", ["exp", "iat"])
@pytest.mark.parametrize("value", [..., None, "1800000000", True, [], float("nan"), float("inf"), -1, 1 << 60, 10**400])
def test_a_time_that_is_none_is_refused(name: str, value: Any) -> None:
    assert f"expected a time in {name}" in unauthenticated(**{name: value})
    assert "expected a time in nbf" in unauthenticated(nbf=None if value is ... else value)


@pytest.mark.parametrize(
    "subject", [..., None, "", " ", "a ", 7, ["x"], "x" * 257, "a\nb", "a\0", "\u202eab", "\ud800"]
)
def test_a_subject_that_cannot_be_kept_is_refused(subject: Any) -> None:
    assert "expected a subject" in unauthenticated(sub=subject)


@pytest.mark.parametrize("subject", ["x" * 256, "auth0|7", "CN=Ada Lovelace, O=Bank", "zoë@bank.example"])
def test_subjects_are_kept_to_the_letter(subject: str) -> None:
    assert read(sub=subject).external == subject


@pytest.mark.parametrize(
    "tenant", [..., None, "", "Risk", "-risk", "risk\n", "ri sk", ["risk"], 7, "r" * 64, "gainsay"]
)
def test_what_is_no_tenant_is_refused(tenant: Any) -> None:
    assert "belongs to no tenant" in forbidden(gainsay_tenant=tenant)


def test_a_fixed_tenant_is_none_of_the_tokens_business() -> None:
    fixed = replace(SETTING, tenant="default", tenant_claim=None)

    assert read(fixed, gainsay_tenant="other").tenant == "default"


@pytest.mark.parametrize(
    ("value", "roles"),
    [
        ("auditor requester", ("requester", "auditor")),
        (["auditor", "unknown", 7, None, ["operator"]], ("auditor",)),
        (["requester"] * 3, ("requester",)),
        (["administrator", "auditor"], ("auditor",)),
    ],
)
def test_roles_are_a_list_or_words_and_others_are_passed_over(value: Any, roles: tuple[str, ...]) -> None:
    assert read(gainsay_roles=value).roles == roles


@pytest.mark.parametrize("value", [..., None, [], "", "Auditor", "auditor,requester", 7, {"auditor": 1}, [["auditor"]]])
def test_a_subject_without_a_role_is_known_and_refused(value: Any) -> None:
    assert "it gives no role that is known" in forbidden(gainsay_roles=value)


def test_a_table_says_what_values_mean_and_names_of_roles_mean_nothing_then() -> None:
    mapped = replace(SETTING, roles={"model-risk": ("auditor", "validator"), "desk": ("requester",)})

    assert read(mapped, gainsay_roles=["model-risk", "desk"]).roles == ("requester", "auditor", "validator")
    assert "no role" in forbidden(mapped, gainsay_roles=["operator", "auditor"])


def test_a_claim_inside_a_claim_is_found_by_its_names() -> None:
    inner = replace(SETTING, role_claim=("resource_access", "gainsay", "roles"))

    assert read(inner, resource_access={"gainsay": {"roles": ["auditor"]}}).roles == ("auditor",)
    assert "no role" in forbidden(inner, resource_access={"gainsay": ["roles"]})
    assert "no role" in forbidden(inner, **{"resource_access.gainsay.roles": ["auditor"]})


def test_roles_of_the_whole_service_need_the_sections_word_and_belong_to_no_tenant() -> None:
    wide = replace(SETTING, service_roles=True)

    assert "needs service_roles = true" in forbidden(gainsay_roles=["administrator"])
    assert read(wide, gainsay_roles=["scrape", "administrator"]).tenant == SERVICE_TENANT
    assert read(wide, gainsay_roles=["scrape"], gainsay_tenant=...).tenant == SERVICE_TENANT
    assert "found both (auditor, administrator)" in forbidden(wide, gainsay_roles=["administrator", "auditor"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from([*ROLES, NOW]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*claims(), "nbf", "typ", "nonce", "events"]), VALUES), st.floats(0, 4e9))
def test_no_claims_are_anything_but_read_or_refused(others: dict[str, Any], now: float) -> None:
    try:
        found = read_claims({**claims(), **others}, "at+jwt", SETTING, now)
    except (Unauthenticated, Forbidden) as refusal:
        assert refusal.detail  # noqa: PT017 - either is right
    else:
        assert found.roles
        assert set(found.roles) <= set(ROLES) - {"scrape", "administrator"}
        assert found.until is not None
        assert now < found.until
