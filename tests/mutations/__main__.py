"""Edit the recorded bundles without a key, and with the log's: ``python -m tests.mutations``.

What came to something else than docs/verification.md says is listed, in both directions: an edit that no row of its
tables allows, and a row that no edit comes to.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.mutations import listed
from tests.mutations.harness import judge, mutate


def main() -> int:
    """Exit 0 if every edit came to what docs/verification.md says, 1 if one did not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=3_000, help="edits without a key")
    parser.add_argument("--sealed", type=int, default=500, help="edits with the log's key")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    sys.stdout.write(f"{asked.edits} edits without a key, {asked.sealed} with the log's, SEED={asked.seed}\n")
    wrong = _without(asked.edits, asked.seed) + _sealed(asked.sealed, asked.seed)
    sys.stdout.write(f"{wrong} came to something else than they should\n")
    return 1 if wrong else 0


def _without(edits: int, seed: int) -> int:
    wrong, codes = 0, Counter[str]()
    for nth, name, edit, report in mutate(edits, seed):
        first = (report.failed or report.gaps)[0].name if report.code else "none"
        codes[f"exit {report.code} at {first}"] += 1
        if why := judge(edit, report):
            wrong += 1
            sys.stdout.write(f"edit {nth} of {name}: {edit.what}: {why}\n")
    _counted("without a key", codes)
    return wrong


def _sealed(edits: int, seed: int) -> int:
    wrong, codes, rows, bundles = 0, Counter[str](), listed.rows(), listed.recorded()
    for nth, came in enumerate(listed.mutate(bundles, edits, seed)):
        failed = came.report.failed
        codes[f"exit {came.report.code}" + (f" at {failed[0].name}" if failed else f": {came.edit.member}")] += 1
        if why := listed.judge(came, rows):
            wrong += 1
            sys.stdout.write(f"sealed edit {nth} of {came.bundle}: {came.edit.what}: {why}\n")
    for row in rows:
        if listed.witness(bundles, row, seed) is None:
            wrong += 1
            sys.stdout.write(f"no edit of {', '.join(row.members)} came to exit {row.code}, as its row says\n")
    _counted("with the log's key", codes)
    return wrong


def _counted(how: str, codes: Counter[str]) -> None:
    sys.stdout.write(f"{how}\n")
    for ended, count in codes.most_common():
        sys.stdout.write(f"{count:>6}  {ended}\n")


if __name__ == "__main__":
    sys.exit(main())
