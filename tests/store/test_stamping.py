"""Heads get time stamps at intervals, from one process, and an authority that gives none delays nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256

import psycopg
import pytest

from service import telemetry
from service.errors import GainsayError
from service.proving.sequencer import Sequencer, stamping
from service.proving.sequencer.stamping import pause_s
from service.proving.signing.stamps import Stamp, TimeStampUnavailable
from service.store.pool import Database as Store
from service.store.proofs import first_stamped, stamped_before
from service.store.row_comparison import compare_shared
from service.store.sequence import Sequencing
from tests.fixtures.postgres import Database
from tests.fixtures.sequencing import LOG, MemorySigner, a_sequencer, signed_size, stage

pytestmark = pytest.mark.no_replay
SCHEMA = "-c search_path=gainsay"
STAMPED = "SELECT log, size, authority, token, extract(epoch FROM stamped)::bigint FROM time_stamp ORDER BY log, size"


class MemoryAuthority:
    """An authority in this process. Its tokens are hashes of what they are of; the sequencer only stores them."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.away: Exception | None = None
        self.expired: GainsayError | None = None

    async def stamp(self, note: bytes) -> Stamp:
        self.asked.append(note)
        if self.away:
            raise self.away
        return Stamp(1_800_000_000, b"\x01" * 32, sha256(note).digest())

    def unusable(self) -> GainsayError | None:
        return self.expired


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamping, "LOOK_S", 0.02)
    monkeypatch.setattr(stamping, "AGAIN_S", 0.02)
    monkeypatch.setattr(stamping, "AGAIN_MAX_S", 0.05)


@asynccontextmanager
async def stamped(
    database: Database, authority: MemoryAuthority, signer: MemorySigner | None = None
) -> AsyncIterator[Sequencer]:
    """A sequencer that runs meanwhile, and asks this authority."""
    async with a_sequencer(database, signer) as sequencer:
        sequencer.stamp_with(authority, 600)
        task = asyncio.create_task(sequencer.run())
        try:
            yield sequencer
        finally:
            sequencer.stop()
            await task


async def keep(store: Sequencing, size: int, every_s: float) -> bool:
    """Store a stamp whose token is the size."""
    token = b"%d" % size
    return await store.store_time_stamp(LOG, size, seconds=1, authority=b"\x01" * 32, token=token, every_s=every_s)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.02)


def sizes(database: Database, log: str = LOG) -> list[int]:
    """The sizes of a log's stamped heads."""
    with psycopg.connect(database.admin_url, options=SCHEMA) as admin:
        return [row[1] for row in admin.execute(STAMPED) if row[0] == log]


def age(database: Database, by: timedelta) -> None:
    """Let the stamps be older, as an owner of the database can who switches the triggers off."""
    with psycopg.connect(database.admin_url, options=SCHEMA) as admin:
        admin.execute("ALTER TABLE time_stamp DISABLE TRIGGER USER")
        admin.execute("UPDATE time_stamp SET at = at - %s", (by,))
        admin.execute("ALTER TABLE time_stamp ENABLE ALWAYS TRIGGER refuse_change")
        admin.execute("ALTER TABLE time_stamp ENABLE ALWAYS TRIGGER refuse_truncate")


async def test_the_last_head_of_a_quiet_log_gets_a_stamp_and_no_second_one(database: Database) -> None:
    authority = MemoryAuthority()
    stage(database, 1, [0, 1])
    async with stamped(database, authority):
        await until(lambda: sizes(database) == [2])
        age(database, timedelta(days=2))
        await asyncio.sleep(0.2)

    assert len(authority.asked) == 1
    with psycopg.connect(database.admin_url, options=SCHEMA) as admin:
        (row,) = admin.execute(STAMPED)
    assert row == (LOG, 2, b"\x01" * 32, sha256(authority.asked[0]).digest(), 1_800_000_000)


async def test_a_log_that_grows_is_stamped_again_only_after_the_interval(database: Database) -> None:
    authority = MemoryAuthority()
    stage(database, 1, [0])
    async with stamped(database, authority):
        await until(lambda: sizes(database) == [1])
        stage(database, 1, [1])
        await until(lambda: signed_size(database) == 2)
        await asyncio.sleep(0.2)
        assert sizes(database) == [1]
        age(database, timedelta(seconds=599))
        await asyncio.sleep(0.1)
        assert sizes(database) == [1]
        age(database, timedelta(seconds=2))
        await until(lambda: sizes(database) == [1, 2])

    assert len(authority.asked) == 2


async def test_of_two_processes_one_asks(database: Database) -> None:
    one, other, signer = MemoryAuthority(), MemoryAuthority(), MemorySigner()
    stage(database, 1, [0])
    async with stamped(database, one, signer), stamped(database, other, signer):
        await until(lambda: sizes(database) == [1])
        await asyncio.sleep(0.2)

    assert sorted([len(one.asked), len(other.asked)]) == [0, 1]


async def test_a_stamp_that_comes_after_one_of_another_process_is_not_stored(database: Database) -> None:
    stage(database, 1, [0])
    async with a_sequencer(database) as sequencer, Sequencing.open(database.sequencer_url, size=1) as store:
        await sequencer.catch_up()
        (due,) = await store.unstamped(600, 10)
        stage(database, 1, [1])
        await sequencer.catch_up()

        assert (due.size, await keep(store, 2, every_s=600)) == (1, True)
        assert not await keep(store, due.size, every_s=600)
        assert await store.unstamped(0, 10) == []

    assert sizes(database) == [2]


@pytest.mark.parametrize(
    "fault", [TimeStampUnavailable("it answers 503"), RuntimeError("a fault")], ids=["away", "a fault"]
)
async def test_an_authority_that_is_away_is_told_of_delays_nothing_and_is_asked_again(
    database: Database, fault: Exception
) -> None:
    authority = MemoryAuthority()
    authority.away = fault
    failures = telemetry.TIME_STAMP_FAILURES._value.get()
    stage(database, 1, [0])
    async with stamped(database, authority) as sequencer:
        await until(lambda: len(authority.asked) > 2)
        assert len(sequencer.troubles) == 1
        stage(database, 1, [1])
        await until(lambda: signed_size(database) == 2)
        assert sizes(database) == []

        authority.away = None
        await until(lambda: sizes(database) == [2])
        await until(lambda: sequencer.troubles == [])

    assert telemetry.TIME_STAMP_FAILURES._value.get() - failures > 2
    with psycopg.connect(database.admin_url, options=SCHEMA) as admin:
        assert admin.execute("SELECT count(*) FROM incident").fetchone() == (0,)


async def test_a_certificate_that_has_expired_is_told_of_and_stops_no_log(database: Database) -> None:
    authority = MemoryAuthority()
    authority.expired = TimeStampUnavailable("the certificate has expired")
    stage(database, 1, [0])
    async with stamped(database, authority) as sequencer:
        await until(lambda: sequencer.troubles == ["the certificate has expired"])
        await until(lambda: signed_size(database) == 1)


async def test_a_stored_stamp_that_is_gone_is_an_incident(database: Database) -> None:
    stage(database, 1, [0])
    async with stamped(database, MemoryAuthority()):
        await until(lambda: sizes(database) == [1])
    async with Store.open(database.service_url, size=1) as writer:
        assert await compare_shared(writer) == 1  # the token of `MemoryAuthority` is none
        with psycopg.connect(database.admin_url, options=SCHEMA) as admin:
            admin.execute("ALTER TABLE time_stamp DISABLE TRIGGER USER")
            admin.execute("DELETE FROM time_stamp")
        assert await compare_shared(writer) == 1
        damage = await writer.query("open_damage")

    assert [(row["subject"], row["incidents"]) for row in damage] == [("log", 2)]


async def test_the_stamped_heads_around_a_record_are_found_by_the_databases_clock(database: Database) -> None:
    async with a_sequencer(database) as sequencer, Sequencing.open(database.sequencer_url, size=1) as store:
        for size in (1, 2, 3):
            stage(database, 1, [size - 1])
            await sequencer.catch_up()
            assert await keep(store, size, every_s=0)
    now = time.time() + 60
    async with Store.open(database.service_url, size=1) as writer:
        before = await stamped_before(writer, "default", LOG, 1, now)
        first = await first_stamped(writer, "default", LOG, 1, 3)

        assert before is not None
        assert first is not None
        assert (before.head.size, before.token) == (1, b"1")
        assert (first.head.size, first.token) == (2, b"2")
        assert await stamped_before(writer, "default", LOG, 0, now) is None
        assert await stamped_before(writer, "default", LOG, 3, now - 3_600) is None
        assert await first_stamped(writer, "default", LOG, 2, 2) is None


def test_the_pause_grows_from_failure_to_failure_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    assert [pause_s(failures) for failures in (0, 1, 2, 3, 7, 10_000)] == [5.0, 10.0, 20.0, 40.0, 600.0, 600.0]
