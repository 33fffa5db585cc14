"""The log on standard error: one line a record, and what a command at the keyboard leaves out of it."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from service.cli.terminal_text import unbroken

_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})
_AMBIGUOUS = re.compile(r'[\s="]')


class _Line(logging.Formatter):
    """One line a record: time, level, words, then the fields that were given beside them."""

    def __init__(self, *, traces: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._traces = traces

    def formatException(self, ei: Any) -> str:  # noqa: N802 -- logging's own name
        """The stack trace of an error, or without ``traces`` its type and message; each line begins with blanks."""
        found = super().formatException(ei) if self._traces else f"{ei[0].__name__}: {ei[1]}".rstrip(": ")
        return "\n".join(f"  {unbroken(each)}" for each in found.splitlines())

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's own name
        """The words on one line, also those of libraries that would take several."""
        return _on_one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """The line, with a stack trace below it where the record has one."""
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        return super().format(record) + "".join(f" {name}={_value(str(value))}" for name, value in fields.items())


def _value(text: str) -> str:
    """The value of a field. One with a blank or an equals sign is quoted, so it adds no field beside its own."""
    shown = _on_one_line(text)
    return json.dumps(shown, ensure_ascii=False) if _AMBIGUOUS.search(shown) else shown


def _on_one_line(text: str) -> str:
    """A text of others: it begins no line of a log and acts on no terminal that shows one."""
    return unbroken(" ".join(text.splitlines()))


def line_formatter(*, traces: bool) -> logging.Formatter:
    """What makes a line of a record; with ``traces`` an error has its stack trace."""
    return _Line(traces=traces)


def log_from(level: str, *, traces: bool) -> None:
    """Log from this level on; with ``traces`` an error has its stack trace."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(line_formatter(traces=traces))
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)
    logging.getLogger("gainsay").setLevel(level)
    # psycopg writes many lines of its insides; we say when a database goes and comes.
    logging.getLogger("psycopg").setLevel("CRITICAL")


@contextmanager
def only_about(debate: str, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Leave out what is said of other debates, which this process also runs, unless GAINSAY_LOG_LEVEL is set.

    Their caller is not at this terminal. What happens to them is in their records.
    """

    def concerns(record: logging.LogRecord) -> bool:
        return getattr(record, "debate", debate) == debate

    handlers = [] if "GAINSAY_LOG_LEVEL" in environment else logging.getLogger().handlers[:]
    for handler in handlers:
        handler.addFilter(concerns)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(concerns)
