"""The steps over an export. Each line is read once, so a log of any length takes the same memory.

     1  file         readable to its last line, indexes in order, none missing in a complete export
     2  signature    the pinned key signed the checkpoint of the records' log
     3  witnesses    a quorum of the pinned witnesses cosigned it
     4  lines        every line of signatures was checked
     5  records      each leaf has its exact form, each payload and context its salted hash
     6  chains       in each debate n has no gap, each record names the one before it, and times ascend from the id's on
     7  tree         all leaves hash to the root, or each record has its inclusion proof
     8  payloads     each payload has the exact form of its kind; this build has every version that a decision seals
     9  logs         the events of the log itself are valid, entries of evaluations legal after those before them, and
                     starts name the recorded tilts of moderators that stood
    10  moves        in each debate with its beginning, every entry is legal after those before it
    11  charges      each charge follows from usage and price row
    12  money        the ceiling holds at every entry
    13  outcome      the outcome follows from the entries
    14  plans        a signed checkpoint over each plan was in hand before its first case; only where there is one
    15  looks        the looks at held splits that registrations record are those of the log; only where there are some
    16  evaluations  scores and results are those of the golden sets; only where these are given
    17  sources      gate, prompts, requests and checks: never checkable here, and accepted for the records alone

No line is read when the head has not the pinned signatures, and none behind the first that fails a step. A debate stays
in memory from its case to its end, and 16 bytes of it behind that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property, partial
from typing import Any

from msgspec import Struct

from service.audit import log_events
from service.audit.checkpoint import Checkpoint
from service.audit.export import Header, Row, read
from service.audit.note import Note, PublicKey
from service.audit.record import SALT_BYTES, Envelope, commit, leaf_hash, open_leaf
from service.audit.tree import Frontier, verify_inclusion
from service.debate.entries import DebateConcluded, Entry, GateDecided
from service.money.tokens import is_loaded
from service.verify import log, opened_bundle, records, times
from service.verify.debates import Debates
from service.verify.ended import Ended
from service.verify.evaluations import Evaluations
from service.verify.lines import check_lines
from service.verify.log_records import LogRecords
from service.verify.looks import Looks
from service.verify.steps import Differs, NotCheckable, Trust, VerificationReport, at, expect, perform, perform_all
from service.verify.tilts import Tilts
from service.verify.unread_leaves import UnreadLeaves
from service.verify.versions import UnknownMembers

SOURCES = (
    "RECORDS ONLY: gate, prompts, requests and checks need the policy, the prompts and the documents, which are not "
    "part of an export; verify the bundle of a debate for them"
)
CONTEXTS_MAX = 10_000
LEAVES_AT_ONCE = 1_000
DECISION = str(GateDecided.__struct_config__.tag)
CONCLUSION = str(DebateConcluded.__struct_config__.tag)
CUT = "the file could not be read to its end"
HALTED = "a later step failed, and no line behind that place was read"
UNREAD = "no record was read"


class ExportSummary(Struct, dict=True):
    """A line with its leaf's envelope, ``None`` if that cannot be read."""

    row: Row
    leaf: bytes
    hash: bytes
    envelope: Envelope | None
    payload: bytes | None

    @cached_property
    def unread(self) -> str:
        """Why the leaf is one of a later build, which cannot be read; empty for any other."""
        return "" if self.envelope is not None else opened_bundle.read_leaf(self.leaf)[1]

    @cached_property
    def entry(self) -> tuple[Entry | None, str]:
        """The payload, read once for all steps; as `read_payload` gives it."""
        return (None, "") if self.payload is None else opened_bundle.read_payload(self.payload, self.envelope)


class _Part:
    """A step that gets every line. Its first error is its result."""

    def __init__(self, name: str, take: Callable[[ExportSummary], None], end: Callable[[], str]) -> None:
        self.name, self.take, self._end = name, take, end
        self.broken: Exception | None = None

    def end(self, why: str) -> str:
        """The result of the step; ``why`` says why not every line was read."""
        if self.broken is not None:
            raise self.broken
        if why:
            raise NotCheckable(why)
        return self._end()


def verify_export(
    lines: Iterable[bytes],
    trust: Trust,
    *,
    replay: bool = True,
    reports: Collection[str] = (),
    ready: Callable[[str], bool] = is_loaded,
    every: bool = False,
    evaluations: Evaluations | None = None,
) -> VerificationReport:
    """Verify the lines of an export, each with its newline; raises only errors of ``lines``.

    ``evaluations`` may have golden sets, with which scores are computed again. ``reports`` are the versions of the
    report that the caller has, and ``ready`` says whether it can count with a tokenizer. Without ``replay`` it
    checks hashes, chains, tree and signatures, and ignores the content of payloads.
    Lines and steps after the first failure are left out, unless ``every`` asks for them.
    """
    try:
        header, rows = read(lines)
        note, checkpoint = log.read_head(header.checkpoint.encode())
    except Exception as fault:  # noqa: BLE001 - the first line caused it
        return VerificationReport("unknown", {}, (perform(1, "file", partial(_again, fault)),))
    file = _File(header, note, checkpoint)
    debates = None
    if replay:
        debates = Debates(complete=header.complete, reports=reports, ready=ready, records_only=trust.records_only)
    followed = header.complete or "evaluation" in header.filters  # either has all records of its evaluations
    evaluations = evaluations or Evaluations()
    tilts = Tilts(header.log) if header.complete else None
    looks = Looks(header.log, whole=header.complete)
    happened = LogRecords(note, trust, evaluations if followed else None, tilts, looks)
    parts = _parts(header, checkpoint, happened, debates)
    if debates and evaluations.sets is not None:
        parts.append(_Part("evaluations", lambda _: None, happened.evaluated))
    signed = _signed(note, checkpoint, trust)
    sources = partial(_sources, allowed=trust.records_only)
    named: list[tuple[str, Callable[[], str]]]
    if not every and any(perform(0, name, check).state == "FAILED" for name, check in signed):
        named = [("file", file.begin), *signed, *((part.name, sources) for part in parts)]
    else:
        broken, halted = _read(rows, file, parts, every)
        why = CUT if broken else HALTED if halted else ""
        named = [("file", partial(_again, broken) if broken else partial(file.end, halted)), *signed]
        asked = [("plans", happened.has_plans, happened.proven), ("looks", happened.has_looks, happened.looks)]
        at_evaluations = next((n for n, part in enumerate(parts) if part.name == "evaluations"), len(parts))
        parts[at_evaluations:at_evaluations] = [_Part(name, lambda _: None, end) for name, has, end in asked if has]
        named += [(part.name, partial(part.end, why)) for part in parts]
    steps, left = perform_all([*named, ("sources", sources)], every=every)
    return VerificationReport("export", _about(header, file.count), steps, left)


def _read(rows: Iterator[Row], file: _File, parts: list[_Part], every: bool) -> tuple[Exception | None, bool]:
    """Pass lines to the steps: the error that ended the reading, and whether it ended because a step failed."""
    try:
        for row in rows:
            file.take(row)
            seen = check_line(row)
            for part in parts:
                if part.broken is None:
                    try:
                        part.take(seen)
                    except Exception as fault:  # noqa: BLE001 - kept, and raised again when the step is reported
                        part.broken = fault
                        if not every:
                            return None, True
    except Exception as fault:  # noqa: BLE001 - a line that cannot be read
        return fault, False
    return None, False


def _signed(note: Note, checkpoint: Checkpoint, trust: Trust) -> list[tuple[str, Callable[[], str]]]:
    """The steps over the head, which need no line of the rest."""
    return [
        ("signature", lambda: log.check_signature(note, checkpoint, trust)),
        ("witnesses", lambda: log.cosigned(note, checkpoint, trust)),
        ("lines", lambda: check_lines([("line 1", checkpoint.origin, note, None)], trust)),
    ]


def check_line(row: Row) -> ExportSummary:
    """A line with its leaf's envelope."""
    leaf = row.leaf.encode()
    try:
        envelope = open_leaf(leaf)
    except (ValueError, RecursionError):
        envelope = None
    return ExportSummary(row, leaf, leaf_hash(leaf), envelope, None if row.payload is None else row.payload.encode())


def _parts(header: Header, checkpoint: Checkpoint, happened: LogRecords, debates: Debates | None) -> list[_Part]:
    sealed, chains, tree = _Records(header), _Chains(header), _Tree(header, checkpoint)
    parts = [
        _Part("records", sealed.take, sealed.end),
        _Part("chains", chains.take, chains.end),
        _Part("tree", tree.take, tree.end),
    ]
    if debates:
        parts += [
            _Part("payloads", debates.take, debates.payloads),
            _Part("logs", partial(_happened, happened), happened.end),
        ]
        parts += [_Part(name, stand, end) for name, stand, end in debates.ends()]
    return parts


def _happened(happened: LogRecords, seen: ExportSummary) -> None:
    happened.take(seen.envelope, seen.payload, seen.row.index, seen.hash, seen.unread)


def _sources(*, allowed: bool) -> str:
    raise NotCheckable(SOURCES, allowed=allowed)


def _again(fault: Exception) -> str:
    raise fault


class _File:
    """The lines themselves."""

    def __init__(self, header: Header, note: Note, checkpoint: Checkpoint) -> None:
        self._header, self._note, self._checkpoint = header, note, checkpoint
        self.count = 0

    def take(self, row: Row) -> None:
        """One more record."""
        if self._header.complete and row.index != self.count:
            raise Differs("the index of the next record of a complete log", str(self.count), str(row.index))
        if row.index >= self._header.size:
            raise Differs("the index of a record", f"below the size of {self._header.size}", str(row.index))
        self.count += 1

    def begin(self) -> str:
        """Compare the header with its checkpoint."""
        header = self._header
        with at(file="line 1"):
            expect("the log of the checkpoint", header.log, self._checkpoint.origin)
            expect("the size of the checkpoint", header.size, self._checkpoint.size)
            key = PublicKey.parse(header.key)
            if (key.name, key.id) not in {(s.name, s.key_id) for s in self._note.signatures}:
                raise Differs("the key of the header", "one that signed the checkpoint", header.key)
            if header.complete and header.filters:
                raise Differs("the filters of a complete export", "none", ", ".join(sorted(header.filters)))
        return f"the first line of an export of {header.log}; {UNREAD}"

    def end(self, halted: bool) -> str:
        """Compare the header with the records."""
        header = self._header
        self.begin()
        if halted:
            raise NotCheckable(HALTED)
        if header.complete:
            expect("the records of a complete export", header.size, self.count)
            return f"all {self.count} records of {header.log}"
        return f"{self.count} of the {header.size} records of {header.log}; which ones is the exporter's word"


class _Records:
    """Leaves and their commitments."""

    def __init__(self, header: Header) -> None:
        self._log, self._count = header.log, 0
        self._members = UnknownMembers(*records.CONTEXT_DIFFERS[:2], complete=header.complete)
        self._unknown = ""
        self._contexts: set[tuple[str, str | None, str | None]] = set()

    def take(self, seen: ExportSummary) -> None:
        """One more record."""
        self._count += 1
        try:
            self._seal(seen)
        except Differs as difference:
            difference.record = seen.row.index if difference.record is None else difference.record
            raise
        if seen.envelope is not None and _is_last(seen.envelope, seen):
            self._members.ended(seen.envelope.debate)

    def _seal(self, seen: ExportSummary) -> None:
        envelope, row = seen.envelope, seen.row
        if envelope is None or envelope.schema < 1:
            self._unknown = self._unknown or records.leaf(seen.leaf)
            self._members.unread(seen.unread, row.index)
            return
        if envelope.log != self._log:
            raise Differs("the log of a record", self._log, envelope.log)
        records.says(envelope)
        if seen.payload is None or row.salt is None:
            raise Differs("a payload with its salt", "its bytes", "nothing")
        if (found := commit(_salt(row.salt), seen.payload)) != envelope.commitment:
            raise Differs("the commitment to a payload", envelope.commitment, found)
        later = opened_bundle.later_schema(envelope)
        self._unknown = self._unknown or later
        if envelope.kind == DECISION and envelope.n == 1:
            self._members.decided(envelope.debate, seen.entry[0], later)
        context = envelope.context, row.context, row.context_salt
        if context not in self._contexts:  # all records of a debate share one context
            try:
                if self._context(envelope, row):
                    self._members.found(envelope.debate, envelope.n, row.index)
                    return  # each debate needs its own decision for that
            except NotCheckable as gap:
                self._unknown = self._unknown or gap.reason
            if len(self._contexts) >= CONTEXTS_MAX:
                self._contexts.clear()
            self._contexts.add(context)

    def _context(self, envelope: Envelope, row: Row) -> bool:
        """Whether the context of a record, which is as its envelope says, has members that this build does not know."""
        if not envelope.context:
            if row.context is not None or row.context_salt is not None:
                raise Differs("the context of a record without one", "nothing", "a text")
            return False
        if row.context is None or row.context_salt is None:
            raise Differs("a context with its salt", "its bytes", "nothing")
        with at(record=row.index):
            return records.agrees(envelope, row.context.encode(), _salt(row.context_salt))

    def end(self) -> str:
        """Whether all leaves have a known version."""
        self._members.end()
        if unknown := self._unknown or self._members.gap:
            raise NotCheckable(unknown)
        return f"{self._count} leaves as they were sealed, payloads and contexts under their salted hashes"


def _salt(text: str) -> bytes:
    """A salt, by a fast path; an invalid one gives the error of `records.salted`."""
    try:
        salt = bytes.fromhex(text)
    except ValueError:
        salt = b""
    return salt if len(salt) == SALT_BYTES and salt.hex() == text else records.salted(text.encode())


class _Chains:
    """The chain of records of each debate. Of one that has ended, only its name is kept."""

    def __init__(self, header: Header) -> None:
        self._complete = header.complete
        self._last: dict[str, tuple[int, bytes, str, int]] = {}
        """The number of a chain's last record, its hash and time, and how many unread leaves stand before it."""
        self._ended = Ended()
        self._gaps = 0
        self._unread = UnreadLeaves()

    def take(self, seen: ExportSummary) -> None:
        """The next record; a filtered export may lack those before it, and leaves of a later build may be them."""
        envelope = seen.envelope
        if envelope is None:
            if seen.unread:
                self._unread.add(seen.hash, seen.unread)
            return
        last = self._last.get(envelope.debate)
        if last is None and envelope.debate in self._ended:  # of one that has ended, nothing else is kept
            found = f"{envelope.kind} as its record {envelope.n}"
            raise Differs("after the end of a debate", "no record of it", found, record=seen.row.index)
        n, before, recorded, since = last or (-1, b"", "", 0)
        missing = envelope.n - n - 1
        if missing > 0 and (not self._complete or self._unread.fill(missing, since, envelope.prev)):
            self._gaps += 1
        else:
            if envelope.n != n + 1:
                raise Differs("the record's number in its debate", str(n + 1), str(envelope.n), record=seen.row.index)
            if envelope.prev != before.hex():
                raise Differs("the leaf hash of the record before", before.hex(), envelope.prev, record=seen.row.index)
        with at(record=seen.row.index):
            _dated(envelope, recorded)
        if _is_last(envelope, seen):
            self._last.pop(envelope.debate, None)
            self._ended.add(envelope.debate)
        else:
            self._last[envelope.debate] = envelope.n, seen.hash, envelope.recorded, self._unread.count

    def end(self) -> str:
        """The number of chains; raises `NotCheckable` where a leaf may be of any."""
        if self._unread.why:
            raise NotCheckable(self._unread.why)
        detail = f"{len(self._last) + len(self._ended)} chains of records, each naming the one before it"
        return f"{detail}; records are left out in {self._gaps} places" if self._gaps else detail


def _dated(envelope: Envelope, before: str) -> None:
    """Check what a record says of time by itself and after the one before it; raises `Differs`."""
    times.expect_own_time(envelope)
    if before:
        times.expect_ascending(before, envelope.recorded)


def _is_last(envelope: Envelope, seen: ExportSummary) -> bool:
    """Whether no record of the same chain can follow: it is of the log itself, or the end of a debate."""
    if envelope.kind == DECISION and seen.payload is not None:
        entry = seen.entry[0]
        return isinstance(entry, GateDecided) and not entry.decision.debate
    return envelope.kind == CONCLUSION or envelope.kind in log_events.KINDS


class _Tree:
    """All leaves against the root, or each leaf by its inclusion proof."""

    def __init__(self, header: Header, checkpoint: Checkpoint) -> None:
        self._complete, self._checkpoint = header.complete, checkpoint
        self._frontier, self._waiting = Frontier(), list[bytes]()
        self._count = 0

    def take(self, seen: ExportSummary) -> None:
        """One more leaf."""
        self._count += 1
        if not self._complete:
            with at(record=seen.row.index):
                self._proven(seen)
            return
        if seen.row.path is not None:
            raise Differs("the path of a record of a complete export", "none", "one", record=seen.row.index)
        self._waiting.append(seen.hash)
        if len(self._waiting) >= LEAVES_AT_ONCE:
            self._extend()

    def end(self) -> str:
        """The root over the leaves."""
        root = self._checkpoint.root.hex()
        if not self._complete:
            return f"{self._count} paths lead to the root {root} of size {self._checkpoint.size}"
        self._extend()
        expect("the root over all leaves", root, self._frontier.root().hex())
        return f"{self._count} leaves come to the root {root}"

    def _proven(self, seen: ExportSummary) -> None:
        if (path := seen.row.hashes) is None:
            raise Differs("the path of a record to the root", "one", "none")
        head = self._checkpoint
        verify_inclusion(seen.hash, seen.row.index, head.size, path, head.root)

    def _extend(self) -> None:
        self._frontier.extend(self._waiting)
        self._waiting.clear()


def _about(header: Header, count: int) -> dict[str, Any]:
    return {
        "log": header.log,
        "key": header.key,
        "size": header.size,
        "records": count,
        "complete": header.complete,
        "filters": dict(header.filters),
    }
