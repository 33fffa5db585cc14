"""A share over time as hand-written SVG: a point in each window with its interval, hollow where it rests on few cases.

As in strips, a drawing holds numbers and a few words of ours unescaped, and all other text escaped. Its colours are for
paper and have classes for dark screens; the words beside it say the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.report.document.blocks import OverTime, TimePoint
from service.report.document.html_text import escape_plain

_LEFT, _WIDTH, _HEIGHT, _TOP, _BELOW, _RIGHT = 104, 1_000, 260, 40, 72, 60
_INK, _SOFT, _RULE, _BAD = "#1f3a5f", "#59616b", "#d5d9de", "#a12020"
_FONT = 'font-family="Libertinus Serif, serif"'
_SIZE = 17
_NAMED = 12
"""The most windows whose names stand side by side: of more, every second, third or later one is named."""


def draw_over_time(plot: OverTime) -> str:
    """A plot as SVG; its title and description are read aloud."""
    title, description = (escape_plain(words) for words in (plot.title, plot.shown))
    return (
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + _RIGHT} {_TOP + _HEIGHT + _BELOW}" role="img" '
        f'aria-labelledby="{plot.name}-title {plot.name}-words"><title id="{plot.name}-title">{title}</title>'
        f'<desc id="{plot.name}-words">{description}</desc>{"".join(_drawn(plot))}</svg>'
    )


def _drawn(plot: OverTime) -> Iterator[str]:
    yield from _scale()
    y = _y(plot.limit.at)
    yield _line(f"M{_LEFT} {y:.1f}h{_WIDTH}", "wanted", _BAD, 'stroke-width="1.5" stroke-dasharray="8 6"')
    yield _text(plot.limit.label, _LEFT + _WIDTH + 6, y + 6, "start", kind="wanted", fill=_BAD)
    step = -(-len(plot.points) // _NAMED)
    for place, point in enumerate(plot.points):
        x = _LEFT + (2 * place + 1) * _WIDTH / (2 * len(plot.points))
        yield from _point(point, x)
        if place % step == 0:
            yield _text(point.window, x, _TOP + _HEIGHT + 26, "middle")
            yield _text(point.below, x, _TOP + _HEIGHT + 52, "middle")
    if any(point.hollow and point.at is not None for point in plot.points):
        yield _dot(_LEFT + 8, 16, hollow=True) + _text(plot.key, _LEFT + 22, 22, "start")


def _scale() -> Iterator[str]:
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    yield _line("".join(f"M{_LEFT} {_y(at):.1f}h{_WIDTH}" for at in shares), "scale", _RULE, 'stroke-width="1"')
    yield from (_text(f"{at * 100:.0f} %", _LEFT - 10, _y(at) + 6, "end") for at in shares)


def _point(point: TimePoint, x: float) -> Iterator[str]:
    """The interval below its point; a window without a case has neither."""
    if point.at is None:
        return
    low, high = _y(point.low), _y(point.high)
    d = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"
    yield _line(d, "course", _INK, 'stroke-width="1.5"' + (' stroke-dasharray="3 3"' if point.hollow else ""))
    yield _dot(x, _y(point.at), hollow=point.hollow)


def _dot(x: float, y: float, *, hollow: bool) -> str:
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="5"'
    if hollow:
        return f'<circle class="course line" {place} fill="none" stroke="{_INK}" stroke-width="1.5"/>'
    return f'<circle class="dot" {place} fill="{_INK}"/>'


def _y(share: float) -> float:
    return _TOP + (1 - min(max(share, 0.0), 1.0)) * _HEIGHT


def _line(d: str, kind: str, stroke: str, more: str) -> str:
    return f'<path class="{kind} line" d="{d}" fill="none" stroke="{stroke}" {more}/>'


def _text(words: str, x: float, y: float, anchor: str, *, kind: str = "soft", fill: str = _SOFT) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{_SIZE}" {_FONT} '
        f'fill="{fill}">{escape_plain(words)}</text>'
    )
