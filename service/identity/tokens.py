"""A bearer token as bytes: what may be read of it before its signature is verified, and its claims afterwards.

A token is a JWS in the compact form (RFC 7515, 3.1) whose payload is a JSON object. In this order it is refused where

    1. it is longer than `TOKEN_MAX` bytes
    2. it has not three parts: five are an encrypted token, whose key this service does not have
    3. its header or its payload is no base64url of a JSON object, or a member of them stands twice
    4. its algorithm is none of those that are configured; ``none`` and shared secrets never are
    5. its type is neither `at+jwt` (RFC 9068) nor `JWT` nor missing; a nested token (``cty``) is none of ours
    6. its header has ``crit`` or ``b64``: no extension is understood
    7. it names no key by ``kid``
    8. none of the issuer's keys of that ``kid`` fits the algorithm and verifies the signature

A key in the token itself (``jwk``, ``jku``, ``x5c``, ``x5u``) is never looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jws import JWSRegistry
from joserfc.util import urlsafe_b64decode
from msgspec import Struct

from service.errors import Unauthenticated
from service.identity.key_sets import VerificationKey
from service.identity.provider_settings import TEXT_MAX
from service.identity.strict_json import read_object

TOKEN_MAX = 8_192
TYPES = ("at+jwt", "jwt", "")
"""Types in lower case, without ``application/``; a token may have none."""


class UnverifiedToken(Struct, frozen=True):
    """A token whose signature was not verified. ``issuer`` may serve to choose whose keys verify it, and no more."""

    token: bytes
    header: Mapping[str, Any]
    issuer: str

    @property
    def algorithm(self) -> str:
        """What it says that it was signed with."""
        return str(self.header.get("alg"))

    @property
    def kid(self) -> str:
        """The name of the key that it says to be signed with."""
        return str(self.header.get("kid"))

    @property
    def type(self) -> str:
        """What the token is, by its header."""
        return _type(self.header)

    def __repr__(self) -> str:
        """Nothing of the token: it works for each who has it."""
        return "UnverifiedToken()"


def refused(why: str) -> Unauthenticated:
    """The refusal of a bearer token."""
    return Unauthenticated(f"the bearer token is not accepted: {why}", presented=True)


def read_token(token: bytes) -> UnverifiedToken:
    """A token in its parts (steps 1 to 3); raises `Unauthenticated`."""
    if len(token) > TOKEN_MAX:
        raise refused(f"expected at most {TOKEN_MAX} bytes, found more; ask the provider for fewer claims")
    parts = token.split(b".")
    if len(parts) != 3:
        encrypted = " (an encrypted token has five; ask the provider for signed ones)" if len(parts) == 5 else ""
        raise refused(f"expected three parts with dots between them, found {len(parts)}{encrypted}")
    issuer = _part(parts[1], "payload").get("iss")
    return UnverifiedToken(token, _part(parts[0], "header"), issuer if isinstance(issuer, str) else "")


def check_header(token: UnverifiedToken, algorithms: Collection[str]) -> None:
    """Refuse a token for its header (steps 4 to 7); raises `Unauthenticated`."""
    header = token.header
    if header.get("alg") not in algorithms or not isinstance(header.get("alg"), str):
        raise refused(f"expected a signature by {', '.join(algorithms)}, found another algorithm")
    if _type(header) not in TYPES or header.get("cty") is not None:
        raise refused("expected an access token (typ at+jwt or JWT), found another type of token")
    if "crit" in header or "b64" in header:
        raise refused("its header has crit or b64, and no extension is understood")
    if not isinstance(header.get("kid"), str) or not 0 < len(header["kid"]) <= TEXT_MAX:
        raise refused("expected the name of a key in the header (kid), found none")


def verified_claims(
    token: UnverifiedToken, keys: Iterable[VerificationKey], algorithms: Collection[str]
) -> Mapping[str, Any]:
    """The claims of a token that one of these keys verifies (step 8); raises `Unauthenticated`."""
    registry = _Registry(algorithms=algorithms, strict_check_header=False)
    for key in keys:
        try:
            found = jws.extract_compact(token.token, registry=registry)
            if token.algorithm in key.fits and jws.validate_compact(found, key.key, registry=registry):
                return read_object(found.payload)
        except (JoseError, ValueError):
            continue
    raise refused("its signature is not by the key that it names")


class _Registry(JWSRegistry):
    """The library's algorithms, none but those that are configured, in sizes that a whole token bounds.

    The library warns at each token of EdDSA, whose name RFC 9864 replaces; providers go on to use it.
    """

    max_header_length = TOKEN_MAX
    max_payload_length = TOKEN_MAX
    max_signature_length = TOKEN_MAX

    def get_alg(self, name: str) -> Any:
        if not self.allowed or name not in self.allowed or name not in self.algorithms:
            raise UnsupportedAlgorithmError("an algorithm that is not configured")
        return self.algorithms[name]


def _part(part: bytes, name: str) -> Mapping[str, Any]:
    try:
        return read_object(urlsafe_b64decode(part))
    except ValueError:
        raise refused(
            f"expected its {name} as base64url of a JSON object in which no member stands twice, found something else"
        ) from None


def _type(header: Mapping[str, Any]) -> str:
    written = header.get("typ", "")
    return written.lower().removeprefix("application/") if isinstance(written, str) else "?"
