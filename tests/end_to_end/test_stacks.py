"""SIGUSR1 in each process that stays: where its tasks stand, and nothing of a case that it runs."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import httpx

from service.audit.note import COSIGNATURE, SigningKey
from tests.end_to_end.processes import Deployment, Process
from tests.fixtures.postgres import Database
from tests.fixtures.serving import NO_TLS, SIGNING_KEY, a_case, slow_policy

CANARY = "canary-91c4-that-no-log-may-have"


def witness_key(folder: Path) -> str:
    """The place of a witness's key."""
    path = folder / "witness.key"
    path.write_text(f"{SigningKey.from_seed('witness.example', bytes(32), COSIGNATURE).encode()}\n", "ascii")
    path.chmod(0o600)
    return f"file:{path}"


def lines(process: Process) -> list[dict[str, Any]]:
    """The lines of a dump."""
    found = [json.loads(line) for line in process.told.splitlines()]
    return [line for line in found if line["event"].startswith(("process.stacks", "process.task_", "process.thread_"))]


async def dump(process: Process) -> list[dict[str, Any]]:
    """What a process says of where it stands: all of it, because threads come last.

    SIGHUP comes before, as from what rotates logs: it ends none of them, also where no configuration is read again.
    """
    process.send(signal.SIGHUP)
    process.send(signal.SIGUSR1)
    await process.says(r'"event":"process.thread_stack".*"MainThread"')
    await asyncio.sleep(0.2)
    return lines(process)


async def test_every_process_that_stays_says_where_it_stands_and_nothing_of_a_case(
    database: Database, tmp_path: Path
) -> None:
    house = Deployment(database, tmp_path, GAINSAY_POLICY=str(slow_policy(tmp_path, 20_000)), GAINSAY_LOG_FORMAT="json")
    try:
        server = house.start("serve", "--port", "0", "--no-worker")
        worker, sequencer = house.start("work"), house.start("sequence")
        key = f"file:{tmp_path / 'log.key'}"
        signer = house.start("signer", "--port", "0", "--key", key, "--heads", str(tmp_path / "signed"))
        witness = house.start(
            *("witness", "--port", "0", "--key", witness_key(tmp_path), "--heads", str(tmp_path / "witnessed")),
            *("--log", SIGNING_KEY.public.encode()),
        )
        address = await server.says(r'"address":"(http[^"]+)"')
        case = a_case(question=f"Is the liability capped? {CANARY}", metadata={"note": CANARY})
        case["documents"] = [{"id": "terms", "title": CANARY, "text": f"Clause 1. {CANARY} is the limit."}]
        async with httpx.AsyncClient(base_url=address, verify=NO_TLS) as http:
            debate = (await http.post("/v1/debates", json=case)).json()["debateId"]
            await house.finds("SELECT FROM gainsay.debate_head WHERE state = 'running'")
            await asyncio.sleep(0.5)
            of = {"serve": await dump(server), "work": await dump(worker), "sequence": await dump(sequencer)}
            still = ""
            for _ in range(100):  # a busy machine shows it late, and nothing here ends the debate
                if (still := (await http.get(f"/v1/debates/{debate}")).json()["status"]) == "running":
                    break
                await asyncio.sleep(0.1)
            gateway = house.start("mcp", "--http", "--port", "0", GAINSAY_SERVER=address)
            for process, ready in ((signer, "signing"), (witness, "witnessing"), (gateway, "serving_mcp")):
                await process.says(f'"event":"process.{ready}"')
                of[process.name] = await dump(process)
        told = "".join(process.told for process in (server, worker, sequencer, signer, witness, gateway))
    finally:
        house.end()

    assert CANARY not in told
    assert still == "running", "the processes go on"
    for name, found in of.items():
        assert found, name
        assert found[0]["event"] == "process.stacks", name
        assert found[0]["tasks"] > 0, name
    names = [name for line in of["work"] for name in line.get("names", ())]
    assert f"debate {debate}" in names
    places = [line["at"] for line in of["work"] if f"debate {debate}" in line.get("names", ())]
    assert any("service/running/" in place for at in places for place in at), places
    assert "Sequencer.run" in json.dumps(of["sequence"])
