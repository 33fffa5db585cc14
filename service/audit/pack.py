"""A pack: every decision of a period with its evidence, as a ZIP of plain files, `gainsay-pack/1`.

README.txt               what this is and how it is checked
logs/0001.jsonl ...      each log's records of the period, as an export with proofs (`service.audit.export`)
bundles/DEBATE.zip ...   the bundle of each decision (`service.audit.bundle`)
decisions.csv            one row a decision
summary.json             tenant, period, logs, counts, and the SHA-256 of every other file

A decision belongs to the period in which its last record joined the log. The records of the period are all those from
one index to another, each with its proof: so a decision that was left out would leave a gap. Files are stored, so a
pack unfolds to no more than its own size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from service.audit.bundle import Digest
from service.audit.export import csv_line
from service.audit.record import Envelope
from service.errors import GainsayError

FORMAT: Final = "gainsay-pack/1"
README, SUMMARY, TABLE = "README.txt", "summary.json", "decisions.csv"
SUMMARY_BYTES_MAX = 1 << 28
DAY, MODE = (1980, 1, 1, 0, 0, 0), 0o100644 << 16
"""The date and the mode of each file."""
COLUMNS = (
    *("debate", "received", "decided", "log", "index", "taskType", "useCase", "intendedUse", "materiality"),
    *("downside", "question", "status", "format", "outcome", "confidence", "humanReview", "reviewReasons", "flags"),
    *("dissent", "spentUSD", "ceilingUSD", "askedBy", "askedByKind", "askedVia", "policy", "build", "approvedBy"),
    *("simulated", "records", "bundle", "sha256", "answer"),
)
"""The columns of decisions.csv. Programs read them by place, so a new one goes to the end."""
WORDS = frozenset({"answer"})
"""The columns that are sentences of a build: a verifier of another build may say them otherwise."""

Count = Annotated[int, Meta(ge=0)]
_LOCAL_BYTES = 30


class BadPack(GainsayError):
    """A file is not a pack."""

    code = "bad_pack"
    status = 422
    title = "A pack cannot be read"


class PackedLog(Struct, frozen=True, forbid_unknown_fields=True):
    """The records of a log from index ``first`` to before ``below``, under the checkpoint of ``size`` and ``root``."""

    log: str
    first: Count
    below: Count
    size: Count
    root: Digest
    file: str


class PackCounts(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Decisions by status, and the cases that came in the period and were not decided in it."""

    decisions: Count
    by_status: dict[str, Count]
    begun_only: Count


class Summary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``summary.json``. ``until`` is not part of the period; ``files`` maps each other file to its SHA-256."""

    format: Literal["gainsay-pack/1"] = FORMAT
    tenant: str
    since: str
    until: str
    logs: tuple[PackedLog, ...]
    counts: PackCounts
    files: dict[str, Digest]


class PackedDecision(Struct, frozen=True):
    """A bundle in a pack: its first and last envelope, the index of its last record, its path and hash."""

    first: Envelope
    last: Envelope
    index: int
    path: str
    sha256: str


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(Summary)


def encode_summary(summary: Summary) -> bytes:
    """The summary as it stands in the pack."""
    return msgspec.json.format(_encoder.encode(summary), indent=2) + b"\n"


def decode_summary(data: bytes) -> Summary:
    """The summary of these bytes; raises `BadPack` for any that `encode_summary` does not write."""
    try:
        summary = _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadPack(f"expected a summary of format {FORMAT} in {SUMMARY}, found another: {error}") from error
    if encode_summary(summary) != data:
        raise BadPack(f"expected {SUMMARY} exactly as it is written, found another spelling")
    return summary


def encode_row(row: Mapping[str, str]) -> bytes:
    """A decision as a line of ``decisions.csv``."""
    return csv_line([row[name] for name in COLUMNS])


def encode_columns() -> bytes:
    """The first line of ``decisions.csv``."""
    return csv_line(COLUMNS)


def is_pack(stream: IO[bytes]) -> bool:
    """Whether a ZIP at its beginning has the first file of a pack; the stream stays there."""
    head = stream.read(_LOCAL_BYTES + len(README))
    stream.seek(0)
    return head[_LOCAL_BYTES:] == README.encode()


def readme(summary_of: str, since: str, until: str) -> bytes:
    """README.txt of a tenant's pack."""
    return f"""\
Decisions of {summary_of} from {since} to before {until}
========================================================

decisions.csv    one row a decision, also those that were declined, failed, cut short or aborted
bundles/         the whole evidence of each decision; each is a file of its own that can be verified alone
logs/            all records that joined each log in this period, each with a proof
summary.json     period, logs, counts, and the SHA-256 of each file

To check it, give the whole file and a verifier key that you have by another way than the file:

    gainsay audit verify PACK --key VKEY --witness VKEY

That verifies every bundle, that the records of the period have no gap, that each decision in them has its bundle and
its row, and that rows and counts follow from the bundles. Until that command says VERIFIED, these are only words.

A decision belongs to the period in which its last record joined the log. That the range of records is the one of these
two times is the exporter's word; the next pack has to begin at the index at which this one ends. What was never
recorded is in no log.
""".encode()
