"""What a command says first: at once, before anything large is imported and before a server is started.

Seconds depend on the machine, so the order of events is tested: at the first word none of the large parts is there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service.cli import beginning, main, startup
from service.errors import IncompleteTable
from service.policy.settings import read_settings
from service.store.embedded.presence import presence
from service.store.embedded.server import shared_server
from service.store.schema import migrate as migrating

HEAVY = ("asyncio", "httpx", "litestar", "prometheus_client", "psycopg", "service.app", "uvloop")
DEBATE = "01980c2e-0000-7000-8000-000000000000"
CALL = """
import json, os, sys

class Stream:
    def __init__(self, behind, terminal):
        self.behind, self.terminal, self.first = behind, terminal, None
    def write(self, words):
        if self.first is None:
            text = words.decode() if isinstance(words, bytes) else words
            self.first = [text, [m for m in HEAVY if m in sys.modules], os.path.exists(os.environ["GAINSAY_DATA_DIR"])]
        return self.behind.write(words)
    def isatty(self):
        return self.terminal
    def __getattr__(self, name):
        return getattr(self.behind, name)

HEAVY, WORDS, TERMINAL = json.loads(sys.argv[1])
sys.stderr = err = Stream(sys.stderr, TERMINAL)
sys.stdout = out = Stream(sys.stdout, False)
from service.cli import main
code = main(WORDS)
behind = [m for m in HEAVY if m in sys.modules]
sys.__stdout__.write("\\n" + json.dumps({"code": code, "err": err.first, "out": out.first, "behind": behind}) + "\\n")
"""


def called(folder: Path, *words: str, terminal: bool) -> tuple[dict[str, Any], str]:
    """Call a command whose data folder cannot be made, so that it goes as far as the start of a server and no farther.

    Returns what was first on each stream, with the large parts that were there then, and all of standard error.
    """
    (folder / "file").write_text("in the way")
    done = subprocess.run(
        [sys.executable, "-c", CALL, json.dumps([HEAVY, words, terminal])],
        env={**os.environ, "GAINSAY_DATA_DIR": str(folder / "file" / "data"), "TERM": "xterm"},
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1]), done.stderr.decode()


IMPORTED = """
import json, sys
from service.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stdout.write("\\n" + json.dumps(sorted(sys.modules)) + "\\n")
"""


@pytest.mark.parametrize(
    ("words", "strange"),
    [
        (
            ("--help",),
            ("aiohttp", "asyncio", "msgspec", "rich", "service.cli.startup", "service.policy", "service.store"),
        ),
        (("--version",), ("aiohttp", "asyncio", "msgspec", "rich", "service.cli.startup", "service.policy")),
        (("audit", "--help"), ("aiohttp", "asyncio", "msgspec", "rich", "service.cli.startup", "service.policy")),
        (("serve", "--help"), ("aiohttp", "service.store", "service.web")),
        (("work", "--help"), ("aiohttp", "service.store", "service.web")),
    ],
    ids=lambda value: " ".join(value) if "--" in value[-1] else "",
)
def test_a_help_imports_nothing_that_it_does_not_show(words: tuple[str, ...], strange: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED, *words], capture_output=True, check=True)

    imported = json.loads(done.stdout.splitlines()[-1])
    assert "click" in imported
    assert {*strange, "httpx", "litestar", "prometheus_client", "psycopg", "service.app", "uvloop"} & set(
        imported
    ) == set()


@pytest.mark.parametrize("opened", ["running", "reading"])
def test_a_table_that_lacks_a_row_stops_a_command_before_anything_is_done_in_a_database(
    opened: beginning.Opened, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def incomplete() -> None:
        raise IncompleteTable("a table lacks a row")

    migrated: list[str] = []
    monkeypatch.setattr(startup, "check_tables", incomplete)
    monkeypatch.setattr(migrating, "migrate", lambda url, *_: migrated.append(url))
    settings = read_settings({"GAINSAY_DATA_DIR": str(data_folder), "GAINSAY_WARM_S": "0"})

    with pytest.raises(IncompleteTable), beginning.database(settings, opened):
        pass
    elsewhere = read_settings({"GAINSAY_DATABASE_URL": "postgresql://gainsay:sesame@127.0.0.1:1/gainsay"})
    with pytest.raises(IncompleteTable), beginning.database(elsewhere, opened):
        pass

    assert migrated == []


@pytest.mark.parametrize(
    "words",
    [
        ("review", "--sample", "contract"),
        ("list",),
        ("show", DEBATE),
        ("report", DEBATE, "--html"),
        ("replay", DEBATE),
        ("audit", "bundle", DEBATE),
    ],
)
def test_in_a_pipe_the_first_line_says_what_is_waited_for_before_it_is_imported(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    told, err = called(tmp_path, *words, terminal=False)

    assert told["err"] == [f"gainsay: {beginning.WORDS['none']} ...\n", [], False]
    assert told["out"] is None
    assert {"psycopg", "service.app"} <= set(told["behind"]), "the same command imports them later"
    assert "embedded_postgres_folder" in err
    assert "\x1b" not in err


def test_on_a_terminal_the_line_goes_away_before_the_next_one(tmp_path: Path) -> None:
    told, err = called(tmp_path, "review", "--sample", "contract", terminal=True)

    assert told["err"] == [f"\r\x1b[K{beginning.WORDS['none']} ...", [], False]
    assert f"{beginning.WORDS['none']} ...\r\x1b[Kgainsay: embedded_postgres_folder: " in err


def test_with_json_a_pipe_has_the_error_alone(tmp_path: Path) -> None:
    _, err = called(tmp_path, "review", "--sample", "contract", "--json", terminal=False)

    assert err.startswith("gainsay: embedded_postgres_folder: ")


def test_the_demo_says_what_it_is_before_its_parts_are_imported(tmp_path: Path) -> None:
    told, _ = called(tmp_path, "demo", terminal=False)

    words, heavy, made = told["out"]
    assert str(words).startswith("Gainsay: effective challenge")
    assert (heavy, made) == ([], False)


def test_a_case_that_is_refused_is_refused_without_a_word_of_a_server(tmp_path: Path) -> None:
    _, err = called(tmp_path, "review", "--sample", "contract", "--ceiling", "0.001", terminal=False)

    assert err.startswith("gainsay: ceiling_too_small: ")


def test_the_words_follow_what_there_is_and_looking_makes_nothing(data_folder: Path) -> None:
    folder = data_folder / "postgres"

    assert presence(folder) == "none"
    assert not folder.exists()
    with shared_server(folder):
        assert presence(folder) == "running"
    assert presence(folder) == "stopped"


def test_a_server_that_others_run_is_connected_to_in_silence_in_a_pipe(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", "postgresql://gainsay:sesame@127.0.0.1:1/gainsay")

    assert main(["show", DEBATE]) == 3

    assert capfd.readouterr().err.startswith("gainsay: store_unavailable: ")
