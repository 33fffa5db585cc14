"""What is measured of evaluations: in the database, and where a process records an entry."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from prometheus_client import Counter

from service import telemetry
from service.audit.evaluation_events import EvaluationEntry, StoppedBy
from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.run.progress import Progress
from service.evaluation.scoring.observed_types import WhyNone
from service.evaluation.scoring.result import Outcome
from service.observing.evaluation_metrics import WAITS_FOR
from service.observing.labelled import Labelled
from service.reviews.evaluation_feed import EvaluationFeeder
from service.simulated.provider import OfflineProvider
from service.store.evaluation_gauges import EvaluationGauges
from tests.fixtures.counting import counted
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, a_plan, concluded, evaluating
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import a_sequencer
from tests.store.workers import a_worker, do

pytestmark = pytest.mark.no_replay
FREE = "UPDATE gainsay.evaluation SET lease_until = '-infinity'"

HELD_LOOKS = 10
"""From which look on a held split supports no claim, by the shipped policy."""


def most(_tenant: str) -> int:
    return HELD_LOOKS


class StopsAfterTenScores(EvaluationFeeder):
    """A feeder that is stopped once ten debates are scored."""

    stopped: asyncio.Event

    async def record(
        self, found: Any, progress: Progress, entries: Sequence[EvaluationEntry], result: bytes | None = None
    ) -> None:
        """Record an entry."""
        await super().record(found, progress, entries, result)
        if len(progress.scored) >= 10:
            self.stop()
            self.stopped.set()


def test_labels_have_every_value_that_an_entry_and_a_score_can_have() -> None:
    assert values(telemetry.EVALUATIONS_STOPPED, "by") == {*get_args(StoppedBy)}
    assert values(telemetry.EVALUATIONS_CONCLUDED, "finding") == {*get_args(Outcome)}
    assert values(telemetry.EVALUATION_MISSING, "reason") == {*get_args(WhyNone), "noCritique", "noModeration"}


def values(metric: Labelled[Counter], label: str) -> set[str]:
    """The values that a label of a metric may have."""
    known = metric.known[label]
    assert isinstance(known, tuple)
    return {*known}


async def test_what_an_evaluation_asks_scores_and_costs_is_counted_apart_from_debates(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        with counted() as more:
            evaluation = await desk.register(await desk.plan(a_plan("critic", repeats=3), CALLER), CALLER)
            await sequencer.catch_up()
            async with a_worker(service), evaluating(a_feeder(service, desk)):
                found = await concluded(desk, evaluation, sequencer)

    assert found.progress.concluded is not None
    finding, scores = found.progress.concluded.finding, [one.score["run"] for one in found.progress.scored.values()]
    assert more("gainsay_evaluations_registered_total") == 1
    assert more("gainsay_evaluation_items_total", event="asked") == 6
    assert more("gainsay_evaluation_items_total", event="scored") == 6
    assert more("gainsay_evaluations_concluded_total", finding=finding, simulated="true") == 1
    assert more("gainsay_evaluations_concluded_total") == 1
    spent = more("gainsay_evaluation_cost_usd_total", simulated="true")
    assert spent == pytest.approx(sum(run["charge"] for run in scores) / 1_000_000)
    assert spent > 0
    assert more("gainsay_evaluation_cost_usd_total", simulated="false") == 0
    assert more("gainsay_evaluation_lost_usd_total") == 0
    assert more("gainsay_evaluation_turn_seconds_count") >= 1
    assert more("gainsay_evaluation_held_looks_total") == 0, "the split is open"
    assert more("gainsay_debate_cost_usd_total") == more("gainsay_debates_concluded_total") == 0


async def test_the_gauges_say_what_open_evaluations_wait_for_and_since_when(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk, gauges = a_desk(service), EvaluationGauges(service.database, most)
        with counted() as now:
            await gauges.look()
            assert {now.value("gainsay_evaluations_open", state=state) for state in ("running", *WAITS_FOR)} == {0}
            assert now.value("gainsay_evaluation_still_seconds") == 0

            await desk.register(await desk.plan(a_plan("critic", repeats=9), CALLER), CALLER)
            await a_feeder(service, desk).round()
            do(database, "UPDATE gainsay.evaluation SET waits_since = waits_since - interval '1 hour'")
            do(database, FREE)
            await a_feeder(service, desk).round()
            await gauges.look()
            assert now.value("gainsay_evaluations_open", state="checkpoint") == 1
            assert 3_600 <= now.value("gainsay_evaluation_waiting_seconds", reason="checkpoint") < 3_700
            assert now.value("gainsay_evaluation_still_seconds") == 0, "what waits is told by its reason"

            await sequencer.catch_up()
            do(database, FREE)
            await a_feeder(service, desk).round()
            await gauges.look()
            assert now.value("gainsay_evaluations_open", state="running") == 1
            assert now.value("gainsay_evaluations_open", state="checkpoint") == 0
            assert now.value("gainsay_evaluation_waiting_seconds", reason="checkpoint") == 0
            assert 0 < now.value("gainsay_evaluation_still_seconds") < 60


async def test_the_gauges_say_how_much_of_its_ceiling_an_evaluation_will_need(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk, gauges = a_desk(service), EvaluationGauges(service.database, most)
        evaluation = await desk.register(await desk.plan(a_plan("critic", repeats=15), CALLER), CALLER)
        await sequencer.catch_up()
        with counted() as now:
            feeder = StopsAfterTenScores(desk, service.reviews, a_writer("f"), 5.0)
            feeder.stopped = asyncio.Event()
            async with a_worker(service), evaluating(feeder):
                await feeder.stopped.wait()
            await gauges.look()
            progress = (await desk.read(evaluation, CALLER)).progress
            assert progress.concluded is None
            used = progress.spent / progress.plan.ceiling
            assert now.value("gainsay_evaluation_ceiling_used_ratio") == pytest.approx(used)
            needed = used * 30 / len(progress.scored)
            assert now.value("gainsay_evaluation_ceiling_needed_ratio") == pytest.approx(needed)


async def test_a_fault_of_the_feeder_is_counted_and_said(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    async with bench(database.service_url, OfflineProvider()) as service:
        desk, gauges = a_desk(service), EvaluationGauges(service.database, most)
        await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        monkeypatch.setattr(EvaluationFeeder, "_follow", broken)
        with counted() as now:
            await a_feeder(service, desk).round()
            await gauges.look()
            assert now("gainsay_evaluation_faults_total") == 1
            assert now.value("gainsay_evaluations_open", state="fault") == 1


@pytest.mark.parametrize(("looks", "worn"), [(HELD_LOOKS - 2, 0), (HELD_LOOKS - 1, 1)])
async def test_a_held_split_is_worn_once_its_next_look_supports_no_claim(
    database: Database, looks: int, worn: int
) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        desk = a_desk(service)
        for _ in range(looks):
            await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        do(database, "UPDATE gainsay.evaluation SET scored = true, held = '{tiny-critic,tiny-pairs}'")
        do(
            database,
            "UPDATE gainsay.evaluation SET held = '{tiny-critic}' WHERE evaluation = "
            "(SELECT min(evaluation::text)::uuid FROM gainsay.evaluation)",
        )
        with counted() as now:
            await EvaluationGauges(service.database, most).look()
            assert now.value("gainsay_golden_sets_worn") == worn
            telemetry.SETS_WORN.set(math.nan)


@pytest.mark.parametrize(("looks", "refused"), [(HELD_LOOKS - 2, False), (HELD_LOOKS - 1, True)])
async def test_a_plan_whose_look_supports_no_claim_has_to_say_so(database: Database, looks: int, refused: bool) -> None:
    """The result of the tenth look is exploratory, so its plan is."""
    text = a_plan("critic").replace('split = "open"', 'split = "held"').replace("exploratory = true\n", "")
    validator = replace(CALLER, roles=(*CALLER.roles, "validator"))
    async with bench(database.service_url, OfflineProvider()) as service:
        desk = a_desk(service)
        for _ in range(looks):
            await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        do(database, "UPDATE gainsay.evaluation SET scored = true, held = '{tiny-critic}'")
        with pytest.raises(InvalidPlan) as found:
            await desk.plan(text, validator)

    assert ("the split held of tiny-critic is worn" in str(found.value)) == refused
