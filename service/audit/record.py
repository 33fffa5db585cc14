"""A record: a small envelope that commits to its payload, and to what the case is about, by salted hashes.

Encode once, hash those bytes, store those bytes, serve those bytes. The salts let content be erased one day (salt with
it) while the log stays whole; without them, short contents could be guessed from their hashes. ``n`` counts from 0
within a debate without gaps and ``prev`` is the leaf hash of the record before, so a missing record shows. A record
that belongs to no debate is a chain of its own with one link.

Stored bytes are never rewritten: envelope, payload and context are each read by the version that they were written in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from service.audit.tree import leaf_hash

__all__ = [
    "CONTEXT",
    "LEAF_BYTES_MAX",
    "SALT_BYTES",
    "SCHEMAS",
    "VERSION",
    "Actor",
    "Context",
    "Envelope",
    "LaterContext",
    "Record",
    "RecordPlace",
    "Via",
    "Writer",
    "closed",
    "commit",
    "encode_context",
    "leaf_hash",
    "moment",
    "open_context",
    "open_leaf",
    "read_context",
    "seal",
]

VERSION = 2
SCHEMAS: Mapping[str, int] = {
    "case.received": 1,
    "gate.decided": 1,
    "debate.started": 1,
    "turn.asked": 1,
    "turn.spoke": 1,
    "turn.given": 1,
    "attempt.failed": 1,
    "turn.silent": 1,
    "check.found": 1,
    "budget.refused": 1,
    "debate.stopped": 1,
    "debate.concluded": 1,
    "log.opened": 1,
    "audit.read": 1,
    "audit.checked": 1,
    "audit.remembered": 1,
    "report.issued": 1,
    "access.changed": 1,
    "content.read": 1,
    "evaluation.registered": 1,
    "evaluation.proven": 1,
    "item.asked": 1,
    "item.scored": 1,
    "evaluation.stopped": 1,
    "evaluation.concluded": 1,
    "moderator.found": 1,
    "moderator.resolved": 1,
}
"""The version in which each kind's payload is written. An optional member that is added keeps it: decision 0041."""
CONTEXT = 1
"""The version in which contexts are written. From 2 on a context says it as ``v``; one without is of version 1."""
SALT_BYTES = 32
LEAF_BYTES_MAX = 65_535
"""C2SP tlog-tiles gives a leaf's length in 16 bits."""


Via = Literal["apiKey", "databaseRole", "keyboard", "none", "oidc", "proxy"]
"""How an actor was authenticated."""


class Actor(Struct, frozen=True):
    """Who did it: an opaque id, what kind of actor that is, the role it acted in, and how it was authenticated.

    ``via`` is ``apiKey`` for a key of this service, ``oidc`` for a token of an identity provider, ``proxy`` for a proxy
    that named the caller, ``keyboard`` for a person at the machine, ``databaseRole`` for our own processes, and
    ``none`` without authentication.
    """

    id: str
    kind: Literal["person", "service", "unknown"]
    role: str
    via: Via


class Writer(Struct, frozen=True):
    """Who writes a record, and with which build of the code (what the deployer claims to run)."""

    actor: Actor
    build: str


class RecordPlace(Struct, frozen=True):
    """Where a record stands: the log, the tenant, the chain (a debate's id, or one of its own), and what it is about.

    ``policy`` is the hash of the policy that holds for it, and ``context`` the salted hash of the case's `Context`;
    both are hex, and empty for records that belong to no debate.
    """

    log: str
    tenant: str
    debate: str
    policy: str = ""
    context: str = ""


class Link(Struct, frozen=True):
    """Where a record stands in its chain: its number, and the hash of the leaf before it (empty at the first)."""

    n: int
    prev: bytes


class Times(Struct, frozen=True):
    """When something happened, and when that was recorded: RFC 3339, in UTC, with milliseconds."""

    occurred: str
    recorded: str


class LaterContext(ValueError):
    """A context of a version above those that this build knows."""


class Context(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a case is about, in the words of model risk: every record of its debate commits to this.

    ``downside`` is in US dollars as it was given, ``downside_basis`` what it was estimated from.
    """

    task_type: str
    downside: str
    downside_basis: str | None
    use_case: str | None
    intended_use: str | None
    materiality: str | None


class Envelope(Struct, frozen=True, rename="camel"):
    """The contents of a leaf of the log.

    ``occurred`` and ``recorded`` are RFC 3339 UTC, by the database's clock; ``recorded`` is never before that of the
    record before. Both are claims of the writer. ``commitment`` is the salted hash of the payload.
    """

    v: int
    log: str
    tenant: str
    kind: str
    schema: int
    debate: str
    n: int
    prev: str
    occurred: str
    recorded: str
    actor: Actor
    build: str
    policy: str
    context: str
    commitment: str


class _Envelope1(Struct, frozen=True, rename="camel"):
    """The first version: neither build nor context, and of the actor no more than its id."""

    v: int
    log: str
    tenant: str
    kind: str
    schema: int
    debate: str
    n: int
    prev: str
    at: str
    actor: str
    commitment: str


class Record(Struct, frozen=True):
    """A sealed entry: the leaf's bytes and hash, and the payload with its salt."""

    n: int
    leaf: bytes
    leaf_hash: bytes
    salt: bytes
    payload: bytes


_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-2]\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)
_decoder1 = msgspec.json.Decoder(_Envelope1)
_decoder_of_contexts = msgspec.json.Decoder(Context)
_sorted = msgspec.json.Encoder(order="sorted")


class _Version(Struct):
    """The member that distinguishes the versions of contexts."""

    v: int = 1


_versions = msgspec.json.Decoder(_Version)


def closed(read: Mapping[str, int]) -> None:
    """Refuse to start unless every kind is written in the version that ``read`` says is its last; `RuntimeError`."""
    if wrong := sorted(kind for kind in {*SCHEMAS, *read} if SCHEMAS.get(kind) != read.get(kind)):
        found = "; ".join(f"{kind}: written {SCHEMAS.get(kind)}, read {read.get(kind)}" for kind in wrong)
        raise RuntimeError(
            "expected one version for each kind in SCHEMAS (service/audit/record.py) and where its payloads are read "
            "(OLDER in service/debate/entries.py and service/audit/log_events.py), "
            f"found {found}; see docs/how-to/add-a-field.md"
        )


@lru_cache(maxsize=1_024)  # each time of a log is asked for by several checks, and for the record that follows
def moment(text: str) -> int:
    """The time of a record, RFC 3339 in UTC, in microseconds since 1970; raises `ValueError`, also for 31 February."""
    if not _TIME.fullmatch(text):
        raise ValueError("expected a time as records have it, 2026-01-31T09:00:00.000Z, found another text")
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def commit(salt: bytes, content: bytes) -> str:
    """SHA-256(salt || content), hex: binds to the content, tells nothing of it."""
    return sha256(salt + content).hexdigest()


def seal(
    payload: bytes, salt: bytes, kind: str, *, place: RecordPlace, writer: Writer, link: Link, times: Times
) -> Record:
    """The record of a payload; raises `ValueError` when the salt has another length or the leaf is too long.

    The envelope says the version of the kind's payloads (`SCHEMAS`).
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, found {len(salt)}")
    envelope = Envelope(
        v=VERSION,
        log=place.log,
        tenant=place.tenant,
        kind=kind,
        schema=SCHEMAS[kind],
        debate=place.debate,
        n=link.n,
        prev=link.prev.hex(),
        occurred=times.occurred,
        recorded=times.recorded,
        actor=writer.actor,
        build=writer.build,
        policy=place.policy,
        context=place.context,
        commitment=commit(salt, payload),
    )
    leaf = _encoder.encode(envelope)
    if len(leaf) > LEAF_BYTES_MAX:
        raise ValueError(f"a leaf has at most {LEAF_BYTES_MAX} bytes, found {len(leaf)}")
    return Record(link.n, leaf, leaf_hash(leaf), salt, payload)


def open_leaf(leaf: bytes) -> Envelope:
    """The envelope of a leaf; raises `ValueError` on any other bytes, also on ones that only mean the same.

    (`msgspec.DecodeError`, which names what is wrong, is a `ValueError` too.)
    """
    if leaf.startswith(b'{"v":1,'):
        return _first(leaf)
    envelope = _decoder.decode(leaf)
    if envelope.v != VERSION or _encoder.encode(envelope) != leaf:
        raise ValueError("expected a leaf exactly as it is sealed, found other bytes with the same fields")
    return envelope


def encode_context(context: Context) -> bytes:
    """The context as the bytes that are committed to, stored and served."""
    return _sorted.encode(context)


def read_context(data: bytes) -> Context:
    """The context of stored bytes without members that are not known; raises `LaterContext`, or `ValueError`."""
    version = _versions.decode(data).v
    if version > CONTEXT:
        raise LaterContext(f"a context of version {version} is not known to this build")
    return _decoder_of_contexts.decode(data)


def open_context(data: bytes) -> Context:
    """The context of stored bytes; raises `LaterContext`, or `ValueError` on bytes that are no context as written."""
    context = read_context(data)
    if encode_context(context) != data:
        raise ValueError("expected a context exactly as it is written, found other bytes with the same members")
    return context


def _first(leaf: bytes) -> Envelope:
    old = _decoder1.decode(leaf)
    if _encoder.encode(old) != leaf:
        raise ValueError("expected a leaf exactly as it is sealed, found other bytes with the same fields")
    return Envelope(
        v=1,
        log=old.log,
        tenant=old.tenant,
        kind=old.kind,
        schema=old.schema,
        debate=old.debate,
        n=old.n,
        prev=old.prev,
        occurred=old.at,
        recorded=old.at,
        actor=Actor(old.actor, "unknown", "", "none"),
        build="",
        policy="",
        context="",
        commitment=old.commitment,
    )
