"""Cuts a release, for a commit of its own: the version everywhere, the changelog's section, what is frozen."""

from __future__ import annotations

from pathlib import Path

from supply import frozen
from supply.release import changelog, versions
from supply.release.source import git

FIRST = (1, 0, 0)
"""From this version on a release freezes what it has."""


def cut(root: Path, version: str, day: str) -> list[str]:
    """Write what makes a tree this release, and return the paths.

    Raises `ValueError`, and writes nothing, where it may not be this release. ``day`` is the date of the section,
    as YEAR-MONTH-DAY.
    """
    if git(root, "status", "--porcelain", "--untracked-files=all"):
        raise ValueError(
            "expected a tree as it was committed, so that the cut is a commit of its own; commit or drop what differs"
        )
    before = versions.current(root)
    if versions.key(version) < versions.key(before):
        raise ValueError(f"expected a version after {before}, found {version}")
    file = root / changelog.FILE
    text = changelog.cut(file.read_text("utf-8"), version, day)
    listed = frozen.things(root)
    if versions.key(version) >= FIRST:
        listed = frozen.fill(root, listed, version)
    paths = versions.set_everywhere(root, version)
    file.write_text(text, "utf-8")
    (root / frozen.LIST).write_text(frozen.written(listed), "utf-8")
    return [*paths, changelog.FILE, frozen.LIST]
