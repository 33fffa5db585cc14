"""A case as a JSON document, from a file or standard input: the body of ``POST /v1/debates``, read by the same code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from service.cli.documents import FileMissing, FileUnusable
from service.cli.notice import notice
from service.errors import GainsayError, InvalidCase, TooLarge, together
from service.intake.decoding import decode, most_bytes
from service.intake.request import CaseRequest
from service.intake.shape import parsed
from service.policy import Limits
from service.samples.templates import unfilled

STDIN = "-"
Body = dict[str, Any]


def read_case(place: str, limits: Limits) -> Body:
    """The case in a file, or on standard input for ``-``, with its numbers as they are written there.

    Raises `FileMissing` or `FileUnusable` for a file that cannot be read, `TooLarge`, `InvalidCase` for placeholders of
    a template that are not filled, and the errors of the HTTP body with their pointers: `BadRequest`, `WrongShape`.
    """
    raw = _read(place, most_bytes(limits.total_characters))
    name = "standard input" if place == STDIN else place
    try:
        body: Body = parsed(raw)
    except (ValueError, RecursionError):  # no JSON at all: the decoder says where
        body = {}
    if missing := unfilled(body):
        raise InvalidCase(
            f"expected a filled case in {name}, found the placeholder{'s' if len(missing) > 1 else ''} "
            f"{', '.join(missing)}; put your own words and numbers in their place"
        )
    try:
        decode(raw, CaseRequest)
    except GainsayError as error:
        raise _placed(error, name) from error
    return body


def _read(place: str, most: int) -> bytes:
    if place != STDIN:
        return _read_file(Path(place), most)
    with notice() as shown:
        if sys.stdin.isatty():
            shown.say("reading the case from the keyboard; Ctrl-D ends it")
        raw = sys.stdin.buffer.read(most + 1)
    if len(raw) > most:
        raise TooLarge(f"a case may have {most} bytes, found more on standard input; send less, or fewer documents")
    return raw


def _read_file(path: Path, most: int) -> bytes:
    if path.is_dir():
        raise FileUnusable(f"expected a case as JSON at {path}, found a folder; name the file in it")
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error
    except (OSError, ValueError) as error:
        raise FileUnusable(f"expected to read {path}, found: {getattr(error, 'strerror', None) or error}") from error
    if len(raw) > most:
        raise TooLarge(f"a case may have {most} bytes, found more in {path}; send less, or fewer documents")
    return raw


def _placed(error: GainsayError, name: str) -> GainsayError:
    """The error with the place of the body that it speaks of."""
    parts = [type(part)(f"{name}: {part.detail}", pointers=part.pointers) for part in error.parts]
    return together(parts)
