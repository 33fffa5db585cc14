"""The same contract against a server that others wrote: @copilotkit/aimock, with one model name for each behaviour.

It is installed by npm into pytest's cache on the first run, and the tests are skipped where that cannot be done. Its
answers come in chunks, name no tokens where none were given, and forget Anthropic's request ids.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.running.provider_port import FailureReason
from tests.end_to_end.vendors.adapters import adapter, answered, failed, usage_of
from tests.end_to_end.vendors.requests import a_request
from tests.fixtures.npm import packages
from tests.fixtures.vendors import Wire

WIRES: tuple[Wire, ...] = ("openai", "anthropic")
"""The wires that aimock speaks."""
FOLDER = Path(__file__).parent / "aimock"
PACKAGE = Path("node_modules/@copilotkit/aimock")
SAID = {"thesis": "It holds.", "conclusion": "upheld"}


@pytest.fixture(scope="module")
def aimock(pytestconfig: pytest.Config) -> Iterator[str]:
    """The address of a running aimock."""
    folder = packages(pytestconfig, "aimock", FOLDER / "package.json")
    program = [shutil.which("node") or "node", str(folder / PACKAGE / "dist/cli.js")]
    arguments = ["--port", "0", "--fixtures", str(FOLDER / "fixtures.json"), "--strict"]
    with subprocess.Popen(
        [*program, *arguments],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield _address(process)
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    """The address that it prints once it listens; whatever else it prints first is in the failure."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if found := re.search(r"listening on (http://\S+)", line):
            return found[1]
        lines.append(line)
    raise AssertionError(f"aimock ended without listening: {''.join(lines)}")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_with_its_usage_and_model(aimock: str, wire: Wire) -> None:
    async with adapter(wire, aimock) as made:
        answer = await answered(made, a_request(model_name="good"))

    assert json.loads(answer.text) == SAID
    assert answer.served_model == "good-2026-01-01"
    usage = usage_of(wire, answer)
    assert usage is not None
    assert (usage.inputs, usage.outputs) == (120, 30)
    assert answer.request_id
    assert answer.fingerprint == ("fp_aimock" if wire == "openai" else None)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_in_a_tool_call(aimock: str, wire: Wire) -> None:
    async with adapter(wire, aimock, structured="tool") as made:
        answer = await answered(made, a_request(model_name="tools"))

    assert json.loads(answer.text) == SAID
    assert usage_of(wire, answer) is not None


async def test_zeros_that_nobody_counted_are_not_believed(aimock: str) -> None:
    """Where no usage is given, aimock's Anthropic wire tells zeros, and its OpenAI wire an estimate."""
    async with adapter("anthropic", aimock) as made:
        answer = await answered(made, a_request(model_name="uncounted"))

    assert usage_of("anthropic", answer) is None
    assert answer.raw_usage == {"input_tokens": 0, "output_tokens": 0}


ERRORS: list[tuple[str, FailureReason, bool, bool]] = [
    ("limited", "rateLimit", True, False),
    ("refused-key", "refusedKey", False, False),
    ("bad", "providerFault", False, False),
    ("too-large", "contextTooLong", False, False),
    ("overloaded", "overload", True, False),
    ("failing", "providerFault", True, True),
    ("malformed", "providerFault", True, True),
    ("disconnecting", "connectionCut", True, True),
    ("cut", "lengthLimit", True, True),
    ("two-tools", "malformedReply", True, True),
]


@pytest.mark.parametrize(("model", "reason", "retry", "billable"), ERRORS, ids=[row[0] for row in ERRORS])
@pytest.mark.parametrize("wire", WIRES)
async def test_every_error_has_its_reason(
    aimock: str, wire: Wire, model: str, reason: FailureReason, retry: bool, billable: bool
) -> None:
    async with adapter(wire, aimock) as made:
        ended = await failed(made, a_request(model_name=model))

    assert (ended.reason, ended.retry, ended.billable) == (reason, retry, billable), ended.detail
    assert ended.retry_after_s == (7 if model == "limited" else None)


@pytest.mark.parametrize(
    ("model", "reason"), [("no-quota", "rateLimit"), ("filtered", "modelRefused")], ids=["no-quota", "filtered"]
)
async def test_what_only_openai_says(aimock: str, model: str, reason: FailureReason) -> None:
    async with adapter("openai", aimock) as made:
        ended = await failed(made, a_request(model_name=model))

    assert (ended.reason, ended.retry) == (reason, False)


@pytest.mark.parametrize("wire", WIRES)
async def test_latency_beyond_the_time_limit(aimock: str, wire: Wire) -> None:
    async with adapter(wire, aimock, call_timeout_s=1) as made:
        ended = await failed(made, a_request(model_name="slow"))

    assert (ended.reason, ended.retry, ended.billable) == ("timeout", True, True)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_model_that_nobody_knows(aimock: str, wire: Wire) -> None:
    """In strict mode aimock says 503 where vendors say 404; the header turns that off for one call."""
    async with adapter(wire, aimock, headers={"x-aimock-strict": "false"}) as made:
        ended = await failed(made, a_request(model_name="nobody"))

    assert (ended.reason, ended.retry, ended.billable) == ("unknownModel", False, False), ended.detail
