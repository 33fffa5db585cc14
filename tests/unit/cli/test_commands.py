"""The lists of commands name modules as text: each module is there and holds its command."""

from __future__ import annotations

import click
import pytest

from service.cli import gainsay
from service.cli.audit import audit

NAMED = [(group, name) for group in (gainsay, audit) for name in group.list_commands(click.Context(group))]


@pytest.mark.parametrize(("group", "name"), NAMED, ids=[f"{group.name} {name}" for group, name in NAMED])
def test_a_command_of_a_list_is_in_the_module_that_the_list_names(group: click.Group, name: str) -> None:
    found = group.get_command(click.Context(group), name)

    assert isinstance(found, click.Command)
    assert found.name == name
