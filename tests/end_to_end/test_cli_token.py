"""Commands that ask a service with identities: the credential that they show, and the registers that they manage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from service.cli import main
from service.identity.api_keys import read_key
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.managing import administrator
from tests.fixtures.postgres import Database
from tests.fixtures.secret_files import write_secret
from tests.fixtures.serving import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    identity = identity_file(tmp_path_factory.mktemp("identity"))
    async with served(module_database.service_url, work=False, GAINSAY_IDENTITY=identity) as site:
        yield site


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Commands:
    """Runs commands against a service, as one caller after another."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capfd = monkeypatch, capfd

    def present(self, token: str | None) -> None:
        if token is None:
            self._monkeypatch.delenv("GAINSAY_TOKEN", raising=False)
        else:
            self._monkeypatch.setenv("GAINSAY_TOKEN", token)

    async def run(self, *words: str) -> Ended:
        code = await asyncio.to_thread(main, list(words))
        return Ended(code, *self._capfd.readouterr())

    async def issued(self, *words: str) -> tuple[str, str]:
        """The key that a command issued, and its id."""
        ended = await self.run("keys", *words)
        assert ended.code == 0, ended.err
        read_key(ended.out.strip().encode())
        return ended.out.strip(), next(row.split()[1] for row in ended.err.splitlines() if row.startswith("key "))


@pytest.fixture
def commands(
    site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Commands:
    monkeypatch.setenv("GAINSAY_SERVER", site.url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("GAINSAY_DATABASE_URL", raising=False)
    return Commands(monkeypatch, capfd)


async def test_an_administrator_and_an_operator_manage_a_service_from_elsewhere(
    commands: Commands, module_database: Database, tmp_path: Path
) -> None:
    commands.present((await administrator(module_database.service_url)).secret)
    assert (await commands.run("tenants", "create", "bank")).code == 0
    assert "bank  created 20" in (await commands.run("tenants", "list")).out
    named = ("--name", "Ada Lovelace", "--kind", "person", "--days", "9")
    roles = ("--role", "operator", "--role", "requester")
    operator, first = await commands.issued("create", "--tenant", "bank", *roles, *named)
    assert first not in (await commands.run("keys", "list")).out

    commands.present(f"file:{write_secret(tmp_path / 'operator', operator + chr(10))}")
    _, id_ = await commands.issued("create", "--role", "requester", "--name", "desk", "--days", "9")
    listed = await commands.run("keys", "list")
    assert f"{first}  valid    until 20" in listed.out
    assert f"{id_}  valid    until 20" in listed.out
    assert (await commands.run("keys", "show", id_)).out.splitlines()[0] == f"key        {id_}"
    _, second = await commands.issued("rotate", id_, "--days", "9", "--keep-days", "1")
    assert (await commands.run("keys", "revoke", second)).out.startswith(f"{second} is revoked since 20")
    refused = await commands.run("keys", "revoke", first)
    assert (refused.code, "gainsay: identity_conflict: " in refused.err) == (3, True), refused
    subjects = (await commands.run("subjects", "list")).out
    assert "key  Ada Lovelace" in subjects
    of = next(row.split()[0] for row in subjects.splitlines() if row.endswith("desk"))
    assert "is revoked since 20" in (await commands.run("subjects", "revoke", of)).out
    beyond = await commands.run("keys", "create", "--role", "auditor", "--name", "x", "--days", "9")
    assert (beyond.code, "gainsay: forbidden: " in beyond.err) == (2, True)
    assert (await commands.run("keys", "revoke", first, "--last-operator")).code == 0


@pytest.mark.parametrize("words", [("list",), ("models",), ("audit", "checkpoint"), ("keys", "list")])
async def test_each_command_shows_the_token_and_says_where_one_is_missing(
    commands: Commands, module_database: Database, words: tuple[str, ...]
) -> None:
    known: Known = await Registers(module_database).issue("auditor")
    commands.present(None)
    without = await commands.run(*words)
    commands.present("gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs")
    wrong = await commands.run(*words)
    commands.present(known.secret)
    let_in = await commands.run(*words)

    for ended in (without, wrong):
        assert (ended.code, "gainsay: unauthenticated: " in ended.err, "GAINSAY_TOKEN" in ended.err) == (2, True, True)
        assert "003aUlTJC7" not in ended.err
    assert "unauthenticated" not in let_in.err
    assert let_in.code == 0 or "no checkpoint" in let_in.err or "not_provable" in let_in.err or "no log" in let_in.err


@pytest.mark.parametrize("token", ["two words and more of them", "short", "line\nbreak-and-more-of-it", "file:/none"])
async def test_a_token_that_is_none_is_refused_and_not_said(commands: Commands, token: str) -> None:
    commands.present(token)
    ended = await commands.run("list")

    assert ended.code == 2
    assert "GAINSAY_TOKEN" in ended.err
    assert token not in ended.err
