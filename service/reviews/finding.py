"""Finds debates: a page of the list with what a work list needs of each, and counts.

The list shows the projection. The question and the case's other members are read from the first record and compared
with its commitment; they are absent where the payload is gone.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from service.audit.record import Actor, Envelope, commit, open_leaf
from service.debate.entries import CaseReceived, Entry, EvaluationItem, decode
from service.debate.model import Status
from service.errors import BadRequest, EvidenceDamaged, IllegalEntry
from service.report import build_decision
from service.report.result.decision_types import Decision
from service.reviews.cursor import read_cursor, write_cursor
from service.store.debate_query import Count, DebateQuery, FacetCount, Position
from service.store.finding import Search, asks_of_ends, count_found, find_page, look_for_words
from service.store.pool import Database, Row
from service.store.reach import ReachLimit
from service.store.stored_debate import read_records

OPEN = ("queued", "running")


class Summary(Struct, frozen=True, kw_only=True):
    """A debate in a list: its status by its head row, when its first record says it came, its decision and flags.

    ``question`` and what follows it are the case's, absent where its payload is not stored any more. Then
    ``decision`` has no words of the debate either.
    """

    debate: str
    task_type: str
    format: str | None
    status: Status
    created: str
    caller: Actor
    decision: Decision | None
    flags: tuple[str, ...] = ()
    question: str | None = None
    metadata: dict[str, str] = {}
    use_case: str | None = None
    materiality: str | None = None
    estimated_downside: Decimal | None = None
    evaluation: EvaluationItem | None = None


class Page(Struct, frozen=True, kw_only=True):
    """A page of debates, the cursor of the next one, and the counts that were asked for."""

    debates: tuple[Summary, ...]
    next: str | None
    total: Count | None = None
    counts: tuple[FacetCount, ...] = ()


class DebateFinder:
    """Finds the debates of a tenant. With ``held`` False every end is shown, as in `Reviews`."""

    def __init__(self, database: Database, *, held: bool) -> None:
        self._database = database
        self._held = held

    async def find(self, query: DebateQuery, tenant: str, limit: ReachLimit | None = None) -> Page:
        """The page, of the debates within a limit; raises `BadRequest` for a cursor of another list and for words that
        none is found by."""
        after, database = read_cursor(tenant, query), self._database.of(tenant)
        search = await look_for_words(database, Search(tenant, query, self._held, limit=limit))
        if search is None:
            raise BadRequest("q has no word that is searched for: words such as 'the' and 'is' are in every question")
        rows, (total, counts) = await asyncio.gather(find_page(database, search, after), _counts(database, search))
        page = rows[: query.limit]
        following = write_cursor(tenant, query, _position(page[-1])) if len(rows) > query.limit else None
        shown = [await self._summary(row) for row in page if self._may_be_shown(query, row)]
        debates = tuple(summary for summary in shown if summary)
        return Page(debates=debates, next=following, total=total, counts=tuple(counts))

    def _status(self, row: Row) -> Status:
        status: Status = row["shown" if self._held else "state"]
        return status

    def _may_be_shown(self, query: DebateQuery, row: Row) -> bool:
        """Whether a debate that was found by its end may be: the statement finds it where no record waits for a
        checkpoint, which a log that has lost leaves would pass as well."""
        return not asks_of_ends(query) or (self._status(row) not in OPEN and not self._is_lost(row))

    def _is_lost(self, row: Row) -> bool:
        """Whether a debate has ended in a log that was left, so that its end can never be proven."""
        return self._held and bool(row["lost"])

    async def _summary(self, row: Row) -> Summary | None:
        """A debate in a list; ``None`` where its first record is no record, which becomes an incident.

        The list goes on without what is damaged: one debate must not hide all others.
        """
        debate, status = str(row["debate"]), self._status(row)
        try:
            envelope = open_leaf(row["leaf"] or b"")
        except ValueError:
            await self._entries(row)
            return None
        decision, flags = None, ()
        if status not in OPEN and not self._is_lost(row):
            decision = await self._decision(row)
            flags = tuple(row["flags"] or ())
            if decision and row["body"] is None:
                decision = decision.without_words
        return Summary(
            debate=debate,
            task_type=row["task_type"],
            format=row["format"],
            status=status,
            created=envelope.occurred,
            caller=envelope.actor,
            decision=decision,
            flags=flags,
            **_of_case(await self._received(row, envelope)),
        )

    async def _decision(self, row: Row) -> Decision | None:
        """The stored decision; from the records where another version concluded the debate, or where it is damaged."""
        if row["decision"]:
            with suppress(ValueError):
                return msgspec.json.decode(row["decision"], type=Decision)
        with suppress(IllegalEntry):
            return build_decision(await self._entries(row))
        return None

    async def _entries(self, row: Row) -> list[Entry]:
        """The entries of a debate, none where they cannot be read. Damage becomes an incident here too."""
        with suppress(IllegalEntry, EvidenceDamaged):
            debate, tenant = str(row["debate"]), row["tenant"]
            return [record.entry for record in await read_records(self._database.of(tenant), debate, tenant)]
        return []

    async def _received(self, row: Row, envelope: Envelope) -> CaseReceived | None:
        """The case and how it came, as its record has it.

        ``None`` where that is not stored, or not the one that was recorded.
        """
        if row["body"] is None:
            return None
        salt, body = bytes(row["salt"]), bytes(row["body"])
        if commit(salt, body) != envelope.commitment:
            await self._entries(row)
            return None
        with suppress(ValueError):  # written by a later version
            entry = decode(body, envelope.schema)
            return entry if isinstance(entry, CaseReceived) else None
        return None


async def _counts(database: Database, search: Search) -> tuple[Count | None, list[FacetCount]]:
    """What is counted, if anything was asked for."""
    return await count_found(database, search) if search.query.facets else (None, [])


def _of_case(received: CaseReceived | None) -> dict[str, Any]:
    if received is None:
        return {}
    case = received.case
    return {
        "evaluation": received.evaluation,
        "question": case.question,
        "metadata": case.metadata,
        "use_case": case.use_case,
        "materiality": case.materiality,
        "estimated_downside": case.estimated_downside,
    }


def _position(row: Row) -> Position:
    return Position(str(row["debate"]), row["key"])
