"""What is recorded of a call at the moment of the call: no record, no call."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, LiteralString

import psycopg

from service.debate.entries import TurnAsked, decode

RECORDS: LiteralString = (
    "SELECT body FROM gainsay.payload WHERE position('turn.asked'::bytea in body) > 0 "
    "AND debate = (SELECT debate FROM gainsay.debate_head ORDER BY created DESC, debate DESC LIMIT 1)"
)


def intents(admin: psycopg.Connection[Any], body: bytes) -> int:
    """How many attempts of the newest debate are recorded that ask just this."""
    asked = [entry for (record,) in admin.execute(RECORDS) if isinstance(entry := decode(record), TurnAsked)]
    return sum(entry.wire_hash == wire_hash(entry, body) for entry in asked)


def wire_hash(asked: TurnAsked, body: bytes) -> str:
    """What an attempt records of its call, if this is what was sent."""
    return sha256(bytes.fromhex(asked.request_salt) + body).hexdigest()
