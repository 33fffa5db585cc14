"""A line of the log: as text and as JSON, with ids, without what others' errors and libraries say."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

import pytest

from service import log_lines
from service.cli import logs
from service.errors import StoreUnavailable
from service.policy.settings import LogFormat, read_log_format

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def err() -> Iterator[StringIO]:
    root, ours, psycopg = logging.getLogger(), log_lines.LOG, logging.getLogger("psycopg")
    before = root.handlers[:], root.level, ours.level, psycopg.level
    root.handlers.clear()
    yield StringIO()
    root.handlers[:], root.level = before[0], before[1]
    ours.setLevel(before[2])
    psycopg.setLevel(before[3])


def log_to(err: StringIO, level: str, form: LogFormat, *, traces: bool) -> None:
    with redirect_stderr(err):
        logs.log_from(level, form, traces=traces)


def lines(err: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.getvalue().splitlines()]


def test_a_line_in_json_has_its_name_its_words_and_its_ids(err: StringIO) -> None:
    log_to(err, "INFO", "json", traces=True)
    with log_lines.bound(tenant="acme", trace_id="a" * 32):
        log_lines.DEBATE_LEFT(debate="d1", code="prompt_mismatch")

    (line,) = lines(err)
    assert re.fullmatch(TIME, line.pop("time"))
    assert isinstance(line.pop("pid"), int)
    assert line.pop("version")
    assert line == {
        "level": "error",
        "event": "debate.left_unfinished",
        "message": "debate left unfinished",
        "service": "gainsay",
        "tenant": "acme",
        "trace_id": "a" * 32,
        "debate": "d1",
        "code": "prompt_mismatch",
    }


def test_the_same_line_as_text(err: StringIO) -> None:
    log_to(err, "INFO", "text", traces=True)
    with log_lines.bound(tenant="acme"):
        log_lines.DEBATE_LEFT(debate="d1", code="two words")

    words = "ERROR debate left unfinished event=debate.left_unfinished tenant=acme debate=d1"
    assert re.fullmatch(rf'{TIME} {re.escape(words)} code="two words"\n', err.getvalue())


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_error_of_others_keeps_its_words_to_itself(err: StringIO, form: LogFormat) -> None:
    log_to(err, "INFO", form, traces=True)
    try:
        try:
            raise KeyError("words of a case")
        except KeyError as error:
            raise StoreUnavailable("the database does not answer") from error
    except StoreUnavailable:
        log_lines.DEBATE_FAULT.raised(debate="d1")

    said = err.getvalue()
    assert "words of a case" not in said
    assert "the database does not answer" in said
    assert "KeyError" in said
    assert "test_logs.py" in said


def test_an_error_of_the_system_says_what_it_was(err: StringIO) -> None:
    log_to(err, "INFO", "json", traces=True)
    log_lines.CLAIM_FAULT.of(OSError(28, "No space left on device", "/a/path"))

    (line,) = lines(err)
    assert line["error"] == [{"type": "OSError", "message": "No space left on device", "at": []}]


def test_at_level_debug_every_error_says_what_it_was(err: StringIO) -> None:
    log_to(err, "DEBUG", "json", traces=True)
    log_lines.CLAIM_FAULT.of(ValueError("on a developer's machine"))

    (line,) = lines(err)
    assert line["error"][0]["message"] == "on a developer's machine"


def test_errors_that_lead_in_a_circle_end(err: StringIO) -> None:
    one, other = ValueError(), ValueError()
    one.__cause__, other.__cause__ = other, one
    log_to(err, "INFO", "json", traces=True)
    log_lines.CLAIM_FAULT.of(one)

    assert [each["type"] for each in lines(err)[0]["error"]] == ["ValueError", "ValueError"]


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_library_says_one_line(err: StringIO, form: LogFormat) -> None:
    log_to(err, "INFO", form, traces=True)
    logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: words of a case")

    assert "words of a case" not in err.getvalue()
    assert err.getvalue().count("\n") == 1
    assert "library" in err.getvalue()


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_value_of_others_begins_no_line_and_acts_on_no_terminal(err: StringIO, form: LogFormat) -> None:
    log_to(err, "INFO", form, traces=True)
    log_lines.NOT_RECORDED(code="c", detail='a\n{"event":"process.stopped"}\x9b2J\u202e')

    assert err.getvalue().count("\n") == 1
    assert not set("\x9b\u202e") & set(err.getvalue())


def test_what_is_no_text_or_number_is_written_as_text(err: StringIO) -> None:
    log_to(err, "INFO", "json", traces=True)
    log_lines.DECISION_UNREADABLE(why=ValueError("x"))

    assert lines(err)[0]["why"] == "x"


@pytest.mark.parametrize(("given", "found"), [(None, None), ("json", "json"), ("TEXT", "text")])
def test_the_form_is_read_from_the_environment(given: str | None, found: LogFormat | None) -> None:
    assert read_log_format({} if given is None else {"GAINSAY_LOG_FORMAT": given}) == found
