"""The files of an archive whose summary names each with its hash: of a pack, and of the bundle of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BufferedReader
from typing import IO

from service.audit import archive
from service.audit.bundle import LISTED_MAX
from service.errors import GainsayError
from service.verify.steps import Differs, expect


def listed_max(members: Sequence[archive.Member]) -> int:
    """The most bytes of a summary that has a line for each file."""
    return LISTED_MAX * (len(members) + 16)


class SummarizedFiles:
    """The files by their paths, and the bytes of the summary; raises ``bad`` where there is none, or it is too long."""

    def __init__(
        self,
        stream: IO[bytes],
        summary: str,
        bad: type[GainsayError],
        most: Callable[[Sequence[archive.Member]], int] = listed_max,
    ) -> None:
        self._stream = stream
        self._summary = summary
        members = archive.scan(stream, large=True)
        self.members = {member.path: member for member in members}
        if summary not in self.members:
            raise bad(f"expected {summary}, found none")
        if (size := self.members[summary].size) > (limit := most(members)):
            raise bad(f"expected {summary} of at most {limit} bytes, found {size}")
        self.raw_summary = b"".join(archive.contents(stream, self.members[summary]))

    @property
    def named(self) -> list[str]:
        """The files that a summary has to name: all but itself."""
        return [path for path in self.members if path != self._summary]

    def open(self, path: str) -> BufferedReader:
        """A file; raises `Differs` where it is missing."""
        if path not in self.members:
            raise Differs("a file of the archive", path, "nothing", file=path)
        return archive.opened(self._stream, self.members[path])

    def read(self, path: str, most: int) -> bytes:
        """The bytes of a file; raises `Differs` where it is missing, or longer than that."""
        with self.open(path) as file:
            found = file.read(most + 1)
        if len(found) > most:
            raise Differs("the bytes of a file", f"at most {most}", "more", file=path)
        return found

    def compare(self, digests: Mapping[str, str], ordered: Callable[[], list[str]]) -> None:
        """Compare the files with a summary's, their order, and each with its SHA-256; raises `Differs`."""
        if missing := sorted(digests.keys() - self.members.keys()):
            raise Differs("a file of the summary is missing", missing[0], "nothing", file=missing[0])
        if extra := sorted(set(self.named) - digests.keys()):
            raise Differs("a file that the summary does not name", "nothing", extra[0], file=extra[0])
        expect("the files in their order", ordered(), list(self.members))
        for path, digest in digests.items():
            expect("the SHA-256 of a file", digest, archive.digest(self._stream, self.members[path]), file=path)
