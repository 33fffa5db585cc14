"""What docs/batches.md says is done here: its file, its requests, its command."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from service.intake.batch_file import KEY_MAX
from service.policy.batches import USUAL_BATCHES
from service.reviews.batch_feed import FAULTS_MAX, TURN
from service.reviews.batches import PAGE
from service.web.admission import BODY_S
from service.web.batch_types import BatchRefusals
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import served

DOCUMENT = (repository() / "docs" / "batches.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def done(script: str, folder: Path, **variables: str) -> str:
    """What a script of the document prints."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **variables}
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


async def test_the_file_is_brought_watched_and_read_and_the_command_does_it_too(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "cases.jsonl").write_text(blocks("json")[0], "utf-8")
    requests, command = blocks("sh")
    async with served(database.service_url) as site:
        here = requests.replace("http://127.0.0.1:8321", site.url)
        assert here != requests
        told = json.loads(await asyncio.to_thread(done, here, tmp_path))
        shown = json.loads(blocks("json")[1])
        assert {name: n for name, n in told["counts"].items() if n} == {"completed": 1, "declined": 2}
        assert set(shown) <= set(told)
        assert set(shown["counts"]) <= set(told["counts"])
        (tmp_path / "results.jsonl").rename(tmp_path / "by-http.jsonl")
        (tmp_path / "decisions.csv").rename(tmp_path / "by-http.csv")
        await asyncio.to_thread(done, command, tmp_path, GAINSAY_SERVER=site.url, GAINSAY_DATA_DIR=str(tmp_path))
    by_http, by_command = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("by-http.jsonl", "results.jsonl")
    )
    assert [row["debateId"] for row in by_http[:2]] == [row["debateId"] for row in by_command[:2]]
    assert by_command[0]["joined"]
    table = list(csv.DictReader(StringIO((tmp_path / "decisions.csv").read_text())))
    assert [row["key"] for row in table[:2]] == ["contract 4711", "contract 4712"]


def test_the_numbers_and_reasons_are_those_of_the_code() -> None:
    bounds = USUAL_BATCHES
    for words in (
        f"at most {bounds.cases:,} cases and {bounds.megabytes} MB",
        f"at most {bounds.per_tenant} batches",
        f"`queued_per_tenant` ({bounds.queued_per_tenant})",
        f"turns of {TURN} lines",
        f"A key has 1 to {KEY_MAX} printable characters",
        f"within {BODY_S:g} s",
        f"A page of {PAGE} lines",
    ):
        assert words in DOCUMENT.replace("\n", " "), words
    assert FAULTS_MAX == 5
    table = DOCUMENT.partition("| `refused` | why |")[2]
    for reason in BatchRefusals.__struct_fields__:
        assert f"`{reason}`" in table, reason
