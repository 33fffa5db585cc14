"""Lines of JSON: each line's value, read strictly, with every fault by its number.

Refused are text that is not UTF-8, a byte order mark, CR, blank lines, a member that stands twice, NaN and Infinity,
halves of surrogate pairs, the character U+0000, and a line that is too long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import LINE_BYTES

BOM = b"\xef\xbb\xbf"
_DEEPEST = 32


def text_of(path: str, raw: bytes, faults: list[Fault]) -> str | None:
    """The text of a file, or ``None`` where its bytes cannot be one."""
    before = len(faults)
    if raw.startswith(BOM):
        faults.append(Fault(path, 1, "", "the file begins with a byte order mark; save it as UTF-8 without one"))
    if (at := raw.find(b"\r")) >= 0:
        faults.append(Fault(path, _line(raw, at), "", "the file has CR in it; end lines with LF alone"))
    if (at := raw.find(b"\0")) >= 0:
        faults.append(Fault(path, _line(raw, at), "", "the file has the character U+0000 in it; remove it"))
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        words = f"expected UTF-8, found the byte 0x{raw[error.start]:02x}; re-encode the file"
        faults.append(Fault(path, _line(raw, error.start), "", words))
        return None
    return text if len(faults) == before else None


def _line(raw: bytes, at: int) -> int:
    return raw.count(b"\n", 0, at) + 1


def read_lines(path: str, text: str, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line that is a JSON object, with its number from 1; notes what is wrong with the others."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        faults.append(Fault(path, 0, "", "the file has no line; write one JSON object a line"))
    for number, line in enumerate(lines, start=1):
        if len(line.encode()) > LINE_BYTES:
            words = f"a line may have {LINE_BYTES:,} bytes, found {len(line.encode()):,}; shorten it"
            faults.append(Fault(path, number, "", words))
            continue
        try:
            yield number, read_object(line)
        except ValueError as error:
            faults.append(Fault(path, number, "", str(error)))


def read_object(text: str) -> dict[str, Any]:
    """The members of a JSON object; raises `ValueError` with a sentence for anything else."""
    if not text.strip():
        raise ValueError("the line is blank; remove it")
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"expected one JSON object, found other text at column {error.colno}: {error.msg}") from None
    if not isinstance(found, dict):
        raise ValueError("expected one JSON object a line, found another value")  # noqa: TRY004 - of the text
    _check_texts(found, 0)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an object has the member {said(name)} twice; keep one of them")
        found[name] = value
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON; write a number, or leave it out")


def _check_texts(value: object, depth: int) -> None:
    """Refuse texts that are none in UTF-8 or that a database cannot hold, and nesting that no item has."""
    if depth > _DEEPEST:
        raise ValueError("the line is nested too deeply")
    if isinstance(value, str):
        if "\0" in value or not _encodes(value):
            raise ValueError("a text has U+0000 or half of a surrogate pair in it; remove it")
    elif isinstance(value, list):
        for one in value:
            _check_texts(one, depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            _check_texts(name, depth + 1)
            _check_texts(one, depth + 1)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
