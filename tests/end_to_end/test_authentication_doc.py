"""What docs/authentication.md says is done here: its commands, its request, its rules for scanners, its check."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from service.cli import main
from service.errors import Unauthenticated
from service.identity.answer_cache import ANSWER_S, AT_ONCE, TRUSTED_S, WAITING
from service.identity.api_keys import PATTERN, read_key, write_key
from service.identity.bearer import BYTES_MAX
from service.identity.issuing_rules import OVERLAP_DAYS
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.secret_files import write_secret
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


async def test_a_key_tonight(database: Database, tmp_path: Path) -> None:
    tonight, request = blocks("sh")[:2]
    await asyncio.to_thread(done, tonight, tmp_path, database)
    identity = str(tmp_path / "identity.toml")
    assert (tmp_path / "key.txt").stat().st_mode & 0o077 == 0
    read_key((tmp_path / "key.txt").read_bytes().strip())
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as service:
        there = request.replace("http://127.0.0.1:8321", service.url)
        assert there != request
        assert '"models"' in await asyncio.to_thread(done, there, tmp_path, database)


def test_the_life_of_a_key(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each command in this process: a shell would import the service eight times."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path))
    said, files, key = [], dict[str, str](), ""
    for line in blocks("sh")[2].splitlines():
        if line.startswith("KEY="):
            (key,) = re.findall(r"^key +(key_\w+)$", files["issued.txt"], re.MULTILINE)
            continue
        words = shlex.split(line.replace('"$KEY"', key))
        to = [at for at, word in enumerate(words) if word in (">", "2>")]
        assert (words[0], main(words[1 : to[0] if to else None])) == ("gainsay", 0)
        out, err = capfd.readouterr()
        files |= {words[at + 1]: out if words[at] == ">" else err for at in to}
        said.append(out)

    keys = {read_key(files[f"{name}.txt"].strip().encode()) for name in ("scrape", "new", "bank")}
    assert len(keys) == 3
    assert any("valid" in out and "scrape  prometheus" in out for out in said)
    assert any("is revoked since" in out for out in said)
    assert said[-1].endswith("key  Grace Hopper\n")


async def test_from_nothing_to_a_first_case(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The commands in this process, those of curl in a shell; the service is one in this process, too."""
    first, managed, asked, replaced = blocks("sh")[3:7]
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    walk = Walk(monkeypatch, capfd, tmp_path)
    await walk.done(first)
    identity = str(tmp_path / "identity.toml")
    async with served(database.service_url, GAINSAY_IDENTITY=identity) as service:
        monkeypatch.delenv("GAINSAY_DATABASE_URL")
        await walk.done(managed.replace("http://127.0.0.1:8321", service.url))
        there = asked.replace("http://127.0.0.1:8321", service.url)
        told = await asyncio.to_thread(done, there, tmp_path, database)
        await walk.done(replaced)
        old, new = ((tmp_path / f"{name}.txt").read_text().strip() for name in ("desk", "desk-new"))
        let_in = await service.http.get("/v1/caller", headers={"authorization": f"Bearer {new}"})

    assert '"roles":["requester"]' in told
    assert '"status":"declined"' in told
    assert any("requester  contract desk" in out for out in walk.said)
    assert walk.said[-1].startswith(f"{walk.key} is revoked since 20")
    assert (old == new, let_in.status_code) == (False, 200)
    read_key(new.encode())


class Walk:
    """Does the lines of a script one by one: what it exports, what goes into files, and commands of gainsay."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self._monkeypatch, self._capfd, self._folder = monkeypatch, capfd, folder
        self.said: list[str] = []
        self.key = ""

    async def done(self, script: str) -> None:
        for line in script.splitlines():
            words = shlex.split(line.replace('"$KEY"', self.key))
            if words[0] == "export":
                self._monkeypatch.setenv(*words[1].split("=", 1))
            elif words[0].startswith("KEY="):
                issued = (self._folder / "issued.txt").read_text()
                (self.key,) = re.findall(r"^key +(key_\w+)$", issued, re.MULTILINE)
            elif words[0] == "gainsay":
                await self._command(words[1:])
            else:
                await asyncio.to_thread(subprocess.run, ["bash", "-euc", line], cwd=self._folder, check=True)

    async def _command(self, words: list[str]) -> None:
        to = [at for at, word in enumerate(words) if word in (">", "2>")]
        code = await asyncio.to_thread(main, words[: to[0] if to else None])
        out, err = self._capfd.readouterr()
        assert code == 0, (words, err)
        for at in to:
            write_secret(self._folder / words[at + 1], out if words[at] == ">" else err)
        self.said.append(out)


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
