"""``gainsay sequence``: the sequencer of the logs, in a process of its own."""

from __future__ import annotations

import click
import uvloop

from service.app import sequencer_url, sequencing_at
from service.cli import endings, running
from service.settings import Settings


@click.command()
def sequence() -> int:
    """Make durable records provable, until SIGTERM or Ctrl-C.

    Gives records their places in the trees of their logs, has the heads signed with the key that GAINSAY_SIGNING_KEY
    names, and asks the policy's witnesses to countersign them. One process at a time does this; others wait to take
    over. Needs no other address than GAINSAY_SEQUENCER_URL, and no vendor's key; without that address the embedded
    PostgreSQL is used.

    \b
    Exit codes
      0  stopped by a signal
      3  the database is not one to sequence: it is behind a head that was
         signed or witnessed, may forget what it confirmed, or is entered by
         a role that may do too much
    """
    settings = running.begin(quiet=False)
    with sequencer_url(settings) as url:
        uvloop.run(_sequence(settings, url))
    return endings.DONE


async def _sequence(settings: Settings, url: str) -> None:
    async with sequencing_at(url, settings):
        click.echo("gainsay: sequencing; Ctrl-C stops", err=True)
        name = await running.signalled()
        click.echo(f"gainsay: {name}: finishing what is under way", err=True)
