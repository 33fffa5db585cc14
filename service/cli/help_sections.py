"""Help in sections: each option names its section, and a command prints them in the order of its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorated = Callable[..., int]
OUTPUT, WHERE = "Output", "Where"
"""The sections of options that say nothing of a case: what is printed, and by which service it is answered."""


class Option(click.Option):
    """An option with its section of the help."""

    def __init__(self, *declared: Any, section: str = OUTPUT, **given: Any) -> None:
        super().__init__(*declared, **given)
        self.section = section


class Command(click.Command):
    """A command whose help has a heading for each section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and record[1]:
                sections.setdefault(getattr(parameter, "section", OUTPUT), []).append(record)
        last = sections.pop(OUTPUT, [])
        for name, records in (*sections.items(), (OUTPUT, last)):
            with formatter.section(name):
                formatter.write_dl(records)


def option(section: str, *declared: str, **given: Any) -> Callable[[Decorated], Decorated]:
    """`click.option` in a section."""
    return click.option(*declared, cls=Option, section=section, **given)
