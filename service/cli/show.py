"""``gainsay show``: one debate on the screen, live if it still runs, and the documents of its case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from service.cli import debate_ids, exit_codes
from service.cli.access import place
from service.cli.members import items, member
from service.cli.terminal_text import print_json, write_out

if TYPE_CHECKING:
    from service.cli.access.port import JSON, Service
    from service.report.result.types import Result


@click.command()
@click.argument("debate", metavar="ID")
@place.server_option
@click.option("--brief", is_flag=True, help="The decision and what is open, without the arguments.")
@click.option("--follow", is_flag=True, help="Show it as it happens until it ends, and then its page.")
@click.option("--documents", is_flag=True, help="List the documents of its case.")
@click.option("--document", metavar="NAME", help="Print the text of one document, by its id.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON as the API answers it: the whole result (view=full).")
def show(debate: str, server: str | None, document: str | None, **asked: bool) -> int:
    """Show one debate: the decision first, then the arguments, the cost and the record.

    ID is a whole id, 8 or more of its first digits, or `last` for the newest debate. For a file, or for an examiner,
    write a report with `gainsay report`. Ctrl-C ends --follow; the debate goes on.

    \b
    gainsay show last
    gainsay show 019a8c3f-5b2e --follow
    gainsay show 019a8c3f-5b2e --document D1 > agreement.txt
    """
    _refuse_both(document, asked)
    address = place.server_of(server)

    async def work(service: Service) -> None:
        found = await debate_ids.debate_of(service, debate)
        if document is not None:
            write_out((await service.document(found, document)).encode())
        elif asked["documents"]:
            _print_documents(await service.documents(found), as_json=asked["as_json"])
        else:
            if asked["follow"]:
                await _follow(service, found)
            if asked["as_json"]:
                print_json(await service.result_json(found))
            else:
                _print_result(await service.result(found), brief=asked["brief"])

    place.ask(address, work, quiet=asked["as_json"] or document is not None)
    return exit_codes.DONE


def _refuse_both(document: str | None, asked: dict[str, bool]) -> None:
    names = [f"--{name}" for name in ("brief", "follow", "documents") if asked[name]]
    names += ["--document"] if document is not None else []
    names += ["--json"] if asked["as_json"] and names in (["--brief"], ["--document"]) else []
    if len(names) > 1 and names != ["--brief", "--follow"]:
        raise click.UsageError(f"{' and '.join(names)} contradict each other; give one")


async def _follow(service: Service, debate: str) -> None:
    from service.cli.display.console import console
    from service.cli.display.progress import Progress
    from service.cli.foreground import show_events

    progress = Progress(console(stderr=True))
    try:
        await show_events(service, debate, progress)
    finally:
        progress.stop()


def _print_result(found: Result, *, brief: bool) -> None:
    from service.cli.display import page
    from service.cli.display.console import console

    (page.show_brief if brief else page.show)(console(), found)


def _print_documents(found: JSON, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    from service.cli.display import suspected
    from service.cli.display.console import console, row, text

    screen = console()
    documents = items(found, "documents")
    if not documents:
        screen.print(text("the case has no documents"))
    for one in documents:
        size = text(f"{member(one, 'characters')} characters", "dim")
        screen.print(row(text(member(one, "id"), "bold"), text(member(one, "title")), size))
        screen.print(text(f"  sha256 {member(one, 'sha256')}", "dim"), soft_wrap=True)
        for line in suspected.passages(suspected.read(one)):
            screen.print(line)
