"""What a debate rests on, so that it can be found again when that turns out to be wrong: pure.

    manifest       SHA-256 of the prompts' manifest, which stands for every prompt in it
    configuration  the hash of the whole configuration that the debate ran under
    model          a model's alias, the name that the vendor was asked for, and the name that it answered with
    price          a row of the price table, as ``alias@2026-01-31``
    engine         the version of an engine that checked something
    document       SHA-256 of a document's UTF-8 bytes

Prompts are asked for by their own SHA-256 and found through the manifests that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from service.debate.entries import AttemptFailed, CheckFound, DebateStarted, Entry, TurnSpoke
from service.errors import BadRequest

What = Literal["manifest", "configuration", "model", "price", "engine", "document"]
Grounds = tuple[What, str]
Asked = Literal["prompt", "manifest", "configuration", "model", "price", "engine", "document"]
"""What can be asked for: what is kept, and prompts."""
ASKED: tuple[Asked, ...] = get_args(Asked)

_HASHES: tuple[Asked, ...] = ("prompt", "manifest", "configuration", "document")
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PRICE = re.compile(r"[^@\s]+@\d{4}-\d{2}-\d{2}", re.ASCII)
_VALUE_MAX = 200


class _Pinned(Struct, frozen=True):
    """A file of a manifest, as far as recall looks at it."""

    id: str
    sha256: str
    current: bool


class _Manifest(Struct, frozen=True):
    format: Literal["gainsay-prompts/1"]
    entries: tuple[_Pinned, ...]


def check(asked: Asked, value: str) -> None:
    """Raise `BadRequest` for a value that nothing could be found by: that it is not found would mislead."""
    if asked in _HASHES and not _HASH.fullmatch(value):
        raise BadRequest(f"{asked} must be a SHA-256 in 64 hexadecimal digits in lower case, found {value[:80]!r}")
    if asked == "price" and not _PRICE.fullmatch(value):
        raise BadRequest(f"price must be a row as alias@2026-01-31, found {value[:80]!r}")
    if not (value.strip() and value.isprintable() and len(value) <= _VALUE_MAX):
        raise BadRequest(f"{asked} must be a name of at most {_VALUE_MAX} printed characters, found another text")


def prompts(manifest: bytes) -> dict[str, str]:
    """The prompts that debates under this manifest were given: id -> SHA-256.

    Raises `ValueError` for bytes that are no manifest (`msgspec.DecodeError` is one).
    """
    read = msgspec.json.decode(manifest, type=_Manifest)
    return {pinned.id: pinned.sha256 for pinned in read.entries if pinned.current}


def grounds(entries: Iterable[Entry]) -> Iterator[Grounds]:
    """What these entries say that their debate rests on; the same may come more than once."""
    for entry in entries:
        match entry:
            case DebateStarted():
                yield "manifest", entry.pin
                yield "configuration", entry.configuration_hash
                for plan in (p for seat in entry.seats for p in (seat, seat.fallback) if p is not None):
                    yield "model", plan.model
                    yield "model", plan.model_name
                    yield "price", f"{plan.price.model}@{plan.price.effective}"
            case TurnSpoke() | AttemptFailed() if entry.served_model:
                yield "model", entry.served_model
            case CheckFound():
                yield "engine", entry.engine


def documents(texts: Mapping[str, bytes]) -> Iterator[Grounds]:
    """The documents of a case, by what they say and not by what they are called."""
    for body in texts.values():
        yield "document", sha256(body).hexdigest()
