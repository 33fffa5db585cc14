"""Signatures after Standard Webhooks, with secrets that no table has.

    webhook-id         the same for every attempt of one message
    webhook-timestamp  seconds since 1970 of this attempt: a receiver refuses one that is minutes old
    webhook-signature  v1,BASE64 of HMAC-SHA256 over id.timestamp.body, one for each secret, with a space between

A secret is derived from the deployment's master key (HKDF, RFC 5869) by tenant, endpoint and generation. So a copy of
the database signs nothing, and a rotation is a number that is one higher.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256

PREFIX = "whsec_"
MASTER_BYTES = SECRET_BYTES = 32
_SALT = b"gainsay webhook secret v1"


def master_id(master: bytes) -> str:
    """What rows name a master key by; it says nothing of the key."""
    return hmac.digest(master, b"gainsay webhook master id v1", sha256).hex()[:12]


def derive_secret(master: bytes, tenant: str, endpoint: str, generation: int) -> bytes:
    """The secret of an endpoint's generation."""
    info = b"\0".join(part.encode() for part in (tenant, endpoint, str(generation)))
    extracted = hmac.digest(_SALT, master, sha256)
    return hmac.digest(extracted, info + b"\x01", sha256)


def shown(secret: bytes) -> str:
    """A secret as it is given to its receiver."""
    return PREFIX + b64encode(secret).decode()


def read_master(text: str) -> bytes:
    """A master key in base64; raises `ValueError`, which never has the text."""
    try:
        found = b64decode(text, validate=True)
    except ValueError:
        found = b""
    if len(found) != MASTER_BYTES:
        raise ValueError(f"expected {MASTER_BYTES} bytes in base64 in each line, found another text")
    return found


def signed_headers(secrets: Sequence[bytes], message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of one attempt; a receiver accepts it by any of the secrets."""
    signed = b".".join((message.encode(), str(timestamp).encode(), body))
    signatures = (b64encode(hmac.digest(secret, signed, sha256)).decode() for secret in secrets)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
