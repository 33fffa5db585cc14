"""Headers of requests: Prefer, Accept, Last-Event-ID, Idempotency-Key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

from service.errors import BadRequest

WAIT_MAX_S = 60
"""The longest wait for a result; most proxies cut a silent connection soon after."""

_PREFERENCE = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?\s*(?:;[^,]*)?')
_SECONDS = re.compile(r"0*(\d+)", re.ASCII)
KEY_MAX = 255
_KEY = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_BARE_KEY = re.compile(r"[!#-~][!-~]*")
_ENTRY = re.compile(r"[0-9]{1,9}")


def preferred_wait(prefer: Iterable[str]) -> int | None:
    """The seconds of ``wait``, at most `WAIT_MAX_S`, or ``None``.

    RFC 7240, 2: names ignore case, the first mention counts, malformed or unknown preferences are ignored.
    """
    for header in prefer:
        for name, quoted, plain in _PREFERENCE.findall(header):
            if name.lower() == "wait":
                value = quoted or plain
                return _cut(value)
    return None


def _cut(seconds: str) -> int | None:
    """A number of seconds of any length, cut to `WAIT_MAX_S`; ``None`` for what is no number."""
    if (found := _SECONDS.fullmatch(seconds)) is None:
        return None
    return WAIT_MAX_S if len(found[1]) > len(str(WAIT_MAX_S)) else min(int(found[1]), WAIT_MAX_S)


def best_media_type(accept: str | None, offers: Sequence[str]) -> str | None:
    """The offer with the highest quality in Accept (RFC 9110, 12.5.1), or ``None``; the first offer on a tie."""
    if accept is None or not accept.strip():
        return offers[0]
    ranges = [_media_range(part) for part in accept.split(",") if part.strip()]
    liked = [(_quality(offer, ranges), -i, offer) for i, offer in enumerate(offers)]
    quality, _, offer = max(liked)
    return offer if quality > 0 else None


def last_event(header: str | None, query: str | None) -> int | None:
    """The number of the last entry that a listener has seen. The header overrides the query, which may be older.

    Raises `BadRequest` if either is none.
    """
    given = [said.strip() for said in (header, query) if said is not None and said.strip()]
    if not all(map(_ENTRY.fullmatch, given)):
        raise BadRequest("Last-Event-ID must be the id of an event of this stream: a whole number")
    return int(given[0]) if given else None


def idempotency_key(given: Sequence[str]) -> str | None:
    """The key of a request that may be sent again, or ``None``; raises `BadRequest`.

    A string in quotes (RFC 9651, 3.3.3); the same without quotes, of visible ASCII, means the same key.
    """
    if not given:
        return None
    said = given[0].strip()
    if found := _KEY.fullmatch(said):
        key = re.sub(r"\\(.)", r"\1", found[1])
    else:
        key = said if _BARE_KEY.fullmatch(said) else ""
    if len(given) > 1 or not 1 <= len(key) <= KEY_MAX:
        raise BadRequest(
            f"Idempotency-Key must be given once, as 1 to {KEY_MAX} ASCII characters in quotes, or without "
            "quotes if it has no space or quote; use a new UUID for each case"
        )
    return key


def _media_range(part: str) -> tuple[str, Decimal]:
    name, *parameters = (p.strip().lower() for p in part.split(";"))
    quality = next((p.partition("=")[2] for p in parameters if p.partition("=")[0].strip() == "q"), "1")
    try:
        value = Decimal(quality.strip())
    except InvalidOperation:
        return name, Decimal(0)
    return name, value if value.is_finite() else Decimal(0)


def _quality(offer: str, ranges: Sequence[tuple[str, Decimal]]) -> Decimal:
    """The quality that the most specific range gives an offer: itself, its kind (``text/*``), or anything."""
    for wanted in (offer, f"{offer.partition('/')[0]}/*", "*/*"):
        for name, quality in ranges:
            if name == wanted:
                return quality
    return Decimal(0)
