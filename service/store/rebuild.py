"""What is looked up by, made anew from the records: which debate rests on what, which prompts a manifest gives out, how
models did in panels.

Rows of it may be lost or forged without any proof failing, so it is never evidence; this brings it back to what the
records say. It goes debate by debate. A writer adds rows in the statement that adds the records they come from, and
moves the debate's head in it; rows are only replaced while the head still stands where the records that were read end,
under its lock, so nothing that a writer adds meanwhile is lost. A debate whose records cannot be read to their end
keeps what it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from uuid import UUID

from msgspec import Struct

from service.audit.log_events import KINDS
from service.audit.record import Envelope, commit, open_leaf
from service.debate.entries import CaseReceived, Entry, decode
from service.store import derived
from service.store.pool import Database, Row
from service.store.sealing import resting, tracked

STEP = 500
"""How many debates, or manifests, are looked up at once."""


class Rebuilt(Struct):
    """What was gone through, how many rows were put right, and sentences on what could not be read."""

    debates: int = 0
    manifests: int = 0
    added: int = 0
    removed: int = 0
    troubles: list[str] = []

    def count(self, rows: Sequence[Row]) -> None:
        """Count what a statement has put right."""
        for row in rows:
            self.added += row["added"]
            self.removed += row["removed"]


class Found(Struct, frozen=True):
    """What the records of one chain say: whether it is a debate's, its tenant, what it rests on, how models did in it,
    and what is wrong.

    ``next_n`` is where the debate's head stood, the number of records that there have to be.
    """

    is_debate: bool
    tenant: str | None
    grounds: frozenset[derived.Grounds]
    performances: tuple[derived.Performance, ...]
    next_n: int
    trouble: str | None


async def rebuild(database: Database, *, step: int = STEP) -> Rebuilt:
    """Bring the projection to what the records say; raises `StoreUnavailable`. Doing it again changes nothing."""
    told = Rebuilt()
    async for row in _through(database, "chains", step):
        told.debates += await _project(database, row["debate"], told)
    async for row in _through(database, "remove_strays", step):
        told.removed += row["removed"]
    told.count(await database.query("remove_stray_records"))
    async for row in _through(database, "manifests", step):
        told.manifests += 1
        await _project_manifest(database, bytes(row["body"]), told)
    for row in await database.query("unknown_manifests"):
        told.removed += row["removed"]
        if row["used"]:
            told.troubles.append(
                f"manifest {row['manifest']}: its text is not kept, so its prompts were left as they are"
            )
    return told


async def _through(database: Database, name: str, step: int) -> AsyncIterator[Row]:
    """The rows of a query that goes through something in steps; each has where it stands as ``at``."""
    after: UUID | bytes | None = None
    while rows := await database.query(name, {"after": after, "limit": step}):
        for row in rows:
            yield row
        after = rows[-1]["at"]


async def _project(database: Database, debate: UUID, told: Rebuilt) -> bool:
    """Put right what one debate rests on; whether it is a debate.

    One that goes on while it is read is read again: it makes some records a second at most.
    """
    while True:
        found = await _read(database, debate)
        params = {
            "debate": debate,
            "tenant": found.tenant,
            "next_n": found.next_n,
            "whole": found.trouble is None,
            **resting(found.grounds),
            "tracked": tracked(found.performances),
        }
        rows = await database.query("project", params)
        if rows:
            told.count(rows)
            if found.trouble:
                told.troubles.append(f"debate {debate}: {found.trouble}; what it rests on was added to and not cut")
            return found.is_debate


async def _read(database: Database, debate: UUID) -> Found:
    rows = await database.query("chain", {"debate": debate})
    troubles: list[str] = []
    entries: list[Entry] = []
    tenant, is_debate = None, False
    for n, row in enumerate(rows):
        try:
            envelope = _envelope(row, debate, n)
            tenant = tenant or envelope.tenant
            if envelope.kind not in KINDS:
                is_debate = True
                entries.append(decode(bytes(row["body"]), envelope.schema))
        except ValueError as error:
            troubles.append(str(error))
    next_n = len(rows) if rows[0]["next_n"] is None else rows[0]["next_n"]
    if next_n != len(rows):
        troubles.append(f"expected {next_n} records, found {len(rows)}")
    documents = await _documents(database, debate, entries, troubles)
    grounds = frozenset((*derived.grounds(entries), *documents))
    performances = derived.Track().after(entries).performances
    return Found(is_debate, tenant, grounds, performances, next_n, troubles[0] if troubles else None)


def _envelope(row: Row, debate: UUID, n: int) -> Envelope:
    """The envelope of a record whose payload is the one that it commits to; raises `ValueError`."""
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
    """The documents of the case by what they say, as far as they are those that the case commits to."""
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


async def _project_manifest(database: Database, body: bytes, told: Rebuilt) -> None:
    """Put right which prompts one manifest gives out."""
    try:
        given = derived.prompts(body)
    except ValueError as error:  # somebody's text that only begins like a manifest
        told.troubles.append(f"manifest {sha256(body).hexdigest()}: {error}")
        return
    params = {"manifest": sha256(body).hexdigest(), "prompts": list(given), "hashes": list(given.values())}
    told.count(await database.query("project_manifest", params))
