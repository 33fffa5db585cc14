"""The documents of an identity provider: its discovery document, and its keys (RFC 7517), as far as they can be used.

A key is left out, and the set stands, where the key

    is for a shared secret, or of a type or curve that no accepted algorithm has
    is for encryption (``use``, ``key_ops``), or for another algorithm
    has no ``kid``: tokens name their key
    is an RSA key of fewer than 2048 bits, or of more than 8192
    is a private key: who reads the set could sign with it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.util import base64_to_int
from msgspec import Struct

from service.identity.provider_settings import TEXT_MAX, is_loopback, read_address
from service.identity.strict_json import read_object

KEYS_MAX = 100
"""Keys that a set may have. Providers publish two to ten."""
RSA_BITS = (2_048, 8_192)
_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_CURVES: Mapping[tuple[str, str], frozenset[str]] = {
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA", "Ed25519"}),
}


class BadDocument(ValueError):
    """A document of a provider that cannot be used; the message says why."""


class VerificationKey(Struct, frozen=True):
    """A public key, and the algorithms whose signatures it may verify."""

    kid: str
    fits: frozenset[str]
    key: Key


class KeySet(Struct, frozen=True):
    """The keys of a provider by ``kid``; one ``kid`` may stand for keys of several types."""

    keys: Mapping[str, tuple[VerificationKey, ...]]

    def find(self, kid: str, algorithm: str) -> tuple[VerificationKey, ...]:
        """The keys of this ``kid`` that may verify signatures of this algorithm."""
        return tuple(key for key in self.keys.get(kid, ()) if algorithm in key.fits)


def read_discovery(document: bytes, issuer: str) -> str:
    """Where the keys of an issuer are, from its discovery document (OpenID Connect Discovery 1.0, 4.3).

    Raises `BadDocument`, also where the document is of another issuer.
    """
    found = _object(document)
    if found.get("issuer") != issuer:
        raise BadDocument(f"its issuer is not {issuer!r} to the letter")
    place = found.get("jwks_uri")
    address = read_address(place) if isinstance(place, str) else None
    if address is None or not isinstance(place, str):
        raise BadDocument("it names no jwks_uri that can be read")
    own = read_address(issuer)
    near = own is not None and own.scheme == "http" and is_loopback(address)  # one machine, for both
    if address.scheme != "https" and not near:
        raise BadDocument("its jwks_uri is not https://")
    return place


def read_key_set(document: bytes) -> KeySet:
    """The keys of a set that can be used; raises `BadDocument` where there is none."""
    listed = _object(document).get("keys")
    if not isinstance(listed, list):
        raise BadDocument("it has no list of keys")
    if len(listed) > KEYS_MAX:
        raise BadDocument(f"it has more than {KEYS_MAX} keys")
    found: dict[str, tuple[VerificationKey, ...]] = {}
    for written in listed:
        if (key := _usable(written)) is not None:
            found[key.kid] = (*found.get(key.kid, ()), key)
    if not found:
        raise BadDocument("it has no public key that can verify a token")
    return KeySet(found)


def _object(document: bytes) -> Mapping[str, Any]:
    try:
        return read_object(document)
    except ValueError:
        raise BadDocument("it is no JSON object, or a member stands twice") from None


def _usable(written: Any) -> VerificationKey | None:
    """The key, or ``None`` where it is left out."""
    if not isinstance(written, dict) or written.get("use", "sig") != "sig" or "d" in written:
        return None
    kid, operations = written.get("kid"), written.get("key_ops", ["verify"])
    if not isinstance(kid, str) or not 0 < len(kid) <= TEXT_MAX:
        return None
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    try:
        key, fits = _public(written)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    fits &= {written["alg"]} if isinstance(written.get("alg"), str) else fits
    return VerificationKey(kid, fits, key) if fits else None


def _public(written: Mapping[str, Any]) -> tuple[Key, frozenset[str]]:
    """The public key of the members that say it, and what it fits; raises what the library raises."""
    if written["kty"] == "RSA":
        if not RSA_BITS[0] <= base64_to_int(written["n"]).bit_length() <= RSA_BITS[1]:
            raise ValueError("too short or too long")
        if base64_to_int(written["e"]).bit_length() > 64:  # a long exponent makes each verification slow
            raise ValueError("too long an exponent")
        return RSAKey.import_key(_members(written, ("n", "e"))), _RSA
    fits = _CURVES[written["kty"], written["crv"]]
    if written["kty"] == "EC":
        return ECKey.import_key(_members(written, ("crv", "x", "y"))), fits
    return OKPKey.import_key(_members(written, ("crv", "x"))), fits


def _members(written: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {"kty": written["kty"], **{name: written[name] for name in names}}
