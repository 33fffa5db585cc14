"""``gainsay evaluate report``: the report of an evaluation as a file."""

from __future__ import annotations

from pathlib import Path

import click

from service.audit.report_forms import PAPERS, Paper
from service.cli import exit_codes
from service.cli.evaluate.here import Here, perform
from service.cli.help_sections import Command
from service.cli.option_types import Choice
from service.cli.report import SUFFIXES, Form, write
from service.cli.terminal_text import say, write_out
from service.errors import NotFound


@click.command(cls=Command)
@click.argument("evaluation", metavar="ID")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this file, in the form of its suffix: .html, .pdf, .md or .json.",
)
@click.option("--paper", type=Choice(PAPERS), default="a4", show_default=True, help="The paper for PDF and print.")
def report(evaluation: str, output: Path | None, paper: Paper) -> int:
    """Write the report of an evaluation that has a result. Without -o it is printed as Markdown.

    \b
    gainsay evaluate report 01890a5d-ac96-774b-bcce-b302099a8057 -o report.html
    gainsay evaluate report 01890a5d-ac96-774b-bcce-b302099a8057 > report.md
    """
    form = form_of(output)

    async def work(here: Here) -> bytes:
        from service.evaluation.scoring.result import result_of
        from service.report.evaluation import encode_json, write

        stored = (await here.desk.read(evaluation, here.caller)).stored
        if stored.lost:
            await here.desk.refuse_lost(evaluation, here.caller.tenant)
        if stored.result is None or stored.ended is None:
            raise NotFound(f"{evaluation} has no result; `gainsay evaluate show {evaluation}` says how it stands")
        result = result_of(stored.result)
        return encode_json(result) if form == "json" else write(result, stored.ended.isoformat(), form, paper)

    content = perform("report", (), work)
    if output is None:
        write_out(content)
    else:
        write(output, content)
        say(f"wrote {output}", err=True)
    return exit_codes.DONE


def form_of(output: Path | None) -> Form:
    """The form by the suffix of a report's file, Markdown without one; raises `click.UsageError` for another one."""
    if output is None:
        return "markdown"
    if output.is_dir():
        raise click.UsageError(f"-o {output} is a folder; name a file in it")
    if output.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"-o {output} needs one of these suffixes: {', '.join(SUFFIXES)}")
    return SUFFIXES[output.suffix.lower()]
