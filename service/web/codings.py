"""Which content coding an answer has, by Accept-Encoding (RFC 9110, 12.5.3).

    no header, or an empty one          identity
    a coding with a quality above 0     the one with the highest; zstd before gzip before identity on a tie
    identity;q=0, or *;q=0 without it   a coding that is accepted, whatever the answer's size and type
    nothing that this service has       identity: the header is disregarded (12.4.1), so no answer is lost over it

Tags differ by coding, as RFC 9110, 8.8.3.3 has it: ``"5"`` is ``"5+gzip"`` where the answer is packed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

CODINGS = ("zstd", "gzip")
"""Those that this service packs with, the best first."""
_ALIASES = {"x-gzip": "gzip"}
_QUALITY = re.compile(r"[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_TAG = re.compile(r'\+(\w+)"$')


class Wanted(NamedTuple):
    """The coding of an answer, ``None`` for identity, and whether identity is refused."""

    coding: str | None
    packed_only: bool = False


def wanted_coding(accepted: Iterable[str], offered: Iterable[str] = CODINGS) -> Wanted:
    """The coding that the fields Accept-Encoding of a request ask for, of those that are offered."""
    given = _qualities(",".join(accepted))
    others, plain = given.get("*", Decimal(0)), given.get("identity")
    packed_only = plain == 0 or (plain is None and given.get("*") == 0)
    found, best = None, Decimal(0)
    for coding in offered:
        quality = given.get(coding, others)
        if quality > best and quality >= (plain or 0):
            found, best = coding, quality
    return Wanted(found, packed_only)


def coded_tag(tag: str, coding: str) -> str:
    """The strong tag of a packed answer; a weak one stays, for it is of every coding."""
    return f'{tag[:-1]}+{coding}"' if tag.startswith('"') and len(tag) > 1 else tag


def plain_tags(tags: Iterable[str], accepted: Iterable[str]) -> list[str]:
    """The tags of If-None-Match as the endpoints know them.

    One of a coding that this request does not accept stays as it is, and so names no answer to it: a shared cache must
    not hand a packed answer to a client that cannot unpack it.
    """
    given = _qualities(",".join(accepted))
    return [_plain(tag, given) for tag in tags]


def _plain(tag: str, given: Mapping[str, Decimal]) -> str:
    found = _TAG.search(tag)
    if found is None or found[1] not in CODINGS or not given.get(found[1], given.get("*", Decimal(0))):
        return tag
    return f'{tag[: found.start()]}"'


def _qualities(header: str) -> dict[str, Decimal]:
    """The quality of each coding that is named, in lower case; 0 for one whose weight is no weight."""
    found = {}
    for part in header.split(","):
        coding, *parameters = (piece.strip() for piece in part.split(";"))
        if coding:
            name = coding.lower()
            found[_ALIASES.get(name, name)] = _quality(parameters)
    return found


def _quality(parameters: list[str]) -> Decimal:
    if not parameters:
        return Decimal(1)
    found = _QUALITY.fullmatch(parameters[0].replace(" ", ""))
    return Decimal(found[1]) if found and len(parameters) == 1 else Decimal(0)
