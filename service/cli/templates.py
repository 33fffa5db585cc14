"""``gainsay templates``: questions of a few kinds for each task type, as cases to be filled."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from service.cli import exit_codes
from service.cli.completion import template_names
from service.cli.format_options import once
from service.cli.option_types import Pair
from service.cli.terminal_text import print_json, say
from service.samples import templates as shipped

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.command()
@click.argument("name", required=False, metavar="[TASK_TYPE | TEMPLATE]", shell_complete=template_names)
@click.option(
    "--fill", type=Pair(), multiple=True, metavar="NAME=TEXT", help="Put a text in the place of a placeholder."
)
def templates(name: str | None, fill: tuple[tuple[str, str], ...]) -> int:
    """List templates of questions, or print one as a case in JSON, to be filled and reviewed.

    A template has a question with placeholders such as <FILL: counterparty>, the basis of the downside, and the format
    that suits it. Fill them in an editor or with --fill, and add the documents as files. A case with a placeholder is
    refused by the placeholder's name.

    \b
    gainsay templates
    gainsay templates contract
    gainsay templates contract/liability > case.json
    gainsay review --case case.json agreement.txt
    """
    known = shipped.templates()
    types = tuple(dict.fromkeys(one.partition("/")[0] for one in known))
    if name is None or name in types:
        if fill:
            raise click.UsageError("--fill is for one template; name it, such as contract/liability")
        say(_listed({one: found for one, found in known.items() if name in (None, one.partition("/")[0])}))
        return exit_codes.DONE
    template = shipped.load(name)
    case = shipped.fill(template, once("--fill", fill))
    print_json(case)
    if sys.stdout.isatty() and (left := shipped.unfilled(case)):
        say(f"to be filled: {', '.join(left)}", err=True)
    return exit_codes.DONE


def _listed(known: Mapping[str, shipped.Template]) -> str:
    width = max(len(name) for name in known)
    return "\n".join(f"{name:<{width}}  {found.about}" for name, found in known.items())
