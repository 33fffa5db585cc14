"""Debates that something fails under, everywhere once: what fails, whom it strikes, and who goes on.

A `Trial` is one kind of debate on one database. `Trial.run` brings one case to its end through processes that are
struck one after another: a fault of `wire` or of `counting` strikes the first, the next one the second, and whoever
comes last is left alone. A process that goes on after its fault is struck no more; where one dies, its leases run out,
another takes its place, and the caller, who has heard nothing, posts its case again under the same key.

Whether everything is tried or a sample says the environment: GAINSAY_TEST_FAULTS=all, or GAINSAY_TEST_FAULTS_SEED.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import LiteralString, TypeVar

import psycopg
import pytest

from tests.faults.afterwards import Debated, expect_well
from tests.faults.bringing import SCENARIOS, Post, Process, Scenario, a_desk, let_leases_run_out
from tests.faults.confirming import Confirmed, noting
from tests.faults.counting import Call, Counting, Unanswered
from tests.faults.intents import intents
from tests.faults.wire import Fault, Hit, Wire, a_wire
from tests.fixtures.postgres import Database as Server

ALL = os.environ.get("GAINSAY_TEST_FAULTS") == "all"
SEED = int(os.environ.get("GAINSAY_TEST_FAULTS_SEED", "1"))
TRIED: Counter[tuple[str, str]] = Counter()
"""How many points were tried, by the kind of debate and of fault."""
MISSED: Counter[tuple[str, str]] = Counter()
"""How many were not met: no debate came as far as them, however often one was begun."""
TRIES = 3
"""So often a point is tried that another debate of the kind has come to."""
SPARE = 3
"""So many statements fewer than the one before a debate may take: looks at the queue, and connections made anew."""
AT_ONCE = 3
"""So many turns are asked at once in some formats, so it may take so many appends or calls fewer."""

RECORDS: LiteralString = "SELECT next_n FROM gainsay.debate_head WHERE debate = %s::uuid"

Struck = Fault | Unanswered
T = TypeVar("T")


# -- which points are tried


def points(what: str, total: int, most: int) -> Iterator[int]:
    """Which points are tried: all, and some more until none is met, or so many of them, drawn from the seed."""
    if ALL:
        return iter(range(1, 2 * max(1, total) + SPARE))
    every = range(1, total + 1)
    return iter(Random(f"{SEED}:{what}").sample(every, min(len(every), most)))


async def met(attempt: Callable[[int], Awaitable[T | None]], at: int, times: int = TRIES) -> T | None:
    """What came of a point, tried so often until it is met."""
    for _ in range(times):
        if (found := await attempt(at)) is not None:
            return found
    return None


async def each(
    scenario: Scenario,
    what: tuple[str, ...],
    total: int,
    most: int,
    attempt: Callable[[int], Awaitable[T | None]],
    spare: int = 0,
) -> dict[int, T]:
    """What came of so many points of ``total``, drawn from the seed; with all of each, and of those met beyond.

    A point may only be missed as far as the debates of a kind differ in how far they come: by ``spare``, and by as many
    turns as are asked at once.
    """
    found, missed = dict[int, T](), list[int]()
    for at in points(" ".join((scenario.name, *what)), total, total):
        if (one := await met(attempt, at, TRIES if at <= total else 1)) is not None:
            found[at] = one
        elif at > total:
            break
        else:
            missed.append(at)
        if len(found) == most and not ALL:
            break
    MISSED[scenario.name, what[0]] += len(missed)
    may = spare + AT_ONCE * scenario.at_once
    assert len(missed) <= may, f"{' '.join(what)}: of {total} points {missed} were not met, and only {may} may be"
    return found


def chosen(what: str, every: Sequence[T], most: int) -> Sequence[T]:
    """Which of several kinds are tried: all, or so many of them, drawn from the seed."""
    return every if ALL else Random(f"{SEED}:{what}").sample(every, min(len(every), most))


def some(what: str, most: int, *always: str) -> pytest.MarkDecorator:
    """Run a test with every kind of debate, or with so many of them: some ``always``, the rest drawn from the seed."""
    names = [*always, *chosen(what, [name for name in SCENARIOS if name not in always], most - len(always))]
    return pytest.mark.parametrize("scenario", [SCENARIOS[name] for name in names], ids=names)


def tried(scenario: str, kind: str) -> None:
    """Count a point for the table."""
    TRIED[scenario, kind] += 1


def table() -> Iterator[str]:
    """How many points were tried, a row a kind of fault and a column a kind of debate."""
    columns = list(dict.fromkeys(scenario for scenario, _ in TRIED))
    kinds = list(dict.fromkeys(kind for _, kind in TRIED))
    wide = max(map(len, kinds))
    yield f"{'points':<{wide}}  {'  '.join(columns)}     all"
    for kind in kinds:
        counts = [TRIED[column, kind] for column in columns]
        cells = [f"{count or '-':>{len(column)}}" for column, count in zip(columns, counts, strict=True)]
        yield f"{kind:<{wide}}  {'  '.join(cells)}  {sum(counts):>6}"
    yield f"{TRIED.total()} points were tried; {MISSED.total()} were not met in {TRIES} tries"
    yield from (f"  {scenario}, {what}: {count} not met" for (scenario, what), count in MISSED.items() if count)


# -- trials


@dataclass
class Struggling:
    """A process, what may strike it, and what there is to take apart when it is gone."""

    process: Process
    wire: Wire
    vendor: Counting
    stack: AsyncExitStack

    def strike(self, fault: Struck | None) -> None:
        """Let this happen to it from now on, or nothing."""
        self.wire.fail(fault if isinstance(fault, Fault) else None)
        self.vendor.fail(fault if isinstance(fault, Unanswered) else None)

    @property
    def hit(self) -> Hit | None:
        """What its fault has struck."""
        return self.wire.hit or self.vendor.hit

    async def bring(self, post: Post) -> bool:
        """Whether it has brought a case to its end, and has not died before."""
        work = asyncio.create_task(self.process.bring(post))
        deaths = [asyncio.create_task(died.wait()) for died in (self.wire.died, self.vendor.died)]
        await asyncio.wait([work, *deaths], return_when=asyncio.FIRST_COMPLETED)
        dead = any(death.done() for death in deaths)
        for task in (work, *deaths) if dead else deaths:
            task.cancel()
        if dead:
            await self.bury()
        await asyncio.gather(*deaths, *([work] if dead else []), return_exceptions=True)
        if not dead:
            await work
        return not dead

    async def bury(self) -> None:
        """It is gone: it tells nobody anything, and nothing of it goes on."""
        self.wire.die()
        await asyncio.gather(self.stack.aclose(), self.process.stop(0.0), return_exceptions=True)
        self.vendor.died.clear()


@dataclass
class Run:
    """A debate that was brought to its end: what was struck on the way, and what it took and left behind.

    ``statements`` and ``last_calls`` are those of whoever came last, which was left alone if nothing has struck it.
    """

    struck: list[Hit]
    statements: int = 0
    calls: int = 0
    last_calls: int = 0
    records: int = 0


class Trial:
    """Debates of one kind on one database."""

    def __init__(self, server: Server, scenario: Scenario) -> None:
        self.server, self.scenario = server, scenario
        self.confirmed: list[Confirmed] = []
        self._vendor = Counting(self._called)
        self._debates: list[Debated] = []
        self._posts = self._began = 0
        self._unrecorded: list[Call] = []
        self._alive: Struggling | None = None
        self._admin = psycopg.connect(server.admin_url, autocommit=True)

    async def run(self, *faults: Struck) -> Run:
        """One case from its post to its end."""
        self._posts += 1
        post, run = Post(self.scenario, f"post-{self._posts}"), Run([])
        began = self._began = len(self._vendor.calls)
        for fault in (*faults, None):
            alive = self._alive = self._alive or await self._start()
            alive.strike(fault)
            over = await alive.bring(post)
            run.statements, run.last_calls = alive.wire.count, alive.vendor.count
            run.struck += [alive.hit] if alive.hit else []
            alive.strike(None)
            if over:
                break
            self._alive = None
            let_leases_run_out(self._admin)
        assert post.debate, "whoever comes last has answered"
        self._debates.append(Debated(post.debate, tuple(self._vendor.calls[began:])))
        run.calls = len(self._vendor.calls) - began
        run.records = self._admin.execute(RECORDS, [post.debate]).fetchall()[0][0]
        return run

    async def everywhere(
        self, what: str, total: int, most: int, fault: Callable[[int], Struck], *before: Struck
    ) -> list[Run]:
        """A debate for each chosen point of ``total``; with all, until there is none that could be met.

        What is struck ``before`` is another process, whose place the one that fails at the point has taken. Only there
        may be no point left.
        """

        async def attempt(at: int) -> Run | None:
            run = await self.run(*before, fault(at))
            return run if len(run.struck) > len(before) else None

        spare = SPARE if isinstance(fault(0), Fault) else 0
        found = await each(self.scenario, (what, f"{fault(0)} {before}"), total, most, attempt, spare)
        for run in found.values():
            tried(self.scenario.name, f"{what} {run.struck[-1].how}")
        assert found or before, f"{what}: nothing was tried"
        return list(found.values())

    async def settle(self, folder: Path) -> None:
        """Let everybody go, and see that all is well."""
        await self.close()
        assert self._unrecorded == [], "a call before its record"
        await expect_well(self.server, self._debates, self.confirmed, folder)

    async def close(self) -> None:
        """Let everybody go."""
        if self._alive:
            await self._alive.bury()
            self._alive = None
        self._admin.close()

    def _called(self, _n: int, call: Call) -> None:
        """No record, no call: see that this one's intent is there when the call comes, and not that of one before."""
        before = self._vendor.calls[self._began :]
        if call.usage is None and sum(each.body == call.body for each in before) > intents(self._admin, call.body):
            self._unrecorded.append(call)

    async def _start(self) -> Struggling:
        async with AsyncExitStack() as stack:
            wire = await stack.enter_async_context(a_wire(self.server.service_url))
            desk = await stack.enter_async_context(a_desk(wire.url, self._vendor))
            return Struggling(Process(desk, self._admin), wire, self._vendor, stack.pop_all())


@asynccontextmanager
async def a_trial(server: Server, scenario: Scenario, folder: Path) -> AsyncIterator[tuple[Trial, Run]]:
    """A trial, and its second debate, which nobody disturbs either; when the block is over all has to be well."""
    trial = Trial(server, scenario)
    try:
        with noting(trial.confirmed.append):
            await trial.run()
            yield trial, await trial.run()  # by now every statement is prepared that has to be
        await trial.settle(folder)
    finally:
        await trial.close()
