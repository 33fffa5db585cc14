"""Facts derived from a debate's records: what it rests on, and its models' track record. Pure.

What a debate rests on, so that it is found again when that turns out to be wrong:

    manifest       SHA-256 of the prompts' manifest, which stands for every prompt in it
    configuration  the hash of the whole configuration that the debate ran under
    model          a model's alias, the name that was sent to the vendor, and the name in the vendor's response
    price          a row of the price table, as ``alias@2026-01-31``
    engine         the version of an engine that checked something
    document       SHA-256 of a document's UTF-8 bytes

Prompts are looked up by their own SHA-256, through the manifests that list them.

The track record is what a panel's accuracy evaluation says of the debaters (the panel's reference, Accuracy
Evaluation).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from service.debate.entries import (
    AttemptFailed,
    CaseReceived,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSpoke,
)
from service.debate.findings import CitationsFound, DebaterScores
from service.debate.model import seat_of
from service.debate.purpose import evaluation_of
from service.debate.replies.panel import QuestionType
from service.debate.results import PanelResult
from service.errors import BadRequest

What = Literal["manifest", "configuration", "model", "price", "engine", "document"]
Grounds = tuple[What, str]
Asked = Literal["prompt", "manifest", "configuration", "model", "price", "engine", "document"]
"""What a caller can ask for: everything that is stored, and prompts."""
ASKED: tuple[Asked, ...] = get_args(Asked)

HASHES: tuple[Asked, ...] = ("prompt", "manifest", "configuration", "document")
"""What is asked for by its SHA-256."""
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PRICE = re.compile(r"[^@\s]+@\d{4}-\d{2}-\d{2}", re.ASCII)
VALUE_MAX = 200
"""Characters of a name that is asked for."""


class _Pinned(Struct, frozen=True):
    """A file of a manifest, as far as the impact search reads it."""

    id: str
    sha256: str
    current: bool


class _Manifest(Struct, frozen=True):
    format: Literal["gainsay-prompts/1"]
    entries: tuple[_Pinned, ...]


def check(asked: Asked, value: str) -> None:
    """Raise `BadRequest` for a value that can match nothing: an empty result would mislead."""
    if asked in HASHES and not _HASH.fullmatch(value):
        raise BadRequest(f"{asked} must be a SHA-256 in 64 hexadecimal digits in lower case, found {value[:80]!r}")
    if asked == "price" and not _PRICE.fullmatch(value):
        raise BadRequest(f"price must be a row as alias@2026-01-31, found {value[:80]!r}")
    if not (value.strip() and value.isprintable() and len(value) <= VALUE_MAX):
        raise BadRequest(f"{asked} must be a name of at most {VALUE_MAX} printed characters, found another text")


def prompts(manifest: bytes) -> dict[str, str]:
    """The prompts of debates under this manifest: id -> SHA-256.

    Raises `ValueError` for bytes that are no manifest (`msgspec.DecodeError` is one).
    """
    read = msgspec.json.decode(manifest, type=_Manifest)
    return {pinned.id: pinned.sha256 for pinned in read.entries if pinned.current}


def grounds(entries: Iterable[Entry]) -> Iterator[Grounds]:
    """The items on which the debate of these entries rests; an item may come more than once."""
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
            case _:
                pass


def documents(texts: Mapping[str, bytes]) -> Iterator[Grounds]:
    """The documents of a case, by their text and not by their name."""
    for body in texts.values():
        yield "document", sha256(body).hexdigest()


class Performance(Struct, frozen=True):
    """How a model did in one panel: a debater's four scores, from 0 to 100.

    Unless ``factual_checked``, none of its citations could be compared, and its factual accuracy counts nowhere.
    """

    model: str
    question_type: QuestionType
    factual_accuracy: int
    logical_consistency: int
    evidence_quality: int
    trajectory_score: int
    factual_checked: bool


def performances(entries: Sequence[Entry]) -> tuple[Performance, ...]:
    """How each model did in the panel of these entries, from the first one on: the mean of its seats.

    A seat where two models spoke counts for neither, and a debate of an evaluation counts for no model.
    """
    result = next((entry.outcome.result for entry in reversed(entries) if isinstance(entry, DebateConcluded)), None)
    if not isinstance(result, PanelResult) or any(map(_is_of_evaluation, entries)):
        return ()
    spoke, compared = _spoke(entries), _compared(entries)
    by_model: dict[str, list[DebaterScores]] = {}
    for scores in result.accuracy:
        models = spoke.get(scores.seat, set())
        if len(models) == 1:
            by_model.setdefault(next(iter(models)), []).append(scores)
    return tuple(_performance(each, result.question_type, of, compared) for each, of in sorted(by_model.items()))


def _is_of_evaluation(entry: Entry) -> bool:
    return isinstance(entry, CaseReceived) and evaluation_of(entry.arrival) is not None


def _spoke(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Which models spoke at which seat."""
    asked, spoke = dict[str, str](), dict[str, set[str]]()
    for entry in entries:
        if isinstance(entry, TurnAsked):
            asked[entry.turn] = entry.model
        elif isinstance(entry, TurnSpoke) and entry.turn in asked:
            spoke.setdefault(seat_of(entry.turn), set()).add(asked[entry.turn])
    return spoke


def _compared(entries: Iterable[Entry]) -> set[str]:
    """The seats of which a citation was compared."""
    found = (entry.finding for entry in entries if isinstance(entry, CheckFound))
    citations = (finding for finding in found if isinstance(finding, CitationsFound))
    return {seat_of(each.turn) for finding in citations for each in finding.arguments if each.compared}


def _performance(
    model: str, question_type: QuestionType, found: Sequence[DebaterScores], compared: Collection[str]
) -> Performance:
    checked = [one for one in found if one.seat in compared]
    return Performance(
        model,
        question_type,
        _mean(one.factual_accuracy for one in checked or found),
        _mean(one.logical_consistency for one in found),
        _mean(one.evidence_quality for one in found),
        _mean(one.trajectory_score for one in found),
        bool(checked),
    )


def _mean(scores: Iterable[int]) -> int:
    each = tuple(scores)
    return sum(each) // len(each)
