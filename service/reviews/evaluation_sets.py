"""The golden sets that a process has at hand: the shipped ones, and folders that it was given.

A set is read again when one of its files has changed, so one that vanishes or changes while an evaluation asks it is
seen. A set with a fault is not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256 as digest
from pathlib import Path

from msgspec import Struct

from service.errors import InvalidCase
from service.evaluation.sets import files
from service.evaluation.sets.golden_set import GoldenSet

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder: path, time of the last change, and size."""


class WholeSet(Struct, frozen=True):
    """A golden set, and its files as they are in its folder."""

    golden: GoldenSet
    files: Mapping[str, bytes]


class GoldenShelf:
    """The sets of this process; ``folders`` are sets beside the shipped ones. The first of one id counts."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._read: dict[Path, tuple[Stamp, GoldenSet | None]] = {}
        self.seen: set[str] = set()
        """The ids of the sets that were ever at hand in this process: one of them that is not has vanished."""

    def at_hand(self, today: date) -> Mapping[str, GoldenSet]:
        """The sets by id, as their files are now. Takes some milliseconds a changed set, so callers use a thread.

        A shipped set has the date of its release, so a clock of this machine that is behind does not refuse it.
        """
        found: dict[str, GoldenSet] = {}
        for _, golden in self._found(today):
            found.setdefault(golden.manifest.id, golden)
        self.seen |= found.keys()
        return found

    def _found(self, today: date) -> Iterator[tuple[Path, GoldenSet]]:
        """Each set that has no fault, with its folder."""
        latest = dict.fromkeys(files.shipped(), date.max) | dict.fromkeys(self._folders, today)
        for folder in (*self._folders, *files.shipped()):
            if (golden := self._golden(folder, latest[folder])) is not None:
                yield folder, golden

    def whole(self, sha256: str, today: date) -> WholeSet | None:
        """The set with a hash, with its files; ``None`` where it is not at hand. Reads a folder, so use a thread."""
        for folder, golden in self._found(today):
            if golden.hash == sha256:
                found = files.read_folder(folder)[0]
                if {path: digest(raw).hexdigest() for path, raw in found.items()} == dict(golden.files):
                    return WholeSet(golden, found)
        return None

    def _golden(self, folder: Path, today: date) -> GoldenSet | None:
        stamp = tuple(_stamps(folder))
        kept = self._read.get(folder)
        if kept is None or kept[0] != stamp:
            kept = self._read[folder] = stamp, _load(folder, today)
        return kept[1]


def _load(folder: Path, today: date) -> GoldenSet | None:
    try:
        return files.load(folder, today)
    except InvalidCase:
        return None


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Every file of a folder as far as it is there; one that goes meanwhile is left out."""
    for path in sorted(folder.rglob("*")):
        try:
            about = path.lstat()
        except OSError:
            continue
        yield str(path), about.st_mtime_ns, about.st_size
