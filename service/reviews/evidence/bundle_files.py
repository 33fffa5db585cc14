"""A debate's evidence as the files of a bundle. A part that is lost is not there, and a verifier names it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from service.audit.bundle import (
    PAGE,
    README,
    REPORT,
    Bundle,
    DocumentFile,
    Manifest,
    digests,
    encode_index,
    token_file,
)
from service.audit.bundle_texts import READMES, SCHEMAS
from service.audit.earlier_head import EarlierHead
from service.audit.proof import TlogProof
from service.audit.record import leaf_hash, open_leaf
from service.audit.report_forms import Form
from service.debate.versions import Part
from service.errors import GainsayError
from service.report.result.types import Line, LogPosition
from service.report.versions import REPORTS
from service.reviews.evidence.stored_parts import BundleParts, ProvenRecord, Salted, StoredParts

Files = dict[str, bytes]


class OtherBuild(GainsayError):
    """A debate names words or schemas that another build has, so this one cannot write its bundle."""

    code = "other_build"
    status = 503
    title = "Another build writes this bundle"


def compose_files(gathered: BundleParts) -> Bundle:
    """The bundle of the gathered evidence; raises `OtherBuild` where this build lacks a version that the debate names.

    The same evidence under the same heads gives the same bundle.
    """
    contents = {
        **_beside(gathered),
        **_records("records", gathered.records, first=0),
        **_context(gathered),
        **_documents(gathered),
        **{f"prompts/{path}": body for path, body in (gathered.prompts or {}).items()},
        **_sealed(gathered),
        **_proofs(gathered),
        **_checkpoints(gathered),
        **_of_logs("heads", gathered.opened),
        **_of_logs("issued", gathered.issued),
        **{head.file: EarlierHead(head.path, head.note).encode() for head in gathered.times},
        **{token_file(head.file): head.token for head in gathered.times if head.token is not None},
    }
    manifest = Manifest(
        debate=gathered.debate,
        tenant=gathered.tenant,
        status=gathered.status,
        records=len(gathered.records),
        logs=_logs(gathered),
        files=digests(contents),
    )
    return Bundle(contents, manifest)


def _beside(gathered: BundleParts) -> Files:
    """README.txt, the schemas and the report, in the versions that the debate names; raises `OtherBuild`."""
    needed: Mapping[Part, Collection[str]] = {"readme": READMES, "schemas": SCHEMAS, "report": REPORTS}
    for part, known in needed.items():
        if (version := gathered.version(part)) not in known:
            raise OtherBuild(
                f"debate {gathered.debate} names {version}, and this build has {', '.join(known) or 'none'}; ask a "
                "process of the build that recorded it, or of a later one",
                retry_after=5,
            )
    readme = READMES[gathered.version("readme")].format(debate=gathered.debate, log=gathered.place.log)
    return {README: readme.encode(), **schemas(gathered.version("schemas")), **_report(gathered)}


@cache
def schemas(version: str) -> Mapping[str, bytes]:
    """The JSON Schemas of a version, as files of a bundle."""
    folder = files("service.audit").joinpath("schemas")
    return {
        f"schema/{name}.json": folder.joinpath(str(brought_by), f"{name}.json").read_bytes()
        for name, brought_by in SCHEMAS[version].items()
    }


def _records(folder: str, records: Iterable[StoredParts], *, first: int) -> Files:
    contents = {}
    for n, record in enumerate(records, first):
        contents[f"{folder}/{n:04d}.leaf.json"] = record.leaf
        if record.payload:
            contents[f"{folder}/{n:04d}.payload.json"] = record.payload[1]
            contents[f"{folder}/{n:04d}.salt"] = record.payload[0].hex().encode()
    return contents


def _context(gathered: BundleParts) -> Files:
    if gathered.context is None:
        return {}
    salt, body = gathered.context
    return {"context.json": body, "context.salt": salt.hex().encode()}


def _documents(gathered: BundleParts) -> Files:
    received = gathered.case
    if received is None or not received.case.documents:
        return {}
    index, contents = [], {}
    for nth, document in enumerate(received.case.documents, 1):
        stored: Salted | None = gathered.documents.get(document.id)
        path = f"documents/{nth:04d}.txt" if stored else None
        index.append(DocumentFile(document.id, document.title, path, stored[0].hex() if stored else None))
        if stored and path:
            contents[path] = stored[1]
    return {"documents/index.json": encode_index(tuple(index)), **contents}


def _sealed(gathered: BundleParts) -> Files:
    """What the records name by its hash, and the approval that they hold."""
    contents, started = {}, gathered.started
    if gathered.policy is not None:
        contents["policy.json"] = gathered.policy
    if gathered.configuration is not None:
        contents["configuration.json"] = gathered.configuration
    if started is not None and started.approval:
        contents["approval.txt"] = started.approval.encode()
    return contents


def _proofs(gathered: BundleParts) -> Files:
    note = gathered.head.note
    return {
        f"proofs/{record.n:04d}.tlog-proof": _proof(record.index, gathered.paths[record.index], note)
        for record in gathered.records
    }


def _proof(index: int, path: Iterable[bytes], note: bytes) -> bytes:
    return TlogProof(index, tuple(path), note).encode()


def _earlier(gathered: BundleParts) -> list[ProvenRecord]:
    """The opening records of the logs before the debate's own."""
    return [opened for opened in gathered.opened if opened.head.log != gathered.place.log]


def _logs(gathered: BundleParts) -> tuple[str, ...]:
    return (gathered.place.log, *(opened.head.log for opened in _earlier(gathered)))


def _checkpoints(gathered: BundleParts) -> Files:
    notes = [gathered.head.note, *(opened.head.note for opened in _earlier(gathered))]
    return {f"checkpoints/{nth:04d}.txt": note for nth, note in enumerate(notes, 1)}


def _of_logs(folder: str, proven: Sequence[ProvenRecord]) -> Files:
    """Records of logs themselves, numbered from 1, each with its own proof."""
    contents = _records(folder, (each.record for each in proven), first=1)
    for nth, each in enumerate(proven, 1):
        contents[f"{folder}/{nth:04d}.tlog-proof"] = _proof(each.record.index, each.path, each.head.note)
    return contents


def _report(gathered: BundleParts) -> Files:
    """The readable report; none where a record is lost or what is stored was changed, so that none can be written."""
    if gathered.entries is None:
        return {}
    try:
        return {REPORT: _rendered(gathered, "markdown"), PAGE: _rendered(gathered, "html")}
    except (GainsayError, LookupError, TypeError, ValueError):
        return {}


def _rendered(gathered: BundleParts, form: Form) -> bytes:
    envelopes = (open_leaf(record.leaf) for record in gathered.records)
    lines = [
        Line(envelope.n, envelope.occurred, entry, envelope.actor)
        for envelope, entry in zip(envelopes, gathered.entries or (), strict=True)
    ]
    place, head = gathered.place, gathered.head  # the bundle's own head, so that a verifier can render the report again
    return REPORTS[gathered.version("report")](
        gathered.debate,
        lines,
        last_record=leaf_hash(gathered.records[-1].leaf).hex(),
        position=LogPosition(log=place.log, index=place.index, size=head.size, root=head.root.hex()),
        texts={name: body.decode() for name, (_, body) in gathered.documents.items()},
        form=form,
        paper="a4",
    )
