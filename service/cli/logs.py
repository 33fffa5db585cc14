"""The log on standard error: one line a record, as text or as JSON, and what a command at the keyboard leaves out.

    text    2026-11-26T09:14:03.207Z WARNING debate left unfinished event=debate.left_unfinished debate=… code=…
    json    {"time":"2026-11-26T09:14:03.207Z","level":"warning","event":"debate.left_unfinished","message":…,…}

Times are UTC. `service.log_lines` has the names of all lines. A line of a library has the event ``library`` and the
first line of its words. Of an error it has the type and where it was raised; its message only where the service
wrote it, or at level DEBUG, because messages of others hold what they were given.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from service import __version__, log_lines
from service.cli.terminal_text import say, unbroken
from service.errors import GainsayError
from service.policy.settings import LogFormat

LIBRARY = "library"
"""The event of a line that no part of the service wrote."""
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", log_lines.EVENT})
_AMBIGUOUS = re.compile(r'[\s="]')
_PLACES_MAX = 30
"""The most places of a stack that a line has; those next to the error are kept."""


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The fields of a line: the ids of what it was logged in, then those that were given beside its words, but none
    for ``None``."""
    return {
        **log_lines.bound_fields(),
        **{name: value for name, value in vars(record).items() if name not in _STANDARD and value is not None},
    }


def event_of(record: logging.LogRecord) -> str:
    """The name of a line's event."""
    return str(getattr(record, log_lines.EVENT, LIBRARY))


def words_of(record: logging.LogRecord) -> str:
    """The words of a line, on one line; of a library the first of its lines, because more of them show values."""
    words = record.getMessage()
    if event_of(record) == LIBRARY:
        words = words.partition("\n")[0]
    return _on_one_line(words)


class TextLine(logging.Formatter):
    """One line a record: time, level, words, name, then the fields that were given beside them."""

    def __init__(self, *, traces: bool) -> None:
        super().__init__()
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the error below it where the record has one; each further line begins with blanks."""
        fields = {log_lines.EVENT: event_of(record), **fields_of(record)}
        line = f"{_time(record)} {record.levelname} {words_of(record)}" + "".join(
            f" {name}={_value(str(value))}" for name, value in fields.items()
        )
        if record.exc_info and record.exc_info[1] is not None:
            line += "".join(f"\n  {unbroken(each)}" for each in self._error(record.exc_info[1]))
        return line

    def _error(self, error: BaseException) -> Iterator[str]:
        for found in described(error):
            message = f": {found['message']}" if "message" in found else ""
            yield f"{found['type']}{message}"
            if self._traces:
                yield from (f"  {place}" for place in found["at"])


class JSONLine(logging.Formatter):
    """One JSON object a record, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line: time, level, event, words, where it comes from, ids and fields, and the error if there is one."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "event": event_of(record),
            "message": words_of(record),
            "service": "gainsay",
            "version": __version__,
            "pid": record.process,
        }
        if line["event"] == LIBRARY:
            line["logger"] = record.name
        line |= {name: _plain(value) for name, value in fields_of(record).items()}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = described(record.exc_info[1])
        return msgspec.json.encode(line, enc_hook=str).decode()


def described(error: BaseException | None) -> list[dict[str, Any]]:
    """An error and those that led to it, the last one first: type, message if it may be shown, and where."""
    found, seen = list[dict[str, Any]](), set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kind = f"{type(error).__module__}.{type(error).__qualname__}"
        each: dict[str, Any] = {"type": kind.removeprefix("builtins.")}
        if (message := _message(error)) is not None:
            each["message"] = _on_one_line(message)
        frames = traceback.extract_tb(error.__traceback__)[-_PLACES_MAX:]
        each["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        found.append(each)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _message(error: BaseException) -> str | None:
    """What an error says, where the service or the system wrote it; of others at level DEBUG alone."""
    if isinstance(error, GainsayError):
        return f"{error.code}: {error.detail}"
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror)
    if log_lines.LOG.isEnabledFor(logging.DEBUG):
        return str(error)
    return None


def _plain(value: object) -> object:
    return _on_one_line(value) if isinstance(value, str) else value


def _value(text: str) -> str:
    """The value of a field. One with a blank or an equals sign is quoted, so it adds no field beside its own."""
    shown = _on_one_line(text)
    return json.dumps(shown, ensure_ascii=False) if _AMBIGUOUS.search(shown) else shown


def _on_one_line(text: str) -> str:
    """A text of others: it begins no line of a log and acts on no terminal that shows one."""
    return unbroken(" ".join(text.splitlines()))


def _time(record: logging.LogRecord) -> str:
    """When a line was logged (RFC 3339, UTC, milliseconds)."""
    at = datetime.fromtimestamp(record.created, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1_000:03d}Z"


def line_formatter(form: LogFormat = "text", *, traces: bool) -> logging.Formatter:
    """What makes a line of a record; with ``traces`` a text has the stack of an error, which JSON always has."""
    return JSONLine() if form == "json" else TextLine(traces=traces)


def log_from(level: str, form: LogFormat = "text", *, traces: bool) -> None:
    """Log from this level on, in this form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(line_formatter(form, traces=traces))
    logging.basicConfig(level="WARNING", handlers=[handler], force=True)
    log_lines.LOG.setLevel(level)
    # psycopg writes many lines of its insides; we say when a database goes and comes.
    logging.getLogger("psycopg").setLevel("CRITICAL")


def is_json() -> bool:
    """Whether the log of this process is JSON: nothing else may then stand on standard error."""
    return any(isinstance(handler.formatter, JSONLine) for handler in logging.getLogger().handlers)


def announce(line: log_lines.LogLine, words: str, **fields: object) -> None:
    """Say a thing of a process that stays: ``words`` at a terminal, otherwise a line of the log."""
    if sys.stderr.isatty() and not is_json():
        say(f"gainsay: {words}", err=True)
    else:
        line(**fields)


@contextmanager
def only_about(debate: str, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Leave out what is said of other debates, which this process also runs, unless GAINSAY_LOG_LEVEL is set.

    Their caller is not at this terminal. What happens to them is in their records.
    """

    def concerns(record: logging.LogRecord) -> bool:
        return fields_of(record).get("debate", debate) == debate

    handlers = [] if "GAINSAY_LOG_LEVEL" in environment else logging.getLogger().handlers[:]
    for handler in handlers:
        handler.addFilter(concerns)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(concerns)
