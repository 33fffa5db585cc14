"""A debate's evidence as the files of a bundle; each part is there, or is named as absent with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain

from service.audit.bundle import (
    FORMAT,
    PRESENT,
    Block,
    BlockName,
    Bundle,
    DocumentFile,
    Manifest,
    absent,
    digests,
    encode_index,
    pack,
)
from service.audit.bundle_texts import READMES, SCHEMAS
from service.audit.proof import TlogProof
from service.audit.record import leaf_hash, open_leaf
from service.errors import GainsayError
from service.report.result.types import Line, LogPosition
from service.report.versions import REPORTS
from service.reviews.evidence.stored_parts import BundleParts, OpenedDebate, Salted, StoredParts

Files = dict[str, bytes]
Part = tuple[Block, Files]


def compose_files(gathered: BundleParts, *, made: str, build: str) -> bytes:
    """The bundle of the gathered evidence; ``made`` is its time, RFC 3339 UTC, and ``build`` the hash of the code."""
    parts: dict[BlockName, Part] = {
        "context": _context(gathered),
        "documents": _documents(gathered),
        "prompts": _prompts(gathered),
        "policy": _policy(gathered),
        "configuration": _configuration(gathered),
        "approval": _approval(gathered),
        "proofs": _proofs(gathered),
        "checkpoints": _checkpoints(gathered),
        "report": _report(gathered),
        "heads": _heads(gathered),
    }
    contents = {**_beside(gathered), **_records("records", gathered.records, first=0)}
    contents.update(chain.from_iterable(found.items() for _, found in parts.values()))
    manifest = Manifest(
        format=FORMAT,
        debate=gathered.debate,
        tenant=gathered.tenant,
        status=gathered.status,
        made=made,
        build=build,
        records=len(gathered.records),
        logs=_logs(gathered),
        files=digests(contents),
        blocks={name: block for name, (block, _) in parts.items()},
    )
    return pack(Bundle(contents, manifest))


def _beside(gathered: BundleParts) -> Files:
    """README.txt and the schemas, in the versions that the debate names; nothing for a version of a later build."""
    words, forms = gathered.version("readme"), gathered.version("schemas")
    contents = dict(schemas(forms)) if forms in SCHEMAS else {}
    if words in READMES:
        readme = READMES[words].format(debate=gathered.debate, log=gathered.place.log)
        contents["README.txt"] = readme.encode()
    return contents


@cache
def schemas(version: str) -> Mapping[str, bytes]:
    """The JSON Schemas of a version, as files of a bundle."""
    folder = files("service.audit").joinpath("schemas")
    return {
        f"schema/{name}.json": folder.joinpath(str(brought_by), f"{name}.json").read_bytes()
        for name, brought_by in SCHEMAS[version].items()
    }


def _there(contents: Mapping[str, bytes]) -> Part:
    return PRESENT, dict(contents)


def _not_there(reason: str) -> Part:
    return absent(reason), {}


def _records(folder: str, records: Iterable[StoredParts], *, first: int) -> Files:
    contents = {}
    for n, record in enumerate(records, first):
        contents[f"{folder}/{n:04d}.leaf.json"] = record.leaf
        if record.payload:
            contents[f"{folder}/{n:04d}.payload.json"] = record.payload[1]
            contents[f"{folder}/{n:04d}.salt"] = record.payload[0].hex().encode()
    return contents


def _context(gathered: BundleParts) -> Part:
    if gathered.context is None:
        return _not_there("no context is stored; records of envelope version 1 commit to none")
    salt, body = gathered.context
    return _there({"context.json": body, "context.salt": salt.hex().encode()})


def _documents(gathered: BundleParts) -> Part:
    received = gathered.case
    if received is None:
        return _not_there("the case, which lists them, cannot be read")
    if not received.case.documents:
        return _not_there("the case has no documents")
    index, contents = [], {}
    for nth, document in enumerate(received.case.documents, 1):
        stored: Salted | None = gathered.documents.get(document.id)
        path = f"documents/{nth:04d}.txt" if stored else None
        index.append(DocumentFile(document.id, document.title, path, stored[0].hex() if stored else None))
        if stored and path:
            contents[path] = stored[1]
    return _there({"documents/index.json": encode_index(tuple(index)), **contents})


def _prompts(gathered: BundleParts) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, so no model was called")
    if not gathered.prompts:
        return _not_there("the prompts' manifest that the debate names is not kept")
    return _there({f"prompts/{path}": body for path, body in gathered.prompts.items()})


def _policy(gathered: BundleParts) -> Part:
    if gathered.policy is None:
        return _not_there("the policy that the records name is not kept")
    return _there({"policy.json": gathered.policy})


def _configuration(gathered: BundleParts) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, before a configuration was fixed")
    if gathered.configuration is None:
        return _not_there("the configuration that the debate names is not kept")
    return _there({"configuration.json": gathered.configuration})


def _approval(gathered: BundleParts) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, before a configuration was fixed")
    started = gathered.started
    if started is None or not started.approval:
        return _not_there("the configuration had no approval: the debate ran unapproved")
    return _there({"approval.txt": started.approval.encode()})


def _declined(gathered: BundleParts) -> str | None:
    """Why the debate has no start, or ``None``."""
    if gathered.started is not None:
        return None
    return "the case was declined" if gathered.status == "declined" else "how the debate began cannot be read"


def _proofs(gathered: BundleParts) -> Part:
    note = gathered.head.note
    return _there(
        {
            f"proofs/{record.n:04d}.tlog-proof": _proof(record.index, gathered.paths[record.index], note)
            for record in gathered.records
        }
    )


def _proof(index: int, path: Iterable[bytes], note: bytes) -> bytes:
    return TlogProof(index, tuple(path), note).encode()


def _earlier(gathered: BundleParts) -> list[OpenedDebate]:
    """The opening records of the logs before the debate's own."""
    return [opened for opened in gathered.opened if opened.head.log != gathered.place.log]


def _logs(gathered: BundleParts) -> tuple[str, ...]:
    return (gathered.place.log, *(opened.head.log for opened in _earlier(gathered)))


def _checkpoints(gathered: BundleParts) -> Part:
    notes = [gathered.head.note, *(opened.head.note for opened in _earlier(gathered))]
    return _there({f"checkpoints/{nth:04d}.txt": note for nth, note in enumerate(notes, 1)})


def _heads(gathered: BundleParts) -> Part:
    if not gathered.opened:
        if gathered.place.log.endswith("/1"):
            return _not_there("the debate's log is its tenant's first, which no record opens")
        return _not_there(f"no record that opened the log {gathered.place.log} is under a checkpoint")
    contents = _records("heads", (opened.record for opened in gathered.opened), first=1)
    for nth, opened in enumerate(gathered.opened, 1):
        contents[f"heads/{nth:04d}.tlog-proof"] = _proof(opened.record.index, opened.path, opened.head.note)
    return _there(contents)


def _report(gathered: BundleParts) -> Part:
    """The readable report, in the version that the debate names; none if the records cannot be read."""
    if gathered.entries is None:
        return _not_there("a record is not stored or cannot be read, so the debate cannot be reported")
    if (version := gathered.version("report")) not in REPORTS:
        return _not_there(f"the debate names the words of {version}, and the build that made this bundle lacks them")
    try:
        return _there({"report.md": _report_text(gathered).encode()})
    except (GainsayError, LookupError, TypeError, ValueError):  # what is stored was changed
        return _not_there("records and documents do not fit together, so the debate cannot be reported")


def _report_text(gathered: BundleParts) -> str:
    lines = [
        Line(record.n, open_leaf(record.leaf).occurred, entry)
        for record, entry in zip(gathered.records, gathered.entries or (), strict=True)
    ]
    place, head = gathered.place, gathered.head  # the bundle's own head, so that a verifier can render the report again
    return REPORTS[gathered.version("report")](
        gathered.debate,
        lines,
        last_record=leaf_hash(gathered.records[-1].leaf).hex(),
        position=LogPosition(log=place.log, index=place.index, size=head.size, root=head.root.hex()),
        texts={name: body.decode() for name, (_, body) in gathered.documents.items()},
    )
