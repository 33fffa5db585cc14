"""``gainsay review``: debate one case in this process, with progress on standard error and the result on output."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from service import intake
from service.audit.record import SALT_BYTES
from service.cli import beginning, case_options, exit_codes, help_sections
from service.intake.deployment import assemble
from service.intake.request import CaseRequest, document_ids
from service.policy.settings import Settings

if TYPE_CHECKING:
    from service.debate.model import Status

ROLE = "operator"


@click.command(cls=help_sections.Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@case_options.case_options
@click.option("--print-request", is_flag=True, help="Print the body for POST /v1/debates and exit.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the whole result (view=full) as JSON, and nothing else, on standard output.",
)
def review(files: tuple[Path, ...], print_request: bool, as_json: bool, **given: Any) -> int:
    """Challenge an answer: gate, debate and result, from FILEs of plain text in UTF-8.

    A question without FILEs is argued on reasoning alone, with at most MODERATE confidence, in the formats stances,
    ballot, panel and convergence; in adversarial only where policy allows it.

    The debate runs in this process, on an embedded PostgreSQL or on that of GAINSAY_DATABASE_URL. Ctrl-C aborts it,
    prints the amount spent and waits for the calls in flight. A second Ctrl-C cancels them: what they may cost stays
    held until another command closes the debate, and there is no result.

    \b
    gainsay review --task-type contract --downside 500000 --confidence 0.6 \\
        --question "Does this agreement expose us to uncapped liability?" \\
        agreement.txt
    gainsay review --sample contract
    gainsay review --sample security/ballot
    gainsay review --case case.json
    gainsay review --task-type security --downside 3e6 --format stances \\
        --debater ops="ship now" --debater risk="do not ship now" \\
        --question "Should we ship on Friday?" design.txt
    gainsay review --task-type investment --downside 2e6 --format panel \\
        --question "Should we expand abroad in our first year?"

    \b
    Exit codes
      0  an answer: upheld, modified, rejected, a vote to escalate or no
         consensus; also when the money ran out first: the result then says
         TRUNCATED, and confidence is LOW
      1  declined by the gate
      2  usage: a case, file or setting that cannot be used; nothing recorded
      3  failed or aborted
    """
    settings = beginning.read()
    body = case_options.case_body(given, files, settings.policy)
    case = case_options.decoded(body, CaseRequest)
    if print_request:
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2))
        return exit_codes.DONE
    _refuse_early(case, settings)
    return _review(settings, case, as_json=as_json)


def exit_code(status: Status) -> int:
    """The exit code for a debate's status."""
    if status == "declined":
        return exit_codes.NEGATIVE
    return exit_codes.DONE if status in ("completed", "truncated") else exit_codes.FAILED


def _refuse_early(case: CaseRequest, settings: Settings) -> None:
    """Refuse an invalid case before a database is started for it; this stores nothing."""
    now = datetime.now(UTC)
    deployment = assemble(settings, now.date().isoformat())
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
    prepared = intake.prepare(case, deployment, ROLE, salts, now)
    if prepared.decision.debate:
        intake.start(prepared, deployment, seed="0" * 64)


def _review(settings: Settings, case: CaseRequest, *, as_json: bool) -> int:
    """Run the debate and show its result; all large parts are imported after the notice of the database."""
    with beginning.database(settings, quiet=as_json) as where:
        import asyncio

        from service.cli.foreground import review_case

        found = asyncio.run(review_case(settings, where, case))
    if found is None:
        return exit_codes.FAILED
    if as_json:
        from service.report.sent import pretty

        click.echo(pretty(found))
        return exit_code(found.status)
    from service.cli.display import page
    from service.cli.display.console import console

    screen = console()
    screen.print()
    page.show(screen, found)
    screen.print(f"\nThe whole report: gainsay report {found.debate_id} --html", soft_wrap=True)
    return exit_code(found.status)
