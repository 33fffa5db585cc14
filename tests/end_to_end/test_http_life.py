"""What happens over HTTP while things change: aborts, shutdown, a database that goes away, faults."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psycopg
import pytest

from service import telemetry
from service.app import App, open_app
from service.errors import GainsayError
from service.observing import labelled
from service.prompts import Prompts
from service.reviews import Reviews
from service.store import pool
from service.store.checkpoints import CurrentCheckpoints
from service.web.server import listening
from service.web.socket_file import CannotListen
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.serving import Event, Served, a_case, events_of, served, settings_for, slow_policy
from tests.fixtures.waiting import within

ROOT = Path(__file__).resolve().parents[2]


async def until(stream: AsyncIterator[str], name: str) -> list[str]:
    """The lines of a stream up to the end of the first event of a name."""
    lines: list[str] = []
    async for line in stream:
        lines.append(line)
        if not line and f"event: {name}" in lines[-4:]:
            return lines
    raise AssertionError(f"the stream ended without {name!r}: {lines[-5:]}")


# -- aborts


async def test_an_abort_in_the_middle_ends_the_debate_without_asking_anyone_else(
    database: Database, tmp_path: Path
) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=400))
    async with served(database.service_url, GAINSAY_POLICY=policy) as site:
        debate = (await site.submit())["debateId"]
        path = f"/v1/debates/{debate}"
        async with site.http.stream("GET", f"{path}/events") as stream:
            await until(stream.aiter_lines(), "round")
        first = (await site.http.post(f"{path}/abort", json={"reason": "the deal is off"})).json()
        events = await site.events(debate)
        again = (await site.http.post(f"{path}/abort")).json()
        result = (await site.http.get(f"{path}?view=full")).json()

    assert first["status"] == "aborted"
    assert float(first["spentUSD"]) > 0
    assert (events[-1].name, events[-1].data["status"]) == ("final", "aborted")
    stops = [event.data for event in events if event.name == "notice" and event.data["notice"] == "stopped"]
    assert ["the deal is off" in stop["reason"] + stop["detail"] for stop in stops] == [True]
    after = [event.name for event in events[events.index(next(e for e in events if "deal is off" in e.text)) :]]
    assert "asked" not in after
    assert (again["status"], again["stillHeldUSD"]) == ("aborted", "0.00")
    assert again["spentUSD"] == result["overallCost"]["spentUSD"]
    assert float(first["spentUSD"]) + float(first["stillHeldUSD"]) >= float(again["spentUSD"])


async def test_an_abort_that_comes_too_late_changes_nothing(database: Database) -> None:
    async with served(database.service_url) as site:
        before = await site.finished()
        path = f"/v1/debates/{before['debateId']}"

        answer = await site.http.post(f"{path}/abort")

        assert (answer.status_code, answer.json()["status"]) == (200, before["status"])
        assert answer.json()["spentUSD"] == before["overallCost"]["spentUSD"]
        assert (await site.http.get(f"{path}?view=full")).json() == before


async def test_a_queued_debate_that_is_aborted_is_over_at_once_without_any_worker_and_costs_nothing(
    database: Database,
) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        answers = await asyncio.gather(*(site.http.post(f"/v1/debates/{debate}/abort") for _ in range(5)))
        (*_, final) = await site.events(debate)
        entries = (await site.http.get(f"/v1/debates/{debate}")).json()["entries"]

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["status"] for answer in answers} == {"aborted"}
    assert {answer.json()["stillHeldUSD"] for answer in answers} == {"0.00"}
    assert entries == 5, "five aborts are one stop and one conclusion"
    assert (final.data["status"], final.data["decision"]["cost"]["spentUSD"]) == ("aborted", "0.00")


# -- listeners


async def test_a_body_is_sent_without_waiting_for_the_client_to_acknowledge_the_headers(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket has TCP_NODELAY, which its connections inherit: without it each answer takes 40 ms on a kept one."""
    made = []

    def create_server(*given: Any, **named: Any) -> socket.socket:
        made.append(create(*given, **named))
        return made[-1]

    create = socket.create_server
    monkeypatch.setattr(socket, "create_server", create_server)

    async with served(database.service_url, work=False):
        flags = [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in made]

    assert flags
    assert all(flags)


async def test_a_silent_stream_says_that_it_is_still_there(database: Database) -> None:
    async with served(database.service_url, work=False, heartbeat_s=0.1) as site:
        debate = (await site.submit())["debateId"]

        async with site.http.stream("GET", f"/v1/debates/{debate}/events") as stream:
            comments = [line async for line in first(stream.aiter_lines(), 3, lambda line: line.startswith(":"))]

    assert comments == [": still here"] * 3


async def first(lines: AsyncIterator[str], count: int, wanted: Any) -> AsyncIterator[str]:
    async for line in lines:
        if wanted(line):
            yield line
            count -= 1
        if not count:
            return


async def test_a_listener_that_leaves_changes_nothing_in_the_debate(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, GAINSAY_POLICY=str(slow_policy(tmp_path, latency_ms=100))) as site:
        debate = (await site.submit())["debateId"]
        async with site.http.stream("GET", f"/v1/debates/{debate}/events") as stream:
            seen = events_of("\n".join(await until(stream.aiter_lines(), "asked")))

        rest = await site.events(debate, after=seen[-1].id)

        assert rest[-1].data["status"] == "completed"
        assert await settled("gainsay_http_event_streams") == 0
        assert [*seen, *rest] == await site.events(debate)
        asked = [event.data["turn"] for event in (*seen, *rest) if event.name == "asked"]
        assert len(asked) == len(set(asked)), "no turn was asked again"


async def settled(name: str) -> float | None:
    """A gauge, once it is 0 or twenty seconds have passed: a server hears a moment later that a listener has left."""
    for _ in range(400):
        if not (value := labelled.REGISTRY.get_sample_value(name)):
            return value
        await asyncio.sleep(0.05)
    return labelled.REGISTRY.get_sample_value(name)


# -- stopping


async def test_a_server_that_stops_ends_its_streams_and_answers_waiting_callers(database: Database) -> None:
    settings = settings_for(database.service_url)
    async with open_app(settings, database.service_url, pool=4) as app, httpx.AsyncClient(timeout=60) as http:
        async with listening(app) as http.base_url:
            debate = (await http.post("/v1/debates", json=a_case())).json()["debateId"]
            listener = asyncio.create_task(http.get(f"/v1/debates/{debate}/events"))
            waiter = asyncio.create_task(http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"}))
            await asyncio.sleep(0.5)
            stopped_at = time.monotonic()
        took = time.monotonic() - stopped_at
        listened, waited = await asyncio.gather(listener, waiter)

    assert took < 5
    assert [event.name for event in events_of(listened.text)] == ["gate", "started"]
    assert listened.text.endswith("retry: 1000\n: stopping; connect again with Last-Event-ID\n\n")
    assert (waited.status_code, waited.headers["preference-applied"]) == (202, "wait=60")


@asynccontextmanager
async def child(database: Database, policy: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server process and its address."""
    module = "tests.end_to_end.http_child"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", module, database.service_url, str(policy),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        address = await within(30, process.stdout.readline())
        yield process, address.decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_process_in_time_with_a_stream_open_and_nothing_lost(
    database: Database, tmp_path: Path, number: signal.Signals
) -> None:
    policy = slow_policy(tmp_path, latency_ms=150)
    async with child(database, policy) as (process, address), httpx.AsyncClient(base_url=address, timeout=60) as http:
        debate = (await http.post("/v1/debates", json=a_case())).json()["debateId"]
        async with http.stream("GET", f"/v1/debates/{debate}/events") as stream:
            lines = stream.aiter_lines()
            seen = await until(lines, "round")
            sent_at = time.monotonic()
            process.send_signal(number)
            rest = [line async for line in lines]
            ended = time.monotonic() - sent_at
        code = await within(15, process.wait())
        exited = time.monotonic() - sent_at
    async with served(database.service_url) as site:
        before = events_of("\n".join([*seen, *rest]))
        after = await site.events(debate, after=before[-1].id)
        whole = await site.events(debate)

    assert code == 0
    assert ended < 3, "the stream ends at once, whatever the worker still has to do"
    assert exited < 12
    assert rest[-3:] == ["retry: 1000", ": stopping; connect again with Last-Event-ID", ""]
    both = [*before, *after]
    assert both == whole
    assert both[-1].data["status"] == "completed"


async def test_an_address_that_is_taken_is_said_to_be(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        port = httpx.URL(site.url).port
        assert port

        with pytest.raises(CannotListen, match=rf"127\.0\.0\.1:{port}.*in use.*--port"):
            async with listening(site.app, port=port):
                pass


# -- what goes wrong


@contextmanager
def away(cluster: Cluster, database: Database) -> Iterator[None]:
    """The database lets nobody in, and everybody who was in is put out."""
    cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    cluster.admin.execute(query, [database.name])
    try:
        yield
    finally:
        cluster.admin.execute(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS true')


def give_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is away is tried for no longer than a second."""
    for name, seconds in (("TIMEOUT_S", 1.0), ("AWAY_S", 0.3), ("RECONNECT_S", 0.3)):
        monkeypatch.setattr(pool, name, seconds)


async def test_a_database_that_is_away_is_an_outage_that_says_so_and_leaves_nothing_behind(
    database: Database, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(monkeypatch)
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        listener = asyncio.create_task(site.http.get(f"/v1/debates/{debate}/events"))
        await asyncio.sleep(0.3)
        with away(cluster, database):
            posted = await site.http.post("/v1/debates", json=a_case())
            read = await site.http.get(f"/v1/debates/{debate}")
            ready = await site.http.get("/readyz")
            live = await site.http.get("/livez")
            decided = await site.http.post("/v1/gate", json={"taskType": "contract", "estimatedDownside": 1})
            cut = (await listener).text
        assert [tick async for tick in ticks(150, until_ready=site)]
        back = await site.http.get("/readyz")
        debates = (await site.http.get("/v1/debates")).json()["debates"]

    for answer, code in ((posted, "audit_unavailable"), (read, "store_unavailable"), (ready, "not_ready")):
        assert (answer.status_code, answer.json()["code"]) == (503, code)
        assert int(answer.headers["retry-after"]) >= 1
    assert (live.status_code, decided.status_code) == (200, 200)
    assert cut.endswith(": interrupted; connect again with Last-Event-ID\n\n")
    assert back.status_code == 200
    assert [found["debateId"] for found in debates] == [debate]


async def test_callers_are_told_no_names_from_inside_and_operators_each_change_once(
    database: Database, cluster: Cluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(monkeypatch)
    before = telemetry.AUDIT_FAILURES._value.get()
    answers = []
    with caplog.at_level(logging.INFO, logger="gainsay"):
        async with served(database.service_url, work=False, sequence=False) as site:
            debate = (await site.submit())["debateId"]
            with away(cluster, database):
                for _ in range(3):
                    answers.append(await site.http.get(f"/v1/debates/{debate}"))
                    answers.append(await site.http.post("/v1/debates", json=a_case()))
                    answers.append(await site.http.get("/readyz"))
            assert [tick async for tick in ticks(150, until_ready=site)]

    assert {answer.status_code for answer in answers} == {503}
    assert {answers[0].json()["detail"]} == {"the database does not answer; send the request again"}
    assert not [answer.text for answer in answers if "Error" in answer.text or "'" in answer.text]
    assert telemetry.AUDIT_FAILURES._value.get() == before + 3
    told = [record.getMessage() for record in caplog.records]
    assert [line for line in told if line.startswith(("not ready:", "ready again"))][1:] == ["ready again"]
    logins = ["GAINSAY_API_URL", "GAINSAY_DATABASE_URL"]
    for change in ("the database answers again", "the database does not answer: connection"):
        found = [record.__dict__["at"] for record in caplog.records if record.getMessage().startswith(change)]
        assert sorted(found) == logins
    assert [line for line in told if "did not confirm 'records'" in line]
    assert not [line for line in told if "/readyz" in line]


async def test_a_case_is_not_taken_while_its_log_cannot_be_looked_up(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("REVOKE SELECT ON gainsay.log_epoch FROM gainsay_api")
        posted = await site.http.post("/v1/debates", json=a_case())

    assert (posted.status_code, posted.json()["code"]) == (503, "audit_unavailable")


async def test_a_recorded_case_is_accepted_also_when_the_database_goes_away_while_its_caller_waits(
    database: Database, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(monkeypatch)
    async with served(database.service_url, work=False) as site:
        waiter = asyncio.create_task(site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=30"}))
        for _ in range(100):
            if (await site.http.get("/v1/debates")).json()["debates"]:
                break
            await asyncio.sleep(0.05)
        with away(cluster, database):
            answer = await waiter

    assert answer.status_code == 202, "an error would make the caller send the case again"
    assert answer.json()["status"] == "queued"


async def test_a_caller_who_has_waited_is_told_that_the_debate_is_running(database: Database, tmp_path: Path) -> None:
    policy = slow_policy(tmp_path, 5_000)
    async with served(database.service_url, GAINSAY_POLICY=str(policy), GAINSAY_GRACE_S="0") as site:
        answer = await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=1"})

    assert (answer.status_code, answer.json()["status"]) == (202, "running")


async def test_an_event_that_is_not_there_yet_has_been_seen_by_nobody(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit())["debateId"]
        answer = await site.http.get(f"/v1/debates/{debate}/events", headers={"last-event-id": "9999"})

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert "its last entry is 2" in answer.json()["detail"]


async def ticks(count: int, until_ready: Served) -> AsyncIterator[int]:
    """At most so many tenths of a second, fewer when the service is ready."""
    for n in range(count):
        await asyncio.sleep(0.1)
        yield n
        if (await until_ready.http.get("/readyz")).status_code == 200:
            return


async def test_a_prompt_that_is_not_as_pinned_turns_readiness_off(database: Database) -> None:
    async with open_app(settings_for(database.service_url), database.service_url, pool=2) as app:
        drifted = msgspec.structs.replace(app, settings=msgspec.structs.replace(app.settings, prompts_pin="00" * 32))
        async with listening(drifted) as address, httpx.AsyncClient(base_url=address) as http:
            answer = await http.get("/readyz")

    assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
    assert "GAINSAY_PROMPTS_PIN" in answer.json()["detail"]


class Faulty:
    """A service whose own state cannot be told: what nobody foresaw."""

    def __init__(self, app: App, error: Exception) -> None:
        self.reviews: Reviews = app.reviews
        self.prompts: Prompts = app.prompts
        self.heads: CurrentCheckpoints = app.heads
        self.serving, self.database, self.logs = app.serving, app.database, app.logs
        self.leaving, self.readings = app.leaving, app.readings
        self.authenticator, self.management = app.authenticator, app.management
        self.endpoints, self.settings, self.current = app.endpoints, app.settings, app.current
        self.evaluations, self.evaluation_feeds = app.evaluations, app.evaluation_feeds
        self._error = error

    async def troubles(self) -> list[str]:
        raise self._error


async def test_an_error_that_nobody_foresaw_is_logged_with_the_request_and_not_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(settings_for(database.service_url), database.service_url, pool=2) as app:
        faulty = Faulty(app, ValueError("the secret is 4711"))
        async with listening(faulty) as address, httpx.AsyncClient(base_url=address) as http:
            answer = await http.get("/readyz", headers={"request-id": "r-1"})

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["code"], answer.json()["requestId"]) == ("internal", "r-1")
    assert "4711" not in answer.text
    (record,) = [r for r in caplog.records if r.name == "gainsay" and r.levelno == logging.ERROR]
    assert record.__dict__["request"] == "r-1"
    assert record.exc_info
    assert "4711" in str(record.exc_info[1])


async def test_an_error_of_ours_inside_is_answered_with_its_code(database: Database) -> None:
    async with open_app(settings_for(database.service_url), database.service_url, pool=2) as app:
        faulty = Faulty(app, GainsayError("the service lost its way", retry_after=3))
        async with listening(faulty) as address, httpx.AsyncClient(base_url=address) as http:
            answer = await http.get("/readyz")

    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["retry-after"] == "3"


async def test_the_access_log_has_ids_and_never_a_body(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="gainsay"):
        async with served(database.service_url) as site:
            question = "Is the zanzibar clause enforceable?"
            told = await site.finished(a_case(question=question, metadata={"ticket": "zanzibar-1"}))
            await site.http.get(f"/v1/debates/{told['debateId']}?zanzibar=1", headers={"request-id": "r-2"})
            await site.http.get("/zanzibar")

    lines = [record for record in caplog.records if getattr(record, "event", "") == "http.request"]
    last = lines[-2].__dict__
    assert {k: last[k] for k in ("request", "method", "route", "status", "debate")} == {
        "request": "r-2",
        "method": "GET",
        "route": "/v1/debates/{debate}",
        "status": 400,
        "debate": told["debateId"],
    }
    ours = [record for record in caplog.records if record.name.startswith(("gainsay", "uvicorn", "litestar"))]
    assert ours
    assert not [record for record in ours if "zanzibar" in str(record.__dict__)]


def test_an_event_is_read_as_it_was_sent() -> None:
    stream = 'retry: 1000\n\n: still here\n\nid: 1\nevent: gate\ndata: {"a": "b: c"}\n\n'

    assert events_of(stream) == [Event(1, "gate", '{"a": "b: c"}')]
