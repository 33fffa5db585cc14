"""Whether what is stored of one debate is what was recorded: each part is compared with what commits to it. Pure.

    leaf       is sealed in its exact form, says its own debate and number, and names the hash of the leaf before it
    tree       has the hash that the log's tree holds for it, once it is there
    payload    has, with its salt, the hash that its leaf commits to
    head row   counts the records, names the last one, and says of the debate what every leaf says
    context    has, with its salt, the hash that every leaf commits to
    documents  are those of the case, each with the salted hash that the case commits to

Every reader of one debate compares it first; `service.audit.recomputation` does the same for a whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from service.audit.record import Envelope, commit, leaf_hash, open_leaf

HEAD_ROW = "the head row"
CONTEXT = "the context"


class Mismatch(Exception):
    """A stored part that is not what was recorded: ``place`` names the part, ``what`` says how it differs.

    Neither holds a word of the part's content.
    """

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place} {what}")
        self.place, self.what = place, what


class StoredParts(Struct, frozen=True):
    """A record as far as it is stored; ``logged`` is the hash of its leaf in the tree, once it is there."""

    n: int
    leaf: bytes
    salt: bytes | None
    payload: bytes | None
    logged: bytes | None


class Linked(Struct, frozen=True):
    """A record that agrees with its leaf, and the hash of that leaf."""

    envelope: Envelope
    leaf_hash: bytes


class ChainEnd(Struct, frozen=True):
    """The end of a chain: the number of its next record, and the hash of its last leaf (empty without one)."""

    next_n: int = 0
    last_hash: bytes = b""


START = ChainEnd()


class StoredHead(Struct, frozen=True):
    """What a debate's head row says of its records."""

    tenant: str
    log: str
    policy: str
    context: str
    end: ChainEnd


def place_of(n: int) -> str:
    """A record as a mismatch names it."""
    return f"record {n}"


def compare_records(
    debate: str, records: Iterable[StoredParts], head: StoredHead, after: ChainEnd = START
) -> list[Linked]:
    """The records behind ``after``, to the end that the head row names; raises `Mismatch` at the first difference."""
    end, linked = after, list[Linked]()
    for record in records:
        linked.append(_linked(debate, record, head, end))
        end = ChainEnd(record.n + 1, linked[-1].leaf_hash)
    if end.next_n < head.end.next_n:
        raise Mismatch(place_of(end.next_n), f"is not stored, and the head row counts {head.end.next_n} records")
    if end.next_n > head.end.next_n:
        raise Mismatch(HEAD_ROW, f"counts {head.end.next_n} records, and {end.next_n} are stored")
    if end.last_hash != head.end.last_hash:
        raise Mismatch(place_of(end.next_n - 1), "is not the one that the head row names as the last")
    return linked


def compare_context(records: Sequence[Linked], salt: bytes | None, body: bytes | None) -> None:
    """Raise `Mismatch` unless the context is the one that the leaves commit to; those of version 1 commit to none."""
    committed = next((record.envelope.context for record in records if record.envelope.context), None)
    if committed is None:
        return
    if salt is None or body is None:
        raise Mismatch(CONTEXT, "is not stored")
    if commit(salt, body) != committed:
        raise Mismatch(CONTEXT, "does not have the hash that the records commit to")


def compare_documents(commitments: Mapping[str, str], stored: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Raise `Mismatch` unless these are the documents of the case: id -> commitment, id -> (salt, text)."""
    for nth, (name, commitment) in enumerate(commitments.items(), 1):
        place = f"document {nth} of the case"
        if name not in stored:
            raise Mismatch(place, "is not stored")
        if commit(*stored[name]) != commitment:
            raise Mismatch(place, "does not have the hash that the case commits to")
    if more := len(stored.keys() - commitments.keys()):
        raise Mismatch("the documents", f"are {more} more than the case has")


def _linked(debate: str, record: StoredParts, head: StoredHead, end: ChainEnd) -> Linked:
    place = place_of(record.n)
    if record.n != end.next_n:
        raise Mismatch(place_of(end.next_n), "is not stored")
    try:
        envelope = open_leaf(record.leaf)
    except ValueError as error:
        raise Mismatch(place, "is not a leaf as records are sealed") from error
    if (envelope.debate, envelope.n) != (debate, record.n):
        raise Mismatch(place, "says that it is another record")
    if envelope.prev != end.last_hash.hex():
        raise Mismatch(place, "does not name the record before it")
    found = leaf_hash(record.leaf)
    if record.logged is not None and record.logged != found:
        raise Mismatch(place, "is not the one that was logged")
    if record.salt is None or record.payload is None:
        raise Mismatch(place, "has no payload any more")
    if commit(record.salt, record.payload) != envelope.commitment:
        raise Mismatch(place, "has a payload that it does not commit to")
    _agrees(envelope, head)
    return Linked(envelope, found)


def _agrees(envelope: Envelope, head: StoredHead) -> None:
    """What each leaf says of its debate. A leaf of version 1 knows neither policy nor context."""
    said = {"tenant": (envelope.tenant, head.tenant), "log": (envelope.log, head.log)}
    if envelope.v > 1:
        said |= {"policy": (envelope.policy, head.policy), "context": (envelope.context, head.context)}
    for name, (one, other) in said.items():
        if one != other:
            raise Mismatch(HEAD_ROW, f"names another {name} than record {envelope.n}")
