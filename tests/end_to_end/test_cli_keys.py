"""The commands that issue keys and create tenants, on the database of this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from service.cli import main
from service.identity.api_keys import hash_key, read_key
from tests.fixtures.postgres import Database


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def id(self) -> str:
        """The id of the key that was issued, as standard error says it."""
        return next(line.split()[1] for line in self.err.splitlines() if line.startswith("key "))


Run = Callable[..., Ended]


@pytest.fixture
def run(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module_database: Database, data_folder: Path
) -> Run:
    """Call a command on the test's database."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))

    def call(*arguments: str) -> Ended:
        code = main(list(arguments))
        return Ended(code, *capfd.readouterr())

    return call


def test_the_key_of_a_first_operator_is_printed_once_and_alone(run: Run, module_database: Database) -> None:
    made = run("tenants", "create", "bank")
    key = run(
        *("keys", "create", "--tenant", "bank", "--role", "operator", "--role", "requester"),
        *("--name", "Ada Lovelace", "--kind", "person", "--days", "90"),
    )
    listed, shown = run("keys", "list", "--tenant", "bank"), run("keys", "show", key.id, "--tenant", "bank")
    with psycopg.connect(module_database.admin_url) as admin:
        stored = admin.execute("SELECT hash FROM gainsay.api_key WHERE id = %s", [key.id]).fetchone()

    assert (made.code, key.code, listed.code, shown.code) == (0, 0, 0, 0), (made, key, listed, shown)
    assert read_key(key.out.removesuffix("\n").encode()) == hash_key(key.out.strip().encode())
    assert stored is not None
    assert bytes(stored[0]) == hash_key(key.out.strip().encode())
    for said in (key.err, listed.out, listed.err, shown.out, shown.err):
        assert key.out.strip() not in said
    assert listed.out.startswith(f"{key.id}  valid    until 20")
    assert listed.out.endswith("never used  requester,operator  Ada Lovelace\n")
    assert "bank  created" in run("tenants", "list").out
    assert "good     person   key  Ada Lovelace" in run("subjects", "list", "--tenant", "bank").out


def test_the_keyboard_replaces_and_revokes(run: Run) -> None:
    first = run("keys", "create", "--role", "scrape", "--name", "prometheus", "--days", "9")
    second = run("keys", "rotate", first.id, "--whole-service", "--days", "9", "--keep-days", "1")
    revoked = run("keys", "revoke", second.id, "--whole-service")
    listed = run("keys", "list", "--whole-service")

    assert (first.code, second.code, revoked.code) == (0, 0, 0), (first, second, revoked)
    assert f"{first.id} stays valid until 20" in second.err
    assert read_key(second.out.strip().encode()) != read_key(first.out.strip().encode())
    assert revoked.out.startswith(f"{second.id} is revoked since 20")
    assert {line.split()[0]: line.split()[1] for line in listed.out.splitlines()} == {
        first.id: "valid",
        second.id: "revoked",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("tenants", "create", "The Bank"), 2, "lower-case letters"),
        (("tenants", "create", "default"), 3, "no tenant has"),
        (("keys", "create", "--role", "root", "--name", "x", "--days", "9"), 2, "'root' is not one of"),
        (("keys", "create", "--role", "operator", "--name", "x"), 2, "Missing option '--days'"),
        (("keys", "create", "--role", "operator", "--name", "x", "--days", "9999"), 2, "1 to 366 days"),
        (("keys", "create", "--role", "requester", "--name", "x", "--days", "9"), 2, "those of a first operator alone"),
        (
            ("keys", "create", "--role", "operator", "--role", "scrape", "--name", "x", "--days", "9"),
            2,
            "belong to none",
        ),
        (("keys", "list", "--tenant", "a", "--whole-service"), 2, "contradict each other"),
        (("keys", "revoke", "key_x"), 2, "found another text"),
        (("keys", "show", "gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs"), 2, "expected the id of a key"),
        (("keys", "revoke", "key_00041061050r3gg28a1c60t3gf"), 2, "found key_00041061050r3gg28a1c60t3gf"),
        (("subjects", "revoke", "sub_x"), 2, "found another text"),
    ],
)
def test_what_is_wrong_is_named(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    ended = run(*arguments)

    assert (ended.code, ended.out) == (code, "")
    assert said in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert "003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs" not in ended.err


def test_a_tenant_is_not_named_to_a_running_service(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_SERVER", "https://gainsay.example")

    for words in (("keys", "list"), ("subjects", "list"), ("keys", "show", "key_x")):
        assert "its caller's own tenant" in run(*words, "--tenant", "bank").err
