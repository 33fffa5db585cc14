"""What the pages show of a result is the same when it comes as JSON and is read back, for every format and state."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from service.cli.display import page
from service.report import Result, build_result, sent
from tests.unit.report.played import FORMATS, played
from tests.unit.report.test_sent import results


def printed(show: Callable[[Console, Result], None], result: Result) -> str:
    """The page on a console of 80 characters."""
    screen = Console(file=io.StringIO(), width=80, color_system=None)
    show(screen, result)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("form", FORMATS)
def test_a_page_of_a_result_that_was_read_back_is_the_same(form: str) -> None:
    for result in (*results(form), build_result("d1", played(form))):
        read = sent.read(sent.encode(result), Result)

        assert printed(page.show, read) == printed(page.show, result) != ""
        assert printed(page.show_brief, read) == printed(page.show_brief, result)
