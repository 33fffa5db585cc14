"""The debates of an export: each is held from its case to its end, then recomputed from its records alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Protocol

from service.audit import log_events
from service.audit.record import Envelope
from service.debate.entries import KINDS, DebateConcluded, Entry, GateDecided, kind
from service.money.tokens import is_loaded
from service.verify import money, replay
from service.verify.ended import Ended
from service.verify.opened_bundle import LegalDebate, later_schema
from service.verify.records import acted, described, same
from service.verify.steps import Differs, NotCheckable, at, expect
from service.verify.unread_leaves import UnreadLeaves
from service.verify.versions import UnknownMembers, has_unknown_members, refuse_unwritten, unknown_versions

_DECISION = str(GateDecided.__struct_config__.tag)
_DIFFERS = "a payload", "an entry as it is written"


class ExportedLine(Protocol):
    """A line of an export with its leaf's envelope."""

    hash: bytes
    payload: bytes | None
    envelope: Envelope | None

    @property
    def unread(self) -> str:
        """Why the leaf is one of a later build, which cannot be read; empty for any other."""
        ...

    @property
    def entry(self) -> tuple[Entry | None, str]:
        """The payload as `service.verify.opened_bundle.read_payload` gives it."""
        ...

    @property
    def row(self) -> Indexed:
        """The line as it stands there."""
        ...


class Indexed(Protocol):
    """The members of a line that the debates need."""

    @property
    def index(self) -> int:
        """The leaf's index in the log."""
        ...

    @property
    def context(self) -> str | None:
        """The context of the case."""
        ...


class _Open:
    """A debate without its end so far."""

    def __init__(self, first: Envelope, seed: str, context: str | None) -> None:
        self.entries: list[Entry] = []
        self.indexes: list[int] = []
        self.first, self.seed, self.context = first, seed, context
        self.gap = ""
        self.since = 0
        """How many unread leaves stand before its last record."""


class Debates:
    """Collects the records of debates and recomputes each debate at its end.

    In a ``complete`` export every debate has its beginning, so no record follows its end.
    """

    def __init__(
        self,
        *,
        complete: bool = False,
        reports: Collection[str] = (),
        ready: Callable[[str], bool] = is_loaded,
        records_only: bool = False,
    ) -> None:
        self._complete, self._reports, self._ready = complete, reports, ready
        self._records_only = records_only
        self._open: dict[str, _Open] = {}
        self._partial = Ended()
        self._firsts: dict[str, Envelope] = {}
        """The first envelope of each debate that leaves of a later build cut."""
        self._counts = {"concluded": 0, "declined": 0, "under way": 0}
        self._payloads = 0
        self._unknown = ""
        self._unread = UnreadLeaves()
        self._broken: dict[str, Exception] = {}
        self._gaps: dict[str, NotCheckable] = {}
        self._members = UnknownMembers(*_DIFFERS, complete=complete)
        self._halted = False

    def take(self, line: ExportedLine) -> None:
        """The next record; raises `Differs` if its payload is not an entry."""
        envelope = line.envelope
        if line.unread:  # of any debate
            self._unread.add(line.hash, line.unread)
            self._unknown = self._unknown or line.unread
            self._members.unread(line.unread, line.row.index)
        if envelope is None or line.payload is None or envelope.kind in log_events.KINDS:
            return
        self._halted = True
        entry, unknown = line.entry
        self._payloads += 1
        if unknown:
            self._unknown = self._unknown or unknown
            if envelope.kind == _DECISION and envelope.n == 1:
                self._members.decided(envelope.debate, None, later_schema(envelope))
        elif entry is None:
            raise Differs(*_DIFFERS, "something else", record=line.row.index)
        else:
            self._check_form(entry, line.payload, envelope, line.row.index)
            expect("the kind of the payload", kind(entry), envelope.kind, record=line.row.index)
            if isinstance(entry, GateDecided):
                self._judge(entry, line.row.index)
        self._add(envelope, line, entry, unknown)
        self._halted = False

    def payloads(self) -> str:
        """How many were read; whatever is still under way is recomputed as far as it has come."""
        halted, self._halted = self._halted, True
        self._members.end()
        self._halted = halted
        for name in list(self._open):
            self._settle(self._open.pop(name), "under way")
        if unknown := self._unknown or self._members.gap:
            raise NotCheckable(unknown)
        return f"{self._payloads} payloads, each an entry as it is written"

    def ends(self) -> Iterator[tuple[str, Callable[[object], None], Callable[[], str]]]:
        """The steps over whole debates: name, what raises once one has failed, and the result."""
        for name in ("moves", "charges", "money", "outcome"):
            yield name, partial(self._stand, name), partial(self._end, name)

    def _stand(self, name: str, _: object) -> None:
        if name in self._broken:
            raise self._broken[name]

    def _check_form(self, entry: Entry, payload: bytes, envelope: Envelope, index: int) -> None:
        """Check that a payload is an entry as it is written, or as a later build may have written it."""
        if isinstance(entry, GateDecided) and envelope.n == 1:
            self._members.decided(envelope.debate, entry)
        if KINDS.exact(entry, payload, envelope.schema):
            return
        if not has_unknown_members(entry, payload, envelope.schema):
            raise Differs(*_DIFFERS, "something else", record=index)
        self._members.found(envelope.debate, envelope.n, index)

    def _judge(self, decided: GateDecided, index: int) -> None:
        """Note what the decision seals and this build lacks; raises `Differs` for a version that no build has had."""
        try:
            refuse_unwritten(decided, self._reports)
        except Differs as difference:
            difference.file, difference.record = None, index
            raise
        self._unknown = self._unknown or unknown_versions(decided, self._reports)

    def _add(self, envelope: Envelope, line: ExportedLine, entry: Entry | None, unknown: str) -> None:
        if envelope.debate not in self._open and envelope.debate in self._partial:
            if (first := self._firsts.get(envelope.debate)) is not None:
                with at(record=line.row.index):
                    same(first, envelope)
            return
        if envelope.n == 0:
            self._open[envelope.debate] = _Open(envelope, line.hash.hex(), line.row.context)
        found = self._open.get(envelope.debate)
        n, since = (len(found.indexes), found.since) if found else (0, 0)
        if found is None or n != envelope.n:  # a filter left out the earlier records, or a later build wrote them
            if self._complete and not self._unread.fill(envelope.n - n, since, envelope.prev):
                raise Differs("after the end of a debate", "no record of it", envelope.kind, record=line.row.index)
            self._cut(found, envelope, line.row.index)
            return
        with at(record=line.row.index):
            same(found.first, envelope)
            if entry is not None and not found.gap and not unknown:
                acted(found.first, envelope, entry, found.entries[-1] if found.entries else None)
        found.indexes.append(line.row.index)
        found.since = self._unread.count
        found.gap = found.gap or unknown
        if entry is not None and not found.gap:
            found.entries.append(entry)
        declined = isinstance(entry, GateDecided) and not entry.decision.debate
        if declined or isinstance(entry, DebateConcluded):
            self._settle(self._open.pop(envelope.debate), "declined" if declined else "concluded")

    def _cut(self, found: _Open | None, envelope: Envelope, index: int) -> None:
        """A debate lacks the records before this one: those in front of the gap are recomputed as far as they go.

        Its envelopes are still compared with the first, in a complete export, where leaves of a later build bound how
        many debates are cut.
        """
        self._partial.add(envelope.debate)
        if self._complete:
            self._firsts[envelope.debate] = found.first if found else envelope
        if found is not None:
            del self._open[envelope.debate]
            self._recompute(found, "under way")
            with at(record=index):
                same(found.first, envelope)

    def _settle(self, found: _Open, how: str) -> None:
        """Count a debate, and recompute it."""
        self._counts[how] += 1
        self._recompute(found, how)
        self._members.ended(found.first.debate)

    def _recompute(self, found: _Open, how: str) -> None:
        """Recompute a debate for every step that has not failed."""
        debate = LegalDebate(found.entries, found.gap)
        checks: dict[str, Callable[[], object]] = {
            "moves": lambda: _moves(debate, found, self._members.why(found.first.debate)),
            "charges": lambda: money.check_charges(debate, self._ready),
            "money": lambda: money.check_ceiling(debate, None, records_only=self._records_only),
            "outcome": lambda: None if how == "under way" else replay.check_outcome(debate),
        }
        if how == "under way" and len(found.entries) < 3:
            checks = {"moves": checks["moves"]}
        for name, check in checks.items():
            if name not in self._broken:
                self._check(name, check, found)

    def _check(self, name: str, check: Callable[[], object], found: _Open) -> None:
        try:
            check()
        except NotCheckable as gap:
            if (
                name not in self._gaps or self._gaps[name].allowed
            ):  # the first, and one that is not accepted before others
                self._gaps[name] = gap
        except Differs as difference:
            n = difference.record
            difference.record = found.indexes[n] if n is not None and n < len(found.indexes) else found.indexes[0]
            difference.file = None
            self._broken[name] = difference
        except Exception as fault:  # noqa: BLE001 - kept, and raised again when the step is reported
            self._broken[name] = fault

    def _end(self, name: str) -> str:
        if name in self._broken:
            raise self._broken[name]
        if self._halted:
            raise NotCheckable("a payload could not be read, so not every debate could")
        if self._unread.why:
            raise NotCheckable(self._unread.why)
        if name in self._gaps:
            raise self._gaps[name]
        listed = ", ".join(f"{count} {how}" for how, count in self._counts.items() if count) or "none"
        partly = f"; {len(self._partial)} are not there from their beginning" if self._partial else ""
        return f"debates recomputed: {listed}{partly}"


def _moves(debate: LegalDebate, found: _Open, later: str) -> None:
    replay.check_moves(debate)
    replay.expect_seed(debate, found.seed)
    if found.context is not None:
        described(debate.case, found.context.encode(), later, record=0)
