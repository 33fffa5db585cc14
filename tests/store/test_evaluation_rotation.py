"""An evaluation whose log is rotated asks nothing more, and all of its records stay in one log, where they verify."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from service.cli import exit_codes
from service.cli.audit.in_hand import golden_sets
from service.cli.display import evaluations as display
from service.reviews import evidence
from service.simulated.provider import OfflineProvider
from service.store import evaluations
from service.store.current_log import CurrentLogs
from service.store.left_logs import RecordsLost
from service.store.rotation import next_log, open_next
from service.verify.evaluations import Evaluations
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.evaluating import CALLER, GOLDEN, a_desk, a_feeder, a_plan, concluded, evaluating, recorded_end
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.fixtures.spending import rows
from tests.store.test_evaluation_feed import FREE, Alone
from tests.store.workers import a_worker, do

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
SECOND = LOG.replace("/1", "/2")
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)


async def rotate(service: Bench) -> None:
    rotation = await next_log(service.database, "default", "localhost")
    await open_next(service.database, rotation, KEY.public, a_writer("local"))


async def logs_of_records(service: Bench, database: Database) -> set[str]:
    """The logs that the records of evaluations and of their debates are in."""
    found = rows(
        database,
        "SELECT DISTINCT l.log FROM gainsay.leaf l WHERE l.debate IN (SELECT record FROM gainsay.evaluation_entry "
        "UNION SELECT debate FROM gainsay.found_by WHERE evaluation IS NOT NULL)",
    )
    return {log for (log,) in found}


async def test_a_rotation_stops_an_evaluation_which_is_concluded_in_its_log(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic", repeats=9), CALLER), CALLER)
        await sequencer.catch_up()
        await a_feeder(service, desk).round()
        asked = len((await desk.read(evaluation, CALLER)).progress.asked)
        await rotate(service)
        do(database, FREE)
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, a_desk(service))):
            found = await concluded(desk, evaluation, sequencer)
        await sequencer.catch_up()

        progress = found.progress
        assert progress.stopped is not None
        assert (progress.stopped.by, "the log was rotated" in progress.stopped.why) == ("fault", True)
        assert 0 < asked == len(progress.asked) == len(progress.scored) < len(progress.units)
        assert await logs_of_records(service, database) == {LOG}
        chunks = await evidence.export(
            service.database,
            CurrentLogs(service.database, "localhost"),
            *await evidence.evaluation_export(service.database, evaluation, "default"),
            CALLER,
            a_writer("examiner"),
        )
        lines = b"".join([chunk async for chunk in chunks]).splitlines(keepends=True)
        steps = verify_export(iter(lines), TRUST, evaluations=Evaluations(golden_sets((GOLDEN / "tiny-critic",)))).steps
        assert {step.name: step.detail for step in steps if step.state != "OK" and not step.allowed} == {}
        assert {"plans", "evaluations"} <= {step.name for step in steps}


async def test_no_debate_is_opened_in_the_next_log(database: Database) -> None:
    """The log is rotated between the feeder's look and the opening of the debate."""
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()
        feeder = a_feeder(service, desk)
        await rotate(service)
        desk.logs._known["default"] = LOG, float("inf")  # the feeder has looked before
        feeder._reviews = a_feeder(service, a_desk(service))._reviews
        await feeder.round()
        assert rows(database, "SELECT log FROM gainsay.debate_head") == []

        do(database, FREE)
        await a_feeder(service, a_desk(service)).round()
        progress = (await desk.read(evaluation, CALLER)).progress
        assert progress.stopped is not None
        assert (progress.stopped.by, len(progress.asked)) == ("fault", 0)
        assert await evaluations.log_of(service.database, evaluation, "default") == LOG
        assert rows(database, "SELECT log FROM gainsay.debate_head") == []


async def test_a_debate_that_another_version_opened_in_the_next_log_is_not_asked(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()
        await rotate(service)
        feeder = Alone(desk, a_feeder(service, a_desk(service))._reviews, a_writer("f"), 5.0)
        desk.logs._known["default"] = LOG, float("inf")
        feeder.later = a_feeder(service, desk)._reviews
        await feeder.round()

        progress = (await desk.read(evaluation, CALLER)).progress
        assert progress.stopped is not None
        assert (progress.stopped.by, len(progress.asked)) == ("fault", 0)
        assert rows(database, "SELECT log FROM gainsay.debate_head") == [(SECOND,)]


async def test_a_person_s_stop_after_a_rotation_stays_in_the_log_of_the_registration(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        planned = await desk.plan(a_plan("critic"), CALLER)
        evaluation = await desk.register(planned, CALLER)
        await sequencer.catch_up()
        await rotate(service)
        other = a_desk(service)
        await other.change(evaluation, replace(planned), CALLER)
        await other.stop(evaluation, "enough", CALLER)
        await sequencer.catch_up()

        assert await logs_of_records(service, database) == {LOG}


@pytest.mark.parametrize("proven", [False, True], ids=["not proven before", "proven before"])
async def test_an_evaluation_that_ends_in_a_log_which_was_left_after_a_loss_is_lost_unless_it_was_proven(
    database: Database, proven: bool
) -> None:
    """A rotation alone loses nothing: the sequencer proves the end of the old log a moment later."""
    always = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC))
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic", repeats=9), CALLER), CALLER)
        await sequencer.catch_up()
        await a_feeder(service, desk).round()
        await rotate(service)
        do(database, FREE)
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, a_desk(service))):
            await recorded_end(database.admin_url, evaluation)
        if proven:
            await sequencer.catch_up()
        rotated = await desk.read(evaluation, CALLER)
        results = [one.result async for one in evaluations.results_within(service.database, "default", *always)]
        assert (rotated.stored.lost, rotated.stored.result is None) == (False, not proven)
        assert results == [rotated.stored.result] * proven

        do(database, f"INSERT INTO gainsay.incident (log, what) VALUES ('{LOG}', 'the signer has signed more')")
        if proven:
            assert (await desk.concluded(evaluation, CALLER)) == rotated.stored
            return
        lost = await desk.read(evaluation, CALLER)
        assert (lost.stored.lost, lost.stored.result) == (True, None)
        assert [one.lost for one in await desk.newest(CALLER, 9)] == [True]
        assert [one.result async for one in evaluations.results_within(service.database, "default", *always)] == [None]
        assert (display.code_of(lost), " lost: its log" in display.progress(lost)) == (exit_codes.FAILED, True)
        assert display.listed([lost.stored]).endswith("  lost")
        with pytest.raises(RecordsLost, match=f"the log {LOG} has lost records.* {SECOND} has followed it"):
            await desk.concluded(evaluation, CALLER)
