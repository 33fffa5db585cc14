"""The files of a pack: which it has, in which order, and each with its hash."""

from __future__ import annotations

from collections.abc import Sequence
from io import BufferedReader
from typing import IO

from service.audit import archive
from service.audit.bundle import LISTED_MAX
from service.audit.pack import (
    README,
    SUMMARY,
    TABLE,
    BadPack,
    Summary,
    before_file,
    decode_summary,
    log_file,
    readme,
)
from service.verify.steps import Differs, expect

LOGS, BUNDLES = "logs/", "bundles/"


def _summary_max(members: Sequence[archive.Member]) -> int:
    """The most bytes of a summary: a line for each file, and one for each damaged decision, of which a log has records.

    A damaged decision has no file. It is named by at most `DAMAGE_MAX` characters, less than its records in a log have.
    """
    return LISTED_MAX * (len(members) + 16) + sum(member.size for member in members if member.path.startswith(LOGS))


class PackFiles:
    """The files of a pack."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        members = archive.scan(stream, large=True)
        self.members = {member.path: member for member in members}
        if SUMMARY not in self.members:
            raise BadPack(f"expected {SUMMARY}, found none")
        most = _summary_max(members)
        if (size := self.members[SUMMARY].size) > most:
            raise BadPack(f"expected {SUMMARY} of at most {most} bytes, found {size}")
        self.summary: Summary = decode_summary(b"".join(archive.contents(stream, self.members[SUMMARY])))

    def open(self, path: str) -> BufferedReader:
        """A file of the pack."""
        return archive.opened(self._stream, self.members[path])

    def check(self) -> str:
        """Compare the files with the summary; raises `Differs`."""
        summary, found = self.summary, [path for path in self.members if path != SUMMARY]
        if missing := sorted(summary.files.keys() - self.members.keys()):
            raise Differs("a file of the summary is missing", missing[0], "nothing", file=missing[0])
        if extra := sorted(set(found) - summary.files.keys()):
            raise Differs("a file that the summary does not name", "nothing", extra[0], file=extra[0])
        expect("the files in their order", self._ordered(), list(self.members))
        for path, digest in summary.files.items():
            expect("the SHA-256 of a file", digest, archive.digest(self._stream, self.members[path]), file=path)
        words = readme(summary.tenant, summary.since, summary.until)
        expect("the size of the words", len(words), self.members[README].size, file=README)
        expect("the words", words, self.open(README).read(), file=README)
        return f"{len(found)} files of {summary.tenant}, from {summary.since} to before {summary.until}"

    def _ordered(self) -> list[str]:
        """The files that a pack with these logs and bundles has; which bundles is for the step `decisions`."""
        ordered = [README]
        for number, log in enumerate(self.summary.logs, 1):
            before = before_file(number)
            ordered += [log_file(number), *([before] if log.first and before in self.members else [])]
        return [*ordered, *(path for path in self.members if path.startswith(BUNDLES)), TABLE, SUMMARY]
