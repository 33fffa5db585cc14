"""Opaque ids of subjects, keys, webhooks and their messages: a prefix and 26 characters that say nothing of these.

The characters are those of Crockford's base32 in lower case (without i, l, o and u), and stand for 128 random bits.
"""

from __future__ import annotations

import re
from typing import Literal

Prefix = Literal["sub_", "key_", "whk_", "msg_"]
RANDOM_BYTES = 16
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_CHARACTERS = 26
_ID = re.compile(r"(sub_|key_|whk_|msg_)[0-7][0-9a-hjkmnp-tv-z]{25}", re.ASCII)


def write_id(prefix: Prefix, random: bytes) -> str:
    """The id of 16 random bytes; raises `ValueError` for another number of bytes."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"expected {RANDOM_BYTES} random bytes, found {len(random)}")
    number = int.from_bytes(random)
    return prefix + "".join(_DIGITS[number >> shift & 31] for shift in range(5 * (_CHARACTERS - 1), -1, -5))


def is_id(text: str, prefix: Prefix) -> bool:
    """Whether a text is an id of this kind, as `write_id` writes it."""
    return text.startswith(prefix) and _ID.fullmatch(text) is not None
