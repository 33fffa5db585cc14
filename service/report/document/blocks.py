"""The blocks of a report: plain text in reading order, before any markup.

Every rendering is written from these, so Markdown, HTML and PDF say the same in the same order. Every leaf is plain
text, never markup, and a renderer escapes it.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from service.audit.report_forms import Paper
from service.unseen import visible

Tone = Literal["plain", "good", "warn", "bad", "info"]
"""The meaning of a colour. A colour never stands alone: the words beside it say the same."""

Pattern = Literal["full", "upright", "level"]
"""The pattern of a side, which distinguishes it without colours: filled, upright lines, level lines."""

Sign = Literal["full", "upright", "level", "hollow", "cross", "mark"]

_BLANK = re.compile(r"\s+")


class ReportPart(Struct, frozen=True, tag_field="block", tag="part"):
    """A numbered part of the report, with a name for links."""

    name: str
    title: str


class HeadingBlock(Struct, frozen=True, tag_field="block", tag="heading"):
    """A heading inside a part: level 3 or 4, with the words beside it."""

    level: Literal[3, 4]
    title: str
    beside: str = ""


class Text(Struct, frozen=True, tag_field="block", tag="text"):
    """A paragraph: plain, ``lead`` for the first words to read, ``note`` for explanations."""

    text: str
    style: Literal["plain", "lead", "note"] = "plain"


class Banner(Struct, frozen=True, tag_field="block", tag="banner"):
    """A paragraph that readers must not overlook."""

    tone: Tone
    title: str
    lines: tuple[str, ...] = ()


class Fact(Struct, frozen=True):
    """A term and its value; ``code`` sets the value in a typewriter face."""

    term: str
    value: str
    code: bool = False


class FactList(Struct, frozen=True, tag_field="block", tag="facts"):
    """Terms with their values."""

    rows: tuple[Fact, ...]


class TableBlock(Struct, frozen=True, tag_field="block", tag="table"):
    """Rows under a head; ``numeric`` and ``code`` are the columns, from 0, that are set so."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    code: tuple[int, ...] = ()


class Bullets(Struct, frozen=True, tag_field="block", tag="bullets"):
    """A list."""

    items: tuple[str, ...]


class Quotation(Struct, frozen=True):
    """A citation under an argument: its verdict in words, the quotation, its place, and the differences."""

    tone: Tone
    verdict: str
    quote: str
    where: str
    notes: tuple[str, ...] = ()


class Argued(Struct, frozen=True, tag_field="block", tag="argued"):
    """An argument with its evidence. ``struck`` is the reason for which it was struck, or empty."""

    label: str
    beside: str
    text: str
    struck: str = ""
    quotations: tuple[Quotation, ...] = ()


class Segment(Struct, frozen=True):
    """A piece of a bar."""

    label: str
    value: int
    tone: Tone


class Bar(Struct, frozen=True):
    """A bar of ``total``, filled by its segments; ``shown`` says the same as text."""

    label: str
    segments: tuple[Segment, ...]
    total: int
    shown: str


class Chart(Struct, frozen=True, tag_field="block", tag="chart"):
    """Bars under a title, each with its numbers beside it."""

    title: str
    bars: tuple[Bar, ...]


class Lane(Struct, frozen=True):
    """One side's stretches of a strip, in thousandths of its length; ``hollow`` ones are drawn as outlines."""

    label: str
    pattern: Pattern
    solid: tuple[tuple[int, int], ...]
    hollow: tuple[tuple[int, int], ...] = ()


class Mark(Struct, frozen=True):
    """A place along a strip, in thousandths of its length, with the few letters that name it."""

    label: str
    at: int


class Strip(Struct, frozen=True):
    """A text from its beginning to its end with the stretches of each side; ``shown`` says the same as text."""

    label: str
    lanes: tuple[Lane, ...]
    crosses: tuple[int, ...]
    marks: tuple[Mark, ...]
    shown: str


class Key(Struct, frozen=True):
    """The meaning of a sign on a strip."""

    sign: Sign
    label: str


class Map(Struct, frozen=True, tag_field="block", tag="map"):
    """Strips under a title, with a key to their signs."""

    name: str
    title: str
    keys: tuple[Key, ...]
    strips: tuple[Strip, ...]


class Sparkline(Struct, frozen=True, tag_field="block", tag="course"):
    """A share by round, per mille, null if it is undefined, and the share that was wanted.

    ``places`` name the rounds; ``shown`` says the same as text.
    """

    name: str
    title: str
    places: tuple[str, ...]
    values: tuple[int | None, ...]
    wanted: int
    shown: str


class IntervalMark(Struct, frozen=True):
    """A value on a row of an `Intervals`, with its bounds, and the number of its series, from 0."""

    series: int
    at: float
    low: float | None = None
    high: float | None = None


class IntervalRow(Struct, frozen=True):
    """A row: its label, its marks, and the words at its end, such as n."""

    label: str
    marks: tuple[IntervalMark, ...]
    beside: str


class Limit(Struct, frozen=True):
    """A line across a plot at a value, with its name."""

    at: float
    label: str


class Intervals(Struct, frozen=True, tag_field="block", tag="intervals"):
    """Values with their intervals, row under row, on one axis from ``start`` to ``end``; ``shown`` says it as text.

    Shares are written as per cent; ``signed`` ones as differences in points. ``series`` names at most two.
    """

    name: str
    title: str
    rows: tuple[IntervalRow, ...]
    series: tuple[str, ...]
    start: float
    end: float
    limits: tuple[Limit, ...]
    shown: str
    signed: bool = False


class ScatterPoint(Struct, frozen=True):
    """A point of a `Scatter`, with its label; both shares are from 0 to 1."""

    label: str
    x: float
    y: float


class Scatter(Struct, frozen=True, tag_field="block", tag="scatter"):
    """Points in a square of two shares, with a limit on each; ``shown`` says the same as text."""

    name: str
    title: str
    x_title: str
    y_title: str
    points: tuple[ScatterPoint, ...]
    x_limit: float
    y_limit: float
    shown: str


class Quarters(Struct, frozen=True, tag_field="block", tag="quarters"):
    """A table of two by two as four fields, darker where more cases are; ``counts`` are by row, then column."""

    name: str
    title: str
    columns: tuple[str, str]
    rows: tuple[str, str]
    counts: tuple[tuple[int, int], tuple[int, int]]
    shown: str


class TimePoint(Struct, frozen=True):
    """A share in a window with its interval and the words below it, such as n; ``None`` where there is no case.

    A ``hollow`` one rests on too few cases to say anything.
    """

    window: str
    at: float | None
    low: float
    high: float
    below: str
    hollow: bool


class OverTime(Struct, frozen=True, tag_field="block", tag="overTime"):
    """A share by window, from the left to the right, with a line at a limit; ``shown`` says the same as text.

    ``key`` says what hollow points are.
    """

    name: str
    title: str
    points: tuple[TimePoint, ...]
    limit: Limit
    key: str
    shown: str


class Verbatim(Struct, frozen=True, tag_field="block", tag="verbatim"):
    """Lines that are shown unchanged, each on its own line."""

    lines: tuple[str, ...]


Block = (
    ReportPart
    | HeadingBlock
    | Text
    | Banner
    | FactList
    | TableBlock
    | Bullets
    | Argued
    | Chart
    | Map
    | Sparkline
    | Verbatim
    | Intervals
    | Scatter
    | Quarters
    | OverTime
)
Plot = Sparkline | Intervals | Scatter | Quarters | OverTime
"""What is one drawing with a title and the same in words."""


class ReportBlocks(Struct, frozen=True):
    """A whole report: its title, its identity, its first screen, which fills no more than a page, and its blocks.

    ``paper`` is the size on which it is printed. ``running`` stands on each page of the HTML report; the PDF has words
    of its own for simulated models.
    """

    title: str
    subtitle: str
    language: str
    simulated: bool
    concluded: str
    blocks: tuple[Block, ...]
    first: tuple[Block, ...] = ()
    paper: Paper = "a4"
    running: str = ""


def legible(text: str) -> str:
    """A text on one line, with every character that acts unseen shown by its code point."""
    shown = visible(_BLANK.sub(" ", text).strip())
    return shown or ("(blank)" if text else "")
