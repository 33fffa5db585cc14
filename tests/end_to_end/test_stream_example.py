"""examples/stream.mjs prints the stream of any format with the EventSource client of npm, and ends by itself.

The client is installed by npm into pytest's cache on the first run. Where that cannot be done, the tests are skipped.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from service import samples
from tests.fixtures.npm import packages
from tests.fixtures.serving import JSON, Event, Served, a_declined_case

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLIENT = Path(__file__).parent / "eventsource"
VARIANTS = (None, "stances", "ballot", "panel", "convergence")


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config, root: Path) -> Path:
    """The example beside its client."""
    folder = packages(pytestconfig, "eventsource", CLIENT / "package.json")
    return Path(shutil.copy(root / "examples/stream.mjs", folder))


async def printed(program: Path, address: str) -> list[list[str]]:
    """The words of each line that it prints of a debate until it ends."""
    process = await asyncio.create_subprocess_exec(
        shutil.which("node") or "node",
        str(program),
        address,
        env={"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, error = await process.communicate()
    assert (process.returncode, error) == (0, b"")
    return [line.split() for line in out.decode().splitlines() if line[:4].isdecimal() and line[4] == "-"]


def speakers(events: list[Event]) -> list[str]:
    """The name that each event of a seat has, as the caller knows it."""
    return [e.members.get("name") or e.members.get("label") or e.members["seat"] for e in events if "turn" in e.members]


@pytest.mark.parametrize("variant", VARIANTS)
async def test_the_example_prints_every_event_of_any_format_with_its_time_and_speaker(
    site: Served, program: Path, variant: str | None
) -> None:
    debate = (await site.submit(samples.load("contract", variant).case))["debateId"]

    lines = await printed(program, f"{site.url}/v1/debates/{debate}")  # while the debate runs
    events = await site.events(debate)

    assert [line[:2] for line in lines] == [[e.members["at"], e.name] for e in events]
    said = [" ".join(line) for line in lines]
    spoken = [
        words.partition(e.members.get("name") or e.members.get("label") or e.members.get("seat", e.name))[2].strip()
        for words, e in zip(said, events, strict=True)
    ]
    assert [e.name for e, words in zip(events, spoken, strict=True) if not words or "undefined" in words] == []
    assert all(any(name in line for line in said) for name in speakers(events))


async def test_the_example_prints_a_declined_case_and_ends(site: Served, program: Path) -> None:
    told: JSON = await site.submit(a_declined_case())

    lines = await printed(program, f"{site.url}/v1/debates/{told['debateId']}")

    assert [line[1] for line in lines] == ["gate", "final"]
