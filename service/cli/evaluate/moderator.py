"""``gainsay evaluate moderator``: moderators audited on the recorded debates of a period."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.audit.report_forms import PAPERS, Paper
from service.cli import exit_codes
from service.cli.evaluate.here import Here, perform
from service.cli.evaluate.report import form_of
from service.cli.help_sections import Command
from service.cli.option_types import Choice
from service.cli.report import write
from service.cli.terminal_text import line, print_json, say

if TYPE_CHECKING:
    from service.audit.record import Writer
    from service.evaluation.moderators.audit import ModeratorAudit

SAID_S = 5.0
"""How often the command says at most how far it is."""
EVERY = ("month", "week")
_CODES = {"tilt": exit_codes.NEGATIVE, "notEnough": exit_codes.INCONCLUSIVE}


@click.command(cls=Command)
@click.option(
    "--since", required=True, metavar="TIME", help="Debates that began at this time or later: a day, or RFC 3339."
)
@click.option("--until", required=True, metavar="TIME", help="Debates that began before this time.")
@click.option("--window", "every", type=Choice(EVERY), default="month", show_default=True, help="How long a window is.")
@click.option("--tenant", "tenants", multiple=True, metavar="NAME", help="A tenant; repeat it.  [default: default]")
@click.option("--task-type", "task_types", multiple=True, metavar="TYPE", help="Only this task type; repeat it.")
@click.option(
    "--record", is_flag=True, help="Record each tilt above policy's limit: a person is asked for from then on."
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole audit as JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a report to this file, in the form of its suffix: .html, .pdf, .md or .json.",
)
@click.option("--paper", type=Choice(PAPERS), default="a4", show_default=True, help="The paper for PDF and print.")
def moderator(since: str, until: str, *, as_json: bool, output: Path | None, paper: Paper, **chosen: Any) -> int:
    """Audit the moderators of recorded debates: by model, prompt and task type, over a period and by window.

    Debates count that began in the period and were to decide something; items of evaluations and the prober's do not.
    Asked is whether a moderator concludes for the proposer more often than for the critic, or goes by the place in
    which a side is shown. Which side was right in these cases is not known, so a tilt may be true.

    The log of each tenant records the reading first. With --record it also records each tilt above policy's limit
    (evaluation.moderators.tilt_limit). From then on each debate that this moderator decides asks for a person, until
    `gainsay evaluate tilts --resolve` says why it need not.

    \b
    gainsay evaluate moderator --since 2026-01-01 --until 2026-04-01
    gainsay evaluate moderator --since 2026-01-01 --until 2026-04-01 --window week -o moderators.html
    gainsay evaluate moderator --since 2026-01-01 --until 2026-04-01 --task-type contract --record

    Exit codes: 0 no tilt was seen, 1 a tilt was seen, 2 usage, 3 failed, 5 too few debates.
    """
    from service.reviews.instants import instant

    form = form_of(output)
    begin, end = (instant(name, text) for name, text in (("--since", since), ("--until", until)))
    if begin is None or end is None:
        raise click.UsageError("--since and --until name the period")

    async def work(here: Here) -> ModeratorAudit:
        from service.audit.record import Writer
        from service.reviews.moderator_audit import AuditRequest, ModeratorAuditor

        tenants = chosen["tenants"] or (here.caller.tenant,)
        asked = AuditRequest(tenants, begin, end, chosen["every"], chosen["task_types"])
        build = here.desk.deployment(here.caller.tenant).build_hash
        writer = Writer(here.caller.actor, build)
        found = await ModeratorAuditor(here.app.database, here.desk.logs, writer).audit(asked, _progress())
        _show(found, as_json=as_json)
        await _record(here, found, writer, record=chosen["record"])
        return found

    found = perform("moderator", (), work)
    if output is not None:
        from service.report.evaluation import write_audit

        write(output, write_audit(found, form, paper))
        say(f"wrote {output}", err=True)
    from service.evaluation.moderators.audit import headline

    return _CODES.get(headline(found), exit_codes.DONE)


def _show(found: ModeratorAudit, *, as_json: bool) -> None:
    from service.cli.display.moderators import page
    from service.evaluation.moderators.audit import members

    if as_json:
        print_json(members(found))
    else:
        say(page(found))


async def _record(here: Here, found: ModeratorAudit, writer: Writer, *, record: bool) -> None:
    """Say which tilts are above policy's limit, and record them if that is asked for."""
    from service.evaluation.moderators.sentences import tilted
    from service.reviews.moderator_findings import FindingDesk, above_limit

    desk = FindingDesk(here.app.database, here.desk.logs, writer)
    limit = here.desk.deployment(here.caller.tenant).policy.evaluations.moderators.tilt_limit
    for above in above_limit(found, limit):
        words = line(tilted(above.alias, above.task_type, above.first, above.second, limit))
        if not record:
            say(f"gainsay: {words}; --record asks for a person in each debate that it decides", err=True)
            continue
        for tenant in found.period.tenants:
            id_ = await desk.record(above, tenant)
            state = "a finding about it stands already" if id_ is None else f"recorded as finding {id_}"
            say(f"gainsay: {words}; {state} ({line(tenant)})", err=True)


def _progress() -> Callable[[int], None]:
    """Says on standard error from time to time how many debates have been read."""
    said = time.monotonic()

    def read(debates: int) -> None:
        nonlocal said
        if time.monotonic() - said > SAID_S:
            said = time.monotonic()
            say(f"gainsay: {debates} debates read", err=True)

    return read
