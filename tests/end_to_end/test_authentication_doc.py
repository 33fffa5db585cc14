"""What docs/authentication.md says is done here: its commands, its request, its rules for scanners, its check."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from service.errors import Unauthenticated
from service.identity.answer_cache import ANSWER_S, AT_ONCE, TRUSTED_S, WAITING
from service.identity.api_keys import PATTERN, read_key, write_key
from service.identity.bearer import BYTES_MAX
from service.identity.issuing_rules import OVERLAP_DAYS
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import served

DOCUMENT = (repository() / "docs" / "authentication.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def done(script: str, folder: Path, database: Database) -> str:
    """What a script of the document prints, in a folder and on a test's database."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GAINSAY_DATABASE_URL": database.service_url,
        "GAINSAY_DATA_DIR": str(folder),
    }
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


async def test_the_commands_of_the_document_do_what_it_says(database: Database, tmp_path: Path) -> None:
    tonight, request, life = blocks("sh")
    await asyncio.to_thread(done, tonight, tmp_path, database)
    identity = str(tmp_path / "identity.toml")
    assert (tmp_path / "key.txt").stat().st_mode & 0o077 == 0
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as service:
        there = request.replace("http://127.0.0.1:8321", service.url)
        assert there != request
        assert '"models"' in await asyncio.to_thread(done, there, tmp_path, database)

    said = (await asyncio.to_thread(done, life, tmp_path, database)).splitlines()

    keys = {(tmp_path / f"{name}.txt").read_text().strip() for name in ("key", "scrape", "new", "bank")}
    assert len({read_key(key.encode()) for key in keys}) == 4
    assert any("valid" in line and "scrape  prometheus" in line for line in said)
    assert any("is revoked since" in line for line in said)
    assert any(line.endswith("key  Grace Hopper") for line in said)


def test_the_rules_for_scanners_find_keys() -> None:
    (rule,) = tomllib.loads(blocks("toml")[0])["rules"]
    (other,) = re.findall(r"key: '(.*)'", blocks("yaml")[0])

    assert rule["regex"] == other == PATTERN
    found = re.findall(rule["regex"], DOCUMENT)
    assert found == [write_key(bytes(32)), write_key(b"\xff" * 32), write_key(bytes(range(32)))]
    assert not re.search(rule["regex"], "gainsay_test_0123456789 gainsay_" + "x" * 50)


def test_the_check_of_the_document_tells_keys_from_other_texts() -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    key = write_key(bytes(range(32)))

    assert names["is_key"](key)
    for at in range(8, len(key)):
        other = key[:at] + ("0" if key[at] != "0" else "1") + key[at + 1 :]
        with pytest.raises(Unauthenticated):
            read_key(other.encode())
        assert not names["is_key"](other)


def test_the_numbers_of_the_document_are_those_of_the_code() -> None:
    text = " ".join(DOCUMENT.split())

    assert f"for {TRUSTED_S:g} seconds, and ends a question after {ANSWER_S:g} seconds" in text
    assert f"more than {TRUSTED_S + ANSWER_S:g} seconds ago" in text
    assert f"at most {AT_ONCE} questions at a time and {WAITING} in line" in text
    assert f"more than {BYTES_MAX // 1024} KiB" in text
    assert f"`--keep-days` ({OVERLAP_DAYS} unless" in text
