"""``gainsay audit pack``: every decision of a period, in a file."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import IO

import click
from msgspec.structs import replace

from service.app import open_app
from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.access.in_process import proved, writer
from service.cli.beginning import database
from service.cli.new_file import refuse_present, written
from service.cli.terminal_text import say
from service.errors import EvidenceDamaged, NotProvable
from service.policy.settings import Settings
from service.reviews import evidence
from service.store.current_log import CurrentLogs
from service.store.startup import DatabaseAddresses


@click.command()
@click.option("--since", required=True, metavar="TIME", help="Decisions of this time or later: a day, or RFC 3339.")
@click.option("--until", required=True, metavar="TIME", help="Decisions before this time, which must have passed.")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write.",
)
@click.option("--tenant", default=startup.LOCAL.tenant, show_default=True, metavar="NAME", help="Whose decisions.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def pack(since: str, until: str, out: Path, tenant: str, force: bool) -> int:
    """Write every decision of a period: its bundle and one CSV row each, over all logs of one tenant.

    A pack has declined, failed, cut-short and aborted cases too. It holds all records of the logs from before the
    period on, each with a proof, so a decision that was left out shows. `gainsay audit verify` verifies a pack whole.
    The log records that its parts were issued. A decision is of the period in which its last record was recorded.

    A decision that is damaged is named and left out, and the pack then never verifies.

    \b
    gainsay audit pack --since 2026-01-01 --until 2026-02-01 --out january.zip
    gainsay audit pack --tenant bank --since 2026-01-01 --until 2026-02-01 --out january.zip
    Exit codes: 0 done, 2 usage, 3 failed, also where a decision is damaged.
    """
    place.refuse_server("audit pack")
    filters = evidence.Filters.of({"since": since, "until": until})
    if filters.since is None or filters.until is None:
        raise click.UsageError("--since and --until name the period")
    period = filters.since, filters.until
    refuse_present(out, force)
    settings = startup.start(quiet=True)
    with database(settings, "examining") as where, written(out, force) as file:
        packed = asyncio.run(_pack(settings, where, tenant, period, file))
    say(f"wrote {out} (tenant: {tenant}, decisions: {packed.decisions}, logs: {packed.logs})", err=True)
    for damage in packed.damaged.values():
        exit_codes.print_error(EvidenceDamaged.code, damage)
    if packed.damaged:
        say(
            f"{out} lacks {len(packed.damaged)} damaged decisions, so it does not verify; each bundle in it does alone",
            err=True,
        )
        return exit_codes.FAILED
    return exit_codes.DONE


async def _pack(
    settings: Settings, where: DatabaseAddresses, tenant: str, period: tuple[datetime, datetime], file: IO[bytes]
) -> evidence.Packed:
    reader = replace(startup.LOCAL, tenant=tenant)
    async with open_app(settings, where, pool=2, asks=False) as app:
        logs = CurrentLogs(app.database, settings.log_host)

        async def ask() -> evidence.Packed:
            file.seek(0)
            file.truncate()
            return await evidence.pack(app.database, logs, period, reader, writer(), file)

        return await proved(app, ask, (NotProvable,))
