"""The bundle of an evaluation: all evidence of one result, as a ZIP of plain files, `gainsay-evaluation/1`.

plan.json                  the plan as it was registered
README.txt                 what this is and how it is checked
records.jsonl              the records of the evaluation and of its debates, as an export with proofs
plan.checkpoint.txt        the checkpoint that proves the plan, with its path to that of the records; none where nothing
                           was asked (`service.audit.earlier_head`)
sets/0001/files.json       the SHA-256 of each file of the first set of the plan, of which the set's hash is made
sets/0001/...              its files; labels.jsonl is not there where it was withheld
debates/DEBATE.zip ...     the bundle of each debate (`service.audit.bundle`), in the order in which they were asked
result.json                the result, if there is one
evaluation.json            what this is of, and the SHA-256 of every other file

The files lie in this order in a large archive (`service.audit.archive`), so nothing but their contents is free. A set
that was not at hand has no folder, and a verifier names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, Final, Literal

import msgspec
from msgspec import Struct

from service.audit.archive import LOCAL_BYTES
from service.audit.bundle import Digest
from service.audit.evaluation_events import Name, Uuid
from service.audit.indented import Indented
from service.errors import GainsayError

FORMAT: Final = "gainsay-evaluation/1"
PLAN, README, RECORDS, CHECKPOINT = "plan.json", "README.txt", "records.jsonl", "plan.checkpoint.txt"
RESULT, SUMMARY = "result.json", "evaluation.json"
SETS, DEBATES, SET_FILES = "sets/", "debates/", "files.json"


class BadEvaluation(GainsayError):
    """A file is not the bundle of an evaluation."""

    code = "bad_evaluation"
    status = 422
    title = "The bundle of an evaluation cannot be read"


class EvaluationSummary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``evaluation.json``. ``withheld`` are the sets whose labels are not there; ``files`` maps each other file to its
    SHA-256."""

    format: Literal["gainsay-evaluation/1"] = FORMAT
    evaluation: Uuid
    tenant: str
    log: str
    withheld: tuple[Name, ...] = ()
    files: dict[str, Digest]


class SetFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """``files.json``: each file of a set with its SHA-256, also one that was withheld."""

    form: str
    files: dict[str, Digest]


_summaries: Indented[EvaluationSummary] = Indented(
    EvaluationSummary, BadEvaluation, f"a summary of format {FORMAT} in {SUMMARY}", SUMMARY
)
_set_files: Indented[SetFiles] = Indented(SetFiles, BadEvaluation, f"the files of a set in {SET_FILES}", SET_FILES)


def encode_summary(summary: EvaluationSummary) -> bytes:
    """The summary as it stands in the bundle."""
    return _summaries.encode(summary)


def decode_summary(data: bytes) -> EvaluationSummary:
    """The summary of these bytes; raises `BadEvaluation` for any that `encode_summary` does not write."""
    return _summaries.decode(data)


def encode_set_files(files: SetFiles) -> bytes:
    """``files.json`` of a set."""
    return _set_files.encode(files)


def decode_set_files(data: bytes) -> SetFiles:
    """The files of a set; raises `BadEvaluation` for bytes that `encode_set_files` does not write."""
    return _set_files.decode(data)


def encode_plan(plan: Mapping[str, Any]) -> bytes:
    """``plan.json``, for people to read."""
    return msgspec.json.format(msgspec.json.encode(plan, order="sorted"), indent=2) + b"\n"


def set_folder(number: int) -> str:
    """The folder of the nth set of the plan, counted from 1."""
    return f"{SETS}{number:04d}/"


def debate_file(debate: str) -> str:
    """The file with the bundle of a debate."""
    return f"{DEBATES}{debate}.zip"


def is_evaluation(stream: IO[bytes]) -> bool:
    """Whether a ZIP at its beginning has the first file of such a bundle; the stream stays there."""
    head = stream.read(LOCAL_BYTES + len(PLAN))
    stream.seek(0)
    return head[LOCAL_BYTES:] == PLAN.encode()


def readme(evaluation: str, log: str) -> bytes:
    """README.txt of an evaluation's bundle."""
    return f"""\
Evaluation {evaluation}
===============================================

plan.json            the question and how it was to be answered, as it was registered
records.jsonl        the records of the evaluation and of its debates in the log {log}, each with a proof
plan.checkpoint.txt  the checkpoint of the log that had the plan and no case: the plan was there first
sets/                what was asked, and with labels.jsonl what is right; files.json has the hash of each file
debates/             the whole evidence of each debate; each is a file of its own that can be verified alone
result.json          what came of it, every statistic with its input
evaluation.json      the SHA-256 of each file

To check it, give the whole file and a verifier key that you have by another way than the file:

    gainsay audit verify FILE --key VKEY --witness VKEY

That verifies every record and every debate, that a checkpoint had the plan before the first case, and that the sets are
those of the plan. It computes every score again from the records and the labels, and the result from all scores.
Until that command says VERIFIED, these are only words.

Without labels.jsonl of a set its scores cannot be computed again. files.json has the hash of the labels: a folder of
that set in your hands can be given with --sets. What was never recorded is in no log.
""".encode()
