"""Measures what docs/scale.md says: the cost of a debate, what it leaves on disk, and what saturates first.

    make scale                      some ten minutes; writes docs/scale.json and the figures of docs/scale.md
    python bench/scale.py --debates 40 --most 2 --dry    a rough look, which writes nothing

Workers are added against one database until one more brings less than a tenth more. Meanwhile a thread looks several
times a second at the machine's cores and at what PostgreSQL's backends wait for.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

sys.path[:1] = [str(Path(__file__).resolve().parent.parent)]

import psycopg  # noqa: E402

from bench.deployment import SETTLED_S, Deployment, Run, deployed  # noqa: E402
from bench.run import machine  # noqa: E402
from bench.sizing import Connections, Cost, saturates, tables, write  # noqa: E402
from bench.worker import LENGTH, WARM, WARM_SEED, cases  # noqa: E402

LONG, LONG_DEBATES = 100_000, 40
"""Longer documents, which show what each further character keeps on disk."""
LATENCY_MS, WAITING, AT_ONCE = 1_000.0, 300, 50
LOOK_S = 0.2
SIZE: LiteralString = (
    "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
    "WHERE relnamespace = 'gainsay'::regnamespace AND relkind = 'r'"
)
BACKENDS: LiteralString = (
    "SELECT wait_event_type || ': ' || wait_event, count(*) FROM pg_stat_activity WHERE state = 'active' "
    "AND wait_event_type IN ('Lock', 'LWLock', 'IO') AND pid <> pg_backend_pid() GROUP BY 1"
)
OPEN: LiteralString = (
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename <> 'postgres'"
)
Json = dict[str, Any]


class Look(NamedTuple):
    """What a moment showed: the machine's busy and whole time so far, what backends wait for, open connections."""

    at: float
    busy: int
    whole: int
    waits: Mapping[str, int]
    connections: int


def main(words: Sequence[str]) -> None:
    """Measure, print, and keep."""
    parser = argparse.ArgumentParser(prog="make scale", description="What debates cost, and what saturates first.")
    parser.add_argument("--debates", type=int, default=300, help="how many of each step")
    parser.add_argument("--most", type=int, default=6, help="workers at most")
    parser.add_argument("--dry", action="store_true", help="print the tables, and write nothing")
    asked = parser.parse_args(words)
    about = machine()
    cost, open_at_one = _cost(asked.debates)
    steps = _steps(asked.debates, asked.most)
    last = steps[-1]
    worker = (last["connections"] - open_at_one) / max(last["workers"] - 1, 1)
    kept = {
        "machine": about,
        "debates": asked.debates,
        "at_once": AT_ONCE,
        "cost": cost._asdict(),
        "connections": Connections(worker, open_at_one - worker)._asdict(),
        "steps": steps,
        "waiting": _waiting(),
    }
    print(tables(kept))
    if not asked.dry:
        write(kept)


def _cost(debates: int) -> tuple[Cost, int]:
    """What a debate costs, and the connections that were open at most beside one worker."""
    with deployed(at_once=AT_ONCE) as here, _looking(here) as looks:
        here.run(cases(WARM, first=WARM_SEED))
        empty = _size(here)
        run = here.run(cases(debates))
        short = (_size(here) - empty) / debates
        before = _size(here)
        here.run(cases(LONG_DEBATES, LONG, 500_000))
        long = (_size(here) - before) / LONG_DEBATES
        most = max(look.connections for look in looks)
    with deployed(counted=True) as here:
        here.run(cases(WARM, first=WARM_SEED))
        before = here.statements()
        here.run(cases(60))
        statements = (here.statements() - before) / 60
    postgres = run.ran.postgres + run.queued.postgres + max(run.ran.for_sequencer - run.looking.for_sequencer, 0)
    return Cost(
        api_ms=run.queued.api,
        worker_ms=run.ran.workers + run.ran.checks,
        sequencer_ms=max(run.ran.sequencer - run.looking.sequencer, 0),
        postgres_ms=postgres,
        statements=statements,
        transactions=run.ran.transactions + run.queued.transactions,
        wal=run.ran.wal + run.queued.wal,
        stored=short,
        stored_per_character=max((long - short) / (LONG - LENGTH), 0),
        characters=LENGTH,
    ), most


def _steps(debates: int, most: int) -> list[Json]:
    """One worker, two, and so on, until one more brings less than a tenth more; the last step is the one that did."""
    found = list[Json]()
    for workers in range(1, most + 1):
        with deployed(at_once=AT_ONCE, workers=workers) as here, _looking(here) as looks:
            here.run(cases(WARM, first=WARM_SEED))
            run = here.run(cases(debates))
            found.append(_step(workers, debates, run, looks))
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
        if saturates([step["rate"] for step in found]) is not None:
            break
    return found


def _step(workers: int, debates: int, run: Run, looks: Sequence[Look]) -> Json:
    end = time.time() - SETTLED_S
    during = [look for look in looks if end - run.wall_s <= look.at <= end] or list(looks[-2:])
    waits = Counter[str]()
    for look in during:
        waits.update(look.waits)
    first, last = during[0], during[-1]
    return {
        "workers": workers,
        "rate": debates / run.wall_s,
        "machine": (last.busy - first.busy) / max(last.whole - first.whole, 1),
        "worker": run.cpu_s / run.wall_s / workers,
        "waits": {name: count / len(during) for name, count in waits.most_common(3) if count / len(during) >= 0.1},
        "connections": max(look.connections for look in looks),
    }


def _waiting() -> Json:
    """Debates that wait for a vendor, as many at once as a worker runs."""
    with deployed(latency_ms=LATENCY_MS, at_once=AT_ONCE) as here:
        here.run(cases(WARM, first=WARM_SEED))
        (alone,) = here.run(cases(1, first=WARM_SEED + 1_000)).ends_s
        run = here.run(cases(WAITING))
    return {
        "latency_ms": LATENCY_MS,
        "at_once": AT_ONCE,
        "debates": WAITING,
        "shortest_s": alone,
        "rate": WAITING / run.wall_s,
        "worker": run.cpu_s / run.wall_s,
    }


def _size(here: Deployment) -> int:
    """The bytes of all tables with their indexes, once dead rows are gone."""
    here.connection.execute("VACUUM")
    ((size,),) = here.connection.execute(SIZE).fetchall()
    return int(size)


@contextmanager
def _looking(here: Deployment) -> Iterator[list[Look]]:
    """What a thread sees of the machine and of PostgreSQL, several times a second."""
    looks, over = list[Look](), threading.Event()

    def look() -> None:
        with psycopg.connect(here.connection.info.dsn, password=here.connection.info.password, autocommit=True) as own:
            while not over.wait(LOOK_S):
                waits: dict[str, int] = dict(own.execute(BACKENDS).fetchall())
                ((count,),) = own.execute(OPEN).fetchall()
                busy, whole = _jiffies()
                looks.append(Look(time.time(), busy, whole, waits, int(count)))

    thread = threading.Thread(target=look, name="looking")
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()


def _jiffies() -> tuple[int, int]:
    """Of all cores since the machine began: busy and whole. Waiting for a disk is not busy."""
    fields = [int(field) for field in Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:9]]
    whole = sum(fields)
    return whole - fields[3] - fields[4], whole


if __name__ == "__main__":
    main(sys.argv[1:])
