"""The sections [[oidc]] and [proxy] of GAINSAY_IDENTITY: what they may say, and that every fault is told at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

from service.errors import SettingsError
from service.identity.file import read_identities
from service.identity.provider_settings import USUAL, OidcSetting, read_address
from service.identity.proxy_settings import ProxySetting
from service.policy.keys import keys_of

BANK = """
[[oidc]]
name = "bank"
issuer = "https://id.bank.example/realms/bank"
audience = "gainsay"
tenant_claim = "gainsay_tenant"
role_claim = ["resource_access", "gainsay", "roles"]
roles = { "model-risk" = "auditor", "desk" = ["requester", "reviewer"] }
"""
PROXY = """
[proxy]
from = ["10.0.0.0/8", "unix"]
header = "Gainsay-Subject"
tenant = "default"
roles = ["requester"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "identity.toml"
    path.write_text(text)
    return path


def test_a_provider_and_a_proxy_are_read(tmp_path: Path) -> None:
    found = read_identities(written(tmp_path, BANK + PROXY))

    assert found.keys is None
    assert found.oidc == (
        OidcSetting(
            name="bank",
            issuer="https://id.bank.example/realms/bank",
            audience="gainsay",
            tenant_claim=("gainsay_tenant",),
            role_claim=("resource_access", "gainsay", "roles"),
            roles={"model-risk": ("auditor",), "desk": ("requester", "reviewer")},
        ),
    )
    assert found.oidc[0].algorithms == USUAL
    assert found.proxy == ProxySetting(
        peers=("10.0.0.0/8", "unix"), header="gainsay-subject", tenant="default", roles=("requester",)
    )


FAULTS = [
    ('name = "bank"', 'name = "proxy"', "'proxy' is the service's own"),
    ('name = "bank"', 'name = "Bank"', "oidc.0.name: expected lower-case letters"),
    (
        'issuer = "https://id.bank.example/realms/bank"',
        'issuer = "http://id.bank.example"',
        "oidc.0.issuer: expected https",
    ),
    ('issuer = "https://id.bank.example/realms/bank"', 'issuer = "https://a?b"', "expected an address such as"),
    ('issuer = "https://id.bank.example/realms/bank"', 'issuer = "https://u:p@a"', "expected an address such as"),
    ('audience = "gainsay"', "", "oidc.0.audience: this key is missing"),
    ('tenant_claim = "gainsay_tenant"', "", "oidc.0.tenant: expected either tenant or tenant_claim"),
    ('tenant_claim = "gainsay_tenant"', 'tenant = "gainsay"', "gainsay is the service's own tenant"),
    ('tenant_claim = "gainsay_tenant"', 'tenant = "Risk"', "expected a tenant's name"),
    ('"auditor"', '"auditr"', "oidc.0.roles.model-risk: expected requester"),
    ('"auditor"', '"administrator"', "administrator is a role of the whole service; it needs service_roles = true"),
    ('audience = "gainsay"', 'audience = "gainsay"\nalgorithms = ["HS256"]', "found ['HS256']"),
    ('audience = "gainsay"', 'audience = "gainsay"\nalgorithms = ["none"]', "found ['none']"),
    ('audience = "gainsay"', 'audience = "gainsay"\nalgorithms = []', "expected at least one algorithm"),
    ('audience = "gainsay"', 'audience = "gainsay"\nkeep_s = 60', "oidc.0.keep_s: expected at least refresh_s"),
    ('audience = "gainsay"', 'audience = "gainsay"\nskew_s = 3600', "expected from 0 to 300"),
    ('audience = "gainsay"', 'audience = "gainsay"\nca = "ca.pem"', "expected the whole path of a file"),
    (
        'audience = "gainsay"',
        'audience = "gainsay"\nclient_secret = "s3cret"',
        "oidc.0.client_secret: this key is unknown",
    ),
    ('["10.0.0.0/8", "unix"]', '["0.0.0.0/0"]', "proxy.from: this network has every address"),
    ('["10.0.0.0/8", "unix"]', '["::/0"]', "proxy.from: this network has every address"),
    ('["10.0.0.0/8", "unix"]', '["10.0.0.1/8"]', "proxy.from: expected a network such as"),
    ('["10.0.0.0/8", "unix"]', '["proxy.svc"]', "proxy.from: expected a network such as"),
    ('["10.0.0.0/8", "unix"]', "[]", "proxy.from: expected the networks of the proxies"),
    ('header = "Gainsay-Subject"', 'header = "Host"', "proxy.header: Host has a meaning of its own"),
    ('header = "Gainsay-Subject"', 'header = "a b"', "proxy.header: expected the name of a header"),
    ('tenant = "default"', 'tenant_header = "gainsay-subject"', "expected a header of its own"),
    ('roles = ["requester"]', "", "proxy.roles: expected either roles or roles_header"),
    ('roles = ["requester"]', "roles = []", "proxy.roles: expected at least one role"),
    ('roles = ["requester"]', 'roles = ["scrape"]', "scrape is a role of the whole service"),
    ('roles = ["requester"]', 'roles = ["scrape", "auditor"]\nservice_roles = true', "found both"),
]


@pytest.mark.parametrize(("was", "now", "said"), FAULTS, ids=[said[:40] for *_, said in FAULTS])
def test_a_wrong_section_is_refused(tmp_path: Path, was: str, now: str, said: str) -> None:
    assert was in BANK + PROXY

    with pytest.raises(SettingsError) as refusal:
        read_identities(written(tmp_path, (BANK + PROXY).replace(was, now)))

    assert said in refusal.value.detail
    assert "s3cret" not in refusal.value.detail
    assert "u:p" not in refusal.value.detail


def test_faults_of_all_sections_come_together_with_their_lines(tmp_path: Path) -> None:
    text = BANK.replace('"auditor"', '"auditr"') + BANK + BANK + PROXY.replace('"unix"', '"unx"')

    with pytest.raises(SettingsError) as refusal:
        read_identities(written(tmp_path, text))

    said = refusal.value.detail
    assert "has 4 faults" in said
    assert "line 8: oidc.0.roles.model-risk" in said
    assert "another section has this name" in said
    assert "another section has this issuer" in said
    assert "proxy.from" in said


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("https://id.example", "id.example", 443),
        ("http://127.0.0.1:3000/a", "127.0.0.1", 3000),
        ("http://[::1]/", "::1", 80),
        ("https://ID.example:8443/keys?p=1", "id.example", 8443),
    ],
)
def test_addresses_are_read(text: str, host: str, port: int) -> None:
    found = read_address(text)

    assert found is not None
    assert (found.host, found.port) == (host, port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://",
        "https://a b",
        "https://a@b",
        "https://a#b",
        "https://a\\b",
        "https://a:0",
        "https://a:99999",
        "ftp://a",
        "//a",
        "https://a\n",
        "https://é.example",
        "https://" + "a" * 600,
    ],
)
def test_other_texts_are_no_addresses(text: str) -> None:
    assert read_address(text) is None


PAGE = Path(__file__).resolve().parents[3] / "docs" / "authentication-oidc.md"


def test_every_section_that_the_page_shows_is_read(tmp_path: Path) -> None:
    shown = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)

    found = [read_identities(written(tmp_path, text)) for text in shown]

    assert [[one.name for one in each.oidc] for each in found] == [["bank"], ["keycloak"], ["entra"], ["okta"], []]
    assert found[-1].proxy is not None


def test_the_page_has_every_member_and_its_default() -> None:
    page = PAGE.read_text("utf-8")

    for setting in (OidcSetting, ProxySetting):
        for field, key in zip(fields(setting), keys_of(setting), strict=True):
            assert re.search(rf"(?m)^(?:\| `)?{key.name}\b|`{key.name}`|or {key.name} =", page), key.name
            if setting is OidcSetting and isinstance(field.default, int) and not isinstance(field.default, bool):
                assert f"| `{key.name}` | {field.default} |" in page
