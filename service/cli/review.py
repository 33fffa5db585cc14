"""``gainsay review``: debate one case, with progress on standard error and the result on output.

It runs in this process, or in the service of ``--server``, whose policy then decides: so that is asked for first.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service import intake
from service.audit.record import SALT_BYTES
from service.cli import beginning, case_options, exit_codes, help_sections
from service.cli.access import place
from service.cli.access.port import KEY_MAX, BatchAsked, is_key
from service.cli.help_sections import option
from service.cli.terminal_text import print_json, say
from service.intake.deployment import assemble
from service.intake.request import CaseRequest, document_ids
from service.policy.settings import Settings

if TYPE_CHECKING:
    from service.cli.access.port import JSON, Recorded, Service
    from service.report.result.types import Result

ROLE = "operator"


def _checked(_context: click.Context, _option: click.Parameter, key: str | None) -> str | None:
    """A key as a service takes it; raises `click.BadParameter`."""
    if key is not None and not is_key(key):
        raise click.BadParameter(f"expected 1 to {KEY_MAX} printable ASCII characters, such as a UUID")
    return key


_BATCH = "Many cases"


def batch_options(command: help_sections.Decorated) -> help_sections.Decorated:
    """Give a command the options of a batch."""
    file = click.Path(dir_okay=False, path_type=Path)
    options = (
        option(
            _BATCH,
            "--batch",
            type=file,
            metavar="FILE",
            help="Debate every case of a file of JSON Lines (- reads standard input). --ceiling and --deadline are "
            "those of all together. Ctrl-C leaves the batch, and the same command goes on with it.",
        ),
        option(_BATCH, "--batch-name", metavar="TEXT", help="A name of your own for the batch."),
        option(_BATCH, "--out", type=file, metavar="FILE", help="Write its results to this file, as JSON Lines."),
        option(_BATCH, "--csv", type=file, metavar="FILE", help="Write its decisions to this file, a row each."),
        option(_BATCH, "--abort", "abort_batch", metavar="ID", help="Abort the batch of this id; it is given alone."),
    )
    for made in reversed(options):
        command = made(command)
    return command


@click.command(cls=help_sections.Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@place.server_option
@case_options.case_options
@click.option(
    "--key",
    metavar="KEY",
    callback=_checked,
    help="The same case under this key is debated and paid for once, and the command may be given again.",
)
@click.option("--detach", is_flag=True, help="Print the id of the debate, and leave it to the service of --server.")
@batch_options
@click.option("--print-request", is_flag=True, help="Print the body for POST /v1/debates and exit.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the whole result (view=full) as JSON, and nothing else, on standard output.",
)
def review(
    files: tuple[Path, ...],
    server: str | None,
    key: str | None,
    *,
    detach: bool,
    batch: Path | None,
    print_request: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Challenge an answer: gate, debate and result, from FILEs of plain text in UTF-8.

    A question without FILEs is argued on reasoning alone, with at most MODERATE confidence, in the formats stances,
    ballot, panel and convergence; in adversarial only where policy allows it.

    The debate runs in this process, on an embedded PostgreSQL or on that of GAINSAY_DATABASE_URL. Ctrl-C aborts it,
    prints the amount spent and waits for the calls in flight. A second Ctrl-C cancels them: what they may cost stays
    held until another command closes the debate, and there is no result. With --server, or GAINSAY_SERVER, it runs in
    that service, under its policy; a broken connection neither ends it nor sends the case twice. With --detach the
    command does not wait for it: see `gainsay show ID --follow` and `gainsay abort ID`.

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
    gainsay review --batch cases.jsonl --ceiling 25 --csv decisions.csv

    \b
    Exit codes
      0  an answer: upheld, modified, rejected, a vote to escalate or no
         consensus; also when the money ran out first: the result then says
         TRUNCATED, and confidence is LOW; of a batch: each line has a decision
      1  declined by the gate; a batch that had ended before its abort
      2  usage: a case, file or setting that cannot be used; nothing recorded
      3  failed or aborted; of a batch: some were refused, failed or aborted
    """
    address = place.server_of(server)
    many = {name: given.pop(name) for name in ("batch_name", "out", "csv", "abort_batch")}
    if batch is not None or many["abort_batch"] is not None:
        return _review_many(address, batch, many, given, detach=detach)
    if beside := [name for name, value in many.items() if value]:
        raise click.UsageError(f"--{beside[0].replace('_', '-')} is for --batch; give that too")
    if detach:
        _refuse_detached(address, print_request, as_json)
    body = _case(address, given, files, early=not print_request)
    if print_request:
        print_json(body)
        return exit_codes.DONE
    if detach:
        return _detach(address, body, key)
    return _review(address, body, key, as_json=as_json, at=f" --server {server}" if server else "")


def exit_code(status: object) -> int:
    """The exit code for a debate's status."""
    if status == "declined":
        return exit_codes.NEGATIVE
    return exit_codes.DONE if status in ("completed", "truncated") else exit_codes.FAILED


def _case(address: str | None, given: dict[str, Any], files: tuple[Path, ...], *, early: bool) -> case_options.Body:
    """The case by the rules of where it goes; with ``early`` one for this machine is checked as a whole."""
    if address is not None:
        beginning.log()
        body = case_options.case_body(given, files, place.ask(address, _rules))
        case_options.decoded(body, CaseRequest)
        return body
    settings = beginning.read()
    body = case_options.case_body(given, files, case_options.CaseRules.of(settings.policy))
    case = case_options.decoded(body, CaseRequest)
    if early:
        _refuse_early(case, settings)
    return body


def _refuse_early(case: CaseRequest, settings: Settings) -> None:
    """Refuse an invalid case before a database is started for it; this stores nothing."""
    now = datetime.now(UTC)
    deployment = assemble(settings, now.date().isoformat())
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
    prepared = intake.prepare(case, deployment, ROLE, salts, now)
    if prepared.decision.debate:
        intake.start(prepared, deployment, seed="0" * 64)


async def _rules(service: Service) -> case_options.CaseRules:
    """What a service's policy says of the cases that it takes."""
    return await service.rules()


def _refuse_detached(address: str | None, print_request: bool, as_json: bool) -> None:
    """Raise `click.UsageError` for what a command that does not wait cannot do."""
    beside = [name for name, given in (("--print-request", print_request), ("--json", as_json)) if given]
    if beside:
        raise click.UsageError(f"--detach prints the id of the debate alone; leave out {' and '.join(beside)}")
    if address is None:
        raise click.UsageError("--detach needs --server: without one the debate runs in this command")


def _review_many(
    address: str | None, file: Path | None, many: dict[str, Any], given: dict[str, Any], *, detach: bool
) -> int:
    """Debate the cases of a file, or abort a batch."""
    from service.cli import batch

    if many["abort_batch"] is not None or file is None:
        batch.refuse_beside_abort(click.get_current_context())
        return batch.abort_batch(address, many["abort_batch"])
    batch.refuse_others(click.get_current_context())
    if detach and address is None:
        raise click.UsageError("--detach needs --server: without one the debates run in this command")
    ceiling = None if given["ceiling"] is None else str(given["ceiling"])
    asked = BatchAsked(ceiling, given["deadline"], many["batch_name"])
    wanted = batch.Wanted(file, asked, many["out"], many["csv"], detach)
    return batch.review_batch(address, wanted)


def _detach(address: str | None, body: case_options.Body, key: str | None) -> int:
    """Submit the case and print the id of its debate."""

    async def work(service: Service) -> Recorded:
        return await service.submit(body, key)

    found = place.ask(address, work)
    say(found.debate)
    return exit_codes.NEGATIVE if found.status == "declined" else exit_codes.DONE


def _review(address: str | None, body: case_options.Body, key: str | None, *, as_json: bool, at: str) -> int:
    """Run the debate and show its result; all large parts are imported after the notice of the database.

    ``at`` is what other commands are given to find the debate.
    """

    async def work(service: Service) -> Result | JSON | None:
        from service.cli.foreground import review_case

        debate = await review_case(service, body, key)
        if debate is None:
            return None
        return await (service.result_json if as_json else service.result)(debate)

    found = place.ask(address, work, quiet=as_json)
    if found is None:
        return exit_codes.FAILED
    if isinstance(found, Mapping):
        print_json(found)
        return exit_code(found.get("status"))
    from service.cli.display import page
    from service.cli.display.console import console, unwrapped

    screen = console()
    screen.print()
    page.show(screen, found)
    screen.print()
    screen.print(unwrapped(f"The whole report: gainsay report {found.debate_id}{at} --html"), soft_wrap=True)
    return exit_code(found.status)
