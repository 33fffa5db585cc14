"""The golden sets that a process has at hand: the shipped ones, and folders that it was given.

A set is read again when one of its files has changed, so one that vanishes or changes while an evaluation asks it is
seen. A set with a fault is not at hand.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from service.errors import InvalidCase
from service.evaluation.sets import files
from service.evaluation.sets.golden_set import GoldenSet

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder: path, time of the last change, and size."""


class GoldenShelf:
    """The sets of this process; ``folders`` are sets beside the shipped ones. The first of one id counts."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._read: dict[Path, tuple[Stamp, GoldenSet | None]] = {}
        self.seen: set[str] = set()
        """The ids of the sets that were ever at hand in this process: one of them that is not has vanished."""

    def at_hand(self, today: date, only: Collection[str] | None = None) -> Mapping[str, GoldenSet]:
        """The sets by id, as their files are now. Takes some milliseconds a changed set, so callers use a thread.

        With ``only`` those alone: folders of other sets are not looked at once it is known whose they are. A shipped
        set has the date of its release, so a clock of this machine that is behind does not refuse it.
        """
        found: dict[str, GoldenSet] = {}
        latest = dict.fromkeys(files.shipped(), date.max) | dict.fromkeys(self._folders, today)
        for folder in (*self._folders, *files.shipped()):
            if only is not None and self._is_of_another(folder, only):
                continue
            golden = self._golden(folder, latest[folder])
            if golden is not None and (only is None or golden.manifest.id in only):
                found.setdefault(golden.manifest.id, golden)
        self.seen |= found.keys()
        return found

    def _is_of_another(self, folder: Path, only: Collection[str]) -> bool:
        _, golden = self._read.get(folder, (None, None))
        return golden is not None and golden.manifest.id not in only

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
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        yield entry.path, about.st_mtime_ns, about.st_size
        if stat.S_ISDIR(about.st_mode):
            yield from _stamps(Path(entry.path))
