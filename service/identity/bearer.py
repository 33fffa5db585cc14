"""The bearer token of a request (RFC 6750, 2.1), which comes in one Authorization header and nowhere else.

A token in an address is never read: addresses are kept by proxies, browsers and logs.
"""

from __future__ import annotations

import re

from service.errors import Unauthenticated
from service.identity.authentication import Presented

BYTES_MAX = 16 * 1024
"""The longest header that is read; tokens of identity providers have some thousands of bytes."""
_BEARER = re.compile(rb"bearer +([!-~]+) *", re.ASCII | re.IGNORECASE)


def bearer_token(presented: Presented) -> bytes | None:
    """The token that a request presents, of printable ASCII, or ``None`` where it has no Authorization header.

    Raises `Unauthenticated` for two headers, another scheme, a header that is too long, and any other byte.
    """
    if not presented.authorization:
        return None
    if len(presented.authorization) > 1:
        raise _refused(f"found {len(presented.authorization)}; send one credential")
    (header,) = presented.authorization
    if len(header) > BYTES_MAX:
        raise _refused(f"found one of {len(header)} bytes; the longest that is read has {BYTES_MAX}")
    found = _BEARER.fullmatch(header)
    if not found:
        raise _refused("found another scheme or other characters")
    return found[1]


def _refused(what: str) -> Unauthenticated:
    return Unauthenticated(f"expected one header `Authorization: Bearer` with a key or token, {what}", presented=True)
