"""A record: a small envelope that commits to its payload by a salted hash.

Encode once, hash those bytes, store those bytes, serve those bytes. The salt lets a payload be erased one day (salt
with it) while the log stays whole; without it, short payloads could be guessed from their hashes. ``n`` counts from 0
within a debate without gaps and ``prev`` is the leaf hash of the record before, so a missing record shows.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec
from msgspec import Struct

SCHEMA = 1
SALT_BYTES = 32
LEAF_BYTES_MAX = 65_535
"""C2SP tlog-tiles gives a leaf's length in 16 bits."""


class Envelope(Struct, frozen=True, rename="camel"):
    """What a leaf of the log says. ``at`` is RFC 3339 UTC and a claim, not an order; ``actor`` is an opaque id."""

    v: int
    log: str
    tenant: str
    kind: str
    schema: int
    debate: str
    n: int
    prev: str
    at: str
    actor: str
    commitment: str


class Record(Struct, frozen=True):
    """A sealed entry: the leaf's bytes and hash, and the payload with its salt."""

    n: int
    leaf: bytes
    leaf_hash: bytes
    salt: bytes
    payload: bytes


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def commit(salt: bytes, content: bytes) -> str:
    """SHA-256(salt || content), hex: binds to the content, tells nothing of it."""
    return sha256(salt + content).hexdigest()


def leaf_hash(leaf: bytes) -> bytes:
    """RFC 6962, section 2.1: SHA-256(0x00 || leaf)."""
    return sha256(b"\x00" + leaf).digest()


def seal(
    payload: bytes,
    salt: bytes,
    *,
    log: str,
    tenant: str,
    kind: str,
    debate: str,
    n: int,
    prev: bytes,
    at: str,
    actor: str,
) -> Record:
    """The record of a payload; raises `ValueError` when the salt has another length or the leaf is too long."""
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, found {len(salt)}")
    envelope = Envelope(1, log, tenant, kind, SCHEMA, debate, n, prev.hex(), at, actor, commit(salt, payload))
    leaf = _encoder.encode(envelope)
    if len(leaf) > LEAF_BYTES_MAX:
        raise ValueError(f"a leaf has at most {LEAF_BYTES_MAX} bytes, found {len(leaf)}")
    return Record(n, leaf, leaf_hash(leaf), salt, payload)


def open_leaf(leaf: bytes) -> Envelope:
    """The envelope of a leaf; raises `ValueError` on any other bytes, also on ones that only mean the same.

    (`msgspec.DecodeError`, which names what is wrong, is a `ValueError` too.)
    """
    envelope = _decoder.decode(leaf)
    if _encoder.encode(envelope) != leaf:
        raise ValueError("expected a leaf exactly as it is sealed, found other bytes with the same fields")
    return envelope
