"""The records of PDFs that were handed out, and the report that a person holds.

issued   each such record is of this debate, as it ended, in its log or a later one of the tenant, under a checkpoint
shown    the file given beside the bundle is the report: Markdown and HTML are written again, a PDF has the hash of an
         issued record

A record of an issued report comes after the debate's end, so nothing in the debate says how many there are. One that
is left out makes its PDF one that was never issued; none can be added without the key of a log.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from msgspec import Struct

from service.audit.bundle import PAGE, REPORT
from service.audit.checkpoint import Checkpoint
from service.audit.log_events import ReportIssued
from service.audit.note import Note
from service.audit.proof import parse_proof
from service.audit.record import Envelope, leaf_hash
from service.audit.report_forms import PAPERS
from service.debate.versions import version_of
from service.verify.earlier_logs import epoch_of, read_record, signers
from service.verify.files import HEAD_PARTS
from service.verify.log import (
    HEAD,
    HEAD_MAX,
    PROOF_MAX,
    countersigned,
    in_time,
    named_lines,
    proven,
    read_head,
    vouching,
)
from service.verify.opened_bundle import OpenedBundle
from service.verify.records import unknown_members
from service.verify.steps import Differs, NotCheckable, Tools, Trust, at, expect
from service.verify.versions import sealed

FOLDER = "issued/"
PDF = b"%PDF-"


class Issued(Struct, frozen=True):
    """The record of an issued report, and the head that covers it; ``file`` is its proof."""

    event: ReportIssued
    envelope: Envelope
    index: int
    file: str
    note: Note
    checkpoint: Checkpoint


def files(evidence: OpenedBundle) -> set[str]:
    """The files of so many issued records as there are leaves, numbered from 1."""
    return {f"{FOLDER}{nth:04d}.{part}" for nth in range(1, _count(evidence) + 1) for part in HEAD_PARTS}


def _count(evidence: OpenedBundle) -> int:
    return sum(path.startswith(FOLDER) and path.endswith(".leaf.json") for path in evidence.files)


def read_issued(evidence: OpenedBundle) -> Iterator[Issued]:
    """The issued records, each under the head in its proof, whose signatures are not verified yet; raises `Differs`."""
    for nth in range(1, _count(evidence) + 1):
        part = f"{FOLDER}{nth:04d}"
        with at(file=f"{part}.leaf.json"):
            yield _read(evidence, part)


def notes(evidence: OpenedBundle) -> Iterator[tuple[str, str, Note, None]]:
    """The notes of heads of later logs, as `service.verify.lines` reads them; raises `Differs`."""
    for nth in range(1, _count(evidence) + 1):
        file = f"{FOLDER}{nth:04d}.tlog-proof"
        with at(file=file):
            note, checkpoint = read_head(parse_proof(evidence.file(file, HEAD_MAX + PROOF_MAX)).checkpoint)
        if checkpoint.origin != evidence.first.log:
            yield file, checkpoint.origin, note, None


def check_issued(evidence: OpenedBundle, trust: Trust, *, own: bool = False) -> str:
    """Check each record of an issued report; raises `Differs`, or `NotCheckable` for a head without pinned signers.

    With ``own``, ``trust`` has the key of each log that there is, so a head that none of them signed is a difference.
    """
    found, gaps, before = list(read_issued(evidence)), list[NotCheckable](), (0, -1)
    for one in found:
        with at(file=one.file):
            place = epoch_of(one.envelope.log), one.index
            if place <= before:
                raise Differs("the places of issued records", "each after the one before it", f"record {one.index}")
            before = place
            try:
                _check_signatures(one, evidence, trust, own=own)
            except NotCheckable as gap:  # raised when the others are checked too: an accepted gap hides no forgery
                gaps.append(gap)
    keys = [(one.event.form, one.event.paper, one.event.template, one.event.sha256) for one in found]
    if len(set(keys)) < len(keys):
        raise Differs("the issued reports", "each once", "one twice")
    if gaps:
        reasons = dict.fromkeys(gap.reason for gap in gaps)
        raise NotCheckable("; ".join(reasons), allowed=all(gap.allowed for gap in gaps))
    if not found:
        return "no PDF of this debate is recorded as issued here"
    return f"{len(found)} PDF{'s' if len(found) != 1 else ''} recorded as issued, each under a checkpoint"


def check_shown(evidence: OpenedBundle, trust: Trust, tools: Tools, content: bytes) -> str:
    """Check the report that a person holds; raises `Differs`, or `NotCheckable` where it cannot be written again."""
    return _pdf(evidence, trust, content) if content.startswith(PDF) else _written_again(evidence, tools, content)


def _read(evidence: OpenedBundle, part: str) -> Issued:
    leaf, envelope, event = read_record(evidence, part, ReportIssued)
    _of_this_debate(evidence, event)
    file = f"{part}.tlog-proof"
    with at(file=file):
        proof = evidence.file(file, HEAD_MAX + PROOF_MAX)
        data = parse_proof(proof).checkpoint
        note, checkpoint = read_head(data)
        expect("the log of the checkpoint", envelope.log, checkpoint.origin)
        index = proven(proof, leaf, data, checkpoint)
        _in_its_log(evidence, envelope, index, data)
    return Issued(event, envelope, index, file, note, checkpoint)


def _of_this_debate(evidence: OpenedBundle, event: ReportIssued) -> None:
    """That a record names the debate, its last record, its configuration and the version of its report."""
    expect("the debate of an issued report", evidence.manifest.debate, event.debate)
    last = leaf_hash(evidence.leaf(evidence.manifest.records - 1)).hex()
    expect("the last record of the debate", last, event.last_record)
    started = evidence.debate.started
    expect("the configuration", started.configuration_hash if started else None, event.configuration)
    expect("the version of the report", version_of(evidence.debate.decided.versions, "report"), event.template)


def _in_its_log(evidence: OpenedBundle, envelope: Envelope, index: int, data: bytes) -> None:
    """That a record is in the debate's log behind its end, under the bundle's head, or in a later log of the tenant."""
    own = evidence.first.log
    if envelope.log == own:
        if data != evidence.file(HEAD, HEAD_MAX):
            raise Differs("the checkpoint of the proof", "that of the log, byte for byte", "another")
        last = parse_proof(evidence.file(f"proofs/{evidence.manifest.records - 1:04d}.tlog-proof")).index
        if index <= last:
            raise Differs("the place of an issued record", f"behind the debate's end, record {last}", str(index))
        return
    host, found = own.rpartition("/")[0], envelope.log.rpartition("/")[0]
    expect("the logs of the tenant", host, found)
    if epoch_of(envelope.log) <= epoch_of(own):
        raise Differs("the log of an issued record", f"{own} or a later one", envelope.log)


def _check_signatures(one: Issued, evidence: OpenedBundle, trust: Trust, *, own: bool) -> None:
    """Check a later log's head as the bundle's own is, whose signatures other steps have checked."""
    log = one.checkpoint.origin
    if log == evidence.first.log:
        return
    signed_by = signers(one.note, vouching(trust, log))
    if own and not signed_by:
        raise Differs(f"the key that signs {log}", "one of the tenant's logs", named_lines(one.note))
    if trust.keys and not signed_by:
        raise NotCheckable(
            f"issued reports are recorded in {log}, under a head that no pinned key signed; pin the key of its time"
        )
    in_time(one.note, one.checkpoint, signed_by, trust)
    if trust.witnesses and len(countersigned(one.note, one.checkpoint, trust)) < trust.quorum:
        raise NotCheckable(
            f"LOOSELY DATED: issued reports are recorded in {log}, under a head that too few pinned witnesses "
            "countersigned",
            allowed=trust.allow_loose_times,
        )


def _pdf(evidence: OpenedBundle, trust: Trust, content: bytes) -> str:
    digest = sha256(content).hexdigest()
    found = list(read_issued(evidence))
    for one in found:
        if one.event.sha256 == digest:
            return _known(one, trust)
    known = ", ".join(one.event.sha256 for one in found) or "none"
    what = (
        "no record in this bundle has the SHA-256 of this PDF. The PDF was never issued for this debate, was changed "
        "since, or was issued after this bundle was made (then get a new bundle)"
    )
    raise Differs(what, f"one of those recorded as issued ({known})", digest)


def _known(one: Issued, trust: Trust) -> str:
    """That a record has the hash of a PDF. Who forges a file writes such a record, so it needs a pinned key."""
    log = one.envelope.log
    record = f"record {one.index} of {log}, written {one.envelope.recorded}, has its SHA-256 {one.event.sha256}"
    if signers(one.note, vouching(trust, log)):
        return f"this PDF was issued: {record}"
    return f"this file records this PDF as issued ({record}); no pinned key vouches for that record"


def _written_again(evidence: OpenedBundle, tools: Tools, content: bytes) -> str:
    if not tools.reports:
        raise NotCheckable("this verifier renders no reports")
    version = sealed(evidence.debate.decided, "report", tools.reports)
    if evidence.debate.gap:
        raise NotCheckable(f"the report cannot be written again: {evidence.debate.gap}")
    write = tools.reports[version]
    if content.lstrip().startswith(b"<"):
        again = {f"{PAGE} for {paper}": write(evidence, "html", paper) for paper in PAPERS}
    else:
        again = {REPORT: write(evidence, "markdown", "a4")}
    if (why := unknown_members(evidence)) and content not in again.values():
        raise NotCheckable(f"the report may show what this build does not know: {why}")
    return _same(content, again, version)


def _same(content: bytes, again: dict[str, bytes], version: str) -> str:
    for name, rendered in again.items():
        if rendered == content:
            return f"this report equals {name}, written from the records in the words of {version}"
    name, rendered = next(iter(again.items()))
    pairs = enumerate(zip(rendered, content, strict=False))
    first = next((i for i, (one, other) in pairs if one != other), min(len(rendered), len(content)))
    found = f"{len(content)} bytes, another from byte {first} on"
    raise Differs("this report", f"{name} by {version}, {len(rendered)} bytes", found)
