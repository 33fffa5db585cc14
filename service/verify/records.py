"""The records by themselves: leaves, payloads, the context and documents of their commitments, and their order.

records     each leaf has the exact bytes of an envelope, and its commitment is that of its payload and salt
context     the context of the case and every document match the commitments in the records
chain       the records count from 0, and each names the leaf hash of the one before it
complete    the debate is complete from its case to its end, and envelopes agree with payloads
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from service.audit.bundle import DocumentFile
from service.audit.record import (
    SALT_BYTES,
    SCHEMAS,
    Context,
    Envelope,
    LaterContext,
    commit,
    encode_context,
    leaf_hash,
    moment,
    read_context,
)
from service.debate.entries import (
    KINDS,
    CaseReceived,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    GateDecided,
    kind,
)
from service.debate.model import Case, Document
from service.verify.opened_bundle import KINDS as ENTRY_KINDS
from service.verify.opened_bundle import OpenedBundle, ReadRecord, later_schema, read_leaf, read_payload
from service.verify.steps import Differs, NotCheckable, at, expect
from service.verify.versions import has_more, has_unknown_members, later_schemas

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
UTF8_MAX = 4
"""The most bytes of a character."""
WORKER = "service", "worker", "databaseRole"
"""Kind, role and authentication of the actor that runs debates: its name alone is free."""
OPENING = (CaseReceived, GateDecided, DebateStarted)
"""What a caller's request records, before a worker has the debate."""
AUTHENTICATED: Mapping[str, str] = {
    "apiKey": "authenticated by an API key",
    "oidc": "authenticated by a token of an identity provider",
    "proxy": "authenticated by a proxy",
}
"""How a caller shows who it is; no other word says that it did."""
CONTEXT_DIFFERS = "the context", "its members once and in order", "another spelling"


def sealed(evidence: OpenedBundle) -> str:
    """That every leaf and payload is what it should be; raises `Differs`, or `NotCheckable` for an unknown version."""
    unknown, count = "", evidence.manifest.records
    for n in range(count):  # nothing is read of a payload that has not its hash
        unknown = unknown or _sealed(evidence, n)
    later = _later(evidence)
    for record in evidence.records:
        if record.envelope is not None and record.payload is not None:
            with at(file=f"records/{record.n:04d}.payload.json", record=record.n):
                unknown = unknown or entered(record.envelope, record.payload, later)
    if unknown:
        raise NotCheckable(unknown)
    return f"{count} leaves and payloads as they were sealed, each payload under its salted hash"


def _sealed(evidence: OpenedBundle, n: int) -> str:
    """Check a leaf, and that its payload has the salted hash in it; raises `Differs`. Returns as `leaf`."""
    where = f"records/{n:04d}"
    with at(file=f"{where}.leaf.json", record=n):
        data = evidence.leaf(n)
        why = leaf(data)
        envelope = read_leaf(data)[0]
    if envelope is None:
        return why
    with at(file=f"{where}.payload.json", record=n):
        salt = salted(evidence.file(f"{where}.salt", 2 * SALT_BYTES))
        found = evidence.commitment(f"{where}.payload.json", salt)
        expect("the commitment to a payload", envelope.commitment, found)
    return why


def unknown_members(evidence: OpenedBundle) -> str:
    """Why a payload has members that this build does not know; empty where none has, or none may have them."""
    later = _later(evidence)
    for record in evidence.records if later else ():
        entry, payload, envelope = record.entry, record.payload, record.envelope
        if entry and payload and envelope and has_unknown_members(entry, payload, envelope.schema):
            return later
    return ""


def _later(evidence: OpenedBundle) -> str:
    """Why payloads and context may have such members; empty where they may not."""
    return later_schemas(evidence.records[1].entry if len(evidence.records) > 1 else None)


def leaf(data: bytes) -> str:
    """Check the exact bytes of a leaf; raises `Differs`. Returns why this build cannot read it, or an empty text."""
    envelope, unknown = read_leaf(data)
    if envelope is None and not unknown:
        raise Differs("a leaf", "the exact bytes of an envelope", "others")
    if envelope is not None:
        if envelope.schema < 1:
            known = f"from 1 to {SCHEMAS.get(envelope.kind, 1)}"
            raise Differs(f"the schema of {envelope.kind[:40]!r}", known, str(envelope.schema))
        says(envelope)
        return later_schema(envelope)
    return unknown


def says(envelope: Envelope) -> None:
    """Check the members that every envelope has: place and time, and since version 2 also actor and build."""
    if not _UUID.fullmatch(envelope.debate):
        raise Differs("the debate of a record", "a UUID in small letters", envelope.debate[:40])
    for what, time in (("when it occurred", envelope.occurred), ("when it was recorded", envelope.recorded)):
        try:
            moment(time)
        except ValueError:
            raise Differs(what, "RFC 3339 in UTC, a day of the calendar", time[:40]) from None
    if envelope.log.split("/")[1:2] != [envelope.tenant]:
        raise Differs("the tenant of a record", f"that of the log {envelope.log}", envelope.tenant)
    if envelope.v < 2:
        return
    actor = envelope.actor
    if not (actor.id and actor.role):
        raise Differs(f"the {'role' if actor.id else 'id'} of the actor", "a name", "nothing")
    of_debate = envelope.kind in ENTRY_KINDS  # one of the log itself has no case, and no policy that holds for it
    for name, digest in (("build", envelope.build), ("policy", envelope.policy), ("context", envelope.context)):
        if not _DIGEST.fullmatch(digest) and (digest or of_debate or name == "build"):
            raise Differs(f"the {name} of a record", "a SHA-256 in hexadecimal digits", digest)


def entered(envelope: Envelope, data: bytes, later: str = "") -> str:
    """That a payload is an entry as it is written; raises `Differs`.

    What comes back says why it cannot be read here; ``later`` says why it may have members that are not known.
    """
    entry, unknown = read_payload(data, envelope)
    if unknown:
        return unknown
    if entry is None:
        raise Differs("a payload", f"an entry of schema {envelope.schema}", "something else")
    if not KINDS.exact(entry, data, envelope.schema):
        if later and has_unknown_members(entry, data, envelope.schema):
            return later
        raise Differs("a payload", "an entry as it is written, every member once and known", "another spelling")
    return ""


def salted(data: bytes) -> bytes:
    """The salt of its file: 32 bytes in small hexadecimal digits; raises `Differs`."""
    try:
        salt = bytes.fromhex(data.decode("ascii"))
    except ValueError:
        salt = b""
    if len(salt) != SALT_BYTES or salt.hex().encode() != data:
        raise Differs("a salt", f"{SALT_BYTES} bytes in small hexadecimal digits", "another text")
    return salt


# The context and the documents.


def context(evidence: OpenedBundle) -> str:
    """Check context and documents against the commitments in the records, and against the case."""
    gaps = []
    for check in (_context, _documents):
        try:
            check(evidence)
        except NotCheckable as gap:
            gaps.append(gap.reason)
    if gaps:
        raise NotCheckable("; ".join(gaps))
    count = len(evidence.debate.case.documents)
    return f"the context and {count} document{'s' if count != 1 else ''} under their salted hashes"


def _context(evidence: OpenedBundle) -> None:
    envelope = evidence.first
    if not envelope.context:  # version 1 has no context
        return
    with at(file="context.json"):
        salt = evidence.file("context.salt", 2 * SALT_BYTES)
        expect("the commitment to the context", envelope.context, evidence.commitment("context.json", salted(salt)))
        data, later = evidence.file("context.json"), _later(evidence)
        if agrees(envelope, data, salted(salt)) and not later:
            raise Differs(*CONTEXT_DIFFERS)
        described(evidence.debate.case, data, later)


def agrees(envelope: Envelope, data: bytes, salt: bytes) -> bool:
    """Check that a context matches the commitment of an envelope and has its exact form.

    Returns whether it has members that this build does not know, which are all that its form may have more. Raises
    `Differs`, or `NotCheckable` for a version that this build does not know.
    """
    expect("the commitment to the context", envelope.context, commit(salt, data))
    return _known(data) != data


def _known(data: bytes) -> bytes:
    """The context as it is written without members that this build does not know; raises as `agrees`."""
    try:
        known = encode_context(read_context(data))
    except LaterContext as unknown:
        raise NotCheckable(str(unknown)) from None
    except ValueError:
        raise Differs(*CONTEXT_DIFFERS) from None
    if known != data and not has_more(known, data):
        raise Differs(*CONTEXT_DIFFERS)
    return known


def described(case: Case, data: bytes, later: str = "", *, record: int | None = None) -> None:
    """Check that a context agrees with its case; raises as `agrees`.

    ``later`` says why the context may have members that this build does not know. With such members the known ones are
    compared, and `NotCheckable` is raised.
    """
    known = _known(data)
    if known != data and not later:
        raise Differs(*CONTEXT_DIFFERS, record=record)
    expect("what the case is about", encode_context(about(case)).decode(), known.decode(), record=record)
    if known != data:
        raise NotCheckable(later)


def about(case: Case) -> Context:
    """The context of a case, by definition."""
    # `service.reviews` builds the context by its own code, on purpose: an error in one of the two shows here.
    return Context(
        task_type=case.task_type,
        downside=str(case.estimated_downside),
        downside_basis=case.downside_basis,
        use_case=case.use_case,
        intended_use=case.intended_use,
        materiality=case.materiality,
    )


def _documents(evidence: OpenedBundle) -> None:
    documents, index = evidence.debate.case.documents, evidence.index
    with at(file="documents/index.json"):
        expect("the documents of the case", [d.id for d in documents], [d.id for d in index])
    for n, (document, listed_as) in enumerate(zip(documents, index, strict=True), 1):
        _document(evidence, n, document, listed_as)


def _document(evidence: OpenedBundle, n: int, document: Document, listed: DocumentFile) -> None:
    with at(file="documents/index.json"):
        expect(f"the title of document {document.id!r}", document.title, listed.title)
    if listed.file is None or listed.salt is None:
        what = f"the text of document {document.id!r} is not in the bundle"
        raise Differs(what, "its file and salt", "neither", file="documents/index.json")
    with at(file="documents/index.json"):
        expect(f"the file of document {document.id!r}", f"documents/{n:04d}.txt", listed.file)
    with at(file=listed.file):
        size, characters = evidence.size(listed.file), document.characters
        if not characters <= size <= UTF8_MAX * characters:  # before a byte of it is read
            found = f"{size} bytes"
            raise Differs(f"the text of document {document.id!r}", f"the bytes of {characters} characters", found)
        digest = evidence.commitment(listed.file, salted(listed.salt.encode()))
        expect(f"the commitment to document {document.id!r}", document.commitment, digest)
        expect(f"the length of document {document.id!r}", characters, len(evidence.files[listed.file].decode()))


# The chain.


def chain(evidence: OpenedBundle) -> str:
    """Check that the records follow each other without a gap; raises `Differs`, and `NotCheckable` behind that."""
    for n, envelope in evidence.readable.items():
        before = leaf_hash(evidence.leaf(n - 1)) if n else None
        with at(file=f"records/{n:04d}.leaf.json", record=n):
            link(envelope, n, before)
    count = len(evidence.envelopes)
    return f"n counts from 0 to {count - 1}, and each record names the leaf hash of the one before it"


def link(envelope: Envelope, n: int, before: bytes | None) -> None:
    """Check that an envelope has its place in the chain; raises `Differs`."""
    expect("the record's number in its debate", n, envelope.n)
    expect("the leaf hash of the record before", before.hex() if before else "", envelope.prev)


# Completeness.


def complete(evidence: OpenedBundle) -> str:
    """Check that the debate is complete, and that envelopes, entries and manifest agree."""
    entries, manifest = evidence.debate.entries, evidence.manifest
    _alike(evidence)
    envelopes = evidence.envelopes
    before: Entry | None = None
    with at(file="manifest.json"):
        expect("the debate", envelopes[0].debate, manifest.debate)
        expect("the tenant", envelopes[0].tenant, manifest.tenant)
        expect("the debate's log", envelopes[0].log, next(iter(manifest.logs), "none"))
    for record, envelope in zip(evidence.records, envelopes, strict=True):
        with at(file=f"records/{record.n:04d}.leaf.json", record=record.n):
            _said(record, envelope)
            if record.entry is not None:
                acted(envelopes[0], envelope, record.entry, before)
                before = record.entry
    if evidence.debate.gap:
        raise NotCheckable(evidence.debate.gap)
    end = whole(entries)
    _fixed(entries, envelopes)
    who = asker(envelopes[0])
    return f"{len(entries)} records of one debate, tenant and log, from case.received to {end}; asked by {who}"


def _alike(evidence: OpenedBundle) -> None:
    """Check the members that are equal in all envelopes that can be read."""
    first = next(iter(evidence.readable.values()), None)
    for n, envelope in evidence.readable.items():
        with at(file=f"records/{n:04d}.leaf.json", record=n):
            same(first or envelope, envelope)


def asker(first: Envelope) -> str:
    """Who brought the case and how it was authenticated, in words, by the debate's first envelope.

    Where no caller was authenticated, the role beside it is the record's claim, and is said to be no more.
    """
    actor = first.actor
    if first.v < 2:  # version 1 has the id of an actor alone
        return f"{actor.id!r}; how it was authenticated is not recorded"
    if actor.via in AUTHENTICATED:
        return f"{actor.id!r} as {actor.role!r}, {AUTHENTICATED[actor.via]}"
    claimed = f"the role {actor.role!r} is the record's claim"
    return f"{actor.id!r}, not authenticated ({actor.via}): {claimed}"


def same(first: Envelope, envelope: Envelope) -> None:
    """Check the members that are equal in all envelopes of a debate."""
    expect("the debate of the first record", first.debate, envelope.debate)
    expect("the tenant of the first record", first.tenant, envelope.tenant)
    expect("the log of the first record", first.log, envelope.log)
    if first.v == envelope.v:
        expect("the context of the first record", first.context, envelope.context)
        expect("the policy of the first record", first.policy, envelope.policy)


def acted(first: Envelope, envelope: Envelope, entry: Entry, before: Entry | None) -> None:
    """Check that the actor of a record is one that may write it, as the table of docs/verification.md says.

    ``first`` is the debate's first envelope, and ``before`` the entry before this one. Raises `Differs`.
    """
    if envelope.v < 2 or first.v < 2:  # version 1 has neither actor nor build
        return
    actor = envelope.actor
    kind_, role, via = WORKER
    if isinstance(entry, OPENING):
        if actor.role == role or actor.via == via:
            raise Differs("who brought the case", "a caller", f"{actor.kind} {actor.role} {actor.via}")
        expect("who brought the case", first.actor, actor)
        expect("the build that took the case", first.build, envelope.build)
    elif not (_of_abort(entry, before) and actor.role != role and actor.via != via):
        expect("what kind of actor runs a debate", kind_, actor.kind)
        expect("the role of the actor that runs a debate", role, actor.role)
        expect("how the actor that runs a debate is authenticated", via, actor.via)


def _of_abort(entry: Entry, before: Entry | None) -> bool:
    """Whether a caller may write it: an abort, and the conclusion that the same append may have."""
    stopped = before if isinstance(entry, DebateConcluded) else entry
    return isinstance(stopped, DebateStopped) and stopped.by == "abort"


def _said(record: ReadRecord, envelope: Envelope) -> None:
    if record.entry is not None:
        expect("the kind of the payload", kind(record.entry), envelope.kind)


def whole(entries: Sequence[Entry]) -> str:
    """The end of a complete debate, in words; raises `Differs` if a record is missing or follows the end."""
    for n, (wanted, what) in enumerate(((CaseReceived, "case.received"), (GateDecided, "gate.decided"))):
        if len(entries) <= n or not isinstance(entries[n], wanted):
            raise Differs(f"record {n}", what, kind(entries[n]) if len(entries) > n else "nothing", record=n)
    decided = entries[1]
    if isinstance(decided, GateDecided) and not decided.decision.debate:
        if len(entries) > 2:
            raise Differs("a record after a declined case", "nothing", kind(entries[2]), record=2)
        return "a decision to decline"
    if len(entries) < 3 or not isinstance(entries[2], DebateStarted):
        raise Differs("record 2", "debate.started", kind(entries[2]) if len(entries) > 2 else "nothing", record=2)
    if not isinstance(entries[-1], DebateConcluded):
        raise Differs("the last record", "debate.concluded", kind(entries[-1]), record=len(entries) - 1)
    return "debate.concluded"


def _fixed(entries: Sequence[Entry], envelopes: Sequence[Envelope]) -> None:
    """Check members that the opening entries share with their envelopes."""
    for n, (entry, envelope) in enumerate(zip(entries, envelopes, strict=True)):
        if envelope.v < 2:  # version 1 has neither actor nor policy
            continue
        with at(file=f"records/{n:04d}.leaf.json", record=n):
            match entry:
                case CaseReceived():
                    expect("who brought the case", entry.subject, envelope.actor.id)
                case GateDecided():
                    expect("the policy that decided", entry.decision.policy_hash, envelope.policy)
                case DebateStarted():
                    expect("the policy of the debate", entry.policy_hash, envelope.policy)
                    expect("the build that began the debate", entry.build_hash, envelope.build)
                case _:
                    pass
