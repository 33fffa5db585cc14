"""What a process that stays writes to standard error: JSON from its first line to its last, with requests' ids."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.end_to_end.processes import Deployment, Process, deployed
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case

TRACE = "0af7651916cd43dd8448eb211c80319c"


def lines(process: Process) -> list[dict[str, Any]]:
    """What it has written; raises for a line that is no JSON."""
    return [json.loads(line) for line in process.told.splitlines()]


def of(process: Process, event: str) -> list[dict[str, Any]]:
    """Its lines of one event."""
    return [line for line in lines(process) if line["event"] == event]


def into_a_file(deployment: Deployment, *words: str, **variables: str) -> Process:
    """A process whose log goes where it is no terminal, with nothing said of its form."""
    deployment._environment.pop("GAINSAY_LOG_FORMAT", None)
    return deployment.start(*words, **variables)


async def test_every_line_of_a_process_is_json_with_the_ids_of_its_request(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment:
        serve = into_a_file(deployment, "serve", "--port", "0", GAINSAY_DRAIN_S="0")
        address = await serve.says(r'"address":"(http[^"]+)"')
        headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "request-id": "req-of-ours", "prefer": "wait=60"}
        async with httpx.AsyncClient(base_url=address, timeout=90) as client:
            answer = await client.post("/v1/debates?view=full", json=a_case(), headers=headers)
            await client.post("/v1/debates", content=b"{", headers={"content-type": "application/json"})
        serve.send(signal.SIGTERM)
        assert await serve.ends() == 0

        assert answer.status_code == 200
        ended = answer.json()
        events = [line["event"] for line in lines(serve)]
        assert events[0].startswith("process.")
        assert events[-1] == "process.stopped"
        assert {"worker.started", "process.serving", "process.draining"} <= set(events)
        request, refused = of(serve, "http.request")[:2]
        assert (request["request"], request["trace_id"], request["tenant"]) == ("req-of-ours", TRACE, "default")
        assert (request["status"], request["route"]) == (200, "/v1/debates")
        assert request["debate"] == ended["debateId"]
        assert request["span_id"] in answer.headers["traceresponse"]
        assert refused["status"] == 400
        (end,) = of(serve, "debate.ended")
        assert (end["debate"], end["tenant"], end["status"]) == (ended["debateId"], "default", ended["status"])
        question = str(a_case()["question"])
        assert question not in serve.told
        assert all({"time", "level", "message", "service", "version", "pid"} <= set(line) for line in lines(serve))


@pytest.mark.parametrize(
    ("variables", "code"),
    [({"GAINSAY_LEASE_S": "soon"}, "bad_settings"), ({"GAINSAY_LOG_LEVEL": "LOUD"}, "bad_settings")],
)
async def test_a_start_that_is_refused_is_a_line_as_well(
    database: Database, tmp_path: Path, variables: dict[str, str], code: str
) -> None:
    async with deployed(database, tmp_path) as deployment:
        serve = into_a_file(deployment, "serve", "--port", "0", **variables)

        assert await serve.ends() == 2
        (line,) = lines(serve)
        assert (line["event"], line["level"], line["code"]) == ("process.ended_by_error", "error", code)
        assert next(iter(variables)) in line["detail"]


async def test_a_form_that_is_none_is_refused(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment:
        serve = deployment.start("serve", "--port", "0", GAINSAY_LOG_FORMAT="xml")

        assert await serve.ends() == 2
        assert "GAINSAY_LOG_FORMAT must be text or json, found 'xml'" in serve.told
