"""Who runs no debate needs no vendor's key, and who would run one does not begin without it."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from service.cli import exit_codes
from tests.end_to_end.processes import Deployment, deployed, until_ready
from tests.fixtures.policies import policy_file, vendors
from tests.fixtures.postgres import Database
from tests.fixtures.serving import a_case

pytestmark = pytest.mark.no_replay

DEBATES = "SELECT state FROM gainsay.debate_head"
CASE = ("--sample", "contract")
STAKES = ("--task-type", "contract", "--downside", "1000000", "--confidence", "0.5")


def keyless(folder: Path, version: str = "v1") -> str:
    """The path of a policy of two real vendors, whose keys are nowhere."""
    whole = vendors()
    whole["policy"]["version"] = version
    for name in ("openai", "anthropic"):
        whole["providers"][name]["key"] = f"file:{folder}/no-such-key"
    return str(policy_file(folder, **whole))


async def refused_for_the_key(deployment: Deployment, *words: str) -> None:
    """A command ends at once, and names the key that it lacks."""
    process = deployment.start(*words)
    assert await process.ends() == exit_codes.USAGE, process.told
    assert "no-such-key" in process.told
    assert "providers." in process.told


async def test_an_api_without_a_worker_takes_cases_and_a_changed_policy_without_a_key(
    database: Database, tmp_path: Path
) -> None:
    variables = {"GAINSAY_POLICY": keyless(tmp_path), "GAINSAY_RELOAD_S": "0.2"}
    async with deployed(database, tmp_path, **variables) as deployment:
        api = deployment.start("serve", "--port", "0", "--no-worker")
        address = await api.address()
        await until_ready(address)
        async with httpx.AsyncClient(base_url=address, timeout=60) as http:
            posted = await http.post("/v1/debates", json=a_case())
            keyless(tmp_path, "v2")
            await api.says("a new configuration is in force.*v2")
            policy = (await http.get("/v1/policy")).json()
        api.send(signal.SIGTERM)

        assert posted.status_code == 202, posted.text
        assert policy["version"] == "v2"
        assert deployment.ask(DEBATES) == [("queued",)]


async def test_what_runs_debates_does_not_start_without_a_key_and_records_no_case(
    database: Database, tmp_path: Path
) -> None:
    async with deployed(database, tmp_path, GAINSAY_POLICY=keyless(tmp_path)) as deployment:
        await refused_for_the_key(deployment, "serve", "--port", "0")
        await refused_for_the_key(deployment, "work")
        await refused_for_the_key(deployment, "review", *CASE)

        assert deployment.ask(DEBATES) == []


@pytest.mark.parametrize("words", [("list",), ("gate", *STAKES), ("quote", *CASE), ("audit", "check")])
async def test_commands_that_ask_no_vendor_need_no_key(
    database: Database, tmp_path: Path, words: tuple[str, ...]
) -> None:
    async with deployed(database, tmp_path, GAINSAY_POLICY=keyless(tmp_path)) as deployment:
        process = deployment.start(*words)
        ended = await process.ends()

    assert "no-such-key" not in process.told, process.told
    assert ended in (exit_codes.DONE, exit_codes.NEGATIVE), process.told
