"""A toy change as plain files in a folder, so that its text is read as what it is.

NAME.txt    the new file NAME, below the same folders as in the repository
edits.txt   texts that are replaced, file by file:

    === service/debate/formats.py
    --- old
    the text that stands once in the file
    --- new
    the text that takes its place
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.change.tree import Edit, Step, Write

EDITS = "edits.txt"
_FILE = re.compile(r"^=== (?P<path>\S+)\n", re.MULTILINE)
_EDIT = re.compile(r"^--- old\n(?P<old>.+?)^--- new\n(?P<new>.*?)(?=^--- old\n|\Z)", re.MULTILINE | re.DOTALL)


def change_in(folder: Path) -> list[Step]:
    """The steps of the change in a folder: its edits in their order, then its new files by name."""
    return [*_edits(folder / EDITS), *_files(folder)]


def _edits(listed: Path) -> Iterator[Step]:
    _, *parts = _FILE.split(listed.read_text(encoding="utf-8"))
    for path, body in zip(parts[::2], parts[1::2], strict=True):
        for found in _EDIT.finditer(body):
            yield Edit(path, path, found["old"], found["new"].rstrip("\n") + "\n")


def _files(folder: Path) -> Iterator[Step]:
    for path in sorted(folder.rglob("*.txt")):
        if path.name != EDITS:
            name = path.relative_to(folder).with_suffix("").as_posix()
            yield Write(name, name, path.read_text(encoding="utf-8"))
