"""How our own CPU for a debate grows with its rounds and debaters.

Debates run in this process; the offline models answer in another, over HTTP, so their thinking is not in the figures.
What a debate has said grows with its rounds, so even a debate whose every call costs the same is read longer.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import uvloop
from msgspec.structs import replace

from bench.deployment import HERE, policy_at
from bench.figures import Measured, NotRun, Turn
from bench.processes import ADDRESS, started
from bench.servers import server
from service.app import connected
from service.money import tokenizers
from service.policy.settings import read_policy
from tests.faults.books import TOKENIZER
from tests.fixtures.running import Bench, bench, repository

ROUNDS, OF_ROUNDS = (1, 2, 5, 10, 20), 3
DEBATERS, OF_DEBATERS = (2, 5, 10), 2
LONGEST = max(ROUNDS)
CEILING = 900.0
"""Enough for every debate here, in US dollars."""


def measure() -> Turn:
    """One turn of rounds and debaters."""
    vendor = [sys.executable, str(HERE / "vendor.py"), "models", "0"]
    at = started(vendor, ADDRESS, {"PYTHONPATH": str(repository())})
    with tempfile.TemporaryDirectory() as folder, server() as here, at as process:
        os.environ["VENDOR_KEY"] = "sk-fake-0123456789abcdef"
        tokenizers.load([TOKENIZER])
        return uvloop.run(_grown(here.service, policy_at(Path(folder), process.said, 1)))


async def _grown(url: str, path: Path) -> Turn:
    read = read_policy(path)
    longer = replace(read.formats.convergence, rounds_max=LONGEST)
    policy = replace(read, formats=replace(read.formats, convergence=longer))
    async with connected(policy) as providers, bench(url, policy=policy, providers=providers) as service:
        await _cpu_ms(service, 1, OF_ROUNDS)
        by_rounds = {n: await _cpu_ms(service, n, OF_ROUNDS) for n in ROUNDS}
        by_debaters = {n: await _cpu_ms(service, OF_DEBATERS, n) for n in DEBATERS}
    found: dict[str, Measured | NotRun] = {}
    for n, cpu in by_rounds.items():
        calls = OF_ROUNDS * (n + 1) + 1
        found[f"{n} rounds"] = Measured(cpu, None, f"{calls} calls, {cpu / calls:.2f} ms each")
    for n, cpu in by_debaters.items():
        calls = n * (OF_DEBATERS + 1) + 1
        found[f"{n} debaters"] = Measured(cpu, None, f"{calls} calls, {cpu / calls:.2f} ms each")
    later, first = by_rounds[20] - by_rounds[10], by_rounds[10]
    found["rounds linear"] = Measured(later, first, f"the first ten {first:.0f} ms")
    later, first = by_debaters[10] - by_debaters[5], by_debaters[5]
    found["debaters linear"] = Measured(later, first, f"the first five {first:.0f} ms")
    return found


async def _cpu_ms(service: Bench, rounds: int, debaters: int) -> float:
    """Our CPU for one debate of convergence, from its claim to its end, in milliseconds."""
    options = {"format": "convergence", "debaters": debaters, "maxRounds": rounds}
    debate = await service.submit(costCeilingUSD=CEILING, options=options)
    cpu = time.process_time()
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    await (await service.runner(debate)).run()
    return 1_000 * (time.process_time() - cpu)
