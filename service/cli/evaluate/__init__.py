"""``gainsay evaluate``: the commands of validators, who measure critics, moderators and whole debates."""

from __future__ import annotations

from typing import ClassVar

import click

from service.cli.command_group import CommandGroup


class _Commands(CommandGroup):
    """Finds a command in the module that holds it, and imports no other."""

    PACKAGE = "service.cli.evaluate"
    MODULES: ClassVar = {
        "sets": ("sets", "List the golden sets, check one of your own, or show one."),
        "import": ("importing", "Make a golden set from golden samples, Inspect's samples or a table."),
        "key": ("key", "Write the key by which simulated models with known faults know the cases of sets."),
        "plan": ("plan", "Read a plan: what it asks, what it costs, and what it could see."),
        "run": ("run", "Register a plan, and ask all of its items."),
        "show": ("show", "Show an evaluation, or list the newest ones."),
        "items": ("items", "Show what each item of an evaluation came to, and in which debate."),
        "resume": ("run", "Go on with an evaluation to its end."),
        "stop": ("show", "Ask nothing more of an evaluation."),
        "export": ("export", "Write the bundle of an evaluation: all of its evidence in one file."),
        "moderator": ("moderator", "Audit the moderators of recorded debates over a period, by month or week."),
        "tilts": ("tilts", "List the recorded tilts of moderators, or resolve one."),
        "report": ("report", "Write the report of an evaluation as HTML, PDF, Markdown or JSON."),
        "statistic": ("statistic", "Compute statistics from their counts: a line of JSON asked, a line answered."),
    }


@click.command(cls=_Commands)
def evaluate() -> None:
    """Measure critics, moderators and debates, and recompute every figure.

    `sets`, `import`, `key` and `statistic` need only their input: no database, no network, no setting. The others work
    on the database of this machine, or on that of GAINSAY_DATABASE_URL.
    """
