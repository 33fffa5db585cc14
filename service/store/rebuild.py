"""Rebuilds the derived tables from the records: what debates rest on and are found by, scores, decisions, and so on.

Their rows may be lost or forged without any proof failing, so they are never evidence; this makes them agree with the
records again. It works debate by debate. A writer adds derived rows in the statement that adds the records, and that
statement moves the debate's head row. This rebuild replaces rows only while the head row still stands at the end of the
records that were read, under the row's lock, so it loses nothing that a writer adds. A debate with unreadable records
keeps its rows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.audit import log_events
from service.audit.log_events import KINDS, ReportIssued
from service.audit.record import Envelope, commit, open_leaf
from service.debate.entries import CaseReceived, Entry, decode
from service.money import Ledger
from service.store import derived
from service.store.evaluation_rows import KINDS as EVALUATION_KINDS
from service.store.evaluation_rows import rebuild_entry, rebuild_evaluations
from service.store.issued import issued_key
from service.store.pool import Database, Row
from service.store.sealing import decided, decision_body, found_columns, grounds_arrays, tracked

ISSUED = str(ReportIssued.__struct_config__.tag)
STEP = 500
"""How many debates, or manifests, one query reads."""


class Rebuilt(Struct):
    """What was read, how many rows were corrected, and sentences about what could not be read."""

    debates: int = 0
    manifests: int = 0
    added: int = 0
    removed: int = 0
    troubles: list[str] = []

    def count(self, rows: Sequence[Row]) -> None:
        """Count the rows that a statement has corrected."""
        for row in rows:
            self.added += row["added"]
            self.removed += row["removed"]


class Found(Struct, frozen=True):
    """The facts in the records of one chain.

    They are whether it is a debate, its tenant, what it rests on, its models' scores, its decision, what it is found by
    (as parameters), and what is wrong. ``next_n`` is where the debate's head stood: the number of records that there
    must be.
    """

    is_debate: bool
    tenant: str | None
    grounds: frozenset[derived.Grounds]
    performances: tuple[derived.Performance, ...]
    decision: bytes | None
    found: Mapping[str, Any]
    next_n: int
    trouble: str | None
    issued: ReportIssued | None = None
    entry: Row | None = None
    """The record, where the chain is an entry of an evaluation."""


async def rebuild(database: Database, *, step: int = STEP) -> Rebuilt:
    """Make the derived tables agree with the records; raises `StoreUnavailable`. A second run changes nothing."""
    rebuilt = Rebuilt()
    # Rows of no record go first: one that is older than the record's own would keep it out.
    rebuilt.count(await database.query("remove_stray_records"))
    rebuilt.count(await database.query("remove_stray_entries"))
    async for row in rows_in_steps(database, "chains", step):
        rebuilt.debates += await _project(database, row["debate"], rebuilt)
    await _project_evaluations(database, rebuilt)
    async for row in rows_in_steps(database, "remove_strays", step):
        rebuilt.removed += row["removed"]
    async for row in rows_in_steps(database, "manifests", step):
        rebuilt.manifests += 1
        await _project_manifest(database, bytes(row["body"]), rebuilt)
    for row in await database.query("unknown_manifests"):
        rebuilt.removed += row["removed"]
        if row["used"]:
            rebuilt.troubles.append(
                f"manifest {row['manifest']}: its text is not stored, so its prompts were not changed"
            )
    return rebuilt


async def _project_evaluations(database: Database, rebuilt: Rebuilt) -> None:
    """Correct the rows of evaluations, whose entries have their rows by now."""
    rebuilt.count(await database.query("remove_stray_evaluations"))
    async for made in rebuild_evaluations(database):
        rebuilt.added += made.added
        rebuilt.removed += made.removed
        if made.trouble:
            rebuilt.troubles.append(made.trouble)


async def rows_in_steps(database: Database, name: str, step: int = STEP) -> AsyncIterator[Row]:
    """The rows of a query that reads in steps; each row has its position as ``at``."""
    after: UUID | bytes | None = None
    while rows := await database.query(name, {"after": after, "limit": step}):
        for row in rows:
            yield row
        after = rows[-1]["at"]


async def _project(database: Database, debate: UUID, rebuilt: Rebuilt) -> bool:
    """Correct the derived rows of one chain; return whether it is a debate.

    A debate that goes on while it is read is read again: it makes some records a second at most.
    """
    while True:
        found = await _read(database, debate)
        params = {
            "debate": debate,
            "tenant": found.tenant,
            "next_n": found.next_n,
            "whole": found.trouble is None,
            **grounds_arrays(found.grounds),
            "tracked": tracked(found.performances),
            "decision": found.decision,
            **found.found,
        }
        rows = await database.query("project", params)
        if rows:
            rebuilt.count(rows)
            if found.entry is not None:
                rebuilt.count(await rebuild_entry(database, debate, found.entry))
            if found.issued is not None:
                rebuilt.count(await database.query("project_issued", {"record": debate, **issued_key(found.issued)}))
            if found.trouble:
                rebuilt.troubles.append(f"debate {debate}: {found.trouble}; rows of it were added and none removed")
            return found.is_debate


async def _read(database: Database, debate: UUID) -> Found:
    rows = await database.query("chain", {"debate": debate})
    troubles: list[str] = []
    entries: list[Entry] = []
    tenant, is_debate, issued, of_evaluation = None, False, None, None
    for n, row in enumerate(rows):
        try:
            envelope = _envelope(row, debate, n)
            tenant = tenant or envelope.tenant
            if envelope.kind == ISSUED:
                issued = log_events.decode_issued(bytes(row["body"]))
            elif envelope.kind in EVALUATION_KINDS:
                of_evaluation = row
            elif envelope.kind not in KINDS:
                is_debate = True
                entries.append(decode(bytes(row["body"]), envelope.schema))
        except ValueError as error:
            troubles.append(str(error))
    next_n = len(rows) if rows[0]["next_n"] is None else rows[0]["next_n"]
    if next_n != len(rows):
        troubles.append(f"expected {next_n} records, found {len(rows)}")
    documents = await _documents(database, debate, entries, troubles)
    grounds = frozenset((*derived.grounds(entries), *documents))
    performances = derived.performances(entries)
    whole = entries if is_debate and not troubles else []
    ledger = Ledger.of(whole)
    decision = decided(whole, ledger) if whole else None
    columns = found_columns(whole, decision, ledger, tenant or "", str(debate))
    trouble = troubles[0] if troubles else None
    body = decision_body(decision)
    return Found(is_debate, tenant, grounds, performances, body, columns, next_n, trouble, issued, of_evaluation)


def _envelope(row: Row, debate: UUID, n: int) -> Envelope:
    """The envelope of a record whose payload matches its commitment; raises `ValueError`."""
    envelope = open_leaf(bytes(row["leaf"]))
    if (row["n"], envelope.n, envelope.debate) != (n, n, str(debate)):
        raise ValueError(f"expected record {n}, found record {row['n']}, which says that it is {envelope.n}")
    if row["body"] is None:
        raise ValueError(f"the payload of record {n} is not stored")
    if commit(bytes(row["salt"]), bytes(row["body"])) != envelope.commitment:
        raise ValueError(f"the payload of record {n} is not the one that the record commits to")
    return envelope


async def _documents(
    database: Database, debate: UUID, entries: Sequence[Entry], troubles: list[str]
) -> list[derived.Grounds]:
    """The documents of the case by their hashes, as far as they match the case's commitments."""
    given = [document for e in entries if isinstance(e, CaseReceived) for document in e.case.documents]
    if not given:
        return []
    stored = {row["id"]: row for row in await database.query("document_hashes", {"debate": debate})}
    found: list[derived.Grounds] = []
    for document in given:
        row = stored.get(document.id)
        if row is not None and row["commitment"] == document.commitment:
            found.append(("document", row["sha256"]))
        else:
            troubles.append(f"the text of document {document.id[:40]!r} is not the one that the case commits to")
    return found


async def _project_manifest(database: Database, body: bytes, rebuilt: Rebuilt) -> None:
    """Correct the prompts of one manifest."""
    try:
        given = derived.prompts(body)
    except ValueError as error:  # a text that only begins like a manifest
        rebuilt.troubles.append(f"manifest {sha256(body).hexdigest()}: {error}")
        return
    params = {"manifest": sha256(body).hexdigest(), "prompts": list(given), "hashes": list(given.values())}
    rebuilt.count(await database.query("project_manifest", params))
