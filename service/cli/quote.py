"""``gainsay quote``: the cost of a case before any model call. Needs no database and no model."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from service import intake
from service.audit.record import SALT_BYTES
from service.cli import case_options, exit_codes, help_sections
from service.cli.access import place
from service.intake.quote import CaseQuote
from service.intake.quote import quote as price
from service.intake.request import CaseRequest, document_ids
from service.policy.settings import Settings, read_settings

ROLE = "operator"


@click.command(cls=help_sections.Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@case_options.case_options
@click.option("--json", "as_json", is_flag=True, help="Print the quote as JSON, and nothing else, on standard output.")
def quote(files: tuple[Path, ...], as_json: bool, **given: Any) -> int:
    """Quote the cost of a case; the options and FILEs are those of `gainsay review`.

    Calls no model, stores nothing and needs no database. A quote is not binding: a debate is charged by the prices of
    the day on which it begins, and never more than its ceiling.

    \b
    gainsay quote --sample contract
    gainsay quote --sample contract --rounds 3 --ceiling 2

    \b
    Exit codes
      0  the gate accepts the case, and the ceiling suffices to begin
      1  the gate declines the case, or the ceiling is too small
      2  usage: a case, file or setting that cannot be used
    """
    place.refuse_server("quote", database=False)
    settings = read_settings(os.environ)
    found = _price(case_options.case_request(given, files, case_options.CaseRules.of(settings.policy)), settings)
    if as_json:
        click.echo(encoded(found))
    else:
        from service.cli.display import pricing
        from service.cli.display.console import console

        pricing.show(console(), found)
    return exit_codes.DONE if found.decision.debate and found.startable else exit_codes.NEGATIVE


def encoded(found: CaseQuote) -> str:
    """The quote as the JSON of ``POST /v1/quotes``, without the tenant's remaining limits (in the database)."""
    from service.report.sent import pretty
    from service.web.quote_types import PriceQuote

    return pretty(PriceQuote.of(found)).decode()


def _price(case: CaseRequest, settings: Settings) -> CaseQuote:
    from service.app import deploy

    deployment = deploy(settings)
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
    return price(intake.prepare(case, deployment, ROLE, salts, datetime.now(UTC)), deployment)
