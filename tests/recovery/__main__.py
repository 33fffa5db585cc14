"""Simulate every setting, put it through scoring and statistics, and print what came: ``python -m tests.recovery``.

Then run those of `whole_settings` whole, with debates on a database. Exit 0 if nothing was above its stated rate, and
no rate of a known fault off, by more than chance; 1 if something was.
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
from tests.recovery.whole import OFF, Ran, Whole, run_all
from tests.recovery.whole_settings import wholes

PART = 100
"""Runs that a process does at a time."""


def main(words: Sequence[str]) -> int:
    """Run, print, and write the document's table if asked."""
    parser = argparse.ArgumentParser(prog="make evaluation-recovery", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="runs of each setting")
    parser.add_argument("--runs", type=int, default=5, help="whole runs of each setting of them")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], help="names of settings")
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/evaluation.md")
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
    ran = _ran(asked, [one for one in wholes() if not asked.only or one.name in asked.only])
    off = [what for one in ran.values() for what in one.off]
    sys.stdout.write(f"{len(off)} of what whole runs came to is off by more than chance ({OFF:g})\n")
    if asked.docs:
        document.write(document.BEGIN, document.table(chosen, found, asked.seeds))
        document.write(document.WHOLE, document.whole_table(wholes(), ran, asked.runs))
    return 1 if above or off else 0


def _ran(asked: argparse.Namespace, chosen: Sequence[Whole]) -> dict[str, Ran]:
    """Whole runs of these settings, each process with its share of them on a server of its own."""
    sys.stdout.write(f"\n{len(chosen)} settings of whole runs, {asked.runs} runs each\n")
    names = [one.name for one in chosen]
    parts = [part for nth in range(asked.processes) if (part := names[nth :: asked.processes])]
    ran = dict[str, Ran]()
    with ProcessPoolExecutor(max(1, len(parts))) as pool:
        for found in pool.map(_whole_part, parts, [asked.runs] * len(parts)):
            ran |= found
    for whole in chosen:
        _print_whole(whole, ran[whole.name])
    return ran


def _whole_part(names: Sequence[str], runs: int) -> dict[str, Ran]:
    return dict(run_all([one for one in wholes() if one.name in names], range(1, runs + 1)))


def _print_whole(whole: Whole, ran: Ran) -> None:
    sys.stdout.write(f"\n{whole.name}: {whole.about}\n")
    for rate in ran.rates:
        off = "OFF  " if rate.off else ""
        sys.stdout.write(f"  {off}{rate.what}: {rate.cases} of {rate.of}, {rate.true:.1%} is true\n")
    for what, wrong, of, rate_ in ran.claims:
        sys.stdout.write(f"  {what}: {wrong} of {of}, stated at most {rate_:.2%}\n")
    sys.stdout.write(f"  found: {document.counted(ran.found)}\n")
    sys.stdout.flush()


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
