"""Cursors of the list of debates: where a page ends, bound to the tenant, the filters and the order of its list.

A cursor is opaque to callers. It is no secret and gives no right: the filters of the request that brings it hold, and
its checksum shows damage, not who made it.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from uuid import UUID

import msgspec
from msgspec.structs import replace

from service.errors import BadRequest
from service.store.debate_query import DebateQuery, Position

VERSION = 1
_CHECK, _LIST = 8, 12
"""Bytes of the checksum over a cursor, and of the hash of the list that it belongs to."""
LONGEST = 400
_KEYS = {"spentUSD": re.compile(r"[0-9]{1,18}"), "estimatedDownsideUSD": re.compile(r"[0-9]+(?:\.[0-9]+)?")}
"""The key of a place in each order that has keys; a debate without a cost has none in that order."""


def write_cursor(tenant: str, query: DebateQuery, at: Position) -> str:
    """The cursor of the place behind a debate in the list of a query."""
    content = _list_of(tenant, query) + msgspec.json.encode((VERSION, at.key, at.debate))
    return urlsafe_b64encode(_check(content) + content).rstrip(b"=").decode()


def read_cursor(tenant: str, query: DebateQuery) -> Position | None:
    """The place at which the page of a query begins; ``None`` for the first page. Raises `BadRequest`."""
    if query.after is None:
        return None
    content = _opened(query.after)
    if content[:_LIST] != _list_of(tenant, query):
        raise BadRequest(
            "after belongs to a list with other filters or another sort; send those of its page, or no after"
        )
    try:
        _, key, debate = msgspec.json.decode(content[_LIST:], type=tuple[int, str | None, str])
        at = Position(str(UUID(debate)), key)
    except ValueError:
        raise _damaged() from None
    if not _is_key(query.sort.removeprefix("-"), at.key):
        raise _damaged()
    return at


def _is_key(order: str, key: str | None) -> bool:
    """Whether places in an order have such a key: the database would refuse another, which a caller has made."""
    if key is None:
        return order != "estimatedDownsideUSD"
    return order in _KEYS and _KEYS[order].fullmatch(key) is not None


def _opened(token: str) -> bytes:
    """The content of an undamaged cursor, in its one spelling."""
    try:
        whole = urlsafe_b64decode(token + "=" * (-len(token) % 4)) if len(token) <= LONGEST else b""
    except ValueError:
        raise _damaged() from None
    content = whole[_CHECK:]
    if whole[:_CHECK] != _check(content) or urlsafe_b64encode(whole).rstrip(b"=").decode() != token:
        raise _damaged()
    return content


def _damaged() -> BadRequest:
    return BadRequest("after must be the value of next on a page of this list, as it was given; found another text")


def _list_of(tenant: str, query: DebateQuery) -> bytes:
    """The hash of what makes a list: its tenant, filters and order, neither the size of pages nor the counts."""
    of = replace(query, limit=0, after=None, facets=())
    return sha256(msgspec.json.encode((tenant, of))).digest()[:_LIST]


def _check(content: bytes) -> bytes:
    return sha256(b"gainsay-cursor/%d\n" % VERSION + content).digest()[:_CHECK]
