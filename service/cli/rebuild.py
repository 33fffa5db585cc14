"""``gainsay rebuild``: what is searched by, made anew from the records."""

from __future__ import annotations

import asyncio

import click

from service.cli import exit_codes, startup
from service.store.pool import Database
from service.store.rebuild import Rebuilt
from service.store.rebuild import rebuild as make_anew
from service.store.startup import database_url

TOLD = 20
"""How many of the records that cannot be read are named."""


@click.command()
def rebuild() -> int:
    """Make what is searched by anew from the records.

    Recall and the filters of exports look it up in tables that hold nothing of their own. Rows that were lost there
    come back, and rows that no record stands behind go. Services and workers may go on meanwhile. Exit code 3 when
    records cannot be read: what is known of their debates is kept.
    """
    settings = startup.begin(quiet=True)
    with database_url(settings) as url:
        told = asyncio.run(_rebuild(url))
    click.echo(
        f"went through {told.debates} debates and {told.manifests} manifests of prompts: "
        f"{told.added} rows added, {told.removed} removed"
    )
    for trouble in told.troubles[:TOLD]:
        exit_codes.say("unreadable", trouble)
    if more := len(told.troubles[TOLD:]):
        exit_codes.say("unreadable", f"{more} more; `gainsay audit check` recomputes the logs")
    return exit_codes.FAILED if told.troubles else exit_codes.DONE


async def _rebuild(url: str) -> Rebuilt:
    async with Database.open(url, size=1) as database:
        return await make_anew(database)
