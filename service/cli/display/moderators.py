"""An audit of recorded moderators as lines: each series by window, and the sentences that may be said."""

from __future__ import annotations

from collections.abc import Iterator

from service.cli.terminal_text import line
from service.evaluation.moderators.audit import ModeratorAudit, Part, WindowShown
from service.evaluation.moderators.sentences import about
from service.evaluation.scoring.written import interval, p_value, per_cent

_PARTS: tuple[Part, ...] = ("simulated", "finding", "excluded", "power", "evaluations", "notShown")


def page(audit: ModeratorAudit) -> str:
    """The whole audit for a terminal."""
    return "\n".join([*_head(audit), *_series(audit), *_said(audit)])


def _head(audit: ModeratorAudit) -> Iterator[str]:
    period = audit.period
    yield (
        f"moderators of {', '.join(map(line, period.tenants))}: debates that began from {period.since} to before "
        f"{period.until}, by {period.every}"
    )
    if period.task_types:
        yield f"    task types: {', '.join(map(line, period.task_types))}"


def _series(audit: ModeratorAudit) -> Iterator[str]:
    for series in audit.series:
        yield line(about(audit, series.moderator, series.task_type))
        yield f"    whole    {_share(audit, series.side)}"
        for window in series.windows:
            yield f"    {window.name:<8} {_share(audit, window.side)}{_explored(window)}"


def _share(audit: ModeratorAudit, figure: str) -> str:
    found = audit.figure(figure)
    given, output = found.input, found.output
    counts = f"{given['first']} for, {given['second']} against, {given['ties']} between"
    if not output["decided"]:
        return counts
    share = f"{per_cent(output['rate'])} for the proposer ({interval(output['low'], output['high'])})"
    few = "" if output["decided"] >= audit.fewest else f", under {audit.fewest} decided: says nothing"
    return f"{counts}: {share}{few}"


def _explored(window: WindowShown) -> str:
    return "" if window.side_adjusted is None else f", exploratory {p_value(window.side_adjusted)}"


def _said(audit: ModeratorAudit) -> Iterator[str]:
    for part in _PARTS:
        yield from (f"    {part}: {line(text)}" for text in audit.said(part))
