"""Which files a bundle has follows from what its records seal. No other file is there, and none of these is missing.

a part                              is there
README.txt, report.md, report.html, schema/  always; the schemas are those of the version that the decision names
records/, proofs/                   always, for each record
checkpoints/, heads/                by the number at the end of the log's name: a first log was opened by no record
context.json, context.salt          where the envelopes name a context
documents/                          where the case has documents, each with its text
times/                              where witnesses countersign the log's heads or an authority stamps them; the step
                                    `times` says what is missing
issued/                             none, or for each record of a PDF that was handed out; the step `issued` reads them
policy.json                         always; records of envelope version 1 do not name it, so it may be absent there
prompts/, configuration.json        where the case was debated; with version 1 they may be absent
approval.txt                        where the start of the debate holds an approval

Neither the manifest nor a reason in words decides that a part may be absent.
"""

from __future__ import annotations

import msgspec

from service.audit.bundle import PAGE, README, REPORT
from service.audit.bundle_texts import SCHEMAS
from service.verify import issued, times
from service.verify.earlier_logs import FIRST_EPOCH, earlier, epoch_of
from service.verify.files import HEAD_PARTS, RECORD_PARTS, refuse_others
from service.verify.opened_bundle import OpenedBundle
from service.verify.prompts import MANIFEST as PROMPTS
from service.verify.prompts import ListedFiles
from service.verify.steps import Differs, at, expect
from service.verify.versions import sealed

KEPT_SINCE = 2
"""The first version of the envelope that names policy, prompts and configuration."""
_EPOCHS_MAX = 100_000


def check_parts(evidence: OpenedBundle) -> str:
    """Check that the files are exactly those that the records ask for; raises `Differs` or `NotCheckable`."""
    expected = _of_records(evidence) | _of_logs(evidence) | issued.files(evidence)
    optional: set[str] = set()
    for files in (_of_case(evidence), _of_debate(evidence)):
        expected |= files
    if evidence.first.v < KEPT_SINCE:
        optional = {path for path in expected if path in ("policy.json", "configuration.json")}
        optional |= {path for path in expected if path.startswith("prompts/")}
    found = set(evidence.files) - set(times.FILES)
    refuse_others(expected - (optional - found), found)
    return f"{len(evidence.files)} files, each of them asked for by the records; no other"


def _of_records(evidence: OpenedBundle) -> set[str]:
    version = sealed(evidence.debate.decided, "schemas", SCHEMAS, judged=False)
    records = range(evidence.manifest.records)
    files = {README, REPORT, PAGE, *(f"schema/{name}.json" for name in SCHEMAS[version])}
    files |= {f"records/{n:04d}.{part}" for n in records for part in RECORD_PARTS}
    return files | {f"proofs/{n:04d}.tlog-proof" for n in records}


def _of_logs(evidence: OpenedBundle) -> set[str]:
    """The heads and checkpoints of the tenant's logs, by the epoch of the debate's own."""
    own = evidence.first.log
    epoch = epoch_of(own)
    if not FIRST_EPOCH <= epoch <= _EPOCHS_MAX:
        raise Differs("the number of the log", f"from {FIRST_EPOCH} to {_EPOCHS_MAX}", str(epoch), record=0)
    with at(file="manifest.json"):
        expect("the logs", list(earlier(own)), list(evidence.manifest.logs))
    files = {f"checkpoints/{n:04d}.txt" for n in range(1, len(evidence.manifest.logs) + 1)}
    return files | {f"heads/{n:04d}.{part}" for n in range(1, epoch) for part in HEAD_PARTS}


def _of_case(evidence: OpenedBundle) -> set[str]:
    files = {"policy.json"}
    if evidence.first.context:
        files |= {"context.json", "context.salt"}
    if count := len(evidence.debate.case.documents):
        files |= {"documents/index.json", *(f"documents/{n:04d}.txt" for n in range(1, count + 1))}
    return files


def _of_debate(evidence: OpenedBundle) -> set[str]:
    """What only a case that was debated has; raises `NotCheckable` where the start cannot be read."""
    started = evidence.debate.started
    if started is None:
        return set()
    files = {"configuration.json", PROMPTS} | ({"approval.txt"} if started.approval else set())
    if PROMPTS not in evidence.files:
        return files
    with at(file=PROMPTS):
        expect("the manifest that the debate pins", started.pin, evidence.digest(PROMPTS))
        listed = msgspec.json.decode(evidence.files[PROMPTS], type=ListedFiles)
    return files | {f"prompts/{entry.file}" for entry in listed.entries}
