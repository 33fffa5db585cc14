"""``gainsay mcp`` as a process: an agent on standard input and output, and what a gateway refuses to be."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from service.cli import main
from service.cli.mcp.wire import LINE_MAX, fault_of
from tests.end_to_end.processes import Deployment, deployed
from tests.fixtures.agents import ERAS, HANDSHAKE, Steps, agent, fault, found, local_agent
from tests.fixtures.hostile_servers import lasting
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import SIGNING_KEY, a_case, a_declined_case, slow_policy
from tests.fixtures.waiting import within

pytestmark = pytest.mark.long

ENDED = "SELECT debate FROM gainsay.debate_head WHERE state NOT IN ('queued', 'running')"
RELEASED = "SELECT lease_until < clock_timestamp() FROM gainsay.debate_head WHERE state = 'running'"
ARRIVALS = (
    "SELECT convert_from(body, 'UTF8')::jsonb -> 'arrival' FROM gainsay.payload "
    'WHERE body LIKE \'%"kind":"case.received"%\'::bytea ORDER BY debate'
)
STATES = "SELECT state FROM gainsay.debate_head"


@asynccontextmanager
async def speaking(deployment: Deployment, *words: str, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process to whose standard input a test writes lines."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "service", "mcp", *words),
        env={**deployment.environment, **variables},
        cwd=repository(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 26,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def send(process: asyncio.subprocess.Process, message: dict[str, Any] | bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
    await process.stdin.drain()


async def receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """The next line, which has to be a message."""
    assert process.stdout is not None
    line = await within(60, process.stdout.readline())
    message: dict[str, Any] = json.loads(line)
    assert message["jsonrpc"] == "2.0"
    return message


async def begin(process: asyncio.subprocess.Process) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    await send(process, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert (await receive(process))["result"]["serverInfo"]["name"] == "gainsay"
    await send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": number}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.parametrize("mode", ERAS)
async def test_an_agent_reviews_on_the_database_of_its_machine(database: Database, tmp_path: Path, mode: str) -> None:
    steps = Steps()
    async with deployed(database, tmp_path) as deployment:
        with (tmp_path / "stderr").open("w+") as errors:
            async with local_agent(errors, mode=mode, **deployment.variables) as client:
                assert (await client.list_tools()).tools
                told = found(await client.call_tool("review", a_case(), progress_callback=steps))
                looked = found(await client.call_tool("audit_lookup", {"debateId": told["debateId"]}))["debate"]
                quoted = found(await client.call_tool("quote", a_case()))
                gate = found(await client.call_tool("gate", {"taskType": "contract", "estimatedDownside": 1}))
                wrong = fault(await client.call_tool("quote", {"question": "?"}))
            errors.seek(0)
            assert errors.read() == ""

    assert told["status"] == "completed"
    assert told["links"]["show"] == f"gainsay show {told['debateId']}"
    assert looked["askedBy"]["via"] == "keyboard"
    assert looked["verification"]["steps"][0]["state"] == "OK"
    assert quoted["startable"] is True
    assert gate["debate"] is False
    assert wrong["code"] == "wrong_shape"
    assert [message for _, message in steps.heard][-1] == "the debate is over: completed"


async def test_a_key_that_the_operator_pinned_makes_the_signature_checkable(database: Database, tmp_path: Path) -> None:
    pins = tmp_path / "pins.toml"
    row = '[[audit.keys]]\nkey = "{}"\nuse = "log"\nvouched_by = "a test"\n'
    pins.write_text(row.format(SIGNING_KEY.public.encode()), "utf-8")
    async with deployed(database, tmp_path) as deployment:
        with (tmp_path / "stderr").open("w+") as errors:
            async with local_agent(errors, "--keys", str(pins), **deployment.variables) as client:
                debate = found(await client.call_tool("review", a_declined_case()))["debateId"]
                told = found(await client.call_tool("audit_lookup", {"debateId": debate}))["debate"]

    states = {step["name"]: step["state"] for step in told["verification"]["steps"]}
    assert states["signature"] == "OK"
    assert "pinned" in told["verification"]["trust"]
    assert told["head"]["namedKey"] == SIGNING_KEY.public.encode()


@pytest.mark.parametrize("mode", ERAS)
async def test_a_cancelled_call_aborts_and_an_agent_that_leaves_does_not(
    database: Database, tmp_path: Path, mode: str
) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=300))
    cancelled, left = Steps(), Steps()
    async with deployed(database, tmp_path, GAINSAY_POLICY=policy) as deployment:
        with (tmp_path / "stderr").open("w+") as errors:
            async with local_agent(errors, mode=mode, **deployment.variables) as client:
                reviewing = asyncio.create_task(client.call_tool("review", a_case(), progress_callback=cancelled))
                await cancelled.until("proposer is asked")
                reviewing.cancel()
                await asyncio.wait({reviewing})
                await deployment.finds(ENDED)
                aborted = found(await client.call_tool("audit_lookup", {"debateId": cancelled.debate}))["debate"]
                leaving = asyncio.create_task(client.session.call_tool("review", a_case(), progress_callback=left))
                await left.until("proposer is asked")
            leaving.cancel()
            await asyncio.wait({leaving})
        states = [state for (state,) in deployment.ask(STATES)]
        assert aborted["status"] == "aborted"
        assert "aborted" in states
        with (tmp_path / "stderr2").open("w+") as errors:
            async with local_agent(errors, mode=mode, **deployment.variables) as client:
                await deployment.finds(ENDED, least=2)  # the next worker has taken it
                told = found(await client.call_tool("audit_lookup", {"debateId": left.debate, "verify": False}))
    assert told["debate"]["status"] == "completed"


async def test_a_bad_line_is_answered_and_the_next_one_is_served(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment, speaking(deployment) as process:
        await begin(process)
        for line, code in (
            (b"{\n", -32700),
            (b"\xff\xfe\n", -32700),
            (b"[]\n", -32600),
            (b'{"jsonrpc":"2.0"}\n', -32600),
            (b"[" * 200_000 + b"\n", -32700),
            (b'"' + b"x" * (LINE_MAX + 10) + b'"\n', -32600),
        ):
            await send(process, line)
            answer = await receive(process)
            assert (answer["id"], answer["error"]["code"]) == (None, code), line[:20]
        twice = json.dumps(call(5, "gate", {"taskType": "contract"})).replace(
            '"taskType"', '"taskType": "x", "taskType"'
        )
        for text, number in ((twice, 5), (twice.replace('"contract"', "NaN"), None)):
            await send(process, text.encode() + b"\n")
            answer = await receive(process)
            assert (answer["id"], "error" in answer) == (number, True)
        await send(process, b"\n")
        await send(process, call(1, "gate", {"taskType": "contract", "estimatedDownside": 1}))
        assert (await receive(process))["result"]["structuredContent"]["debate"] is False
        await send(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/nonsense"})
        assert (await receive(process))["error"]["code"] == -32601


async def test_the_end_of_input_and_a_signal_end_the_process_and_release_its_debate(
    database: Database, tmp_path: Path
) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=400))
    async with deployed(database, tmp_path, GAINSAY_POLICY=policy) as deployment:
        async with speaking(deployment) as process:
            await begin(process)
            await send(process, call(1, "review", a_case()))
            while "proposer is asked" not in str(message := await receive(process)):
                assert message["method"] == "notifications/progress"
            process.send_signal(signal.SIGTERM)
            while "id" not in (message := await receive(process)):
                pass
            assert json.loads(message["result"]["content"][0]["text"])["error"]["code"] == "stopping"
            assert process.stdout is not None
            assert await process.stdout.read() == b""
            assert await within(60, process.wait()) == 0
        assert deployment.ask(RELEASED) == [(True,)]
        async with speaking(deployment) as process:
            assert process.stdin is not None
            await begin(process)
            await deployment.finds(ENDED)
            process.stdin.close()
            assert await within(60, process.wait()) == 0


async def test_an_agent_that_reads_nothing_holds_up_no_debate(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment, speaking(deployment) as process:
        await begin(process)
        for number in range(200):
            await send(process, {"jsonrpc": "2.0", "id": 1_000 + number, "method": "tools/list"})
        await send(process, call(1, "review", a_case()))
        await deployment.finds(ENDED)


def in_trace(number: int, tool: str, arguments: dict[str, Any], **meta: Any) -> dict[str, Any]:
    asked = call(number, tool, arguments)
    asked["params"]["_meta"] |= meta
    return asked


@pytest.mark.parametrize("served", [False, True])
async def test_a_case_is_recorded_in_the_trace_of_the_agents_call(
    database: Database, tmp_path: Path, served: bool
) -> None:
    trace, other = uuid4().hex, uuid4().hex
    given: list[dict[str, Any]] = [
        {"traceparent": f"00-{trace}-00f067aa0ba902b7-01", "tracestate": "rojo=1"},
        {},
        {"traceparent": f"00-{other}-00f067aa0ba902b7"},
        {"traceparent": [f"00-{other}-00f067aa0ba902b7-01"]},
        {"traceparent": f"00-{other}-00f067aa0ba902b7-01", "tracestate": 7},
    ]
    async with deployed(database, tmp_path) as deployment:
        words = ("--server", await deployment.start("serve", "--port", "0").address()) if served else ()
        async with speaking(deployment, *words) as process:
            await begin(process)
            for number, meta in enumerate(given, start=1):
                await send(process, in_trace(number, "review", a_declined_case(), **meta))
                while (said := await receive(process)).get("id") != number:  # progress comes before it
                    continue
                assert said["result"]["structuredContent"]["status"] == "declined"
        arrivals = [found for (found,) in deployment.ask(ARRIVALS)]

    assert arrivals == [{"trace": trace}, None, None, None, {"trace": other}]


async def test_before_a_service_all_calls_share_connections_and_each_has_its_own_trace(tmp_path: Path) -> None:
    traces = [f"00-{uuid4().hex}-00f067aa0ba902b7-01" for _ in range(3)]
    metas: list[Any] = [{"traceparent": parent, "tracestate": "rojo=1"} for parent in traces]
    asked = {"taskType": "contract", "estimatedDownside": 1}
    async with lasting({}) as server:
        with (tmp_path / "stderr").open("w+") as errors:
            async with local_agent(errors, "--server", server.url, GAINSAY_DATA_DIR=str(tmp_path)) as client:
                reached, connections = len(server.seen), server.connections
                for meta in metas:
                    await client.call_tool("gate", asked, meta=meta)
                await client.call_tool("gate", asked)

    *traced, last = (each.headers for each in server.seen[reached:])
    assert server.connections == connections + 1
    assert [each["traceparent"][:35] for each in traced] == [parent[:35] for parent in traces]
    assert {each["tracestate"] for each in traced} == {"rojo=1"}
    assert not {"traceparent", "tracestate"} & last.keys()


async def test_before_a_service_the_agent_is_the_caller_of_its_token(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment:
        address = await deployment.start("serve", "--port", "0").address()
        with (tmp_path / "stderr").open("w+") as errors:
            async with local_agent(errors, "--server", address, **deployment.variables) as client:
                told = found(await client.call_tool("review", a_case()))
        assert told["links"]["reportURL"] == f"{address}/v1/debates/{told['debateId']}/report"
        async with speaking(deployment, "--server", "http://127.0.0.1:1") as process:
            out, err = await process.communicate()
        assert (process.returncode, out) == (3, b"")
        assert b"gainsay: unreachable: " in err


async def test_a_gateway_on_a_database_answers_this_machine_alone(database: Database, tmp_path: Path) -> None:
    async with deployed(database, tmp_path) as deployment:
        process = deployment.start("mcp", "--http", "--port", "0")
        url = await process.says(r"serving MCP on (http\S+) for the database of this machine")
        async with agent(url, None) as client:
            told = found(await client.call_tool("review", a_case()))
        assert told["status"] == "completed"
        async with httpx.AsyncClient() as http:
            foreign = await http.post(url, json={}, headers={"host": "evil.example"})
            page = await http.post(url, json={}, headers={"origin": "https://evil.example"})
        assert (foreign.status_code, page.status_code) == (421, 403)
        async with agent(url, None, HANDSHAKE) as client:  # its session has a stream that it listens on
            await client.call_tool("find", {})
            process.send(signal.SIGTERM)
            assert await process.ends() == 0
        assert "ERROR" not in process.told


def test_a_gateway_that_would_answer_strangers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path))
    for name in ("GAINSAY_SERVER", "GAINSAY_DATABASE_URL", "GAINSAY_IDENTITY"):
        monkeypatch.delenv(name, raising=False)

    assert main(["mcp", "--http", "--host", "0.0.0.0"]) == 2
    assert "this machine alone" in capfd.readouterr().err
    assert main(["mcp", "--http", "--allowed-host", "mcp.example"]) == 2
    assert "this machine alone" in capfd.readouterr().err
    assert main(["mcp", "--http", "--host", "0.0.0.0", "--server", "https://gainsay.example"]) == 2
    assert "--allowed-host" in capfd.readouterr().err
    identity = tmp_path / "identity.toml"
    identity.write_text("[keys]\n", "utf-8")
    monkeypatch.setenv("GAINSAY_IDENTITY", str(identity))
    assert main(["mcp", "--http"]) == 2
    assert "GAINSAY_IDENTITY is set" in capfd.readouterr().err


def test_a_line_that_is_a_message_has_no_fault() -> None:
    assert fault_of(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n') is None
    assert fault_of(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n') is None
