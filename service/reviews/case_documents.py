"""The documents of a case: listed as they were recorded, and read after a comparison with their commitments."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from service.debate.entries import CaseReceived, CheckFound
from service.debate.suspicions import InjectionFound, Suspicion
from service.errors import NotFound
from service.store.pool import Database
from service.store.stored_debate import read_debate

BY_HASH = "sha256:"
"""What a document's SHA-256 begins with where it stands in the place of its id."""


class CaseDocument(Struct, frozen=True):
    """A document as the case names it, with its text and what was found in it.

    ``sha256`` is that of its UTF-8 bytes, in hex. ``suspicions`` are the passages of its title and its text.
    """

    id: str
    title: str
    sha256: str
    characters: int
    content: bytes
    suspicions: tuple[Suspicion, ...] = ()


async def case_documents(database: Database, debate: str, tenant: str) -> tuple[CaseDocument, ...]:
    """The documents of a debate's case, in its order; raises `NotFound` and `EvidenceDamaged`."""
    stored = await read_debate(database, debate, tenant, documents=True)
    received = stored.records[0].entry
    if not isinstance(received, CaseReceived):
        return ()
    findings = (record.entry.finding for record in stored.records if isinstance(record.entry, CheckFound))
    suspicions = [s for finding in findings if isinstance(finding, InjectionFound) for s in finding.suspicions]
    found = []
    for document in received.case.documents:
        content = stored.texts[document.id].encode()
        digest = sha256(content).hexdigest()
        about = tuple(s for s in suspicions if s.field in ("title", "document") and s.name == document.id)
        found.append(CaseDocument(document.id, document.title, digest, document.characters, content, about))
    return tuple(found)


async def case_document(database: Database, debate: str, name: str, tenant: str) -> CaseDocument:
    """One document, by `BY_HASH` and its SHA-256, or by its id; raises what `case_documents` raises.

    A hash comes first: a caller gives ids, and one that reads as the hash of another text must not stand in its place.
    """
    found = await case_documents(database, debate, tenant)
    hashed = [document for document in found if f"{BY_HASH}{document.sha256}" == name]
    named = [document for document in found if document.id == name]
    for document in (*hashed, *named):
        return document
    known = ", ".join(document.id for document in found)
    raise NotFound(f"the case of debate {debate} has no document of this name; it has {known or 'no document'}")
