"""The processes of a deployment are started in any order: before PostgreSQL lets anybody in, before it is migrated."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import psycopg
import pytest

from service.store.schema.migrate import migrate
from tests.end_to_end.processes import deployed, until_ready
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database
from tests.fixtures.serving import a_case

pytestmark = pytest.mark.no_replay

SERVE = ("serve", "--port", "0", "--no-worker", "--no-sequencer")
COMMANDS = (SERVE, ("work",), ("sequence",))
WAITING = (
    "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE NOT l.granted AND a.datname = current_database()"
)
"""How many wait for a lock; in other databases of the server other tests may run."""


async def test_everything_starts_before_the_database_and_goes_to_work_when_that_is_migrated(
    cluster: Cluster, empty_database: Database, tmp_path: Path
) -> None:
    cluster.admin.execute(f'ALTER DATABASE "{empty_database.name}" ALLOW_CONNECTIONS false')
    async with deployed(empty_database, tmp_path) as deployment:
        processes = [deployment.start(*words) for words in COMMANDS]
        for process in processes:
            await process.says("WARNING waiting, at most [0-9]+ s more: store_unavailable: expected PostgreSQL at ")
        cluster.admin.execute(f'ALTER DATABASE "{empty_database.name}" ALLOW_CONNECTIONS true')
        for process in processes:
            await process.says("waiting.*(unmigrated|permission denied for database)")
        await asyncio.to_thread(migrate, empty_database.migrate_url, MIGRATIONS)

        address = await processes[0].address()
        await until_ready(address)
        async with httpx.AsyncClient(base_url=address, timeout=60) as http:
            answer = await http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"})

    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "completed"
    assert [word for process in processes for word in ("sesame", "Traceback") if word in process.told] == []


async def test_processes_that_may_not_wait_fail_at_once(empty_database: Database, tmp_path: Path) -> None:
    async with deployed(empty_database, tmp_path, GAINSAY_WAIT_S="0") as deployment:
        processes = [deployment.start(*words) for words in COMMANDS]

        assert [await process.ends() for process in processes] == [3, 3, 3]
    for process in processes:
        assert process.told.startswith(("gainsay: unmigrated: ", "gainsay: store_unavailable: "))
        assert len(process.told.splitlines()) == 1


async def test_what_waits_for_its_database_ends_at_a_signal(empty_database: Database, tmp_path: Path) -> None:
    async with deployed(empty_database, tmp_path, GAINSAY_WAIT_S="600") as deployment:
        processes = [deployment.start(*words) for words in COMMANDS]
        for process in processes:
            await process.says("WARNING waiting")
            process.send(signal.SIGTERM)
        ends = [await process.ends() for process in processes]

    assert ends == [0, 0, 0]
    assert "Traceback" not in "".join(process.told for process in processes)


async def until_blocked(database: Database) -> None:
    """Until a process waits for the lock that keeps it from going on with its start."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for _ in range(600):
            (found,) = admin.execute(WAITING).fetchone() or (0,)
            if found:
                return
            await asyncio.sleep(0.05)
    raise AssertionError("nothing waits for the lock")


@pytest.mark.parametrize("words", [SERVE, ("work",)])
async def test_a_signal_between_the_wait_for_the_database_and_the_work_ends_the_process_as_any_other(
    database: Database, tmp_path: Path, words: tuple[str, ...]
) -> None:
    async with deployed(database, tmp_path) as deployment:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("LOCK gainsay.content IN ACCESS EXCLUSIVE MODE")
            process = deployment.start(*words)
            await until_blocked(database)
            assert process.runs, process.told
            process.send(signal.SIGTERM)
            await asyncio.sleep(0.5)
            assert process.runs, "it is in the middle of its start"
        end = await process.ends()

    assert end == 0
    assert "Traceback" not in process.told
    assert "serving on" not in process.told


async def test_a_database_that_goes_away_in_the_middle_of_a_start_is_waited_for(
    cluster: Cluster, database: Database, tmp_path: Path
) -> None:
    async with deployed(database, tmp_path) as deployment:
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("LOCK gainsay.content IN ACCESS EXCLUSIVE MODE")
            process = deployment.start(*SERVE)
            await until_blocked(database)
            cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"
            cluster.admin.execute(query, [database.name, admin.info.backend_pid])
            await process.says(
                "WARNING waiting, at most [0-9]+ s more: store_unavailable: the database did not confirm"
            )
        cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')

        await until_ready(await process.address())
        assert "psycopg" not in process.told


async def test_a_wrong_password_is_not_waited_for(database: Database, tmp_path: Path) -> None:
    wrong = database.service_url.replace("password=", "password=not")
    async with deployed(database, tmp_path, GAINSAY_WAIT_S="600", GAINSAY_DATABASE_URL=wrong) as deployment:
        process = deployment.start(*SERVE)

        assert await process.ends() == 3
    assert process.told.startswith("gainsay: store_unavailable: ")
