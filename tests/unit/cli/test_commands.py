"""Each command that a list names is there, and every command ends with a code and a line that say why."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys

import click
import pytest

from service.cli import exit_codes, gainsay
from service.cli.audit import audit
from service.cli.evaluate import evaluate
from service.verify.steps import GAPS

NAMED = [(group, name) for group in (gainsay, audit, evaluate) for name in group.list_commands(click.Context(group))]


@pytest.mark.parametrize(("group", "name"), NAMED, ids=[f"{group.name} {name}" for group, name in NAMED])
def test_a_command_of_a_list_is_in_the_module_that_the_list_names(group: click.Group, name: str) -> None:
    found = group.get_command(click.Context(group), name)

    assert isinstance(found, click.Command)
    assert found.name == name


def test_the_help_names_every_exit_code() -> None:
    codes = {exit_codes.DONE, exit_codes.NEGATIVE, exit_codes.USAGE, exit_codes.FAILED, GAPS}

    assert {int(code) for code in re.findall(r"[:,] (\d) ", gainsay.help or "")} == codes


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_fault_of_the_program(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise OSError(number, os.strerror(number))

    assert exit_codes.run(click.command()(fails), []) == exit_codes.FAILED

    said = capsys.readouterr().err
    assert said.startswith("gainsay: cannot_write: expected room on the disk, found: ")
    assert "internal" not in said
    assert len(said.splitlines()) == 1


def test_a_reader_that_leaves_is_no_negative_answer() -> None:
    """More lines than a pipe holds, so the command writes behind its reader's back."""
    code = """
import sys, click
from service.cli import exit_codes
@click.command()
def much():
    for _ in range(100_000):
        click.echo("a line")
sys.exit(exit_codes.run(much, []))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"a line\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == exit_codes.FAILED
