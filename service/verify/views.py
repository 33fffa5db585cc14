"""What a file shows of a log: heads, and the subtrees and records that proofs or leaves put under them.

A bundle shows the heads of its debate's log and of the tenant's earlier ones, with proofs; an export shows one head,
with all leaves or with proofs; a kept head shows itself. Nothing but signatures, leaves and proofs is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import IO

from msgspec import Struct

from service.audit.bundle import unpack
from service.audit.checkpoint import BadCheckpoint, Checkpoint, parse_checkpoint
from service.audit.earlier_head import open_earlier_head
from service.audit.export import Row, read
from service.audit.note import BadNote, Note, parse_note
from service.audit.proof import parse_proof
from service.audit.record import leaf_hash, open_leaf
from service.audit.tree import EMPTY_ROOT, Place, growing_subtrees, path_subtrees, root_at, subtrees, verify_inclusion
from service.verify import earlier_logs, log
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs, NotCheckable, Trust, at, expect
from service.verify.times import FILES

HEADER = "gainsay-checkpoint:"
NODES_MAX = 100_000
"""The most subtrees that are kept of an export with proofs; those of the fewest leaves go first."""

RecordName = tuple[str, int]
"""A debate, and the number of a record in it."""


class LogView(Struct, frozen=True):
    """A head, and what lies under it."""

    head: Checkpoint
    note: str
    """The signed note, or nothing for a head in the words of the header ``Gainsay-Checkpoint``."""
    signers: tuple[str, ...]
    """The pinned keys that signed it."""
    place: str
    subtrees: Mapping[Place, bytes] = {}
    records: Mapping[RecordName, tuple[int, bytes]] = {}
    """Index and leaf hash of each record."""


class Wanted(Struct, frozen=True):
    """What another file asks of a complete export: nothing is kept of one but this."""

    places: frozenset[Place] = frozenset()
    debates: frozenset[str] = frozenset()

    @classmethod
    def of(cls, views: Iterable[LogView]) -> Wanted:
        """What is needed for a comparison with these views: their subtrees, and those that make up each head."""
        places, debates = set[Place](), set[str]()
        for view in views:
            places.update(view.subtrees, subtrees(0, view.head.size))
            debates.update(debate for debate, _ in view.records)
        return cls(frozenset(places), frozenset(debates))


# A kept head.


def head_view(data: bytes, trust: Trust) -> LogView:
    """The view of a signed checkpoint, or of the words ``origin size root``; raises `Differs` or `NotCheckable`."""
    text = data.decode("utf-8", "replace")
    try:
        if "\n\n" in text:
            note = parse_note(data)
            return _signed(note, parse_checkpoint(note.text), trust, "the head")
        words = text.split()
        if words and words[0].lower() == HEADER:
            del words[0]
        return LogView(parse_checkpoint("".join(f"{word}\n" for word in words)), "", (), "the head")
    except (BadNote, BadCheckpoint) as error:
        raise Differs(f"neither a bundle, an export nor a head: {error.detail}") from error


# A bundle.


def bundle_views(stream: IO[bytes], trust: Trust) -> list[LogView]:
    """The views of a bundle, its debate's log first, one for each head; raises `Differs` or `NotCheckable`."""
    evidence = OpenedBundle(unpack(stream))
    own = _own(evidence, trust)
    views = {own.head: own}
    for path in FILES:
        if path in evidence.files:
            with at(file=path):
                note, head = open_earlier_head(evidence.file(path, log.HEAD_MAX + log.PROOF_MAX), own.head)
                views.setdefault(head, _known(note, head, trust, path))
    for opening in earlier_logs.read_openings(evidence):
        found = [(opening.note, opening.checkpoint, opening.file)]
        if opening.opened.previous is not None:
            found.append((*log.read_head(opening.opened.previous.encode()), f"the opening of {opening.log}"))
        for note, head, place in found:
            views.setdefault(head, _known(note, head, trust, place))
    return list(views.values())


def _own(evidence: OpenedBundle, trust: Trust) -> LogView:
    note, head = log.head(evidence)
    data, nodes, records = (
        evidence.file(log.HEAD, log.HEAD_MAX),
        dict[Place, bytes](),
        dict[RecordName, tuple[int, bytes]](),
    )
    with at(file=log.HEAD):
        view = _signed(note, head, trust, log.HEAD)
    for n in range(evidence.manifest.records):
        path = f"proofs/{n:04d}.tlog-proof"
        with at(file=path, record=n):
            leaf, proof = evidence.leaf(n), evidence.file(path, len(data) + log.PROOF_MAX)
            index = log.proven(proof, leaf, data, head)
            nodes.update(path_subtrees(leaf_hash(leaf), index, head.size, parse_proof(proof).path))
            envelope = open_leaf(leaf)
            records[envelope.debate, envelope.n] = index, leaf_hash(leaf)
    return LogView(head, view.note, view.signers, log.HEAD, nodes, records)


# An export.


class ExportFile:
    """An export, of which the head is read at once and the lines when they are needed."""

    def __init__(self, lines: Iterable[bytes], trust: Trust) -> None:
        self.header, self._rows = read(lines)
        note, head = log.read_head(self.header.checkpoint.encode())
        expect("the log of the checkpoint", self.header.log, head.origin)
        expect("the size of the checkpoint", self.header.size, head.size)
        self.head = _signed(note, head, trust, "line 1")

    def view(self, wanted: Wanted) -> LogView:
        """The view with its lines; of a complete export only what is ``wanted``. Raises `Differs` or `BadExport`."""
        nodes, records = (self._leaves if self.header.complete else self._paths)(wanted)
        return LogView(self.head.head, self.head.note, self.head.signers, self.head.place, nodes, records)

    def _leaves(self, wanted: Wanted) -> tuple[dict[Place, bytes], dict[RecordName, tuple[int, bytes]]]:
        head, records, count = self.head.head, dict[RecordName, tuple[int, bytes]](), 0

        def hashes() -> Iterator[bytes]:
            nonlocal count
            for row in self._rows:
                expect("the index of the next record of a complete log", count, row.index)
                count += 1
                hashed = leaf_hash(row.leaf.encode())
                records.update(_named(row, hashed, wanted.debates))
                yield hashed

        own = frozenset(subtrees(0, head.size))
        nodes = {place: node for place, node in growing_subtrees(hashes()) if place in own or place in wanted.places}
        expect("the records of a complete export", head.size, count)
        root = root_at(head.size, lambda level, index: nodes[level, index]) if count else EMPTY_ROOT
        expect("the root over all leaves", head.root.hex(), root.hex())
        return nodes, records

    def _paths(self, wanted: Wanted) -> tuple[dict[Place, bytes], dict[RecordName, tuple[int, bytes]]]:
        head, nodes, records, least = self.head.head, dict[Place, bytes](), dict[RecordName, tuple[int, bytes]](), 0
        for row in self._rows:
            hashed = leaf_hash(row.leaf.encode())
            if (path := row.hashes) is None:
                raise Differs("the path of a record to the root", "one", "none", record=row.index)
            with at(record=row.index):
                verify_inclusion(hashed, row.index, head.size, path, head.root)
            records.update(_named(row, hashed, wanted.debates))
            nodes.update((at, node) for at, node in path_subtrees(hashed, row.index, head.size, path) if at[0] >= least)
            while len(nodes) > NODES_MAX:
                least += 1
                nodes = {place: node for place, node in nodes.items() if place[0] >= least}
        return nodes, records


def _named(row: Row, hashed: bytes, debates: Set[str]) -> dict[RecordName, tuple[int, bytes]]:
    """The record of a line, if it is of one of these debates."""
    if not any(debate in row.leaf for debate in debates):
        return {}
    envelope = open_leaf(row.leaf.encode())
    return {(envelope.debate, envelope.n): (row.index, hashed)} if envelope.debate in debates else {}


# Signatures.


def _signed(note: Note, head: Checkpoint, trust: Trust, place: str) -> LogView:
    """The view of a head that a pinned key must have signed; `Differs` if none did.

    Without any pinned key it has no signers, if the options accept that, and else raises `NotCheckable`.
    """
    try:
        log.check_signature(note, head, trust)
    except NotCheckable as gap:
        if not gap.allowed:
            raise
    return _known(note, head, trust, place)


def _known(note: Note, head: Checkpoint, trust: Trust, place: str) -> LogView:
    keys: Sequence[str] = [key.encode() for key in earlier_logs.signers(note, log.vouching(trust, head.origin))]
    return LogView(head, note.encode().decode(), tuple(keys), place)
