"""Measures two versions in turns, and says for each figure whether they differ: `make bench-compare REF=main`.

The files here are compared with a commit, a branch or a tag, which is checked out beside them for as long as it takes.
Both are measured by this bench with this environment's libraries, each by its own code, in a deployment of its own for
each turn: `bench/worker.py`. The versions go first by turns. `bench.verdict` says when a difference is told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from bench.figures import shown  # noqa: E402
from bench.verdict import FEWEST, judge, order  # noqa: E402
from bench.worker import NAMES  # noqa: E402

PAIRS, DEBATES = 8, 150
Turn = Mapping[str, float]


@contextmanager
def checked_out(ref: str) -> Iterator[Path]:
    """A checkout of a commit, gone afterwards; exits with what git says for one that it does not know."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder:
        place = Path(folder) / "checkout"
        _git("worktree", "add", "--quiet", "--detach", str(place), ref)
        try:
            yield place
        finally:
            _git("worktree", "remove", "--force", str(place))


def _git(*words: str) -> None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}")


def turn(checkout: Path, debates: int) -> Turn:
    """One turn of a checkout."""
    words = ["--checkout", str(checkout), "--turns", "1", "--debates", str(debates)]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "worker.py"), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"the bench of {checkout} failed:\n{done.stderr[-2_000:]}")
    found: Turn = json.loads(done.stdout.splitlines()[-1])
    return found


def lines(pairs: Sequence[tuple[Turn, Turn]]) -> Iterator[str]:
    """What pairs of turns, first and second version, tell of each figure."""
    for name, what in NAMES.items():
        figures = [(first[name], second[name]) for first, second in pairs]
        before, after = (sorted(side)[len(pairs) // 2] for side in zip(*figures, strict=True))
        yield f"{what:58} {shown(before):>8} -> {shown(after):>8}  {judge(figures)}"


def main(words: Sequence[str]) -> None:
    """Measure both by turns and say what differs."""
    parser = argparse.ArgumentParser(prog="make bench-compare", description="Whether two versions differ.")
    parser.add_argument("ref", metavar="REF", help="the commit that these files are compared with")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--debates", type=int, default=DEBATES, help="in each turn")
    asked = parser.parse_args(words)
    if asked.pairs < FEWEST:
        parser.error(f"expected PAIRS of at least {FEWEST}, found {asked.pairs}: fewer cannot tell a difference")
    pairs = []
    with checked_out(asked.ref) as ref:
        places = {"first": ref, "second": ROOT}
        for nth, which in enumerate(order(asked.pairs), 1):
            found = {name: turn(places[name], asked.debates) for name in which}
            pairs.append((found["first"], found["second"]))
            workers = (f"{shown(each['worker'])} ms" for each in pairs[-1])
            print(f"pair {nth} of {asked.pairs}: CPU of the worker {' -> '.join(workers)}", flush=True)
    print(f"\n{asked.ref} -> these files, of each debate; CPU in ms, the median of {asked.pairs} turns")
    print("\n".join(lines(pairs)))


if __name__ == "__main__":
    main(sys.argv[1:])
