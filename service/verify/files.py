"""The file itself: no file is missing or extra, and each has the hash in the manifest.

    records/0000.leaf.json, .payload.json, .salt   as many as the manifest counts
    context.json, context.salt                     each block is complete, or absent with a reason
    ...
    README.txt, schema/*.json                      texts that are no evidence; README.txt is compared with the report

The manifest is not signed, so this step finds accidents and careless changes. The later steps prove a bundle.

A block may be absent if the records name nothing in it, or are older than the block. A reason in the manifest never
excuses the absence of a block that the records need.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from service.audit.bundle import BLOCKS, Bundle
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs, NotCheckable

_RECORD = re.compile(r"records/(\d{4,6})\.(leaf\.json|payload\.json|salt)", re.ASCII)
_PARTS = {"leaf.json", "payload.json", "salt"}
_BLOCKS = {
    "context": re.compile(r"context\.(json|salt)"),
    "documents": re.compile(r"documents/(index\.json|\d{4,6}\.txt)", re.ASCII),
    "prompts": re.compile(r"prompts/.+"),
    "policy": re.compile(r"policy\.json"),
    "configuration": re.compile(r"configuration\.json"),
    "approval": re.compile(r"approval\.txt"),
    "proofs": re.compile(r"proofs/(\d{4,6})\.tlog-proof", re.ASCII),
    "checkpoints": re.compile(r"checkpoints/\d{4,6}\.txt", re.ASCII),
    "report": re.compile(r"report\.md"),
    "heads": re.compile(r"heads/\d{4,6}\.(leaf\.json|payload\.json|salt|tlog-proof)", re.ASCII),
}
_BESIDE = re.compile(r"README\.txt|schema/[A-Za-z0-9._-]+\.json")
_FIRST = {
    "context": "context.json",
    "documents": "documents/index.json",
    "prompts": "prompts/manifest.json",
    "policy": "policy.json",
    "configuration": "configuration.json",
    "approval": "approval.txt",
    "proofs": "proofs/0000.tlog-proof",
    "checkpoints": "checkpoints/0001.txt",
    "report": "report.md",
    "heads": "heads/0001.leaf.json",
}
"""The file that every block of that name has."""
KEPT_SINCE = 2
"""The first version of the envelope for which the service stores policy, prompts and configuration."""


def check_files(evidence: OpenedBundle) -> str:
    """Check the files against the manifest, and that no block that the records need is absent; raises `Differs`."""
    bundle = evidence.bundle
    for path, digest in sorted(bundle.manifest.files.items()):
        if path not in bundle.files:
            raise Differs("a file of the manifest is missing", path, "nothing", file=path)
        if (found := sha256(bundle.files[path]).hexdigest()) != digest:
            raise Differs("a file has another hash than the manifest gives it", digest, found, file=path)
    _records(bundle)
    absent = [name for name in BLOCKS if not _block(bundle, name)]
    for path in sorted(bundle.files):
        if not (_RECORD.fullmatch(path) or _BESIDE.fullmatch(path) or any(e.fullmatch(path) for e in _BLOCKS.values())):
            raise Differs("a file that no bundle has", "nothing", path, file=path)
    _asked(evidence, absent)
    detail = f"{len(bundle.files)} files of {bundle.manifest.records} records, each with its hash"
    return f"{detail}; absent: {', '.join(absent)}" if absent else detail


def _asked(evidence: OpenedBundle, absent: Sequence[str]) -> None:
    """Raise `Differs` for an absent block that the records need."""
    reasons = {str(name): block.reason for name, block in evidence.manifest.blocks.items()}
    for name in _named(evidence):
        if name in absent:
            what = f"the block {name} is absent ({reasons[name]}), and the records name what is in it"
            raise Differs(what, _FIRST[name], "nothing", file=_FIRST[name])


def _named(evidence: OpenedBundle) -> list[str]:
    """The blocks that the records need; none if the records cannot be read, which other steps report."""
    try:
        first, case, started = evidence.envelopes[0], evidence.debate.case, evidence.debate.started
    except (NotCheckable, IndexError):
        return []
    kept = first.v >= KEPT_SINCE
    named = {
        "context": bool(first.context),
        "documents": bool(case.documents),
        "policy": kept,
        "prompts": kept and started is not None,
        "configuration": kept and started is not None,
        "approval": started is not None and bool(started.approval),
    }
    return [name for name, asked in named.items() if asked]


def _records(bundle: Bundle) -> None:
    """Check that every record has its three files, and that there are no more records than the manifest counts."""
    count = bundle.manifest.records
    if count == 0:
        raise Differs("a bundle without records", "at least 2", "0", file="manifest.json")
    for n in range(count):
        for part in sorted(_PARTS):
            if (path := f"records/{n:04d}.{part}") not in bundle.files:
                raise Differs("a record lacks a part", path, "nothing", file=path, record=n)
    for path in sorted(bundle.files):
        found = _RECORD.fullmatch(path)
        if found and (int(found[1]) >= count or path != f"records/{int(found[1]):04d}.{found[2]}"):
            raise Differs(f"a record beyond the {count} of the manifest", "nothing", path, file=path)


def _block(bundle: Bundle, name: str) -> bool:
    """Whether a block is present; it is complete or absent."""
    present = next(found.present for block, found in bundle.manifest.blocks.items() if block == name)
    there = [path for path in sorted(bundle.files) if _BLOCKS[name].fullmatch(path)]
    if present and _FIRST[name] not in bundle.files:
        raise Differs(f"the block {name} is said to be there", _FIRST[name], "nothing", file=_FIRST[name])
    if not present and there:
        raise Differs(f"the block {name} is said to be absent", "nothing", there[0], file=there[0])
    return present
