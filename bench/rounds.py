"""How our CPU for a debate grows with its rounds and its debaters, and how much of it is the kernel's.

A debate of convergence in which no two answers agree, so that every round is played. Its seats answer at once. Our CPU
is that of a runner from its first statement to the recorded outcome; PostgreSQL's is not in it. The kernel's is that of
moves, legality and facts (`service.debate.course`). All later rounds read a reply, so the requests grow with the square
of the rounds whatever we do, and with them what renders and compares them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.debate import kernel
from service.debate.course import Course
from service.money import Usage
from service.policy import Budgets, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request, WireTexts, encode, wire_texts
from service.running.provider_port import Answer, Provider
from tests.fixtures.running import TEXT, Bench, bench

ROUNDS, DEBATERS = (1, 5, 10, 20), (2, 3, 5, 10)
"""Rounds with three debaters, and debaters with two rounds."""
TURNS, LIMIT = 3, 0.15
CEILING = 25.0
"""Enough for the longest of them, in US dollars."""
Told = tuple[str, str, str, str]


class Grown(NamedTuple):
    """One size: its calls, and CPU in milliseconds, the least of some runs."""

    calls: int
    cpu_ms: float
    kernel_ms: float


class Disagreeing(Provider):
    """Answers at once for every seat of convergence; no debater gives another's answer."""

    def encode(self, request: Request) -> bytes:
        return request.seat.encode() + b"\n" + encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body.partition(b"\n")[2])

    async def send(self, body: bytes) -> Answer:
        seat, _, wire = body.partition(b"\n")
        text = json.dumps(_said(seat.decode()))
        return Answer(text, Usage(len(wire) // 4, len(text) // 4), {}, "disagreeing")


def _said(seat: str) -> dict[str, Any]:
    if seat == "judge":
        ruling = {"finalAnswer": "answer 1", "justification": "It is so.", "confidenceLevel": "MODERATE"}
        return {**ruling, "explicitUncertainties": ["No schedule was given."]}
    quote = {"quote": "Neither party's liability shall exceed the fees paid", "sourceId": "D1"}
    argument = {"n": 1, "text": f"Reading {seat[-1]} lifts the limit for this case alone.", "citations": [quote]}
    return {"finalAnswer": f"answer {seat[-1]}", "arguments": [argument]}


async def measure_rounds(url: str) -> list[Told]:
    """The rows of the bench: each size, and what a further round costs the kernel in long debates and in short ones."""
    async with bench(url, Disagreeing(), policy=_policy()) as service:
        await _grown(service, 1, 3)
        rounds = {r: await _grown(service, r, 3) for r in ROUNDS}
        debaters = {d: await _grown(service, 2, d) for d in DEBATERS}
    return [
        *(_row(f"{r} rounds x 3 debaters", found) for r, found in rounds.items()),
        *(_row(f"2 rounds x {d} debaters", found) for d, found in debaters.items()),
        _linear("round", [(r, found.kernel_ms) for r, found in rounds.items()]),
    ]


def _policy() -> Policy:
    """The shipped policy without limits of money, and with as many rounds as the kernel plays."""
    shipped = read_policy(SHIPPED_POLICY)
    rules = replace(shipped.formats.convergence, rounds_max=max(ROUNDS))
    return replace(shipped, budgets=Budgets(), formats=replace(shipped.formats, convergence=rules))


def _row(size: str, found: Grown) -> Told:
    share = found.kernel_ms / found.cpu_ms
    each = f"{found.cpu_ms / found.calls:.2f} ms a call"
    kernel_part = f"{each}, kernel {found.kernel_ms:.1f} ms, limit {LIMIT:.0%} of the CPU"
    return f"growth: our CPU, {size}", f"{found.cpu_ms:.1f} ms", kernel_part, f"{share / LIMIT:.2f}"


def _linear(what: str, sizes: Sequence[tuple[int, float]]) -> Told:
    """What a further round costs the kernel in the largest size, over what one costs in the smallest two."""
    (few, little), (some, more), *_, (many, much), (most, all_ms) = sizes
    first, last = (more - little) / (some - few), (all_ms - much) / (most - many)
    begun = f"{few} to {some}: {first:.2f} ms"
    return f"growth: kernel, one more {what}, {many} to {most}", f"{last:.2f} ms", begun, f"{last / first:.2f}"


async def _grown(service: Bench, rounds: int, debaters: int) -> Grown:
    found = [await _once(service, rounds, debaters) for _ in range(TURNS)]
    return Grown(found[0].calls, min(one.cpu_ms for one in found), min(one.kernel_ms for one in found))


async def _once(service: Bench, rounds: int, debaters: int) -> Grown:
    options = {"format": "convergence", "debaters": debaters, "maxRounds": rounds}
    debate = await service.submit(costCeilingUSD=CEILING, documents=[{"text": TEXT}], options=options)
    if await service.claim() != debate:
        raise RuntimeError(f"expected to claim the debate {debate}, which alone waits")
    runner = await service.runner(debate)
    with _kernel_ns() as spent:
        cpu = time.process_time_ns()
        outcome = await runner.run()
        cpu = time.process_time_ns() - cpu
    if outcome is None or outcome.status != "completed":
        raise RuntimeError(f"expected a completed debate of {rounds} rounds, found {outcome}")
    return Grown(sum(map(len, runner.facts.models.values())), cpu / 1e6, sum(spent) / 1e6)


@contextmanager
def _kernel_ns() -> Iterator[list[int]]:
    """Note the CPU of each call into the kernel; of calls within calls, that of the outer one."""
    spent, within = list[int](), list[None]()

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*given: Any, **named: Any) -> Any:
            if within:
                return function(*given, **named)
            within.append(None)
            begun = time.process_time_ns()
            try:
                return function(*given, **named)
            finally:
                spent.append(time.process_time_ns() - begun)
                within.clear()

        return measured

    names = ((Course, "add"), (Course, "fold"), (Course, "move"), (kernel, "kept"), (kernel, "unusable"))
    before = [(holder, name, getattr(holder, name)) for holder, name in names]
    for holder, name, function in before:
        setattr(holder, name, timed(function))
    try:
        yield spent
    finally:
        for holder, name, function in before:
            setattr(holder, name, function)
