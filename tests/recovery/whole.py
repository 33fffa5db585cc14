"""Whole runs: simulated models with known faults, a plan, debates on the real kernel and database, scores, a result.

What scoring alone is given in `model.py`, comes here from models whose faults are a table of shares: through requests,
replies, checks and records. So they show what the others cannot: that what a known fault does arrives as its rate in
the scores. Every model scatters in all cases, so each debate of each run is a draw of its own.

A rate is *off* where so many cases or fewer, or so many or more, would be seen in less than one of a million
repetitions (`OFF`): over all runs of a setting together, by the exact binomial tail.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from bench.servers import server
from service.evaluation.scoring import Result
from service.evaluation.scoring.result import result_of
from service.evaluation.sets.files import load_shipped
from service.evaluation.sets.key import key_of
from service.policy import Budgets, EvaluationBudgets, Policy
from service.policy.known_faults import ModelFaults
from service.policy.settings import read_policy
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import KnownCases
from service.simulated.provider import OfflineProvider
from tests.demo_evaluation.known import POLICY
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, concluded, evaluating
from tests.fixtures.postgres import SERVINGS, Database
from tests.fixtures.running import Bench, bench
from tests.fixtures.sequencing import MemorySigner, a_sequencer
from tests.recovery.model import Claim
from tests.recovery.tally import at_least
from tests.store.workers import a_worker

OFF = 1e-6
SCATTER = 1_000
WITHIN_S = 600.0


class Rate(NamedTuple):
    """What is measured, the true share of cases, and the count of a result: (cases, of)."""

    what: str
    true: float
    counted: Callable[[Result], tuple[int, int]]


class Whole(NamedTuple):
    """A setting of whole runs: the folders of its sets, the faults by model, and the tables of its plan.

    ``found`` are the outcomes that are shown of a result, and ``claims`` what it may say wrongly.
    """

    name: str
    about: str
    kind: str
    metric: str
    sets: tuple[Path, ...]
    faults: Mapping[str, ModelFaults]
    tables: str
    rates: tuple[Rate, ...]
    found: Callable[[Result], str]
    claims: tuple[Claim, ...] = ()
    repeats: int = 1

    def plan(self, seed: int) -> str:
        """The file of the plan of a run."""
        named = "".join(
            f'[[sets]]\nid = "{one.manifest.id}"\nversion = {one.manifest.version}\nsha256 = "{one.hash}"\n'
            'split = "open"\n\n'
            for one in map(load_shipped, self.sets)
        )
        return (
            f'[plan]\nname = "{self.name}"\nquestion = "Is what is known found?"\nkind = "{self.kind}"\n'
            f'metric = "{self.metric}"\nalpha = 0.05\nmargin = 0.10\ncorrection = "holm"\nmissing = "wrong"\n'
            f'repeats = {self.repeats}\ngroups = "whole"\nstopping = "fixed"\nseed = "whole-{seed}"\n'
            f'ceiling_usd = "1000"\nexploratory = true\n\n{named}{self.tables}'
        )

    def models(self) -> Mapping[str, ModelFaults]:
        """The faults of its models, which scatter in all cases."""
        return {name: replace(faults, scatter=SCATTER) for name, faults in self.faults.items()}


class Arrived(NamedTuple):
    """A rate in the scores of all runs of a setting together."""

    what: str
    true: float
    cases: int
    of: int

    @property
    def off(self) -> bool:
        """Whether it differs from what is true by more than chance."""
        many, few = at_least(self.cases, self.of, self.true), at_least(self.of - self.cases, self.of, 1 - self.true)
        return min(many, few) < OFF


class Ran(NamedTuple):
    """All runs of a setting: its rates, what was found how often, and claims: (wrong, of) with their rate."""

    rates: tuple[Arrived, ...]
    found: Counter[str]
    claims: tuple[tuple[str, int, int, float], ...]

    @property
    def off(self) -> list[str]:
        """Rates that did not arrive, and what was said wrongly oftener than stated."""
        wrong = [what for what, said, of, rate in self.claims if at_least(said, of, rate) < OFF]
        return [one.what for one in self.rates if one.off] + wrong


def tallied(whole: Whole, results: Sequence[Result]) -> Ran:
    """What runs of a setting came to."""
    rates = []
    for rate in whole.rates:
        counts = [rate.counted(result) for result in results]
        rates.append(Arrived(rate.what, rate.true, sum(k for k, _ in counts), sum(n for _, n in counts)))
    claims = []
    for claim in whole.claims:
        seen = [claim.seen(result) for result in results]
        claims.append((claim.what, sum(k for k, _ in seen), sum(n for _, n in seen), claim.rate))
    return Ran(tuple(rates), Counter(map(whole.found, results)), tuple(claims))


class Runs:
    """Runs on one database, one after the other, by a worker and a feeder of this process."""

    def __init__(self, database: Database) -> None:
        self._database, self._signer = database, MemorySigner()

    async def of(self, whole: Whole, seeds: Sequence[int]) -> Ran:
        """What the runs of a setting with these seeds came to."""
        async with bench(self._database.service_url, _provider(whole), policy=_policy(whole)) as service:
            return tallied(whole, [await self._run(service, whole, seed) for seed in seeds])

    async def _run(self, service: Bench, whole: Whole, seed: int) -> Result:
        desk = a_desk(service, whole.sets)
        evaluation = await desk.register(await desk.plan(whole.plan(seed), CALLER), CALLER)
        items = EvaluationBudgets(service.policy.evaluations.budget)
        async with (
            a_sequencer(self._database, self._signer) as sequencer,
            a_worker(service, lease_s=60.0, limit=20, items=items),
            evaluating(a_feeder(service, desk, only=evaluation)),
        ):
            found = await concluded(desk, evaluation, sequencer, WITHIN_S)
        return result_of(found.stored.result or b"")


def _provider(whole: Whole) -> OfflineProvider:
    lines = key_of(map(load_shipped, whole.sets), allow_held=False)
    return OfflineProvider(faulty=FaultyModels(whole.models(), KnownCases(lines)))


def _policy(whole: Whole) -> Policy:
    policy = _examples()
    offline = replace(policy.providers["offline"], faults=dict(whole.models()))
    return replace(policy, providers={**policy.providers, "offline": offline})


@cache
def _examples() -> Policy:
    return replace(read_policy(POLICY), budgets=Budgets())


@contextmanager
def a_server() -> Iterator[Database]:
    """A migrated database on a server of its own."""
    with server() as here:
        yield Database("gainsay", here.admin, "", here.service, here.sequencer, SERVINGS[here.service])


def run_all(settings: Sequence[Whole], seeds: Sequence[int]) -> Iterator[tuple[str, Ran]]:
    """Run settings on a server of this process; each by its name as it is done."""
    with a_server() as database:
        runs = Runs(database)
        for whole in settings:
            yield whole.name, asyncio.run(runs.of(whole, seeds))
