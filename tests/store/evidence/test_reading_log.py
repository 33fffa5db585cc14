"""Who read is recorded within a second, in the tenant's own log; while that cannot be written, nothing more is read."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from service import telemetry
from service.audit.log_events import READINGS_MAX, Content
from service.audit.record import Actor, Writer, moment, open_leaf
from service.errors import AuditUnavailable
from service.identity.caller import Caller
from service.reviews.evidence.reading_log import ReadingLog, recording
from tests.store.evidence.conftest import House, examined, wrong

SERVER = Writer(Actor("gainsay-1", "service", "server", "databaseRole"), "00" * 32)
KEY = "key_0a1b2c3d4e5f6g7h8j9k0m1n2p"
AUDITOR = Caller(
    tenant="default",
    subject="sub_7z9y8x7w6v5t4s3r2q1p0n9m8k",
    role="auditor",
    kind="person",
    via="apiKey",
    roles=("auditor",),
    credential=KEY,
)
CLOSED = "REVOKE INSERT ON gainsay.entry FROM gainsay_writer"
OPEN = "GRANT INSERT ON gainsay.entry TO gainsay_writer"


@asynccontextmanager
async def reading(house: House, **options: Any) -> AsyncIterator[ReadingLog]:
    """A reading log on the house's database; its last records are written at the end."""
    log = ReadingLog(house.desk.database, house.logs, SERVER, **options)
    async with recording(log):
        yield log


def records(house: House, tenant: str = "default") -> list[dict[str, Any]]:
    """The payloads of the records of readings in a tenant's log, in the order of their making."""
    rows = house.rows("SELECT e.leaf, p.body FROM entry e JOIN payload p USING (debate, n) ORDER BY e.debate")
    return [
        json.loads(body)
        for leaf, body in rows
        if (told := open_leaf(bytes(leaf))).kind == "content.read" and told.log == f"localhost/{tenant}/1"
    ]


def readings(house: House, tenant: str = "default") -> list[dict[str, Any]]:
    """The readings in them."""
    return [each for record in records(house, tenant) for each in record["readings"]]


def debate(n: int) -> str:
    """The id of a case."""
    return f"0199c0de-0000-7000-8000-{n:012x}"


def read_again(log: ReadingLog, what: Content, debate: str) -> bool:
    """Whether a reading is taken: the log may be back, and its writer not have heard of it."""
    try:
        log.note(AUDITOR, what, debate)
    except AuditUnavailable:
        return False
    return True


async def until(done: Any, within_s: float = 5.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + within_s
    while not done():
        assert time.monotonic() < end, "it did not come to hold"
        await asyncio.sleep(0.02)


async def test_a_record_says_who_read_what_of_which_case_how_often_and_when(house: House) -> None:
    async with reading(house) as log:
        log.note(AUDITOR, "result", debate(1).upper())
        log.note(AUDITOR, "result", debate(1))
        log.note(replace(AUDITOR, role="reviewer", credential=""), "result", debate(1))
        log.note(Caller(), "list")
        await until(lambda: records(house))

        (record,) = records(house)

    for each in record["readings"]:
        assert moment(each.pop("first")) <= moment(each.pop("last"))
    told = {"subject": AUDITOR.subject, "via": "apiKey", "what": "result", "debate": debate(1)}
    assert record == {
        "kind": "content.read",
        "readings": [
            {**told, "role": "auditor", "credential": KEY, "times": 2},
            {**told, "role": "reviewer", "times": 1},
            {"subject": "local", "role": "operator", "via": "none", "what": "list", "times": 1},
        ],
    }


async def test_the_record_is_the_process_s_own_is_dated_by_the_database_and_verifies(house: House) -> None:
    await house.debated()
    async with reading(house) as log:
        log.note(AUDITOR, "document", debate(1))
        await until(lambda: records(house))
    await house.sequencer.catch_up()
    (leaf,) = [
        open_leaf(bytes(leaf))
        for (leaf,) in house.rows("SELECT leaf FROM entry")
        if b'"kind":"content.read"' in bytes(leaf)
    ]
    (clock,) = house.rows("SELECT extract(epoch FROM clock_timestamp())::float8")

    assert (leaf.actor, leaf.tenant, leaf.n, leaf.policy) == (SERVER.actor, "default", 0, "")
    (read,) = readings(house)
    assert 0 <= moment(leaf.recorded) - moment(read["last"]) < 1_500_000
    assert 0 <= clock[0] * 1e6 - moment(read["last"]) < 30_000_000
    assert wrong(examined(await house.export())) == {}


async def test_a_burst_is_one_row_and_many_cases_are_split_each_reading_once(house: House) -> None:
    many = READINGS_MAX * 2 + 3
    async with reading(house) as log:
        for _ in range(500):
            log.note(Caller(), "events", debate(0))
        for n in range(1, many):
            log.note(Caller(), "summary", debate(n))
        waiting = telemetry.READINGS_WAITING._value.get()
        await until(lambda: len(records(house)) >= 3)

    found = records(house)
    assert sorted(len(record["readings"]) for record in found) == [3, READINGS_MAX, READINGS_MAX]
    assert Counter({each["debate"]: each["times"] for each in readings(house)}) == {
        debate(0): 500,
        **{debate(n): 1 for n in range(1, many)},
    }
    assert waiting - telemetry.READINGS_WAITING._value.get() == 500 + many - 1


async def test_however_often_is_read_a_tenant_gets_one_record_a_period(house: House) -> None:
    every_s = 0.25
    counted = 0
    begun = time.monotonic()
    async with reading(house, every_s=every_s) as log:
        while time.monotonic() < begun + 4.5 * every_s:
            log.note(Caller(), "summary", debate(1))
            counted += 1
            await asyncio.sleep(0.01)
    lasted = time.monotonic() - begun

    assert sum(each["times"] for each in readings(house)) == counted
    assert 3 <= len(records(house)) <= lasted / every_s + 2  # the first at once, and the last at the end


async def test_tenants_have_their_readings_in_their_own_logs_alone(house: House) -> None:
    async with reading(house) as log:
        for tenant, n in (("default", 1), ("north", 2), ("south", 3), ("north", 4)):
            log.note(replace(AUDITOR, tenant=tenant), "report", debate(n))
        await until(lambda: len(records(house)) == len(records(house, "north")) == len(records(house, "south")) == 1)

    assert {each["debate"] for each in readings(house)} == {debate(1)}
    assert {each["debate"] for each in readings(house, "north")} == {debate(2), debate(4)}
    assert {each["debate"] for each in readings(house, "south")} == {debate(3)}


async def test_while_the_log_cannot_be_written_reading_ends_and_nothing_that_was_read_is_forgotten(
    house: House,
) -> None:
    house.tamper(CLOSED)
    given = refused = 0
    unrecorded = telemetry.ACCESS_UNRECORDED._value.get()
    async with reading(house, every_s=0.05, oldest_s=0.3) as log:
        begun = time.monotonic()
        while time.monotonic() < begun + 0.8:
            try:
                log.note(AUDITOR, "result", debate(1))
                given += 1
                assert time.monotonic() < begun + 0.5, "content is handed out and nobody records it"
            except AuditUnavailable:
                refused += 1
            await asyncio.sleep(0.01)
        assert given > 3 < refused
        assert records(house) == []
        assert telemetry.ACCESS_UNRECORDED._value.get() > unrecorded
        house.tamper(OPEN)
        await until(lambda: records(house))
        await until(lambda: read_again(log, "result", debate(1)))

    assert sum(each["times"] for each in readings(house)) == given + 1


async def test_a_tenant_whose_log_cannot_be_written_keeps_no_other_from_reading(house: House) -> None:
    async with reading(house, every_s=0.05, oldest_s=0.2) as log:
        nameless = replace(AUDITOR, tenant="no log/has this name")
        log.note(nameless, "list")
        await asyncio.sleep(0.4)

        with pytest.raises(AuditUnavailable):
            log.note(nameless, "list")
        log.note(AUDITOR, "list")
        await until(lambda: records(house))


async def test_readings_are_kept_up_to_a_bound_and_then_other_cases_are_not_read(house: House) -> None:
    house.tamper(CLOSED)
    async with reading(house, every_s=0.05, kept=3) as log:
        for n in range(3):
            log.note(AUDITOR, "result", debate(n))
            await asyncio.sleep(0.1)  # so that some are being written, and fail
        with pytest.raises(AuditUnavailable):
            log.note(AUDITOR, "result", debate(3))
        log.note(AUDITOR, "result", debate(2))
        log.note(replace(AUDITOR, tenant="north"), "result", debate(3))
        house.tamper(OPEN)
        await until(lambda: records(house))
        await until(lambda: read_again(log, "result", debate(3)))

    assert {each["debate"]: each["times"] for each in readings(house)} == {
        debate(0): 1,
        debate(1): 1,
        debate(2): 2,
        debate(3): 1,
    }


async def test_the_end_of_the_process_writes_the_last_readings_and_takes_no_more(house: House) -> None:
    what: tuple[Content, ...] = ("summary", "result", "report", "events", "documents", "document")
    async with reading(house, every_s=60.0) as log:
        log.note(AUDITOR, "list")
        await until(lambda: records(house))
        for each in what:
            log.note(AUDITOR, each, debate(1))
        assert len(readings(house)) == 1, "the rest waits for its period"

    assert [each["what"] for each in readings(house)] == ["list", *what]
    with pytest.raises(AuditUnavailable):
        log.note(AUDITOR, "list")


async def test_what_was_never_recorded_is_said_at_the_end(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.tamper(CLOSED)
    async with reading(house, every_s=0.05) as log:
        for _ in range(7):
            log.note(AUDITOR, "list")
        await asyncio.sleep(0.1)

    (lost,) = [each for each in caplog.records if each.message == "readings of cases were not recorded"]
    assert (lost.levelname, vars(lost)["readings"]) == ("ERROR", 7)
    house.tamper(OPEN)
