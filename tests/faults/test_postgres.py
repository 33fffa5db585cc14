"""PostgreSQL in every bad state, under whole debates: the table "When PostgreSQL is not well" of the runbook, by rows.

In each: no call goes out that is not recorded, nothing confirmed is lost, no turn is asked again, no limit is passed,
callers are told what they can act on, and the process goes on by itself when PostgreSQL is well again (`Trial`).
"""

from __future__ import annotations

import asyncio
import itertools
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.faults.servers import PATIENCE_S, Blank, PrivateServer, addressed, promote, wire_to
from tests.faults.trials import Trial, on_trial
from tests.fixtures.postgres import Database, passable_folder

pytestmark = pytest.mark.long

Begin = Callable[[str, str], AbstractAsyncContextManager[Trial]]
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND usename LIKE '%serv%' AND pid <> pg_backend_pid()"
)
PLACES = (
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int "
    "- current_setting('reserved_connections')::int"
)
PASSING = ("40P01", "40001", "55P03", "57014", "53100", "53200", "58030", "XX000")
"""Deadlock, serialisation, lock, cancelled, disk, memory, input and output, and an error of PostgreSQL's own."""
EVERY = 3
FAILING = f"""
CREATE SEQUENCE gainsay.tried;
GRANT USAGE ON SEQUENCE gainsay.tried TO gainsay_writer, gainsay_api;
CREATE FUNCTION gainsay.fail() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    codes text[] := ARRAY[%s];
    tried bigint := nextval('gainsay.tried');
BEGIN
    IF tried %% {EVERY} = 0 AND tried / {EVERY} <= cardinality(codes) THEN
        RAISE EXCEPTION 'for a moment' USING ERRCODE = codes[tried / {EVERY}];
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER fail AFTER INSERT ON gainsay.entry FOR EACH STATEMENT EXECUTE FUNCTION gainsay.fail();
"""


@pytest.fixture(scope="module")
def blank() -> Iterator[Blank]:
    """A cluster that servers are copied from."""
    with passable_folder() as folder:
        yield Blank(folder)


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Begin:
    """Begins a deployment on a database: its address, and a superuser's."""
    return lambda url, admin_url: on_trial(url, admin_url, tmp_path, monkeypatch, caplog)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
async def test_a_server_that_goes_away_and_comes_back(blank: Blank, trial: Begin, how: signal.Signals) -> None:
    with blank.copied() as server:
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            server.stop(how)
            await under.is_refused()
            await under.is_down()

            server.start()
            await under.recovers(debates)


@pytest.mark.no_replay
async def test_connections_that_the_server_cuts_again_and_again(database: Database, trial: Begin) -> None:
    async with trial(database.service_url, database.admin_url) as under:
        debates = await under.begin()

        cut = 0
        for _ in range(8):
            cut += len(do(database.admin_url, CUT))
            await asyncio.sleep(0.05)

        assert cut >= 8
        await under.recovers(debates)


@pytest.mark.no_replay
async def test_a_network_that_drops_everything_for_a_while(database: Database, trial: Begin) -> None:
    url = database.service_url
    async with wire_to(url) as wire, trial(wire.through(url), database.admin_url) as under:
        debates = await under.begin()

        wire.mute()
        await under.is_refused()
        await under.is_down()

        wire.speak()  # and what was given up arrives late
        await under.recovers(debates)


async def test_a_server_that_is_frozen(blank: Blank, trial: Begin) -> None:
    with blank.copied() as server:
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            server.freeze()
            await under.is_refused()
            await under.is_down()

            server.thaw()
            await under.recovers(debates)


@pytest.mark.no_replay
async def test_a_lock_that_somebody_holds(database: Database, trial: Begin) -> None:
    async with trial(database.service_url, database.admin_url) as under:
        debates = await under.begin()

        with psycopg.connect(database.admin_url) as admin:
            admin.execute("LOCK TABLE gainsay.debate_head IN SHARE ROW EXCLUSIVE MODE")
            await under.is_refused()
            await under.is_up()

        await under.recovers(debates)


@pytest.mark.parametrize("moves", [False, True], ids=["several hosts", "an address that moves"])
async def test_a_standby_that_takes_over_has_whatever_was_confirmed(blank: Blank, trial: Begin, moves: bool) -> None:
    with blank.copied("synchronous_standby_names=*") as primary, blank.standby_of(primary) as standby:
        async with wire_to(primary.url()) as wire:
            password = primary.passwords["gainsay_service"]
            ports = [wire.mine] if moves else [primary.port, standby.port]
            async with trial(addressed("gainsay_service", password, ports), primary.url("postgres")) as under:
                debates = await under.begin()
                confirmed = records(primary.url("postgres"))

                primary.stop(signal.SIGKILL)
                wire.port, under.admin_url = standby.port, standby.url("postgres")
                await under.is_refused()
                await under.is_down()

                promote(standby)
                await under.recovers(debates)
                assert confirmed <= records(standby.url("postgres"))


async def test_a_standby_that_commits_wait_for_and_that_is_gone(blank: Blank, trial: Begin) -> None:
    with blank.copied("synchronous_standby_names=*") as primary, blank.standby_of(primary) as standby:
        async with trial(primary.url(), primary.url("postgres")) as under:
            debates = await under.begin()

            standby.stop()
            await under.is_refused()

            standby.start()
            await under.recovers(debates)
            assert records(primary.url("postgres")) == records(standby.url("postgres"))


async def test_a_server_that_takes_no_writes(blank: Blank, trial: Begin) -> None:
    with blank.copied() as server:
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            server.do("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
            await under.is_refused()
            await under.is_down()
            assert (await under.served.http.get(f"/v1/debates/{debates[0]}")).is_success

            server.do("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")
            await under.recovers(debates)


async def test_a_role_that_may_not_connect_any_more(blank: Blank, trial: Begin) -> None:
    with blank.copied() as server:
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            server.do("ALTER ROLE gainsay_service CONNECTION LIMIT 0", CUT)
            await under.is_refused()
            await under.is_down()

            server.do("ALTER ROLE gainsay_service CONNECTION LIMIT -1")
            await under.recovers(debates)


async def test_a_server_all_of_whose_connections_others_have(blank: Blank, trial: Begin) -> None:
    with blank.copied("max_connections=12", "max_wal_senders=0") as server:
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            async with crowd(server):
                await under.is_refused()
                await under.is_down()

            await under.recovers(debates)


async def test_a_disk_that_is_full(blank: Blank, trial: Begin) -> None:
    with blank.copied() as server, small_disk(server, "24m") as disk:
        server.do(f"CREATE TABLESPACE small LOCATION '{disk}'")
        with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as admin:
            admin.execute("ALTER DATABASE gainsay SET TABLESPACE small")
        async with trial(server.url(), server.url("postgres")) as under:
            debates = await under.begin()

            fill(disk / "filler")
            await under.until_refused()

            (disk / "filler").unlink()
            await under.recovers(debates)


@pytest.mark.no_replay
async def test_statements_that_fail_for_a_moment_are_offered_again(database: Database, trial: Begin) -> None:
    async with trial(database.service_url, database.admin_url) as under:
        debates = await under.begin()

        do(database.admin_url, FAILING % ", ".join(f"'{code}'" for code in PASSING))
        tried = 0
        for _ in range(len(PASSING)):  # debates that are under way at once share statements
            await under.recovers(debates)
            ((tried,),) = do(database.admin_url, "SELECT last_value FROM gainsay.tried")
            if tried > EVERY * len(PASSING):
                break

        assert tried > EVERY * len(PASSING), "each kind of failure was met"
        assert under.lost == 0


@pytest.mark.no_replay
async def test_a_permission_that_was_taken_away(database: Database, trial: Begin) -> None:
    async with trial(database.service_url, database.admin_url) as under:
        debates = await under.begin()

        do(database.admin_url, "REVOKE INSERT ON gainsay.entry FROM gainsay_writer, gainsay_api")
        await under.is_refused()
        await under.is_up()

        do(database.admin_url, "GRANT INSERT (debate, n, leaf, tenant) ON gainsay.entry TO gainsay_writer, gainsay_api")
        await under.recovers(debates)


def fill(path: Path) -> None:
    """Let the file take all that is left of its disk, while others write there too."""
    with path.open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
        filler.writelines(itertools.repeat(bytes(4_096)))


def do(url: str, statement: str) -> list[Any]:
    """Run a statement as superuser; its rows."""
    with psycopg.connect(url, autocommit=True) as admin:
        cursor = admin.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def records(url: str) -> set[tuple[str, int, bytes]]:
    """Every record that is there."""
    with psycopg.connect(url) as admin:
        return set(admin.execute("SELECT debate::text, n, leaf FROM gainsay.entry"))


@asynccontextmanager
async def crowd(server: PrivateServer) -> AsyncIterator[None]:
    """Take every connection that is not kept for superusers, also those that the service has.

    A session that is cut ends a moment later, and one of the service's that is being let in cannot be cut yet. Each
    gives its place to the first who asks, so it is cut and asked again until all places are ours.
    """
    taken: list[psycopg.Connection[Any]] = []
    end = time.monotonic() + PATIENCE_S
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
            ((places,),) = admin.execute(PLACES).fetchall()
            while len(taken) < places - 1:  # one is the superuser's own, which stays so long
                assert time.monotonic() < end, f"only {len(taken)} of {places} connections can be had"
                admin.execute(CUT.encode())
                with suppress(psycopg.OperationalError):
                    while True:
                        taken.append(psycopg.connect(server.url("gainsay_migrator")))
                await asyncio.sleep(0.01)
            yield
    finally:
        for connection in taken:
            connection.close()


@contextmanager
def small_disk(server: PrivateServer, size: str) -> Iterator[Path]:
    """A file system with little room that the server may write to; skipped where nobody may mount one."""
    disk = server.home / "disk"
    server.programs.own(disk)
    options = f"size={size},uid={disk.stat().st_uid},mode=0700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        server.stop(signal.SIGQUIT)
        subprocess.run(["umount", str(disk)], check=True)
