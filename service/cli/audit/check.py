"""``gainsay audit check``: recompute the logs from the stored records, and compare rows with the records."""

from __future__ import annotations

import asyncio

import click

from service.app import open_app
from service.audit.log_events import AuditChecked
from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import say, unbroken
from service.policy.settings import Settings


@click.command()
@click.option("--log", "log", metavar="LOG", help="Check only this log, such as localhost/default/1.")
def check(log: str | None) -> int:
    """Recompute the logs from the stored records now, and record the result.

    The command checks leaves, payloads, chains, batches, tiles and checkpoints up to the latest checkpoint. Without
    --log it also compares every row that is computed from records: contexts, documents, head rows, what lists, search
    and recall read, charges and limits. `serve` and `work` do the same in the background, as often as the policy says.
    Exit code 1 when something differs.
    """
    place.refuse_server("audit check")
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        found, rows = asyncio.run(_check(settings, url, log))
    for each in found:
        say(f"{each.log}: {each.size} records, root {each.root}: {len(each.findings) or 'no'} findings")
        for finding in each.findings:
            say(f"  {unbroken(finding)}")
    if log is None:
        where = "; gainsay.damage names them" if rows else ""
        say(f"rows computed from records: {rows or 'no'} differences{where}")
    if not found:
        say("there is no log with a checkpoint" + (f" called {log}" if log else ""))
        return exit_codes.NEGATIVE if log or rows else exit_codes.DONE
    return exit_codes.NEGATIVE if rows or any(each.findings for each in found) else exit_codes.DONE


async def _check(settings: Settings, url: str, log: str | None) -> tuple[list[AuditChecked], int]:
    """What was found in each log, and how many rows differ from the records."""
    async with open_app(settings, url, pool=2, asks=False) as app:
        return await app.selfcheck.check_due(log), await app.rowcheck.round() if log is None else 0
