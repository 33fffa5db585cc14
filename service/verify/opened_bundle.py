"""An opened bundle for the steps: records as far as they are readable, documents, prompts, and the legal entries.

An unreadable part is `NotCheckable` for every step except the step about that part, which reports the error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import Struct

from service.audit import bundle as bundles
from service.audit import log_events
from service.audit.archive import Stored
from service.audit.bundle import Bundle, DocumentFile, decode_index
from service.audit.record import LEAF_BYTES_MAX, SCHEMAS, VERSION, Envelope, open_leaf
from service.debate.entries import CaseReceived, DebateConcluded, DebateStarted, Entry, GateDecided, TurnAsked, decode
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, refuse_illegal
from service.debate.model import Case
from service.debate.options import AskedOptions
from service.errors import GainsayError
from service.policy import FORMS as POLICY_FORMS
from service.policy import Policy, decode_policy, encode_policy
from service.verify.steps import Differs, Interval, NotCheckable
from service.verify.versions import sealed

KINDS = frozenset(str(entry.__struct_config__.tag) for entry in get_args(Entry))
"""The kinds of entries that this build knows."""
ENTRIES_MAX = 20_000
ATTEMPTS_MAX = 20
"""Policy allows ten at a seat's model and ten at its fallback: so a forged debate cannot run for hours."""
DIGITS_MAX, DOLLAR_DIGITS = 40, 15
"""The most digits of an amount, and of its whole dollars: 1e999999999 is short, and no program can write it out."""


class ReadRecord(Struct, frozen=True):
    """A record as far as it is readable. ``unknown`` names a part of a version that this build lacks."""

    n: int
    leaf: bytes
    payload: bytes | None
    envelope: Envelope | None
    entry: Entry | None
    unknown: str = ""


class _Peek(Struct):
    kind: str = ""
    options: dict[str, msgspec.Raw] = {}
    format: str = ""


class LegalDebate:
    """The entries of a debate, and the number of legal ones by its format's rules."""

    def __init__(self, entries: Sequence[Entry], gap: str = "") -> None:
        self.entries = entries
        self.gap = gap
        """Why these are not all entries of the debate; empty if they are."""
        self.facts = Facts()
        """What the legal entries say, without the conclusion at their end."""
        self.legal, self.illegal = _follow(entries, self.facts)

    @property
    def case(self) -> Case:
        """The case; raises `NotCheckable` without one."""
        if self.entries and isinstance(first := self.entries[0], CaseReceived):
            return first.case
        raise NotCheckable("the debate's case cannot be read")

    @property
    def decided(self) -> GateDecided:
        """The gate's decision; raises `NotCheckable` without one."""
        if len(self.entries) > 1 and isinstance(second := self.entries[1], GateDecided):
            return second
        raise NotCheckable("the gate's decision cannot be read")

    @property
    def started(self) -> DebateStarted | None:
        """The start of the debate; ``None`` for a declined case."""
        if not self.decided.decision.debate:
            return None
        if len(self.entries) > 2 and isinstance(third := self.entries[2], DebateStarted):
            return third
        raise NotCheckable(self.gap or "how the debate began cannot be read")

    def walk(self) -> Iterator[tuple[int, Entry, Facts]]:
        """Each legal entry with the facts before it; raises like `each`."""
        facts = Facts()
        for n, entry in self.each():
            yield n, entry, facts
            facts.add(entry)

    def each(self) -> Iterator[tuple[int, Entry]]:
        """Each legal entry; raises `NotCheckable` at the end if not all entries are legal."""
        yield from enumerate(self.entries[: self.legal])
        if self.legal < len(self.entries):
            raise NotCheckable(f"record {self.legal} does not follow from those before it, so nothing from there on")
        if self.gap:
            raise NotCheckable(self.gap)


class OpenedBundle:
    """The parts of a bundle, each read on first use.

    Payloads are read last: the steps up to `records` need none, so a file without a pinned signature costs no more
    than its leaves. ``words`` are the files that no step has compared yet, and ``interval`` the signed
    times that the step `times` has found.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.files = bundle.files
        self.manifest = bundle.manifest
        self.words = {bundles.README, bundles.REPORT, bundles.PAGE, "schema/"}
        self.interval = Interval()
        self._records: dict[int, ReadRecord] = {}

    def file(self, path: str, most: int | None = None) -> bytes:
        """The bytes of a file; raises `NotCheckable` without it. The step `parts` says which ones must be there.

        A file of more than ``most`` bytes is not read: `Differs`.
        """
        size = self.size(path)
        if most is not None and size > most:
            raise Differs(f"the bytes of {path}", f"at most {most}", str(size), file=path)
        return self.files[path]

    def size(self, path: str) -> int:
        """How many bytes a file has; raises `NotCheckable` without it."""
        if path not in self.files:
            raise NotCheckable(f"{path} is missing")
        return bundles.size(self.files, path)

    def digest(self, path: str) -> str:
        """The SHA-256 of a file, hex; raises `NotCheckable` without it."""
        if path not in self.files:
            raise NotCheckable(f"{path} is missing")
        return self._digests.get(path) or sha256(self.files[path]).hexdigest()

    def commitment(self, path: str, salt: bytes) -> str:
        """The salted hash of a file, hex, read in pieces; raises `NotCheckable` without it."""
        if path not in self.files:
            raise NotCheckable(f"{path} is missing")
        hashed = sha256(salt)
        for piece in self.files.pieces(path) if isinstance(self.files, Stored) else (self.files[path],):
            hashed.update(piece)
        return hashed.hexdigest()

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        """The hashes that were computed when the archive was read."""
        return self.files.digests() if isinstance(self.files, Stored) else {}

    def leaf(self, n: int) -> bytes:
        """The leaf of a record; raises `Differs` for one longer than any, and `NotCheckable` without it."""
        return self.file(f"records/{n:04d}.leaf.json", LEAF_BYTES_MAX)

    @cached_property
    def first(self) -> Envelope:
        """The envelope of the first record; raises `NotCheckable`."""
        return self._envelope(0)

    @cached_property
    def envelopes(self) -> tuple[Envelope, ...]:
        """The envelopes; raises `NotCheckable` if one is unreadable, so what `readable` shows comes first."""
        return tuple(self._envelope(n) for n in range(self.manifest.records))

    @cached_property
    def readable(self) -> Mapping[int, Envelope]:
        """The envelopes that can be read, by the number of their record; raises `NotCheckable` without a leaf."""
        read = ((n, read_leaf(self.leaf(n))[0]) for n in range(self.manifest.records))
        return {n: envelope for n, envelope in read if envelope is not None}

    def _envelope(self, n: int) -> Envelope:
        envelope, unknown = read_leaf(self.leaf(n))
        if envelope is None:
            raise NotCheckable(unknown or f"the leaf of record {n} cannot be read")
        return envelope

    def record(self, n: int) -> ReadRecord:
        """A record as far as it is readable, its payload too; raises `NotCheckable` without a leaf."""
        if n not in self._records:
            self._records[n] = self._record(n)
        return self._records[n]

    @cached_property
    def records(self) -> tuple[ReadRecord, ...]:
        """Every record that the manifest counts; raises `NotCheckable` without a leaf."""
        return tuple(self.record(n) for n in range(self.manifest.records))

    @cached_property
    def debate(self) -> LegalDebate:
        """The entries up to the first unreadable one."""
        entries: list[Entry] = []
        for record in self.records:
            if record.entry is None:
                return LegalDebate(entries, record.unknown or f"the payload of record {record.n} cannot be read")
            entries.append(record.entry)
        return LegalDebate(entries)

    @cached_property
    def index(self) -> tuple[DocumentFile, ...]:
        """The listed documents, none for a case that names none; raises `NotCheckable` or `BadBundle`."""
        if not self.debate.case.documents:
            return ()
        return decode_index(self.file("documents/index.json"))

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """The documents' texts by id; raises `NotCheckable` if one is missing."""
        texts = {}
        for document in self.index:
            if document.file is None:
                raise NotCheckable(f"the text of document {document.id!r} is not in the bundle")
            try:
                texts[document.id] = self.file(document.file).decode()
            except UnicodeDecodeError:
                raise NotCheckable(f"the text of document {document.id!r} cannot be read") from None
        if missing := sorted({d.id for d in self.debate.case.documents} - set(texts)):
            raise NotCheckable(f"document {missing[0]!r} is not in the bundle")
        return texts

    @cached_property
    def policy(self) -> Policy:
        """The policy that was in force; raises `NotCheckable` where it is none of the form that the decision names."""
        data = self.file("policy.json")
        version = sealed(self.debate.decided, "policy", POLICY_FORMS, judged=False)
        try:
            policy = decode_policy(data, version)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise NotCheckable(f"policy.json is not a policy of the form {version}") from None
        if encode_policy(policy, version) != data:
            raise NotCheckable(f"policy.json is not as {version} writes a policy")
        return policy

    def _record(self, n: int) -> ReadRecord:
        leaf = self.leaf(n)
        payload = self.files.get(f"records/{n:04d}.payload.json")
        envelope, strange = read_leaf(leaf)
        entry, unknown = (None, "") if payload is None else read_payload(payload, envelope)
        return ReadRecord(n, leaf, payload, envelope, entry, strange or unknown)


def read_leaf(leaf: bytes) -> tuple[Envelope | None, str]:
    """The envelope of a leaf, or ``None``; and the reason if a later build wrote it.

    Later is an integer above the version that this build writes, in a leaf that names each member once.
    """
    try:
        return open_leaf(leaf), ""
    except (ValueError, RecursionError):
        pass
    try:
        members = msgspec.json.decode(leaf, type=dict[str, msgspec.Raw])  # stricter than the reader that sees doubles
        number = json.loads(leaf, object_pairs_hook=_once)["v"] if "v" in members else None
    except (ValueError, RecursionError):
        return None, ""
    if type(number) is not int or number <= VERSION:
        return None, ""
    return None, f"an envelope of version {number} is not known to this build"


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("expected each member once, found one of them again")
    return found


def later_schema(envelope: Envelope) -> str:
    """Why this build cannot read a payload of a later build; otherwise empty."""
    if envelope.schema > SCHEMAS.get(envelope.kind, envelope.schema):
        return f"schema {envelope.schema} of {envelope.kind[:40]!r} is not known to this build"
    return ""


def later_record(envelope: Envelope) -> str:
    """Why this build cannot read a record of a later build, which may be of the log itself; otherwise empty."""
    if envelope.kind not in KINDS and envelope.kind not in log_events.KINDS:
        return _unknown_kind(envelope.kind)
    return later_schema(envelope)


def _unknown_kind(kind: str) -> str:
    return f"an entry of kind {kind[:40]!r} is not known to this build"


def read_payload(payload: bytes, envelope: Envelope | None) -> tuple[Entry | None, str]:
    """The entry of a payload, or ``None``; and the reason if it needs rules that this build lacks.

    The envelope has the version of the payload. If the leaf is unreadable, version 1 is assumed.
    """
    if envelope is not None and (why := later_schema(envelope)):
        return None, why
    try:
        entry = decode(payload, envelope.schema if envelope else 1)
    except (ValueError, RecursionError):
        entry = None
    if isinstance(entry, DebateStarted) and entry.format not in FORMATS:
        return None, unknown_format(entry.format)
    if isinstance(entry, CaseReceived):
        case = entry.case
        asked = entry.asked or AskedOptions()
        amounts = (case.estimated_downside, case.confidence_score, asked.convergence_similarity)
        if not all(map(is_bounded, amounts)) or entry.asked == AskedOptions():  # what asks for nothing is left out
            return None, ""
    if entry is not None:
        return entry, ""
    try:
        peek = msgspec.json.decode(payload, type=_Peek)
    except (ValueError, RecursionError):
        return None, ""
    if peek.kind == "debate.started" and peek.format not in FORMATS:
        return None, unknown_format(peek.format)
    if peek.kind and peek.kind not in KINDS:
        return None, _unknown_kind(peek.kind)
    return None, ""


def is_bounded(amount: Decimal | None) -> bool:
    """Whether arithmetic can hold an amount: the bounds by which cases are accepted (`service.intake.validation`)."""
    if amount is None or not amount.is_finite():
        return True
    return len(amount.as_tuple().digits) <= DIGITS_MAX and -DIGITS_MAX <= amount.adjusted() < DOLLAR_DIGITS


def unknown_format(name: str) -> str:
    """Why this build cannot replay a debate of a format."""
    known = ", ".join(FORMATS)
    return f"the debate is of format {name[:40]!r}, and this build has the rules of: {known}; use a build that has them"


def _follow(entries: Sequence[Entry], facts: Facts) -> tuple[int, str]:
    """The number of legal entries, and the error of the next one; ``facts`` take all but a conclusion at the end."""
    last = len(entries) - 1
    for n, entry in enumerate(entries):
        if n >= ENTRIES_MAX or (isinstance(entry, TurnAsked) and entry.attempt > ATTEMPTS_MAX):
            return n, f"no debate has more than {ENTRIES_MAX} entries, or {ATTEMPTS_MAX} attempts at one turn"
        try:
            refuse_illegal(facts, entry)
            if n < last or not isinstance(entry, DebateConcluded):
                facts.add(entry)
        except GainsayError as error:
            return n, error.detail
        except Exception as fault:  # noqa: BLE001 - an entry of the right shape that no rule can take
            return n, f"the rules cannot be applied to it ({type(fault).__name__})"
    return len(entries), ""
