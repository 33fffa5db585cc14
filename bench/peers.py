"""Agent frameworks that keep no record, over the same calls in the same minutes, where they are set up.

They are `../shared/bench/peers`: one process a measurement, a debate of four calls in a row, a vendor of a few lines of
C on loopback HTTP that answers at once. `setup.sh WORK` there installs them; `make bench PEERS=WORK` finds them.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.fixtures.running import repository

DEBATES, AT_ONCE, CALLS = 200, 50, 4
WITHIN_S = 240
NOT_SET_UP = "not run: it is not set up (PEERS)"


class Peer(NamedTuple):
    """A peer: its virtual environment, its module, and whether it is a framework or a bare client."""

    venv: str
    module: str
    framework: bool = True


PEERS: Mapping[str, Peer] = {
    "aiohttp": Peer("floor", "floor_aiohttp", framework=False),
    "loomflow": Peer("loomflow", "loomflow_"),
    "langgraph": Peer("langgraph", "langgraph_"),
    "autogen": Peer("autogen", "autogen_"),
    "openai-agents": Peer("agents", "openai_agents_"),
    "agno": Peer("agno", "agno_"),
    "pydantic-ai": Peer("extra", "pydantic_ai_"),
}


def place() -> Path | None:
    """Where the peers are set up, if they are."""
    found = Path(os.environ.get("BENCH_PEERS") or "build/peers")
    return found.resolve() if (found / "upstream").is_file() and sources().is_dir() else None


def sources() -> Path:
    """The folder of the peers' programs, beside the project."""
    return repository().parent / "shared" / "bench" / "peers"


def measured() -> Mapping[str, float]:
    """The CPU of one debate of four calls in milliseconds, by peer; without those that are not installed.

    Empty where no peers are set up.
    """
    folder = place()
    if folder is None:
        return {}
    there = {name: peer for name, peer in PEERS.items() if (folder / "v" / peer.venv / "bin" / "python").exists()}
    with _upstream(folder) as address:
        return {name: _cpu_ms(folder, peer, address) for name, peer in there.items()}


def _cpu_ms(folder: Path, peer: Peer, address: str) -> float:
    words = ["--peer", peer.module, "--workload", "seq4", "--debates", str(DEBATES), "--conc", str(AT_ONCE)]
    python = str(folder / "v" / peer.venv / "bin" / "python")
    done = subprocess.run(
        [python, "-B", "-W", "ignore", str(sources() / "bench.py"), *words, "--lat", "0"],
        env={**os.environ, "BENCH_UPSTREAM": address, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"expected {peer.module} to run, found: {done.stderr[-500:]}")
    return read(done.stdout)


def read(said: str) -> float:
    """The CPU of a debate in what a peer's run printed, in milliseconds.

    Raises RuntimeError for a run with errors, or with another number of calls: its debate would be another one.
    """
    found = json.loads(said.strip().splitlines()[-1])
    if found["errors"] or found["calls_per_debate"] != CALLS:
        calls, errors = found["calls_per_debate"], found["errors"]
        raise RuntimeError(f"expected {CALLS} calls a debate without an error, found {calls} and {errors} errors")
    return float(found["cpu_ms"])


def leanest(figures: Mapping[str, float]) -> tuple[str, float] | None:
    """The framework with the least CPU; bare clients are none."""
    of = {name: figure for name, figure in figures.items() if PEERS[name].framework}
    return min(of.items(), key=lambda one: one[1]) if of else None


@contextmanager
def _upstream(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([str(folder / "upstream"), str(port)]) as vendor:
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            vendor.kill()


def _wait_for(port: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"expected the peers' vendor on port {port}, found nothing there")
