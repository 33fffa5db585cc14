"""Edit the recorded bundles without a key, and say what verifies all the same: ``python -m tests.mutations``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.mutations.harness import judge, mutate


def main() -> int:
    """Exit 0 if every edit came to what docs/verification.md says, 1 if one did not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    sys.stdout.write(f"{asked.edits} edits, SEED={asked.seed}\n")
    wrong, codes = 0, Counter[str]()
    for nth, name, edit, report in mutate(asked.edits, asked.seed):
        first = (report.failed or report.gaps)[0].name if report.code else "none"
        codes[f"exit {report.code} at {first}"] += 1
        if why := judge(edit, report):
            wrong += 1
            sys.stdout.write(f"edit {nth} of {name}: {edit.what}: {why}\n")
    for ended, count in codes.most_common():
        sys.stdout.write(f"{count:>6}  {ended}\n")
    sys.stdout.write(f"{wrong} edits came to something else than they should\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
