"""``gainsay evaluate statistic``: every statistic of a report, computed anew from its counts."""

from __future__ import annotations

from typing import BinaryIO

import click

from service.cli.terminal_text import write_exactly
from service.evaluation.statistics.lines import LONGEST_LINE, answer

PIECE = 2**20


@click.command()
@click.argument("file", type=click.File("rb"), default="-")
def statistic(file: BinaryIO) -> None:
    """Compute statistics from their counts.

    FILE, or standard input, has one JSON object a line. Each is answered by one line, in the same order.

    \b
    {"id": "a", "statistic": "wilson", "input": {"k": 17, "n": 20}}
    {"id":"a","output":{"rate":0.85,"low":0.6395811352592431,"high":0.9476312541037832,"n":20}}

    What is undefined is null. A line that is no input of its statistic is answered by {"id", "error"}, with what was
    expected and what was found. A line may also carry an `output` or an `error` that was reported: it is not read, so
    the answers can be compared with it. Blank lines are passed over. docs/evaluation.md lists the statistics.

    Exit codes: 0 every line has its answer, also an error; 2 a FILE that cannot be read.
    """
    while line := file.readline(LONGEST_LINE + 2):
        if not line.endswith(b"\n"):
            _pass_over(file)
        if asked := line.strip():
            write_exactly(answer(asked) + b"\n")


def _pass_over(file: BinaryIO) -> None:
    """Leave out the rest of a line that is too long."""
    while (piece := file.readline(PIECE)) and not piece.endswith(b"\n"):
        pass
