"""``gainsay audit check``: recompute the logs from what is stored."""

from __future__ import annotations

import asyncio

import click

from service.app import open_app
from service.audit.events import AuditChecked
from service.cli import endings, running
from service.databases import database_url
from service.settings import Settings


@click.command()
@click.option("--log", "log", metavar="LOG", help="One log alone, such as localhost/default/1.")
def check(log: str | None) -> int:
    """Recompute the logs from what is stored, now, and record the result.

    Leaves, payloads, chains, batches, tiles and signed heads are gone through up to the latest signed head. `serve` and
    `work` do the same in the background, as often as the policy says. Exit code 1 when something does not agree.
    """
    settings = running.begin(quiet=True)
    with database_url(settings) as url:
        found = asyncio.run(_check(settings, url, log))
    for each in found:
        click.echo(f"{each.log}: {each.size} records, root {each.root}: {len(each.findings) or 'no'} findings")
        for finding in each.findings:
            click.echo(f"  {finding}")
    if not found:
        click.echo("there is no log with a signed head" + (f" called {log}" if log else ""))
        return endings.NEGATIVE if log else endings.DONE
    return endings.NEGATIVE if any(each.findings for each in found) else endings.DONE


async def _check(settings: Settings, url: str, log: str | None) -> list[AuditChecked]:
    async with open_app(settings, url, pool=2) as app:
        return await app.selfcheck.check_due(log)
