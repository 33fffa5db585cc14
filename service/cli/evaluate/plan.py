"""``gainsay evaluate plan``: a plan held against what is here, before anything is asked."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli import exit_codes
from service.cli.display import evaluations as display
from service.cli.evaluate.here import Here, held_option, perform, read_plan, sets_option, text_of
from service.cli.help_sections import Command
from service.cli.terminal_text import print_json, say


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@sets_option
@held_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(file: Path, folders: tuple[Path, ...], *, held: bool, as_json: bool) -> int:
    """Read a plan: what it asks, what it would cost, and what it could see.

    Nothing is recorded and no model is called. Every fault of the plan is printed with its line: unknown members, sets
    that are not at hand or have another hash, arms that cannot be asked, a ceiling below the quote, and a plan that
    sees its own effect in less than half of all runs and does not say that it explores.

    \b
    gainsay evaluate plan my-plan.toml
    gainsay evaluate plan my-plan.toml --sets my-set/ --json

    Exit codes: 0 no fault, 2 the plan has faults, 3 failed.
    """
    text = text_of(file)

    async def work(here: Here) -> int:
        planned = await read_plan(here, file, text)
        if as_json:
            print_json(display.plan_json(planned))
        else:
            say(display.plan_page(planned))
        return exit_codes.DONE

    return perform("plan", folders, work, held=held)
