"""What the fault suite tells when it is over."""

from __future__ import annotations

from typing import Any

from tests.faults import failing


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How much was tried, where everything was."""
    if failing.ALL and failing.TRIED:
        terminalreporter.section("faults")
        for line in failing.table():
            terminalreporter.write_line(line)
