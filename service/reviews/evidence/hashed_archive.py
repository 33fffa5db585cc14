"""An archive of evidence that is written one file after the other, with the hash of each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from typing import IO

from service.audit.archive import LargeWriter


class HashedArchive:
    """A large archive, and the SHA-256 of each file that was written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._archive = LargeWriter(out)
        self.files: dict[str, str] = {}

    async def stream(self, path: str, chunks: AsyncIterator[bytes]) -> None:
        """Write a file in pieces."""
        hashed = sha256()
        with self._archive.member(path) as put:
            async for chunk in chunks:
                hashed.update(chunk)
                put(chunk)
        self.files[path] = hashed.hexdigest()

    def write(self, path: str, content: bytes) -> str:
        """Write a file; returns its hash."""
        with self._archive.member(path) as put:
            put(content)
        self.files[path] = sha256(content).hexdigest()
        return self.files[path]

    def close(self) -> None:
        """Write the end of the archive."""
        self._archive.close()
