"""``gainsay rebuild``: the search tables, rebuilt from the records."""

from __future__ import annotations

import asyncio

import click

from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import say
from service.store.pool import Database
from service.store.rebuild import Rebuilt
from service.store.rebuild import rebuild as make_anew

LISTED_MAX = 20
"""The most unreadable records that are named."""


@click.command()
def rebuild() -> int:
    """Rebuild the search tables from the records.

    Recall and the filters of exports use these tables, which hold only data from records. The command restores lost
    rows and removes rows without a record. Services and workers may run meanwhile. Exit code 3 when a record cannot be
    read; the rows of its debate stay.
    """
    place.refuse_server("rebuild")
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        rebuilt = asyncio.run(_rebuild(url))
    say(
        f"went through {rebuilt.debates} debates and {rebuilt.manifests} manifests of prompts: "
        f"{rebuilt.added} rows added, {rebuilt.removed} removed"
    )
    for trouble in rebuilt.troubles[:LISTED_MAX]:
        exit_codes.print_error("unreadable", trouble)
    if more := len(rebuilt.troubles[LISTED_MAX:]):
        exit_codes.print_error("unreadable", f"{more} more; `gainsay audit check` recomputes the logs")
    return exit_codes.FAILED if rebuilt.troubles else exit_codes.DONE


async def _rebuild(url: str) -> Rebuilt:
    async with Database.open(url, size=1) as database:
        return await make_anew(database)
