"""What a debate is found by in the list of debates, from its entries. Pure.

The list filters and sorts by these columns of ``found_by`` and ``case_words``; the export filters by the same words
where it has them. Facts of the end are there once a debate has ended, and are shown when that end is provable.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Any
from unicodedata import normalize

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from service.debate.entries import CaseReceived, DebateConcluded, DebateStarted, Entry, GateDecided
from service.debate.formats import name_of
from service.debate.model import Case
from service.money import Ledger
from service.report.result.decision_types import Decision

WORDS_MAX = 100_000
"""So many characters of a question are searched: PostgreSQL's list of words has an end, and no case may fail on it."""


class FoundBy(Struct, frozen=True):
    """A row of ``found_by``, without tenant and debate.

    ``downside`` is US dollars as a plain decimal. ``evaluation`` is the id of the evaluation whose item the debate is.
    """

    task_type: str
    format: str | None
    use_case: str | None
    materiality: str | None
    downside: str
    models: tuple[str, ...]
    status: str | None = None
    outcome: str | None = None
    confidence: str | None = None
    human_review: bool | None = None
    flags: tuple[str, ...] | None = None
    spent: int | None = None
    evaluation: str | None = None


END = ("status", "outcome", "confidence", "human_review", "flags", "spent")
"""The columns of an end."""


class CaseWords(Struct, frozen=True):
    """A row of ``case_words``, without tenant and debate: the text of the question, and the hashes of its metadata."""

    words: str
    metadata: tuple[str, ...]


def found_by(entries: Sequence[Entry], decision: Decision | None, ledger: Ledger) -> FoundBy | None:
    """The row of a debate of these entries, from the first one on; ``None`` for a chain that is no debate.

    ``decision`` is its decision, ``None`` while there is none; ``ledger`` is the money after these entries.
    """
    received = entries[0] if entries else None
    if not isinstance(received, CaseReceived):
        return None
    case = received.case
    started = next((entry for entry in entries if isinstance(entry, DebateStarted)), None)
    row = FoundBy(
        task_type=case.task_type,
        format=name_of(started.format) if started else None,
        use_case=_storable(case.use_case),
        materiality=_storable(case.materiality),
        downside=plain_amount(case.estimated_downside),
        models=_models(started) if started else (),
        evaluation=received.evaluation.id if received.evaluation else None,
    )
    return _ended(row, entries[-1], decision, ledger)


def case_words(entries: Sequence[Entry], tenant: str) -> CaseWords | None:
    """The words by which the case of these entries is found."""
    received = entries[0] if entries else None
    if not isinstance(received, CaseReceived):
        return None
    case: Case = received.case
    keys = {name_of_key(tenant, key) for key in case.metadata}
    pairs = {name_of_pair(tenant, key, value) for key, value in case.metadata.items()}
    words = normalize("NFC", case.question[:WORDS_MAX])  # PostgreSQL cuts a word at an accent that stands alone
    return CaseWords(words.replace("\0", " "), tuple(sorted(keys | pairs)))


def name_of_key(tenant: str, key: str) -> str:
    """By what a case of a tenant is found that has this key in its metadata."""
    return _hashed(tenant, key)


def name_of_pair(tenant: str, key: str, value: str) -> str:
    """By what a case of a tenant is found that has this pair in its metadata."""
    return _hashed(tenant, key, value)


def as_record(row: FoundBy, tenant: str, debate: str) -> str:
    """A row with its key, as the JSON that `jsonb_populate_record` takes."""
    return msgspec.json.encode({"tenant": tenant, "debate": debate, **asdict(row)}).decode()


def plain_amount(amount: Decimal) -> str:
    """An amount as ``found_by`` has it: in digits alone, without zeros at the end."""
    exact = f"{amount:f}"
    return exact.rstrip("0").rstrip(".") if "." in exact else exact


def opening_of(row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row that are known when a debate begins."""
    return {name: value for name, value in row.items() if name not in END}


def _ended(row: FoundBy, last: Entry, decision: Decision | None, ledger: Ledger) -> FoundBy:
    if isinstance(last, DebateConcluded):
        status, flags = str(last.outcome.status), last.outcome.flags
    elif isinstance(last, GateDecided) and not last.decision.debate:
        status, flags = "declined", ()
    else:
        return row
    return msgspec.structs.replace(
        row,
        status=status,
        flags=tuple(dict.fromkeys(flags)),
        spent=ledger.spent,
        outcome=decision.outcome if decision else None,
        confidence=decision.confidence if decision else None,
        human_review=decision.human_review.required if decision else None,
    )


def _models(started: DebateStarted) -> tuple[str, ...]:
    """The models of its seats, with those that stand in for them, by their names in the catalogue."""
    return tuple(sorted({plan.model for seat in started.seats for plan in seat.with_fallback}))


def _storable(text: str | None) -> str | None:
    """A text as PostgreSQL takes it, which knows no character 0."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _hashed(*parts: str) -> str:
    return sha256(msgspec.json.encode(parts)).hexdigest()
