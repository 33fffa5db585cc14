"""A flame graph of a worker as a picture: `make flame` writes docs/worker-cpu.svg.

The worker of `bench.worker` is sampled by its CPU (`bench.sampler`). Each box is a function, as wide as the share of
the samples in which it or what it called was running; what it called stands upon it. Boxes of one level are in the
order of their names, not of time. Frames below the worker's own loop are left out, and boxes too narrow to see.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

OUT = ROOT / "docs" / "worker-cpu.svg"
WIDTH, ROW, TOP, NARROW = 1_200, 17, 44, 0.0025
FONT = 'font-family="monospace" font-size="11"'
LETTER = 6.4
"""The width of a letter, in pixels, about."""
BELOW = "asyncio.runners:Runner.run"
"""The outermost frame that every stack has and that says nothing: what stands upon it is shown."""
COLOURS = {"service": (205, 92, 62), "asyncio": (120, 140, 170), "other": (222, 168, 60)}


class Box(NamedTuple):
    """A function at its place: from the left and its width as shares of the whole, its depth, and its samples."""

    name: str
    left: float
    width: float
    depth: int
    samples: int


def stacks(folded: str) -> list[tuple[tuple[str, ...], int]]:
    """The stacks of a folded text, without what is below the loop; raises ValueError for a line without a count."""
    found = []
    for line in folded.splitlines():
        frames, _, count = line.rpartition(" ")
        if not frames or not count.isdecimal():
            raise ValueError(f"expected a stack and how often it was seen, found {line[:80]!r}")
        names = frames.split(";")
        found.append((tuple(names[names.index(BELOW) + 1 :] if BELOW in names else names), int(count)))
    return found


def boxes(of: Iterable[tuple[tuple[str, ...], int]], narrow: float = NARROW) -> list[Box]:
    """The boxes of all stacks, without those that are narrower than this share of the whole."""
    every = sorted(of)
    whole = sum(count for _, count in every)
    return [box for box in _boxes(every, 0, 0, whole) if box.width >= narrow]


def _boxes(every: list[tuple[tuple[str, ...], int]], depth: int, left: int, whole: int) -> Iterator[Box]:
    at = 0
    while at < len(every):
        if len(every[at][0]) <= depth:  # what ran in the function itself
            left += every[at][1]
            at += 1
            continue
        name, first = every[at][0][depth], at
        while at < len(every) and every[at][0][depth : depth + 1] == (name,):
            at += 1
        samples = sum(count for _, count in every[first:at])
        yield Box(name, left / whole, samples / whole, depth, samples)
        yield from _boxes(every[first:at], depth + 1, left, whole)
        left += samples


def picture(drawn: list[Box], title: str) -> str:
    """The boxes as SVG, the outermost functions at the bottom; the whole name is each box's own title."""
    deepest = max(box.depth for box in drawn)
    height = TOP + (deepest + 1) * ROW + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>',
    ]
    parts += [_drawn(box, height - 8 - (box.depth + 1) * ROW) for box in drawn]
    return "\n".join([*parts, "</svg>", ""])


def _drawn(box: Box, top: int) -> str:
    left, width = box.left * WIDTH, box.width * WIDTH
    colour = "#{:02x}{:02x}{:02x}".format(*_colour(box.name))
    room = int((width - 4) / LETTER)
    short = box.name.rpartition(":")[2]
    label = "" if room < 3 else short if len(short) <= room else f"{short[: room - 1]}…"
    text = f'<text x="{left + 2:.1f}" y="{top + 12}">{escape(label)}</text>' if label else ""
    about = f"<title>{escape(box.name)} {box.width * 100:.1f} %</title>"
    shape = f'<rect x="{left:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}" fill="{colour}"/>'
    return f"<g>{about}{shape}{text}</g>"


def _colour(name: str) -> tuple[int, int, int]:
    """By whose code it is, a little lighter or darker by its name."""
    whose = name.partition(".")[0]
    red, green, blue = COLOURS.get(whose, COLOURS["other"])
    shade = crc32(name.encode()) % 40 - 10
    return min(255, red + shade), min(255, green + shade), min(255, blue + shade)


def main() -> None:
    """Sample a worker and write the picture."""
    from bench.worker import LENGTH, measure

    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "worker.folded"
        run = measure(debates=300, folded=folded)
        found = stacks(folded.read_text("utf-8"))
    samples = sum(count for _, count in found)
    title = (
        f"CPU of a worker, {run.ran.workers:.1f} ms a debate of five calls over HTTP while it was sampled, "
        f"documents of {LENGTH:,} characters, {samples:,} samples"
    )
    OUT.write_text(picture(boxes(found), title), "utf-8")
    print(f"wrote {OUT.relative_to(ROOT)}, {OUT.stat().st_size / 1_000:.0f} kB")


if __name__ == "__main__":
    main()
