"""How soon commands do what they are there for, by the clock, in a process of their own each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import Measured, Turn
from bench.processes import ADDRESS, started
from bench.servers import server
from tests.fixtures.postgres import SERVINGS
from tests.fixtures.running import repository

GAINSAY = [sys.executable, "-m", "service"]
WITHIN_S = 120


def measure() -> Turn:
    """One turn; compiled modules are there, as after any first start."""
    _run("--help")
    helped = _run("--help")
    with server() as here:
        command = [*GAINSAY, "serve", "--no-worker", "--no-sequencer", "--port", "0"]
        variables = {"GAINSAY_DATABASE_URL": here.service, "GAINSAY_API_URL": SERVINGS[here.service]}
        begun = time.perf_counter()
        with started(command, ADDRESS, {**variables, "GAINSAY_DRAIN_S": "0"}):
            served = time.perf_counter() - begun
    said, whole = _demo()
    return {
        "help": Measured(helped),
        "serve": Measured(served),
        "said": Measured(said),
        "demo": Measured(whole),
    }


def _run(*words: str) -> float:
    begun = time.perf_counter()
    subprocess.run([*GAINSAY, *words], cwd=repository(), stdout=subprocess.DEVNULL, check=True, timeout=WITHIN_S)
    return time.perf_counter() - begun


def _demo() -> tuple[float, float]:
    """Seconds until the demonstration has said something, and until it is over, in a data folder of its own."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder:
        Path(folder).chmod(0o755)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
        variables = {**inherited, "GAINSAY_DATA_DIR": folder, "GAINSAY_WARM_S": "0", "HOME": folder}
        begun = time.perf_counter()
        with subprocess.Popen(
            [*GAINSAY, "demo"], cwd=repository(), env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout
            process.stdout.read(1)
            said = time.perf_counter() - begun
            process.stdout.read()
        whole = time.perf_counter() - begun
        if process.returncode:
            raise RuntimeError(f"expected the demonstration to succeed, found the exit code {process.returncode}")
        return said, whole
