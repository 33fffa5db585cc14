"""The versions of the report: each with what writes it from a debate's records, as Markdown, HTML or PDF.

A debate's records name the version (`service.debate.versions`), and every build writes and verifies reports in its
words. A change of one byte in a Markdown or HTML report that can be recorded makes a new version beside the old one. A
PDF also depends on the typesetter, so its bytes are recorded when it is issued and never written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from service.audit.report_forms import Form, Paper
from service.report.document.html import html
from service.report.document.markdown import markdown
from service.report.document.pdf import pdf
from service.report.result.build import build_result
from service.report.result.types import Line, LogPosition, Result


class Teller(Protocol):
    """Writes the report of a debate."""

    def __call__(
        self,
        debate: str,
        lines: Sequence[Line],
        *,
        last_record: str,
        position: LogPosition | None,
        texts: Mapping[str, str],
        form: Form,
        paper: Paper,
    ) -> bytes:
        """``position`` is the place of the last record in its log, and ``texts`` are the documents' by their ids.

        Of the position a report has log and index, which never change. Markdown is the same for every paper. Raises
        `CannotTypeset`.
        """
        ...


def _first(
    debate: str,
    lines: Sequence[Line],
    *,
    last_record: str,
    position: LogPosition | None,
    texts: Mapping[str, str],
    form: Form,
    paper: Paper,
) -> bytes:
    return written(build_result(debate, lines, last_record=last_record, position=position, texts=texts), form, paper)


def written(result: Result, form: Form, paper: Paper = "a4") -> bytes:
    """A result in one of the forms of its report, by the newest version."""
    match form:
        case "markdown":
            return markdown(result).encode()
        case "html":
            return html(result, paper).encode()
        case "pdf":
            return pdf(result, paper)


REPORTS: Mapping[str, Teller] = {"report/1": _first}
