"""The authority for time stamps in the policy: what serves, what is refused, and what policy.json says without one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

from service.policy import TimeStamps, decode_policy, encode_policy
from service.policy.settings import read_policy
from tests.fixtures.policies import changed, policy_file, refused
from tests.fixtures.stamping import AUTHORITY, AUTHORITY_KEY, a_certificate

URL = "https://stamps.example/tsr"
EXPIRED = a_certificate(until=datetime(2026, 1, 2, tzinfo=UTC))
SECRET = AUTHORITY_KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
CODE = ExtendedKeyUsageOID.CODE_SIGNING
STAMPING = ExtendedKeyUsageOID.TIME_STAMPING


def stamped(**keys: Any) -> dict[str, Any]:
    """The shipped policy with an authority, and some keys of it changed."""
    return changed("audit", to={"timestamps": {"url": URL, "certificate": AUTHORITY, **keys}})


def test_an_authority_is_read_with_its_usual_interval(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **stamped(certificate=f"\n  {AUTHORITY}\n")))

    assert policy.audit.timestamps == TimeStamps(URL, AUTHORITY, 600)
    assert decode_policy(encode_policy(policy)) == policy


def test_a_policy_without_one_has_no_such_member(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **changed("audit", to={})))

    assert "timestamps" not in json.loads(encode_policy(policy))["audit"]
    assert decode_policy(encode_policy(policy)) == policy


def test_a_certificate_that_has_expired_stops_nothing(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **stamped(certificate=EXPIRED)))

    assert policy.audit.timestamps == TimeStamps(URL, EXPIRED, 600)


@pytest.mark.parametrize("seconds", [0, 59, 86_401])
def test_an_interval_out_of_bounds_is_refused(tmp_path: Path, seconds: int) -> None:
    assert "audit.timestamps.every_s: expected from 60 to 86400" in refused(tmp_path, stamped(every_s=seconds))


@pytest.mark.parametrize(
    "url", ["", "stamps.example", "ftp://stamps.example", "https://", "https://me:pw@stamps.example"]
)
def test_an_address_that_cannot_be_asked_is_refused(tmp_path: Path, url: str) -> None:
    assert "audit.timestamps.url: expected the address that takes requests" in refused(tmp_path, stamped(url=url))


@pytest.mark.parametrize(
    "purposes", [(), (CODE,), (STAMPING, CODE)], ids=["any purpose", "another purpose", "one purpose more"]
)
def test_a_certificate_for_something_else_is_refused(
    tmp_path: Path, purposes: tuple[x509.ObjectIdentifier, ...]
) -> None:
    said = refused(tmp_path, stamped(certificate=a_certificate(purposes)))

    assert "audit.timestamps.certificate: expected a certificate for time stamps" in said


def test_a_purpose_that_is_not_critical_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, stamped(certificate=a_certificate(critical=False)))

    assert "marked critical" in said


@pytest.mark.parametrize("text", ["", "stamps.pem", AUTHORITY * 2, f"{AUTHORITY}{SECRET}", SECRET])
def test_what_is_no_certificate_alone_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    said = refused(tmp_path, stamped(certificate=text))

    assert "audit.timestamps.certificate: expected the authority's own certificate alone" in said
    assert SECRET.splitlines()[1] not in said


def test_a_damaged_certificate_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, stamped(certificate=AUTHORITY.replace("MII", "AAA", 1)))

    assert "expected a certificate in PEM" in said
