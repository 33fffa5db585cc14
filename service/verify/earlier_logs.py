"""The tenant's earlier logs: each log opens with a record that carries the last checkpoint of the log before it.

So a rotated log cannot be left out or cut without a contradiction in the next one. The file has that very checkpoint,
and no other of an earlier log. The record names the key that signs its log, which must have signed the checkpoint of it
that the file has. If that key is not pinned, only the next log states where the earlier one ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, get_args

from msgspec import Struct

from service.audit import log_events
from service.audit.checkpoint import Checkpoint
from service.audit.log_events import LogOpened
from service.audit.note import Note, PublicKey, verify_note
from service.audit.record import LEAF_BYTES_MAX, SALT_BYTES, Envelope
from service.debate.kinds import Kinds
from service.verify.log import (
    HEAD,
    HEAD_MAX,
    PROOF_MAX,
    head,
    in_time,
    may_sign,
    named_lines,
    proven,
    read_head,
    vouching,
)
from service.verify.opened_bundle import OpenedBundle, later_schema, read_leaf
from service.verify.records import salted
from service.verify.steps import Differs, NotCheckable, Trust, at, expect
from service.verify.times import expect_own_time

FIRST_EPOCH = 1
_NAMED = re.compile(r"[^/]+(?:/[^/]+)+/[1-9][0-9]{0,8}", re.ASCII)
E = TypeVar("E", bound=log_events.Event)
EVENTS: Kinds[log_events.Event] = Kinds(get_args(log_events.Event), log_events.OLDER)


def check_earlier_logs(evidence: OpenedBundle, trust: Trust) -> str:
    """Check that the opening records of the logs are in them, log after log, up to the debate's own."""
    own = evidence.first.log
    openings = read_openings(evidence)
    if not openings:
        if epoch_of(own) != FIRST_EPOCH:
            part = "heads/0001.leaf.json"
            raise Differs(f"how {own} was opened, which is not a first log", part, "nothing", file=part)
        return f"{own} is the tenant's first log"
    details, before = [], ""
    for i, opening in enumerate(openings, start=1):
        with at(file=f"heads/{i:04d}.leaf.json"):
            if before and following(before) != opening.log:
                raise Differs("the log that follows", following(before), opening.log)
            details.append(previous(opening.opened, trust))
            before = opening.log
    expect("the last log that was opened", own, before, file=f"heads/{len(openings):04d}.leaf.json")
    for opening, after in pairwise(openings):
        if evidence.file(opening.file, HEAD_MAX) != (after.opened.previous or "").encode():
            raise Differs(
                f"the head of {opening.log}", f"the one that {after.log} carries", "another", file=opening.file
            )
    return "; ".join(details)


def earlier(own: str) -> tuple[str, ...]:
    """The logs of a bundle by the debate's own: that one, and those between the tenant's first and it."""
    prefix = own.rpartition("/")[0]
    return (own, *(f"{prefix}/{epoch}" for epoch in range(FIRST_EPOCH + 1, epoch_of(own))))


def read_openings(evidence: OpenedBundle) -> list[Opening]:
    """The records that opened the logs, the oldest first, each under a checkpoint of its log; raises `Differs`."""
    count = sum(path.endswith(".leaf.json") for path in evidence.files if path.startswith("heads/"))
    return [_opening(evidence, i) for i in range(1, count + 1)]


def checkpoints(evidence: OpenedBundle) -> Iterator[tuple[str, str, Note, Note | None]]:
    """Each checkpoint: its file, its log, the note, and the note of the same log that the next log's record carries."""
    carried: dict[str, Note] = {}
    openings = read_openings(evidence)
    for opening in openings:
        if opening.opened.previous is not None:
            note, checkpoint = read_head(opening.opened.previous.encode())
            carried[checkpoint.origin] = note
    note, checkpoint = head(evidence)
    yield HEAD, checkpoint.origin, note, None
    for opening in openings:
        if opening.file != HEAD:
            yield opening.file, opening.log, opening.note, carried.get(opening.log)


class Opening(Struct, frozen=True):
    """The opening record of a log, and the checkpoint that covers it (file, note and checkpoint)."""

    log: str
    opened: LogOpened
    file: str
    note: Note
    checkpoint: Checkpoint


def _opening(evidence: OpenedBundle, i: int) -> Opening:
    """The nth opening record, under a checkpoint of its log; raises `Differs`."""
    part = f"heads/{i:04d}"
    with at(file=f"{part}.leaf.json"):
        leaf, envelope, opened = read_record(evidence, part, LogOpened)
        file = _head_of(evidence, envelope.log)
        data = evidence.file(file, HEAD_MAX)
        with at(file=file):
            note, checkpoint = read_head(data)
            expect("the log of the checkpoint", envelope.log, checkpoint.origin)
            expect_own_key(opened, note)
        index = proven(evidence.file(f"{part}.tlog-proof", len(data) + PROOF_MAX), leaf, data, checkpoint)
        expect("the place of the record that opens a log", 0, index)
    return Opening(envelope.log, opened, file, note, checkpoint)


def _head_of(evidence: OpenedBundle, log: str) -> str:
    """The file with the checkpoint of a log; raises `Differs` if the manifest does not list it."""
    logs = evidence.manifest.logs
    if log not in logs:
        raise Differs("the logs of the manifest", log, ", ".join(logs), file="manifest.json")
    return f"checkpoints/{logs.index(log) + 1:04d}.txt"


def read_record(evidence: OpenedBundle, part: str, event: type[E]) -> tuple[bytes, Envelope, E]:
    """The leaf, envelope and event of a record of the log itself, whose files begin with ``part``.

    Raises `Differs`, or `NotCheckable` for a leaf of a later build.
    """
    leaf = evidence.file(f"{part}.leaf.json", LEAF_BYTES_MAX)
    envelope, unknown = read_leaf(leaf)
    if unknown:
        raise NotCheckable(unknown)
    if envelope is None:
        raise Differs("a leaf", "one exactly as it is sealed", "other bytes")
    expect("the tenant", evidence.first.tenant, envelope.tenant)
    expect_own_time(envelope)
    salt = salted(evidence.file(f"{part}.salt", 2 * SALT_BYTES))
    expect("the commitment to a payload", envelope.commitment, evidence.commitment(f"{part}.payload.json", salt))
    found = read_event(envelope, evidence.file(f"{part}.payload.json"))
    if not isinstance(found, event):
        raise Differs("the record", str(event.__struct_config__.tag), envelope.kind)
    return leaf, envelope, found


def read_event(envelope: Envelope, payload: bytes) -> log_events.Event:
    """The event of a record that belongs to no debate; raises `Differs`, or `NotCheckable`."""
    if why := later_schema(envelope):
        raise NotCheckable(why)
    event = EVENTS.decode(payload, envelope.schema)
    expect("the kind of the payload", log_events.kind(event), envelope.kind)
    if not EVENTS.exact(event, payload, envelope.schema):
        raise Differs("a payload", "an event as it is written, every member once and known", "another spelling")
    expect("the number of a record of its own", 0, envelope.n)
    expect("the record before one of its own", "", envelope.prev)
    if isinstance(event, LogOpened):
        expect("the log that is opened", envelope.log, event.log)
        expect("the epoch of the log", epoch_of(event.log), event.epoch)
        expect("policy and context of a record that opens a log", ("", ""), (envelope.policy, envelope.context))
    return event


def expect_own_key(opened: LogOpened, note: Note) -> None:
    """Raise `Differs` unless a checkpoint of a log is signed by the key that its opening record names."""
    key = PublicKey.parse(opened.key)
    if not may_sign(key, opened.log) or not signers(note, (key,)):
        raise Differs(f"the key that signs {opened.log}, as its opening record says", opened.key, named_lines(note))


def previous(opened: LogOpened, trust: Trust) -> str:
    """The end of the previous log by the opening record of the next; raises `Differs`."""
    if opened.previous is None:
        expect("the number of a log that follows no other", FIRST_EPOCH, opened.epoch)
        return f"{opened.log} is the tenant's first log"
    note, checkpoint = read_head(opened.previous.encode())
    expect("the log before", opened.log, following(checkpoint.origin))
    return f"{checkpoint.origin} ended at size {checkpoint.size}, {_signed(note, checkpoint, trust)}"


def _signed(note: Note, checkpoint: Checkpoint, trust: Trust) -> str:
    """The signer among the pinned keys, in words; a wrong signature of a pinned key raises `BadNote`."""
    found = signers(note, vouching(trust, checkpoint.origin))
    if not found:
        lines = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.signatures)[:200]
        return f"by the word of the next log: the key of its head is not pinned for it (its lines are of {lines})"
    try:
        found = in_time(note, checkpoint, found, trust)
    except NotCheckable:  # the newest head of a busy log may not be countersigned yet
        return "by the word of the next log: no pinned witness says whether its key was pinned for that time"
    return f"signed by {', '.join(key.encode() for key in found)}"


def signers(note: Note, keys: Sequence[PublicKey]) -> tuple[PublicKey, ...]:
    """The keys that signed, or none of them. A wrong signature of one raises `BadNote`."""
    names = {(signature.name, signature.key_id) for signature in note.signatures}
    return verify_note(note, keys) if any((key.name, key.id) in names for key in keys) else ()


def epoch_of(log: str) -> int:
    """The number at the end of a log's name; 0 for a name without one in its only spelling, or with an empty part."""
    return int(log.rpartition("/")[2]) if _NAMED.fullmatch(log) else 0


def following(log: str) -> str:
    """The name of the log that follows."""
    return f"{log.rpartition('/')[0]}/{epoch_of(log) + 1}"
