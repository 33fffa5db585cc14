"""What a model said, read as the typed reply of its seat; or what is wrong with it, in words that can be told back."""

from __future__ import annotations

import msgspec

from service.debate.replies import REPLY_TYPES, Reply

CHARACTERS_MAX = 1_000_000


def decode_reply(seat: str, text: str) -> Reply | str:
    """The typed reply of a seat, or what is wrong with the text; its content is not repeated."""
    if len(text) > CHARACTERS_MAX:
        return f"expected a reply of at most {CHARACTERS_MAX} characters, found {len(text)}"
    try:
        return msgspec.json.decode(text, type=REPLY_TYPES[seat])
    except (msgspec.DecodeError, UnicodeError) as error:
        return f"expected the reply of a {seat} as one JSON object: {error}"
