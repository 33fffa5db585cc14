"""A verification as a list of numbered steps, each of which ends OK, FAILED or NOT CHECKABLE with its reason.

A step is a function that returns a sentence on what agrees. It raises `Differs` at the first difference, and
`NotCheckable` where its input is absent. The content of the file causes any other error, so such an error counts as a
failure of the file: a verification never ends in a stack trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.audit.note import PublicKey
from service.audit.report_forms import Form, Paper
from service.errors import GainsayError

State = Literal["OK", "FAILED", "NOT CHECKABLE"]
VERIFIED, FAILED, GAPS = 0, 1, 4
DECIDED = "records/0001.payload.json"
"""The record that names the versions by which a debate is recomputed."""
SHOWN_MAX = 80
"""The most characters of a value that a difference shows; for a longer value it shows length and hash."""


class Period(Struct, frozen=True):
    """What a key is pinned for: one use or any (""), some logs or all, and a time.

    ``logs`` are names of logs, or of what stands before them (``host/tenant``). ``since`` and ``until`` are days in
    UTC, the first and the last of the time.
    """

    use: str = ""
    logs: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None

    def covers(self, log: str) -> bool:
        """Whether a log is among those that the key is pinned for."""
        return not self.logs or any(log == name or log.startswith(f"{name}/") for name in self.logs)

    def holds(self, seconds: int) -> bool:
        """Whether a time, in seconds since 1970, is within the days."""
        try:
            day = datetime.fromtimestamp(seconds, UTC).date()
        except (OverflowError, ValueError, OSError):
            return not (self.since or self.until)
        return (self.since or day) <= day <= (self.until or day)

    @property
    def dated(self) -> bool:
        """Whether the key is pinned for some time alone."""
        return self.since is not None or self.until is not None

    def __str__(self) -> str:
        parts = [f"for {self.use}s" if self.use else "", f"for {' and '.join(self.logs)}" if self.logs else ""]
        parts += [f"from {self.since}" if self.since else "", f"until {self.until}" if self.until else ""]
        return " ".join(filter(None, parts)) or "for everything"


ALWAYS = Period()


class Trust(Struct, frozen=True):
    """The verifier's own input: pinned verifier keys, and what it accepts without them.

    ``quorum`` is how many of the ``witnesses`` must have cosigned the head. ``periods`` says what a key is pinned for,
    where it is not for everything. ``authorities`` are certificates of authorities for time stamps, by their SHA-256.
    """

    keys: tuple[PublicKey, ...] = ()
    witnesses: tuple[PublicKey, ...] = ()
    periods: Mapping[PublicKey, Period] = {}
    quorum: int = 1
    authorities: tuple[bytes, ...] = ()
    allow_unsigned: bool = False
    allow_unwitnessed: bool = False
    allow_unchecked_lines: bool = False
    allow_loose_times: bool = False
    allow_self_approved: bool = False
    records_only: bool = False
    """Whether an export is verified for its records alone, without what only bundles hold."""

    def period(self, key: PublicKey) -> Period:
        """What a pinned key is pinned for."""
        return self.periods.get(key, ALWAYS)


class Tools(Struct, frozen=True):
    """Parts of this build that read files or do not belong to the verifier.

    ``ready`` is true if this build can count tokens with the named tokenizer. ``reports`` maps each version of the
    report to the function that writes it from an `OpenedBundle`, in a form and for a paper. ``schemas`` gives the files
    under ``schema/`` of a version, by path.
    """

    ready: Callable[[str], bool]
    reports: Mapping[str, Callable[[Any, Form, Paper], bytes]] = {}
    schemas: Callable[[str], Mapping[str, bytes]] | None = None


class Differs(Exception):
    """A value differs from the expected one."""

    def __init__(
        self, what: str, expected: str = "", found: str = "", *, file: str | None = None, record: int | None = None
    ) -> None:
        super().__init__(what)
        self.what, self.expected, self.found = what, expected, found
        self.file, self.record = file, record


class NotCheckable(Exception):
    """A step lacks its input, with the reason. ``allowed`` is set where the verifier's options accept that."""

    def __init__(self, reason: str, *, allowed: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.allowed = reason, allowed


UNCHECKED = "no pinned key checked the lines of "
"""How the name of the gap begins that is a sentence."""
AUTHORITY = "authority "
"""What the name of an authority for time stamps begins with; no witness's name has a space (C2SP signed-note)."""


class SignedTime(Struct, frozen=True):
    """A time, in seconds since 1970, and who signed a head then: a witness, or an authority for time stamps."""

    seconds: int
    signer: str

    def __str__(self) -> str:
        return f"{when(self.seconds)} ({self.signer})"


class Interval(Struct, frozen=True):
    """Between which two signed times a debate was recorded, as far as they are known.

    A record may be dated outside of them by ``tolerance_s`` seconds; ``None`` while nothing is compared with them.
    """

    after: SignedTime | None = None
    until: SignedTime | None = None
    tolerance_s: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Both ends by time and signer; ``None`` for one that no signed time says."""
        ends = {"after": self.after, "until": self.until}
        return {name: end and {"time": when(end.seconds), "signer": end.signer} for name, end in ends.items()}


class VerificationStep(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The result of a step. A failed one has the difference and its place; ``record`` counts from 0 in the debate."""

    number: int
    name: str
    state: State
    detail: str
    file: str | None = None
    record: int | None = None
    expected: str | None = None
    found: str | None = None
    allowed: bool = False


class VerificationReport(Struct, frozen=True, rename="camel"):
    """A whole verification: its object, and its steps in order."""

    kind: Literal["bundle", "comparison", "evaluation", "export", "pack", "unknown"]
    about: dict[str, Any]
    steps: tuple[VerificationStep, ...]
    left: tuple[str, ...] = ()
    """The steps that were left out because one before them failed."""
    words: tuple[str, ...] = ()
    """The files that no step compared with the records: they are only words."""

    @property
    def failed(self) -> tuple[VerificationStep, ...]:
        """The steps that failed."""
        return tuple(step for step in self.steps if step.state == "FAILED")

    @property
    def gaps(self) -> tuple[VerificationStep, ...]:
        """The steps that were not checkable, without those that the verifier's options accept."""
        return tuple(step for step in self.steps if step.state == "NOT CHECKABLE" and not step.allowed)

    @property
    def code(self) -> int:
        """The exit code: 0 all OK, 1 a failure, 4 only gaps."""
        return FAILED if self.failed else GAPS if self.gaps else VERIFIED


def perform(number: int, name: str, check: Callable[[], str]) -> VerificationStep:
    """Carry out a step; never raises."""
    try:
        return VerificationStep(number, name, "OK", check())
    except Differs as d:
        detail = f"{d.what}{f': expected {d.expected}, found {d.found}' if d.expected or d.found else ''}"
        return VerificationStep(number, name, "FAILED", detail, d.file, d.record, d.expected or None, d.found or None)
    except NotCheckable as gap:
        return VerificationStep(number, name, "NOT CHECKABLE", gap.reason, allowed=gap.allowed)
    except GainsayError as error:
        return VerificationStep(number, name, "FAILED", error.detail)
    except Exception as fault:  # noqa: BLE001 - the content of the file caused it
        return VerificationStep(
            number, name, "FAILED", f"the content of the file cannot be recomputed ({type(fault).__name__})"
        )


def perform_all(
    named: Sequence[tuple[str, Callable[[], str]]], *, every: bool, first: int = 1
) -> tuple[tuple[VerificationStep, ...], tuple[str, ...]]:
    """The steps in order up to the first that fails, and the names of those left out; with ``every`` none is."""
    steps: list[VerificationStep] = []
    for number, (name, check) in enumerate(named, start=first):
        steps.append(perform(number, name, check))
        if steps[-1].state == "FAILED" and not every:
            break
    return tuple(steps), tuple(name for name, _ in named[len(steps) :])


_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""The name of a signer, which may have any sign; not the apostrophe of a word."""
_NAME = re.compile(rf"(?:{_QUOTED}|[^:])*")
_PIECE = re.compile(rf"(?:{_QUOTED}|[^,]|,(?! ))+")


def heading(reason: str) -> str:
    """The name of a gap, which stands in front of the first colon that is in no quoted name."""
    found = _NAME.match(reason)
    return found.group() if found else reason


def headings(reason: str) -> list[str]:
    """The names of the gaps that a reason tells: those in capitals, and sentences, which may have commas."""
    names = list[str]()
    for piece in (found.lstrip() for found in _PIECE.findall(heading(reason))):
        if not names or piece.isupper() or names[-1].isupper() or piece.startswith(UNCHECKED):
            names.append(piece)
        else:
            names[-1] += f", {piece}"
    return names


def fail(report: VerificationReport) -> None:
    """Raise the first failure of a file that is part of another one."""
    if report.code == FAILED:
        first = report.failed[0]
        where = f" [{first.file}]" if first.file else ""
        raise Differs(f"{first.name}{where}: {first.detail}", record=first.record)


def when(seconds: int) -> str:
    """RFC 3339 in UTC, or the number of seconds where the calendar has no such day."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"


def tolerance_words(seconds: int) -> str:
    """Why a record may be dated a little outside of signed times."""
    return f"(witnesses sign whole seconds; {seconds} s of tolerance)"


class at:  # noqa: N801 - it reads as the preposition that it is
    """Add the file and record to every difference raised inside.

    Not a generator, because the verifier enters one for each record of an export.
    """

    __slots__ = ("_file", "_record")

    def __init__(self, *, file: str | None = None, record: int | None = None) -> None:
        self._file, self._record = file, record

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: type[BaseException] | None, fault: BaseException | None, _trace: object) -> None:
        if isinstance(fault, Differs):
            fault.file = fault.file or self._file
            fault.record = self._record if fault.record is None else fault.record
        elif isinstance(fault, Exception) and not isinstance(fault, NotCheckable):
            cannot = f"the content of the file cannot be recomputed ({type(fault).__name__})"
            what = fault.detail if isinstance(fault, GainsayError) else cannot
            raise Differs(what, file=self._file, record=self._record) from fault


def expect(what: str, expected: object, found: object, *, file: str | None = None, record: int | None = None) -> None:
    """Raise `Differs` unless both are equal, with the path of the first member that differs."""
    if expected == found:
        return
    path, one, other = difference(msgspec.to_builtins(expected), msgspec.to_builtins(found))
    raise Differs(f"{what}{path}", shown(one), shown(other), file=file, record=record)


NOTHING = type("Nothing", (), {"__repr__": lambda _: "nothing"})()


def difference(expected: Any, found: Any) -> tuple[str, Any, Any]:
    """The path to the first difference between two JSON values, and both values there."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *(name for name in found if name not in expected)]:
            one, other = expected.get(name, NOTHING), found.get(name, NOTHING)
            if one != other or type(one) is not type(other):
                path, one, other = difference(one, other)
                return f".{name}{path}", one, other
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        for i in range(max(len(expected), len(found))):
            one = expected[i] if i < len(expected) else NOTHING
            other = found[i] if i < len(found) else NOTHING
            if one != other or type(one) is not type(other):
                path, one, other = difference(one, other)
                return f"[{i}]{path}", one, other
    return "", expected, found


_PLAIN = re.compile(r"[\w.:/@+-]+", re.ASCII)


def shown(value: object) -> str:
    """A value as a difference shows it: a short one whole, a long one by length and hash."""
    if isinstance(value, dict | list | tuple):
        return f"{len(value)} members"
    text = value if isinstance(value, str) and _PLAIN.fullmatch(value) else repr(value)
    if len(text) <= SHOWN_MAX:
        return text
    digest = sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{len(str(value))} characters with SHA-256 {digest[:16]}…"
