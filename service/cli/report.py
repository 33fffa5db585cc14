"""``gainsay report`` and ``gainsay replay``: a recorded debate as a file, and whether its records agree."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from service.audit.report_forms import PAPERS, Paper
from service.cli import beginning, debate_ids, exit_codes
from service.cli.access import place
from service.cli.new_file import CannotWrite, written
from service.cli.option_types import Choice
from service.cli.terminal_text import json_lines, say, write_exactly, write_out

if TYPE_CHECKING:
    from service.cli.access.port import Service

Form = Literal["json", "markdown", "html", "pdf"]
SUFFIXES: Mapping[str, Form] = {".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".pdf": "pdf"}
FORMS: tuple[Form, ...] = ("markdown", "html", "pdf", "json")


@click.command()
@click.argument("debate", metavar="ID")
@place.server_option
@click.option("--markdown", is_flag=True, help="Write Markdown.")
@click.option("--html", is_flag=True, help="Write one self-contained HTML file.")
@click.option("--pdf", is_flag=True, help="Write PDF; needs -o, or output that is not a terminal.")
@click.option("--paper", type=Choice(PAPERS), default="a4", show_default=True, help="The paper for PDF and print.")
@click.option("--json", is_flag=True, help="Write JSON, as GET /v1/debates/ID?view=full does.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this file, in the form of its suffix.",
)
@click.option("--open", "opened", is_flag=True, help="Open it in the desktop's viewer: HTML, or PDF with --pdf.")
def report(debate: str, server: str | None, output: Path | None, paper: Paper, opened: bool, **asked: bool) -> int:
    """Write the report of a debate, for a file or an examiner. `gainsay show ID` shows it on the screen.

    ID is a whole id, 8 or more of its first digits, or `last` for the newest debate.

    A PDF is written when the log proves the record of its hash. `gainsay audit verify BUNDLE --report FILE` compares
    any of them with the records. --open writes to -o FILE, or to a file that only you can read and that stays.

    \b
    gainsay report 01980c2e-... --open
    gainsay report 01980c2e-... -o report.pdf
    gainsay report 01980c2e-... --markdown > report.md
    """
    chosen = _form([form for form in FORMS if asked[form]], output, opened=opened)
    debate, content = place.ask(place.server_of(server), lambda service: _content(service, debate, chosen, paper))
    if opened and output is None:
        from service.cli.viewer import private_file

        output = private_file(f"report-{debate}.{chosen}")
    if output is not None:
        write(output, content)
        say(f"wrote {output}", err=True)
    elif chosen in ("pdf", "json"):
        write_exactly(content)
    else:
        write_out(content)
    if opened and output is not None:
        _open(output)
    return exit_codes.DONE


async def _content(service: Service, given: str, chosen: Form, paper: Paper) -> tuple[str, bytes]:
    """The debate's whole id, and what is to be written."""
    debate = await debate_ids.debate_of(service, given)
    if chosen != "json":
        return debate, await service.report(debate, chosen, paper)
    return debate, json_lines(await service.result_json(debate))


def _open(path: Path) -> None:
    """Show a file that is written; without a viewer its place suffices."""
    from service.cli.viewer import show

    if not show(path):
        say("found no viewer on this machine; open the file yourself", err=True)


@click.command()
@click.argument("debate", metavar="ID")
def replay(debate: str) -> int:
    """Replay a recorded debate and check that its records agree.

    Each record must name the one before it and commit to its payload. Each entry must be legal after the entries before
    it. The money must add up. The command trusts the database: it finds accidents, not a forger who rewrites all
    records. For that, use `gainsay audit verify`. Exit codes: 0 they agree, 3 they do not.

    ID is a whole id, 8 or more of its first digits, or `last` for the newest debate.
    """
    place.refuse_server("replay")
    settings = beginning.read()
    with beginning.database(settings, "reading") as where:
        import asyncio

        from service.cli.replay import replay_recorded
        from service.debate.amounts import usd

        found = asyncio.run(replay_recorded(settings, where, debate))
    say(f"{found.entries} entries replay, and the money agrees: {usd(found.spent)} USD spent")
    say(f"last record {found.last_record}")
    return exit_codes.DONE


def _form(asked: Sequence[Form], output: Path | None, *, opened: bool = False) -> Form:
    """The form by option or by suffix; raises `click.UsageError` where options disagree, or name none."""
    form = _written_form(asked, output, opened=opened)
    if form is None:
        raise click.UsageError(
            "expected --markdown, --html, --pdf or --json, or -o FILE with such a suffix, or --open, found none; "
            "`gainsay show ID` shows the debate on the screen"
        )
    if opened and form not in ("html", "pdf"):
        raise click.UsageError(f"--open shows HTML or PDF, found {form}; leave out --open, or --{form}")
    return form


def _written_form(asked: Sequence[Form], output: Path | None, *, opened: bool) -> Form | None:
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(f'--{form}' for form in asked)} contradict each other; give one")
    if output is None:
        if asked == ["pdf"] and sys.stdout.isatty() and not opened:
            raise click.UsageError("a terminal cannot show a PDF; give -o FILE or --open")
        return asked[0] if asked else "html" if opened else None
    if output.is_dir():
        raise click.UsageError(f"-o {output} is a folder; name a file in it")
    by_suffix = SUFFIXES.get(output.suffix.lower())
    if asked and by_suffix and asked[0] != by_suffix:
        raise click.UsageError(f"--{asked[0]} and the suffix of {output.name} contradict each other; give one")
    if not asked and not by_suffix:
        raise click.UsageError(
            f"-o {output} needs one of --markdown, --html, --pdf or --json, or such a suffix; "
            "for text, redirect `gainsay show`"
        )
    return asked[0] if asked else by_suffix


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in the place of an older one; raises `CannotWrite`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"expected to write {path}, found: {error.strerror}; choose another place") from error
    with written(path, force=True) as file:
        file.write(content)
