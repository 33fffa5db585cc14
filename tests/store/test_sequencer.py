"""A sequencer at work: several at once, late commits, lost answers, and signers and databases that fail or go back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
import pytest

from service import telemetry
from service.audit.checkpoint import sign_checkpoint
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.record import leaf_hash
from service.audit.tree import root_of
from service.errors import GainsayError, StoreUnavailable
from service.observing.labelled import REGISTRY
from service.policy import Audit, Witness
from service.proving import sequencer as timing
from service.proving.sequencer import LogIncident, Sequencer, countersigning
from service.proving.signing import SignerUnavailable
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.witnesses import Witnesses
from service.store.sequence import Sequencing, Tree
from service.web.server import serving
from service.web.signer_api import make_witness_api
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.sequencing import (
    END_THE_LEADER,
    KEY,
    LOG,
    MemorySigner,
    a_leaf,
    a_sequencer,
    leaves,
    signed_size,
    stage,
)

pytestmark = pytest.mark.no_replay
WITNESS = SigningKey.from_seed("witness.example", b"\x08" * 32, COSIGNATURE)


@asynccontextmanager
async def at_work(database: Database, signer: MemorySigner | None = None, **more: Any) -> AsyncIterator[Sequencer]:
    """A sequencer that runs meanwhile."""
    async with a_sequencer(database, signer, **more) as sequencer:
        task = asyncio.create_task(sequencer.run())
        try:
            yield sequencer
        finally:
            sequencer.stop()
            await task


async def until(holds: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait until something holds. To ask the database holds up the loop that the sequencer runs in."""
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.03)


def chain(number: int, count: int) -> list[tuple[int, int]]:
    return [(number, n) for n in range(count)]


def signed_logs(database: Database) -> set[str]:
    with psycopg.connect(database.admin_url) as admin:
        return {log for (log,) in admin.execute("SELECT DISTINCT log FROM gainsay.checkpoint")}


def incidents(database: Database) -> list[tuple[str, str]]:
    with psycopg.connect(database.admin_url) as admin:
        return admin.execute("SELECT log, what FROM gainsay.incident WHERE closes IS NULL ORDER BY id").fetchall()


# -- what is staged becomes provable


def provable() -> tuple[float, float]:
    """How many records became provable in time, and after how many seconds in all."""
    name = "gainsay_provable_seconds"
    count, seconds = (REGISTRY.get_sample_value(f"{name}_{part}") for part in ("count", "sum"))
    return count or 0.0, seconds or 0.0


async def test_how_long_each_record_was_durable_before_a_head_covered_it_is_counted_once(database: Database) -> None:
    signer, before = MemorySigner(), provable()
    stage(database, 1, range(3))
    async with a_sequencer(database, signer) as sequencer:
        signer.down = True
        with pytest.raises(SignerUnavailable):
            await sequencer.catch_up()
        assert provable() == before, "no head covers them"
        await asyncio.sleep(0.2)
        signer.down = False
        await sequencer.catch_up()
        after = provable()
        await sequencer.catch_up()

    assert after[0] - before[0] == 3
    assert 3 * 0.2 < after[1] - before[1] < 3 * 60
    assert provable() == after


async def test_what_is_staged_while_a_sequencer_runs_becomes_provable_and_is_announced(database: Database) -> None:
    announced: list[tuple[str, int, bytes]] = []
    async with at_work(database, announce=lambda *head: announced.append(head)) as sequencer:
        for number in range(1, 4):
            stage(database, number, range(3))
            await until(lambda size=3 * number: signed_size(database) == size)  # type: ignore[misc]
        assert sequencer.is_leader
        assert sequencer.troubles == []

    found = leaves(database)
    assert found == [*chain(1, 3), *chain(2, 3), *chain(3, 3)]
    assert announced[-1] == (LOG, 9, root_of(leaf_hash(a_leaf(*record)) for record in found))


async def test_several_writers_get_leaves_without_gaps_each_chain_in_its_order(database: Database) -> None:
    def write(number: int) -> None:
        for n in range(20):
            stage(database, number, [n])

    async with at_work(database):
        await asyncio.gather(*(asyncio.to_thread(write, number) for number in range(1, 5)))
        await until(lambda: signed_size(database) == 80)

    found = leaves(database)
    assert sorted(found) == sorted(record for number in range(1, 5) for record in chain(number, 20))
    for number in range(1, 5):
        assert [record for record in found if record[0] == number] == chain(number, 20)


async def test_many_logs_are_each_a_tree_of_their_own(database: Database) -> None:
    logs = [f"localhost/tenant-{n}/1" for n in range(20)]
    for number, log in enumerate(logs):
        stage(database, number, range(number + 1), log)
    async with at_work(database):
        await until(lambda: signed_logs(database) == set(logs))

    for number, log in enumerate(logs):
        assert leaves(database, log) == chain(number, number + 1)


async def test_sequencers_that_do_not_wait_for_each_other_make_one_tree(database: Database) -> None:
    signer = MemorySigner()
    async with AsyncExitStack() as stack:
        sequencers = [await stack.enter_async_context(a_sequencer(database, signer)) for _ in range(3)]
        for round_ in range(10):
            for number in range(1, 6):
                stage(database, number, range(4 * round_, 4 * round_ + 4))
            await asyncio.gather(*(sequencer.catch_up() for sequencer in sequencers))
            assert signed_size(database) == 20 * (round_ + 1)

    found = leaves(database)
    for number in range(1, 6):
        assert [record for record in found if record[0] == number] == chain(number, 40)


async def test_of_two_that_run_one_leads_and_the_other_takes_over(database: Database) -> None:
    signer = MemorySigner()
    async with at_work(database, signer) as second:
        async with at_work(database, signer) as first:
            stage(database, 1, range(2))
            await until(lambda: signed_size(database) == 2)
            assert [first.is_leader, second.is_leader].count(True) == 1
            leader = first if first.is_leader else second
            with psycopg.connect(database.admin_url, autocommit=True) as admin:
                admin.execute(END_THE_LEADER)
            stage(database, 1, range(2, 4))
            await until(lambda: signed_size(database) == 4)
            assert leader.troubles == [] or not leader.is_leader
        stage(database, 1, range(4, 6))
        await until(lambda: signed_size(database) == 6)
        assert second.is_leader
    assert leaves(database) == chain(1, 6)


async def test_a_record_that_commits_late_is_found_however_many_have_passed_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "MARGIN", 0)
    held = stage(database, 1, [0], commit=False)
    async with at_work(database):
        stage(database, 2, range(10))
        await until(lambda: signed_size(database) == 10)
        held.commit()
        held.close()
        stage(database, 1, [1])  # this one is seen first
        await until(lambda: signed_size(database) == 12)

    assert leaves(database) == [*chain(2, 10), *chain(1, 2)]


async def test_a_backlog_is_taken_in_several_batches(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.sequence.MOST", 100)
    stage(database, 1, range(450))
    async with at_work(database):
        await until(lambda: signed_size(database) == 450)

    assert leaves(database) == chain(1, 450)
    with psycopg.connect(database.admin_url) as admin:
        assert admin.execute("SELECT count(*) FROM gainsay.batch").fetchone() == (5,)


async def test_a_record_that_is_staged_twice_keeps_no_other_from_its_place(database: Database) -> None:
    async with at_work(database):
        stage(database, 1, range(2))
        await until(lambda: signed_size(database) == 2)
        with psycopg.connect(database.service_url) as service:
            service.execute(
                "INSERT INTO gainsay.pending (log, debate, n) SELECT log, debate, n FROM gainsay.leaf, "
                "generate_series(1, 3)"
            )
        stage(database, 1, [2])
        await until(lambda: signed_size(database) == 3)

    assert leaves(database) == chain(1, 3)


# -- failures


async def test_what_was_committed_and_not_signed_is_signed_at_the_next_start(database: Database) -> None:
    signer = MemorySigner()
    stage(database, 1, range(3))
    async with a_sequencer(database, signer) as sequencer:
        signer.down = True
        with pytest.raises(SignerUnavailable):
            await sequencer.catch_up()
        assert (len(leaves(database)), signed_size(database)) == (3, 0)

    signer.down = False
    async with at_work(database, signer):
        await until(lambda: signed_size(database) == 3)


async def test_a_head_that_was_signed_and_not_stored_is_stored_at_the_next_start(database: Database) -> None:
    signer = MemorySigner()
    stage(database, 1, range(3))
    async with a_sequencer(database, signer) as sequencer:
        signer.deaf = True
        with pytest.raises(SignerUnavailable):
            await sequencer.catch_up()
        assert (signer.heads[LOG].size, signed_size(database)) == (3, 0)

    signer.deaf = False
    async with a_sequencer(database, signer) as sequencer:
        await sequencer.examine()
        await sequencer.catch_up()
    assert signed_size(database) == 3
    assert len({(head.size, head.root) for head in signer.signed}) == 1
    leaves(database)


async def test_while_the_signer_is_down_records_are_taken_and_signed_when_it_is_back(database: Database) -> None:
    signer, troubles = MemorySigner(), list[GainsayError]()
    async with at_work(database, signer, on_trouble=troubles.append) as sequencer:
        stage(database, 1, [0])
        await until(lambda: signed_size(database) == 1)
        signer.down = True
        for n in range(1, 4):
            stage(database, 1, [n])
            await until(lambda n=n: len(leaves(database)) == n + 1)  # type: ignore[misc]
        assert sequencer.troubles == ["the signer is down, or has another key"]
        signer.down = False
        await until(lambda: signed_size(database) == 4)
        await until(lambda: sequencer.troubles == [])

    assert [type(error) for error in troubles] == [SignerUnavailable], "it is told once"
    leaves(database)


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not committed"])
async def test_an_answer_to_a_commit_that_is_lost_does_no_harm(
    database: Database, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    extend, lost = Sequencing.extend, list[int]()

    async def interrupted(self: Sequencing, tree: Tree, taken: Sequence[int], **more: Any) -> int:
        if len(lost) < 3:
            lost.append(len(taken))
            if committed:
                await extend(self, tree, taken, **more)
            else:
                tree.grow([bytes(32)])  # memory is ahead of what is stored
            raise StoreUnavailable("the connection is gone")
        return await extend(self, tree, taken, **more)

    monkeypatch.setattr(Sequencing, "extend", interrupted)
    async with at_work(database):
        for n in range(5):
            stage(database, 1, [n])
            await asyncio.sleep(0.05)
        await until(lambda: signed_size(database) == 5)

    assert lost
    assert leaves(database) == chain(1, 5)


async def test_a_log_whose_key_the_signer_lacks_is_told_of_and_keeps_no_other_log_waiting(database: Database) -> None:
    other = SigningKey.from_seed("localhost", b"\x06" * 32)
    with psycopg.connect(database.sequencer_url) as sequencer_:
        sequencer_.execute(
            "INSERT INTO gainsay.log_epoch (log, tenant, epoch, key) VALUES (%s, 'default', 1, %s)",
            (LOG, other.public.encode()),
        )
    stage(database, 1, range(2))
    stage(database, 2, range(2), "localhost/b/1")
    async with at_work(database) as sequencer:
        await until(lambda: signed_size(database, "localhost/b/1") == 2)
        await until(lambda: bool(sequencer.troubles))

    assert signed_size(database) == 0
    assert incidents(database) == []


async def test_a_log_with_a_name_that_says_nothing_keeps_no_other_waiting(database: Database) -> None:
    stage(database, 1, range(2), "nonsense")
    stage(database, 2, range(2))
    async with at_work(database) as sequencer:
        await until(lambda: signed_size(database) == 2)
        await until(lambda: any("nonsense" in trouble for trouble in sequencer.troubles))


async def test_a_database_that_goes_away_for_a_while_is_gone_on_with(database: Database) -> None:
    async with at_work(database) as sequencer:
        stage(database, 1, [0])
        await until(lambda: signed_size(database) == 1)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            for n in range(1, 4):
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                stage(database, 1, [n])
                await asyncio.sleep(0.05)
        await until(lambda: signed_size(database) == 4)
        await until(lambda: sequencer.troubles == [])

    assert leaves(database) == chain(1, 4)


async def test_how_much_is_not_provable_is_measured_and_told_when_it_is_late(database: Database) -> None:
    signer, troubles = MemorySigner(), list[GainsayError]()
    signer.down = True
    stage(database, 1, range(3))
    stage(database, 2, range(2), "nonsense")
    async with at_work(database, signer, audit=Audit(late_s=1), on_trouble=troubles.append):
        await until(lambda: any(error.code == "log_late" for error in troubles))
        assert telemetry.LOG_UNPROVEN._value.get() == 5
        assert 1 < telemetry.LOG_UNPROVEN_SECONDS._value.get() < 60


# -- databases that are not what was signed


async def test_a_database_that_is_behind_its_signer_is_an_incident_and_nothing_is_signed_for_it(
    cluster: Cluster, database: Database
) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(5))
        stage(database, 3, range(2), "localhost/b/1")
        await sequencer.catch_up()

    with cluster.lend(database.name) as old:  # as from a backup
        stage(database, 1, range(5, 9))
        async with a_sequencer(database, signer) as sequencer:
            await sequencer.catch_up()
        stage(old, 1, range(5, 20))
        stage(old, 3, range(2, 4), "localhost/b/1")
        signed = len(signer.signed)
        async with a_sequencer(old, signer) as sequencer:
            for _ in range(2):
                with pytest.raises(LogIncident, match="signed a head of 9 records, and the database has 5"):
                    await sequencer.examine()
        async with at_work(old, signer) as sequencer:
            await until(lambda: signed_size(old, "localhost/b/1") == 4)
            assert any("9 records" in trouble for trouble in sequencer.troubles)
            with pytest.raises(LogIncident):
                await sequencer.catch_up()

        assert [log for log, _ in incidents(old)] == [LOG], "it is written down once"
        assert (len(leaves(old)), signed_size(old)) == (5, 5)
        assert [head.origin for head in signer.signed[signed:]] == ["localhost/b/1"]


async def test_an_incident_that_a_person_has_closed_refuses_no_start_and_the_log_stays_as_it_is(
    cluster: Cluster, database: Database
) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(5))
        await sequencer.catch_up()
    with cluster.lend(database.name) as old:
        stage(database, 1, [5])
        async with a_sequencer(database, signer) as sequencer:
            await sequencer.catch_up()
        async with a_sequencer(old, signer) as sequencer:
            with pytest.raises(LogIncident):
                await sequencer.examine()
        with psycopg.connect(old.admin_url) as admin:
            admin.execute("INSERT INTO gainsay.incident (log, what, closes) VALUES (%s, 'new epoch', 1)", (LOG,))

        stage(old, 1, [5])
        async with a_sequencer(old, signer) as sequencer:
            await sequencer.examine()
            with pytest.raises(LogIncident):
                await sequencer.catch_up()
        assert len(incidents(old)) == 1
        assert signed_size(old) == 5


TAMPERING = {
    "the tail of the tree": [
        *(f"DELETE FROM gainsay.{table} WHERE log = '{LOG}' AND {what} > 0" for table, what in [("leaf", "idx")]),
        "DELETE FROM gainsay.batch WHERE first > 0",
        "DELETE FROM gainsay.checkpoint WHERE size > 1",
    ],
    "the tail of the tree, but not the heads": [
        "DELETE FROM gainsay.leaf WHERE idx > 0",
        "DELETE FROM gainsay.batch WHERE first > 0",
    ],
    "a leaf": ["UPDATE gainsay.leaf SET hash = sha256('another') WHERE idx = 0"],
    "all of the tree": [
        "DELETE FROM gainsay.leaf",
        "DELETE FROM gainsay.batch",
        "DELETE FROM gainsay.checkpoint",
    ],
    "a stored head": ["UPDATE gainsay.checkpoint SET root = sha256('another') WHERE size = 6"],
}


@pytest.mark.parametrize("what", TAMPERING)
async def test_what_a_superuser_removes_or_changes_is_found_at_the_start(database: Database, what: str) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, [0])
        await sequencer.catch_up()
        stage(database, 1, range(1, 6))
        await sequencer.catch_up()
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("SET session_replication_role = replica")
        for table in ("leaf", "batch", "checkpoint"):
            admin.execute(f"ALTER TABLE gainsay.{table} DISABLE TRIGGER refuse_change".encode())
        for statement in TAMPERING[what]:
            admin.execute(statement.encode())

    async with a_sequencer(database, signer) as sequencer:
        with pytest.raises(LogIncident):
            await sequencer.examine()
    assert len(signer.signed) == 2


async def test_a_tree_that_is_rewritten_whole_and_signed_with_the_stolen_key_is_found_by_the_signer_s_memory(
    database: Database,
) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(4))
        await sequencer.catch_up()
    other = [leaf_hash(b"invented %d" % n) for n in range(4)]
    root = root_of(other)
    with psycopg.connect(database.admin_url) as admin:
        for table in ("leaf", "batch", "checkpoint"):
            admin.execute(f"ALTER TABLE gainsay.{table} DISABLE TRIGGER refuse_change".encode())
        for idx, hash_ in enumerate(other):
            admin.execute("UPDATE gainsay.leaf SET hash = %s WHERE idx = %s", (hash_, idx))
        admin.execute("UPDATE gainsay.batch SET root = %s, frontier = %s", (root, root))
        note = sign_checkpoint(signer.signed[-1].__class__(LOG, 4, root), KEY)
        admin.execute("UPDATE gainsay.checkpoint SET root = %s, note = %s", (root, note))

    async with a_sequencer(database, signer) as sequencer:
        with pytest.raises(LogIncident, match=root.hex()):
            await sequencer.examine()


# -- witnesses


@asynccontextmanager
async def a_witness(folder: Any, *keys: SigningKey) -> AsyncIterator[Witness]:
    """A witness over HTTP."""
    heads = CheckpointFiles(folder, "witnessed")
    countersigner = Countersigner([WITNESS], [key.public for key in keys or (KEY,)], heads)
    async with serving(make_witness_api(countersigner)) as address:
        yield Witness(address, WITNESS.public.encode())
    heads.close()


@asynccontextmanager
async def witnessed(
    database: Database, signer: MemorySigner, *witnesses: Witness, **more: Any
) -> AsyncIterator[Sequencer]:
    """A sequencer that asks witnesses."""
    client = Witnesses()
    try:
        async with a_sequencer(database, signer, audit=Audit(witnesses=witnesses), client=client, **more) as sequencer:
            yield sequencer
    finally:
        await client.close()


def cosigned(database: Database, log: str = LOG) -> list[int]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute("SELECT size FROM gainsay.cosignature WHERE log = %s ORDER BY size", (log,)).fetchall()
    return [size for (size,) in rows]


@asynccontextmanager
async def running(sequencer: Sequencer) -> AsyncIterator[None]:
    task = asyncio.create_task(sequencer.run())
    try:
        yield
    finally:
        sequencer.stop()
        await task


@pytest.fixture
def promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses are asked again soon."""
    monkeypatch.setattr(countersigning, "ASK_S", 0.02)
    monkeypatch.setattr(countersigning, "AGAIN_S", 0.05)


async def test_heads_that_move_are_countersigned_beside(database: Database, tmp_path: Any, promptly: None) -> None:
    async with (
        a_witness(tmp_path) as witness,
        witnessed(database, MemorySigner(), witness) as sequencer,
        running(sequencer),
    ):
        for number in range(1, 4):
            stage(database, number, range(100))
            await until(lambda size=100 * number: cosigned(database)[-1:] == [size])  # type: ignore[misc]
        assert sequencer.troubles == []


async def test_a_witness_that_is_not_there_is_told_of_and_not_waited_for(
    database: Database, tmp_path: Any, promptly: None
) -> None:
    gone = Witness("http://127.0.0.1:9", WITNESS.public.encode())
    before = telemetry.WITNESS_FAILURES._value.get()
    async with witnessed(database, MemorySigner(), gone) as sequencer, running(sequencer):
        stage(database, 1, range(3))
        await until(lambda: signed_size(database) == 3)
        await until(lambda: any("witness.example" in trouble for trouble in sequencer.troubles))
    assert telemetry.WITNESS_FAILURES._value.get() > before
    assert incidents(database) == []


async def test_a_witness_that_does_not_know_the_log_is_told_of_and_is_no_incident(
    database: Database, tmp_path: Any, promptly: None
) -> None:
    stranger = SigningKey.from_seed("elsewhere", b"\x09" * 32)
    async with (
        a_witness(tmp_path, stranger) as witness,
        witnessed(database, MemorySigner(), witness) as sequencer,
        running(sequencer),
    ):
        stage(database, 1, range(3))
        await until(lambda: any("404" in trouble for trouble in sequencer.troubles))
        stage(database, 1, [3])
        await until(lambda: signed_size(database) == 4)
    assert incidents(database) == []


async def test_a_database_restored_with_its_signer_is_found_by_the_witness(
    cluster: Cluster, database: Database, tmp_path: Any
) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(5))
        await sequencer.catch_up()
    heads = dict(signer.heads)
    async with a_witness(tmp_path) as witness:
        with cluster.lend(database.name) as old:
            stage(database, 1, range(5, 9))
            await submitted(database, witness, signer)
            assert cosigned(database) == [9]

            signer.heads = heads
            stage(old, 1, range(5, 7))
            async with witnessed(old, signer, witness) as behind:
                with pytest.raises(LogIncident, match=r"holds a head of 9 records, and the largest .* has 5"):
                    await behind.examine()
                with pytest.raises(LogIncident):
                    await behind.catch_up()
            assert signed_size(old) == 5


@pytest.mark.parametrize(("size", "words"), [(4, "another root for 4 records"), (6, "does not lead on from")])
async def test_a_log_that_was_rewritten_with_its_signer_is_found_by_the_witness(
    cluster: Cluster, template: Database, database: Database, tmp_path: Any, size: int, words: str
) -> None:
    async with a_witness(tmp_path) as witness:
        stage(database, 1, range(4))
        await submitted(database, witness)
        with cluster.lend(template.name) as rewritten:
            stage(rewritten, 2, range(size))

            with pytest.raises(LogIncident, match=words):
                await submitted(rewritten, witness)


async def test_a_witness_is_asked_from_the_size_that_it_holds(database: Database, tmp_path: Any) -> None:
    signer = MemorySigner()
    async with a_witness(tmp_path) as witness:
        stage(database, 1, range(300))
        await submitted(database, witness, signer)
        with psycopg.connect(database.admin_url) as admin:  # what we know of the witness is lost
            admin.execute("ALTER TABLE gainsay.cosignature DISABLE TRIGGER refuse_change")
            admin.execute("DELETE FROM gainsay.cosignature")
        stage(database, 1, range(300, 700))
        await submitted(database, witness, signer)

    assert cosigned(database) == [700]


async def test_a_witness_that_is_shown_another_log_meanwhile_stops_the_log(
    cluster: Cluster, database: Database, tmp_path: Any, promptly: None
) -> None:
    signer, other, troubles = MemorySigner(), MemorySigner(), list[GainsayError]()
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(3))
        await sequencer.catch_up()
    with cluster.lend(database.name) as fork:
        other.heads = dict(signer.heads)
        async with (
            a_witness(tmp_path) as witness,
            witnessed(database, signer, witness, on_trouble=troubles.append) as sequencer,
            running(sequencer),
        ):
            await until(lambda: cosigned(database) == [3])
            stage(fork, 7, range(2))
            await submitted(fork, witness, other)
            stage(database, 1, [3])

            await until(lambda: any(isinstance(error, LogIncident) for error in troubles))
            stage(database, 1, [4])
            stage(database, 2, [0], "localhost/b/1")
            await until(lambda: signed_size(database, "localhost/b/1") == 1)

        assert [what for _, what in incidents(database)] == [
            "the witness 'witness.example' holds a head of 5 records, and the largest that is stored has 4"
        ]
        assert signed_size(database) == 4


async def submitted(database: Database, witness: Witness, signer: MemorySigner | None = None) -> None:
    """Take what is staged, and have the witness countersign the head."""
    signer = signer or MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        await sequencer.catch_up()
    async with witnessed(database, signer, witness) as sequencer:
        await sequencer.examine()
