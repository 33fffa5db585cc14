"""The feeder of evaluations: from a registered plan to a recorded result, whatever comes between."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast
from uuid import UUID

import pytest
from msgspec.structs import replace

from service.audit.evaluation_events import EvaluationEntry, ItemScored
from service.cli.evaluate.export import write_export
from service.cli.evaluate.here import Here
from service.debate.entries import CaseReceived, DebateStarted, EvaluationItem
from service.debate.whose import WHOSE
from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.scoring import score
from service.evaluation.scoring.result import compared, result_of
from service.identity.caller import Caller
from service.policy import Budgets, EvaluationBudget
from service.policy.evaluation import EvaluationPolicy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.proving.sequencer import Sequencer
from service.reviews import Reviews, evaluation_feed
from service.reviews.batch_callers import caller_of
from service.reviews.evaluation_cases import case_of
from service.reviews.evaluation_feed import EvaluationFeeder
from service.reviews.evaluations import EvaluationDesk, NotConcluded, Standing
from service.reviews.submission import Submitted
from service.simulated.provider import OfflineProvider
from service.store import evaluations
from service.store.pool import Database as Pool
from service.store.pool import Row
from service.web.evaluation_types import EvaluationState
from tests.fixtures.callers import Registers
from tests.fixtures.evaluating import CALLER, GOLDEN, a_desk, a_feeder, a_plan, concluded, evaluating, recorded_end
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_writer, bench
from tests.fixtures.sequencing import a_sequencer
from tests.fixtures.spending import rows
from tests.store.workers import a_worker, do, until

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
EVER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)
FREE = "UPDATE gainsay.evaluation SET lease_until = '-infinity'"
"""What time does by itself: the lease of a feeder that died, or the rest between two turns, is over."""


class Killed(BaseException):
    """The process is gone, in the middle of whatever it did."""


class Mortal(Pool):
    """A database that is asked only so often; ``lives`` counts down to the death of who asks."""

    lives: int | None = None

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query, unless the asker dies before it, or before it hears of them."""
        if self.lives is not None:
            self.lives -= 1
            if self.lives <= 0:
                if self.lives == 0 and name.startswith(("open_", "add_")):
                    await super().query(name, params)
                raise Killed
        return await super().query(name, params)


class Interrupted(Pool):
    """A database at which something happens right before a query of a name is asked, after so many others."""

    name = "open_debate"
    before = 0
    then: Callable[[], Awaitable[None]]

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == self.name:
            if self.before == 0:
                await self.then()
            self.before -= 1
        return await super().query(name, params)


class Alone(EvaluationFeeder):
    """A feeder that finds each debate opened already, without its entry; it opens by ``later`` where that is given."""

    later: Reviews | None = None

    async def open(self, asking: Any, unit: Any, found: Any, asked_by: Any) -> Submitted:
        """The debate of a unit."""
        await self._reviews.open_item(case_of(asking, unit), caller_of(found.by))
        self._reviews = self.later or self._reviews
        return await super().open(asking, unit, found, asked_by)


class StopsAfterAScore(EvaluationFeeder):
    """A feeder that is stopped by its first scores."""

    scores = 0

    async def record(
        self, found: Any, progress: Progress, entries: Sequence[EvaluationEntry], result: bytes | None = None
    ) -> None:
        """Record entries."""
        await super().record(found, progress, entries, result)
        if any(isinstance(entry, ItemScored) for entry in entries):
            self.scores += 1
            self.stop()

    async def has_stopped(self) -> bool:
        """Whether scores were recorded."""
        return self.scores == 1


class Registered(NamedTuple):
    """A registered evaluation of which nothing is asked yet, and what it takes to go on with it."""

    service: Bench
    desk: EvaluationDesk
    evaluation: str
    sequencer: Sequencer


@asynccontextmanager
async def registered(database: Database, repeats: int = 1, caller: Caller = CALLER) -> AsyncIterator[Registered]:
    """A plan that a checkpoint covers."""
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic", repeats=repeats), caller), caller)
        await sequencer.catch_up()
        yield Registered(service, desk, evaluation, sequencer)


async def turn_that_dies(database: Database, service: Bench, name: str) -> None:
    """A turn of a feeder that dies right before its second query of this name."""
    async with Interrupted.open(database.service_url, size=2) as store:
        store.name, store.before, store.then = name, 1, _die
        do(database, FREE)
        with pytest.raises(Killed):
            await a_feeder(service, a_desk(service, database=store)).round()


@pytest.mark.parametrize(("kind", "asked"), [("questions", 6), ("critic", 2), ("pairs", 2)])
async def test_a_plan_of_each_kind_comes_to_a_recorded_result(database: Database, kind: str, asked: int) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        planned = await desk.plan(a_plan(kind), CALLER)
        evaluation = await desk.register(planned, CALLER)
        await sequencer.catch_up()
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            found = await concluded(desk, evaluation, sequencer)

        progress, stored = found.progress, found.stored
        assert progress.concluded is not None
        assert len(progress.asked) == len(progress.scored) == asked
        assert stored.result is not None
        sets = desk.shelf.at_hand(datetime.now(UTC).date(), CALLER.tenant)
        again = conclusion_of(progress, sets)
        assert (again.hash, again.finding) == (progress.concluded.result, progress.concluded.finding)
        assert again.result == stored.result
        assert compared(result_of(stored.result)) == compared(result_of(again.result))
        for unit, debate in progress.asked.items():
            first, _, started, *_ = await service.entries(debate)
            assert isinstance(first, CaseReceived)
            assert isinstance(started, DebateStarted)
            assert first.evaluation is not None
            assert (first.evaluation.item, first.evaluation.arm, first.evaluation.repeat) == unit[1:]
            assert first.evaluation.plan == progress.registered.plan_hash
            assert started.seed_from == "plan"


async def test_nothing_is_asked_before_a_signed_head_covers_the_plan(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await a_feeder(service, desk).round()

        waits = await desk.read(evaluation, CALLER)
        assert not waits.progress.asked
        assert waits.stored.pause == "its registration is under no checkpoint yet"

        await sequencer.catch_up()
        do(database, FREE)
        await a_feeder(service, desk).round()
        assert len((await desk.read(evaluation, CALLER)).progress.asked) == 2


async def test_a_feeder_that_dies_anywhere_is_followed_by_one_that_comes_to_the_same(database: Database) -> None:
    random, shipped = Random(25), read_policy(SHIPPED_POLICY)
    few = replace(shipped, budgets=Budgets(), evaluation=EvaluationPolicy(budget=EvaluationBudget(debates=3)))
    async with (
        bench(database.service_url, OfflineProvider(), policy=few) as service,
        a_sequencer(database) as sequencer,
    ):
        desk = a_desk(service)
        planned = await desk.plan(a_plan("critic", repeats=7), CALLER)
        undisturbed, disturbed = [await desk.register(planned, CALLER) for _ in range(2)]
        await sequencer.catch_up()
        async with a_worker(service):
            async with evaluating(a_feeder(service, desk, only=undisturbed)):
                whole = await concluded(desk, undisturbed, sequencer)
            deaths = 0
            async with Mortal.open(database.service_url, size=2) as mortal:
                while (await desk.read(disturbed, CALLER)).stored.ended is None:
                    do(database, FREE)
                    mortal.lives = random.randrange(3, 25)
                    dying = a_feeder(service, a_desk(service, database=mortal), f"f{deaths}", only=disturbed)
                    try:
                        await dying.round()
                    except Killed:
                        deaths += 1
                    mortal.lives = None
                    await sequencer.catch_up()
            killed = await concluded(desk, disturbed, sequencer)

        assert deaths >= 5
        assert whole.progress.concluded is not None
        assert killed.progress.concluded is not None
        assert killed.progress.concluded.result == whole.progress.concluded.result
        assert compared(result_of(killed.stored.result or b"")) == compared(result_of(whole.stored.result or b""))
        opened = rows(database, "SELECT count(*) FROM gainsay.debate_head")[0][0]
        assert opened == len(whole.progress.asked) + len(killed.progress.asked) == 28


async def test_an_end_is_shown_once_a_checkpoint_covers_it_and_nothing_follows_it_before(database: Database) -> None:
    async with registered(database) as (service, desk, evaluation, sequencer):
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            await recorded_end(database.admin_url, evaluation)
        held, (listed,) = await desk.read(evaluation, CALLER), await desk.newest(CALLER, 9)
        assert (held.stored.ended, held.stored.result, held.progress.concluded) == (None, None, None)
        assert (listed.ended, listed.lost) == (None, False)
        assert EvaluationState.of(held).status == "running"
        with pytest.raises(NotConcluded, match="is under way"):
            await desk.concluded(evaluation, CALLER)
        with pytest.raises(InvalidPlan, match="is concluded"):
            await desk.stop(evaluation, "too late", CALLER)
        with pytest.raises(InvalidPlan, match="is concluded"):
            await desk.change(evaluation, await desk.plan(a_plan("critic", margin="0.2"), CALLER), CALLER)
        assert not [one async for one in evaluations.results_within(service.database, "default", *EVER)]

        await sequencer.catch_up()
        found, (listed,) = await desk.read(evaluation, CALLER), await desk.newest(CALLER, 9)
        assert found.progress.concluded is not None
        assert found.progress.next_n == held.progress.next_n + 1
        assert EvaluationState.of(found).status == "concluded"
        assert listed.ended == found.stored.ended is not None
        assert (await desk.concluded(evaluation, CALLER)).result == found.stored.result is not None
        assert [one async for one in evaluations.results_within(service.database, "default", *EVER)] == [found.stored]


async def test_an_export_waits_for_the_checkpoint_over_a_recorded_end_and_for_nothing_that_runs(
    database: Database,
) -> None:
    async with registered(database) as (service, desk, evaluation, sequencer):
        here = Here(cast(Any, service), desk, CALLER)
        with pytest.raises(NotConcluded, match="under way"):
            await write_export(here, evaluation, BytesIO(), held=True)
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
            await recorded_end(database.admin_url, evaluation)
        written = asyncio.create_task(write_export(here, evaluation, BytesIO(), held=True))
        await asyncio.wait([written], timeout=0.5)
        assert not written.done()

        await sequencer.catch_up()
        assert (await written).debates == 2


async def test_two_feeders_at_one_evaluation_ask_and_score_everything_once(database: Database) -> None:
    async with registered(database, repeats=3) as (service, desk, evaluation, sequencer):
        (first,) = await evaluations.claim_evaluations(service.database, "a", 30.0, 1)
        async with a_worker(service):
            while (await desk.read(evaluation, CALLER)).stored.ended is None:
                turns = [a_feeder(service, a_desk(service), name)._turn(first) for name in "ab"]
                await asyncio.gather(*turns)
                await sequencer.catch_up()

        found = await desk.read(evaluation, CALLER)
        assert len(found.progress.scored) == 6
        assert rows(database, "SELECT count(*) FROM gainsay.debate_head") == [(6,)]


async def test_scores_are_worked_out_for_the_tenant_of_the_evaluation(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = list[str]()

    def noted(*given: Any) -> Any:
        whose.append(WHOSE.get())
        return score(*given)

    monkeypatch.setattr(evaluation_feed, "score", noted)
    async with registered(database) as (service, desk, evaluation, sequencer):
        (claimed,) = await evaluations.claim_evaluations(service.database, "a", 30.0, 1)
        async with a_worker(service):
            while (await desk.read(evaluation, CALLER)).stored.ended is None:
                WHOSE.set("bank")  # as the turn of another tenant's evaluation left it
                await a_feeder(service, desk, "a")._turn(claimed)
                await sequencer.catch_up()

    assert whose
    assert set(whose) == {CALLER.tenant}


async def test_a_set_that_vanishes_stops_the_evaluation(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-critic"
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service, [folder])
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()
        feeder = a_feeder(service, desk)
        await feeder.round()
        shutil.rmtree(folder)
        do(database, FREE)
        await feeder.round()
        assert (await desk.read(evaluation, CALLER)).progress.stopped is None
        await sequencer.catch_up()

        found = await desk.read(evaluation, CALLER)
        assert found.progress.stopped is not None
        assert found.progress.stopped.by == "set"
        assert "tiny-critic is not at hand any more" in found.progress.stopped.why
        assert found.stored.ended is not None
        assert len(found.progress.asked) == 2


async def test_a_set_that_is_edited_stops_the_evaluation(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-critic"
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service, [folder])
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()
        about = folder / "set.toml"
        about.write_text(about.read_text("utf-8").replace("Apache-2.0", "MIT"), "utf-8")
        await a_feeder(service, desk).round()
        await sequencer.catch_up()

        found = await desk.read(evaluation, CALLER)
        assert found.progress.stopped is not None
        assert "was registered with the hash" in found.progress.stopped.why
        assert not found.progress.asked


async def test_a_process_without_the_set_leaves_the_evaluation_to_others(database: Database) -> None:
    async with registered(database) as (service, desk, evaluation, _):
        await a_feeder(service, a_desk(service, [GOLDEN / "tiny-pairs"])).round()

        found = await desk.read(evaluation, CALLER)
        assert (found.progress.stopped, len(found.progress.asked)) == (None, 0)
        assert "was not given the set tiny-critic" in (found.stored.pause or "")


async def test_a_process_with_another_policy_leaves_the_evaluation_to_others(database: Database) -> None:
    async with registered(database) as (service, desk, evaluation, _):
        other = a_desk(service, deployment=replace(service.deployment, build_hash="11" * 32))
        await a_feeder(service, other).round()

        found = await desk.read(evaluation, CALLER)
        assert not found.progress.asked
        assert "pins another build than runs here" in (found.stored.pause or "")


async def test_a_plan_changed_after_the_first_score_is_exploratory_and_says_so(database: Database) -> None:
    async with registered(database) as (service, desk, evaluation, sequencer):
        with pytest.raises(InvalidPlan, match="repeats cannot change"):
            await desk.change(evaluation, await desk.plan(a_plan("critic", repeats=3), CALLER), CALLER)
        async with a_worker(service):
            feeder = StopsAfterAScore(desk, service.reviews, a_writer("f"), 5.0)
            async with evaluating(feeder):
                await until(feeder.has_stopped)
            progress = await desk.change(evaluation, await desk.plan(a_plan("critic", margin="0.2"), CALLER), CALLER)
            assert progress.exploratory
            do(database, FREE)
            async with evaluating(a_feeder(service, desk)):
                found = await concluded(desk, evaluation, sequencer)

        assert found.progress.changed
        assert found.progress.concluded is not None
        assert found.progress.concluded.exploratory
        assert "planChanged" in result_of(found.stored.result or b"").why_exploratory
        assert len({entry.plan for entry in await _evaluated(service, found)}) == 1


async def test_an_evaluation_that_a_person_stops_is_concluded_with_what_was_asked(database: Database) -> None:
    async with registered(database, repeats=9) as (service, desk, evaluation, sequencer):
        await a_feeder(service, desk).round()
        await desk.stop(evaluation, "the vendor changed its model", CALLER)
        with pytest.raises(InvalidPlan, match="was stopped before"):
            await desk.stop(evaluation, "again", CALLER)
        do(database, FREE)
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            found = await concluded(desk, evaluation, sequencer)

        assert len(found.progress.scored) == len(found.progress.asked) == 8
        assert len(found.progress.units) == 18
        assert found.progress.concluded is not None
        assert result_of(found.stored.result or b"").stopped == "the vendor changed its model"
        with pytest.raises(InvalidPlan, match="is concluded"):
            await desk.stop(evaluation, "late", CALLER)


@pytest.mark.parametrize("nth", [0, 3])
async def test_what_is_opened_when_a_person_stops_an_evaluation_is_asked_and_nothing_else_is_opened(
    database: Database, nth: int
) -> None:
    async with registered(database, repeats=9) as (service, desk, evaluation, sequencer):
        async with Interrupted.open(database.service_url, size=2) as store:
            store.before = nth
            store.then = partial(desk.stop, evaluation, "enough", CALLER)
            await a_feeder(service, a_desk(service, database=store)).round()
        do(database, FREE)
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            found = await concluded(desk, evaluation, sequencer)

        assert found.progress.stopped is not None
        assert found.progress.stopped.by == "person"
        assert {UUID(debate) for debate in found.progress.asked.values()} == _opened(database)
        assert len(found.progress.scored) == nth


async def test_a_feeder_that_dies_at_its_second_opening_of_each_turn_gets_an_item_further_each_time(
    database: Database,
) -> None:
    async with registered(database, repeats=9) as (service, desk, evaluation, _):
        for turn in range(1, 4):
            await turn_that_dies(database, service, "open_debate")
            asked = (await desk.read(evaluation, CALLER)).progress.asked
            assert len(asked) == turn
            assert {UUID(debate) for debate in asked.values()} == _opened(database)


async def test_a_feeder_that_dies_as_it_reads_the_second_debate_to_score_gets_further_each_time(
    database: Database,
) -> None:
    async with registered(database, repeats=9) as (service, desk, evaluation, _):
        await a_feeder(service, desk).round()
        under_way = "SELECT count(*) FROM gainsay.debate_head WHERE state IN ('queued', 'running')"

        async def all_ended() -> bool:
            return rows(database, under_way) == [(0,)]

        async with a_worker(service):
            await until(all_ended)
        for turn in range(1, 4):
            await turn_that_dies(database, service, "records")
            assert len((await desk.read(evaluation, CALLER)).progress.scored) == turn


async def test_a_debate_that_was_opened_without_its_entry_gets_it(database: Database) -> None:
    """As the version before leaves it where its process dies in between."""
    async with registered(database) as (service, desk, evaluation, _):
        feeder = Alone(desk, service.reviews, a_writer("f"), 5.0)
        await feeder.round()

        asked = (await desk.read(evaluation, CALLER)).progress.asked
        assert {UUID(debate) for debate in asked.values()} == _opened(database)
        assert len(_opened(database)) == 2


@pytest.mark.parametrize("what", ["subject", "key"])
async def test_of_a_revoked_caller_nothing_more_is_asked_and_what_was_is_concluded(
    database: Database, what: str
) -> None:
    registers = Registers(database)
    known = await registers.issue("operator")
    caller = Caller("default", known.subject, "operator", "person", "apiKey", ("operator",), None, known.key)
    async with registered(database, repeats=9, caller=caller) as (service, desk, evaluation, sequencer):
        await a_feeder(service, desk).round()
        await (registers.revoke_subject(known) if what == "subject" else registers.revoke(known))
        do(database, FREE)
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            found = await concluded(desk, evaluation, sequencer)

        assert found.progress.stopped is not None
        assert found.progress.stopped.by == "revoked"
        assert len(found.progress.scored) == len(found.progress.asked) == 8
        assert rows(database, "SELECT count(*) FROM gainsay.debate_head") == [(8,)]
        assert "revoked" in str(result_of(found.stored.result or b"").stopped)


async def test_a_key_that_is_replaced_or_another_that_is_revoked_stops_nothing(database: Database) -> None:
    registers = Registers(database)
    known, other = await registers.issue("operator"), await registers.issue("operator")
    caller = Caller("default", known.subject, "operator", "person", "apiKey", ("operator",), None, known.key)
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), caller), caller)
        await registers.issue("operator", of=known, seconds=600)
        await registers.revoke_subject(other)
        await sequencer.catch_up()
        async with a_worker(service), evaluating(a_feeder(service, desk)):
            found = await concluded(desk, evaluation, sequencer)

        assert found.progress.stopped is None
        assert len(found.progress.scored) == 2


async def test_a_feeder_forgets_an_evaluation_that_has_ended_here_or_elsewhere(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation_feed, "FOLLOWED", 2)
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        planned = await desk.plan(a_plan("critic"), CALLER)
        first = await desk.register(planned, CALLER)
        await sequencer.catch_up()
        here, elsewhere = a_feeder(service, desk), a_feeder(service, desk, "g")
        async with a_worker(service), evaluating(here):
            await concluded(desk, first, sequencer)
        assert not here._followed

        begun = [await desk.register(planned, CALLER) for _ in range(3)]
        await sequencer.catch_up()
        here = a_feeder(service, desk)
        for evaluation in begun:
            here.only = evaluation
            await here.round()
        assert list(here._followed) == begun[1:]
        do(database, FREE)
        async with a_worker(service), evaluating(elsewhere):
            for evaluation in begun:
                await concluded(desk, evaluation, sequencer)
        assert len(here._followed) == 2  # those that ended elsewhere go as others are followed


async def _die() -> None:
    raise Killed


def _opened(database: Database) -> set[UUID]:
    return {debate for (debate,) in rows(database, "SELECT debate FROM gainsay.debate_head")}


async def _evaluated(service: Bench, found: Standing) -> list[EvaluationItem]:
    """What the debates of an evaluation say of it."""
    firsts = [(await service.entries(debate))[0] for debate in found.progress.asked.values()]
    return [first.evaluation for first in firsts if isinstance(first, CaseReceived) and first.evaluation]
