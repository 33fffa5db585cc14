"""A recorded debate, rendered: as JSON, as a stream of events, and as a report to read or print. Pure.

decision    what a result begins with, alone
result      the answer of ``GET /v1/debates/{id}``, for any prefix of a debate
summary     its summary, which callers get unless they ask for the whole (``View``, ``viewed``)
events      one entry as the events of a stream; only the last of them has an id
markdown    the report as Markdown
html        the report as one file of HTML
pdf         the report as PDF
"""

from __future__ import annotations

from service.report.document.html import html
from service.report.document.markdown import markdown
from service.report.document.pdf import pdf
from service.report.events import Event, EventName, events
from service.report.result.build import build_decision, build_gate, build_result, build_summary
from service.report.result.summary import VIEWS, Summary, View, summary_of, viewed
from service.report.result.types import Line, Result

__all__ = [
    "VIEWS",
    "Event",
    "EventName",
    "Line",
    "Result",
    "Summary",
    "View",
    "build_decision",
    "build_gate",
    "build_result",
    "build_summary",
    "events",
    "html",
    "markdown",
    "pdf",
    "summary_of",
    "viewed",
]
