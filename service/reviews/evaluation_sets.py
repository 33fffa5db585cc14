"""The golden sets that a process has at hand: the shipped ones, and folders that it was given.

Folders are refused where a process begins (`unfit_sets`), each fault by file and line. A set is read again when one of
its files has changed, so one that vanishes or changes while an evaluation asks it is seen. From then on a set with a
fault is not at hand.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256 as digest
from pathlib import Path

from msgspec import Struct

from service.errors import InvalidCase
from service.evaluation.sets import files
from service.evaluation.sets.faults import BadSet
from service.evaluation.sets.form import SET
from service.evaluation.sets.golden_set import GoldenSet
from service.policy.set_folders import SetFolder

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a folder: path, time of the last change, and size."""


class WholeSet(Struct, frozen=True):
    """A golden set, and its files as they are in its folder."""

    golden: GoldenSet
    files: Mapping[str, bytes]


class GoldenShelf:
    """The sets of this process; ``folders`` are sets beside the shipped ones. Of one id the first counts, a shipped one
    before all. A set of one tenant is at hand in that tenant alone."""

    def __init__(self, folders: Sequence[SetFolder] = ()) -> None:
        self._folders = tuple(folders)
        self._read: dict[Path, tuple[Stamp, GoldenSet | None]] = {}
        self.seen: set[str] = set()
        """The ids of the sets that were ever at hand in this process: one of them that is not has vanished."""

    def at_hand(self, today: date, tenant: str, only: Collection[str] | None = None) -> Mapping[str, GoldenSet]:
        """The sets of a tenant by id, as their files are now.

        Takes some milliseconds a changed set, so callers use a thread. With ``only`` those alone: folders of other sets
        are not looked at once it is known whose they are. A shipped set has the date of its release, so a clock of this
        machine that is behind does not refuse it.
        """
        found: dict[str, GoldenSet] = {}
        for _, golden in self._found(today, tenant, only):
            found.setdefault(golden.manifest.id, golden)
        self.seen |= found.keys()
        return found

    def _found(self, today: date, tenant: str, only: Collection[str] | None = None) -> Iterator[tuple[Path, GoldenSet]]:
        """Each set of a tenant that has no fault, with its folder; the shipped ones first."""
        own = (folder.path for folder in self._folders if folder.tenant in (None, tenant))
        latest = dict.fromkeys(files.shipped(), date.max) | dict.fromkeys(own, today)
        for folder, day in latest.items():
            if only is not None and self._is_of_another(folder, only):
                continue
            golden = self._golden(folder, day)
            if golden is not None and (only is None or golden.manifest.id in only):
                yield folder, golden

    def _is_of_another(self, folder: Path, only: Collection[str]) -> bool:
        _, golden = self._read.get(folder, (None, None))
        return golden is not None and golden.manifest.id not in only

    def whole(self, sha256: str, today: date, tenant: str) -> WholeSet | None:
        """The set with a hash, with its files; ``None`` where it is not at hand. Reads a folder, so use a thread."""
        for folder, golden in self._found(today, tenant):
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


def unfit_sets(folders: Sequence[SetFolder], today: date) -> list[str]:
    """Every fault of the folders that a process is given as sets, a sentence each: none of them may be asked with one.

    1. There is a set in the folder, and nothing is wrong with it.
    2. No shipped set has its id: a plan names a set by it.
    3. No other folder has a set of its id, of whatever version.
    """
    shipped, named, faults = files.shipped_ids(), dict[str, Path](), list[str]()
    for folder in (each.path for each in folders):
        try:
            found = files.load(folder, today).manifest
        except BadSet as error:
            faults += [f"{folder}/{fault}" for fault in error.faults]
        except files.NoSet as error:
            faults.append(error.detail)
        else:
            at, other = f"{folder}/{SET}: id", named.setdefault(found.id, folder)
            if found.id in shipped:
                faults.append(f"{at}: {found.id!r} is the id of a shipped set; give this one an id of its own")
            elif other != folder:
                faults.append(
                    f"{at}: {other} has a set {found.id!r} too; one version is at hand at a time, so name one folder"
                )
    return faults


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
