"""``gainsay budget``: what remains of the tenant's money for today and this month."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import click

from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import print_json, say, unbroken
from service.policy.settings import Settings
from service.report import sent
from service.store.pool import Database
from service.web.budget import BudgetPeriod, TenantBudget


@click.command()
@place.server_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as GET /v1/budget does.")
def budget(server: str | None, as_json: bool) -> int:
    """Show what remains of the tenant's money for today and this month, and what a case's ceiling may be.

    What running debates hold is not spent: what they do not use comes back when they end.

    \b
    gainsay budget
    gainsay budget --server https://gainsay.example --json
    """
    address = place.server_of(server)
    found = _here(quiet=as_json) if address is None else place.by_service(address, lambda service: service.budget())
    if as_json:
        print_json(sent.as_json(found))
    else:
        for shown in _lines(found):
            say(unbroken(shown))
    return exit_codes.DONE


def _here(*, quiet: bool) -> TenantBudget:
    """The budget of this machine's policy and database."""
    settings = startup.start(quiet=True)
    with database_url(settings, quiet=quiet) as url:
        return asyncio.run(_read(url, settings))


async def _read(url: str, settings: Settings) -> TenantBudget:
    tenant = startup.LOCAL.tenant
    policy = settings.tenants[tenant].policy if tenant in settings.tenants else settings.policy
    async with Database.open(url, size=1) as database:
        return await TenantBudget.read(database, policy, tenant)


def _lines(found: TenantBudget) -> Iterator[str]:
    if not found.limited:
        yield "no limit: policy sets none for a day or a month of this tenant, so what is spent in them is not counted"
    else:
        yield from _period("today", found.day, found.zone)
        yield from _period("this month", found.month, found.zone)
    mine = found.evaluations
    places = f"{mine.debates} of at most {mine.most_debates} debates under way"
    if not mine.limited:
        yield f"evaluations: no limit of money, {places}"
    else:
        yield from _period("evaluations today", mine.day, found.zone)
        yield from _period("evaluations this month", mine.month, found.zone)
        yield f"  {mine.reserved_usd} USD more may be allocated to {places}"
    yield f"a debate costs {found.ceiling_usd} USD at most, or what its case allows, up to {found.ceiling_max_usd} USD"


def _period(name: str, period: BudgetPeriod, zone: str) -> Iterator[str]:
    whole = f"of {period.limit_usd} USD, {period.remaining_usd} USD remain" if period.limited else "no limit"
    yield f"{name}: {whole}, until {period.ends.isoformat().replace('+00:00', 'Z')} (days begin in {zone})"
    excess = "" if period.excess_usd == "0.00" else f", {period.excess_usd} USD billed above reservations"
    yield f"  {period.spent_usd} USD spent{excess}, {period.held_usd} USD held by running debates and not spent"
