"""``gainsay quote``: the cost of a case before any model call. Needs no database and no model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service import intake
from service.audit.record import SALT_BYTES
from service.cli import case_options, exit_codes, help_sections
from service.cli.access import place
from service.cli.terminal_text import print_json
from service.intake.quote import quote as price
from service.intake.request import document_ids
from service.policy.settings import read_settings

if TYPE_CHECKING:
    from service.cli.access.over_http import OverHTTP
    from service.web.quote_types import PriceQuote

ROLE = "operator"


@click.command(cls=help_sections.Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@place.server_option
@case_options.case_options
@click.option("--json", "as_json", is_flag=True, help="Print the quote as JSON, and nothing else, on standard output.")
def quote(files: tuple[Path, ...], server: str | None, as_json: bool, **given: Any) -> int:
    """Quote the cost of a case; the options and FILEs are those of `gainsay review`.

    Calls no model, stores nothing and needs no database. A service, by --server, quotes by its own policy and limits. A
    quote is not binding: a debate is charged by the prices of the day on which it begins, and never more than its
    ceiling.

    \b
    gainsay quote --sample contract
    gainsay quote --sample contract --rounds 3 --ceiling 2

    \b
    Exit codes
      0  the gate accepts the case, and the ceiling suffices to begin
      1  the gate declines the case, or the ceiling is too small
      2  usage: a case, file or setting that cannot be used
    """
    address = place.server_of(server)
    if address is None:
        found, why = _here(given, files)
    else:
        found, why = place.by_service(address, partial(_by_service, given, files)), None
    if as_json:
        from service.report import sent

        print_json(sent.as_json(found))
    else:
        from service.cli.display import pricing
        from service.cli.display.console import console

        pricing.show(console(), found, why)
    return exit_codes.DONE if found.gate.debate and found.startable else exit_codes.NEGATIVE


def _here(given: Mapping[str, Any], files: Sequence[Path]) -> tuple[PriceQuote, str | None]:
    """The quote by this machine's policy, without the tenant's limits (in the database), and why it has this format."""
    from service.intake.deployments import deploy
    from service.web.quote_types import PriceQuote

    settings = read_settings(os.environ)
    case = case_options.case_request(given, files, case_options.CaseRules.of(settings.policy))
    deployment = deploy(settings)
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
    found = price(intake.prepare(case, deployment, ROLE, salts, datetime.now(UTC)), deployment)
    return PriceQuote.of(found), found.started.format_reason


async def _by_service(given: Mapping[str, Any], files: Sequence[Path], service: OverHTTP) -> PriceQuote:
    return await service.quote(case_options.case_body(given, files, await service.rules()))
