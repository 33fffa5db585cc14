"""The failover drills: the primary is killed under load, its standby is promoted, and what callers were told is there.

With a synchronous standby nothing that was confirmed is lost. With an asynchronous one records are lost, which the
signer or the witness finds; nothing more is signed for that log, and the tenant goes on in its next one.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from random import Random
from uuid import uuid4

import httpx
import psycopg
import pytest

from service.store.pool import Database
from tests.drills.document import blocks
from tests.drills.house import FIRST, SECOND, SEED, TENANT, House, Work, ask, at_work, holds_on, house_on, lost, reckon
from tests.faults import reckoning
from tests.faults.callers import case_of
from tests.faults.deployment import eventually
from tests.faults.servers import Blank, PrivateServer
from tests.fixtures.postgres import passable_folder

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif("GAINSAY_TEST_DRILLS" not in os.environ, reason="make drills runs it"),
]
SYNCHRONOUS = "synchronous_standby_names=*"


@pytest.fixture(scope="module")
def blank() -> Iterator[Blank]:
    """A cluster that servers are copied from."""
    with passable_folder() as folder:
        yield Blank(folder)


@pytest.mark.parametrize("commit", ["on", "remote_apply"])
async def test_a_synchronous_standby_has_whatever_was_confirmed(blank: Blank, commit: str) -> None:
    with (
        blank.copied(SYNCHRONOUS, f"synchronous_commit={commit}") as primary,
        blank.standby_of(primary) as standby,
        house_on(primary, standby) as house,
    ):
        async with at_work(house) as work:
            await work.finishes(3)
            await asyncio.sleep(Random(f"{SEED} {commit}").uniform(0, 2))

            await fail_over(house, primary, standby, f"synchronous, {commit}")

            await work.finishes(3)
            await work.ends()
            records, debates = await reckon(house, work)
            assert house.hits == []
            tell(f"{records} records of {debates} debates, none lost, no process restarted")
            primary.start(SYNCHRONOUS)
            await confirms_nothing(primary)


@pytest.mark.parametrize("finder", ["signer", "witness"])
async def test_what_an_asynchronous_standby_lacks_is_found_and_gone_on_from(blank: Blank, finder: str) -> None:
    with (
        blank.copied() as primary,
        blank.standby_of(primary) as standby,
        house_on(primary, standby) as house,
    ):
        async with at_work(house) as work:
            await work.finishes(2)
            await fall_behind(work, primary, standby)
            missing = lost(work.told, standby)
            signed = house.signed()
            if finder == "witness":  # the whole site is gone, and the signer's folder with it
                for name in tuple(house.children):
                    if name != "witness":
                        house.end(name)
                shutil.rmtree(house.folder / "heads")
            await work.goes_home()
            if finder == "signer":  # and no witness is there, who might be the first to find it
                house.end("witness")
                await fail_over(house, primary, standby, "asynchronous", status=503)
            else:
                primary.crash()
                standby.promote()
                code, said = house.ask("sequence")
                assert (code, "contradicts its checkpoints" in said) == (3, True), said
            await is_refused(house, finder, signed)
            await goes_on(house, work, missing)
            tell(f"{signed - house_signed(house)} records lost, with {len(missing)} debates whose end callers knew")


async def fail_over(house: House, primary: PrivateServer, standby: PrivateServer, how: str, status: int = 200) -> None:
    """Kill the primary and promote its standby; the processes go on by themselves, up to being ready or refused."""
    fell = time.monotonic()
    primary.crash()
    standby.promote()
    promoted = time.monotonic()
    ready = await house.is_ready(status)
    tell(f"{how}: promoted {promoted - fell:.1f} s after the kill, /readyz {status} after {ready - fell:.1f} s")


async def confirms_nothing(primary: PrivateServer) -> None:
    """A primary that comes back by mistake takes a write, and waits for the standby that follows it no more."""
    async with await psycopg.AsyncConnection.connect(primary.url("postgres"), autocommit=True) as late:
        writing = asyncio.create_task(late.execute("CREATE TABLE gainsay.late ()"))
        waits = "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        await eventually(holds_on(primary, waits), "the write waits")
        assert not writing.done()
        primary.crash()
        (ended,) = await asyncio.gather(writing, return_exceptions=True)
    assert isinstance(ended, psycopg.OperationalError), "it was never confirmed"


async def fall_behind(work: Work, primary: PrivateServer, standby: PrivateServer) -> None:
    """Let the standby hear no more, and wait until callers know of ends, signed and countersigned, that it lacks."""
    standby.do("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
    await eventually(holds_on(standby, "SELECT count(*) = 0 FROM pg_stat_wal_receiver"), "the standby hears no more")
    ((before,),) = ask(standby, "SELECT coalesce(max(size), 0) FROM checkpoint")
    await work.finishes(3)
    seen = f"SELECT max(size) > {before} FROM cosignature"
    await eventually(holds_on(primary, seen), "the witness has seen what the standby lacks")
    gone = "SELECT bool_and(debate::text <> ALL ('{%s}')) IS NOT false FROM debate_head"
    await eventually(
        lambda: any(holds_on(standby, gone % debate)() for debate in lost(work.told, standby)),
        "callers know the end of a debate of which the standby has nothing",
    )


def house_signed(house: House) -> int:
    """How much of the first log is under heads that the database has."""
    ((size,),) = house.rows("SELECT max(size) FROM checkpoint WHERE log = %s", FIRST)
    return int(size)


async def is_refused(house: House, finder: str, signed: int) -> None:
    """An incident is recorded, it names who knows more, nothing is signed, and nothing starts."""
    await eventually(lambda: bool(house.rows("SELECT FROM incident")), "the loss is an incident")
    ((log, what),) = house.rows("SELECT log, what FROM incident")
    assert log == FIRST
    assert finder in what
    assert house_signed(house) < signed
    for name in tuple(house.children):
        if name != "witness":
            house.end(name)
    code, said = house.ask("serve", "--port", "0")
    assert (code, "incident 1 is open" in said) == (3, True), said


async def goes_on(house: House, work: Work, missing: list[str]) -> None:
    """The recorded way on: the tenant's next log, the closed incident, and the lost cases posted once more."""
    before = house_signed(house)
    code, said = house.ask("audit", "rotate", "--tenant", TENANT)
    assert (code, f"{FIRST}: {before} records" in said) == (0, True), said
    house.close_incidents("the standby was behind; list of lost debates in ticket 881; J. Doe")
    for name in house.CHILDREN:
        if name not in house.children:
            house.start(name)
    await house.works()
    await house.is_ready()
    await eventually(lambda: never_provable(house, under_way=True) == [], "workers end what was under way")
    held = never_provable(house)
    for debate in held:
        answer = await work.apis[0].get(f"/v1/debates/{debate}")
        assert (answer.status_code, answer.json()["code"]) == (410, "records_lost"), answer.text
    numbers = {debate: number for number, debate in work.told.debates.items()}
    for debate in missing:
        gone = (await work.apis[0].get(f"/v1/debates/{debate}")).status_code == 404
        assert gone != (debate in held), "a debate is gone, or its beginning is there and never provable"
        key = work.told.keys[numbers[debate]] if gone else str(uuid4())
        await is_posted_again(house, work, numbers[debate], debate, key)
    await eventually(lambda: gauge(house, "gainsay_log_unproven_seconds") < 1, "nothing waits in a log that goes on")
    assert gauge(house, "gainsay_log_incidents") == 0
    assert house_signed(house) == before, "the old log is never signed again"
    async with Database.open(house.server.url("gainsay_service"), size=2) as database:
        await reckoning.expect_balance(database)


async def is_posted_again(house: House, work: Work, number: int, before: str, key: str) -> None:
    """A lost case is another debate, in the next log, also under its own key; its bundle leads through both logs."""
    headers = {"idempotency-key": f'"{key}"', "prefer": "wait=30"}
    case = case_of(number, leaves=False)
    answer = await work.apis[0].post("/v1/debates", json=case, headers=headers, timeout=60)
    assert answer.is_success, answer.text
    debate = answer.json()["debateId"]
    assert debate != before
    state = "SELECT state FROM debate_head WHERE debate = %s"
    await eventually(lambda: house.rows(state, debate) == [("completed",)], "it ends")
    async with Database.open(house.server.url("gainsay_service"), size=2) as database:
        seen = "SELECT (SELECT max(size) FROM cosignature WHERE log = %s) = (SELECT count(*) FROM leaf WHERE log = %s)"
        await eventually(lambda: house.rows(seen, SECOND, SECOND) == [(True,)], "all of the next log is countersigned")
        await reckoning.expect_bundles_verify(house, database, 1, only=[debate])


def never_provable(house: House, *, under_way: bool = False) -> list[str]:
    """The debates of the old log that no checkpoint will ever cover, as docs/disaster.md finds them."""
    (query,) = blocks("sql", "Go on after a loss")
    assert "audit.bank.example/default/1" in query
    rows = house.rows(query.replace("audit.bank.example/default/1", FIRST).replace("gainsay.", ""))
    return [str(debate) for debate, _, state in rows if not under_way or state in ("queued", "running")]


def gauge(house: House, name: str) -> float:
    """The value of a gauge of an API process."""
    text = httpx.get(f"{house.apis[0]}/metrics").text
    (value,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(value)


def tell(words: str) -> None:
    """Say something to whoever watches."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
