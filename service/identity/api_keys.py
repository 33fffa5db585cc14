"""API keys: how one is written, and how a text is read as one.

    gainsay_ + 43 characters: 256 random bits + 6 characters: a checksum
    gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs   (of the bytes 0, 1, ... 31)

The 62 characters are digits, upper case and lower case, in the order of ASCII, and the most significant comes first.
The checksum is CRC-32 of everything before it. It keeps no secret: by it a scanner of sources, or the service, knows
without a database that a text is no key (docs/authentication.md).

The service stores SHA-256 of the whole key. A slow hash protects secrets that can be guessed, such as passwords.
256 random bits cannot be guessed, and a slow hash for each request would let strangers keep the service busy.
"""

from __future__ import annotations

import re
from hashlib import sha256
from hmac import compare_digest
from zlib import crc32

from service.errors import Unauthenticated

PREFIX = "gainsay_"
SECRET_BYTES = 32
SECRET_CHARACTERS = 43
CHECKSUM_CHARACTERS = 6
CHARACTERS = len(PREFIX) + SECRET_CHARACTERS + CHECKSUM_CHARACTERS
PATTERN = r"\bgainsay_[0-9A-Za-z]{49}\b"
"""What finds a key in a text: the rule for scanners of sources."""
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(rb"gainsay_[0-9A-Za-z]{49}", re.ASCII)


def write_key(random: bytes) -> str:
    """The key of 32 random bytes, as a person gets it; raises `ValueError` for another number of bytes."""
    if len(random) != SECRET_BYTES:
        raise ValueError(f"expected {SECRET_BYTES} random bytes, found {len(random)}")
    text = PREFIX + _base62(int.from_bytes(random), SECRET_CHARACTERS)
    return text + checksum(text)


def read_key(presented: bytes) -> bytes:
    """The hash by which the register knows the key of a text.

    Raises `Unauthenticated` for a text that is no key, which helps the person who mistyped one: it says what is wrong
    with the form, and nothing of the text. Any strange byte is refused here, before a database is asked.
    """
    if not _KEY.fullmatch(presented):
        raise Unauthenticated(
            f"expected an API key, {PREFIX!r} and {CHARACTERS - len(PREFIX)} letters and digits, found another text of "
            f"{len(presented)} bytes; send the key as it was issued, in one line and without quotes",
            presented=True,
        )
    body, check = presented[:-CHECKSUM_CHARACTERS], presented[-CHECKSUM_CHARACTERS:]
    if not compare_digest(checksum(body.decode("ascii")).encode("ascii"), check):
        raise Unauthenticated(
            "expected an API key whose checksum fits, found one whose checksum does not: a character was changed, or "
            "two parts were joined; send the key as it was issued",
            presented=True,
        )
    return hash_key(presented)


def hash_key(key: bytes) -> bytes:
    """SHA-256 of a whole key: what is stored of it."""
    return sha256(key).digest()


def checksum(text: str) -> str:
    """The last characters of a key that begins with this text."""
    return _base62(crc32(text.encode("ascii")), CHECKSUM_CHARACTERS)


def _base62(number: int, characters: int) -> str:
    digits = []
    for _ in range(characters):
        number, rest = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[rest])
    return "".join(reversed(digits))
