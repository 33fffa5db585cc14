"""``gainsay models``: the catalogue, and what the tenant's own panels have shown of its models."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import click

from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import print_json
from service.intake.model_ranking import Standing
from service.report import sent
from service.store.impact import standings
from service.store.pool import Database
from service.web.model_types import ModelList


@click.command()
@place.server_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as GET /v1/models does.")
def models(server: str | None, as_json: bool) -> int:
    """List the models of the policy: families, seats, today's prices, and their track records.

    Track records come from the newest panels in the database. A panel of mode `auto` ranks its debaters by them. They
    measure conduct in debates and not truth. Needs no key of a vendor.

    \b
    gainsay models
    gainsay models --json
    """
    day = datetime.now(UTC).date().isoformat()
    address = place.server_of(server)
    found = (
        _here(day, quiet=as_json) if address is None else place.by_service(address, lambda service: service.models())
    )
    if as_json:
        print_json(sent.as_json(found))
    else:
        from service.cli.display import catalogue
        from service.cli.display.console import console

        catalogue.show(console(), found, day)
    return exit_codes.DONE


def _here(day: str, *, quiet: bool) -> ModelList:
    """The models of this machine's policy and database."""
    settings = startup.start(quiet=True)
    with database_url(settings, quiet=quiet) as url:
        return ModelList.of(settings.policy, day, asyncio.run(_standings(url)))


async def _standings(url: str) -> tuple[Standing, ...]:
    async with Database.open(url, size=1) as database:
        return await standings(database, startup.LOCAL.tenant)
