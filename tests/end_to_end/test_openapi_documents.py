"""The served OpenAPI documents, 3.1 and 3.0.3: two linters and a validator find nothing, and generators take both."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from tests.end_to_end.test_generated_clients import LINES
from tests.fixtures.callers import identity_file
from tests.fixtures.npm import packages
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, served

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]

HERE = Path(__file__).parent / "openapi"
WITHIN_S = 100
VALIDATORS = {"openapi.json": OpenAPIV31SpecValidator, "openapi-3.0.json": OpenAPIV30SpecValidator}
QUIETLY = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def folder(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both documents as a service with identities serves them, with the rules of the linters."""
    found = tmp_path_factory.mktemp("documents")
    identity = identity_file(found)
    async with served(module_database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as site:
        for name in VALIDATORS:
            answer = await site.http.get(f"/{name}")
            assert answer.status_code == 200
            (found / name).write_bytes(answer.content)
    for rules in HERE.glob("*.yaml"):
        shutil.copy(rules, found)
    return found


@pytest.fixture(scope="module")
def programs(pytestconfig: pytest.Config) -> Path:
    """The folder of the linters."""
    return packages(pytestconfig, "openapi-linters", HERE / "package.json") / "node_modules" / ".bin"


async def output(*command: str | Path, folder: Path) -> str:
    """What a program prints on its standard output, whatever its exit code."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **QUIETLY},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(WITHIN_S):
        out, told = await process.communicate()
    assert out, told.decode()
    return out.decode()


async def spectral(programs: Path, folder: Path, name: str) -> list[str]:
    """What Spectral finds by the rules for OpenAPI, of every severity."""
    out = await output(
        *(programs / "spectral", "lint", name, "--ruleset", "spectral.yaml", "--format", "json"),
        *("--fail-severity", "hint"),
        folder=folder,
    )
    found = json.JSONDecoder().raw_decode(out)[0]
    return [f"{one['code']} at {'/'.join(map(str, one['path']))}: {one['message']}" for one in found]


async def redocly(programs: Path, folder: Path, name: str) -> list[str]:
    """What redocly finds by its recommended rules, warnings too."""
    out = await output(
        *(programs / "redocly", "lint", name, "--config", "redocly.yaml", "--format", "json"), folder=folder
    )
    found = json.loads(out[out.index("{") :])
    return [f"{one['ruleId']} at {one['location'][0].get('pointer')}: {one['message']}" for one in found["problems"]]


def written(folder: Path, name: str) -> JSON:
    found: JSON = json.loads((folder / name).read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", VALIDATORS)
async def test_a_validator_accepts_the_document(folder: Path, name: str) -> None:
    document: Any = written(folder, name)

    errors = [error.message for error in VALIDATORS[name](document).iter_errors()]

    assert errors == []


@pytest.mark.parametrize("name", VALIDATORS)
async def test_two_linters_find_nothing(folder: Path, programs: Path, name: str) -> None:
    assert await spectral(programs, folder, name) == []
    assert await redocly(programs, folder, name) == []


async def test_the_linters_see_a_fault(folder: Path, programs: Path) -> None:
    """An empty list says that they looked."""
    operation = {"operationId": "x", "tags": ["unknown"], "responses": {"200": {"description": "Well."}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "x", "version": "1"},
        "servers": [{"url": "/"}],
        "paths": {"/x": {"get": operation}},
    }
    (folder / "faulty.json").write_text(json.dumps(document), "utf-8")

    spectrals = await spectral(programs, folder, "faulty.json")
    redoclys = await redocly(programs, folder, "faulty.json")

    assert any(fault.startswith("operation-tag-defined") for fault in spectrals)
    assert any(fault.startswith("security-defined") for fault in redoclys)


async def test_a_generator_takes_the_document_in_3_0_without_a_warning(folder: Path) -> None:
    if find_spec("openapi_python_client") is None:
        pytest.skip("openapi-python-client is not installed")
    (folder / "generator.json").write_text(json.dumps({"content_type_overrides": LINES}), "utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"),
        *("--path", "openapi-3.0.json", "--output-path", "generated", "--config", "generator.json"),
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(WITHIN_S):
        out, _ = await process.communicate()

    assert process.returncode == 0, out.decode()
    assert "warning" not in out.decode().lower()
    assert len([*(folder / "generated" / "models").glob("*.py")]) > 200
