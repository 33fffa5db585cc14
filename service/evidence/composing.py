"""A debate's evidence as the files of a bundle, each part there or said to be absent, and why."""

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
from service.audit.proof import TlogProof
from service.audit.record import leaf_hash, open_leaf
from service.errors import GainsayError
from service.evidence.gathering import Gathered, Kept, Opened, Salted
from service.report import Line, markdown, result
from service.report.shape import LogPosition

Files = dict[str, bytes]
Part = tuple[Block, Files]

README = """\
Debate {debate}
===========================================

This is the evidence of one decision: a case, whether it was debated and why, everything that was said, what was
checked, what it cost, and proof that the records were in the log {log} when its head was signed.

To check it, with this file and a verifier key that you have from somebody else than whoever gave you the file:

    gainsay audit verify BUNDLE --key VKEY --witness VKEY

--witness is the key of somebody outside who countersigns the log's heads; where there is none, --allow-unwitnessed says
that you know. That needs no database and no network. It recomputes every hash, the proofs, the signatures, what each
model was asked, every citation, every charge, the gate's decision and every move of the debate, and names the first
difference. docs/verification.md of Gainsay's sources says what each step proves, and what it does not.

manifest.json       what is here, the SHA-256 of each file, and which parts are absent and why
report.md           the readable report: begin here
records/            each record: the leaf as it was hashed, its payload, and the salt of the payload's commitment
proofs/             that each leaf lies in the log (C2SP tlog-proof), all under one checkpoint
checkpoints/        the signed head of each log (C2SP tlog-checkpoint), with the cosignatures of its witnesses
heads/              the records that opened the logs, each with the last signed head of the log before it
context.json        what the case was about in the words of model risk; every record commits to it
documents/          the source documents, exactly as they were given
prompts/            the texts, templates and schemas that the debate promised to use
policy.json         the policy that held, with models and prices
configuration.json  what an approval is of: the hashes of policy, prices and prompts
approval.txt        the signed approval of that configuration
schema/             JSON Schemas of these files, by version
"""


def compose(gathered: Gathered, *, made: str, build: str) -> bytes:
    """The bundle of what was gathered; ``made`` is when, RFC 3339 UTC, and ``build`` the hash of the code."""
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
    readme = README.format(debate=gathered.debate, log=gathered.place.log)
    contents = {"README.txt": readme.encode(), **schemas(), **_records("records", gathered.records, first=0)}
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


@cache
def schemas() -> Mapping[str, bytes]:
    """The JSON Schemas, as files of a bundle."""
    folder = files("service.audit").joinpath("schemas")
    return {f"schema/{path.name}": path.read_bytes() for path in folder.iterdir() if path.name.endswith(".json")}


def _there(contents: Mapping[str, bytes]) -> Part:
    return PRESENT, dict(contents)


def _not_there(reason: str) -> Part:
    return absent(reason), {}


def _records(folder: str, records: Iterable[Kept], *, first: int) -> Files:
    contents = {}
    for n, record in enumerate(records, first):
        contents[f"{folder}/{n:04d}.leaf.json"] = record.leaf
        if record.payload:
            contents[f"{folder}/{n:04d}.payload.json"] = record.payload[1]
            contents[f"{folder}/{n:04d}.salt"] = record.payload[0].hex().encode()
    return contents


def _context(gathered: Gathered) -> Part:
    if gathered.context is None:
        return _not_there("no context is stored; records of envelope version 1 commit to none")
    salt, body = gathered.context
    return _there({"context.json": body, "context.salt": salt.hex().encode()})


def _documents(gathered: Gathered) -> Part:
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


def _prompts(gathered: Gathered) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, so nobody was asked anything")
    if not gathered.prompts:
        return _not_there("the prompts' manifest that the debate names is not kept")
    return _there({f"prompts/{path}": body for path, body in gathered.prompts.items()})


def _policy(gathered: Gathered) -> Part:
    if gathered.policy is None:
        return _not_there("the policy that the records name is not kept")
    return _there({"policy.json": gathered.policy})


def _configuration(gathered: Gathered) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, before a configuration was fixed")
    if gathered.configuration is None:
        return _not_there("the configuration that the debate names is not kept")
    return _there({"configuration.json": gathered.configuration})


def _approval(gathered: Gathered) -> Part:
    if (reason := _declined(gathered)) is not None:
        return _not_there(f"{reason}, before a configuration was fixed")
    started = gathered.started
    if started is None or not started.approval:
        return _not_there("nobody had approved the configuration: the debate ran unapproved")
    return _there({"approval.txt": started.approval.encode()})


def _declined(gathered: Gathered) -> str | None:
    """Why there is no start of a debate, or ``None``."""
    if gathered.started is not None:
        return None
    return "the case was declined" if gathered.status == "declined" else "how the debate began cannot be read"


def _proofs(gathered: Gathered) -> Part:
    note = gathered.head.note
    return _there(
        {
            f"proofs/{record.n:04d}.tlog-proof": _proof(record.index, gathered.paths[record.index], note)
            for record in gathered.records
        }
    )


def _proof(index: int, path: Iterable[bytes], note: bytes) -> bytes:
    return TlogProof(index, tuple(path), note).encode()


def _earlier(gathered: Gathered) -> list[Opened]:
    """The openings of logs before the debate's own."""
    return [opened for opened in gathered.opened if opened.head.log != gathered.place.log]


def _logs(gathered: Gathered) -> tuple[str, ...]:
    return (gathered.place.log, *(opened.head.log for opened in _earlier(gathered)))


def _checkpoints(gathered: Gathered) -> Part:
    notes = [gathered.head.note, *(opened.head.note for opened in _earlier(gathered))]
    return _there({f"checkpoints/{nth:04d}.txt": note for nth, note in enumerate(notes, 1)})


def _heads(gathered: Gathered) -> Part:
    if not gathered.opened:
        if gathered.place.log.endswith("/1"):
            return _not_there("the debate's log is its tenant's first, which no record opens")
        return _not_there(f"no record that opened the log {gathered.place.log} is under a signed head")
    contents = _records("heads", (opened.record for opened in gathered.opened), first=1)
    for nth, opened in enumerate(gathered.opened, 1):
        contents[f"heads/{nth:04d}.tlog-proof"] = _proof(opened.record.index, opened.path, opened.head.note)
    return _there(contents)


def _report(gathered: Gathered) -> Part:
    """The readable report. It is told from the records, so where they cannot be read there is none."""
    if gathered.entries is None:
        return _not_there("a record is not stored or cannot be read, so the debate cannot be told")
    try:
        return _there({"report.md": _told(gathered).encode()})
    except (GainsayError, LookupError, TypeError, ValueError):  # what is stored was changed
        return _not_there("records and documents do not fit together, so the debate cannot be told")


def _told(gathered: Gathered) -> str:
    lines = [
        Line(record.n, open_leaf(record.leaf).occurred, entry)
        for record, entry in zip(gathered.records, gathered.entries or (), strict=True)
    ]
    place, head = gathered.place, gathered.head  # the head that the bundle holds, so that it can be told again from it
    return markdown(
        result(
            gathered.debate,
            lines,
            last_record=leaf_hash(gathered.records[-1].leaf).hex(),
            position=LogPosition(log=place.log, index=place.index, size=head.size, root=head.root.hex()),
            texts={name: body.decode() for name, (_, body) in gathered.documents.items()},
        )
    )
