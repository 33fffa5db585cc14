"""The versions of ``report.md``: each with what writes it from a debate's records.

A debate's records name the version (`service.debate.versions`), and every build writes and verifies a bundle's report
in its words. A change of one byte in a report that can be recorded makes a new version beside the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from service.report.document.markdown import markdown
from service.report.result.build import build_result
from service.report.result.types import Line, LogPosition


class Teller(Protocol):
    """Writes the report of a debate that is over as Markdown."""

    def __call__(
        self,
        debate: str,
        lines: Sequence[Line],
        *,
        last_record: str,
        position: LogPosition | None,
        texts: Mapping[str, str],
    ) -> str:
        """``position`` is the place of the last record in its log, and ``texts`` are the documents' by their ids."""
        ...


def _first(
    debate: str, lines: Sequence[Line], *, last_record: str, position: LogPosition | None, texts: Mapping[str, str]
) -> str:
    return markdown(build_result(debate, lines, last_record=last_record, position=position, texts=texts))


REPORTS: Mapping[str, Teller] = {"report/1": _first}
