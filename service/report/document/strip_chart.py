"""Documents as strips of hand-written SVG: each side's quotations, the starts of parts, and wrong quotations.

A drawing holds numbers and a few words of ours unescaped; all other text is escaped. Its size is bounded for any
debate: stretches are thousandths of a strip, and those that touch are one path. Its colours are for paper and have
classes for dark screens; patterns and places say the same without colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.report.document.blocks import Lane, Mark, Pattern, Sign, Strip
from service.report.document.html_text import escape_plain

WIDTH = 1_000
_LEFT = 104
_LANE, _GAP = 17, 4
_INK: dict[str, str] = {"full": "#1f3a5f", "upright": "#a12020", "level": "#1d6b3c"}
_TRACK, _SOFT, _BAD = "#e6e9ed", "#59616b", "#a12020"
_STRIPE = 5
_LETTER = 10
"""About the width of a letter of a mark's label."""

Run = tuple[int, int]


def draw_strip(strip: Strip, name: str) -> str:
    """A strip as SVG. Screen readers read its title and description; ``name`` makes its ids unique in the page."""
    title, description = (escape_plain(words) for words in (strip.label, strip.shown))
    bottom = len(strip.lanes) * (_LANE + _GAP)
    under = bottom + (20 if strip.crosses else 4)
    height = under + (26 if strip.marks else 0)
    lanes = "".join(_lane(lane, i * (_LANE + _GAP)) for i, lane in enumerate(strip.lanes))
    crosses = _path("wrong", "".join(_cross(at, bottom + 2) for at in strip.crosses), stroke=_BAD, width=2.5)
    return (
        f'<svg viewBox="0 0 {_LEFT + WIDTH + 8} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-told"><title id="{name}-title">{title}</title>'
        f'<desc id="{name}-told">{description}</desc>{lanes}{crosses}{_marks(strip.marks, under)}</svg>'
    )


def swatch(sign: Sign) -> str:
    """The sign of a key, alone."""
    run, drawn = ((0, 32),), ""
    if sign in ("full", "upright", "level"):
        drawn = _track(0, 34) + _stretches(sign, run, 0)
    elif sign == "hollow":
        drawn = _track(0, 34) + _outlines("full", run, 0)
    elif sign == "cross":
        drawn = _path("wrong", _cross(16, 2), stroke=_BAD, width=2.5)
    else:
        drawn = _path("mark", f"M{_LEFT + 16} 2v13", stroke=_SOFT, width=2)
    return f'<svg viewBox="{_LEFT - 1} -1 34 19" aria-hidden="true">{drawn}</svg>'


def standalone(drawn: str) -> str:
    """A drawing as a file of its own: inside HTML it needs no namespace."""
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def runs(spans: Iterable[Run], total: int) -> tuple[Run, ...]:
    """Stretches of a text in thousandths of it, none narrower than one, those that touch joined."""
    joined: list[Run] = []
    for start, end in sorted(spans):
        a, b = start * WIDTH // max(total, 1), -(-end * WIDTH // max(total, 1))
        if joined and a <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(b, joined[-1][1])
        else:
            joined.append((a, b))
    return tuple(joined)


def _lane(lane: Lane, y: int) -> str:
    words = escape_plain(lane.label)
    label = (
        f'<text class="soft" x="{_LEFT - 10}" y="{y + _LANE - 3}" text-anchor="end" font-size="17" '
        f'font-family="Libertinus Serif, serif" fill="{_SOFT}">{words}</text>'
    )
    return label + _track(y, WIDTH) + _stretches(lane.pattern, lane.solid, y) + _outlines(lane.pattern, lane.hollow, y)


def _track(y: int, width: int) -> str:
    return f'<path class="track" d="M{_LEFT} {y}h{width}v{_LANE}h-{width}z" fill="{_TRACK}"/>'


def _stretches(pattern: Pattern, stretches: Sequence[Run], y: int) -> str:
    """Stretches in their pattern: filled, or tinted under lines that also frame them."""
    if not stretches:
        return ""
    boxes = "".join(_box(a, b, y) for a, b in stretches)
    if pattern == "full":
        return f'<path class="full" d="{boxes}" fill="{_INK[pattern]}"/>'
    if pattern == "upright":
        lines = "".join(f"M{_LEFT + x} {y}v{_LANE}" for a, b in stretches for x in range(a, b + 1, _STRIPE))
    else:
        lines = "".join(f"M{_LEFT + a} {y + up}h{b - a}" for a, b in stretches for up in range(1, _LANE, _STRIPE))
    tint = f'<path class="{pattern}" d="{boxes}" fill="{_INK[pattern]}" fill-opacity="0.25"/>'
    return tint + _path(pattern, lines, stroke=_INK[pattern], width=1.8)


def _outlines(pattern: Pattern, stretches: Sequence[Run], y: int) -> str:
    return _path(pattern, "".join(_box(a, b, y) for a, b in stretches), stroke=_INK[pattern], width=1.5)


def _box(a: int, b: int, y: int) -> str:
    return f"M{_LEFT + a} {y}h{b - a}v{_LANE}h{a - b}z"


def _cross(at: int, y: int) -> str:
    return f"M{_LEFT + at - 6} {y}l12 12m0 -12l-12 12"


def _marks(marks: Sequence[Mark], y: int) -> str:
    """A tick for each mark, and the labels that have room."""
    if not marks:
        return ""
    ticks = _path("mark", "".join(f"M{_LEFT + m.at} {y}v7" for m in marks), stroke=_SOFT, width=1.5)
    labels, free = [], 0
    for mark in marks:
        if mark.label and mark.at >= free and mark.at + _LETTER * len(mark.label) <= WIDTH:
            free = mark.at + _LETTER * (len(mark.label) + 1)
            labels.append(f'<tspan x="{_LEFT + mark.at}">{escape_plain(mark.label)}</tspan>')
    words = "".join(labels)
    return (
        f'{ticks}<text class="soft" y="{y + 22}" font-size="16" font-family="Libertinus Serif, serif" '
        f'fill="{_SOFT}">{words}</text>'
    )


def _path(kind: str, d: str, *, stroke: str, width: float) -> str:
    return f'<path class="{kind} line" d="{d}" fill="none" stroke="{stroke}" stroke-width="{width}"/>' if d else ""
