"""Panels as SVG: lines, areas, figures, bars, heat maps and tables, as plain as they can be read.

It is no copy of Grafana's looks. What a panel says without data, its colours from a value on, its unit and its names of
series are those of its JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from tests.dashboards.boards import JSON
from tests.dashboards.scraping import Line

PALETTE = ("#3274d9", "#e0752d", "#37872d", "#a352cc", "#c4162a", "#0aa3a3", "#b8860b", "#7a7a7a", "#ff7fb0", "#5b5bd6")
COLOURS = {"green": "#2f8f46", "orange": "#d9822b", "red": "#c4162a", "blue": "#3274d9", "text": "#6b6b6b"}
GREY, FAINT, INK = "#6b6b6b", "#e4e4e4", "#222"
CHARACTER = 6.0
"""The width of a character of 10 pixels, on average."""


@dataclass(frozen=True)
class Box:
    """A place on the picture, in pixels."""

    x: float
    y: float
    w: float
    h: float

    def inner(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The box without its margins."""
        return Box(self.x + left, self.y + top, self.w - left - right, self.h - top - bottom)


@dataclass(frozen=True)
class Drawn:
    """A series of a panel with its name."""

    name: str
    line: Line

    @property
    def last(self) -> float:
        """The newest value; NaN where there is none."""
        return self.line.points[-1][1] if self.line.points else math.nan


def text(x: float, y: float, words: str, *, size: float = 10, fill: str = INK, anchor: str = "start") -> str:
    """A line of text."""
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(words)}</text>"


def shortened(words: str, width: float, size: float = 10) -> str:
    """A text that fits a width, with an ellipsis where it was cut."""
    most = max(1, int(width / (CHARACTER * size / 10)))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def written(value: float, unit: str, decimals: int | None = None) -> str:
    """A value in its unit, as a person reads it."""
    if math.isnan(value):
        return "–"
    match unit:
        case "percentunit":
            return _percent(value, decimals)
        case "currencyUSD":
            return f"${value:,.{2 if decimals is None else decimals}f}"
        case "bytes":
            return next(
                f"{value / size:.3g} {name}"
                for size, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1, "B"))
                if value >= size or size == 1
            )
        case "s":
            return _duration(value)
    ending = {"reqps": " req/s", "ops": "/s"}.get(unit, "")
    if decimals is not None:
        return f"{value:,.{decimals}f}{ending}"
    return f"{value:,.0f}{ending}" if abs(value) >= 1_000 or value == int(value) else f"{value:.3g}{ending}"


def _percent(value: float, decimals: int | None) -> str:
    if 0 < abs(value) < 0.001:
        return f"{value * 100:.2g} %"
    return f"{value * 100:.{1 if decimals is None and 0 < abs(value) < 0.1 else 0}f} %"


def _duration(value: float) -> str:
    if abs(value) < 1:
        return f"{value * 1_000:.3g} ms"
    if abs(value) >= 2 * 365.25 * 86_400:
        return f"{value / 365.25 / 86_400:.1f} years"
    for size, name in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if abs(value) >= 2 * size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} s"


def colour_of(value: float, steps: Sequence[JSON]) -> str:
    """The colour of a value by the steps of its panel."""
    found = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
    return COLOURS[found[-1]]


def named(legend: str, labels: Mapping[str, str]) -> str:
    """The name of a series, as the query's legend has it."""
    return re.sub(r"{{(\w+)}}", lambda found: labels.get(found[1], ""), legend).strip() or "value"


def draw(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    """A panel in its box: title, frame, and its data or its words for no data."""
    defaults = panel["fieldConfig"]["defaults"]
    frame = f'<rect x="{box.x}" y="{box.y}" width="{box.w}" height="{box.h}" rx="3" fill="#fff" stroke="{FAINT}"/>'
    title = text(box.x + 8, box.y + 15, shortened(panel["title"], box.w - 16, 11.5), size=11.5)
    inside = box.inner(8, 24, 8, 6)
    told = f"{panel['title']}: {panel['description']}"
    if not found:
        body = text(box.x + box.w / 2, box.y + box.h / 2 + 8, defaults["noValue"], size=12, fill=GREY, anchor="middle")
    else:
        body = KINDS[panel["type"]](panel, inside, found)
    return f"<g><title>{escape(told)}</title>{frame}{title}{body}</g>"


def _figures(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    defaults = panel["fieldConfig"]["defaults"]
    shown = sorted(found, key=lambda each: each.name)[: int(box.h // 18) or 1]
    if len(shown) == 1:
        words, colour = _figure(defaults, shown[0].last)
        size = min(24, box.w / max(1, len(words)) / 0.58)
        return text(box.x + box.w / 2, box.y + box.h / 2 + size / 3, words, size=size, fill=colour, anchor="middle")
    height = min(20.0, box.h / len(shown))
    rows = []
    for number, each in enumerate(shown):
        words, colour = _figure(defaults, each.last)
        y = box.y + number * height + 13
        rows.append(text(box.x, y, shortened(each.name, box.w - 8 * len(words)), fill=GREY))
        rows.append(text(box.x + box.w, y, words, size=13, fill=colour, anchor="end"))
    return "".join(rows)


def _figure(defaults: JSON, value: float) -> tuple[str, str]:
    if math.isnan(value):
        return defaults["noValue"], GREY
    for mapping in defaults["mappings"]:
        if mapping["type"] == "value" and (told := mapping["options"].get(f"{value:g}")):
            return told["text"], COLOURS[told["color"]]
    words = written(value, defaults["unit"], defaults.get("decimals"))
    return words, colour_of(value, defaults["thresholds"]["steps"])


def _bars(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    defaults = panel["fieldConfig"]["defaults"]
    shown = sorted((each for each in found if not math.isnan(each.last)), key=lambda each: -each.last)
    shown = shown[: int(box.h // 17)]
    most = max((each.last for each in shown), default=0) or 1
    names = min(box.w * 0.5, 8 + CHARACTER * max((len(each.name) for each in shown), default=1))
    rows = []
    for number, each in enumerate(shown):
        y, colour = box.y + 17 * number, colour_of(each.last, defaults["thresholds"]["steps"])
        width = max(1.0, (box.w - names - 62) * each.last / most)
        rows.append(text(box.x, y + 11, shortened(each.name, names), fill=GREY))
        rows.append(f'<rect x="{box.x + names:.1f}" y="{y + 2:.1f}" width="{width:.1f}" height="12" fill="{colour}"/>')
        rows.append(
            text(box.x + names + width + 5, y + 12, written(each.last, defaults["unit"], defaults.get("decimals")))
        )
    return "".join(rows)


def _lines(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    defaults = panel["fieldConfig"]["defaults"]
    shown = sorted(found, key=lambda each: -max(each.line.values, default=-1))
    shown = [each for each in shown if each.line.values] or shown[:1]
    legend, height = _legend([each.name for each in shown], box)
    plot = box.inner(46, 2, 4, height + 14)
    stacked = defaults["custom"].get("stacking", {}).get("mode") == "normal"
    curves = _stacked([each.line for each in shown]) if stacked else [[*each.line.points] for each in shown]
    times = [at for curve in curves for at, _ in curve]
    values = [value for curve in curves for _, value in curve if not math.isnan(value)]
    low, high = _range(defaults, values)
    begin, end = min(times), max(*times, min(times) + 1)

    def at(point: tuple[float, float]) -> str:
        x = plot.x + plot.w * (point[0] - begin) / (end - begin)
        y = plot.y + plot.h * (1 - (min(max(point[1], low), high) - low) / (high - low))
        return f"{x:.1f},{y:.1f}"

    parts = [_axes(plot, low, high, defaults["unit"], end - begin)]
    parts += [_bound(plot, step, (step["value"] - low) / (high - low)) for step in defaults["thresholds"]["steps"][1:]]
    for number, curve in reversed([*enumerate(curves)]):
        colour = PALETTE[number % len(PALETTE)]
        for piece in _pieces(curve):
            if stacked:
                base = f"{at((piece[-1][0], low))} {at((piece[0][0], low))}"
                parts.append(f'<polygon points="{" ".join(map(at, piece))} {base}" fill="{colour}"/>')
            else:
                parts.append(
                    f'<polyline points="{" ".join(map(at, piece))}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
                )
    return "".join([*parts, legend])


def _stacked(lines: Sequence[Line]) -> list[list[tuple[float, float]]]:
    """Each line on top of those before it; a time without a value counts as nothing."""
    times = sorted({at for line in lines for at, _ in line.points})
    level = dict.fromkeys(times, 0.0)
    curves = []
    for line in lines:
        for at, value in line.points:
            level[at] += 0 if math.isnan(value) else value
        curves.append([(at, level[at]) for at in times])
    return curves


def _pieces(curve: Sequence[tuple[float, float]]) -> Iterable[list[tuple[float, float]]]:
    """The parts of a line between its gaps."""
    piece: list[tuple[float, float]] = []
    for point in curve:
        if piece and (math.isnan(point[1]) or point[0] - piece[-1][0] > 2.5):
            yield piece
            piece = []
        if not math.isnan(point[1]):
            piece.append(point)
    if piece:
        yield piece if len(piece) > 1 else [piece[0], (piece[0][0] + 0.5, piece[0][1])]


def _range(defaults: JSON, values: Sequence[float]) -> tuple[float, float]:
    low = defaults.get("min", min(values, default=0))
    high = defaults.get("max", max(values, default=1))
    if "max" not in defaults:
        bounds = [step["value"] for step in defaults["thresholds"]["steps"][1:]]
        near = [bound for bound in bounds if high < bound <= 3 * high] or (bounds[:1] if high == low else [])
        high = _rounded(max([high, *near]) - low) + low
    return low, high if high > low else low + 1


def _rounded(high: float) -> float:
    """The next figure above that is easy to read."""
    if high <= 0:
        return 1
    size = math.pow(10, math.floor(math.log10(high)))
    return next(step * size for step in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10) if step * size >= high * 0.999)


def _axes(plot: Box, low: float, high: float, unit: str, seconds: float) -> str:
    parts = []
    for share in (0, 0.5, 1):
        y = plot.y + plot.h * (1 - share)
        parts.append(f'<line x1="{plot.x}" x2="{plot.x + plot.w}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>')
        parts.append(
            text(plot.x - 4, y + 3, written(low + (high - low) * share, unit), size=8.5, fill=GREY, anchor="end")
        )
    parts.append(text(plot.x, plot.y + plot.h + 11, "0 s", size=8.5, fill=GREY))
    parts.append(text(plot.x + plot.w, plot.y + plot.h + 11, f"{seconds:.0f} s", size=8.5, fill=GREY, anchor="end"))
    return "".join(parts)


def _bound(plot: Box, step: JSON, share: float) -> str:
    if not 0 <= share <= 1:
        return ""
    y, colour = plot.y + plot.h * (1 - share), COLOURS[step["color"]]
    ends = f'x1="{plot.x}" x2="{plot.x + plot.w}" y1="{y:.1f}" y2="{y:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-dasharray="5 4"/>'


def _legend(names: Sequence[str], box: Box) -> tuple[str, float]:
    """The names of series with their colours in at most two lines, and the height; the rest is counted."""
    parts, x, line = [], box.x, 0
    for number, name in enumerate(names):
        words = shortened(name, box.w / 2)
        width = 20 + CHARACTER * len(words)
        if x + width > box.x + box.w - 34 and x > box.x:
            x, line = box.x, line + 1
        if line > 1:
            parts.append((box.x + box.w - 30, 1, "", f"+{len(names) - number}"))
            break
        parts.append((x, line, PALETTE[number % len(PALETTE)], words))
        x += width
    height = 13 * (1 + max(line for _, line, _, _ in parts))
    top = box.y + box.h - height + 8
    drawn = []
    for left, line, colour, words in parts:
        if colour:
            drawn.append(f'<rect x="{left:.1f}" y="{top + 13 * line - 4:.1f}" width="9" height="3" fill="{colour}"/>')
        drawn.append(text(left + 12, top + 13 * line, words, size=9.5, fill=GREY))
    return "".join(drawn), height


COLUMNS = 40


def _heat(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    """Buckets from below to above; a cell is as dark as many fell into it."""
    bounds = sorted(found, key=lambda each: float(each.name))
    plot = box.inner(46, 2, 4, 14)
    times = sorted({at for each in bounds for at, _ in each.line.points})
    begin, end = times[0], max(times[-1], times[0] + 1)
    cells: dict[tuple[int, int], float] = {}
    columns = min(COLUMNS, len(times))
    for row, (under, here) in enumerate(pairwise([None, *bounds])):
        below = dict(under.line.points) if under else {}
        for at, value in here.line.points if here else ():
            column = min(columns - 1, int(columns * (at - begin) / (end - begin)))
            count = value - below.get(at, 0)
            if count > 1e-9:
                cells[column, row] = max(cells.get((column, row), 0), count)
    most = max(cells.values(), default=1)
    w, h = plot.w / columns, plot.h / len(bounds)
    parts = [f'<rect x="{plot.x}" y="{plot.y}" width="{plot.w}" height="{plot.h}" fill="#fafafa"/>']
    for (column, row), count in sorted(cells.items()):
        x, y = plot.x + w * column, plot.y + plot.h - h * (row + 1)
        shade = 0.15 + 0.85 * math.sqrt(count / most)
        place = f'x="{x:.1f}" y="{y:.1f}" width="{w - 0.6:.1f}" height="{h - 0.6:.1f}"'
        parts.append(f'<rect {place} fill="#c2410c" fill-opacity="{shade:.2f}"/>')
    every = max(1, math.ceil(11 / h))
    for row, each in enumerate(bounds):
        if row % every == 0:
            bound = float(each.name)
            words = "more" if math.isinf(bound) else f"≤ {written(bound, panel['options']['yAxis']['unit'])}"
            parts.append(
                text(plot.x - 3, plot.y + plot.h - h * (row + 0.5) + 3, words, size=8, fill=GREY, anchor="end")
            )
    parts.append(text(plot.x, plot.y + plot.h + 11, f"darkest cell: {most:.3g}", size=8.5, fill=GREY))
    parts.append(text(plot.x + plot.w, plot.y + plot.h + 11, f"{end - begin:.0f} s", size=8.5, fill=GREY, anchor="end"))
    return "".join(parts)


def _table(panel: JSON, box: Box, found: Sequence[Drawn]) -> str:
    labels = sorted({name for each in found for name in each.line.labels})
    columns = [*labels, "processes"]
    rows = sorted([*(each.line.labels.get(name, "") for name in labels), f"{each.last:g}"] for each in found)
    widths = [max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(columns)]
    starts = [box.x + (box.w * sum(widths[:at]) / sum(widths)) for at in range(len(columns))]
    shares = [box.w * width / sum(widths) - 6 for width in widths]
    most = int(box.h // 13) - 1
    shown = rows if len(rows) <= most else rows[: most - 1]
    parts = [
        text(x, box.y + 8, shortened(name, w, 9), size=9) for x, w, name in zip(starts, shares, columns, strict=True)
    ]
    for number, row in enumerate(shown):
        y = box.y + 21 + 13 * number
        cells = zip(starts, shares, row, strict=True)
        parts += [text(x, y, shortened(cell, w, 9), size=9, fill=GREY) for x, w, cell in cells]
    if len(shown) < len(rows):
        parts.append(text(box.x, box.y + 21 + 13 * len(shown), f"and {len(rows) - len(shown)} more", size=9, fill=GREY))
    return "".join(parts)


KINDS = {"stat": _figures, "bargauge": _bars, "timeseries": _lines, "heatmap": _heat, "table": _table}
