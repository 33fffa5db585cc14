"""The files of a golden set from a folder: the one module of `service.evaluation` that reads a disk.

Links are not followed, and nothing outside of the folder is read: a set is what its hash says, wherever it lies.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from service.errors import InvalidCase
from service.evaluation.sets.faults import BadSet, Fault
from service.evaluation.sets.form import DOCUMENTS, DOCUMENTS_MAX, FILES, TOTAL_BYTES, bytes_max
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.reading import read_set
from service.evaluation.sets.register import Register, read_register

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
"""Where the shipped sets are."""
REGISTER = GOLDEN / "register.json"
_ENTRIES_MAX = DOCUMENTS_MAX + len(FILES)


class NoSet(InvalidCase):
    """There is no folder of a golden set."""

    code = "no_set"
    title = "There is no such golden set"


def load(folder: Path, today: date) -> GoldenSet:
    """The set in a folder; raises `BadSet` with all faults, and `NoSet` where there is no folder."""
    files, faults = read_folder(folder)
    return read_set(files, today, faults)


def shipped() -> tuple[Path, ...]:
    """The folders of the shipped sets, by name."""
    return tuple(sorted(at.parent for at in GOLDEN.glob("*/set.toml")))


def shipped_ids() -> frozenset[str]:
    """The ids of the shipped sets, which are the names of their folders."""
    return frozenset(folder.name for folder in shipped())


def load_shipped(folder: Path) -> GoldenSet:
    """A shipped set: its date is that of a release, and no wrong clock of this machine refuses it."""
    return load(folder, date.max)


def shipped_register() -> Register:
    """The register of the shipped sets; an empty one where none was written."""
    return read_register(REGISTER.read_bytes()) if REGISTER.exists() else Register({})


def read_folder(folder: Path) -> tuple[dict[str, bytes], list[Fault]]:
    """The bytes of each file of a folder by its path inside, and what of it is no file of a set.

    Raises `NoSet` where there is no folder, and `BadSet` for one that cannot be read.
    """
    files: dict[str, bytes] = {}
    faults: list[Fault] = []
    total = 0
    try:
        there = folder.is_dir()
        entries = list(_entries(folder, faults)) if there else []
    except OSError as error:
        unread = Fault(".", 0, "", f"the folder cannot be read: {error.strerror}; check its permissions")
        raise BadSet([unread]) from error
    if not there:
        raise NoSet(f"expected the folder of a golden set, found none at {folder}; `gainsay evaluate sets` lists ours")
    for path, entry in entries:
        raw = _bytes(path, entry, faults)
        if raw is None:
            continue
        total += len(raw)
        if total > TOTAL_BYTES:
            faults.append(Fault(path, 0, "", f"a set may have {TOTAL_BYTES:,} bytes, found more; divide it"))
            break
        files[path] = raw
    return files, faults


def _entries(folder: Path, faults: list[Fault]) -> Iterator[tuple[str, Path]]:
    """Everything in the folder and in its documents that may be a file."""
    seen = 0
    for entry in sorted(folder.iterdir()):
        if entry.name == DOCUMENTS and entry.is_dir() and not entry.is_symlink():
            for inner in sorted(entry.iterdir()):
                seen += 1
                if seen > _ENTRIES_MAX:
                    faults.append(Fault(DOCUMENTS, 0, "", f"a set may have {DOCUMENTS_MAX:,} documents, found more"))
                    return
                yield f"{DOCUMENTS}/{inner.name}", inner
        else:
            yield entry.name, entry


def _bytes(path: str, entry: Path, faults: list[Fault]) -> bytes | None:
    """A file's bytes, at most one more than it may have; ``None`` for what is no file: that is noted and not opened."""
    try:
        mode = entry.lstat().st_mode
        if stat.S_ISLNK(mode):
            faults.append(Fault(path, 0, "", "this is a link; a set has files alone, put the file itself here"))
            return None
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "no file"
            faults.append(Fault(path, 0, "", f"this is {kind}, and has no place in a set; remove it"))
            return None
        with os.fdopen(os.open(entry, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read(bytes_max(path) + 1)
    except OSError as error:
        faults.append(Fault(path, 0, "", f"it cannot be read: {error.strerror}; check its permissions"))
        return None
