"""The steps over a pack: every decision of a period, and that none is missing.

1  file       the files are those of the summary, each stored, with its hash
2  logs       each log's records of the period verify and have no gap, under a checkpoint that a pinned key signed
3  decisions  the debates that end in these records are the bundles, no more and no fewer
4  bundles    each bundle verifies, every step of it
5  table      rows and counts follow from the bundles

Files are read one after the other, so memory is that of the largest bundle.
"""

from __future__ import annotations

import csv
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from io import StringIO, TextIOWrapper
from itertools import pairwise
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from service.audit.bundle import unpack
from service.audit.export import decode_header, decode_row
from service.audit.log_events import LogOpened
from service.audit.pack import (
    MODE,
    README,
    SUMMARY,
    SUMMARY_BYTES_MAX,
    TABLE,
    WORDS,
    BadPack,
    PackedDecision,
    PackedLog,
    Summary,
    decode_summary,
    encode_columns,
    encode_row,
    readme,
)
from service.audit.proof import parse_proof
from service.audit.record import Envelope, leaf_hash, open_leaf
from service.debate.entries import CaseReceived, DebateConcluded, Entry, GateDecided
from service.verify.bundle import verify_bundle
from service.verify.earlier_logs import following
from service.verify.export import verify_export
from service.verify.log import read_head
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import (
    FAILED,
    Differs,
    NotCheckable,
    Tools,
    Trust,
    VerificationReport,
    VerificationStep,
    at,
    expect,
    perform,
    perform_all,
)

PIECE = 1 << 20
OPENED = str(LogOpened.__struct_config__.tag)
LINE_MAX = 1 << 26
IN_BUNDLES = frozenset({"sources", "money"})
"""The steps of an export that the bundles make up for."""
LISTED_BYTES_MAX = 1 << 27
"""The most bytes of a list of files: that of a million decisions."""
_LOCAL = struct.Struct("<4s5H3L2H")
"""The header in front of a file: mark, version, flags, method, time, date, CRC, two sizes, two lengths."""
_SIZES = struct.Struct("<2H2Q")
"""The extra field of a file that was written in pieces: its sizes."""
_FIRST_DAY = 0x21
_LARGE = 76
"""The bytes of the records that a ZIP of very many files, or a very large one, has in front of its end."""
_END = struct.Struct("<4s8xL4xH")
"""The end of a ZIP: its mark, the size of the list of files, the length of the comment."""
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


csv.field_size_limit(1 << 30)
"""A question may be longer than the csv module allows by itself."""
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
        pack = _Files(stream)
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
    return VerificationReport(
        "pack", {**about, "decisions": summary.counts.decisions}, steps, left, (f"{TABLE}, column answer",)
    )


def _again(fault: Exception) -> str:
    raise fault


class _Files:
    """The files of a pack."""

    def __init__(self, stream: IO[bytes]) -> None:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _END.size))
        mark, listed_bytes, comment = _END.unpack(stream.read(_END.size).rjust(_END.size, b"\0"))
        if mark != b"PK\5\6" or comment or listed_bytes > LISTED_BYTES_MAX:
            raise BadPack(f"expected the end of a ZIP without a comment, and at most {LISTED_BYTES_MAX} bytes of names")
        self.zip = zipfile.ZipFile(stream)
        listed = self.zip.infolist()
        self.infos = {info.filename: info for info in listed}
        if len(self.infos) < len(listed):
            raise BadPack("expected each file once, found a name twice")
        if any(info.compress_type != zipfile.ZIP_STORED for info in listed):
            raise BadPack("expected files that are stored and not compressed, found another")
        _expect_one_reading(stream, listed, size - _END.size - listed_bytes)
        if SUMMARY not in self.infos or self.infos[SUMMARY].file_size > SUMMARY_BYTES_MAX:
            raise BadPack(f"expected {SUMMARY} of at most {SUMMARY_BYTES_MAX} bytes, found none")
        self.summary: Summary = decode_summary(self.zip.read(SUMMARY))

    def check(self) -> str:
        """Compare the files with the summary; raises `Differs`."""
        summary, found = self.summary, self.infos.keys() - {SUMMARY}
        if missing := sorted(summary.files.keys() - found):
            raise Differs("a file of the summary is missing", missing[0], "nothing", file=missing[0])
        if extra := sorted(found - summary.files.keys()):
            raise Differs("a file that the summary does not name", "nothing", extra[0], file=extra[0])
        expected = {README, TABLE, *(log.file for log in summary.logs)}
        if wrong := sorted(path for path in found - expected if not path.startswith("bundles/")):
            raise Differs("a file that no pack has", "nothing", wrong[0], file=wrong[0])
        for path, digest in summary.files.items():
            hashed = sha256()
            with self.zip.open(path) as file:
                while piece := file.read(PIECE):
                    hashed.update(piece)
            expect("the SHA-256 of a file", digest, hashed.hexdigest(), file=path)
        with self.zip.open(README) as file:
            expect("the words", readme(summary.tenant, summary.since, summary.until), file.read(PIECE), file=README)
        return f"{len(found)} files of {summary.tenant}, from {summary.since} to before {summary.until}"


def _expect_one_reading(stream: IO[bytes], listed: Sequence[zipfile.ZipInfo], end: int) -> None:
    """Raise `BadPack` unless the files lie one behind the other from the first byte, each header as the list has it."""
    at = 0
    for info in listed:
        stream.seek(at)
        header = stream.read(_LOCAL.size)
        if info.header_offset != at or len(header) < _LOCAL.size:
            raise BadPack(f"expected {info.filename!r} right behind the file before it, found it elsewhere")
        mark, _, flags, method, time, date, crc, packed, size, name, extra = _LOCAL.unpack(header)
        path, large = stream.read(name), stream.read(extra)
        if large == _SIZES.pack(1, 16, info.file_size, info.file_size):
            packed, size = info.file_size, info.file_size
        elif large:
            raise BadPack(f"expected {info.filename!r} without an extra field, found one")
        plain = (mark, flags, method, time, date) == (b"PK\3\4", 0, 0, 0, _FIRST_DAY)
        same = (path, crc, packed, size) == (info.orig_filename.encode(), info.CRC, info.file_size, info.file_size)
        if not (plain and same) or info.comment or info.external_attr != MODE:
            raise BadPack(f"expected a plain stored file of 1980 without a comment, found another: {info.filename!r}")
        at += _LOCAL.size + name + extra + info.file_size
    if end - at not in (0, _LARGE):
        raise BadPack("expected the list of files right behind the files, found other bytes between")


class _Parts:
    """The steps that read logs, bundles and table, and what one learns for the next."""

    def __init__(self, pack: _Files, trust: Trust, tools: Tools, row: Row) -> None:
        self._pack, self._trust, self._tools, self._row = pack, trust, tools, row
        self._ended: dict[str, tuple[str, int, bytes]] = {}
        self._begun: set[str] = set()
        self._table: _Table | None = None

    # Logs.

    def logs(self) -> str:
        """Verify each log's records; raises `Differs`, or `NotCheckable` for a gap that the options do not accept."""
        said, gaps, allowed = [], [], list[str]()
        self._expect_one_row_of_logs()
        for log in self._pack.summary.logs:
            with at(file=log.file):
                report = self._log(log)
                _fail(report)
                gaps += [f"{log.log}: {gap.name}: {gap.detail}" for gap in report.gaps]
                allowed += [step.detail for step in report.steps if step.allowed and step.name not in IN_BUNDLES]
            said.append(f"{log.below - log.first} records of {log.log} from {log.first} to before {log.below}")
        if not said:
            raise Differs("the logs of a pack", "one or more", "none", file=SUMMARY)
        if gaps or allowed:  # what the options accept stands in the last line, as for a bundle
            raise NotCheckable(gaps[0] if gaps else f"{allowed[0]}; {'; '.join(said)}", allowed=not gaps)
        return "; ".join(said)

    def _expect_one_row_of_logs(self) -> None:
        """Check that each log is listed once, in the order of rotation without a gap; raises `Differs`."""
        names = [log.log for log in self._pack.summary.logs]
        for before, name in pairwise(names):
            expect("the log that follows", following(before), name, file=SUMMARY)

    def _log(self, log: PackedLog) -> VerificationReport:
        with self._pack.zip.open(log.file) as file:
            header = decode_header(file.readline(LINE_MAX))
            head = read_head(header.checkpoint.encode())[1]
            summary = self._pack.summary
            expect("the log", log.log, header.log)
            expect("the tenant of the log", summary.tenant, (*log.log.split("/"), "")[1])
            expect("the size of the log", (log.size, log.root), (head.size, head.root.hex()))
            expect("the period", {"since": summary.since, "until": summary.until}, header.filters)
        with self._pack.zip.open(log.file) as file:
            trust = replace(self._trust, records_only=True)
            return verify_export(self._read(log, file), trust, reports=self._tools.reports, ready=self._tools.ready)

    def _read(self, log: PackedLog, file: IO[bytes]) -> Iterator[bytes]:
        """The lines of an export, every index of its range among them."""
        following = log.first
        while line := file.readline(LINE_MAX):
            if line.startswith(b'{"index":'):
                row = decode_row(line)
                expect("the index of the next record", following, row.index)
                following += 1
                envelope = open_leaf(row.leaf.encode())
                if begins(envelope):
                    self._begun.add(envelope.debate)
                if ends(envelope, row.payload):
                    if envelope.debate in self._ended:
                        raise Differs("the end of a debate", "one", "two", record=row.index)
                    self._ended[envelope.debate] = log.log, row.index, leaf_hash(row.leaf.encode())
                if envelope.kind == OPENED and row.payload is not None:
                    self._opened(log, row.index, row.payload)
            yield line
        expect("the end of the range", log.below, following)

    def _opened(self, log: PackedLog, index: int, payload: str) -> None:
        """Check that the log before one that opens in this period is listed, up to its end; raises `Differs`."""
        previous = _openings.decode(payload).previous
        expect("the place of a log's opening", 0, index)
        if previous is None:
            return
        head = read_head(previous.encode())[1]
        before = {one.log: one for one in self._pack.summary.logs}.get(head.origin)
        if before is None:
            raise Differs("the log before one that was opened in the period", head.origin, "nothing", file=SUMMARY)
        expect(f"the end of {head.origin}, as the next log has it", head.size, before.below, file=SUMMARY)

    # Decisions and bundles.

    def decisions(self) -> str:
        """Compare the debates that end in the records with the bundles; raises `Differs`."""
        found = {path for path in self._pack.infos if path.startswith("bundles/")}
        wanted = {f"bundles/{debate}.zip" for debate in self._ended}
        if missing := sorted(wanted - found):
            raise Differs("the bundle of a decision of the period", missing[0], "nothing", file=missing[0])
        if extra := sorted(found - wanted):
            raise Differs("a bundle of a decision that is not of the period", "nothing", extra[0], file=extra[0])
        counts = self._pack.summary.counts
        expect("the number of decisions", len(wanted), counts.decisions, file=SUMMARY)
        expect("the cases that only began", len(self._begun - self._ended.keys()), counts.begun_only, file=SUMMARY)
        return f"each of the {len(wanted)} decisions that end in these records has its bundle"

    def bundles(self) -> str:
        """Verify each bundle, and compare its row; raises `Differs`, or `NotCheckable` for gaps."""
        gaps, allowed = list[str](), list[str]()
        with self._pack.zip.open(TABLE) as file, TextIOWrapper(file, "utf-8", newline="") as text:
            table = _Table(text)
            for debate, (log, index, leaf) in self._ended.items():
                path = f"bundles/{debate}.zip"
                with at(file=path):
                    opened, report = self._bundle(path)
                    _fail(report)
                    gaps += [f"{debate}: {gap.name}: {gap.detail}" for gap in report.gaps]
                    allowed += [step.detail for step in report.steps if step.allowed]
                    packed = described(opened, path, self._pack.summary.files[path])
                    expect("the debate of the bundle", debate, packed.first.debate)
                    expect("the log of the bundle", log, packed.last.log)
                    expect("the index of the last record", index, packed.index)
                    expect("the hash of the last leaf", leaf.hex(), leaf_hash(opened.records[-1].leaf).hex())
                table.compare(self._row(opened.debate.entries, packed))
            table.end()
        self._table = table
        if gaps:
            raise NotCheckable(f"{gaps[0]}{f' and {len(gaps) - 1} more gaps' if len(gaps) > 1 else ''}")
        if allowed:  # what the options accept stands in the last line, as for a bundle
            short = ", ".join(sorted({detail.partition(":")[0] for detail in allowed}))
            raise NotCheckable(f"{short}: accepted in {table.count} bundles, else verified in every step", allowed=True)
        return f"{table.count} bundles, each verified in every step"

    def _bundle(self, path: str) -> tuple[OpenedBundle, VerificationReport]:
        content = self._pack.zip.read(path)
        report = verify_bundle(content, self._trust, self._tools)
        return OpenedBundle(unpack(content)), report

    # The table.

    def table(self) -> str:
        """What the comparison of rows came to, and the counts; raises `Differs`."""
        if self._table is None:
            raise NotCheckable("a bundle could not be read, so its row cannot be made")
        if self._table.broken is not None:
            raise self._table.broken
        expect("the counts", dict(self._table.statuses), self._pack.summary.counts.by_status, file=SUMMARY)
        return f"{self._table.count} rows, and counts by status, as the bundles give them"


class _Table:
    """The rows of the table, compared one at a time; the first difference is kept."""

    def __init__(self, text: Iterable[str]) -> None:
        self._found = csv.reader(text, strict=True)
        self._columns = next(csv.reader(StringIO(encode_columns().decode(), newline="")))
        self.broken: Differs | None = None
        self.statuses = Counter[str]()
        self.count = 0
        self._expect("the columns", self._columns, self._next())

    def compare(self, row: Mapping[str, str]) -> None:
        """Compare the next row with the one that follows from a bundle, but for sentences."""
        self.count += 1
        self.statuses[row["status"]] += 1
        cells = next(csv.reader(StringIO(encode_row(row).decode(), newline="")))
        found = self._next()
        self._expect(f"the cells of debate {row['debate']}", len(cells), len(found))
        for name, one, other in zip(self._columns, cells, found, strict=False):
            if name not in WORDS:
                self._expect(f"{name} of debate {row['debate']}", one, other)

    def end(self) -> None:
        """Compare the end."""
        self._expect("the row after the last", [], self._next())

    def _next(self) -> list[str]:
        try:
            return next(self._found, [])
        except (csv.Error, UnicodeDecodeError):
            return ["a line that is no CSV"]

    def _expect(self, what: str, expected: object, found: object) -> None:
        if self.broken is None:
            try:
                expect(what, expected, found, file=TABLE)
            except Differs as difference:
                self.broken = difference


def described(opened: OpenedBundle, path: str, sha256: str) -> PackedDecision:
    """A bundle as its row needs it; raises `NotCheckable` for parts that cannot be read."""
    last = opened.envelopes[-1]
    index = parse_proof(opened.file(f"proofs/{last.n:04d}.tlog-proof")).index
    return PackedDecision(opened.first, last, index, path, sha256)


def _fail(report: VerificationReport) -> None:
    """Raise the first failure of a part of the pack."""
    if report.code == FAILED:
        first: VerificationStep = report.failed[0]
        where = f" [{first.file}]" if first.file else ""
        raise Differs(f"{first.name}{where}: {first.detail}", record=first.record)
