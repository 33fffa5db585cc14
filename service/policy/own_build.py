"""Which code this is: what records and certificates name as the build."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


@cache
def own_build() -> str:
    """SHA-256 over the package's files by name: what the deployer claims to run, not a proof of it."""
    digest = sha256()
    for name, path in sorted((path.relative_to(PACKAGE).as_posix(), path) for path in PACKAGE.rglob("*.py")):
        digest.update(f"{name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
