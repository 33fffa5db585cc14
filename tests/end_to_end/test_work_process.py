"""A worker as a process of its own: what machines ask of it, and how it says that it is stopping."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx

from service.debate.entries import kind
from service.store.stored_debate import read_head
from tests.end_to_end.processes import deployed
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.serving import slow_policy


async def test_a_worker_tells_machines_how_it_is_and_is_not_ready_while_its_calls_land(
    database: Database, tmp_path: Path
) -> None:
    policy = slow_policy(tmp_path, 700)
    async with (
        bench(database.service_url) as desk,
        deployed(database, tmp_path, GAINSAY_POLICY=str(policy)) as processes,
        httpx.AsyncClient() as http,
    ):
        worker = processes.start("work", "--port", "0")
        address = await worker.says(r"taking debates from the queue .*address=(http\S+)")
        assert (await http.get(f"{address}/readyz")).status_code == 200
        assert (await http.get(f"{address}/livez")).status_code == 200
        debate = await desk.submit()

        told = ""
        asked = 'gainsay_entries_recorded_total{kind="turn.asked"} 1.0'
        for _ in range(1_000):
            if asked in (told := (await http.get(f"{address}/metrics")).text):
                break
            await asyncio.sleep(0.02)
        assert 'gainsay_debates_taken_total{how="new"} 1.0' in told
        assert "gainsay_debates_running 1.0" in told
        assert "gainsay_debates_queued 0.0" in told

        worker.send(signal.SIGTERM)
        answer = await http.get(f"{address}/readyz")
        for _ in range(2_000):
            if answer.status_code != 200:
                break
            await asyncio.sleep(0.005)
            answer = await http.get(f"{address}/readyz")

        assert answer.status_code == 503
        assert "the worker is stopping" in answer.json()["detail"]
        assert await worker.ends() == 0
        said = [line.split(" INFO ")[1] for line in worker.told.splitlines() if " INFO " in line]
        assert [line for line in said if "stop" in line or "no more" in line] == [
            "stopping: SIGTERM event=process.stopping signal=SIGTERM",
            "claiming no more debates event=worker.draining running=1 grace_s=20.0",
            "the worker has stopped event=worker.stopped handed_back=1",
            "stopped event=process.stopped",
        ]
        assert "/readyz" not in worker.told
        entries = await desk.entries(debate)
        assert [kind(entry) for entry in entries if kind(entry).startswith("turn.")] == ["turn.asked", "turn.spoke"]
        head = await read_head(desk.database, debate, "default")
        assert (head["state"], head["held"], head["leased"]) == ("running", 0, False)
