"""What the policy file says of evaluations: they wait for their own money and places, and are judged by what held."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.audit.evaluation_rules import SHIPPED_LIMITS, EvaluationRules
from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.scoring.result import Result, result_of
from service.policy import Budget, Budgets, EvaluationBudget, EvaluationBudgets, EvaluationPolicy, Policy
from service.policy.evaluation import ReleasePolicy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.reviews.evaluations import EvaluationDesk, Standing
from service.simulated.provider import OfflineProvider
from service.store import evaluations
from service.store.evaluation_room import items_under_way
from service.store.spend import use_of
from tests.fixtures.evaluating import CALLER, GOLDEN, a_desk, a_feeder, a_plan, concluded, evaluating
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, bench
from tests.fixtures.sequencing import a_sequencer
from tests.fixtures.spending import exact, rows, set_day
from tests.store.workers import a_worker, until

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
VALIDATOR = replace(CALLER, roles=(*CALLER.roles, "validator"))
NOTHING_LEFT = Budgets(others=Budget(day=0, month=0))


def a_policy(budget: EvaluationBudget | None = None, **table: Any) -> Policy:
    """The shipped policy with a table of evaluations, and a tenant that has nothing left to spend."""
    if budget is not None:
        table["budget"] = budget
    return replace(read_policy(SHIPPED_POLICY), budgets=NOTHING_LEFT, evaluation=EvaluationPolicy(**table))


@asynccontextmanager
async def under(database: Database, policy: Policy, *folders: Path) -> AsyncIterator[tuple[Bench, EvaluationDesk, Any]]:
    async with (
        bench(database.service_url, OfflineProvider(), policy=policy) as service,
        a_sequencer(database) as sequencer,
    ):
        yield service, a_desk(service, folders), sequencer


async def dearest(database: Database) -> int:
    """What a debate of the tiny plan costs at most."""
    async with under(database, a_policy()) as (_, desk, _):
        return (await desk.plan(a_plan("critic"), CALLER)).quote[0].most


def of_policy(service: Bench) -> dict[str, Any]:
    """What a worker goes by."""
    return {"budgets": service.policy.budgets, "items": EvaluationBudgets(service.policy.evaluations.budget)}


async def ran(service: Bench, desk: EvaluationDesk, sequencer: Any, plan: str) -> Standing:
    """A plan, registered and run to its end."""
    evaluation = await desk.register(await desk.plan(plan, VALIDATOR), CALLER)
    await sequencer.catch_up()
    async with a_worker(service, **of_policy(service)), evaluating(a_feeder(service, desk)):
        return await concluded(desk, evaluation, sequencer)


def result_in(found: Standing) -> Result:
    return result_of(found.stored.result or b"")


# -- money and places


async def test_an_evaluation_goes_on_where_its_tenant_has_nothing_left(database: Database) -> None:
    async with under(database, a_policy()) as (service, desk, sequencer):
        found = await ran(service, desk, sequencer, a_plan("critic"))

        assert found.progress.stopped is None
        assert len(found.progress.scored) == 2
        spent = sum(seen.spent for seen in found.progress.seen.values())
        use = await use_of(service.database, CALLER.tenant, NOTHING_LEFT, EvaluationBudget().money, "evaluation")
        assert spent == use["day"].spent == use["month"].spent > 0
        assert (await use_of(service.database, CALLER.tenant, NOTHING_LEFT))["day"].drawn == 0
        await exact(service)


async def test_an_evaluation_whose_day_is_spent_says_so_and_goes_on_the_next_day(database: Database) -> None:
    most = await dearest(database)
    async with under(database, a_policy(EvaluationBudget(day=most, month=None))) as (service, desk, sequencer):
        set_day(database, "2026-12-30")
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()

        async def waits() -> bool:
            pause = (await desk.read(evaluation, CALLER)).stored.pause or ""
            return "of what evaluations may spend in a day" in pause and "the next debate may cost" in pause

        async with (
            a_worker(service, **of_policy(service)),
            evaluating(a_feeder(service, desk, only=evaluation)),
        ):
            await until(waits, 60.0)
            await asyncio.sleep(1.0)
            before = (await desk.read(evaluation, CALLER)).progress
            assert (len(before.asked), before.stopped) == (1, None)
            set_day(database, "2026-12-31")
            found = await concluded(desk, evaluation, sequencer)

        assert len(found.progress.scored) == 2
        assert found.progress.stopped is None
        assert all(seen.run.lost == 0 for seen in found.progress.seen.values())
        await exact(service)


async def test_a_plan_of_which_no_day_would_pay_for_a_debate_is_refused_with_its_arm(database: Database) -> None:
    most = await dearest(database)
    async with under(database, a_policy(EvaluationBudget(day=most - 1))) as (_, desk, _):
        with pytest.raises(InvalidPlan, match=r"arms\.1: .*\[evaluation\.budget\] pays"):
            await desk.plan(a_plan("critic"), CALLER)


async def test_evaluations_of_a_tenant_share_its_places_and_never_have_more(database: Database) -> None:
    budget = EvaluationBudget(day=None, month=None, debates=3)
    async with under(database, a_policy(budget)) as (service, desk, sequencer):
        planned = await desk.plan(a_plan("critic", repeats=3), CALLER)
        both = [await desk.register(planned, CALLER) for _ in range(2)]
        await sequencer.catch_up()
        feeders = [a_feeder(service, desk, str(nth), only=evaluation) for nth, evaluation in enumerate(both)]
        for _ in range(3):
            await asyncio.gather(*(feeder.round() for feeder in feeders))
            assert (await items_under_way(service.database, CALLER.tenant)).debates <= 3
        asked = [len((await desk.read(evaluation, CALLER)).progress.asked) for evaluation in both]
        assert asked == [1, 1], "three places, shared by two"

        async with a_worker(service, **of_policy(service)), evaluating(a_feeder(service, desk)):
            for evaluation in both:
                assert len((await concluded(desk, evaluation, sequencer)).progress.scored) == 6


# -- what a result is judged by


def held(plan: str) -> str:
    return plan.replace('split = "open"', 'split = "held"')


async def test_two_plans_on_one_held_split_that_are_registered_at_once_are_two_looks(database: Database) -> None:
    async with under(database, a_policy(held_looks=3)) as (_, desk, _):
        planned = [await desk.plan(held(a_plan("critic")), VALIDATOR) for _ in range(4)]
        found = await asyncio.gather(*(desk.register(each, CALLER) for each in planned))
        looks = [(await desk.read(evaluation, CALLER)).progress.registered.sets[0].looks for evaluation in found]
        assert sorted(looks) == [0, 1, 2, 3]

        claims = replace(planned[0], plan=replace(planned[0].plan, exploratory=False))
        with pytest.raises(InvalidPlan, match="was looked at since the plan was read, and is worn"):
            await desk.register(claims, CALLER)
        assert rows(database, "SELECT count(*) FROM gainsay.evaluation") == [(4,)]


async def test_the_rules_of_the_policy_are_recorded_and_a_result_is_computed_by_them(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "tiny-critic"
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    about = folder / "set.toml"
    about.write_text(about.read_text("utf-8").replace("published = false", "published = 2025-06-30"), "utf-8")
    policy = a_policy(held_looks=2, release=ReleasePolicy(hits=700, rating=8_000))
    aliases = sorted(policy.models)
    models = {
        alias: replace(model, cutoff="2025-06-29") if alias.startswith("birch") else model
        for alias, model in policy.models.items()
    }
    async with under(database, replace(policy, models=models), folder) as (service, desk, sequencer):
        plan = held(a_plan("critic", folder=folder))
        first = await ran(service, desk, sequencer, plan)
        second = await ran(service, desk, sequencer, plan)
        entries = await evaluations.read_entries(service.database, second.stored.evaluation, CALLER.tenant)
        golden = desk.shelf.at_hand(datetime.now(UTC).date(), CALLER.tenant)

    cutoffs = {alias: "2025-06-29" for alias in aliases if alias.startswith("birch")}
    rules = second.progress.registered.rules
    assert rules == EvaluationRules(2, replace(SHIPPED_LIMITS, hits=700, rating=8_000), cutoffs)
    worn, told = result_in(second), result_in(second).sets[0]
    assert (told.look, told.worn, result_in(first).sets[0].worn) == (2, True, False)
    assert "wornSet" in worn.why_exploratory
    assert worn.table("limits")[0].cells["rating"] == 8.0
    assert told.maybe_seen
    assert told.maybe_seen == told.unknown_cutoff, "those that policy dates end before the set was published"
    assert not set(told.maybe_seen) & set(cutoffs)
    (standing,) = [one.text for one in worn.sentences if "stricter" in one.text]
    assert "lower bound of the hits at least 0.7, shipped 0.6; mean own rating above 8, shipped 7" in standing

    (registered, *rest), recorded = entries, second.progress.concluded
    assert recorded is not None
    assert conclusion_of(Progress.of(entries), golden).hash == recorded.result
    for changed in (
        replace(rules, held_looks=3),
        replace(rules, release=SHIPPED_LIMITS),
        replace(rules, cutoffs=dict.fromkeys(cutoffs, "2025-06-30")),
    ):
        forged = Progress.of([replace(registered, rules=changed), *rest])
        assert conclusion_of(forged, golden).hash != recorded.result
