"""Reads a lock (requirements*.txt): each package once, at one version, with the hashes of its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = re.compile(r"([a-z0-9][a-z0-9._-]*)==(\S+)(?: ; (.+?))? \\")
_HASH = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})(?: \\)?")


@dataclass(frozen=True)
class Locked:
    """A package of a lock; ``marker`` says on which systems it is installed, and is empty for all."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def read_lock(path: Path) -> list[Locked]:
    """The packages of a lock, in its order; raises `ValueError` for a line that is none of a lock."""
    found: list[Locked] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if package := _PACKAGE.fullmatch(line):
            found.append(Locked(package[1], package[2], package[3] or "", ()))
        elif hashed := _HASH.fullmatch(line):
            last = found.pop()
            found.append(Locked(last.name, last.version, last.marker, (*last.hashes, hashed[1])))
        elif line.strip() and not line.lstrip().startswith("#"):
            raise ValueError(f"{path.name}, line {number}: expected a package, a hash or a comment, found another text")
    return found
