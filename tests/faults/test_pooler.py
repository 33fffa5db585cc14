"""A deployment behind PgBouncer: what works there, what ends its connections, and what does not start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.end_to_end.processes import deployed
from tests.faults.trials import on_trial
from tests.fixtures.poolers import Pooler, pooler
from tests.fixtures.postgres import SEQUENCERS, SERVINGS, Database
from tests.fixtures.serving import Served, served, slow_policy

pytestmark = pytest.mark.no_replay


@pytest.fixture
def front(database: Database) -> Iterator[Pooler]:
    with pooler(database) as made:
        yield made


def behind(front: Pooler, database: Database) -> Database:
    """The database as it is seen through a pooler, also by those who look up its sequencer's address."""
    through = front.in_front(database)
    SEQUENCERS[through.service_url] = through.sequencer_url
    SERVINGS[through.service_url] = through.serving_url
    return through


async def test_processes_behind_a_pooler_of_sessions_take_run_prove_and_abort_debates_together(
    front: Pooler, database: Database, tmp_path: Path
) -> None:
    front.start(pool_mode="session", default_pool_size=40)
    url = behind(front, database).service_url
    policy = str(slow_policy(tmp_path, 100))
    async with (
        served(url, work=False, GAINSAY_POLICY=policy) as api,
        served(url, sequence=False, GAINSAY_POLICY=policy) as worker,
    ):
        await linked(api, worker)
        told = await api.finished()
        heard = [event.name for event in await api.events(told["debateId"])]
        stopped = (await api.submit())["debateId"]
        async with api.http.stream("GET", f"/v1/debates/{stopped}/events") as stream:
            kinds = [line async for line in stream.aiter_lines() if await is_kind(line, api, stopped)]
        ended = (await api.http.get(f"/v1/debates/{stopped}?view=full")).json()

    assert (told["status"], heard[-1]) == ("completed", "final")
    assert (kinds[-1], ended["status"]) == ("event: final", "aborted")


async def linked(*sites: Served) -> None:
    """Wait until all of them hear the news of the others."""
    for _ in range(1_000):
        if all(site.app.hub.linked for site in sites):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("news do not arrive")


async def is_kind(line: str, site: Served, debate: str) -> bool:
    """Whether a line of a stream names an event's kind; the debate is aborted once a turn is asked."""
    if line == "event: asked":
        await site.http.post(f"/v1/debates/{debate}/abort")
    return line.startswith("event: ")


async def test_no_process_starts_behind_a_pooler_of_transactions(
    front: Pooler, database: Database, tmp_path: Path
) -> None:
    front.start(pool_mode="transaction")
    async with deployed(behind(front, database), tmp_path) as deployment:
        worker = deployment.start("work")
        assert await worker.ends() == 3
    assert worker.told.startswith("gainsay: shared_sessions: expected a session for each connection"), worker.told
    assert len(worker.told.splitlines()) == 1


async def test_a_pooler_that_is_killed_and_comes_back(
    front: Pooler, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    front.start(pool_mode="session")
    url = front.in_front(database).service_url
    async with on_trial(url, database.admin_url, tmp_path, monkeypatch, caplog) as under:
        debates = await under.begin()

        front.stop()
        await under.is_refused()
        await under.is_down()

        front.start(pool_mode="session")
        await under.recovers(debates)


async def test_a_pooler_that_cuts_connections_by_its_time_limits(
    front: Pooler, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits = {"server_lifetime": 1, "server_idle_timeout": 1, "client_idle_timeout": 1, "query_timeout": 0.5}
    front.start(pool_mode="session", **limits)
    url = front.in_front(database).service_url
    async with on_trial(url, database.admin_url, tmp_path, monkeypatch, caplog) as under:
        debates = await under.begin()
        with psycopg.connect(database.admin_url) as holder:
            holder.execute("LOCK TABLE gainsay.debate_head")
            await under.until(lambda: "query timeout" in front.log, "nobody is cut off")
        await under.recovers(debates)
