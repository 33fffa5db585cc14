"""A share by round as hand-written SVG: a line through the rounds, and the share that was wanted.

As in strips, a drawing holds numbers and a few words of ours unescaped, and all other text escaped. Its colours are for
paper and have classes for dark screens; the words beside it say the same.
"""

from __future__ import annotations

from service.report.document.blocks import Sparkline
from service.report.document.html_text import escape_plain

_LEFT, _WIDTH, _HEIGHT, _TOP = 104, 1_000, 220, 12
_WHOLE = 1_000
_INK, _SOFT, _RULE, _BAD = "#1f3a5f", "#59616b", "#d5d9de", "#a12020"
_FONT = 'font-family="Libertinus Serif, serif"'


def draw_sparkline(course: Sparkline) -> str:
    """A course as SVG; its title and description are read aloud."""
    title, description = (escape_plain(words) for words in (course.title, course.shown))
    return (
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + 60} {_TOP + _HEIGHT + 34}" role="img" '
        f'aria-labelledby="{course.name}-title {course.name}-told"><title id="{course.name}-title">{title}</title>'
        f'<desc id="{course.name}-told">{description}</desc>'
        f"{_scale()}{_wanted(course)}{_line(course)}{_places(course)}</svg>"
    )


def _x(place: int, places: int) -> int:
    """The x of a round: in the middle of its share of the width."""
    return _LEFT + (2 * place + 1) * _WIDTH // (2 * max(places, 1))


def _y(value: int) -> int:
    return _TOP + _HEIGHT - min(max(value, 0), _WHOLE) * _HEIGHT // _WHOLE


def _scale() -> str:
    lines = "".join(f"M{_LEFT} {_y(at)}h{_WIDTH}" for at in (0, 500, 1_000))
    words = "".join(
        f'<tspan x="{_LEFT - 10}" y="{_y(at) + 6}">{shown}</tspan>'
        for at, shown in ((0, "0"), (500, "0.5"), (1_000, "1"))
    )
    return (
        f'<path class="scale line" d="{lines}" fill="none" stroke="{_RULE}" stroke-width="1"/>'
        f'<text class="soft" text-anchor="end" font-size="17" {_FONT} fill="{_SOFT}">{words}</text>'
    )


def _wanted(course: Sparkline) -> str:
    """The share that was wanted, as a broken line with its number at the end."""
    y = _y(course.wanted)
    return (
        f'<path class="wanted line" d="M{_LEFT} {y}h{_WIDTH}" fill="none" stroke="{_BAD}" stroke-width="1.5" '
        f'stroke-dasharray="8 6"/><text class="wanted" x="{_LEFT + _WIDTH + 6}" y="{y + 6}" font-size="17" {_FONT} '
        f'fill="{_BAD}">{thousandths(course.wanted)}</text>'
    )


def _line(course: Sparkline) -> str:
    """A line through neighbouring rounds that have a value, and a dot at each."""
    d, dots, drawn = "", "", False
    for place, value in enumerate(course.values):
        if value is None:
            drawn = False
            continue
        x, y = _x(place, len(course.places)), _y(value)
        d += f"{'L' if drawn else 'M'}{x} {y}"
        dots += f'<circle class="dot" cx="{x}" cy="{y}" r="5" fill="{_INK}"/>'
        drawn = True
    return f'<path class="course line" d="{d}" fill="none" stroke="{_INK}" stroke-width="2.5"/>{dots}' if d else ""


def _places(course: Sparkline) -> str:
    words = "".join(
        f'<tspan x="{_x(place, len(course.places))}">{escape_plain(name)}</tspan>'
        for place, name in enumerate(course.places)
    )
    return (
        f'<text class="soft" y="{_TOP + _HEIGHT + 26}" text-anchor="middle" font-size="17" {_FONT} '
        f'fill="{_SOFT}">{words}</text>'
    )


def thousandths(value: int | None) -> str:
    """A share per mille as a number from 0 to 1, or ``undefined`` if there is none: ``0.85``, ``0.701``."""
    if value is None:
        return "undefined"
    whole, part = divmod(value, _WHOLE)
    return f"{whole}.{part:03d}".rstrip("0").rstrip(".") if part else str(whole)
