"""How our CPU for a debate grows with its rounds and its debaters, and how much of it is the kernel's.

A debate of convergence in which no two answers agree, so that every round is played. Its seats answer at once. Our CPU
is that of a runner from its first statement to the recorded outcome; PostgreSQL's is not in it. The kernel's is that of
moves, legality and facts (`service.debate.course`). All later rounds read a reply, so the requests grow with the square
of the rounds whatever we do, and with them what renders and compares them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvloop
from msgspec.structs import replace

from bench.figures import Measured, Turn
from bench.servers import server
from service.debate import kernel
from service.debate.course import Course
from service.policy import Budgets, Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.request import Request, WireTexts, encode, wire_texts
from service.running.provider_port import Answer, Provider
from tests.fixtures.running import TEXT, Bench, bench

ROUNDS, DEBATERS = (1, 5, 10, 20), (2, 3, 5, 10)
"""Rounds with three debaters, and debaters with two rounds."""
CEILING = 25.0
"""Enough for the longest of them, in US dollars."""


class Grown(NamedTuple):
    """One size: its calls, and CPU in milliseconds."""

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
        seat = body.partition(b"\n")[0]
        text = json.dumps(_said(seat.decode()))
        return Answer(text, {}, "disagreeing")


def _said(seat: str) -> dict[str, Any]:
    if seat == "judge":
        ruling = {"finalAnswer": "answer 1", "justification": "It is so.", "confidenceLevel": "MODERATE"}
        return {**ruling, "explicitUncertainties": ["No schedule was given."]}
    quote = {"quote": "Neither party's liability shall exceed the fees paid", "sourceId": "D1"}
    argument = {"n": 1, "text": f"Reading {seat[-1]} lifts the limit for this case alone.", "citations": [quote]}
    return {"finalAnswer": f"answer {seat[-1]}", "arguments": [argument]}


def measure() -> Turn:
    """One turn: each size, and what a further round costs the kernel in long debates and in short ones."""
    with server() as here:
        return uvloop.run(_measured(here.service))


async def _measured(url: str) -> Turn:
    async with bench(url, Disagreeing(), policy=_policy()) as service:
        await _once(service, 1, 3)
        rounds = {r: await _once(service, r, 3) for r in ROUNDS}
        debaters = {d: await _once(service, 2, d) for d in DEBATERS}
    kernel = {f"kernel {r}": Measured(100 * one.kernel_ms / one.cpu_ms) for r, one in rounds.items()}
    later, first = _a_round(rounds, 10, 20), _a_round(rounds, 5, 10)
    return {
        **{f"{r} rounds": _sized(one) for r, one in rounds.items()},
        **{f"{d} debaters": _sized(one) for d, one in debaters.items()},
        **kernel,
        "rounds linear": Measured(later, first, f"one of the fifth to the tenth {first:.2f} ms"),
    }


def _sized(found: Grown) -> Measured:
    return Measured(found.cpu_ms, None, f"{found.calls} calls, {found.cpu_ms / found.calls:.2f} ms each")


def _a_round(rounds: Mapping[int, Grown], few: int, many: int) -> float:
    """What one more round costs the kernel between two sizes, in milliseconds."""
    return (rounds[many].kernel_ms - rounds[few].kernel_ms) / (many - few)


def _policy() -> Policy:
    """The shipped policy without limits of money, and with as many rounds as the kernel plays."""
    shipped = read_policy(SHIPPED_POLICY)
    rules = replace(shipped.formats.convergence, rounds_max=max(ROUNDS))
    return replace(shipped, budgets=Budgets(), formats=replace(shipped.formats, convergence=rules))


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
