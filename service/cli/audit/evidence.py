"""``gainsay audit bundle`` and ``gainsay audit export``: evidence for an examiner, in a file."""

from __future__ import annotations

from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from service.cli import debate_ids, exit_codes
from service.cli.access import place
from service.cli.new_file import refuse_present, written
from service.cli.option_types import Choice
from service.cli.terminal_text import say, standard_output

if TYPE_CHECKING:
    from service.cli.access.port import Service

Form = Literal["jsonl", "csv"]
FORMS: tuple[Form, ...] = get_args(Form)
_OUT = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("debate", metavar="ID")
@place.server_option
@click.option("-o", "--out", type=_OUT, metavar="FILE", help="The file to write; default: ID.zip in this folder.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def bundle(debate: str, server: str | None, out: Path | None, force: bool) -> int:
    """Write the bundle of one decision: all its evidence in one file that can be verified offline.

    The bundle is a ZIP of plain files: records, documents, prompts, policy, proofs, the checkpoint and a readable
    report. An examiner with the log's verifier key verifies it with `gainsay audit verify`. The log records that the
    bundle was issued. docs/audit.md describes each file.

    \b
    gainsay audit bundle 01980c2e-... --out case-17.zip
    """
    refuse_present(out or Path(f"{debate}.zip"), force)
    content = BytesIO()

    async def work(service: Service) -> Path:
        found = await debate_ids.debate_of(service, debate)
        target = out or Path(f"{found}.zip")
        refuse_present(target, force)
        await service.bundle(found, content)
        return target

    target = place.ask(place.server_of(server), work, opened="examining")
    with written(target, force) as file:
        file.write(content.getvalue())
    say(f"wrote {target}", err=True)
    return exit_codes.DONE


@click.command()
@place.server_option
@click.option("--log", metavar="LOG", help="The log, such as localhost/default/1; default: the current one.")
@click.option("--format", "form", type=Choice(FORMS), default="jsonl", help="JSONL has proofs, CSV has none.")
@click.option("--since", metavar="TIME", help="Records that joined the log at this time or later: a day, or RFC 3339.")
@click.option("--until", metavar="TIME", help="Records that joined the log before this time.")
@click.option("--task-type", metavar="TYPE", help="Debates of this task type.")
@click.option("--status", metavar="STATUS", help="Debates whose status is this one now.")
@click.option("--model", metavar="MODEL", help="Debates that rest on this model, by alias or by a vendor's name.")
@click.option("--prompt", metavar="SHA256", help="Debates whose requests used this prompt.")
@click.option("--document", metavar="SHA256", help="Debates with this document.")
@click.option("-o", "--out", type=_OUT, metavar="FILE", help="The file to write; default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def export(server: str | None, log: str | None, form: Form, out: Path | None, force: bool, **asked: str | None) -> int:
    """Write the records of a log, all under one checkpoint.

    Without filters an export has every record, and its leaves hash to the signed root. With filters each record has its
    inclusion proof. `gainsay audit verify` verifies both. The log records that the export was issued. A tenant whose
    log was rotated has several logs: export each with --log.

    \b
    gainsay audit export --since 2026-01-01 --until 2026-02-01 --out january.jsonl
    gainsay audit export --task-type contract --format csv > contracts.csv
    """
    names = {"task_type": "taskType"}
    filters = {names.get(name, name): text for name, text in asked.items() if text is not None}
    if out is not None:
        refuse_present(out, force)
    address = place.server_of(server)
    with written(out, force) if out else nullcontext(standard_output()) as file:
        name, others = place.ask(address, lambda service: service.export(log, filters, form, file), opened="examining")
        file.flush()
    if out is not None:
        say(f"wrote {out}", err=True)
    if others and log is None:
        say(f"this is {name} alone; the tenant's other logs are exported with --log: {', '.join(others)}", err=True)
    return exit_codes.DONE
