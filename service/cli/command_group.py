"""A group whose commands are modules of their own, imported when they are called."""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import click

from service.cli.meanwhile import uncollected

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandGroup(click.Group):
    """Finds a command in the module that holds it, and imports no other."""

    PACKAGE: ClassVar[str]
    MODULES: ClassVar[Mapping[str, tuple[str, str]]]
    """Each command's module and summary, so that the list of commands imports no module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the list."""
        return list(self.MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or ``None``."""
        if cmd_name not in self.MODULES:
            return None
        with uncollected():
            module = importlib.import_module(f"{self.PACKAGE}.{self.MODULES[cmd_name][0]}")
        # A command such as `import` has a name that no function may have.
        command: click.Command = getattr(module, f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; a name that is none is answered with the nearest ones."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:  # click looks among commands that are imported
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=self.MODULES, ctx=ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, with their summaries and without an import."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=words) for name, (_, words) in self.MODULES.items() if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.MODULES.items()])
