"""What helps at the keyboard: suggestions, completion, templates, and a report in the desktop's viewer."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from service.cli import exit_codes, gainsay, main, viewer
from service.cli.audit import audit
from service.policy.settings import read_settings
from tests.fixtures.postgres import Database
from tests.fixtures.serving import sequenced

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data_folder: Path) -> Call:
    """Call a command in this process."""
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(data_folder))

    def run(*words: str | Path) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return (code, *capfd.readouterr())

    return run


# -- suggestions


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        ("revieww --sample contract", "'review'"),
        ("templats", "'templates'"),
        ("audit verfy x", "'verify'"),
        ("audit key shw", "'show'"),
        ("prompts verfy", "'verify'"),
        ("review --sampel contract", "'--sample'"),
        ("gate --task-tpye contract", "'--task-type'"),
        ("gate --task-type contrct --downside 5", "'contract'"),
        ("gate --task-type contract --downside 5 --format bllot", "'ballot'"),
        ("gate --task-type contract --downside 5 --materiality hgih", "'high'"),
        ("gate --task-type contract --downside 5 --model critc=x", "'critic'"),
        ("gate --task-type contract --downside 5 --model critic=aldr-large", "'alder-large'"),
        ("gate --task-type contract --downside 5 --format panel --question-type belif", "'belief'"),
        ("demo --format bllot", "'ballot'"),
        ("quote --sample contrat", "'contract'"),
        ("quote --sample contract/balot", "'ballot'"),
        ("templates contract/liablity", "'contract/liability'"),
        ("templates contract/liability --fill partie=x", "'party'"),
        ("report x --paper lettr", "'letter'"),
    ],
)
def test_a_slip_is_told_the_nearest_word(call: Call, words: str, nearest: str) -> None:
    code, out, err = call(*words.split())

    assert (code, out) == (exit_codes.USAGE, "")
    assert nearest in err.lower().partition("did you mean ")[2].partition("?")[0]


def test_a_setting_with_a_slip_is_told_the_nearest(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_DATABSE_URL", "x")

    assert "did you mean GAINSAY_DATABASE_URL?" in call("stop")[2]


def test_a_word_that_resembles_none_gets_no_guess(call: Call) -> None:
    assert "ean" not in call("frobnicate")[2].partition("Try")[0].lower().replace("gainsay", "")


def test_the_help_lists_each_task_type_of_the_shipped_policy(call: Call) -> None:
    listed = " ".join(call("review", "--help")[1].split())

    assert f"--task-type T {', '.join(read_settings({}).policy.gate.task_types)}." in listed


# -- completion


def completed(shell: str, words: str) -> list[str]:
    """What a shell is told to offer for the last of these words."""
    parts = words.split(" ")
    environment = {
        **os.environ,
        "_GAINSAY_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(parts) - 1) if shell != "fish" else parts[-1],
    }
    program = shutil.which("gainsay", path=Path(sys.executable).parent)
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("gainsay re", ["review", "report", "replay", "rebuild"]),
        ("gainsay audit ve", ["verify"]),
        ("gainsay review --format b", ["ballot"]),
        ("gainsay gate --task-type co", ["contract", "compliance"]),
        ("gainsay quote --sample s", ["security"]),
        ("gainsay review --sample contract/b", ["contract/ballot"]),
        ("gainsay templates sec", ["security/release", "security/exception"]),
        ("gainsay demo --format pan", ["panel"]),
        ("gainsay gate --materiality m", ["moderate"]),
        ("gainsay report --op", ["--open"]),
    ],
)
def test_the_shell_is_offered_commands_options_and_values(words: str, offered: list[str]) -> None:
    found = completed("bash", words)

    assert [line.split(",", 1) for line in found] == [["plain", word] for word in offered]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_offered_the_same_with_what_it_is(shell: str) -> None:
    told = completed(shell, "gainsay repo")

    assert any("report" in line for line in told)
    assert any("Write the report of a debate" in line for line in told)


def test_bash_completes_with_the_line_of_the_manual() -> None:
    """The line of docs/terminal.md, in a real shell."""
    bash = shutil.which("bash") or pytest.skip("there is no bash")
    line = 'eval "$(_GAINSAY_COMPLETE=bash_source gainsay)"'
    assert line in (Path(__file__).parents[2] / "docs" / "terminal.md").read_text()
    script = f"""{line}
COMP_WORDS=(gainsay revi) COMP_CWORD=1
_gainsay_completion gainsay revi gainsay
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    done = subprocess.run(
        [bash, "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["review"]


def test_completion_imports_neither_server_nor_database() -> None:
    heavy = ("litestar", "psycopg", "rich", "service.app", "asyncio")
    code = f"""
import atexit, sys
atexit.register(lambda: print([m for m in {heavy} if m in sys.modules]))
from service.cli import gainsay
gainsay.main(prog_name="gainsay")
"""
    words = {"_GAINSAY_COMPLETE": "bash_complete", "COMP_WORDS": "gainsay review --format ", "COMP_CWORD": "3"}

    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **words}, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[:2] == ["plain,adversarial", "plain,stances"]
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("group", [gainsay, audit], ids=["gainsay", "audit"])
def test_every_command_of_a_list_is_offered_without_its_import(group: click.Group) -> None:
    context = click.Context(group)

    offered = [item.value for item in group.shell_complete(context, "")]

    assert offered == group.list_commands(context)


# -- templates


def test_templates_are_listed_whole_by_task_type_and_one_is_a_case(call: Call) -> None:
    every, of_contract = call("templates")[1].splitlines(), call("templates", "contract")[1].splitlines()
    code, out, err = call("templates", "contract/liability", "--fill", "party=the Supplier")

    assert {line.partition("/")[0] for line in every} == set(read_settings({}).policy.gate.task_types)
    assert of_contract == [line for line in every if line.startswith("contract/")]
    assert (code, err) == (exit_codes.DONE, "")
    assert json.loads(out)["question"].startswith("Is the liability of the Supplier to <FILL: counterparty>")


def test_a_list_has_no_placeholder_to_fill(call: Call) -> None:
    assert "--fill is for one template" in call("templates", "contract", "--fill", "party=x")[2]


# -- a report in the viewer


@pytest.fixture
def reviewed(
    call: Call, monkeypatch: pytest.MonkeyPatch, module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A debate on a database with a signed log."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", module_database.service_url)
    heads = tmp_path_factory.getbasetemp() / "heads-of-terminal"
    heads.mkdir(exist_ok=True)
    for name, value in sequenced(module_database.service_url, heads).items():
        monkeypatch.setenv(name, value)
    return str(json.loads(call("review", "--sample", "contract", "--json")[1])["debateId"])


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A viewer that writes down what it is given, a word a line."""
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nfor word in "$@"; do echo "$word" >> {shlex.quote(str(told))}; done\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # it reads BROWSER once in a process
    monkeypatch.setattr(webbrowser, "_browsers", {})
    return told


def test_a_report_is_opened_from_a_file_that_only_its_owner_can_read(
    call: Call, reviewed: str, browser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a b; touch $(touch owned) #'\""
    odd.mkdir()
    monkeypatch.setenv("TMPDIR", str(odd))
    monkeypatch.setattr("tempfile.tempdir", None)

    code, out, err = call("report", reviewed, "--open")

    (written,) = odd.glob("gainsay-*/*.html")
    assert (code, out, err) == (exit_codes.DONE, "", f"wrote {written}\n")
    assert browser.read_text().splitlines() == [written.as_uri()]
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    assert written.read_text().startswith("<!DOCTYPE html>")
    assert not list(tmp_path.rglob("owned"))
    assert not Path("owned").exists()


def test_a_named_file_is_opened_where_it_is(call: Call, reviewed: str, browser: Path, tmp_path: Path) -> None:
    code, _, err = call("report", reviewed, "--open", "-o", tmp_path / "r.pdf")

    assert (code, err) == (exit_codes.DONE, f"wrote {tmp_path / 'r.pdf'}\n")
    assert browser.read_text().splitlines() == [(tmp_path / "r.pdf").as_uri()]


def test_without_a_viewer_the_file_is_named(
    call: Call, reviewed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)

    code, out, err = call("report", reviewed, "--open", "-o", tmp_path / "r.html")

    assert (code, out) == (exit_codes.DONE, "")
    assert err == f"wrote {tmp_path / 'r.html'}\nfound no viewer on this machine; open the file yourself\n"


def test_a_viewer_for_terminals_is_not_taken_where_there_is_no_display(tmp_path: Path) -> None:
    assert not viewer.show(tmp_path / "r.html", {"PATH": os.environ["PATH"]})


@pytest.mark.parametrize("words", [("--json",), ("--markdown",), ("-o", "r.md")])
def test_what_no_viewer_shows_is_refused_before_anything_starts(
    call: Call, data_folder: Path, words: tuple[str, ...]
) -> None:
    code, _, err = call("report", "x", "--open", *words)

    assert code == exit_codes.USAGE
    assert "--open shows HTML or PDF, found" in err
    assert not data_folder.exists()
