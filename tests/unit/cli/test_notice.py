"""A notice on a terminal stands on one line and goes away; elsewhere it is a line like any other."""

from __future__ import annotations

import io
import os

import pytest

from service.cli.notice import notice


class Screen(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True

    def fileno(self) -> int:
        """A number whose size is asked for."""
        return 2


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    found = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((40, 24)))
    return found


def test_each_word_replaces_the_one_before_and_the_last_one_goes_away(screen: Screen) -> None:
    with notice(screen) as shown:
        shown.say("one")
        shown.say("two")

    assert screen.getvalue() == "\r\x1b[Kone ...\r\x1b[Ktwo ...\r\x1b[K"


def test_it_goes_away_before_an_error_is_said(screen: Screen) -> None:
    def fail() -> None:
        with notice(screen) as shown:
            shown.say("one")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()

    assert screen.getvalue().endswith("...\r\x1b[K")


def test_a_long_one_never_reaches_the_last_column_where_it_would_wrap(screen: Screen) -> None:
    with notice(screen) as shown:
        shown.say("starting PostgreSQL for the first time here, which takes some seconds")

    (line,) = [part for part in screen.getvalue().split("\r\x1b[K") if part]
    assert line == "starting PostgreSQL for the first ti..."
    assert len(line) < 40


@pytest.mark.parametrize("terminal", ["dumb", ""])
def test_a_terminal_that_cannot_erase_gets_whole_lines(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, terminal: str
) -> None:
    monkeypatch.setenv("TERM", terminal) if terminal else monkeypatch.delenv("TERM")

    with notice(screen) as shown:
        shown.say("one")

    assert screen.getvalue() == "gainsay: one ...\n"
