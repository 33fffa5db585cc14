"""Entries of evaluations in the database: in order, each once, and none that was not recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from hashlib import sha256

import psycopg
import pytest
from msgspec.structs import replace

from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationRegistered,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
)
from service.errors import EvidenceDamaged, Fenced, NotFound
from service.evaluation.run.progress import Progress
from service.identity.caller import Caller
from service.reviews.batch_callers import bringer_of
from service.store import evaluations
from service.store.current_log import CurrentLogs
from service.store.pool import Database as Pool
from tests.fixtures.evaluation_plans import EVALUATION, plan, registered
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer
from tests.fixtures.sequencing import a_sequencer
from tests.store.workers import do

pytestmark = pytest.mark.no_replay
TENANT = "default"
FIRST = registered(plan(), 2)
UNITS = Progress(FIRST).units
WRITER = a_writer("feeder")


NO_SPLIT: Mapping[str, int] = {}


def numbered(nth: int) -> EvaluationRegistered:
    """The same plan as an evaluation of its own."""
    return replace(FIRST, evaluation=f"{EVALUATION[:-4]}{nth:04d}")


async def begun(store: Pool, held: Mapping[str, int] = NO_SPLIT, entry: EvaluationRegistered = FIRST) -> str:
    """A registered evaluation, with its held splits and their looks; the log that its entries go to."""
    log = await CurrentLogs(store, "localhost").current(TENANT)
    await evaluations.register(store, entry, bringer_of(Caller()), held, log, WRITER)
    return log


def asked(n: int) -> ItemAsked:
    return ItemAsked(EVALUATION, n, *UNITS[n - 1], debate=f"01890a5d-ac96-774b-bcce-{n:012d}")


async def test_entries_come_back_in_order_as_they_were_recorded(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store:
        log = await begun(store)
        scored = ItemScored(EVALUATION, 3, *UNITS[0], debate=asked(1).debate, score={"run": {"charge": 1}})
        for entry in (asked(1), asked(2), scored):
            await evaluations.add_entries(store, [entry], TENANT, log, WRITER)

        assert await evaluations.read_entries(store, EVALUATION, TENANT) == [FIRST, asked(1), asked(2), scored]
        assert await evaluations.read_entries(store, EVALUATION, TENANT, 3) == [scored]
        assert await evaluations.read_entries(store, EVALUATION, "other") == []
        with pytest.raises(NotFound):
            await evaluations.read_evaluation(store, EVALUATION, "other")


async def test_of_many_that_write_one_number_one_alone_does(database: Database) -> None:
    async with Pool.open(database.service_url, size=4) as store:
        log = await begun(store)
        one, two = [asked(1)], [asked(1), asked(2)]
        tries = [evaluations.add_entries(store, some, TENANT, log, WRITER) for some in (one, two) * 4]
        found = await asyncio.gather(*tries, return_exceptions=True)

        written = (one, two)[found.index(None) % 2]
        assert [type(one) for one in found].count(Fenced) == 7
        assert await evaluations.read_entries(store, EVALUATION, TENANT) == [FIRST, *written]


async def test_entries_that_go_together_are_written_in_order_or_not_at_all(database: Database) -> None:
    async with Pool.open(database.service_url, size=1) as store, a_sequencer(database) as sequencer:
        log = await begun(store)
        await evaluations.add_entries(store, [asked(1), asked(2)], TENANT, log, WRITER)
        with pytest.raises(Fenced):
            await evaluations.add_entries(store, [asked(2), asked(3)], TENANT, log, WRITER)
        assert await evaluations.read_entries(store, EVALUATION, TENANT) == [FIRST, asked(1), asked(2)]

        await sequencer.catch_up()
        placed = "SELECT v.n FROM gainsay.evaluation_entry v JOIN gainsay.leaf l ON l.debate = v.record ORDER BY l.idx"
        assert do(database, placed) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(("tenant", "recorded"), [("other", False), (TENANT, True)])
async def test_an_item_is_recorded_as_asked_by_the_tenant_of_its_evaluation_alone(
    database: Database, tenant: str, recorded: bool
) -> None:
    async with Pool.open(database.service_url, size=1) as store:
        await begun(store)
        statement = "SELECT gainsay.record_asked(%s, %s, 1, gen_random_uuid(), sha256(''), sha256(''), '', 'key')"
        assert do(database, statement, tenant, EVALUATION) == [(recorded,)]
        assert do(database, "SELECT count(*) FROM gainsay.evaluation_entry") == [(1 + recorded,)]


async def test_nothing_follows_a_conclusion_whose_result_is_kept(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        log = await begun(store)
        end = EvaluationConcluded(EVALUATION, 1, sha256(b"{}").hexdigest(), "inconclusive", False)
        await evaluations.add_entries(store, [end], TENANT, log, WRITER, result=b"{}")

        await sequencer.catch_up()
        found = await evaluations.read_evaluation(store, EVALUATION, TENANT)
        assert (found.result, found.ended is not None) == (b"{}", True)
        assert await evaluations.claim_evaluations(store, "f", 5.0, 9) == []
        with pytest.raises(Fenced):
            await evaluations.add_entries(store, [asked(2)], TENANT, log, WRITER)


async def test_a_stop_by_a_set_ends_and_another_one_does_not(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        log = await begun(store)
        await evaluations.add_entries(
            store, [EvaluationStopped(EVALUATION, 1, "ceiling", "spent")], TENANT, log, WRITER
        )
        await sequencer.catch_up()
        assert (await evaluations.read_evaluation(store, EVALUATION, TENANT)).ended is None

        other = replace(FIRST, evaluation=EVALUATION.replace("8057", "8058"))
        await evaluations.register(store, other, bringer_of(Caller()), {}, log, WRITER)
        gone = EvaluationStopped(other.evaluation, 1, "set", "gone")
        await evaluations.add_entries(store, [gone], TENANT, log, WRITER)
        assert (await evaluations.read_evaluation(store, other.evaluation, TENANT)).ended is None
        await sequencer.catch_up()
        assert (await evaluations.read_evaluation(store, other.evaluation, TENANT)).ended is not None


async def test_a_look_counts_from_its_registration_on(database: Database) -> None:
    """Two evaluations that are under way at once would else each count as the first."""
    sets = ["set-a", "set-b"]
    async with Pool.open(database.service_url, size=2) as store:
        assert await evaluations.looks_at_held(store, TENANT, sets) == {"set-a": 0, "set-b": 0}
        log = await begun(store, {"set-a": 0})
        assert await evaluations.looks_at_held(store, TENANT, sets) == {"set-a": 1, "set-b": 0}
        assert await evaluations.looks_at_held(store, "other", sets) == {"set-a": 0, "set-b": 0}

        await begun(store, {"set-a": 1, "set-b": 0}, numbered(1))
        assert await evaluations.looks_at_held(store, TENANT, sets) == {"set-a": 2, "set-b": 1}

        gone = EvaluationStopped(numbered(1).evaluation, 1, "set", "gone")
        await evaluations.add_entries(store, [gone], TENANT, log, WRITER)
        assert await evaluations.looks_at_held(store, TENANT, sets) == {"set-a": 1, "set-b": 0}

        await evaluations.add_entries(store, [asked(1)], TENANT, log, WRITER)
        scored = ItemScored(EVALUATION, 2, *UNITS[0], debate=asked(1).debate, score={})
        await evaluations.add_entries(store, [scored], TENANT, log, WRITER)
        end = EvaluationStopped(EVALUATION, 3, "set", "gone")
        await evaluations.add_entries(store, [end], TENANT, log, WRITER)
        assert await evaluations.looks_at_held(store, TENANT, sets) == {"set-a": 1, "set-b": 0}


async def test_a_registration_with_other_looks_than_there_are_is_refused(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store:
        await begun(store, {"set-a": 0})
        for looks in (0, 2):
            with pytest.raises(Fenced):
                await begun(store, {"set-b": 0, "set-a": looks}, numbered(1))

        assert await evaluations.read_entries(store, numbered(1).evaluation, TENANT) == []
        await begun(store, {}, numbered(2))
        await begun(store, {"set-a": 1}, numbered(3))


async def test_of_many_registrations_at_once_no_two_record_one_look(database: Database) -> None:
    async def register(nth: int) -> int:
        looks = 0
        while True:
            try:
                await begun(store, {"set-a": looks}, numbered(nth))
            except Fenced:
                looks = (await evaluations.looks_at_held(store, TENANT, ["set-a"]))["set-a"]
            else:
                return looks

    async with Pool.open(database.service_url, size=8) as store:
        found = await asyncio.gather(*(register(nth) for nth in range(12)))

    assert sorted(found) == list(range(12))


async def test_a_registration_is_provable_once_a_signed_head_covers_it(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        await begun(store)
        assert not await evaluations.is_provable(store, EVALUATION, TENANT)
        await sequencer.catch_up()
        assert await evaluations.is_provable(store, EVALUATION, TENANT)
        assert not await evaluations.is_provable(store, EVALUATION, "other")


async def test_one_feeder_has_an_evaluation_at_a_time(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store:
        await begun(store)
        (found,) = await evaluations.claim_evaluations(store, "one", 30.0, 9)
        assert (found.evaluation, found.by) == (EVALUATION, bringer_of(Caller()))
        assert await evaluations.claim_evaluations(store, "two", 30.0, 9) == []
        assert await evaluations.renew_evaluations(store, "two", 30.0, [EVALUATION]) == set()
        assert await evaluations.renew_evaluations(store, "one", 30.0, [EVALUATION]) == {EVALUATION}

        await evaluations.release_evaluation(
            store, EVALUATION, "one", 0.0, wait=evaluations.Wait("checkpoint", "waits for its head")
        )
        assert (await evaluations.read_evaluation(store, EVALUATION, TENANT)).pause == "waits for its head"
        other = EVALUATION.replace("8057", "8058")
        assert await evaluations.claim_evaluations(store, "two", 30.0, 9, other) == []
        assert len(await evaluations.claim_evaluations(store, "two", 30.0, 9, EVALUATION)) == 1


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("UPDATE payload SET salt = sha256(salt)", "commits to"),
        ("UPDATE payload SET body = '{}'", "cannot be read"),
        ("DELETE FROM payload", "is missing"),
    ],
)
async def test_an_entry_that_was_edited_is_not_read(database: Database, edit: str, words: str) -> None:
    async with Pool.open(database.service_url, size=2) as store:
        log = await begun(store)
        await evaluations.add_entries(store, [asked(1)], TENANT, log, WRITER)
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
            admin.execute("ALTER TABLE payload DISABLE TRIGGER USER")
            admin.execute(f"{edit} WHERE debate IN (SELECT record FROM evaluation_entry WHERE n = 1)".encode())

        with pytest.raises(EvidenceDamaged, match=words):
            await evaluations.read_entries(store, EVALUATION, TENANT)


async def test_entries_that_change_places_are_not_read(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store:
        log = await begun(store)
        for n in (1, 2):
            await evaluations.add_entries(store, [asked(n)], TENANT, log, WRITER)
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
            admin.execute("UPDATE evaluation_entry SET n = 9 WHERE n = 1")
            admin.execute("UPDATE evaluation_entry SET n = 1 WHERE n = 2")
            admin.execute("UPDATE evaluation_entry SET n = 2 WHERE n = 9")

        with pytest.raises(EvidenceDamaged, match="another place"):
            await evaluations.read_entries(store, EVALUATION, TENANT)
