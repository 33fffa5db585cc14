"""The lists of commands name modules as text: each module is there and holds its command."""

from __future__ import annotations

import re

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
