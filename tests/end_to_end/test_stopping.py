"""What `gainsay serve` does between SIGTERM and its end: it says so, answers what still comes, and hands back."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from service.debate.entries import TurnAsked, TurnSpoke
from tests.end_to_end.processes import Deployment, Process, deployed, until_ready
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.serving import a_case, slow_policy

pytestmark = pytest.mark.no_replay

LONG = "600"
HEADS = "SELECT debate::text, state, epoch, lease_until < clock_timestamp() FROM gainsay.debate_head ORDER BY created"
ASKED = "SELECT debate FROM gainsay.debate_head WHERE held > 0"


async def serving(deployment: Deployment, *words: str) -> tuple[Process, str]:
    """A server that is ready, and its address."""
    process = deployment.start("serve", "--port", "0", *words)
    address = await process.address()
    await until_ready(address)
    return process, address


async def test_after_sigterm_requests_are_answered_for_a_while_and_debates_handed_back_at_once(
    database: Database, tmp_path: Path
) -> None:
    slow = str(slow_policy(tmp_path, latency_ms=400))
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S="3", GAINSAY_POLICY=slow) as deployment:
        process, address = await serving(deployment)
        async with httpx.AsyncClient(base_url=address, timeout=30) as http:
            running = (await http.post("/v1/debates", json=a_case())).json()["debateId"]
            async with http.stream("GET", f"/v1/debates/{running}/events") as stream:
                lines = stream.aiter_lines()
                async for line in lines:
                    if line == "event: asked":
                        break
                waiter = asyncio.create_task(http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"}))
                await deployment.finds(HEADS, 2)

                process.send(signal.SIGTERM)

                rest = [line async for line in lines]
            waited = await waiter
            async with httpx.AsyncClient(base_url=address, timeout=30) as late:
                ready, live = await late.get("/readyz"), await late.get("/livez")
                posted = await late.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"})
                read = await http.get(f"/v1/debates/{running}?view=full")
        status = await process.ends()
        heads = {str(debate): rest for debate, *rest in deployment.ask(HEADS)}
    async with bench(database.service_url) as reader:
        entries = [entry for debate in heads for entry in await reader.entries(debate)]

    assert rest[-3:] == ["retry: 1000", ": stopping; connect again with Last-Event-ID", ""]
    assert (ready.status_code, ready.json()["detail"], live.status_code) == (503, "the service is stopping", 200)
    assert [answer.status_code for answer in (waited, posted, read)] == [202, 202, 200], read.text
    assert {answer.headers["connection"] for answer in (ready, live, posted, read)} == {"close"}
    assert heads[posted.json()["debateId"]][:2] == ["queued", 0], "a process that leaves takes no debate"
    assert [free for _state, _epoch, free in heads.values()] == [True] * 3, "no lease has to run out"
    assert (status, "Traceback" in process.told) == (0, False)
    turns = [entry.turn for entry in entries if isinstance(entry, TurnAsked)]
    assert turns
    assert len(turns) == sum(isinstance(entry, TurnSpoke) for entry in entries), "calls in flight have landed"


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_the_drain_and_breaks_off_what_is_under_way(
    database: Database, tmp_path: Path, second: signal.Signals
) -> None:
    slow = {"GAINSAY_POLICY": str(slow_policy(tmp_path, latency_ms=60_000)), "GAINSAY_GRACE_S": LONG}
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S=LONG, **slow) as deployment:
        process, address = await serving(deployment)
        async with httpx.AsyncClient(base_url=address, timeout=30) as http:
            await http.post("/v1/debates", json=a_case())
            await deployment.finds(ASKED)
            process.send(signal.SIGTERM)
            await until_ready(address, 503)

            process.send(second)

            status = await process.ends()

    assert (status, "Traceback" in process.told) == (0, False)
    assert [row[3] for row in deployment.ask(HEADS)] == [True], "the lease was given back"


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("work",)])
async def test_a_signal_while_the_worker_waits_for_its_calls_breaks_them_off(
    database: Database, tmp_path: Path, words: tuple[str, ...]
) -> None:
    slow = {"GAINSAY_POLICY": str(slow_policy(tmp_path, latency_ms=60_000)), "GAINSAY_GRACE_S": LONG}
    async with bench(database.service_url) as service:
        await service.submit()
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S="0", **slow) as deployment:
        process = deployment.start(*words)
        await deployment.finds(ASKED)
        await process.says("serving on|taking debates")
        process.send(signal.SIGTERM)
        await asyncio.sleep(1.0)  # the socket of the one is closed by now, and the calls of both are waited for
        assert process.runs

        process.send(signal.SIGTERM)

        assert await process.ends() == 0
        assert "Traceback" not in process.told
        assert [row[3] for row in deployment.ask(HEADS)] == [True], "the lease was given back"


async def test_ctrl_c_does_not_drain(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S=LONG) as deployment:
        process, _ = await serving(deployment, "--no-worker", "--no-sequencer")

        process.send(signal.SIGINT)

        assert await process.ends() == 0
