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

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Literal, get_args

from service.debate.entries import AttemptFailed, CheckFound, DebateStarted, Entry, TurnSpoke

What = Literal["manifest", "configuration", "model", "price", "engine", "document"]
Grounds = tuple[What, str]
Asked = Literal["prompt", "manifest", "configuration", "model", "price", "engine", "document"]
"""What can be asked for: what is kept, and prompts."""
ASKED: tuple[str, ...] = get_args(Asked)


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
