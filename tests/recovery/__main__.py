"""Simulate every setting, put it through scoring and statistics, and print what came: ``python -m tests.recovery``.

Exit 0 if nothing was above its stated rate by more than chance, 1 if something was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.recovery import document
from tests.recovery.model import Setting
from tests.recovery.settings import settings
from tests.recovery.tally import CHANCE, Counted, Line, count, lines

PART = 100
"""Runs that a process does at a time."""


def main(words: Sequence[str]) -> int:
    """Run, print, and write the document's table if asked."""
    parser = argparse.ArgumentParser(prog="make evaluation-recovery", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="runs of each setting")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], help="names of settings")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/evaluation.md")
    asked = parser.parse_args(words)
    chosen = [one for one in settings() if not asked.only or one.name in asked.only]
    found: list[Line] = []
    sys.stdout.write(f"{len(chosen)} settings, {asked.seeds} seeds each\n")
    with ProcessPoolExecutor(asked.processes) as pool:
        for setting in chosen:
            began = time.monotonic()
            new = list(lines(setting, _counted(pool, setting, asked.seeds)))
            _print(setting, new, time.monotonic() - began)
            found += new
    above = [line for line in found if line.above]
    sys.stdout.write(f"{len(above)} of {len(found)} are above their stated rate by more than chance ({CHANCE:g})\n")
    if asked.docs:
        document.write(document.table(chosen, found, asked.seeds))
    return 1 if above else 0


def _counted(pool: ProcessPoolExecutor, setting: Setting, seeds: int) -> Counted:
    """All runs of a setting, in parts."""
    parts = [range(first, min(first + PART, seeds + 1)) for first in range(1, seeds + 1, PART)]
    whole = Counted(Counter(), Counter())
    for part in pool.map(_part, [setting.name] * len(parts), parts):
        whole.wrong.update(part.wrong)
        whole.of.update(part.of)
    return whole


def _part(name: str, seeds: range) -> Counted:
    return count(next(one for one in settings() if one.name == name), seeds)


def _print(setting: Setting, found: Sequence[Line], seconds: float) -> None:
    sys.stdout.write(f"\n{setting.name}: {setting.about} ({seconds:.0f} s)\n")
    for text in _texts(found):
        sys.stdout.write(f"  {text}\n")
    sys.stdout.flush()


def _texts(found: Sequence[Line]) -> Iterator[str]:
    for line in found:
        above = "ABOVE  " if line.above else ""
        if line.sort == "claim":
            yield f"{above}{line.what}: {line.wrong} of {line.of}, stated at most {line.rate:.2%}"
        else:
            least = f"at least {1 - line.rate:.0%}" if line.rate is not None else "nothing claimed"
            yield f"{above}{line.what} held the truth in {line.held:.1%} ({line.sort}, {least})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
