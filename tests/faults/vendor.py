"""The vendor of the money tests, a process of its own: it counts what it bills by itself, and may be hard to deal with.

    with vendor("troubled", seed=3) as till:
        till.url                # speaks both wires
        till.bills()            # what it bills, call by call

What a call comes to depends on the seed and its number, and on nothing else. A case says its number in its question
(`case_of`), so that every bill can be laid beside the records of one debate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from tests.fixtures.behaviours import (
    UNTOLD,
    Behaviour,
    Body,
    Call,
    Cut,
    Model,
    Reply,
    Rule,
    Say,
    Slow,
    Status,
    too_much,
)
from tests.fixtures.running import repository
from tests.fixtures.upstream import Upstream
from tests.fixtures.vendors import JSON, Heard, Tokens, usage

OVERCHARGED = "overcharged"
"""A case with this word in its number's sentence has a critic who bills four times what it was allowed."""
SILENT_S = 6.0
"""How long a troubled vendor is silent: longer than a call may take, which on a busy machine is some seconds."""
_CASE = re.compile(rb"Case (\d+)( overcharged)?:")


@dataclass(frozen=True)
class Billed:
    """One call, as the vendor bills it: ``told`` is whether its answer says so, and arrives."""

    n: int
    case: int
    model: str
    seat: str
    told: bool
    tokens: Tokens


class Till(Upstream):
    """An upstream that also tells every bill by itself."""

    @property
    def stats(self) -> JSON:
        """Calls, and bill by bill."""
        cases = {call.n: case_of(call)[0] for call in self.calls if call.body}
        bills = [Billed(b.n, cases[b.n], b.model, b.seat, b.told, b.tokens) for b in self.bills]
        return {"calls": len(self.calls), "cases": list(cases.values()), "bills": [asdict(bill) for bill in bills]}


def case_of(call: Call) -> tuple[int, bool]:
    """The number of the case that a call is about, and whether that is to be overcharged."""
    found = _CASE.search(call.body)
    assert found, "a call about no case"
    return int(found[1]), found[2] is not None


@dataclass(frozen=True)
class Honest:
    """A model that thinks with a good part of its allowance, sometimes out of a cache, and tells all of it."""

    seed: int

    def __call__(self, call: Call) -> Reply:
        return Model(_thinking(_draw(self, call)))(call)


@dataclass(frozen=True)
class Declining:
    """A model that refuses to answer after it has used its whole allowance: a debate comes to one call, the dearest."""

    seed: int

    def __call__(self, call: Call) -> Reply:
        return Say(None, whole_allowance, refusal="I must decline.")(call)


@dataclass(frozen=True)
class Overcharging:
    """An honest one, but for the critics of marked cases."""

    seed: int

    def __call__(self, call: Call) -> Reply:
        reply = Honest(self.seed)(call)
        if case_of(call)[1] and reply.bill and reply.bill.seat == "critic":
            return Model(too_much)(call)
        return reply


@dataclass(frozen=True)
class Troubled:
    """Every third call fails or keeps something back: most of what fails is billed all the same."""

    seed: int

    def __call__(self, call: Call) -> Reply:
        draw = _draw(self, call)
        good = Model(_thinking(draw))
        return good(call) if draw.random() < 2 / 3 else draw.choice(_troubles(good, SILENT_S))(call)


def _troubles(good: Behaviour, slow_s: float = 1.5) -> tuple[Behaviour, ...]:
    return (
        Model(_thinking_untold),
        _Unlikely(good, {"prompt_tokens": 0, "completion_tokens": 0, "input_tokens": 0, "output_tokens": 0}),
        _Unlikely(good, None),
        _Failing(good, Status(500)),
        _Failing(good, Status(504, b"<html>gateway</html>", content_type="text/html")),
        _Lost(Cut("headers", good)),
        _Lost(Cut("body", good)),
        _Lost(Cut(0, good)),
        _Lost(Slow(slow_s, good)),
        Say("I would rather not say.", _thinking(random.Random(0))),
        Say('{"thesis": 1', _thinking(random.Random(1)), finish="length"),
        Say("", _thinking_untold),
        Body(b"<html>busy</html>", "text/html", Tokens(2_000, 200)),
        Status(429, headers={"retry-after-ms": "5"}),
        Status(529, kind="overloaded_error"),
    )


@dataclass(frozen=True)
class Moody:
    """A vendor on an ordinary bad day: every call takes another while, and one in eight goes wrong."""

    seed: int
    latency_s: float = 0.15

    def __call__(self, call: Call) -> Reply:
        draw = _draw(self, call)
        good = Model(_thinking(draw))
        wrong = draw.random() < 1 / 8
        made = draw.choice((*_troubles(good), *_rebuffs(good)))(call) if wrong else good(call)
        if made.slices > 1:
            return made
        return replace(made, pause_s=made.pause_s + min(2.0, draw.expovariate(1 / self.latency_s)))


def _rebuffs(good: Behaviour) -> tuple[Behaviour, ...]:
    """What is said to come back later, with and without a word of when, and an answer that comes in drops."""
    return (
        Status(429),
        Status(429, headers={"retry-after": "1"}),
        Status(503, headers={"retry-after": "1"}),
        Status(502, b"<html>bad gateway</html>", content_type="text/html"),
        Slow(0.1, good, slices=8),
        Slow(0.5, good, slices=8),
    )


@dataclass(frozen=True)
class _Unlikely:
    """A good answer with a usage that cannot be true: none at all for a request with text."""

    inner: Behaviour
    told: Any

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        body = {**json.loads(made.body), "usage": self.told}
        return replace(made, body=json.dumps(body).encode(), bill=made.bill and replace(made.bill, told=False))


@dataclass(frozen=True)
class _Failing:
    """An error after the work was done: it is billed and brings nothing."""

    inner: Behaviour
    error: Behaviour

    def __call__(self, call: Call) -> Reply:
        bill = self.inner(call).bill
        return replace(self.error(call), bill=bill and replace(bill, told=False))


@dataclass(frozen=True)
class _Lost:
    """A good answer that does not arrive."""

    inner: Behaviour

    def __call__(self, call: Call) -> Reply:
        made = self.inner(call)
        return replace(made, bill=made.bill and replace(made.bill, told=False))


def _draw(behaviour: Any, call: Call) -> random.Random:
    return random.Random(f"{behaviour.seed}:{call.n}")


def _thinking(draw: random.Random) -> Rule:
    """Between half and all of what is left of the allowance is thought, and up to half of the input is cached."""
    share, out_of_cache = draw.uniform(0.5, 1), draw.uniform(0, 0.5)

    def rule(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
        cached = int(counted.input * out_of_cache)
        billed = replace(_thought(counted, heard, share), input=counted.input - cached, cached_input=cached)
        return billed, usage(heard.wire, billed)

    return rule


def _thinking_untold(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    return _thought(counted, heard, 1), UNTOLD


def whole_allowance(counted: Tokens, heard: Heard) -> tuple[Tokens, Any]:
    """All that was allowed is used and told."""
    billed = _thought(counted, heard, 1)
    return billed, usage(heard.wire, billed)


def _thought(counted: Tokens, heard: Heard, share: float) -> Tokens:
    spare = max(0, heard.request.max_output_tokens - counted.output)
    return replace(counted, reasoning=int(spare * share))


KINDS: Mapping[str, Callable[[int], Behaviour]] = {
    "honest": Honest,
    "declining": Declining,
    "overcharging": Overcharging,
    "troubled": Troubled,
    "moody": Moody,
}


# -- the process, from outside


@dataclass(frozen=True)
class Vendor:
    """A vendor that runs."""

    url: str

    process: subprocess.Popen[str]

    def bills(self) -> list[Billed]:
        """What has been billed so far."""
        return [Billed(**{**bill, "tokens": Tokens(**bill["tokens"])}) for bill in self._stats()["bills"]]

    def calls(self) -> int:
        """How many requests have come."""
        return int(self._stats()["calls"])

    def cases(self) -> Counter[int]:
        """How many requests have come about each case."""
        return Counter(self._stats()["cases"])

    def _stats(self) -> JSON:
        with urllib.request.urlopen(f"{self.url}/stats", timeout=30) as answer:
            told: JSON = json.load(answer)
        return told


@contextmanager
def vendor(kind: str = "honest", *, seed: int = 1, latency_ms: int = 0) -> Iterator[Vendor]:
    """A vendor of this kind for the length of the block."""
    options = ["--kind", kind, "--seed", str(seed), "--latency-ms", str(latency_ms)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.vendor", *options],
        cwd=repository(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            yield Vendor(process.stdout.readline().strip(), process)
        finally:
            process.kill()


# -- and from inside


async def _serve(kind: str, seed: int, latency_ms: int) -> None:
    till = Till(KINDS[kind](seed), latency_ms / 1_000)
    server = await asyncio.start_server(till.serve, "127.0.0.1", 0, limit=1 << 20, backlog=1_000)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone
    server.close()
    await till.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.vendor", description="A vendor for tests of money.")
    parser.add_argument("--kind", choices=sorted(KINDS), default="honest")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency-ms", type=int, default=0)
    asyncio.run(_serve(**vars(parser.parse_args())))
