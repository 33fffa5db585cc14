"""Plots as hand-written SVG: intervals on one axis, points in a square, a table of two by two, a course by round, a
share over time.

As in strips, a drawing holds numbers and a few words of ours unescaped, and all other text escaped. Its colours are for
paper and have classes for dark screens; the shapes of marks tell series apart without colours, and the words and the
table beside each plot say the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.report.document.blocks import (
    IntervalMark,
    IntervalRow,
    Intervals,
    Limit,
    OverTime,
    Plot,
    Quarters,
    Scatter,
    Sparkline,
)
from service.report.document.html_text import escape_plain
from service.report.document.sparkline import draw_sparkline
from service.report.document.time_chart import draw_over_time
from service.report.shortened import short

_WIDTH = 1_164
_INK, _SOFT, _RULE, _BAD = "#1f3a5f", "#59616b", "#d5d9de", "#a12020"
_FONT = 'font-family="Libertinus Serif, serif"'
_SIZE = 17
_LEFT, _AXIS, _ROW, _TOP = 320, 600, 34, 34
"""The left end of an axis, its length, the height of a row, and the room above the first."""
_SQUARE, _SQUARE_LEFT, _SQUARE_TOP = 380, 130, 16


def draw(plot: Plot) -> str:
    """A plot as SVG; its title and description are read aloud."""
    match plot:
        case Sparkline():
            return draw_sparkline(plot)
        case OverTime():
            return draw_over_time(plot)
        case Intervals():
            height = _TOP + _ROW * len(plot.rows) + 40
            return _svg(plot, height, _intervals(plot))
        case Scatter():
            return _svg(plot, _SQUARE_TOP + _SQUARE + 64, _scatter(plot))
        case Quarters():
            return _svg(plot, 320, _quarters(plot))


def _svg(plot: Intervals | Scatter | Quarters, height: int, drawn: Iterator[str]) -> str:
    title, description = (escape_plain(words) for words in (plot.title, plot.shown))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="{plot.name}-title {plot.name}-words">'
        f'<title id="{plot.name}-title">{title}</title><desc id="{plot.name}-words">{description}</desc>'
        f"{''.join(drawn)}</svg>"
    )


def _text(words: str, x: float, y: float, *, anchor: str = "start", kind: str = "soft", fill: str = _SOFT) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{_SIZE}" {_FONT} '
        f'fill="{fill}">{escape_plain(words)}</text>'
    )


def _path(d: str, *, kind: str, stroke: str, width: float = 1.5, dashes: str = "") -> str:
    broken = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path class="{kind} line" d="{d}" fill="none" stroke="{stroke}" stroke-width="{width}"{broken}/>'


# Intervals.


def _intervals(plot: Intervals) -> Iterator[str]:
    bottom = _TOP + _ROW * len(plot.rows)
    yield from _axis(plot, bottom)
    yield from (_limit(plot, limit, bottom) for limit in plot.limits)
    for i, row in enumerate(plot.rows):
        yield from _row(plot, row, _TOP + i * _ROW + _ROW / 2)
    yield from _series(plot)


def _x(plot: Intervals, at: float) -> float:
    """The place of a value on the axis; one beyond it stands at its end."""
    share = (min(max(at, plot.start), plot.end) - plot.start) / (plot.end - plot.start)
    return _LEFT + share * _AXIS


def _axis(plot: Intervals, bottom: int) -> Iterator[str]:
    ticks = [plot.start + (plot.end - plot.start) * i / 4 for i in range(5)]
    yield _path("".join(f"M{_x(plot, at):.1f} {_TOP}V{bottom}" for at in ticks), kind="scale", stroke=_RULE, width=1)
    for at in ticks:
        words = f"{at * 100:+.0f}" if plot.signed and at else f"{at * 100:.0f}"
        yield _text(words if plot.signed else f"{words} %", _x(plot, at), bottom + 24, anchor="middle")
    if plot.signed:
        yield _text("points", _LEFT + _AXIS + 60, bottom + 24)


def _limit(plot: Intervals, limit: Limit, bottom: int) -> str:
    """A broken line with its name above it; of differences the name stands on the outer side, away from 0."""
    x = _x(plot, limit.at)
    anchor = "middle" if not plot.signed or limit.at == 0 else "start" if limit.at > 0 else "end"
    return _path(f"M{x:.1f} {_TOP - 6}V{bottom}", kind="wanted", stroke=_BAD, dashes="8 6") + _text(
        limit.label, x, _TOP - 12, anchor=anchor, kind="wanted", fill=_BAD
    )


def _row(plot: Intervals, row: IntervalRow, y: float) -> Iterator[str]:
    yield _text(short(row.label, 40), _LEFT - 14, y + 6, anchor="end")
    yield _text(short(row.beside, 26), _LEFT + _AXIS + 16, y + 6)
    apart = len({mark.series for mark in row.marks}) > 1
    for mark in row.marks:
        yield from _mark(plot, mark, y + (mark.series * 12 - 6 if apart else 0))


def _mark(plot: Intervals, mark: IntervalMark, y: float) -> Iterator[str]:
    first = mark.series == 0
    kind, stroke = ("course", _INK) if first else ("wanted", _BAD)
    x = _x(plot, mark.at)
    if mark.low is not None and mark.high is not None:
        low, high = _x(plot, mark.low), _x(plot, mark.high)
        yield _path(
            f"M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8", kind=kind, stroke=stroke
        )
    if first:
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_INK}"/>'
    else:
        yield _path(f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z", kind=kind, stroke=stroke, width=2)


def _series(plot: Intervals) -> Iterator[str]:
    """The key, above the plot's left part, where there are two series."""
    if len(plot.series) < 2:
        return
    yield f'<circle class="dot" cx="12" cy="16" r="5" fill="{_INK}"/>' + _text(plot.series[0], 26, 22)
    at = 46 + 9 * len(plot.series[0])
    yield _path(f"M{at - 4.5} 11.5h9v9h-9z", kind="wanted", stroke=_BAD, width=2) + _text(plot.series[1], at + 14, 22)


# Points in a square.


def _scatter(plot: Scatter) -> Iterator[str]:
    left, top, side = _SQUARE_LEFT, _SQUARE_TOP, _SQUARE
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    grid = "".join(f"M{left + t * side:.1f} {top}v{side}M{left} {top + t * side:.1f}h{side}" for t in ticks)
    yield _path(grid, kind="scale", stroke=_RULE, width=1)
    yield _path(f"M{left} {top + side}L{left + side} {top}", kind="scale", stroke=_RULE, width=1.5)
    for t in ticks:
        yield _text(f"{t * 100:.0f} %", left + t * side, top + side + 22, anchor="middle")
        yield _text(f"{t * 100:.0f} %", left - 10, top + (1 - t) * side + 6, anchor="end")
    x, y = left + plot.x_limit * side, top + (1 - plot.y_limit) * side
    yield _path(f"M{x:.1f} {top}v{side}M{left} {y:.1f}h{side}", kind="wanted", stroke=_BAD, dashes="8 6")
    yield _text(plot.x_title, left + side / 2, top + side + 48, anchor="middle")
    yield (
        f'<g transform="rotate(-90 36 {top + side / 2:.0f})">'
        f"{_text(plot.y_title, 36, top + side / 2, anchor='middle')}</g>"
    )
    for i, point in enumerate(plot.points, start=1):
        cx, cy = left + point.x * side, top + (1 - point.y) * side
        yield f'<circle class="dot" cx="{cx:.1f}" cy="{cy:.1f}" r="6" fill="{_INK}"/>'
        yield _text(str(i), cx + 10, cy - 8)
        yield _text(f"{i}  {short(point.label, 52)}", left + side + 60, top + 24 + (i - 1) * 30)


# Two by two.


def _quarters(plot: Quarters) -> Iterator[str]:
    left, top, width, height = 380, 56, 220, 110
    most = max(1, *(count for row in plot.counts for count in row))
    for i, (name, counts) in enumerate(zip(plot.rows, plot.counts, strict=True)):
        y = top + i * height
        yield _text(short(name, 40), left - 16, y + height / 2 + 6, anchor="end")
        for j, count in enumerate(counts):
            x, shade = left + j * width, 0.05 + 0.25 * count / most
            field = f"M{x} {y}h{width}v{height}h-{width}z"
            yield f'<path class="dot" d="{field}" fill="{_INK}" fill-opacity="{shade:.2f}"/>'
            yield _path(field, kind="scale", stroke=_RULE)
            yield _text(str(count), x + width / 2, y + height / 2 + 6, anchor="middle", kind="dot", fill=_INK)
    for j, name in enumerate(plot.columns):
        yield _text(short(name, 28), left + j * width + width / 2, top - 14, anchor="middle")
