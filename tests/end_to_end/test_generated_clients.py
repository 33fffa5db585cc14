"""Clients that generators make of the served document lose nothing of a case or of an answer."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import msgspec
import pytest
import pytest_asyncio

from service import samples
from service.debate.entries import CaseReceived
from service.identity.caller import LOCAL
from tests.fixtures.npm import packages
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]

PACKAGE = "generated_client"
GENERATE_S = 300
TYPESCRIPT = Path(__file__).parent / "typescript"
STRICTLY = (
    *("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
    *("--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext"),
)
VARIANTS = (None, "personas", "stances", "ballot", "panel", "convergence")
OPTIONS: dict[str, JSON] = {
    "adversarial": {"maxRounds": 2, "minChallengeStrength": 3, "personas": {"critic": "A litigator."}},
    "stances": {
        "debaters": [{"name": "a", "stance": "yes", "role": "A judge."}, {"name": "b", "stance": "no"}],
        "maxRounds": 1,
        "shuffleForJudge": False,
        "outputSchema": {"type": "object", "properties": {"sign": {"type": "boolean"}}, "required": ["sign"]},
        "instructions": "Be brief.",
    },
    "ballot": {
        "debaters": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        "votes": ["sign", "wait"],
        "consensusThreshold": 2,
        "maxRounds": 1,
    },
    "panel": {"debaters": 4, "questionType": "business", "adjudicator": "algorithmic", "maxRounds": 2},
    "convergence": {
        "debaters": 3,
        "convergenceCheck": False,
        "convergenceSimilarity": 0.7,
        "judgeInstructions": "Weigh costs.",
    },
    "auto": {"maxRounds": 1},
}
"""Options of each format, more than any other format knows."""

AS_RECORDED = {"convergence": {**OPTIONS["convergence"], "convergenceSimilarity": "0.7"}}
"""The options of a case as its record has them, where a number is written as a decimal there."""


class Client(NamedTuple):
    """The generated package: its client, its types and its functions by the name of the operation."""

    client: Any
    types: Any
    operation: Callable[[str], Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def document(site: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes((await site.http.get("/openapi.json")).content)
    return path


LINES = dict.fromkeys(("application/jsonl", "application/x-ndjson"), "application/octet-stream")
"""The generator knows no JSON Lines: a file of cases is sent as it is."""


@pytest.fixture(scope="module")
def generated(document: Path) -> Iterator[Client]:
    """The package that openapi-python-client makes, without a warning."""
    if find_spec("openapi_python_client") is None:
        pytest.skip("openapi-python-client is not installed")
    folder = document.parent / "python"
    folder.mkdir()
    config = document.parent / "generator.json"
    config.write_text(json.dumps({"content_type_overrides": LINES}), "utf-8")
    made = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", str(document), "--output-path", str(folder / PACKAGE), "--config", str(config)),
        ],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=GENERATE_S,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "warning" not in (made.stdout + made.stderr).lower()
    sys.path.insert(0, str(folder))
    try:
        yield Client(
            importlib.import_module(PACKAGE),
            importlib.import_module(f"{PACKAGE}.models"),
            lambda name: importlib.import_module(f"{PACKAGE}.api.{name}"),
        )
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


async def run(*command: str | Path, folder: Path) -> str:
    """What a program that ends well prints; the server goes on in this process meanwhile."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(GENERATE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def typed(document: Path, pytestconfig: pytest.Config) -> Path:
    """The program of `typescript/`, checked as strictly as can be against the types of the served document."""
    kept = await asyncio.to_thread(packages, pytestconfig, "openapi-typescript", TYPESCRIPT / "package.json")
    folder = document.parent / "typescript"
    shutil.copytree(TYPESCRIPT, folder)
    (folder / "node_modules").symlink_to(kept / "node_modules")
    programs = folder / "node_modules" / ".bin"
    await run(programs / "openapi-typescript", document, "--output", "schema.d.ts", folder=folder)
    await run(programs / "tsc", *STRICTLY, "client.ts", folder=folder)
    return folder


async def debated(site: Served, generated: Client, case: JSON) -> tuple[Any, JSON]:
    """The result of a case that the generated client sends, as it reads it and as the service sent it."""
    async with generated.client.Client(base_url=site.url) as client:
        answer = await generated.operation("debates.submit_case").asyncio_detailed(
            client=client,
            body=generated.types.CaseRequest.from_dict(case),
            view=generated.types.SubmitCaseView.FULL,
            prefer="wait=60",
            idempotency_key=f'"{uuid4()}"',
        )
    assert answer.status_code == 200, answer.content
    return answer.parsed, (await site.http.get(f"/v1/debates/{answer.parsed.debate_id}?view=full")).json()


def recorded(entry: CaseReceived) -> JSON:
    """The options that a case was recorded with, as they are written."""
    found: JSON = json.loads(msgspec.json.encode(entry.asked))
    return found


async def received(site: Served, debate: str) -> CaseReceived:
    """The case as the record has it."""
    async for line in site.app.reviews.follow(debate, LOCAL):
        if isinstance(line.entry, CaseReceived):
            return line.entry
    raise AssertionError(f"debate {debate} has no case")


_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})")


def told(value: Any) -> Any:
    """A JSON value with its times as instants: a client reads them as such, and may write them in another spelling."""
    if isinstance(value, dict):
        return {name: told(part) for name, part in value.items()}
    if isinstance(value, list):
        return [told(part) for part in value]
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return datetime.fromisoformat(value)
    return value


@pytest.mark.parametrize("format_", OPTIONS)
async def test_a_generated_client_sends_every_option_of_its_format_and_reads_every_member_of_the_result(
    site: Served, generated: Client, format_: str
) -> None:
    case = a_case(options={"format": format_, **OPTIONS[format_]}, costCeilingUSD=2)

    request = generated.types.CaseRequest.from_dict(case)
    result, sent = await debated(site, generated, case)
    entry = await received(site, str(result.debate_id))

    assert type(request.options).__name__ == f"{format_.capitalize()}Request"
    assert request.to_dict() == case
    assert type(result).__name__ == "Result"
    assert told(result.to_dict()) == told(sent)
    assert isinstance(result.debate_id, UUID)
    assert result.created_at == datetime.fromisoformat(sent["createdAt"])
    assert sent["status"] == "completed"
    assert entry.case.format == format_
    assert recorded(entry) == AS_RECORDED.get(format_, OPTIONS[format_])


async def test_types_made_for_typescript_tell_the_formats_apart_and_send_every_option(
    site: Served, typed: Path
) -> None:
    asked = [{"format": format_, **options} for format_, options in OPTIONS.items()]
    written = json.dumps({"request": a_case(costCeilingUSD=2), "options": asked})

    lines = await run("node", "client.js", site.url, written, folder=typed)

    seen = [json.loads(line) for line in lines.splitlines()]
    said = ["3", "yes,no", "2", "business", "Weigh costs.", "1"]
    assert [(each["status"], each["said"]) for each in seen] == [("completed", text) for text in said]
    for format_, each in zip(OPTIONS, seen, strict=True):
        entry = await received(site, each["debate"])
        assert entry.case.format == format_
        assert recorded(entry) == AS_RECORDED.get(format_, OPTIONS[format_])


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_generated_client_loses_nothing_of_a_sample(generated: Client, variant: str | None) -> None:
    case = samples.load("contract", variant).case

    assert generated.types.CaseRequest.from_dict(case).to_dict() == case


async def test_a_generated_client_reads_a_declined_case_a_problem_and_a_bundle(site: Served, generated: Client) -> None:
    submit = generated.operation("debates.submit_case").asyncio_detailed
    cases = [generated.types.CaseRequest.from_dict(case) for case in (a_declined_case(), a_case(taskType="Contract"))]

    async with generated.client.Client(base_url=site.url) as client:
        declined, refused = [await submit(client=client, body=case) for case in cases]
        debate = declined.parsed.debate_id
        bundle = await generated.operation("audit.read_bundle").asyncio_detailed(client=client, debate=debate)

    assert (type(declined.parsed).__name__, declined.parsed.status.value) == ("Submission", "declined")
    assert (type(refused.parsed).__name__, refused.parsed.code) == ("Problem", "invalid_case")
    assert bundle.parsed.payload.read() == bundle.content
    assert bundle.content.startswith(b"PK")
