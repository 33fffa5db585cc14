"""What one debate costs a real deployment: the CPU of each process, PostgreSQL's by who asked it, WAL and statements.

    python bench/worker.py                          this checkout, three turns
    python bench/worker.py --checkout ../other      the same on another checkout, by its own code
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # As a script: the checkout's service and tests, and this file's bench.
    here = Path(__file__).resolve().parents[1]
    there = Path(sys.argv[sys.argv.index("--checkout") + 1]).resolve() if "--checkout" in sys.argv else here
    sys.path[:1] = [str(there)]
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.ModuleSpec("bench", None, is_package=True)  # type: ignore[attr-defined]
    spec.submodule_search_locations = [str(here / "bench")]
    sys.modules["bench"] = importlib.util.module_from_spec(spec)

import argparse
import asyncio
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any, NamedTuple

import httpx
import psycopg
import uvloop
from httpx_aiohttp import HttpxAiohttpClient
from psycopg.conninfo import make_conninfo

from bench.cpu import BACKGROUND, Postgres, children_s
from bench.processes import ADDRESS, Process, started
from service.policy.settings import read_settings
from service.store.embedded.server import shared_server
from service.store.pool import Database
from service.store.startup import addresses
from tests.faults.books import policy_of
from tests.fixtures.issuing import KEYBOARD, a_key, issuing_on
from tests.fixtures.policies import WRITTEN
from tests.fixtures.running import TEXT, repository
from tests.fixtures.serving import SIGNING_KEY

UNLIMITED = {"day_usd": "unlimited", "month_usd": "unlimited"}
WITHIN_S = 600.0
WARM = 20
OVER = ("completed", "declined", "truncated", "failed", "aborted")


class Spent(NamedTuple):
    """What each debate cost, in milliseconds of CPU, bytes and statements."""

    worker_ms: float
    children_ms: float
    postgres_ms: float
    sequencer_ms: float
    sequencer_postgres_ms: float
    api_ms: float
    api_postgres_ms: float
    wal: float
    transactions: float
    wall_s: float


class Deployment(NamedTuple):
    api: Process
    worker: Process
    sequencer: Process
    key: str
    admin: str


def filler(length: int, seed: int) -> str:
    draw = random.Random(seed)
    stems = ("con", "per", "dis", "sub", "tra", "mor", "vi", "lo", "men", "du", "ra", "ti", "sel", "ber", "gan")
    text = TEXT
    while len(text) < length:
        words = ["".join(draw.choices(stems, k=draw.randint(1, 3))) for _ in range(draw.randint(6, 24))]
        text += f" {draw.randint(13, 99)}.{draw.randint(1, 99)} {' '.join(words).capitalize()}."
    return text[:length]


@contextmanager
def deployed(latency_s: float, at_once: int, folded: Path | None = None) -> Iterator[Deployment]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gainsay-bench-")))
        folder.chmod(0o755)
        vendor = stack.enter_context(
            started(
                [sys.executable, str(Path(__file__).with_name("vendor.py")), f"{latency_s * 1_000:g}"],
                ADDRESS,
                {"PYTHONPATH": str(repository())},
            )
        ).said
        queue = {**WRITTEN["queue"], "running_per_worker": at_once, "most": 100_000}
        if "most" not in WRITTEN["queue"]:
            queue.pop("most")
        policy = policy_of(folder, vendor, UNLIMITED, call_timeout_s=120, queue=queue)
        (identity := folder / "identity.toml").write_text("[keys]\n", "utf-8")
        settings = read_settings({"GAINSAY_DATA_DIR": str(folder), "GAINSAY_WARM_S": "0", "HOME": str(folder)})
        where = stack.enter_context(addresses(settings, serving=True))
        server = stack.enter_context(shared_server(settings.data_dir / "postgres"))
        admin = make_conninfo(server.url("postgres"), dbname="gainsay")
        (key := folder / "log.key").write_text(f"{SIGNING_KEY.encode()}\n", "ascii")
        key.chmod(0o600)
        common = {
            "GAINSAY_DATABASE_URL": where.service,
            "GAINSAY_API_URL": str(where.serving),
            "GAINSAY_POLICY": str(policy),
            "GAINSAY_IDENTITY": str(identity),
            "GAINSAY_DRAIN_S": "0",
            "VENDOR_KEY": "sk-fake-0123456789abcdef",
        }
        signing = {
            "GAINSAY_SEQUENCER_URL": str(where.sequencer),
            "GAINSAY_SIGNING_KEY": f"file:{key}",
            "GAINSAY_HEADS_DIR": str(folder / "heads"),
        }
        secret = uvloop.run(_key(where.service))
        run = [sys.executable, "-m", "service"]
        sequencer = stack.enter_context(
            started([*run, "sequence", "--port", "0"], "metrics", {**common, **signing})
        )
        serve = [*run, "serve", "--no-worker", "--no-sequencer", "--port", "0"]
        api = stack.enter_context(started(serve, ADDRESS, common))
        if folded:
            run = [sys.executable, str(Path(__file__).with_name("sampler.py")), str(folded)]
            common = {**common, "PYTHONPATH": str(repository())}
        worker = stack.enter_context(started([*run, "work", "--port", "0"], "taking debates", common))
        yield Deployment(api, worker, sequencer, secret, admin)


async def _key(url: str) -> str:
    async with Database.open(url, size=1) as database:
        return (await issuing_on(database).issue(KEYBOARD, a_key())).secret


def measure(debates: int, at_once: int, latency_s: float, document: int, folded: Path | None = None) -> Spent:
    with deployed(latency_s, at_once, folded) as here, psycopg.connect(here.admin, autocommit=True) as connection:
        postgres = Postgres(connection)
        uvloop.run(_queue(here, WARM, document, 1_000_000))
        _over(connection, WARM)
        os.kill(here.worker.pid, signal.SIGSTOP)
        first = _Marks(here, postgres, connection)
        uvloop.run(_queue(here, debates, document, 0))
        time.sleep(1.0)  # what the sequencer has to sign
        second = _Marks(here, postgres, connection)
        begun = time.monotonic()
        os.kill(here.worker.pid, signal.SIGCONT)
        if folded:
            os.kill(here.worker.pid, signal.SIGUSR2)
        _over(connection, WARM + debates)
        wall = time.monotonic() - begun
        time.sleep(0.5)
        third = _Marks(here, postgres, connection)
        if folded:
            os.kill(here.worker.pid, signal.SIGUSR2)
            time.sleep(2)
    submitted, ran = second.since(first), third.since(second)
    each = {name: value / debates for name, value in ran.items()}
    return Spent(
        worker_ms=each["worker"] * 1_000,
        children_ms=each["children"] * 1_000,
        postgres_ms=(each["postgres"] - each["postgres sequencer"]) * 1_000,
        sequencer_ms=each["sequencer"] * 1_000,
        sequencer_postgres_ms=each["postgres sequencer"] * 1_000,
        api_ms=submitted["api"] / debates * 1_000,
        api_postgres_ms=(submitted["postgres"] - submitted["postgres sequencer"]) / debates * 1_000,
        wal=each["wal"],
        transactions=each["transactions"],
        wall_s=wall,
    )


class _Marks:
    def __init__(self, here: Deployment, postgres: Postgres, connection: psycopg.Connection[Any]) -> None:
        used = postgres.cpu()
        ((transactions,),) = connection.execute(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        ).fetchall()
        self.values = {
            "worker": here.worker.cpu_s,
            "children": children_s(here.worker.pid),
            "sequencer": here.sequencer.cpu_s,
            "api": here.api.cpu_s + children_s(here.api.pid),
            "postgres": sum(used.values()),
            "postgres sequencer": used.get("gainsay_sequencing", 0.0),
            "background": used[BACKGROUND],
            "wal": float(postgres.wal()),
            "transactions": float(transactions),
        }

    def since(self, before: _Marks) -> Mapping[str, float]:
        return {name: value - before.values[name] for name, value in self.values.items()}


async def _queue(here: Deployment, debates: int, document: int, seed: int) -> None:
    async with HttpxAiohttpClient(
        base_url=here.api.said, timeout=120, headers={"authorization": f"Bearer {here.key}"}
    ) as client:
        left = iter(range(debates))

        async def caller() -> None:
            for nth in left:
                case = {
                    "question": "Does this agreement leave us with uncapped liability?",
                    "taskType": "contract",
                    "estimatedDownside": 250000,
                    "confidenceScore": 0.55,
                    "documents": [{"id": "D1", "title": "Master agreement", "text": filler(document, seed + nth)}],
                    "options": {"format": "adversarial", "maxRounds": 1},
                }
                said = await client.post("/v1/debates", json=case)
                if not said.is_success:
                    raise RuntimeError(f"expected a case to be taken, found {said.status_code}: {said.text[:400]}")

        await asyncio.gather(*(caller() for _ in range(4)))


def _over(connection: psycopg.Connection[Any], debates: int) -> None:
    until, found = time.monotonic() + WITHIN_S, {}
    while time.monotonic() < until:
        time.sleep(0.1)
        found = dict(connection.execute("SELECT state, count(*) FROM gainsay.debate_head GROUP BY state").fetchall())
        if sum(found.values()) == debates == found.get("completed", 0):
            return
        if any(found.get(state) for state in OVER[1:]):
            break
    raise RuntimeError(f"expected {debates} completed debates, found {found}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkout")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--debates", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--document", type=int, default=4_096)
    parser.add_argument("--folded", type=Path, help="write what the worker's CPU goes into, as folded stacks, to this file")
    given = parser.parse_args()
    turns = [measure(given.debates, given.at_once, 0.0, given.document, given.folded) for _ in range(given.turns)]
    for turn in turns:
        print(json.dumps({name: round(value, 2) for name, value in turn._asdict().items()}))
    print("median", {n: round(median(getattr(t, n) for t in turns), 2) for n in Spent._fields})


if __name__ == "__main__":
    main()
