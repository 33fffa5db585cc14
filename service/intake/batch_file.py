"""The file of a batch: JSON Lines, one case a line, checked as a whole before anything of it is stored.

    a line             one case, as POST /v1/debates takes it, or {"key": "...", "case": {...}} with a key of the caller
    lines end          with LF or CRLF; the last one may lack it; blank lines are passed over and counted in the numbers
    the file begins    with the first line, or a byte order mark of UTF-8
    refused            another encoding, a line beyond the limit of a case, a key twice, more lines than policy allows,
                       and every case that POST /v1/debates would refuse before it looks at money and queue

A refusal names the faults by line, as `/17/case/question`: line 17 of the file, and the member in it. It lists
`FAULTS_MAX` at most and reads no further then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from service.errors import FAULTS_MAX, BadRequest, GainsayError, InvalidCase, TooLarge, together
from service.intake.decoding import decode
from service.intake.request import CaseRequest

KEY_MAX = 200
"""Characters of a line's own key."""
BOM = b"\xef\xbb\xbf"
_OTHER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
PART = 50
"""So many lines are checked in one go."""


class Line(Struct, frozen=True):
    """A line with a case: its number in the file, from 1, its own key, and the text of its case as it came."""

    number: int
    key: str | None
    case: bytes


class BatchLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A line with a key of its own: the case, and the name by which the caller knows it."""

    case: CaseRequest
    """The case, as the body of POST /v1/debates."""
    key: Annotated[str, Meta(min_length=1, max_length=KEY_MAX)] | None = None
    """The caller's own name of the line, once in the file. A case that was recorded under it is not debated again."""


class _Envelope(Struct, frozen=True, forbid_unknown_fields=True):
    """The same, its case undecoded."""

    case: Raw
    key: Annotated[str, Meta(min_length=1, max_length=KEY_MAX)] | None = None


class _Sniffed(Struct, frozen=True):
    """Whether a line is a case or holds one."""

    case: Raw | UnsetType = UNSET
    key: Raw | UnsetType = UNSET


class BatchFile:
    """A file of cases while it is read, in `steps`; the last one refuses the file if it has a fault."""

    def __init__(self, raw: bytes, *, cases: int, line_bytes: int, check: Callable[[CaseRequest], None]) -> None:
        self._raw = raw
        self._cases = cases
        self._line_bytes = line_bytes
        self._check = check
        self._keys: dict[str, int] = {}
        self._faults: list[GainsayError] = []
        self.lines: list[Line] = []
        """The lines with a case so far."""
        self._refuse_other_encodings()

    def _refuse_other_encodings(self) -> None:
        for mark, name in _OTHER_MARKS.items():
            if self._raw.startswith(mark):
                raise BadRequest(f"the batch must be JSON Lines in UTF-8, found the mark of {name}; re-encode the file")

    def steps(self) -> Iterator[None]:
        """Read the file, with a pause after every `PART` lines: the caller lets other work run there."""
        for nth, (number, text) in enumerate(self._texts(), start=1):
            if len(self.lines) >= self._cases:
                self._faults.append(
                    TooLarge(f"a batch may have {self._cases} cases, found more; divide it", pointers=(f"/{number}",))
                )
                break
            self._read(number, text)
            if len(self._faults) >= FAULTS_MAX:
                break
            if nth % PART == 0:
                yield
        self._finish()

    def _finish(self) -> None:
        """Refuse the file with all that was found."""
        if self._faults:
            raise together(self._faults)
        if not self.lines:
            raise BadRequest("expected one case a line as JSON Lines, found no line with one; send at least one case")

    def _texts(self) -> Iterator[tuple[int, bytes]]:
        """Every line that is not blank, with its number."""
        begin = len(BOM) if self._raw.startswith(BOM) else 0
        number = 0
        while begin < len(self._raw):
            end = self._raw.find(b"\n", begin)
            end = len(self._raw) if end < 0 else end
            number += 1
            if end - begin > self._line_bytes + 1:
                # A line beyond the limit is not copied.
                yield number, self._raw[begin : begin + self._line_bytes + 2]
            elif text := self._raw[begin:end].strip(b" \t\r"):
                yield number, text
            begin = end + 1

    def _read(self, number: int, text: bytes) -> None:
        """Read a line, and note its faults by its number."""
        if len(text) > self._line_bytes:
            self._note(
                number, "", TooLarge(f"a line may have {self._line_bytes} bytes, found more; send fewer documents")
            )
            return
        place = ""
        try:
            key, case = None, text
            if _holds_a_case(text):
                envelope = decode(text, _Envelope)
                key, case, place = envelope.key, bytes(envelope.case), "/case"
            self._check(decode(case, CaseRequest))
            if key is not None:
                self._expect_new(number, key)
        except (BadRequest, InvalidCase, TooLarge) as error:
            for part in error.parts:
                self._note(number, place, part)
            return
        self.lines.append(Line(number, key, case))

    def _expect_new(self, number: int, key: str) -> None:
        if not key.isprintable():
            raise _OfKey("expected a key of printable characters; use letters, digits and punctuation")
        if (first := self._keys.setdefault(key, number)) != number:
            raise _OfKey(f"line {first} has the same key; give each line a key of its own")

    def _note(self, number: int, place: str, fault: GainsayError) -> None:
        inside = "" if isinstance(fault, _OfKey) else place
        pointers = tuple(f"/{number}{inside}{pointer}" for pointer in fault.pointers) or (f"/{number}{inside}",)
        kind = InvalidCase if isinstance(fault, _OfKey | BadRequest) else type(fault)
        self._faults.append(kind(f"line {number}: {_of_a_line(fault.detail)}", pointers=pointers))


class _OfKey(InvalidCase):
    """A fault of a line's key."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, pointers=("/key",))


def _of_a_line(detail: str) -> str:
    """What is said of a body, as it is said of a line in a file."""
    whole = detail.replace("; send all of it, and check Content-Length", "; a case stands whole on one line")
    return whole.replace("the body ", "it ").replace("at line 1, column", "at column")


def _holds_a_case(text: bytes) -> bool:
    """Whether a line is an envelope: it has a member that no case has. What is no JSON is refused as a case."""
    try:
        found = msgspec.json.decode(text, type=_Sniffed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return found.case is not UNSET or found.key is not UNSET


def with_keys(raw: bytes, prefix: str) -> bytes:
    """The file with a key for each line that has none: the prefix and the line's number. Line numbers stay.

    What is no line with a case stays as it is, to be refused by its number.
    """
    mark, rest = (BOM, raw[len(BOM) :]) if raw.startswith(BOM) else (b"", raw)
    lines = rest.split(b"\n")
    return mark + b"\n".join(_keyed(line, f"{prefix}-{number}") for number, line in enumerate(lines, start=1))


def _keyed(line: bytes, key: str) -> bytes:
    text = line.strip(b" \t\r")
    if not text.startswith(b"{"):
        return line
    try:
        found = msgspec.json.decode(text, type=_Sniffed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return line
    if found.key is not UNSET:
        return line
    own = b'"key":' + msgspec.json.encode(key) + b","
    return b"{" + own + (text[1:] if found.case is not UNSET else b'"case":' + text + b"}")
