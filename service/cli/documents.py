"""Files on the command line as the documents of a case."""

from __future__ import annotations

import os
from pathlib import Path

from service.errors import InvalidCase, NotFound, TooLarge
from service.intake.request import DocumentRequest

BYTES_PER_CHARACTER = 4
"""The most bytes that UTF-8 needs: a larger file exceeds the limit and is not read."""
_OTHER_FORMATS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive, such as a Word or Excel file",
    b"\xd0\xcf\x11\xe0": "an old Word or Excel file",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x1f\x8b": "a gzip file",
}


class FileUnusable(InvalidCase):
    """A file that cannot be a document: a folder, an unreadable file, or a file that is not text."""

    code = "bad_file"
    title = "The file cannot be used as a document"


class FileMissing(NotFound):
    """There is no such file."""

    code = "no_file"
    title = "There is no such file"


def read_document(path: Path, most_characters: int, *, round_: int = 1) -> DocumentRequest:
    """A file as a document under its name; raises `FileMissing`, `FileUnusable` or `TooLarge`."""
    return DocumentRequest(text=read_text(path, most_characters), title=path.name, round=round_)


def read_later(value: str, most_characters: int) -> DocumentRequest:
    """``FILE:ROUND``, a document for a later round."""
    name, colon, number = value.rpartition(":")
    if not (colon and name and number.isascii() and number.isdigit()):
        raise FileUnusable(f"expected FILE:ROUND, such as notes.txt:2, found {value!r}", pointers=("/documents",))
    return read_document(Path(name), most_characters, round_=int(number))


def read_answer(value: str, most_characters: int) -> str:
    """The answer under review: the contents of the file of that name if it exists, otherwise the text itself."""
    if not any(c.isspace() for c in value) and (os.sep in value or Path(value).suffix in (".txt", ".md")):
        return read_text(Path(value), most_characters)
    try:
        is_file = Path(value).is_file()
    except (OSError, ValueError):  # longer than any file's name may be, or with a NUL
        is_file = False
    return read_text(Path(value), most_characters) if is_file else value


def read_text(path: Path, most_characters: int) -> str:
    """The UTF-8 text of a file."""
    if path.is_dir():
        raise FileUnusable(f"expected a file at {path}, found a folder; name the files in it")
    try:
        size = path.stat().st_size
        if size > most_characters * BYTES_PER_CHARACTER:
            raise TooLarge(f"{path} has {size} bytes; a document may have {most_characters} characters")
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileUnusable(f"expected to read {path}, found: {why}") from error
    return _decode(path, content)


def _decode(path: Path, content: bytes) -> str:
    for mark, what in _OTHER_FORMATS.items():
        if content.startswith(mark):
            raise FileUnusable(f"expected UTF-8 text in {path}, found {what}; save it as plain text in UTF-8 first")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileUnusable(
            f"expected UTF-8 text in {path}, found byte 0x{content[error.start]:02x} at offset {error.start}, which is "
            f"none; convert it first, for instance: iconv -f WINDOWS-1252 -t UTF-8 {path}"
        ) from error
    if (nul := text.find("\0")) >= 0:
        raise FileUnusable(f"expected text in {path}, found a NUL character at offset {nul}; is it a text file?")
    if not text.strip():
        raise FileUnusable(f"{path} is empty; a debate argues from what documents say")
    return text.removeprefix("\ufeff")
