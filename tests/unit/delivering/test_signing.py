"""Secrets follow from the master key alone, and a stock verifier takes the signatures."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from standardwebhooks.webhooks import Webhook

from service.delivering.signing import _SALT, derive_secret, master_id, read_master, shown, signed_headers

MASTER = bytes(range(32))


def test_a_secret_is_hkdf_of_the_master_key_by_tenant_endpoint_and_generation() -> None:
    info = b"acme\0whk_1\x003"

    assert derive_secret(MASTER, "acme", "whk_1", 3) == HKDF(SHA256(), 32, _SALT, info).derive(MASTER)


def test_each_tenant_endpoint_generation_and_key_has_another_secret() -> None:
    secrets = {
        derive_secret(master, tenant, endpoint, generation)
        for master in (MASTER, bytes(32))
        for tenant in ("a", "b")
        for endpoint in ("whk_1", "whk_2")
        for generation in (1, 11)
    }

    assert len(secrets) == 16


def test_the_id_of_a_key_says_nothing_of_it() -> None:
    assert master_id(MASTER) != master_id(bytes(32))
    assert len(master_id(MASTER)) == 12
    assert master_id(MASTER) not in MASTER.hex()


def test_the_stock_signer_makes_the_same_headers() -> None:
    secret, body = derive_secret(MASTER, "acme", "whk_1", 1), b'{"a":1}'
    headers = signed_headers([secret], "msg_1", 1_700_000_000, body)

    at = datetime.fromtimestamp(1_700_000_000, UTC)
    assert headers["webhook-signature"] == Webhook(shown(secret)).sign("msg_1", at, body.decode())


@pytest.mark.parametrize("text", ["", "AAAA", "A" * 43, "A" * 44, "!" * 44, f"{'A' * 43}=="])
def test_a_master_key_of_another_form_is_refused_and_never_said(text: str) -> None:
    with pytest.raises(ValueError, match="expected 32 bytes in base64") as refused:
        read_master(text)

    assert not text or text not in str(refused.value)
