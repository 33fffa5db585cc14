"""The files of a pack: which it has, in which order, and each with its hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from service.audit import archive
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
from service.verify.steps import expect
from service.verify.summarized_files import SummarizedFiles, listed_max

LOGS, BUNDLES = "logs/", "bundles/"


def _summary_max(members: Sequence[archive.Member]) -> int:
    """The most bytes of a summary: a line for each file, and one for each damaged decision, of which a log has records.

    A damaged decision has no file. It is named by at most `DAMAGE_MAX` characters, less than its records in a log have.
    """
    return listed_max(members) + sum(member.size for member in members if member.path.startswith(LOGS))


class PackFiles(SummarizedFiles):
    """The files of a pack."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, SUMMARY, BadPack, _summary_max)
        self.summary: Summary = decode_summary(self.raw_summary)

    def check(self) -> str:
        """Compare the files with the summary; raises `Differs`."""
        summary = self.summary
        self.compare(summary.files, self._ordered)
        words = readme(summary.tenant, summary.since, summary.until)
        expect("the words", words, self.read(README, len(words)), file=README)
        return f"{len(self.named)} files of {summary.tenant}, from {summary.since} to before {summary.until}"

    def _ordered(self) -> list[str]:
        """The files that a pack with these logs and bundles has; which bundles is for the step `decisions`."""
        ordered = [README]
        for number, log in enumerate(self.summary.logs, 1):
            before = before_file(number)
            ordered += [log_file(number), *([before] if log.first and before in self.members else [])]
        return [*ordered, *(path for path in self.members if path.startswith(BUNDLES)), TABLE, SUMMARY]
