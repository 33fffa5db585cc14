"""Reports of evaluations: a result as Markdown, HTML, PDF and JSON, all from the same result and saying the same.

    contents.py      the parts in reading order; the first page
    lift.py          differences, agreement by arm, spend
    critic.py        hits and alarms, by family, points of hits against alarms, the release table
    moderator.py     two orders, sides, features
    moderators_over_time.py   the report of an audit of recorded debates, which has no plan and no set
    counted.py       denominators, power, sets, every statistic with its input

Every sentence is the result's own (`service.evaluation.scoring.sentences`), and each plot has a table with its n. Where
n is 0 there is no figure, and the reason stands in its place.
"""

from __future__ import annotations

from typing import Literal

from service.audit.report_forms import Form, Paper
from service.evaluation.moderators.audit import ModeratorAudit
from service.evaluation.moderators.audit import encode as encode_audit
from service.evaluation.scoring.result import Result, encode
from service.report.document import html, markdown, pdf
from service.report.document.blocks import ReportBlocks
from service.report.evaluation.contents import report
from service.report.evaluation.moderators_over_time import moderators_report

__all__ = ["encode_json", "report", "write", "write_audit"]


def write(result: Result, concluded: str, form: Form, paper: Paper = "a4") -> bytes:
    """The report of a result in a form; ``concluded`` is when it was concluded (RFC 3339), which a PDF bears.

    Raises `CannotTypeset` where a PDF cannot be made.
    """
    return _written(report(result, concluded, paper), form)


def write_audit(audit: ModeratorAudit, form: Form | Literal["json"], paper: Paper = "a4") -> bytes:
    """The report of an audit of recorded moderators in a form; raises `CannotTypeset` where a PDF cannot be made."""
    if form == "json":
        return encode_audit(audit)
    return _written(moderators_report(audit, paper), form)


def _written(content: ReportBlocks, form: Form) -> bytes:
    match form:
        case "markdown":
            return markdown.write(content).encode()
        case "html":
            return html.write(content).encode()
        case "pdf":
            return pdf.write(content)


def encode_json(result: Result) -> bytes:
    """The whole result as JSON: every figure that a report shows comes from this."""
    return encode(result)
