"""The steps over a pack: every decision of a period, and that none is missing.

1  file       the archive has one reading; the files are those of the summary, in their order, each with its hash
2  logs       the records of each log verify and have no gap, from a head before the period to one after it
3  decisions  the debates that end in these records in the period are the bundles, no more and no fewer
4  bundles    each bundle verifies, every step of it
5  table      rows and counts follow from the bundles

Files are read one after the other, so memory is that of names and counts, and of what a step holds of one bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service.audit.bundle import unpack
from service.audit.checkpoint import Checkpoint
from service.audit.earlier_head import open_earlier_head
from service.audit.export import decode_header, decode_row
from service.audit.log_events import LogOpened
from service.audit.note import Note
from service.audit.pack import (
    SUMMARY,
    TABLE,
    PackedDecision,
    PackedLog,
    before_file,
    bundle_file,
    log_file,
)
from service.audit.proof import parse_proof
from service.audit.record import Envelope, leaf_hash, open_leaf
from service.audit.tree import Frontier
from service.debate.entries import CaseReceived, DebateConcluded, Entry, GateDecided
from service.errors import GainsayError
from service.verify.bundle import verify_bundle
from service.verify.earlier_logs import FIRST_EPOCH, epoch_of, following
from service.verify.export import verify_export
from service.verify.lines import check_lines
from service.verify.log import HEAD_MAX, PROOF_MAX, check_signature, countersigned, read_head
from service.verify.opened_bundle import OpenedBundle, later_schema, read_leaf
from service.verify.pack_files import BUNDLES, PackFiles
from service.verify.pack_table import DecisionTable, more
from service.verify.steps import (
    Differs,
    NotCheckable,
    Tools,
    Trust,
    VerificationReport,
    at,
    expect,
    fail,
    heading,
    perform,
    perform_all,
    when,
)

OPENED = str(LogOpened.__struct_config__.tag)
LINE_MAX = 1 << 26
IN_BUNDLES = frozenset({"sources", "money"})
"""The steps of an export that the bundles make up for."""
SECOND = 1_000_000
Row = Callable[[Sequence[Entry], PackedDecision], Mapping[str, str]]
"""Makes the cells of a decision from the entries of its bundle."""


class _Opened(Struct):
    """What of a log's opening says which log was before it."""

    previous: str | None


class _Declines(Struct):
    """What of a gate's decision says that the case ends with it."""

    class Decision(Struct):
        debate: bool

    decision: Decision


_openings = msgspec.json.Decoder(_Opened)
_decisions = msgspec.json.Decoder(_Declines)


def begins(envelope: Envelope) -> bool:
    """Whether a record is the first of a case."""
    return envelope.n == 0 and envelope.kind == str(CaseReceived.__struct_config__.tag)


def ends(envelope: Envelope, payload: str | None) -> bool:
    """Whether a record is the last of its debate; raises `ValueError` for a gate's decision that cannot be read."""
    if envelope.kind == str(DebateConcluded.__struct_config__.tag):
        return True
    if envelope.kind != str(GateDecided.__struct_config__.tag) or payload is None:
        return False
    return not _decisions.decode(payload).decision.debate


def verify_pack(stream: IO[bytes], trust: Trust, tools: Tools, row: Row, *, every: bool = False) -> VerificationReport:
    """Verify a pack; raises only errors of the stream. ``row`` writes the cells of a decision."""
    try:
        pack = PackFiles(stream)
    except Exception as fault:  # noqa: BLE001 - a malformed ZIP may raise any error
        return VerificationReport("unknown", {}, (perform(1, "file", partial(_again, fault)),))
    parts = _Parts(pack, trust, tools, row)
    steps, left = perform_all(
        [
            ("file", pack.check),
            ("logs", parts.logs),
            ("decisions", parts.decisions),
            ("bundles", parts.bundles),
            ("table", parts.table),
        ],
        every=every,
    )
    summary = pack.summary
    about = {"tenant": summary.tenant, "since": summary.since, "until": summary.until}
    return VerificationReport("pack", {**about, "decisions": summary.counts.decisions}, steps, left)


def _again(fault: Exception) -> str:
    raise fault


class _Gaps:
    """What could not be checked, and what of that the options accept."""

    def __init__(self) -> None:
        self.open, self.allowed = list[str](), list[str]()

    def add(self, gap: NotCheckable) -> str:
        """Take note of a gap; returns its reason."""
        (self.allowed if gap.allowed else self.open).append(gap.reason)
        return gap.reason

    def accepted(self) -> str:
        """The gaps that the options accept, each once, with the names of all in front."""
        reasons = dict[str, str]()
        for gap in self.allowed:
            name = heading(gap)
            reasons.setdefault(name, gap[len(name) + 1 :])
        return f"{', '.join(reasons)}:{';'.join(reasons.values())}"

    def take(self, check: Callable[[], object]) -> None:
        """Make a check, and take note of its gap; raises `Differs`."""
        try:
            check()
        except NotCheckable as gap:
            self.add(gap)


class _Parts:
    """The steps that read logs, bundles and table, and what one learns for the next."""

    def __init__(self, pack: PackFiles, trust: Trust, tools: Tools, row: Row) -> None:
        self._pack, self._trust, self._tools, self._row = pack, trust, tools, row
        self._period = pack.summary.period
        self._ended: dict[str, tuple[str, int, bytes]] = {}
        self._begun: set[str] = set()
        self._unknown: dict[str, str] = {}
        """Why the records of a log cannot all be read, by log: they are of a later build."""
        self._roots: dict[str, tuple[int, bytes]] = {}
        """By log whose every leaf is there: the size that the next log carries, and the root of so many leaves."""
        self._table: DecisionTable | None = None

    # Logs.

    def logs(self) -> str:
        """Verify each log's records; raises `Differs`, or `NotCheckable` for a gap that the options do not accept."""
        said, gaps = list[str](), _Gaps()
        self._expect_every_log()
        for number, log in enumerate(self._pack.summary.logs, 1):
            with at(file=log_file(number)):
                report = self._log(number, log)
                fail(report)
                gaps.open += [f"{log.log}: {gap.name}: {gap.detail}" for gap in report.gaps]
                gaps.allowed += [step.detail for step in report.steps if step.allowed and step.name not in IN_BUNDLES]
                if log.log in self._unknown:
                    gaps.open.append(self._unknown[log.log])
                edges = self._edges(number, log, gaps)
            said.append(f"{log.size - log.first} records of {log.log} from {log.first} to before {log.size}, {edges}")
        if gaps.open or gaps.allowed:  # what the options accept stands in the last line, as for a bundle
            reason = gaps.open[0] if gaps.open else f"{gaps.accepted()}; {'; '.join(said)}"
            raise NotCheckable(reason, allowed=not gaps.open)
        return "; ".join(said)

    def _expect_every_log(self) -> None:
        """Check that each log from the tenant's first on is listed once, in their order; raises `Differs`."""
        names = [log.log for log in self._pack.summary.logs]
        if not names:
            raise Differs("the logs of a pack", "one or more", "none", file=SUMMARY)
        expect("the epoch of the first log", FIRST_EPOCH, epoch_of(names[0]), file=SUMMARY)
        for before, name in pairwise(names):
            expect("the log that follows", following(before), name, file=SUMMARY)

    def _log(self, number: int, log: PackedLog) -> VerificationReport:
        summary, head = self._pack.summary, self._head(number)[1]
        header = decode_header(self._pack.open(log_file(number)).readline(LINE_MAX))
        expect("the log", log.log, header.log)
        expect("the tenant of the log", summary.tenant, (*log.log.split("/"), "")[1])
        expect("the size of the log", (log.size, log.root), (head.size, head.root.hex()))
        expect("the filters", {"since": summary.since}, header.filters)
        trust, lines = replace(self._trust, records_only=True), self._read(number, log)
        return verify_export(lines, trust, reports=self._tools.reports, ready=self._tools.ready)

    def _head(self, number: int) -> tuple[Note, Checkpoint]:
        header = decode_header(self._pack.open(log_file(number)).readline(LINE_MAX))
        return read_head(header.checkpoint.encode())

    def _read(self, number: int, log: PackedLog) -> Iterator[bytes]:
        """The lines of an export, every index from the first to the last of the log among them."""
        index, file = log.first, self._pack.open(log_file(number))
        tree, carried = Frontier(), self._carried(number + 1) if not log.first else None
        while line := file.readline(LINE_MAX):
            if line.startswith(b'{"index":'):
                row = decode_row(line)
                expect("the index of the next record", index, row.index)
                index += 1
                self._note(log, row.index, row.leaf.encode(), row.payload)
                if carried is not None and tree.size < carried:
                    tree.add(leaf_hash(row.leaf.encode()))
            yield line
        expect("the end of the log", log.size, index)
        self._roots[log.log] = tree.size, tree.root()

    def _carried(self, number: int) -> int | None:
        """The size of the log before the nth as its opening has it; ``None`` where that is not there, or unreadable.

        What is read here only says how far to hash: the opening itself is compared when its log is read.
        """
        if number > len(self._pack.summary.logs) or log_file(number) not in self._pack.members:
            return None
        with self._pack.open(log_file(number)) as file:
            file.readline(LINE_MAX)
            try:
                previous = _openings.decode(decode_row(file.readline(LINE_MAX)).payload or "").previous
                return read_head((previous or "").encode())[1].size
            except (GainsayError, Differs, ValueError):
                return None

    def _note(self, log: PackedLog, index: int, leaf: bytes, payload: str | None) -> None:
        """Take note of what begins and ends in the period, and of the log's opening; raises `Differs`."""
        envelope, unknown = read_leaf(leaf)
        if envelope is None and unknown:
            self._unknown.setdefault(log.log, f"record {index} of {log.log}: {unknown}")
            return
        envelope = envelope or open_leaf(leaf)  # which says what is wrong with a leaf of no version
        of_period = self._period.has(envelope.recorded)
        if begins(envelope) and of_period:
            self._begun.add(envelope.debate)
        try:
            ended = of_period and ends(envelope, payload)
        except ValueError:
            if not (unknown := later_schema(envelope)):
                raise
            self._unknown.setdefault(log.log, f"record {index} of {log.log}: {unknown}")
            return
        if ended:
            if envelope.debate in self._ended:
                raise Differs("the end of a debate", "one", "two", record=index)
            self._ended[envelope.debate] = log.log, index, leaf_hash(leaf)
        if envelope.kind == OPENED and payload is not None:
            self._opened(index, payload)

    def _opened(self, index: int, payload: str) -> None:
        """Check that the log before one that opens here reaches to where it was then; raises `Differs`."""
        previous = _openings.decode(payload).previous
        expect("the place of a log's opening", 0, index)
        if previous is None:
            return
        head = read_head(previous.encode())[1]
        before = {one.log: one for one in self._pack.summary.logs}[head.origin]  # there is each from the first log on
        said = f"of {head.origin}, as the next log has it"
        if before.size < head.size:
            raise Differs(f"the size {said}", f"{head.size} or more", str(before.size), file=SUMMARY)
        if not before.first:
            expect(f"the size and root {said}", (head.size, head.root.hex()), self._root(head.origin))
        elif before.size == head.size:
            expect(f"the root {said}", head.root.hex(), before.root, file=SUMMARY)

    def _root(self, log: str) -> tuple[int, str]:
        size, root = self._roots.get(log, (0, b""))
        return size, root.hex()

    def _edges(self, number: int, log: PackedLog, gaps: _Gaps) -> str:
        """Check that the records reach from before the period to after it, by heads that witnesses countersigned.

        Raises `Differs`; where signed times are not there, that is one of the ``gaps``.
        """
        before = self._before(number, log, gaps)
        if not self._trust.witnesses:
            reason = f"UNWITNESSED: that {log.log} has all of the period is the word of the file's maker"
            return gaps.add(NotCheckable(reason, allowed=self._trust.allow_unwitnessed))
        after = self._signed(*self._head(number))
        from_ = "from its first record" if not log.first else f"from its head of {when(before)}" if before else ""
        if not from_ or (before is not None and before * SECOND > self._period.since):
            return gaps.add(self._loose(log, f"before {self._pack.summary.since}"))
        if log is self._pack.summary.logs[-1] and (after is None or after * SECOND < self._period.until):
            return gaps.add(self._loose(log, f"after {self._pack.summary.until}"))
        return f"{from_} to that of {when(after)}" if after is not None else from_

    def _loose(self, log: PackedLog, what: str) -> NotCheckable:
        return NotCheckable(
            f"LOOSELY DATED: no head of {log.log} that the quorum countersigned {what} is there, so records of the "
            "period may be missing",
            allowed=self._trust.allow_loose_times,
        )

    def _before(self, number: int, log: PackedLog, gaps: _Gaps) -> int | None:
        """When the quorum had countersigned the head before the period, which the records follow; raises `Differs`.

        What its lines lack is one of the ``gaps``, and hides no other check.
        """
        path = before_file(number)
        if path not in self._pack.members:
            return None
        with at(file=path):
            if (size := self._pack.members[path].size) > HEAD_MAX + PROOF_MAX:
                raise Differs("the bytes of a head", f"at most {HEAD_MAX + PROOF_MAX}", str(size))
            note, head = open_earlier_head(self._pack.open(path).read(), self._head(number)[1])
            expect("the size of the head before the records", log.first, head.size)
            if self._trust.keys:
                gaps.take(lambda: check_signature(note, head, self._trust))
            gaps.take(lambda: check_lines([(path, head.origin, note, None)], self._trust))
            times = sorted(countersigned(note, head, self._trust).values())
        return times[self._trust.quorum - 1] if len(times) >= self._trust.quorum else None

    def _signed(self, note: Note, head: Checkpoint) -> int | None:
        """The time that the quorum had not yet passed when it countersigned a head."""
        times = sorted(countersigned(note, head, self._trust).values())
        return times[-self._trust.quorum] if len(times) >= self._trust.quorum else None

    # Decisions and bundles.

    def decisions(self) -> str:
        """Compare the debates that end in the records with the bundles; raises `Differs`."""
        summary = self._pack.summary
        if summary.damaged:
            named = ", ".join(sorted(summary.damaged)[:3])
            what = (
                f"decisions that have no bundle, as the file says, because what is stored of them is damaged: {named}"
            )
            raise Differs(what, "none", str(len(summary.damaged)), file=SUMMARY)
        found = [path for path in self._pack.members if path.startswith(BUNDLES)]
        wanted = [bundle_file(debate) for debate in self._ended]
        if missing := sorted(set(wanted) - set(found)):
            raise Differs("the bundle of a decision of the period", missing[0], "nothing", file=missing[0])
        if not self._unknown and (extra := sorted(set(found) - set(wanted))):
            raise Differs("a bundle of a decision that is not of the period", "nothing", extra[0], file=extra[0])
        ordered = [path for path in found if path in set(wanted)]
        expect("the bundles in the order in which their debates ended", wanted, ordered)
        expect("the number of decisions", len(found), summary.counts.decisions, file=SUMMARY)
        self._expect_known()
        expect(
            "the cases that only began", len(self._begun - self._ended.keys()), summary.counts.begun_only, file=SUMMARY
        )
        return f"each of the {len(wanted)} decisions of the period in these records has its bundle"

    def _expect_known(self) -> None:
        """Raise `NotCheckable` where a record is of a later build: which decisions the period has is not known."""
        for unknown in self._unknown.values():
            raise NotCheckable(f"which debates end in the records is not known: {unknown}")

    def bundles(self) -> str:
        """Verify each bundle, and compare its row; raises `Differs`, or `NotCheckable` for gaps."""
        gaps, allowed = list[str](), list[str]()
        if self._unknown:
            self._only_verified()
        with self._pack.open(TABLE) as file:
            table = DecisionTable(file)
            for debate, (log, index, leaf) in self._ended.items():
                path = bundle_file(debate)
                with at(file=path):
                    opened, report = self._bundle(path)
                    fail(report)
                    gaps += [f"{debate}: {gap.name}: {gap.detail}" for gap in report.gaps]
                    allowed += [step.detail for step in report.steps if step.allowed]
                    packed = described(opened, path, self._pack.summary.files[path])
                    expect("the debate of the bundle", debate, packed.first.debate)
                    expect("the log of the bundle", log, packed.last.log)
                    expect("the index of the last record", index, packed.index)
                    expect("the hash of the last leaf", leaf.hex(), leaf_hash(opened.records[-1].leaf).hex())
                if opened.debate.gap:
                    gaps.append(f"{debate}: its row cannot be made: {opened.debate.gap}")
                    table.skip(debate)
                else:
                    table.compare(self._row(opened.debate.entries, packed))
            table.end()
        self._table = table
        if gaps:
            raise NotCheckable(f"{gaps[0]}{f' and {len(gaps) - 1} more gaps' if len(gaps) > 1 else ''}")
        if allowed:  # what the options accept stands in the last line, as for a bundle
            short = ", ".join(sorted({heading(detail) for detail in allowed}))
            raise NotCheckable(f"{short}: accepted in {table.count} bundles, else verified in every step", allowed=True)
        return f"{table.count} bundles, each verified in every step"

    def _only_verified(self) -> None:
        """Verify the bundles without their rows, because not every decision is known; raises `Differs`."""
        for path in self._pack.members:
            if path.startswith(BUNDLES):
                with at(file=path):
                    fail(verify_bundle(self._pack.open(path), self._trust, self._tools))
        self._expect_known()

    def _bundle(self, path: str) -> tuple[OpenedBundle, VerificationReport]:
        report = verify_bundle(self._pack.open(path), self._trust, self._tools)
        return OpenedBundle(unpack(self._pack.open(path))), report

    # The table.

    def table(self) -> str:
        """What the comparison of rows came to, and the counts; raises `Differs`, and `NotCheckable` for sentences."""
        if self._table is None:
            raise NotCheckable("a bundle could not be read, so its row cannot be made")
        if self._table.broken is not None:
            raise self._table.broken
        if skipped := self._table.skipped:
            raise NotCheckable(
                f"the row of debate {skipped[0]}{more(skipped)} cannot be made by this build, and neither can the "
                "counts by status; use a build that has what the bundle needs"
            )
        expect("the counts", dict(self._table.statuses), self._pack.summary.counts.by_status, file=SUMMARY)
        self._table.refuse_doubtful()
        return f"{self._table.count} rows, and counts by status, as the bundles give them"


def described(opened: OpenedBundle, path: str, sha256: str) -> PackedDecision:
    """A bundle as its row needs it; raises `NotCheckable` for parts that cannot be read."""
    last = opened.envelopes[-1]
    index = parse_proof(opened.file(f"proofs/{last.n:04d}.tlog-proof")).index
    return PackedDecision(opened.first, last, index, path, sha256)
