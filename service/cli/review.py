"""``gainsay review``: debate one case in this process, with progress on standard error and the result on output."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from service import intake
from service.app import App, deploy, open_app, running_sequencer, running_worker
from service.audit.record import SALT_BYTES
from service.cli import case_options, exit_codes, help_sections, startup
from service.cli.display import page
from service.cli.display.console import console
from service.cli.display.progress import Progress
from service.cli.foreground import wait_finished, wait_over
from service.debate.amounts import usd
from service.debate.model import Status
from service.intake.request import CaseRequest, document_ids
from service.policy.settings import Settings
from service.report import Line, Result, events
from service.report.sent import pretty
from service.store.startup import DatabaseAddresses, addresses

PROOF_S = 30.0
"""How long to wait until the end of a debate is provable; the debate itself may take longer."""


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

    The debate runs in this process, on an embedded PostgreSQL or on that of GAINSAY_DATABASE_URL. Ctrl-C aborts it and
    prints the amount spent.

    \b
    gainsay review --task-type contract --downside 500000 --confidence 0.6 \\
        --question "Does this agreement expose us to uncapped liability?" \\
        agreement.txt
    gainsay review --sample contract
    gainsay review --sample security/ballot
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
    settings = startup.start(quiet=True)
    body = case_options.case_body(given, files, settings.policy)
    case = case_options.decoded(body, CaseRequest)
    if print_request:
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2))
        return exit_codes.DONE
    _refuse_early(case, settings)
    with addresses(settings) as where:
        found = asyncio.run(_review(settings, where, case))
    if as_json:
        click.echo(pretty(found))
    else:
        screen = console()
        screen.print()
        page.show(screen, found)
        screen.print(f"\nThe whole report: gainsay report {found.debate_id} --html", soft_wrap=True)
    return exit_code(found.status)


def exit_code(status: Status) -> int:
    """The exit code for a debate's status."""
    if status == "declined":
        return exit_codes.NEGATIVE
    return exit_codes.DONE if status in ("completed", "truncated") else exit_codes.FAILED


def _refuse_early(case: CaseRequest, settings: Settings) -> None:
    """Refuse an invalid case before a database is started for it; this stores nothing."""
    deployment = deploy(settings)
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
    prepared = intake.prepare(case, deployment, startup.LOCAL.role, salts, datetime.now(UTC))
    if prepared.decision.debate:
        intake.start(prepared, deployment, seed="0" * 64)


async def _review(settings: Settings, where: DatabaseAddresses, case: CaseRequest) -> Result:
    """Submit the case, follow it to its end, and return the result.

    Raises the error that stops the worker; the recorded entries of the debate stay.
    """
    progress = Progress(console(stderr=True))
    async with open_app(settings, where, pool=4) as opened, running_sequencer(opened):
        debate = (await opened.reviews.submit(case, startup.LOCAL)).debate
        # The embedded database may hold debates that an earlier command left; a shared one has its own workers.
        app, trouble = wait_finished(opened, only=debate if settings.database_url else None)
        async with running_worker(app):
            following = asyncio.create_task(_follow(app, debate, progress))
            keyboard = asyncio.create_task(startup.signalled())
            try:
                await asyncio.wait((following, keyboard, trouble), return_when=asyncio.FIRST_COMPLETED)
                progress.stop()
                if keyboard.done() and not following.done():
                    await _abort(app, debate, keyboard.result())
                await wait_over(debate, following, trouble)
            finally:
                progress.stop()
                following.cancel()
                keyboard.cancel()
            return await app.reviews.result(debate, startup.LOCAL)


async def _follow(app: App, debate: str, progress: Progress) -> None:
    """Show every entry as it is recorded, until the debate is over."""
    lines: list[Line] = []
    async for line in app.reviews.follow(debate, startup.LOCAL, retry_window_s=PROOF_S):
        for name, data in events(line, debate, lines):
            progress.show_event(name, data)
        lines.append(line)


async def _abort(app: App, debate: str, signal_: str) -> None:
    """Abort the debate for its caller; calls in flight may still land, since they are charged."""
    found = await app.reviews.abort(debate, startup.LOCAL, f"stopped at the keyboard ({signal_})")
    if found.status != "aborted":
        exit_codes.print_error(
            "interrupted", f"too late to abort: the debate is {found.status}; spent {usd(found.spent)} USD"
        )
        return
    held = f"; up to {usd(found.held)} USD more for calls in flight" if found.held else ""
    exit_codes.print_error("aborted", f"the debate was aborted; spent {usd(found.spent)} USD{held}")
