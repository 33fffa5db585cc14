"""The file itself: each file has its hash in the manifest, and stands where a bundle has such a file.

    records/0000.leaf.json, .payload.json, .salt   as many as the manifest counts, and as many proofs
    checkpoints/0001.txt                           as many as the manifest names logs
    issued/0001.leaf.json                          records of PDFs that were handed out; the step `issued` compares them
    times/before.txt, times/first.txt              earlier heads of the debate's log; the step `times` compares them
    times/stamped-before.txt, .tst, ...            the same with the time stamps of an authority
    README.txt, report.md, report.html             always there; the step `report` compares them
    ...                                            which others there must be, the step `parts` derives from the records

The manifest is not signed, so this step finds accidents and careless changes. The later steps prove a bundle.
"""

from __future__ import annotations

import re

from service.audit.bundle import PAGE, README, REPORT, Bundle, digests
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs

RECORD_PARTS = ("leaf.json", "payload.json", "salt")
HEAD_PARTS = (*RECORD_PARTS, "tlog-proof")
_NUMBER = r"(?:0\d{3}|[1-9]\d{3,5})"
_KNOWN = re.compile(
    rf"README\.txt|report\.(?:md|html)|schema/[a-z0-9.]+\.json|context\.(?:json|salt)|policy\.json|configuration\.json"
    rf"|approval\.txt|records/{_NUMBER}\.(?:leaf\.json|payload\.json|salt)|proofs/{_NUMBER}\.tlog-proof"
    rf"|heads/{_NUMBER}\.(?:leaf\.json|payload\.json|salt|tlog-proof)|checkpoints/{_NUMBER}\.txt"
    rf"|issued/{_NUMBER}\.(?:leaf\.json|payload\.json|salt|tlog-proof)"
    rf"|times/(?:before\.txt|first\.txt|stamped-(?:before|first)\.(?:txt|tst))|documents/(?:index\.json|{_NUMBER}\.txt)|prompts/.+",
    re.ASCII,
)


def check_files(evidence: OpenedBundle) -> str:
    """Check the files against the manifest, and that they are those of so many records and logs; raises `Differs`."""
    bundle, found = evidence.bundle, digests(evidence.files)
    for path, digest in sorted(bundle.manifest.files.items()):
        if path not in found:
            raise Differs("a file of the manifest is missing", path, "nothing", file=path)
        if found[path] != digest:
            raise Differs("a file has another hash than the manifest gives it", digest, found[path], file=path)
    for path in sorted(found):
        if path not in bundle.manifest.files:
            raise Differs("a file that the manifest does not name", "nothing", path, file=path)
        if not _KNOWN.fullmatch(path):
            raise Differs("a file that no bundle has", "nothing", path, file=path)
    _counted(bundle)
    return f"{len(found)} files of {bundle.manifest.records} records, each with its hash"


def _counted(bundle: Bundle) -> None:
    """Check that records, proofs and checkpoints are as many as the manifest says; raises `Differs`."""
    records, logs = bundle.manifest.records, len(bundle.manifest.logs)
    if not (records and logs):
        raise Differs("a bundle", "records of a log", "none", file="manifest.json")
    for path in (README, REPORT, PAGE):
        if path not in bundle.files:
            raise Differs("a file that every bundle has", path, "nothing", file=path)
    if records > len(bundle.files):  # before anything is counted up to it
        raise Differs("the records of the manifest", f"at most {len(bundle.files)}", str(records), file="manifest.json")
    expected = {f"records/{n:04d}.{part}" for n in range(records) for part in RECORD_PARTS}
    expected |= {f"proofs/{n:04d}.tlog-proof" for n in range(records)}
    expected |= {f"checkpoints/{n:04d}.txt" for n in range(1, logs + 1)}
    refuse_others(expected, {path for path in bundle.files if path.startswith(("records/", "proofs/", "checkpoints/"))})


def refuse_others(expected: set[str], found: set[str]) -> None:
    """Raise `Differs` for the first file that is missing or too many."""
    if missing := sorted(expected - found):
        raise Differs(
            "a file that the records need", missing[0], "nothing", file=missing[0], record=_record(missing[0])
        )
    if extra := sorted(found - expected):
        raise Differs("a file that the records do not name", "nothing", extra[0], file=extra[0])


def _record(path: str) -> int | None:
    folder, _, name = path.partition("/")
    return int(name.partition(".")[0]) if folder in ("records", "proofs") else None
