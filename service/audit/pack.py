"""A pack: every decision of a period with its evidence, as a ZIP of plain files, `gainsay-pack/1`.

README.txt               what this is and how it is checked
logs/0001.jsonl ...      the records of each log from the period on, as an export with proofs (`service.audit.export`)
logs/0001.before.txt ... a countersigned head from before the period (`service.audit.earlier_head`), where there is one
bundles/DEBATE.zip ...   the bundle of each decision (`service.audit.bundle`), in the order in which they ended
decisions.csv            one row a decision
summary.json             tenant, period, logs, counts, and the SHA-256 of every other file

A decision belongs to the period in which its last record says it was recorded. The records of a log are all from the
size of the head before the period up to the head that covers them, which was countersigned after the period: so a
decision that was left out would leave a gap, and a period that was made wider would have no such heads.

The files lie in this order in a large archive (`service.audit.archive`), so nothing but their contents is free.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Annotated, Final, Literal

from msgspec import Meta, Struct

from service.audit.archive import LOCAL_BYTES
from service.audit.bundle import Digest
from service.audit.csv_line import csv_line
from service.audit.indented import Indented
from service.audit.record import Envelope, moment
from service.errors import GainsayError

FORMAT: Final = "gainsay-pack/1"
README, SUMMARY, TABLE = "README.txt", "summary.json", "decisions.csv"
COLUMNS = (
    *("debate", "received", "decided", "log", "index", "taskType", "useCase", "intendedUse", "materiality"),
    *("downside", "question", "status", "format", "outcome", "confidence", "humanReview", "reviewReasons", "flags"),
    *("dissent", "spentUSD", "ceilingUSD", "askedBy", "askedByKind", "askedVia", "policy", "build", "approvedBy"),
    *("simulated", "records", "bundle", "sha256", "answer", "askedRole", "evaluation"),
)
"""The columns of decisions.csv. Programs read them by place, so a new one goes to the end."""
COLUMNS_BEFORE = COLUMNS[:-1]
"""Those of a pack that was made before items of evaluations were marked."""
WORDS = frozenset({"answer"})
"""The columns that are sentences of a build: a verifier of another build may say them otherwise."""

Count = Annotated[int, Meta(ge=0)]
DAMAGE_MAX = 500
"""The most characters by which a summary says what was found of a damaged decision."""


class BadPack(GainsayError):
    """A file is not a pack."""

    code = "bad_pack"
    status = 422
    title = "A pack cannot be read"


class PackedLog(Struct, frozen=True, forbid_unknown_fields=True):
    """The records of a log from index ``first`` on, all that the checkpoint of ``size`` and ``root`` covers."""

    log: str
    first: Count
    size: Count
    root: Digest


class PackCounts(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Decisions by status, and the cases that came in the period and were not decided in it."""

    decisions: Count
    by_status: dict[str, Count]
    begun_only: Count


class Period(Struct, frozen=True):
    """From a time, in microseconds since 1970, to before another."""

    since: int
    until: int

    @classmethod
    def of(cls, since: datetime, until: datetime) -> Period:
        """The period between two times."""
        return cls(moment(written_time(since)), moment(written_time(until)))

    def has(self, recorded: str) -> bool:
        """Whether a record that says it was written then is of the period; raises `ValueError` for no time."""
        return self.since <= moment(recorded) < self.until


class Summary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``summary.json``. ``until`` is not part of the period; ``files`` maps each other file to its SHA-256.

    ``damaged`` maps each decision that has no bundle, because what is stored of it is damaged, to what was found. A
    pack with one never verifies.
    """

    format: Literal["gainsay-pack/1"] = FORMAT
    tenant: str
    since: str
    until: str
    logs: tuple[PackedLog, ...]
    counts: PackCounts
    damaged: dict[str, str] = {}
    files: dict[str, Digest]

    def __post_init__(self) -> None:
        if self.period.since >= self.period.until:
            raise ValueError("expected a period that ends after it begins")

    @property
    def period(self) -> Period:
        """The period; raises `ValueError` for times that `written_time` does not write."""
        return Period(_micros(self.since), _micros(self.until))


def written_time(at: datetime) -> str:
    """An end of a period as a summary has it, RFC 3339 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _micros(text: str) -> int:
    if written_time(datetime.fromisoformat(text)) != text:
        raise ValueError("expected a time in UTC as 2026-01-31T09:00:00Z, found another spelling")
    return moment(text)


def log_file(number: int) -> str:
    """The file with the records of the nth log, counted from 1."""
    return f"logs/{number:04d}.jsonl"


def before_file(number: int) -> str:
    """The file with a head of the nth log from before the period."""
    return f"logs/{number:04d}.before.txt"


def bundle_file(debate: str) -> str:
    """The file with the bundle of a debate."""
    return f"bundles/{debate}.zip"


class PackedDecision(Struct, frozen=True):
    """A bundle in a pack: its first and last envelope, the index of its last record, its path and hash."""

    first: Envelope
    last: Envelope
    index: int
    path: str
    sha256: str


_summaries: Indented[Summary] = Indented(Summary, BadPack, f"a summary of format {FORMAT} in {SUMMARY}", SUMMARY)


def encode_summary(summary: Summary) -> bytes:
    """The summary as it stands in the pack."""
    return _summaries.encode(summary)


def decode_summary(data: bytes) -> Summary:
    """The summary of these bytes; raises `BadPack` for any that `encode_summary` does not write."""
    return _summaries.decode(data)


def encode_row(row: Mapping[str, str], columns: Sequence[str] = COLUMNS) -> bytes:
    """A decision as a line of ``decisions.csv``."""
    return csv_line([row[name] for name in columns])


def encode_columns(columns: Sequence[str] = COLUMNS) -> bytes:
    """The beginning of ``decisions.csv``: the mark by which Excel knows that a file is UTF-8, and the first line."""
    return BOM_UTF8 + csv_line(columns)


def is_pack(stream: IO[bytes]) -> bool:
    """Whether a ZIP at its beginning has the first file of a pack; the stream stays there."""
    head = stream.read(LOCAL_BYTES + len(README))
    stream.seek(0)
    return head[LOCAL_BYTES:] == README.encode()


def readme(summary_of: str, since: str, until: str) -> bytes:
    """README.txt of a tenant's pack."""
    return f"""\
Decisions of {summary_of} from {since} to before {until}
========================================================

decisions.csv    one row a decision, also those that were declined, failed, cut short or aborted
bundles/         the whole evidence of each decision; each is a file of its own that can be verified alone
logs/            all records of each log from this period on, each with a proof
summary.json     period, logs, counts, and the SHA-256 of each file

To check it, give the whole file and a verifier key that you have by another way than the file:

    gainsay audit verify PACK --key VKEY --witness VKEY

That verifies every bundle, that the records of the period have no gap, that each decision in them has its bundle and
its row, and that rows and counts follow from the bundles. Until that command says VERIFIED, these are only words.

A decision belongs to the period in which its last record says it was recorded. That no decision of the period was cut
at its beginning or end is shown by heads of the logs which witnesses countersigned before and after it, so pin their
keys. What was never recorded is in no log.
""".encode()
