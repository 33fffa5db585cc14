"""``gainsay audit rotate``: open a tenant's next log."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from service.audit.note import BadKey, PublicKey
from service.audit.record import Writer
from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.audit.checkpoint import read_kept
from service.cli.beginning import database_url
from service.cli.terminal_text import say
from service.errors import SettingsError
from service.policy.own_build import own_build
from service.policy.settings import Settings
from service.proving.signing.open import heads_dir, open_signer, signing_place
from service.store.pool import Database
from service.store.rotation import Rotation, next_log, open_next, tenants


@click.command()
@click.option("--tenant", metavar="TENANT", help="The tenant whose next log is opened.")
@click.option("--all", "every", is_flag=True, help="Open the next log of every tenant.")
@click.option("--key", "given", metavar="VKEY", help="The verifier key of the new log; default: the signer's first.")
@click.option(
    "--head",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="The log's last checkpoint, as the signer or a witness has it, where the database has none.",
)
def rotate(tenant: str | None, every: bool, given: str | None, head: Path | None) -> int:
    """Open a tenant's next log, for a new key or a new year.

    The new log begins with a record that carries the last checkpoint of the old one, so both form one chain of
    evidence. New debates go to the new log within ten seconds. Running debates stay in the old log, which its own key
    still signs: leave that key in the signer's key file.

    The command refuses while the old log has no checkpoint. With --all it opens every tenant's next log or none. A log
    whose records are all lost goes on with --head alone: the record then carries the checkpoint of that file.
    """
    place.refuse_server("audit rotate")
    if (tenant is None) != every:
        raise click.UsageError("expected --tenant or --all")
    if every and head is not None:
        raise click.UsageError("expected --head with --tenant: a checkpoint is of one log")
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        asyncio.run(_rotate(settings, url, tenant, given, read_kept(head).note if head else None))
    return exit_codes.DONE


async def _rotate(settings: Settings, url: str, tenant: str | None, given: str | None, kept: bytes | None) -> None:
    key = await _key(settings, given)
    writer = Writer(startup.LOCAL.actor, own_build())
    async with Database.open(url, size=2) as database:
        whose = [tenant] if tenant is not None else await tenants(database)
        for rotation in [await next_log(database, each, settings.log_host, kept) for each in whose]:
            await open_next(database, rotation, key, writer)
            say(_rotation_lines(rotation, key))
    if not whose:
        say("no tenant has a log yet, so there is no log to rotate")


async def _key(settings: Settings, given: str | None) -> PublicKey:
    """The key of new logs: the given one, or the signer's first."""
    if given is not None:
        try:
            return PublicKey.parse(given)
        except BadKey as error:
            raise SettingsError(f"--key: {error.detail}") from error
    signer = open_signer(signing_place(settings), heads_dir(settings), os.environ)
    try:
        return (await signer.keys())[0]
    finally:
        await signer.close()


def _rotation_lines(rotation: Rotation, key: PublicKey) -> str:
    previous = rotation.previous
    return "\n".join(
        [
            f"{previous.log}: {previous.size} records, root {previous.root.hex()}",
            f"{rotation.log}: opened, signed with {key.encode()}",
        ]
    )
