"""The report of an audit of recorded moderators: findings, tilt over time, orders, what was read, statistics."""

from __future__ import annotations

from collections.abc import Iterator

from service.audit.report_forms import Paper
from service.evaluation.moderators.audit import SIDE, ModeratorAudit, Series, WindowShown, headline
from service.evaluation.moderators.recorded import LEFT
from service.evaluation.moderators.sentences import MAY_BE_TRUE, about, adjusted_of, named
from service.evaluation.scoring.result import Figure
from service.evaluation.scoring.sentences import SIMULATED
from service.evaluation.scoring.written import ASPECT, interval, p_value, per_cent
from service.report.document.blocks import (
    Banner,
    Block,
    Bullets,
    Fact,
    FactList,
    HeadingBlock,
    Limit,
    OverTime,
    ReportBlocks,
    ReportPart,
    TableBlock,
    Text,
    TimePoint,
)
from service.report.evaluation.counted import figures_table
from service.report.evaluation.parts import OUTCOME, first_of, no_figure, orders

TITLE = "Moderators over time"
_OF_TILT = {"tilt": "A tilt was seen, and it may be true", "noneSeen": "No tilt was seen"}


def moderators_report(audit: ModeratorAudit, paper: Paper = "a4") -> ReportBlocks:
    """An audit as the blocks of its report, which bears the end of the period."""
    period = audit.period
    return ReportBlocks(
        title=TITLE,
        subtitle=f"Recorded debates of {', '.join(period.tenants)}, {period.since[:10]} to {period.until[:10]}",
        language="en",
        simulated=audit.simulated,
        concluded=period.until,
        blocks=tuple(_blocks(audit)),
        first=tuple(_first(audit)),
        paper=paper,
        running=SIMULATED if audit.simulated else "",
    )


def _first(audit: ModeratorAudit) -> Iterator[Block]:
    if audit.simulated:
        yield Banner("warn", "Simulated models", audit.said("simulated"))
    period, outcome = audit.period, headline(audit)
    tone, title = OUTCOME[outcome]
    yield FactList(
        (
            Fact(
                "Question",
                "Do moderators favour a side, or a place, in recorded debates that were to decide something?",
            ),
        )
    )
    yield Banner(tone, _OF_TILT.get(outcome, title), first_of(audit.said("finding")))
    yield FactList(
        (
            Fact("Period", f"debates that began from {period.since} to before {period.until}, by {period.every}"),
            Fact("Tenants", ", ".join(period.tenants)),
            Fact("Task types", ", ".join(period.task_types) or "all"),
            Fact("Moderators", "; ".join(f"{one.id}: {named(one)}" for one in audit.moderators) or "none"),
            Fact("Excluded", audit.said("excluded")[0]),
            Fact("Power", audit.said("power")[0]),
            Fact("Does not show", MAY_BE_TRUE),
        )
    )


def _blocks(audit: ModeratorAudit) -> Iterator[Block]:
    yield ReportPart("findings", "Findings")
    yield Bullets(audit.said("finding"))
    yield from _questions(audit)
    yield ReportPart("over-time", "Tilt over time")
    yield from _over_time(audit)
    yield ReportPart("orders", "The same arguments in two orders")
    yield from _orders(audit)
    yield ReportPart("golden", "On golden pairs in the same period")
    yield from _evaluations(audit)
    yield from _read(audit)
    yield ReportPart("power", "What these debates could show")
    yield Bullets(audit.said("power"))
    yield ReportPart("not-shown", "What this does not show")
    yield Bullets(audit.said("notShown"))
    if audit.simulated:
        yield Text(SIMULATED)
    yield from figures_table(audit.figures)


def _questions(audit: ModeratorAudit) -> Iterator[Block]:
    if not audit.findings:
        yield no_figure("findings", "no debate of the period has a moderator between a proposer and a critic")
        return
    yield TableBlock(
        f"All questions; those with {audit.fewest} decided debates or more are adjusted together (Holm)",
        ("Moderator", "Task type", "Pull to", "p", "Adjusted", "Finding", "Smallest that would have been seen"),
        tuple(
            (
                finding.about[0],
                finding.about[1],
                _aspect(finding.about[2]),
                p_value(audit.figure(finding.figures[0]).output["p"]),
                "not adjusted" if (p := adjusted_of(audit, finding.figures[0])) is None else p_value(p),
                finding.outcome,
                per_cent(finding.visible) if finding.visible is not None else "none",
            )
            for finding in audit.findings
        ),
    )
    yield Text("The task type * stands for all task types together.", "note")


def _aspect(aspect: str) -> str:
    return "proposer or critic" if aspect == SIDE else ASPECT[aspect]


# Over time.


def _over_time(audit: ModeratorAudit) -> Iterator[Block]:
    yield Text(MAY_BE_TRUE, "note")
    for n, series in enumerate(audit.series, start=1):
        label = about(audit, series.moderator, series.task_type)
        yield HeadingBlock(3, label)
        if audit.figure(series.side).output["decided"]:
            yield _plot(audit, series, n)
        else:
            yield no_figure("sides", "no debate is decided for a side")
        yield _sides(audit, series)
    if not audit.series:
        yield no_figure("tilt over time", "no debate of the period has a moderator between a proposer and a critic")


def _plot(audit: ModeratorAudit, series: Series, n: int) -> OverTime:
    shown = [(window.name, audit.figure(window.side)) for window in series.windows]
    return OverTime(
        name=f"over-time-{n}",
        title="Decided debates concluded for the proposer, by window, with 95 % intervals",
        points=tuple(
            TimePoint(
                window=name,
                at=figure.output["rate"],
                low=figure.output["low"],
                high=figure.output["high"],
                below=f"n = {figure.output['decided']}",
                hollow=figure.output["decided"] < audit.fewest,
            )
            for name, figure in shown
        ),
        limit=Limit(0.5, "50 %"),
        key=f"hollow: under {audit.fewest} decided debates, which say nothing",
        shown="; ".join(f"{name}: {_of_decided(figure)}" for name, figure in shown) + ".",
    )


def _of_decided(figure: Figure) -> str:
    return f"{figure.input['first']} of {figure.output['decided']} decided for the proposer"


def _sides(audit: ModeratorAudit, series: Series) -> TableBlock:
    whole = _side_row(audit.figure(series.side), "whole", audit.fewest, "see above")
    return TableBlock(
        "Sides; rows of windows are exploratory (Benjamini and Hochberg) and decide nothing",
        ("Window", "For", "Against", "In between", "Decided", "Share for", "95 % interval", "p", "Adjusted", "Enough"),
        (whole, *(_window_row(audit, window) for window in series.windows)),
        numeric=(1, 2, 3, 4),
    )


def _window_row(audit: ModeratorAudit, window: WindowShown) -> tuple[str, ...]:
    adjusted = "not adjusted" if window.side_adjusted is None else p_value(window.side_adjusted)
    return _side_row(audit.figure(window.side), window.name, audit.fewest, adjusted)


def _side_row(figure: Figure, name: str, fewest: int, adjusted: str) -> tuple[str, ...]:
    given, output = figure.input, figure.output
    return (
        name,
        *(str(given[member]) for member in ("first", "second", "ties")),
        str(output["decided"]),
        per_cent(output["rate"]),
        interval(output["low"], output["high"]),
        p_value(output["p"]),
        adjusted,
        "yes" if output["decided"] >= fewest else f"no, under {fewest}",
    )


# Orders.


def _orders(audit: ModeratorAudit) -> Iterator[Block]:
    with_orders = [
        (n, series, series.position) for n, series in enumerate(audit.series, start=1) if series.position is not None
    ]
    if not with_orders:
        yield no_figure("two orders", "no debate of the period has a moderation in the reverse order by the same model")
    for n, series, position in with_orders:
        windows = [(window.name, audit.figure(window.position)) for window in series.windows if window.position]
        yield HeadingBlock(3, about(audit, series.moderator, series.task_type))
        yield from orders(f"orders-{n}", audit.figure(position), windows)


# What was read.


def _evaluations(audit: ModeratorAudit) -> Iterator[Block]:
    if not audit.evaluations:
        yield no_figure("golden pairs", "no evaluation of a moderator was concluded in the period")
        return
    yield Text(
        "Right answers are known there. These rows were concluded apart, and are not adjusted with those above.", "note"
    )
    yield TableBlock(
        "Evaluations of the kind moderator that were concluded in the period",
        ("Concluded", "Window", "Plan", "Evaluation", "Moderator", "Prompts", "Standing", "Pull to", "Finding"),
        tuple(
            (
                one.concluded[:10],
                one.window,
                one.name,
                one.evaluation,
                ", ".join(one.moderators) or one.arm,
                ", ".join(pin[:12] for pin in one.prompts),
                one.standing,
                ASPECT.get(one.aspect, one.aspect),
                one.outcome,
            )
            for one in audit.evaluations
        ),
        code=(3, 5),
    )


def _read(audit: ModeratorAudit) -> Iterator[Block]:
    yield ReportPart("counted", "What was read")
    yield Bullets(audit.said("excluded"))
    yield TableBlock(
        "Every debate of the period that is not a declined case",
        ("Debates", "Number"),
        (
            ("count for a moderator", str(audit.read.counted)),
            *((LEFT[why], str(n)) for why, n in audit.read.left.items()),  # type: ignore[index] # the reasons of `LEFT`
            ("all", str(audit.read.debates)),
        ),
        numeric=(1,),
    )
    if audit.moderators:
        yield TableBlock(
            "Moderators: a model under one version of the moderator's own prompt, as the debates recorded them",
            ("Id", "Alias", "Vendor's name", "Family", "Prompt", "Version", "SHA-256", "Debates", "No moderation"),
            tuple(
                (
                    *(one.id, one.alias, one.model, one.family, one.prompt, one.version, one.sha256),
                    *(str(one.debates), str(one.missing)),
                )
                for one in audit.moderators
            ),
            numeric=(7, 8),
            code=(6,),
        )
