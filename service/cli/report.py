"""``gainsay report`` and ``gainsay replay``: the result of a recorded debate, and whether its records agree."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import click

from service.app import open_app, running_sequencer
from service.audit.report_forms import PAPERS, Paper
from service.audit.report_forms import Form as ReportForm
from service.cli import exit_codes, startup
from service.cli.display import page
from service.cli.display.console import console
from service.cli.new_file import CannotWrite
from service.cli.replay import Replayed, replay_debate
from service.debate.amounts import usd
from service.policy.settings import Settings
from service.report import Result
from service.report.sent import pretty
from service.store.startup import DatabaseAddresses, addresses, database_url

Form = Literal["json", "markdown", "html", "pdf"]
SUFFIXES: Mapping[str, Form] = {".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".pdf": "pdf"}
FORMS: tuple[Form, ...] = ("markdown", "html", "pdf", "json")


@click.command()
@click.argument("debate", metavar="ID")
@click.option("--markdown", is_flag=True, help="Write Markdown.")
@click.option("--html", is_flag=True, help="Write one self-contained HTML file.")
@click.option("--pdf", is_flag=True, help="Write PDF; needs -o, or output that is not a terminal.")
@click.option(
    "--paper", type=click.Choice(PAPERS), default="a4", show_default=True, help="The paper for PDF and print."
)
@click.option("--json", is_flag=True, help="Write JSON, as GET /v1/debates/ID?view=full does.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this file, in the form of its suffix.",
)
def report(debate: str, output: Path | None, paper: Paper, **asked: bool) -> int:
    """Show a recorded debate: as text, or as the report for an examiner.

    A PDF is written when the log proves the record of its hash. `gainsay audit verify BUNDLE --report FILE` compares
    any of them with the records.

    \b
    gainsay report 01980c2e-... -o report.pdf
    gainsay report 01980c2e-... --markdown > report.md
    """
    chosen = _form([form for form in FORMS if asked[form]], output)
    settings = startup.start(quiet=True)
    with addresses(settings) as where:
        if chosen is None:
            page.show(console(), asyncio.run(_result(settings, where, debate)))
            return exit_codes.DONE
        if chosen == "json":
            content = pretty(asyncio.run(_result(settings, where, debate))) + b"\n"
        else:
            content = asyncio.run(_written(settings, where, debate, chosen, paper))
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        write(output, content)
        click.echo(f"wrote {output}", err=True)
    return exit_codes.DONE


@click.command()
@click.argument("debate", metavar="ID")
def replay(debate: str) -> int:
    """Replay a recorded debate and check that its records agree.

    Each record must name the one before it and commit to its payload. Each entry must be legal after the entries before
    it. The money must add up. The command trusts the database: it finds accidents, not a forger who rewrites all
    records. For that, use `gainsay audit verify`. Exit codes: 0 they agree, 3 they do not.
    """
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        found = asyncio.run(_replay(settings, url, debate))
    click.echo(f"{found.entries} entries replay, and the money agrees: {usd(found.spent)} USD spent")
    click.echo(f"last record {found.last_record}")
    return exit_codes.DONE


def _form(asked: Sequence[Form], output: Path | None) -> Form | None:
    """The form by option or by suffix, or ``None`` for text; raises `click.UsageError` where options disagree."""
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(f'--{form}' for form in asked)} contradict each other; give one")
    if output is None:
        if asked == ["pdf"] and sys.stdout.isatty():
            raise click.UsageError("a terminal cannot show a PDF; give -o FILE")
        return asked[0] if asked else None
    if output.is_dir():
        raise click.UsageError(f"-o {output} is a folder; name a file in it")
    by_suffix = SUFFIXES.get(output.suffix.lower())
    if asked and by_suffix and asked[0] != by_suffix:
        raise click.UsageError(f"--{asked[0]} and the suffix of {output.name} contradict each other; give one")
    if not asked and not by_suffix:
        raise click.UsageError(
            f"-o {output} needs one of --markdown, --html, --pdf or --json, or such a suffix; "
            "for text, leave -o out and redirect"
        )
    return asked[0] if asked else by_suffix


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises `CannotWrite`."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise CannotWrite(f"expected to write {path}, found: {error.strerror}; choose another place") from error


async def _result(settings: Settings, where: DatabaseAddresses, debate: str) -> Result:
    async with open_app(settings, where, pool=2) as app, running_sequencer(app):
        return await app.reviews.result(debate, startup.LOCAL)


async def _written(settings: Settings, where: DatabaseAddresses, debate: str, form: ReportForm, paper: Paper) -> bytes:
    async with open_app(settings, where, pool=2) as app, running_sequencer(app):
        return await app.reviews.report(debate, startup.LOCAL, form, paper)


async def _replay(settings: Settings, url: str, debate: str) -> Replayed:
    async with open_app(settings, url, pool=2) as app:
        return await replay_debate(app.database, debate, startup.LOCAL.tenant)
