"""Bars as hand-written SVG, each beside the same numbers in words, so that screen readers may skip the drawing."""

from __future__ import annotations

from service.report.document.blocks import Bar, Chart
from service.report.document.html_text import escape

_WIDTH = 1_000
_HEIGHT = 14


def figure(chart: Chart) -> str:
    """A chart as an HTML table with one drawn bar in each row; empty without bars."""
    if not chart.bars:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(bar.label)}</th><td'
        f' class="bar">{draw_bars(bar)}</td><td>{escape(bar.shown)}</td></tr>'
        for bar in chart.bars
    )
    return f'<table class="chart"><caption>{escape(chart.title)}</caption><tbody>{rows}</tbody></table>'


def draw_bars(bar: Bar) -> str:
    """One bar: a track of the whole, and the segments upon it from the left."""
    pieces, at = [], 0
    for segment in bar.segments:
        width = segment.value * _WIDTH // max(bar.total, 1)
        pieces.append(f'<rect class="{segment.tone}" x="{at}" y="0" width="{width}" height="{_HEIGHT}"/>')
        at += width
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="track" x="0" y="0" width="{_WIDTH}" height="{_HEIGHT}"/>{"".join(pieces)}</svg>'
    )
