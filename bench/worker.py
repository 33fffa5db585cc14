"""What a debate of five calls over HTTP costs a real deployment, and the same on another checkout.

    python bench/worker.py [--debates 300] [--turns 3]          this checkout; a line of JSON for each turn
    python bench/worker.py --checkout ../other                  another one, by its own code and this bench

Each debate has another document of 4,096 characters, as long as the question of `peers`. Twenty debates come before.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # the service and the tests of the checkout, and the bench of this file
    import importlib.machinery
    import importlib.util

    HERE = Path(__file__).resolve().parents[1]
    asked = sys.argv[sys.argv.index("--checkout") + 1] if "--checkout" in sys.argv else HERE
    sys.path[:1] = [str(Path(asked).resolve())]
    spec = importlib.machinery.ModuleSpec("bench", None, is_package=True)
    spec.submodule_search_locations = [str(HERE / "bench")]
    sys.modules["bench"] = importlib.util.module_from_spec(spec)

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.deployment import Run, deployed
from bench.documents import document

WARM, LENGTH = 20, 4_096
FIRST_SEED, WARM_SEED = 0, 1_000_000
NAMES = {
    "worker": "CPU of the worker and its process of checks",
    "checks": "CPU of that process alone",
    "postgres": "CPU of PostgreSQL, without the sequencer's connections",
    "sequencer": "CPU of the sequencer",
    "looking": "of the sequencer's CPU, what it uses in that time without a record",
    "postgresOfSequencer": "CPU of PostgreSQL for the sequencer",
    "postgresOfLooking": "of that, what it uses in that time without a record",
    "api": "CPU of the API for the submission",
    "postgresOfApi": "CPU of PostgreSQL for the submission",
    "wal": "bytes of WAL",
    "transactions": "transactions",
}
"""What is measured of a debate; CPU in milliseconds."""


def a_case(text: str, **options: Any) -> dict[str, Any]:
    """A case over one document, in one round of the classic format unless options say otherwise."""
    return {
        "question": "Does this agreement leave us with uncapped liability?",
        "taskType": "contract",
        "estimatedDownside": 250_000,
        "confidenceScore": 0.55,
        "costCeilingUSD": 900,
        "documents": [{"id": "D1", "title": "Master agreement", "text": text}],
        "options": options or {"format": "adversarial", "maxRounds": 1},
    }


def cases(count: int, length: int = LENGTH, first: int = FIRST_SEED) -> list[dict[str, Any]]:
    """So many cases over documents of one length, each another text."""
    return [a_case(document(length, first + nth)) for nth in range(count)]


def measure(debates: int = 300, length: int = LENGTH, at_once: int = 50, folded: Path | None = None) -> Run:
    """One turn, in a deployment of its own; the debates that warm it are not counted."""
    with deployed(at_once=at_once, folded=folded) as here:
        here.run(cases(WARM, length, WARM_SEED))
        return here.run(cases(debates, length))


def told(run: Run) -> Mapping[str, float]:
    """A turn by `NAMES`."""
    return {
        "worker": run.ran.workers + run.ran.checks,
        "checks": run.ran.checks,
        "postgres": run.ran.postgres,
        "sequencer": run.ran.sequencer,
        "looking": run.looking.sequencer,
        "postgresOfSequencer": run.ran.for_sequencer,
        "postgresOfLooking": run.looking.for_sequencer,
        "api": run.queued.api,
        "postgresOfApi": run.queued.postgres,
        "wal": run.ran.wal,
        "transactions": run.ran.transactions,
    }


def main(words: Sequence[str]) -> None:
    """Measure turns and print each."""
    parser = argparse.ArgumentParser(prog="python bench/worker.py", description="What a debate costs, over HTTP.")
    parser.add_argument("--checkout", help="another checkout of this repository, whose code is measured")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--debates", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--document", type=int, default=LENGTH, help="characters of each document")
    parser.add_argument("--folded", type=Path, help="write the worker's stacks, sampled by CPU, to this file")
    asked = parser.parse_args(words)
    for _ in range(asked.turns):
        run = measure(asked.debates, asked.document, asked.at_once, asked.folded)
        print(json.dumps({name: round(value, 3) for name, value in told(run).items()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
