"""Sequencers as processes of their own: killed at any moment, two at once, stopped by signals, refused at the start."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from service.audit.checkpoint import open_checkpoint
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import repository
from tests.fixtures.sequencing import LOG, stage
from tests.fixtures.serving import SIGNING_KEY, sequenced, served

pytestmark = pytest.mark.no_replay


def environment(database: Database, folder: Path) -> dict[str, str]:
    """The settings of a sequencer process, which knows no other address."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
    }
    return {**kept, "GAINSAY_DATA_DIR": str(folder), **sequenced(database.service_url, folder)}


@contextmanager
def process(*words: str, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A Python process, killed at the end if it is still there."""
    started = subprocess.Popen(
        [sys.executable, "-m", *words], env=env, cwd=repository(), stderr=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def until(holds: Callable[[], bool], within_s: float = 60.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not come to that in time"
        time.sleep(0.02)


def sizes(database: Database) -> list[int]:
    """The sizes of the signed heads, after each was opened with the key."""
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute("SELECT size, root, note FROM gainsay.checkpoint ORDER BY size").fetchall()
    for size, root, note in rows:
        head, _ = open_checkpoint(bytes(note), [SIGNING_KEY.public])
        assert (head.size, head.root) == (size, bytes(root))
    return [size for size, *_ in rows]


def leaves_of(database: Database) -> list[tuple[int, int]]:
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute("SELECT debate, n FROM gainsay.leaf WHERE log = %s ORDER BY idx", (LOG,)).fetchall()
    return [(debate.int, n) for debate, n in rows]


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_sequencer_that_is_killed_around_a_signature_is_gone_on_with_by_the_next(
    database: Database, tmp_path: Path, where: str
) -> None:
    env = environment(database, tmp_path)
    with process("tests.faults.dying_sequencer", where, "2", env=env) as dying:
        stage(database, 1, range(3))
        until(lambda: sizes(database) == [3])
        stage(database, 1, range(3, 7))
        assert dying.wait(60) == -signal.SIGKILL
    assert (len(leaves_of(database)), sizes(database)) == (7, [3])

    with process("service", "sequence", env=env):
        until(lambda: sizes(database) == [3, 7])
        stage(database, 1, [7])
        until(lambda: sizes(database) == [3, 7, 8])
    assert leaves_of(database) == [(1, n) for n in range(8)]


def test_of_two_processes_the_other_goes_on_when_one_is_killed_and_no_record_is_lost(
    database: Database, tmp_path: Path
) -> None:
    env = environment(database, tmp_path)
    with (
        process("service", "sequence", env={**env, "PGAPPNAME": "first"}) as first,
        process("service", "sequence", env={**env, "PGAPPNAME": "second"}) as second,
    ):
        for n in range(100):
            stage(database, 1 + n % 3, [n // 3])
            if n == 50:
                until(lambda: bool(sizes(database)))
                {"first": first, "second": second}[leading(database)].kill()
        until(lambda: sizes(database)[-1:] == [100])
    found = leaves_of(database)
    for chain in (1, 2, 3):
        assert [n for number, n in found if number == chain] == list(range(34 if chain == 1 else 33))


def leading(database: Database) -> str:
    """The name of the session that leads."""
    with psycopg.connect(database.admin_url) as admin:
        row = admin.execute(
            "SELECT application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
            "WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()"
        ).fetchone()
    assert row is not None
    return str(row[0])


def test_a_signal_ends_it_without_a_word_of_failure(database: Database, tmp_path: Path) -> None:
    with process("service", "sequence", env=environment(database, tmp_path)) as running:
        stage(database, 1, range(3))
        until(lambda: sizes(database) == [3])
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 0
    said = [line.split(" ", 1)[1] for line in told.splitlines()]
    assert said == [
        "INFO sequencing event=process.sequencing",
        "INFO stopping: SIGTERM event=process.stopping signal=SIGTERM",
        "INFO stopped event=process.stopped",
    ]


def test_a_database_that_is_behind_the_heads_on_disk_is_refused_at_the_start(
    cluster: Cluster, database: Database, tmp_path: Path
) -> None:
    env = environment(database, tmp_path)
    with process("service", "sequence", env=env) as running:
        stage(database, 1, range(3))
        until(lambda: sizes(database) == [3])
        running.terminate()
        assert running.wait(60) == 0
    with cluster.lend(database.name) as old:
        with process("service", "sequence", env=env):
            stage(database, 1, range(3, 5))
            until(lambda: sizes(database) == [3, 5])

        with process("service", "sequence", env={**env, "GAINSAY_SEQUENCER_URL": old.sequencer_url}) as behind:
            _, told = behind.communicate(timeout=60)
        assert behind.returncode == 3
        assert "signed a head of 5 records, and the database has 3" in " ".join(told.split())

        addresses = {"GAINSAY_SEQUENCER_URL": old.sequencer_url, "GAINSAY_API_URL": old.serving_url}
        serving = {**env, "GAINSAY_DATABASE_URL": old.service_url, **addresses}
        with process("service", "serve", "--port", "0", env=serving) as refused:
            _, told = refused.communicate(timeout=60)
        assert refused.returncode == 3
        assert "incident 1 is open" in " ".join(told.split())


@pytest.mark.parametrize("missing", ["GAINSAY_SEQUENCER_URL", "GAINSAY_SIGNING_KEY"])
def test_a_setting_that_is_missing_is_named(database: Database, tmp_path: Path, missing: str) -> None:
    env = {**environment(database, tmp_path), "GAINSAY_DATABASE_URL": database.service_url}
    del env[missing]

    with process("service", "sequence", env=env) as refused:
        _, told = refused.communicate(timeout=60)

    assert refused.returncode != 0
    assert missing in told


async def test_a_served_record_is_provable_soon_and_an_incident_takes_the_readiness(database: Database) -> None:
    async with served(database.service_url) as site:
        result = await site.finished()
        # The record of who read the result may stand in the same head, where the sequencer is late.
        await asyncio.to_thread(until, lambda: sizes(database)[-1:] >= [result["entries"]])
        assert (await site.http.get("/readyz")).status_code == 200

        with psycopg.connect(database.sequencer_url) as sequencer:
            sequencer.execute("INSERT INTO gainsay.incident (log, what) VALUES (%s, 'it shrank')", (LOG,))

        assert (await site.http.get("/readyz")).status_code == 503


def test_a_sequencer_with_a_port_tells_what_it_does_and_what_keeps_it(database: Database, tmp_path: Path) -> None:
    stage(database, 1, range(3))
    known = {**environment(database, tmp_path), "GAINSAY_SIGNING_KEY": "http://127.0.0.1:1"}
    with process("service", "sequence", "--port", "0", env=known) as sequencer:
        assert sequencer.stderr is not None
        line = next(line for line in sequencer.stderr if "process.sequencing" in line)
        address = line.partition("address=")[2].strip()
        until(lambda: httpx.get(f"{address}/readyz").status_code == 503)
        held, alive = httpx.get(f"{address}/readyz").json(), httpx.get(f"{address}/livez")
        until(lambda: "gainsay_log_unproven_records 3.0" in httpx.get(f"{address}/metrics").text)

    assert (held["code"], alive.status_code) == ("not_ready", 200)
    assert "the signer at http://127.0.0.1:1" in held["detail"]
