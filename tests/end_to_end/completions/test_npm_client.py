"""The official openai client of npm against the served service, unchanged but for its base URL.

It is installed by npm into pytest's cache on the first run. Where that cannot be done, the test is skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.fixtures.chatting import chat
from tests.fixtures.npm import packages
from tests.fixtures.serving import Served

pytestmark = pytest.mark.long

NPM = Path(__file__).parent / "npm"


@pytest.mark.asyncio(loop_scope="module")
async def test_the_client_of_npm_reads_answers_streams_models_and_errors(
    site: Served, pytestconfig: pytest.Config
) -> None:
    folder = packages(pytestconfig, "openai", NPM / "package.json")
    program = shutil.copy(NPM / "driver.mjs", folder)
    process = await asyncio.create_subprocess_exec(
        *(shutil.which("node") or "node", str(program), site.url, json.dumps(chat())),
        env={"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    assert (process.returncode, error.decode()) == (0, "")
    found = json.loads(out)

    whole, chunks = found["whole"], found["chunks"]
    assert whole["choices"][0]["message"]["content"].startswith(whole["gainsay"]["decision"]["answer"])
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert text == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["gainsay"] == whole["gainsay"]
    assert "gainsay/adversarial" in found["models"]
    assert found["one"]["id"] == "gainsay/adversarial"
    assert found["refused"] == {"kind": "BadRequestError", "code": "unsupported_parameter", "param": "n"}
