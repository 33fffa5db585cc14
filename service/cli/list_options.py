"""The filters of ``gainsay list`` as options, and the query of ``GET /v1/debates`` that they make.

The service knows which values there are, and refuses others: a newer one may have more. The lists here complete what is
typed in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, get_args

import click
from click.shell_completion import CompletionItem

from service.cli.help_sections import Decorated, option
from service.debate.formats import NAMES
from service.debate.model import Status
from service.debate.replies import ConfidenceLevel
from service.errors import did_you_mean
from service.report.decision_labels import OUTCOMES
from service.report.labels import FLAG

Query = tuple[tuple[str, str], ...]
PAGE_MAX = 100
"""The most debates of one page of the service."""
SORTS = ("-createdAt", "createdAt", "-spentUSD", "spentUSD", "-estimatedDownsideUSD", "estimatedDownsideUSD")
MATERIALITY = ("high", "moderate", "low")
PURPOSES = ("decision", "evaluation")
FACETS = (
    *("taskType", "status", "format", "outcome", "confidence", "flag", "humanReview", "useCase", "materiality"),
    "model",
)
_FILTERS, _ORDER = "Which debates", "How many, in which order"
_AGO = re.compile(r"([1-9]\d{0,4})([hdw])", re.ASCII)
_DAY = re.compile(r"\d{4}-", re.ASCII)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAYS = {"today": 0, "yesterday": 1}


class Filter(NamedTuple):
    """An option whose values go into the query as they are: its parameter, the name there, and how it is written."""

    parameter: str
    asked: str
    written: str


FILTERS = (
    Filter("since", "since", "--since"),
    Filter("until", "until", "--until"),
    Filter("task_type", "taskType", "--task-type"),
    Filter("status", "status", "--status"),
    Filter("format_", "format", "--format"),
    Filter("outcome", "outcome", "--outcome"),
    Filter("confidence", "confidence", "--confidence"),
    Filter("flag", "flag", "--flag"),
    Filter("human_review", "humanReview", "--human-review"),
    Filter("use_case", "useCase", "--use-case"),
    Filter("materiality", "materiality", "--materiality"),
    Filter("purpose", "purpose", "--purpose"),
    Filter("model", "model", "--model"),
    Filter("metadata", "metadata", "--metadata"),
    Filter("question", "q", "--question"),
)


def _completed(values: Sequence[str]) -> Callable[..., list[CompletionItem]]:
    """Complete one of these values in a shell; other values are not refused here."""

    def complete(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        return [CompletionItem(value) for value in values if value.startswith(typed)]

    return complete


def _filter(written: str, metavar: str, words: str, values: Sequence[str] = (), **given: Any) -> Any:
    shown = f"{words}{' ' if values else ''}{', '.join(values)}{'.' if values else ''}"
    completing = {"shell_complete": _completed(values)} if values else {}
    name = next(one.parameter for one in FILTERS if one.written == written)
    return option(_FILTERS, written, name, metavar=metavar, help=shown, multiple=True, **completing, **given)


_OPTIONS = (
    option(
        *(_FILTERS, "--since"),
        metavar="TIME",
        help="Created then or later, in UTC: a day, RFC 3339, today, yesterday, or an age as 12h, 7d, 2w.",
    ),
    option(_FILTERS, "--until", metavar="TIME", help="Created before this time."),
    _filter("--task-type", "T", "The task type."),
    _filter("--status", "S", "The status:", get_args(Status)),
    _filter("--format", "F", "The format:", NAMES),
    _filter("--outcome", "O", "The outcome:", tuple(OUTCOMES)),
    _filter("--confidence", "LEVEL", "The confidence:", get_args(ConfidenceLevel)),
    option(
        *(_FILTERS, "--flag", "flag"),
        metavar="FLAG",
        multiple=True,
        shell_complete=_completed(tuple(FLAG)),
        help="A flag of the debate, as its page names it.",
    ),
    option(_FILTERS, "--human-review/--no-human-review", default=None, help="Whether a rule requires human review."),
    _filter("--use-case", "TEXT", "The use case, exactly."),
    _filter("--materiality", "M", "The materiality:", MATERIALITY),
    _filter("--purpose", "P", "Why it was brought:", PURPOSES),
    _filter("--model", "MODEL", "A model that a seat had."),
    _filter("--metadata", "KEY[=VALUE]", "Metadata of the case; each one that is given has to be there."),
    option(_FILTERS, "--question", metavar="WORDS", help="Words of the question."),
    option(
        *(_ORDER, "--sort"),
        metavar="ORDER",
        default=SORTS[0],
        show_default=True,
        shell_complete=_completed(SORTS),
        help=f"{', '.join(SORTS)}; - is downwards.",
    ),
    option(
        *(_ORDER, "--limit"), type=click.IntRange(min=1), metavar="N", default=20, show_default=True, help="At most N."
    ),
    option(_ORDER, "--all", "every", is_flag=True, help="All that there are, in place of --limit."),
)


def list_options(command: Decorated) -> Decorated:
    """Give a command the filters, the order and the number of debates."""
    for option_ in reversed(_OPTIONS):
        command = option_(command)
    return command


def query_of(given: Mapping[str, Any], now: datetime) -> Query:
    """The filters and the order as parameters of the query; ``now`` is in UTC."""
    found = (
        (asked, instant(value, written, now) if asked in ("since", "until") else value)
        for parameter, asked, written in FILTERS
        for value in _values(given[parameter])
    )
    return (*found, ("sort", given["sort"]))


def filters_in_words(given: Mapping[str, Any]) -> str:
    """The filters as they were written, for a list that is empty; an empty text without one."""
    words = []
    for parameter, _, written in FILTERS:
        if parameter == "human_review" and given[parameter] is not None:
            words.append("--human-review" if given[parameter] else "--no-human-review")
        else:
            words += [f"{written} {_quoted(value)}" for value in _values(given[parameter])]
    return " ".join(words)


def instant(text: str, written: str, now: datetime) -> str:
    """A time as the service takes it: a word or an age becomes an instant in UTC, and what begins as a day stays.

    Raises `click.UsageError` for any other text.
    """
    if text in _DAYS:
        return (now - timedelta(days=_DAYS[text])).date().isoformat()
    if _DAY.match(text):
        return text
    if not (ago := _AGO.fullmatch(text)):
        raise click.UsageError(
            f"{written}: expected a day as 2026-01-31, a time with its zone as 2026-01-31T09:00:00Z, today, yesterday, "
            f"or an age as 12h, 7d or 2w, found {text[:80]!r}{did_you_mean(text, _DAYS)}"
        )
    try:
        return (now - int(ago[1]) * _UNITS[ago[2]]).isoformat(timespec="seconds").replace("+00:00", "Z")
    except OverflowError:
        raise click.UsageError(f"{written}: {text} is before the year 1") from None


def _values(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, bool):
        return (str(given).lower(),)
    return given if isinstance(given, tuple) else (given,)


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.:=@+-]+", value) else f"'{value}'"
